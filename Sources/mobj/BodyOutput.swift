internal import FoundationEssentials
internal import ManagedObjects

/// Where a body goes that is written as it is, not to a file of its own: standard output, or the pipe or device that
/// `-o` names, which must be written into, never replaced.
enum BodyOutput {
  private static let pieceBytes = 65_536

  case standardOutput
  case device(Descriptor)

  /// Writes the body piece by piece; a large one is mapped, not read.
  /// - Throws: when it cannot be written, or the body cannot be read. Of standard output the console remembers that.
  func write(_ body: Loaded, _ console: inout Console) throws(ObjectError) {
    var rest = try body.data()[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(Self.pieceBytes))
      rest = rest.dropFirst(piece.count)
      do throws(Descriptor.Fault) { try write(piece, &console) } catch {
        throw ObjectError(.outputFailed, "The body could not be written: \(error.text).")
      }
    }
  }

  private func write(_ piece: [UInt8], _ console: inout Console) throws(Descriptor.Fault) {
    switch self {
    case .standardOutput:
      console.output(piece)
      if let fault = console.outputFault { throw fault }
    case .device(let descriptor): try descriptor.write(piece)
    }
  }
}
