/// What made a cache folder, as its file `format` says. Literally:
///
///     ManagedObjects 1 BigFileCache 256
///
/// that is version, backend and number of shards. Made with the folder and never changed: another backend on the same
/// folder would neither find nor trim the entries.
struct StoreFormat: Hashable, Sendable {
  static let version = 1
  static let limitBytes = 128

  enum Backend: String, Sendable {
    case fileCache = "FileCache"
    case bigFileCache = "BigFileCache"
  }

  var backend: Backend
  var shards: Int

  var line: String { "ManagedObjects \(Self.version) \(backend.rawValue) \(shards)\n" }

  enum Reading: Hashable, Sendable {
    case known(StoreFormat)
    /// Something else made the folder: what it says of itself.
    case foreign(String)
    /// Not whole, or nothing of ours: to be made anew.
    case damaged
  }

  static func read(_ bytes: [UInt8]) -> Reading {
    guard let text = String(validating: bytes, as: UTF8.self), text.hasSuffix("\n") else { return .damaged }
    let words = text.dropLast().split(separator: " ")
    guard words.count == 4, words[0] == "ManagedObjects", Int(words[1]) != nil, let shards = Int(words[3]) else {
      return .damaged
    }
    guard words[1] == "\(version)", let backend = Backend(rawValue: String(words[2])), [16, 256, 4096].contains(shards)
    else { return .foreign("\(words[2]), version \(words[1])") }
    return .known(StoreFormat(backend: backend, shards: shards))
  }
}
