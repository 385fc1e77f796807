import CacheBenchmark
import Foundation

/// A figure that we promise to keep below a bound. Less is better, always.
struct Score: Codable {
  enum Verdict: String, Codable {
    case goal = "goal met"
    case must = "must met"
    case short = "SHORT"
  }

  var name: String
  /// What is compared, and with what: "CPU / C loop".
  var measure: String
  var value: Double
  /// What must be reached.
  var must: Double
  /// What is aimed at.
  var goal: Double
  /// "x" for ratios.
  var unit: String

  init(_ name: String, _ measure: String, _ value: Double, must: Double, goal: Double, unit: String = "x") {
    (self.name, self.measure, self.value) = (name, measure, value)
    (self.must, self.goal, self.unit) = (must, goal, unit)
  }

  /// As good as the figures that are shown: what rounds to the bound keeps it.
  var verdict: Verdict {
    let shown = (value * 100).rounded() / 100
    return shown <= (goal * 100).rounded() / 100 ? .goal : shown <= (must * 100).rounded() / 100 ? .must : .short
  }
}

/// What one candidate did, in medians of its rounds.
struct CandidateFigure: Codable {
  var contest: String
  var candidate: String
  /// Milliseconds for the whole set.
  var wall: Double
  var cpu: Double
  /// Microseconds of processor time for each body.
  var cpuPerBody: Double
  /// Medians of the rounds' ratios to the first candidate of the contest.
  var wallRatio: Double
  var cpuRatio: Double
  /// What was asked for beside the times.
  var value: String?
}

struct ScoreReport: Codable {
  var title: String
  var machine: Machine
  var conditions: [String]
  var scores: [Score]
  var candidates: [CandidateFigure]

  var table: String {
    let head = [
      title, "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), \(machine.fileSystem)", "",
    ]
    return (head + conditions + [""] + scoreLines + candidateLines).joined(separator: "\n") + "\n"
  }

  private var scoreLines: [String] {
    let widths = [44, 24, -12, -10, -10, 12]
    return [Self.row(widths, ["what", "measure", "measured", "must", "goal", "  verdict"])]
      + scores.map { score in
        Self.row(
          widths,
          [
            score.name, score.measure, decimal(score.value) + " " + score.unit, decimal(score.must),
            decimal(score.goal), "  " + score.verdict.rawValue,
          ])
      }
  }

  private var candidateLines: [String] {
    guard !candidates.isEmpty else { return [] }
    let widths = [30, 36, -10, -10, -12, -10, -10, -12]
    let head = Self.row(
      widths, ["contest", "candidate", "wall ms", "CPU ms", "CPU us/body", "wall", "CPU", "value"])
    return ["", head]
      + candidates.map { figure in
        Self.row(
          widths,
          [
            figure.contest, figure.candidate, decimal(figure.wall, 1), decimal(figure.cpu, 1),
            decimal(figure.cpuPerBody, 1), decimal(figure.wallRatio) + " x", decimal(figure.cpuRatio) + " x",
            figure.value ?? "",
          ])
      }
  }

  /// Columns of these widths; a negative one is set to the right.
  private static func row(_ widths: [Int], _ texts: [String]) -> String {
    zip(widths, texts).map { width, text in
      let blanks = String(repeating: " ", count: Swift.max(0, abs(width) - text.count))
      return width < 0 ? blanks + text : text + blanks
    }.joined()
  }
}

func decimal(_ number: Double, _ places: Int = 2) -> String { String(format: "%.\(places)f", number) }
