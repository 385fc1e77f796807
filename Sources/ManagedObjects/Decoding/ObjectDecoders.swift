public import FoundationEssentials

extension ObjectDecoder<Data> {
  /// The bytes as they are. Name: "data".
  public static var data: Self { ObjectDecoder("data", isInline: true, isKept: true) { try $0.data() } }
}

extension ObjectDecoder<String> {
  /// The text, in the charset that Content-Type names: UTF-8, US-ASCII, ISO-8859-1, windows-1252 or UTF-16; any other,
  /// or none, is read as UTF-8. A byte order mark is dropped. What is no text in that charset is `.undecodable`: nothing
  /// is replaced in silence. Name: "text".
  public static var text: Self {
    ObjectDecoder(
      "text", cost: { $0.utf8.count },
      decode: { loaded in
        try TextDecoding(contentType: loaded.head.fields["Content-Type"]).text(loaded.data())
      })
  }
}

extension ObjectDecoder where Object: Decodable {
  /// One JSON value (RFC 8259), by `JSONDecoder` with its defaults. Errors name the place, as in `items[2].price`.
  /// Name: "json".
  public static func json(_ type: Object.Type = Object.self) -> Self {
    ObjectDecoder("json") { loaded in
      let data = try loaded.data()
      do {
        return try JSONDecoder().decode(Object.self, from: data)
      } catch let error as DecodingError {
        throw ObjectError(.undecodable, "The JSON is no \(Object.self): \(error.place)", underlying: error)
      }
    }
  }
}

extension DecodingError {
  /// What is wrong, and where.
  var place: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      return Self.sentence(context, path: context.codingPath)
    case .keyNotFound(let key, let context):
      return Self.sentence(context, path: context.codingPath + [key])
    @unknown default:
      return "\(self)"
    }
  }

  private static func sentence(_ context: Context, path: [any CodingKey]) -> String {
    var place = ""
    for key in path {
      if let index = key.intValue {
        place += "[\(index)]"
      } else {
        place += place.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return place.isEmpty ? context.debugDescription : "at \(place): \(context.debugDescription)"
  }
}
