import FoundationEssentials
import ManagedObjects

/// A line asked: one request, as JSON. Header values are byte strings, shown as U+0000 to U+00FF.
struct BridgeRequest: Decodable {
  let id: Int
  let url: String
  let method: String?
  let headers: [[String]]?
  let body: String?
  let cacheMode: String?
  let redirect: String?

  var load: LoadRequest {
    var fields = HeaderFields()
    for pair in headers ?? [] where pair.count == 2 { fields.append(pair[0], pair[1]) }
    var load = LoadRequest(location: url, fields: fields)
    load.method = method ?? "GET"
    load.body = body.map { Data($0.utf8) }
    load.mode = cacheMode.flatMap { CacheMode(rawValue: $0) } ?? .standard
    load.redirectMode = redirect == "manual" ? .manual : redirect == "error" ? .refuse : .follow
    return load
  }
}

/// A line answered: the response, or why there is none.
struct BridgeAnswer: Encodable {
  struct Failure: Encodable {
    /// `network`: no usable response came, or none may be used. `internal`: anything else.
    let kind: String
    let message: String
  }

  /// `[103, [["link", "</s.css>"]]]`
  struct Interim: Encodable {
    let head: LoadHead

    func encode(to encoder: any Encoder) throws {
      var pair = encoder.unkeyedContainer()
      try pair.encode(head.status)
      try pair.encode(pairs(head.fields))
    }
  }

  /// nil: of a line from which none can be read.
  let id: Int?
  var status: Int?
  var statusText: String?
  var headers: [[String]]?
  var bodyBase64: String?
  var interimResponses: [Interim]?
  var error: Failure?

  init(_ id: Int, _ response: LoadResponse) throws {
    self.id = id
    status = response.status
    statusText = response.head.reason
    headers = pairs(response.head.fields)
    bodyBase64 = try response.data().base64EncodedString()
    interimResponses = response.interim.isEmpty ? nil : response.interim.map { Interim(head: $0) }
  }

  init(_ id: Int, _ error: any Error) {
    self.id = id
    let isNetwork = (error as? ObjectError).map { Self.networkCodes.contains($0.code) } ?? false
    self.error = Failure(kind: isNetwork ? "network" : "internal", message: "\(error)")
  }

  /// Whoever asked waits for an answer all the same.
  init(notARequest line: String) {
    id = (try? JSONDecoder().decode(Identified.self, from: Data(line.utf8)))?.id
    error = Failure(kind: "internal", message: "Not a request.")
  }

  /// All that a request can still have of it.
  private struct Identified: Decodable { let id: Int }

  /// What fetch() calls a network error. Here policy refuses nothing but redirects.
  private static let networkCodes: Set<ObjectError.Code> = [
    .transport, .timedOut, .wrongLength, .tls, .tooManyRedirects, .refusedByPolicy,
  ]
}

private func pairs(_ fields: HeaderFields) -> [[String]] { fields.map { [$0.name, $0.value] } }
