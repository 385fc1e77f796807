internal import Glibc
internal import ManagedObjects

/// One line of the demo's table: what a step did, and what it claims to have shown.
struct Row: Sendable {
  struct Claim: Sendable {
    let text: String
    let holds: Bool
  }

  let name: String
  var objects = 0
  var requests = 0
  var bytes = 0
  var time = Duration.zero
  var claims: [Claim] = []
  /// Shown below the line.
  var note: String?

  var holds: Bool { claims.allSatisfy(\.holds) }
}

/// Prints rows as they come, 78 columns wide; on a terminal a bar stands in a row's place while its step runs.
///
///       step                              objects  requests     bytes     time      rate
///     ✔ Cold load                           3,000     3,090   15.1 MB   0.71 s   4,225/s
final class Table: Sendable {
  private let isTerminal = isatty(1) == 1
  /// Length of the bar on the screen; -1: none is there.
  private let shownLength = Lock(-1)

  func printHead() {
    print("  " + padded("step", 32) + columns("objects", "requests", "bytes", "time", "rate"))
  }

  func printRow(_ row: Row) {
    if isTerminal { print("\r\u{1B}[K", terminator: "") }
    let seconds = row.time / .seconds(1)
    // A few objects have no rate worth a name.
    let rate = row.objects < 100 ? "" : "\(grouped(Int(Double(row.objects) / max(seconds, 1e-6))))/s"
    print(
      "\(row.holds ? "✔" : "✘") " + padded(row.name, 32)
        + columns(
          grouped(row.objects), grouped(row.requests), size(row.bytes), "\(rounded(seconds, 2)) s", rate))
    if let note = row.note { print("    \(note)") }
    for claim in row.claims where !claim.holds { print("    does not hold: \(claim.text)") }
    shownLength.withLock { $0 = -1 }
  }

  /// Moves the bar, on a terminal and only when it grows by a character. From any thread.
  func showProgress(_ name: String, _ done: Int, of total: Int) {
    guard isTerminal, total > 0 else { return }
    let width = 40
    let filled = min(width, done * width / total)
    let isSame = shownLength.withLock { shown in
      defer { shown = filled }
      return shown == filled
    }
    if isSame { return }
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    print("\r  \(padded(name, 32))\(bar)", terminator: "")
    fflush(nil)
  }

  private func columns(_ objects: String, _ requests: String, _ bytes: String, _ time: String, _ rate: String) -> String
  {
    leading(objects, 7) + leading(requests, 10) + leading(bytes, 9) + leading(time, 8)
      + (rate.isEmpty ? "" : leading(rate, 11))
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func leading(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

/// "1,234,567"
func grouped(_ number: Int) -> String {
  let digits = String(number)
  var text = ""
  for (at, digit) in digits.enumerated() {
    if at > 0, (digits.count - at) % 3 == 0 { text += "," }
    text.append(digit)
  }
  return text
}

/// "12.3 MB", in thousands
private func size(_ bytes: Int) -> String {
  switch bytes {
  case ..<1000: "\(bytes) B"
  case ..<1_000_000: "\(rounded(Double(bytes) / 1e3, 1)) kB"
  default: "\(rounded(Double(bytes) / 1e6, 1)) MB"
  }
}

private func rounded(_ number: Double, _ places: Int) -> String {
  let scale = places == 1 ? 10 : 100
  let whole = Int((number * Double(scale)).rounded())
  let fraction = String(whole % scale)
  return "\(whole / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
}
