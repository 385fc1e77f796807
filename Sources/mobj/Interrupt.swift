internal import Dispatch
internal import FoundationEssentials
internal import Glibc
internal import ManagedObjects

/// Ctrl-C, a terminal that goes away, and the signal that ends programs: the first one winds the run up, a second one ends
/// it at once.
final class Interrupt {
  static let exitStatus: Int32 = 130

  /// Gives one element, when the first signal comes.
  let arrival: AsyncStream<Void>
  /// Whether it has come; for those that cannot wait.
  var hasArrived: Bool { flag.isRaised }
  private let flag = Flag()
  private let sources: [any DispatchSourceSignal]

  init() {
    let (arrival, arrived) = AsyncStream<Void>.makeStream()
    self.arrival = arrival
    let queue = DispatchQueue(label: "mobj.interrupt")
    // Under nohup(1) the end of the terminal is none of our business.
    let numbers = Self.isIgnored(SIGHUP) ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    sources = numbers.map { number in
      // The source sees the signal all the same; its default would end the process first.
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: queue)
    }
    let registered = DispatchGroup()
    for source in sources {
      source.setEventHandler { [flag] in
        if flag.raise() { _exit(Self.exitStatus) }
        arrived.yield()
      }
      registered.enter()
      source.setRegistrationHandler { registered.leave() }
      source.resume()
    }
    // Until then a signal would be lost: it is ignored already, and nobody sees it.
    registered.wait()
  }

  /// Whether whoever started the process wants that signal ignored: a bit for each, from signal 1 on (proc(5)).
  ///
  ///     SigIgn:	0000000000000001
  private static func isIgnored(_ number: Int32) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") }
    let ignored = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    return ignored >> UInt64(number - 1) & 1 != 0
  }
}

private final class Flag: Sendable {
  private let isUp = Lock(false)

  var isRaised: Bool { isUp.withLock { $0 } }

  /// - Returns: whether it was up already.
  func raise() -> Bool {
    isUp.withLock { isUp in
      defer { isUp = true }
      return isUp
    }
  }
}
