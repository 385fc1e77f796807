/// The tool's two outputs, written by one task, so that nothing gets mixed up: results on standard output, all that is
/// for people on standard error, with the bar out of the way of both.
struct Console {
  private let showsProgress: Bool
  private let environment: [String: String]
  private var bar: ProgressBar
  private var hasWarned = false
  /// Set once standard output could not be written; nothing more is tried.
  private(set) var outputFault: Descriptor.Fault?

  init(showsProgress: Bool, environment: [String: String], startedAt start: ContinuousClock.Instant) {
    self.showsProgress = showsProgress
    self.environment = environment
    bar = ProgressBar(startedAt: start, in: Self.place(in: environment))
  }

  /// A line, or a piece of a body, for programs.
  mutating func output(_ bytes: [UInt8]) {
    guard outputFault == nil else { return }
    clearBar()
    do throws(Descriptor.Fault) { try Descriptor.standardOutput.write(bytes) } catch { outputFault = error }
  }

  mutating func output(_ text: String) { output(Array(text.utf8)) }

  /// A line for people. That nobody can read it is no reason to stop.
  mutating func note(_ line: String) {
    clearBar()
    try? Descriptor.standardError.write(Self.shown(line) + "\n")
  }

  /// What is wrong with the cache, the first time only: the rest of the run says nothing new.
  mutating func warn(_ text: String) {
    guard !hasWarned else { return }
    hasWarned = true
    note("mobj: warning: \(text)")
  }

  mutating func show(_ reading: ProgressMeter.Reading, at now: ContinuousClock.Instant) {
    guard showsProgress, let text = bar.draw(reading, in: Self.place(in: environment), at: now) else { return }
    try? Descriptor.standardError.write(text)
  }

  mutating func clearBar() {
    guard let text = bar.clear() else { return }
    try? Descriptor.standardError.write(text)
  }

  /// Controls that a URL or a server's words may hold are not for the terminal to obey.
  static func shown(_ line: String) -> String {
    var text = String.UnicodeScalarView()
    for scalar in line.unicodeScalars { text.append(scalar.properties.generalCategory == .control ? "?" : scalar) }
    return String(text)
  }

  // MARK: The terminal

  /// Asked for each drawing, since windows change their size.
  private static func place(in environment: [String: String]) -> ProgressBar.Place {
    let term = environment["TERM"] ?? ""
    guard Descriptor.standardError.isTerminal, !term.isEmpty, term != "dumb" else { return .log }
    return .terminal(width: Descriptor.standardError.columns ?? 80, isUnicode: isUnicode(environment))
  }

  /// Whether the locale's characters are UTF-8 (locale(7): the first of these that is set counts).
  private static func isUnicode(_ environment: [String: String]) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"]
    let locale = names.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
    return ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
  }
}
