import Testing

@testable import ManagedObjects

private let text = Representation(of: String.self, variant: "text")
private let count = Representation(of: Int.self, variant: "count")
private let oops = ObjectError(.transport, "oops")

struct HandlerStateTests {
  private func seat(_ number: UInt64) -> SeatID { SeatID(number: number) }

  /// What actions look like, short enough for a table.
  private func short(_ actions: Few<HandlerState.Action>) -> [String] {
    actions.map { action in
      switch action {
      case .lookUp: "lookUp"
      case .load: "load"
      case .stopLoad(let isAbandoned): isAbandoned ? "stopLoad, abandoned" : "stopLoad"
      case .store: "store"
      case .decode(let representation): "decode \(representation.variant)"
      case .finish: "finish"
      case .end(let seats, let how): "end \(seats.map(\.number)) \(short(how))"
      }
    }
  }

  private func short(_ how: HandlerState.How) -> String {
    switch how {
    case .ready: "ready"
    case .content: "content"
    case .failed(let error): "\(error.code)"
    case .cancelled(let reason): "\(reason)"
    }
  }

  private func joined(_ number: UInt64, _ representation: Representation?) -> HandlerState.Event {
    .joined(seat(number), HandlerState.Wish(representation: representation))
  }

  @Test func `a cold object is looked up, loaded, stored, decoded and delivered, in that order`() {
    var state = HandlerState()
    #expect(short(state.handle(joined(1, text))) == [])
    #expect(short(state.handle(.admitted)) == ["lookUp"])
    #expect(short(state.handle(.foundNothing)) == ["load"])
    #expect(short(state.handle(.received)) == ["store"])
    #expect(short(state.handle(.stored)) == ["decode text"])
    #expect(short(state.handle(.decoded(text, .made))) == ["end [1] ready", "finish"])
    #expect(state.phase == .finished)
  }

  @Test func `a usable entry is decoded without a load`() {
    var state = HandlerState()
    _ = state.handle(joined(1, text))
    _ = state.handle(.admitted)
    #expect(short(state.handle(.foundUsable)) == ["decode text"])
  }

  @Test func `users of one representation share one decode, of two have two`() {
    var state = HandlerState()
    for event in [joined(1, text), joined(2, count), joined(3, text), .admitted] { _ = state.handle(event) }
    let actions = short(state.handle(.foundUsable))
    #expect(Set(actions) == ["decode text", "decode count"] && actions.count == 2)
    #expect(short(state.handle(.decoded(text, .made))) == ["end [1, 3] ready"])
    #expect(short(state.handle(.decoded(count, .failed(oops)))) == ["end [2] transport", "finish"])
  }

  @Test func `a latecomer of a decoded representation is answered at once, of a new one decoded`() {
    var state = HandlerState()
    for event in [joined(1, text), joined(2, count), .admitted, .foundUsable, .decoded(text, .made)] {
      _ = state.handle(event)
    }
    #expect(short(state.handle(joined(3, text))) == ["end [3] ready"])
    let bytes = Representation(of: [UInt8].self, variant: "bytes")
    #expect(short(state.handle(joined(4, bytes))) == ["decode bytes"])
  }

  @Test func `one of two leaves and only it ends`() {
    var state = HandlerState()
    for event in [joined(1, text), joined(2, text), .admitted, .foundNothing] { _ = state.handle(event) }
    #expect(short(state.handle(.left(seat(1), .left))) == ["end [1] left"])
    #expect(state.phase == .loading)
  }

  @Test func `the last one leaves and the load is stopped`() {
    var state = HandlerState()
    for event in [joined(1, text), .admitted, .foundNothing] { _ = state.handle(event) }
    #expect(
      short(state.handle(.left(seat(1), .superseded))) == ["end [1] superseded", "stopLoad, abandoned", "finish"])
  }

  @Test func `under finish the last one leaves and the body is stored all the same, but not decoded`() {
    var state = HandlerState(whenLastLeaves: .finish)
    for event in [joined(1, text), .admitted, .foundNothing] { _ = state.handle(event) }
    #expect(short(state.handle(.left(seat(1), .left))) == ["end [1] left"])
    #expect(short(state.handle(.received)) == ["store"])
    #expect(short(state.handle(.stored)) == ["finish"])
  }

  @Test func `whoever leaves twice ends once`() {
    var state = HandlerState()
    for event in [joined(1, text), joined(2, text)] { _ = state.handle(event) }
    _ = state.handle(.left(seat(1), .left))
    #expect(short(state.handle(.left(seat(1), .left))) == [])
  }

  @Test func `a body that is being stored is not stopped when the last one leaves`() {
    var state = HandlerState()
    for event in [joined(1, text), .admitted, .foundNothing, .received] { _ = state.handle(event) }
    #expect(short(state.handle(.left(seat(1), .left))) == ["end [1] left", "finish"])
  }

  @Test func `a prefetch is content with the bytes and decodes nothing`() {
    var state = HandlerState()
    for event in [joined(1, nil), .admitted, .foundNothing, .received] { _ = state.handle(event) }
    #expect(short(state.handle(.stored)) == ["end [1] content", "finish"])
  }

  @Test func `a failed load ends everybody once`() {
    var state = HandlerState()
    for event in [joined(1, text), joined(2, nil), .admitted, .foundNothing] { _ = state.handle(event) }
    #expect(short(state.handle(.failed(oops))) == ["end [1, 2] transport", "stopLoad", "finish"])
    #expect(short(state.handle(.failed(oops))) == [])
  }

  @Test func `a bumped handler tells its users and stops its load`() {
    var state = HandlerState()
    for event in [joined(1, text), .admitted, .foundNothing] { _ = state.handle(event) }
    #expect(short(state.handle(.cancelled(.bumped))) == ["end [1] bumped", "stopLoad", "finish"])
  }

  @Test func `events out of their phase change nothing`() {
    var state = HandlerState()
    _ = state.handle(joined(1, text))
    for event in [HandlerState.Event.received, .stored, .foundNothing, .foundUsable, .decoded(text, .made)] {
      #expect(short(state.handle(event)) == [])
    }
    #expect(state.phase == .waiting)
  }

  @Test func `bytes lost after 304 are loaded again`() {
    var state = HandlerState()
    for event in [joined(1, text), .admitted, .foundNothing, .received] { _ = state.handle(event) }
    #expect(short(state.handle(.lostBytes)) == [])
    #expect(state.phase == .loading)
  }

  @Test func `priority is the highest of those who wait`() {
    var state = HandlerState()
    #expect(state.priority == .veryLow)
    _ = state.handle(.joined(seat(1), HandlerState.Wish(representation: text, priority: .low)))
    _ = state.handle(.joined(seat(2), HandlerState.Wish(representation: text, priority: .high)))
    #expect(state.priority == .high)
    _ = state.handle(.left(seat(2), .left))
    #expect(state.priority == .low)
    _ = state.handle(.reprioritized(seat(1), .veryHigh))
    #expect(state.priority == .veryHigh)
  }

  @Test func `only bytes that no representation could decode make the entry suspect`() {
    let bad = HandlerState.Decoded.failed(ObjectError(.undecodable, "no"))
    var state = HandlerState()
    for event in [joined(1, text), joined(2, count), .admitted, .foundUsable, .decoded(text, bad)] {
      _ = state.handle(event)
    }
    #expect(!state.isUndecodable)
    var other = state
    _ = state.handle(.decoded(count, .made))
    #expect(!state.isUndecodable)
    _ = other.handle(.decoded(count, bad))
    #expect(other.isUndecodable)
  }
}
