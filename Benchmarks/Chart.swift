import CacheBenchmark
import Foundation

/// Draws scores with gnuplot, each as a part of what must be reached, so that ratios, times and bytes stand side by side.
struct Chart {
  let title: String
  let scores: [Score]

  /// - Parameter file: SVG; or PNG, where its name ends in .png.
  func draw(to file: String) throws { try Gnuplot.draw(text(file), to: file) }

  private func text(_ file: String) -> String {
    let rows = scores.enumerated().map { place, score in
      let color = ["goal met": "0x4c9a5f", "must met": "0x3b76af"][score.verdict.rawValue] ?? "0xc0504d"
      let label = "\(score.name), \(score.measure)  \(decimal(score.value)) \(score.unit)"
      return [
        "\(scores.count - place)", decimal(score.value / score.must, 4), decimal(score.goal / score.must, 4), color,
        Gnuplot.quoted(label),
      ].joined(separator: " ")
    }
    let height = 90 + 26 * scores.count
    let terminal =
      file.hasSuffix(".png")
      ? "pngcairo size 1100,\(height) font 'sans,10'" : "svg size 1100,\(height) font 'sans,12' background 'white'"
    return """
      $scores << END
      \(rows.joined(separator: "\n"))
      END
      set terminal \(terminal)
      set output \(Gnuplot.quoted(file))
      set title \(Gnuplot.quoted(title)) noenhanced
      set xlabel 'part of what must be reached; green: goal met, blue: must met, red: short; | is the goal'
      set xrange [0:*<2]
      set yrange [0.3:\(scores.count).7]
      set style fill solid
      set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb 'black' lw 1.5
      set tics out nomirror noenhanced
      unset key
      plot $scores using ($2/2):1:($2/2):(0.3):4:ytic(5) with boxxyerror lc rgb variable, \\
        $scores using 3:1:(0):(0.4) with xyerrorbars pt 0 lc rgb 'black' lw 2

      """
  }
}
