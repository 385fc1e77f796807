internal import ManagedObjects

/// The entries that `mobj cache remove` means by its words, and which of these were found.
///
/// A URL means every answer under it, whatever its namespace, credential, kind and variant, compared as the library
/// compares URLs: `HTTP://Example.com:80/a#b` is `http://example.com/a`. Any other word means what `list` prints: an oid,
/// or `namespace:oid`; or the `key` of one entry in `list --json`, for URLs whose secrets `list` does not print.
struct RemovalNames {
  private let words: [String]
  private let allWords: Set<String>
  private var found: Set<String> = []
  /// The words by each name under which an entry may have them.
  private let wordsByURL: [String: [String]]

  init(_ words: [String]) {
    self.words = words
    allWords = Set(words)
    wordsByURL = Dictionary(grouping: words) { ObjectRequest($0).id?.name ?? $0 }
  }

  /// Whether the entry is meant.
  mutating func take(_ key: EntryKey) -> Bool {
    var meant = key.id.kind == .url ? wordsByURL[key.id.name, default: []] : []
    meant += [key.id.description, key.digest.hex].filter(allWords.contains)
    found.formUnion(meant)
    return !meant.isEmpty
  }

  /// Words under which nothing was found, in their order.
  var missing: [String] { words.filter { !found.contains($0) } }
}
