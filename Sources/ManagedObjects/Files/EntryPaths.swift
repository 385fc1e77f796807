/// The first 128 bits of an entry's digest: what its files are called. The whole key stands in the entry.
struct EntryName: Hashable, Sendable {
  let high: UInt64
  let low: UInt64

  init(_ key: EntryKey) { (high, low) = key.digest.leadingWords }

  /// From 32 hexadecimal digits; nil: not of that form.
  init?(digits: Span<UInt8>) {
    guard digits.count == 32, let high = number(digits.extracting(0..<16)), let low = number(digits.extracting(16..<32))
    else { return nil }
    self.high = high
    self.low = low
  }
}

/// Every path of a cache folder is spelled here:
///
///     format                                   what made the folder, see `StoreFormat`
///     counters  trim.lock  secret              shared by the processes that use it
///     a7/a7c9…(32 digits)                      an entry's head, with the body behind it when that is small
///     a7/a7c9…(32 digits).0f3e…(16 digits)     a large body: exactly its bytes, named by the head's generation
///     a7/t0c41…(32 digits)                     a small entry that is being written
///     temp/t0c41…(32 digits)                   a large body that is being written
///     lent/t0c41…(32 digits)                   a file lent to a reader
///
/// A shard is named by the first digits of its entries' names: one digit (16 shards), two (256) or three (4096).
struct EntryPaths: Hashable, Sendable {
  let shardDigits: Int

  static let format = FilePath("format")
  static let counters = FilePath("counters")
  static let trimLock = FilePath("trim.lock")
  static let secret = FilePath("secret")
  static let temp = FilePath("temp")
  static let lent = FilePath("lent")
  /// A folder, from inside.
  static let itself = FilePath(".")

  /// - Parameter shards: at least so many, of 16, 256 and 4096.
  init(shards: Int) { shardDigits = shards <= 16 ? 1 : shards <= 256 ? 2 : 3 }

  var shards: Int { 1 << (4 * shardDigits) }

  func shard(of name: EntryName) -> Int { Int(name.high >> (64 - 4 * UInt64(shardDigits))) }

  func shard(_ shard: Int) -> FilePath {
    FilePath(spelling: { $0.append(hexadecimal: shard, digits: shardDigits) })
  }

  /// Whether something in the cache's folder is called as a shard is.
  static func isShard(_ name: Span<UInt8>, digits: Int) -> Bool { name.count == digits && number(name) != nil }

  func head(_ name: EntryName) -> FilePath { path(in: shard(of: name)) { $0.append(name) } }

  func body(_ name: EntryName, generation: UInt64) -> FilePath {
    path(in: shard(of: name)) { $0.append(name, generation: generation) }
  }

  /// The same from inside of the shard.
  static func headInShard(_ name: EntryName) -> FilePath { FilePath(spelling: { $0.append(name) }) }

  static func bodyInShard(_ name: EntryName, generation: UInt64) -> FilePath {
    FilePath(spelling: { $0.append(name, generation: generation) })
  }

  func temp(_ unique: UniqueName, in shard: Int) -> FilePath { path(in: shard) { $0.append(unique) } }

  /// Whatever has this name in a shard.
  func listed(_ name: String, in shard: Int) -> FilePath { FilePath("\(self.shard(shard))/\(name)") }

  static func temp(_ unique: UniqueName) -> FilePath { path(in: "temp/", unique) }
  static func lent(_ unique: UniqueName) -> FilePath { path(in: "lent/", unique) }
  /// A file that is being made for the folder itself.
  static func unfinished(_ unique: UniqueName) -> FilePath { path(in: "", unique) }
  static func listed(_ name: String, in folder: FilePath) -> FilePath { FilePath("\(folder)/\(name)") }

  private func path(in shard: Int, _ name: (inout FilePath) -> Void) -> FilePath {
    FilePath(spelling: { path in
      path.append(hexadecimal: shard, digits: shardDigits)
      path.append(0x2F)
      name(&path)
    })
  }

  private static func path(in folder: String, _ unique: UniqueName) -> FilePath {
    FilePath(spelling: { path in
      for byte in folder.utf8 { path.append(byte) }
      path.append(unique)
    })
  }
}

/// A name that no other writer of the folder uses: a random part for the process and a count.
struct UniqueName: Hashable, Sendable {
  let process: UInt64
  let count: UInt64
}

/// What a name in a shard says.
enum ListedName: Hashable, Sendable {
  case head(EntryName)
  case body(EntryName, generation: UInt64)
  case temp
  /// Nothing of ours.
  case unknown

  init(_ name: Span<UInt8>) {
    self =
      switch name.count {
      case 32: EntryName(digits: name).map { .head($0) } ?? .unknown
      case 33 where name[0] == 0x74: EntryName(digits: name.extracting(1..<33)) == nil ? .unknown : .temp
      case 49 where name[32] == 0x2E: Self.body(name)
      default: .unknown
      }
  }

  private static func body(_ name: Span<UInt8>) -> ListedName {
    guard let entry = EntryName(digits: name.extracting(0..<32)), let generation = number(name.extracting(33..<49))
    else { return .unknown }
    return .body(entry, generation: generation)
  }
}

extension FilePath {
  fileprivate mutating func append(_ name: EntryName) {
    append(hexadecimal: name.high)
    append(hexadecimal: name.low)
  }

  fileprivate mutating func append(_ name: EntryName, generation: UInt64) {
    append(name)
    append(0x2E)
    append(hexadecimal: generation)
  }

  fileprivate mutating func append(_ name: UniqueName) {
    append(0x74)
    append(hexadecimal: name.process)
    append(hexadecimal: name.count)
  }
}

/// The number of lower-case hexadecimal digits, at most 16; nil: something else stands there.
private func number(_ digits: Span<UInt8>) -> UInt64? {
  var number: UInt64 = 0
  for at in digits.indices {
    switch digits[at] {
    case 0x30...0x39: number = number << 4 | UInt64(digits[at] - 0x30)
    case 0x61...0x66: number = number << 4 | UInt64(digits[at] - 0x57)
    default: return nil
    }
  }
  return number
}
