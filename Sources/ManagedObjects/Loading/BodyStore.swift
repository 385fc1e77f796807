internal import FoundationEssentials

/// A body that is whole: in memory, or in an entry that is not committed yet.
enum ReceivedBody: Sendable {
  case memory(Data)
  case pending(PendingEntry)

  var count: Int {
    switch self {
    case .memory(let data): data.count
    case .pending(let entry): entry.count
    }
  }
}

/// An entry whose body is whole but which nobody has committed. Dropped, it is aborted.
final class PendingEntry: Sendable {
  let count: Int
  private let writer: Lock<EntryWriter?>

  init(_ writer: consuming sending EntryWriter, count: Int) {
    self.writer = Lock(writer)
    self.count = count
  }

  /// The writer, once.
  func take() -> EntryWriter? {
    var taken: EntryWriter?
    writer.withLock { swap(&taken, &$0) }
    return taken
  }
}

/// Keeps a body while it arrives: in memory up to a limit, then in an unfinished entry of the backend.
///
/// The cache is best effort, delivery is not: when the backend cannot take the bytes, what it has is read back and the
/// body goes on in memory, as far as that may grow.
struct BodyStore: ~Copyable, Sendable {
  struct Limits: Sendable {
    var inMemoryBytes: Int
    /// Where there is no backend, or it failed.
    var memoryOnlyBytes: Int
  }

  typealias Open = @Sendable (_ expectedBytes: Int?) throws -> EntryWriter

  private let limits: Limits
  private let open: Open?
  private let onFault: @Sendable (ObjectError) -> Void
  private var memory = Data()
  private var writer: EntryWriter?
  private var isMemoryOnly: Bool
  private(set) var count = 0

  /// - Parameter open: starts the entry; nil: memory only.
  init(limits: Limits, open: Open?, onFault: @escaping @Sendable (ObjectError) -> Void) {
    self.limits = limits
    self.open = open
    self.onFault = onFault
    isMemoryOnly = open == nil
  }

  /// Whether a body of this length belongs into an entry.
  func outgrowsMemory(_ bytes: Int) -> Bool { !isMemoryOnly && bytes > limits.inMemoryBytes }

  mutating func expect(_ bytes: Int) {
    if outgrowsMemory(bytes) {
      openWriter(expecting: bytes)
    } else {
      memory.reserveCapacity(min(bytes, limits.inMemoryBytes))
    }
  }

  mutating func append(_ bytes: RawSpan) throws(ObjectError) {
    count += bytes.byteCount
    if writer == nil, outgrowsMemory(memory.count + bytes.byteCount) { openWriter(expecting: nil) }
    if writer != nil { return try write(bytes) }
    guard memory.count + bytes.byteCount <= max(limits.memoryOnlyBytes, limits.inMemoryBytes) else {
      throw ObjectError(
        .tooLarge,
        "The body is larger than the \(limits.memoryOnlyBytes) bytes that may be kept in memory; give the manager "
          + "a cache, ask for a file, or raise Policy.limitMemoryOnlyBodyBytes.")
    }
    memory.append(bytes)
  }

  consuming func finish() -> ReceivedBody {
    if let writer = writer.take() { return .pending(PendingEntry(writer, count: count)) }
    return .memory(memory)
  }

  private mutating func openWriter(expecting bytes: Int?) {
    guard let open else { return }
    do {
      var opened = try open(bytes)
      if !memory.isEmpty { try opened.append(memory.bytes) }
      writer = consume opened
      memory = Data()
    } catch {
      isMemoryOnly = true
      onFault(ObjectError(cacheFault: error))
    }
  }

  private mutating func write(_ bytes: RawSpan) throws(ObjectError) {
    let failure: any Error
    do {
      try writer?.append(bytes)
      return
    } catch { failure = error }
    onFault(ObjectError(cacheFault: failure))
    isMemoryOnly = true
    guard count <= limits.memoryOnlyBytes else { throw ObjectError(cacheFault: failure) }
    do {
      memory = try writer?.salvage() ?? Data()
    } catch {
      throw ObjectError(cacheFault: failure)
    }
    writer = nil
    // What was salvaged may or may not hold a part of the piece that failed.
    memory = memory.prefix(count - bytes.byteCount)
    guard memory.count == count - bytes.byteCount else { throw ObjectError(cacheFault: failure) }
    count -= bytes.byteCount
    try append(bytes)
  }
}

extension Data {
  mutating func append(_ bytes: RawSpan) {
    // Sound: the pointer is used within the closure only.
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
