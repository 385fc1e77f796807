/// When places and slots that came free because somebody left are given to those who wait.
///
/// Not there and then: those who are called off together, as thousands are when a page is given up, would begin only to be
/// called off. A moment later it is looked whether more have left meanwhile; while they do, it is put off, but not for
/// long, since those who stay are to get on.
struct RefillRule: Sendable {
  enum Turn: Sendable, Equatable {
    case give
    case lookAgain(after: Duration)
  }

  private static let pause = Duration.milliseconds(1)
  private static let limitPauses = 20

  /// Somebody will look.
  private var isDue = false
  /// Since it was looked last.
  private var hasMoreLeft = false
  private var pauses = 0

  /// True: it is to be looked in a moment.
  mutating func left() -> Bool {
    guard isDue else {
      isDue = true
      return true
    }
    hasMoreLeft = true
    return false
  }

  /// Now it is looked.
  mutating func look() -> Turn {
    if hasMoreLeft, pauses < Self.limitPauses {
      hasMoreLeft = false
      pauses += 1
      return .lookAgain(after: Self.pause)
    }
    self = RefillRule()
    return .give
  }
}
