internal import ManagedObjects

/// Names the files of `--output-dir`.
///
///     https://example.com/pictures/a%20b.png?size=2  ->  a b.png
///     https://example.com/                           ->  index
///     https://example.com/x/%2e%2e%2fpasswd          ->  .._passwd
///     a second a.png in the same run                 ->  a.png-2
///
/// A name never holds a `/`, so what is written stays in the folder. Files of earlier runs do not count here: the same
/// command gives the same names again, and a file that exists is then left alone, or overwritten when asked.
struct OutputNames {
  /// Longest name, in bytes: leaves room for the ending of a temporary file within the 255 of a file system.
  static let limitBytes = 200

  /// The names given so far as hashes, so that a list of millions costs bytes a name; each with the last number tried
  /// after it. Two names of one hash would only earn the second a number that it did not need.
  private var given: [Int: Int] = [:]

  mutating func name(for url: String) -> String {
    let base = Self.base(of: url)
    let hash = base.hashValue
    guard let last = given[hash] else {
      given[hash] = 1
      return base
    }
    var number = last + 1
    var name = Self.numbered(base, number)
    // A URL may have been named "a-2" of its own.
    while given[name.hashValue] != nil {
      number += 1
      name = Self.numbered(base, number)
    }
    given[hash] = number
    given[name.hashValue] = 1
    return name
  }

  private static func numbered(_ base: String, _ number: Int) -> String {
    let ending = "-\(number)"
    return cut(base, to: limitBytes - ending.utf8.count) + ending
  }

  // MARK: The rule for one URL

  /// The name that a URL asks for.
  static func base(of url: String) -> String {
    let last = lastComponent(of: url)
    let isPlain = last.count <= limitBytes && last.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "%") }
    let name = isPlain ? String(Substring(last)) : cut(safe(percentDecoded(last)), to: limitBytes)
    return name.isEmpty || name == "." || name == ".." ? "index" : name
  }

  /// What follows the last `/` of the path, as it stands in the URL; without query and fragment.
  private static func lastComponent(of url: String) -> Substring.UTF8View {
    var rest = url.utf8[...]
    if let end = rest.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { rest = rest[..<end] }
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")) { rest = rest[rest.index(after: colon)...] }
    // The slashes before the host are not the path's: "http://example.com" has none.
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      guard rest.contains(UInt8(ascii: "/")) else { return rest[rest.endIndex...] }
    }
    guard let slash = rest.lastIndex(of: UInt8(ascii: "/")) else { return rest }
    return rest[rest.index(after: slash)...]
  }

  /// `_` for whatever a file's name should not hold: `/`, NUL, controls (those of writing direction too, which show a
  /// name other than it is) and bytes that are no UTF-8.
  private static func safe(_ bytes: [UInt8]) -> String {
    var name = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      name.append(isUnsafe(scalar) ? "_" : scalar)
    }
    return String(name)
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: scalar == "/" || scalar == "\u{FFFD}" || scalar.properties.isBidiControl
    }
  }

  /// As many whole characters as fit; of one that is larger than that, as many scalars.
  private static func cut(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    var room = limit
    let whole = name.prefix { character in
      room -= character.utf8.count
      return room >= 0
    }
    guard whole.isEmpty else { return String(whole) }
    room = limit
    return String(
      String.UnicodeScalarView(
        name.unicodeScalars.prefix { scalar in
          room -= UTF8.width(scalar)
          return room >= 0
        }))
  }
}
