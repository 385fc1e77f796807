public import FoundationEssentials

extension ObjectDecoder<Data> {
  /// What a `.gz` body holds: its members unpacked, one behind the other (RFC 1952 section 2.2). For bodies that are
  /// files of that kind; what a server packed on the way, as `Content-Encoding` says, comes unpacked already.
  ///
  /// The body is read piece by piece, so that only what comes out of it takes memory. Zeros behind the last member are
  /// padding, as for gzip(1); other bytes there, a member that is cut or damaged, and a body without any are
  /// `.undecodable`. Name: "gunzipped to at most … bytes".
  /// - Parameter limitBytes: what would unpack to more is `.tooLarge`, found out before more is kept.
  public static func gunzipped(limitBytes: Int) -> Self {
    ObjectDecoder(
      "gunzipped to at most \(limitBytes) bytes", cost: { $0.count },
      decode: { try gunzipped($0, limitBytes: max(0, limitBytes)) })
  }

  private static func gunzipped(_ loaded: Loaded, limitBytes: Int) throws -> Data {
    guard loaded.count > 0 else { throw ObjectError(.undecodable, "The body is empty, which no gzip file is.") }
    var inflater = Inflater(coding: .gzip)
    var unpacked = Data()
    do {
      try loaded.forEachPiece { piece in
        try inflater.inflate(piece, limit: limitBytes) { bytes in unpacked.append(bytes) }
      }
      try inflater.finish()
    } catch let error as ObjectError where error.code == .transport || error.code == .wrongLength {
      throw ObjectError(
        .undecodable, "The body is no whole gzip file: it is damaged, cut, or followed by something else.",
        underlying: error)
    }
    return unpacked
  }
}
