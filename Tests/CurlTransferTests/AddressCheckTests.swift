import TestSupport
import Testing

@testable import CurlTransfer

@Suite struct AddressCheckTests {
  private func check(_ url: String, _ scheme: String, _ host: String, _ port: Int) -> TransferFailure? {
    AddressCheck.failure(
      TransferRequest(url: url, origin: TransferOrigin(scheme: scheme, host: host, port: port)))
  }

  @Test(arguments: [
    ("http://example.com/", "http", "example.com", 80), ("https://example.com/a?b=c", "https", "example.com", 443),
    ("HTTP://EXAMPLE.com:8080/", "http", "example.com", 8080),
    ("http://joe:pw@example.com/", "http", "example.com", 80),
    ("http://[::1]:81/", "http", "::1", 81), ("http://[::1]/", "http", "[::1]", 80),
    ("http://[0:0:0:0:0:0:0:1]/", "http", "[0:0:0:0:0:0:0:1]", 80), ("http://[FE80::A]/", "http", "fe80::a", 80),
    ("http://example.com?q", "http", "example.com", 80), ("http://example.com/../a/./b", "http", "example.com", 80),
  ])
  func `a URL that both read alike passes`(_ url: String, _ scheme: String, _ host: String, _ port: Int) {
    #expect(check(url, scheme, host, port) == nil)
  }

  @Test func `a server that was found in order once lets no other address pass`() {
    var known = AddressCheck()
    func check(_ url: String, _ host: String = "example.com", _ port: Int = 80) -> Bool {
      known.failure(TransferRequest(url: url, origin: TransferOrigin(scheme: "http", host: host, port: port))) == nil
    }
    #expect(check("http://example.com/a") && check("http://example.com/b@evil?c"))
    #expect(!check("http://example.com/a", "evil") && !check("http://example.com/a", "example.com", 81))
    #expect(
      !check("http://example.com@evil/") && !check("http://example.com.evil/") && !check("http://example.com:81/"))
    #expect(check("http://joe:pw@example.com/") && !check("http://joe:pw@example.com/", "joe"))
    #expect(check("http://example.com/a"))
  }

  @Test func `a request is for the server of the one before, unless either named a user`() {
    var known = AddressCheck()
    let seen = ["http://h/a", "http://h/b", "http://u@h/", "http://u@h/", "http://h/a", "http://h/a"].map { url in
      _ = known.failure(TransferRequest(url: url, origin: TransferOrigin(scheme: "http", host: "h", port: 80)))
      return known.isSameServer
    }
    #expect(seen == [false, true, false, false, false, true])
  }

  @Test(arguments: [
    // What a lenient parser may make of these stands beside them.
    ("http:///evil/x", "http", "", 80), ("http:///evil/x", "http", "example.com", 80),
    ("http://example.com\\@evil/", "http", "example.com", 80), ("http://example.com@evil/", "http", "example.com", 80),
    ("http://evil#@example.com/", "http", "example.com", 80), ("http://evil?@example.com/", "http", "example.com", 80),
    ("http://example.com:81/", "http", "example.com", 80), ("http://example.com/", "https", "example.com", 80),
    ("http://example.com:80@evil/", "http", "example.com", 80), ("http://example.com.evil/", "http", "example.com", 80),
    ("https:/evil", "https", "example.com", 443), ("//evil/", "http", "example.com", 80),
    ("evil/", "http", "example.com", 80), ("", "http", "example.com", 80), ("http://", "http", "", 80),
    ("http://exa mple.com/", "http", "exa mple.com", 80), ("http://0x7f000001/", "http", "0x7f000001", 80),
    ("file:///etc/passwd", "http", "example.com", 80), ("gopher://example.com/", "http", "example.com", 80),
    ("http://example.com:99999/", "http", "example.com", 99999), ("http://a\0b/", "http", "a\0b", 80),
  ])
  func `a URL that libcurl reads otherwise is refused`(_ url: String, _ scheme: String, _ host: String, _ port: Int) {
    #expect(check(url, scheme, host, port)?.kind == .invalid)
  }

  @Test func `a transfer of such a URL sends nothing and ends once`() async throws {
    let server = try LoopbackServer()
    let record = try await CurlEngine().run(
      TransferRequest(
        url: "http://example.com\\@127.0.0.1:\(server.port)/",
        origin: TransferOrigin(scheme: "http", host: "example.com", port: server.port)))
    #expect(record.failure?.message == "Nothing was sent to example.com: libcurl reads another address in this URL.")
    #expect(record.ends.count == 1 && server.connectionsOpened == 0)
  }
}
