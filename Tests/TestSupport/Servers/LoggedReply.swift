internal import FoundationEssentials

/// What a real server's log says of a reply.
///
///     GET /a HTTP/1.1 200 5                                        lighttpd, http.server (there "-" for the bytes)
///     GET /a HTTP/2.0 200 5 1 gzip 1.1 tinyproxy (tinyproxy/1.11)   nginx: connection, Content-Encoding, the request's Via
///     {"request":{"method":"GET","uri":"/a","proto":"HTTP/1.1",…},"status":200,"size":5,…}       Caddy
package struct LoggedReply: Sendable, Equatable {
  package let method: String
  /// As it came, percent signs and query included.
  package let target: String
  /// "HTTP/2.0"
  package let version: String
  package let status: Int
  /// Of the body, as sent.
  package let bytes: Int?
  /// A number for each connection that the server accepted.
  package let connection: String?
  package let coding: String?
  /// By which proxies the request came.
  package let via: String?

  /// Nil: not the line of a request.
  init?(_ line: Substring) {
    if line.hasPrefix("{") {
      guard let entry = try? JSONDecoder().decode(Entry.self, from: Data(line.utf8)) else { return nil }
      (method, target, version) = (entry.request.method, entry.request.uri, entry.request.proto)
      (status, bytes, connection, coding, via) = (entry.status, entry.size, nil, nil, nil)
      return
    }
    let words = line.split(separator: " ", maxSplits: 7)
    guard words.count >= 5, words[2].hasPrefix("HTTP/"), let status = Int(words[3]) else { return nil }
    func word(_ index: Int) -> String? {
      words.indices.contains(index) && words[index] != "-" ? String(words[index]) : nil
    }
    (method, target, version, self.status) = (String(words[0]), String(words[1]), String(words[2]), status)
    (bytes, connection, coding, via) = (Int(words[4]), word(5), word(6), word(7))
  }

  /// Of Caddy's log.
  private struct Entry: Decodable {
    struct Request: Decodable { let method, uri, proto: String }
    let request: Request
    let status: Int
    let size: Int
  }
}
