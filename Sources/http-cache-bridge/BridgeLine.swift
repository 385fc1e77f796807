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
    /// `network`: no usable response came. `internal`: anything else.
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

  let id: Int
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
    let code = (error as? ObjectError)?.code
    let isNetwork = code == .transport || code == .timedOut || code == .wrongLength
    self.error = Failure(kind: isNetwork ? "network" : "internal", message: "\(error)")
  }
}

private func pairs(_ fields: HeaderFields) -> [[String]] { fields.map { [$0.name, $0.value] } }
