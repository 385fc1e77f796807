/// What is tried with an input, told by the input's first byte, so that one corpus serves all.
enum Target: UInt8, CaseIterable {
  case head = 0x48
  case date = 0x44
  case cacheControl = 0x43
  case vary = 0x56
  case range = 0x52
  case facts = 0x46
  case url = 0x55
  case entry = 0x45
  case inflater = 0x5A
  case text = 0x54

  static func run(_ input: [UInt8]) {
    guard let first = input.first, let target = Target(rawValue: first) else { return }
    let bytes = input[1...]
    switch target {
    case .head: HeadTargets.head(Array(bytes))
    case .date: HeadTargets.date(text(bytes))
    case .cacheControl: HeadTargets.cacheControl(text(bytes))
    case .vary: HeadTargets.vary(lines(bytes))
    case .range: HeadTargets.range(lines(bytes))
    case .facts: HeadTargets.facts(lines(bytes))
    case .url: OtherTargets.url(lines(bytes))
    case .entry: OtherTargets.entry(Array(bytes))
    case .inflater: OtherTargets.inflater(bytes)
    case .text: OtherTargets.text(text(bytes))
    }
  }

  /// A field's value: a character for each byte, as the library shows what is not ASCII.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { text($0) }
  }
}

/// What must hold for every input; a trap here is a finding.
func expect(_ claim: Bool, _ what: StaticString) { precondition(claim, "\(what)") }
