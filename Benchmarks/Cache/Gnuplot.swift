import Foundation

/// Has gnuplot run a script.
package enum Gnuplot {
  /// - Parameter file: what the script draws; named where it fails.
  package static func draw(_ script: String, to file: String) throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "mo-chart-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: place) }
    try Data(script.utf8).write(to: place)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gnuplot", place.path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Breach("gnuplot could not draw \(file); is it installed? (apt-get install gnuplot-nox)")
    }
  }

  package static func quoted(_ text: String) -> String {
    "\"" + text.replacingOccurrences(of: "\"", with: "'") + "\""
  }
}
