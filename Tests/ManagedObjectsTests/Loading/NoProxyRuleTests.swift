import Testing

@testable import ManagedObjects

struct NoProxyRuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let list: String
    /// `host` or `host:port`; the port is 80 where none is given.
    let excepted: [String]
    let proxied: [String]

    init(_ list: String, excepted: [String], proxied: [String]) {
      self.list = list
      self.excepted = excepted
      self.proxied = proxied
    }

    var testDescription: String { "“\(list)”" }
  }

  static let cases = [
    Case("", excepted: [], proxied: ["localhost", "127.0.0.1", "[::1]", "a.example"]),
    Case(" , ,, ", excepted: [], proxied: ["localhost"]),
    Case("*", excepted: ["localhost", "127.0.0.1", "[::1]", "a.example"], proxied: []),
    Case("a.example, *", excepted: ["b.example"], proxied: []),
    // Names.
    Case(
      "127.0.0.1,localhost", excepted: ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost"],
      proxied: ["127.0.0.2", "notlocalhost", "localhost.example", "[::1]"]),
    Case(
      " .corp , localhost ", excepted: ["a.corp", "a.b.corp", "corp", "localhost"],
      proxied: ["acorp", "corp.example", "127.0.0.1"]),
    Case("example.com", excepted: ["example.com", "www.example.com"], proxied: ["badexample.com", "example.co"]),
    Case("*.example.com", excepted: ["example.com", "www.example.com"], proxied: ["badexample.com"]),
    Case("Example.COM.", excepted: ["example.com", "EXAMPLE.com."], proxied: ["com"]),
    Case("a.example b.example\tc.example\nd.example", excepted: ["b.example", "d.example"], proxied: ["e.example"]),
    Case("ex*mple.com, a*", excepted: [], proxied: ["example.com", "abc"]),
    // Addresses.
    Case("127.0.0.0/8", excepted: ["127.0.0.1", "127.255.255.255"], proxied: ["128.0.0.1", "126.1.1.1", "localhost"]),
    Case("10.1.2.3/9", excepted: ["10.127.0.1", "10.0.0.0"], proxied: ["10.128.0.0"]),
    Case("0.0.0.0/0", excepted: ["1.2.3.4"], proxied: ["[::1]", "a.example"]),
    Case("1.2.3.4/32", excepted: ["1.2.3.4"], proxied: ["1.2.3.5"]),
    Case("[::1]", excepted: ["[::1]"], proxied: ["[::2]", "127.0.0.1"]),
    Case("::1", excepted: ["[::1]"], proxied: ["[::1:0]"]),
    Case("0:0:0:0:0:0:0:1", excepted: ["[::1]"], proxied: []),
    Case("fc00::/7", excepted: ["[fc00::1]", "[fdff::1]"], proxied: ["[fe00::1]", "252.0.0.1"]),
    Case("[fe80::]/10, [fd00::/8]", excepted: ["[fe80::1]", "[febf::1]", "[fd01::]"], proxied: ["[fec0::1]"]),
    Case("127.0.0.1", excepted: ["[::ffff:127.0.0.1]"], proxied: ["[::7f00:1]"]),
    Case("::ffff:10.0.0.0/104", excepted: ["10.9.9.9", "[::ffff:10.0.0.1]"], proxied: ["11.0.0.0"]),
    Case("127.0.0.1.", excepted: [], proxied: ["127.0.0.2"]),
    // Ports.
    Case(
      "a.example:8080", excepted: ["a.example:8080", "b.a.example:8080"], proxied: ["a.example", "a.example:8081"]),
    Case("127.0.0.1:81,[::1]:82", excepted: ["127.0.0.1:81", "[::1]:82"], proxied: ["127.0.0.1", "[::1]:81"]),
    // What cannot be read matches nothing, and spoils nothing.
    Case(
      "1.2.3.4/33, 1.2.3.4/-1, 1.2.3.4/x, ::1/129, ::ffff:0:0/95, [::1, a.example:, a.example:0, a/b, ., *., [1.2.3.4], z",
      excepted: ["z"], proxied: ["1.2.3.4", "[::1]", "a.example", "a", "b"]),
    Case("999999999999999999999/99999999999999999999999, a:99999999999999999999", excepted: [], proxied: ["a"]),
  ]

  @Test(arguments: cases) func `hosts are excepted as the list says`(_ sample: Case) {
    let rule = NoProxyRule(sample.list)
    func excepts(_ text: String) -> Bool {
      let port = text.split(separator: ":").last.flatMap { text.hasSuffix("]") ? nil : Int($0) }
      let host = port == nil ? text : text.split(separator: ":").dropLast().joined(separator: ":")
      return rule.excepts(text.hasPrefix("[") ? String(text.prefix { $0 != "]" } + "]") : host, port: port ?? 80)
    }
    #expect(sample.excepted.filter { !excepts($0) } == [])
    #expect(sample.proxied.filter { excepts($0) } == [])
  }
}
