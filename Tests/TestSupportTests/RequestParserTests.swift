import Testing

@testable import TestSupport

@Suite struct RequestParserTests {
  private func parse(_ text: String, pieces: Int = .max) -> [String] {
    var parser = RequestParser(connection: 1)
    var seen: [String] = []
    var rest = Array(text.utf8)[...]
    repeat {
      Array(rest.prefix(pieces)).withUnsafeBytes { parser.append($0) }
      rest = rest.dropFirst(pieces)
      taking: while true {
        switch parser.next() {
        case .request(let request, let wantsClose):
          seen.append("\(request.method) \(request.path)\(wantsClose ? " close" : "") \(latin(request.body))")
        case .malformed:
          seen.append("malformed")
          break taking
        case .expectsContinue:
          seen.append("continue")
          break taking
        case .needsMore: break taking
        }
      }
    } while !rest.isEmpty
    return seen
  }

  private let three =
    "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\nX: y\r\n\r\nabcGET /c HTTP/1.1\r\nConnection: close\r\n\r\n"

  @Test(arguments: [1, 2, 3, 7, 50, Int.max]) func `requests are the same however they arrive`(pieces: Int) {
    #expect(parse(three, pieces: pieces) == ["GET /a ", "POST /b abc", "GET /c close "])
  }

  @Test func `an unfinished request is not shown`() {
    for count in 0..<18 { #expect(parse(String("GET /a HTTP/1.1\r\n\r\n".utf8.prefix(count)) ?? "") == []) }
    #expect(parse("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nab") == [])
  }

  @Test(arguments: [
    ("/a?b=c", "/a"), ("http://ex.com:80/a/b?c", "/a/b"), ("http://ex.com", "/"), ("http://ex.com?x", "/"), ("*", "*"),
    ("/a//b/../c", "/a//b/../c"), ("ex.com:443", "ex.com:443"), ("/p?u=http://x/y", "/p"),
  ]) func `the path is the target without query and authority`(target: String, path: String) {
    #expect(parse("GET \(target) HTTP/1.1\r\n\r\n") == ["GET \(path) "])
  }

  @Test(arguments: [
    "GET /a\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "\r\n\r\n", "GET /a FTP/1\r\n\r\n",
    "POST /a HTTP/1.1\r\nContent-Length: x\r\n\r\n", "POST /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
  ]) func `what is no request is malformed`(text: String) {
    #expect(parse(text) == ["malformed"])
  }

  @Test func `HTTP 1_0 closes unless it asks to keep`() {
    #expect(parse("GET /a HTTP/1.0\r\n\r\n") == ["GET /a close "])
    #expect(parse("GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n") == ["GET /a "])
  }

  @Test func `the wish to continue is told once`() {
    let text = "POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab"
    #expect(parse(text, pieces: text.utf8.count - 2) == ["continue", "POST /a ab"])
    #expect(parse(text, pieces: text.utf8.count - 1) == ["continue", "POST /a ab"])
    #expect(parse(text) == ["POST /a ab"])
  }

  @Test func `fields keep order, repeats and bytes`() {
    var parser = RequestParser(connection: 4)
    let bytes = Array("GET / HTTP/1.1\r\nB: 2\r\na:1\r\nb:  ".utf8) + [0xFF] + Array(" \r\nbad line\r\n\r\n".utf8)
    bytes.withUnsafeBytes { parser.append($0) }
    guard case .request(let request, _) = parser.next() else {
      Issue.record("no request")
      return
    }
    #expect(
      request.fields == [.init(name: "B", value: "2"), .init(name: "a", value: "1"), .init(name: "b", value: "\u{FF}")])
    #expect(request["b"] == "2")
    #expect(request.values(of: "B") == ["2", "\u{FF}"])
    #expect(request.head == bytes)
    #expect(request.connection == 4)
    #expect(request["c"] == nil)
    #expect(request.query == nil)
  }
}
