import Foundation

/// Draws with gnuplot what changes with the number of entries, for every candidate, and latency while trimming. Both
/// axes are logarithmic: a line that is level is a cost that does not grow.
struct CacheChart {
  private static let growing = ["put", "get, hit", "open", "trim, per entry"]
  private let report: CacheReport

  init(_ report: CacheReport) { self.report = report }

  /// - Parameter file: SVG; or PNG, where its name ends in .png.
  func draw(to file: String) throws { try Gnuplot.draw(text(file), to: file) }

  private func text(_ file: String) -> String {
    let size = "size 1200,1500"
    let terminal =
      file.hasSuffix(".png") ? "pngcairo \(size) font 'sans,10'" : "svg \(size) font 'sans,12' background 'white'"
    let machine = report.machine
    let title = "\(machine.processor), Linux \(machine.kernel), \(machine.fileSystem)\\n"
    let versions = report.candidates.joined(separator: ", ")
    return """
      set terminal \(terminal)
      set output \(Gnuplot.quoted(file))
      set multiplot layout 3,2 title \(Gnuplot.quoted(title + versions)) noenhanced
      set grid ytics
      set tics noenhanced
      set key outside bottom center maxrows 3 noenhanced
      \((Self.growing.map(lines) + ["get", "put"].map(bars)).joined(separator: "\n"))
      unset multiplot

      """
  }

  /// Cost against the number of entries.
  private func lines(_ operation: String) -> String {
    let rows = report.figures.filter { $0.part == "numbers" && $0.operation == operation && $0.median > 0 }
    let names = distinct(rows.map(\.candidate))
    guard !names.isEmpty else { return "set multiplot next" }
    let blocks = names.enumerated().map { at, name in
      let points = rows.filter { $0.candidate == name }.map { "\($0.entries) \($0.median)" }
      return "$\(block(operation))\(at) << END\n\(points.joined(separator: "\n"))\nEND"
    }
    let plots = names.enumerated().map { at, name in
      "$\(block(operation))\(at) using 1:2 with linespoints lw 2 title \(Gnuplot.quoted(name))"
    }
    return """
      \(blocks.joined(separator: "\n"))
      set title \(Gnuplot.quoted("\(operation): microseconds (median) against entries")) noenhanced
      set logscale xy
      set xtics auto format '%.0s%c'
      plot \(plots.joined(separator: ", \\\n  "))
      """
  }

  /// The 99th of a hundred, alone and while trimming.
  private func bars(_ operation: String) -> String {
    let rows = report.figures.filter { $0.part == "trimming" }
    let names = distinct(rows.map(\.candidate))
    guard !names.isEmpty else { return "set multiplot next" }
    let lines = names.map { name in
      let values = ["alone", "while trimming"].map { when in
        rows.first { $0.candidate == name && $0.operation == "\(operation), \(when)" }?.p99 ?? 0
      }
      return "\(Gnuplot.quoted(name)) \(values[0]) \(values[1])"
    }
    return """
      $trim\(operation) << END
      \(lines.joined(separator: "\n"))
      END
      set title \(Gnuplot.quoted("\(operation): microseconds (p99), alone and while another trims")) noenhanced
      unset logscale x
      set logscale y
      set style data histograms
      set style fill solid
      set xtics format '%s' rotate by -20
      plot $trim\(operation) using 2:xtic(1) title 'alone', '' using 3 title 'while trimming'
      """
  }

  private func block(_ operation: String) -> String { operation.filter(\.isLetter) }
}
