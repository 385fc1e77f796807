import Foundation

/// One place where a rule is broken.
struct Violation: Equatable, CustomStringConvertible {
  let path: String
  /// Counted from 1.
  let line: Int
  let why: String

  var description: String { "\(path):\(line): \(why)" }
}

/// What holds for every Swift file of the project. Each rule is a function of a file's path and text alone.
struct HouseRule: Sendable {
  let name: String
  let check: @Sendable (_ path: String, _ text: SourceText) -> [Violation]

  func violations(_ path: String, _ text: String) -> [Violation] { check(path, SourceText(text)) }

  /// Breached by every line of code that matches `pattern`, in the files for which `applies` is true.
  static func never(
    _ pattern: String, in applies: @escaping @Sendable (String) -> Bool, why: String, name: String? = nil
  ) -> HouseRule {
    HouseRule(name: name ?? why) { path, text in
      guard applies(path) else { return [] }
      return text.code.indices.compactMap { line in
        text.code[line].range(of: pattern, options: .regularExpression) == nil
          ? nil : Violation(path: path, line: line + 1, why: why)
      }
    }
  }
}

extension HouseRule {
  static let all =
    imports + layers + safety + [
      noBrokenPromise, oneLock, noSleep, proofOfUnchecked, shortFiles, accessOnImports,
    ]

  // MARK: Who may import what

  static let imports: [HouseRule] = [
    .never(
      #"\bimport\s+(\w+\s+)?CCurl\b"#, in: { !$0.hasPrefix("Sources/CurlTransfer/") && !$0.hasPrefix("Benchmarks/") },
      why: "only CurlTransfer imports CCurl"),
    .never(
      #"\bimport\s+(\w+\s+)?CurlTransfer\b"#,
      in: { $0.hasPrefix("Sources/") && !isCurlLoader($0) },
      why: "only CurlLoader imports CurlTransfer"),
    .never(
      #"\bimport\s+(\w+\s+)?Foundation(Networking|Internationalization|XML)?\b"#, in: { $0.hasPrefix("Sources/") },
      why: "Foundation is too heavy for a library: FoundationEssentials at most"),
    .never(
      #"\bimport\b"#, in: { isValue($0) && !isCurlLoader($0) },
      why: "a rule is a function of values: it imports nothing"),
  ]

  /// CurlLoader and the files it is made of, among them the rules that turn our terms into curl's and back.
  @Sendable static func isCurlLoader(_ path: String) -> Bool { path.hasPrefix("Sources/ManagedObjects/Loading/Curl") }

  /// With the upcoming feature an import without a level is internal; writing it tells the reader.
  static let accessOnImports = never(
    #"^\s*(@\w+\s+)?import\b"#,
    in: { path in ["ManagedObjects/", "CurlTransfer/", "Locking/"].contains { path.hasPrefix("Sources/" + $0) } },
    why: "an import in the library says how far it reaches: internal, package or public")

  // MARK: Who may know whom

  static let layers: [HouseRule] = [
    .never(
      #"\bObjectManager\b"#, in: isBelowTheFrontDoor, why: "nobody below the front door mentions ObjectManager"),
    .never(
      #"\b(ContinuousClock|SuspendingClock|SystemClock|SystemTime|Moment)\s*(\(|\.now)|\bDate\s*\(|\bclock_gettime\b"#,
      in: isValue, why: "a rule has no clock: time is passed in"),
    .never(
      #"\bLock\s*[<(]|\bawait\b|\basync\b|\bTask\s*[.{(]"#, in: isValue, why: "a rule has no lock and waits for nothing"
    ),
  ]

  /// Rooms that decide and do nothing: no clock, no I/O, no lock.
  @Sendable static func isValue(_ path: String) -> Bool {
    guard path.hasPrefix("Sources/ManagedObjects/") else { return false }
    return path.contains("/Handlers/") || path.contains("/HTTP/") || path.hasSuffix("Rule.swift")
  }

  @Sendable static func isBelowTheFrontDoor(_ path: String) -> Bool {
    let rooms = ["Handlers", "HTTP", "Loading", "Memory", "Files", "Decoding"]
    let below = rooms.map { "Sources/ManagedObjects/\($0)/" } + ["Sources/CurlTransfer/", "Sources/Locking/"]
    return below.contains { path.hasPrefix($0) } || path == "Sources/ManagedObjects/Handler.swift"
  }

  // MARK: Safety

  static let safety: [HouseRule] = [
    .never(
      #"\bUnsafe\w*Pointer\b|\bOpaquePointer\b|\bwithUnsafe\w*|\bunsafe(Uninitialized|BitCast|Downcast)\w*|\bUnmanaged\b"#,
      in: { $0.hasPrefix("Sources/") && !mayUsePointers($0) },
      why: "pointers live in a few files only (HouseRules.swift lists them)")
  ]

  static func mayUsePointers(_ path: String) -> Bool {
    let places = [
      "Sources/CurlTransfer/", "Sources/Locking/Lock.swift", "Sources/ManagedObjects/Hashing.swift",
      "Sources/ManagedObjects/Files/Posix", "Sources/ManagedObjects/Files/SharedCounters",
      "Sources/ManagedObjects/Files/Mapped", "Sources/ManagedObjects/Decoding/Inflate",
    ]
    return places.contains { path.hasPrefix($0) }
  }

  /// What the compiler does not check, a reader must be able to: the proof stands in the lines above.
  static let proofOfUnchecked = HouseRule(name: "unchecked sharing is explained") { path, text in
    guard path.hasPrefix("Sources/") else { return [] }
    return text.code.indices.compactMap { line in
      let isUnchecked =
        text.code[line].range(of: #"@unchecked\s+Sendable|nonisolated\(unsafe\)"#, options: .regularExpression) != nil
      return isUnchecked && !text.hasComment(above: line, within: 6)
        ? Violation(path: path, line: line + 1, why: "a comment above has to prove this sound") : nil
    }
  }

  /// Names of one lock of our own, so that the sanitizer's run can replace it.
  static let oneLock = never(
    #"\b(Mutex|NSLock|NSRecursiveLock|NSCondition|DispatchSemaphore|pthread_mutex_t|pthread_rwlock_t)\b"#,
    in: { $0 != "Sources/Locking/Lock.swift" }, why: "Lock is the only lock")

  // MARK: Manners

  static let noBrokenPromise = HouseRule(name: "no trap on input, no work left for later") { path, text in
    text.lines.indices.flatMap { line in
      let trap = path.hasPrefix("Sources/") ? #"\btry!|\bfatalError\b|\bas!"# : #"\bfatalError\b"#
      let isTrap = text.code[line].range(of: trap, options: .regularExpression) != nil
      // Rules about such words have to spell them.
      let isPromise =
        !path.hasPrefix("Tests/HouseRulesTests/")
        && text.lines[line].range(of: #"\b(TODO|FIXME|XXX)\b"#, options: .regularExpression) != nil
      return [
        isTrap ? Violation(path: path, line: line + 1, why: "this would end the user's process") : nil,
        isPromise ? Violation(path: path, line: line + 1, why: "do it now, or leave it out") : nil,
      ].compactMap(\.self)
    }
  }

  /// A sleep makes a test slow on a fast machine and wrong on a slow one.
  static let noSleep = never(
    #"\b(usleep|nanosleep|sleep)\s*\("#, in: { $0.hasPrefix("Tests/") },
    why: "a test waits for what it wants to see, never for a time")

  static let limitLines = 400

  static let shortFiles = HouseRule(name: "files stay short") { path, text in
    let count = text.lines.last?.isEmpty == true ? text.lines.count - 1 : text.lines.count
    return count > limitLines
      ? [Violation(path: path, line: count, why: "\(count) lines; over \(limitLines) a file holds more than one idea")]
      : []
  }
}
