import Foundation

extension BenchmarkArguments {
  /// The table for people, and the figures as JSON where asked for.
  func write(_ table: String, _ figures: some Encodable) throws {
    let isJSONOut = json == "-"
    (isJSONOut ? FileHandle.standardError : .standardOutput).write(Data(table.utf8))
    guard let json else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(figures) + Data("\n".utf8)
    if isJSONOut { FileHandle.standardOutput.write(data) } else { try data.write(to: URL(filePath: json)) }
  }
}

/// A claim of a measurement that turned out wrong, so that its figures are worth nothing.
struct Wrong: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension Collection<Double> {
  /// 0 where there are none.
  var median: Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
