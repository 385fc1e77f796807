import Testing

@testable import ManagedObjects

private func location(_ text: String) throws -> URLRule.Location { try URLRule.parse(text).get() }

private func refusal(_ text: String) -> String? {
  if case .failure(let refusal) = URLRule.parse(text) { refusal.why } else { nil }
}

@Suite struct URLRuleTests {
  @Test(arguments: [
    ("http://example.com/a", "http://example.com/a"),
    ("HTTP://EXAMPLE.com/A", "http://example.com/A"),
    ("hTtPs://ex.com/", "https://ex.com/"),
    ("http://example.com", "http://example.com/"),
    ("http://example.com?q=1", "http://example.com/?q=1"),
    ("http://example.com#part", "http://example.com/"),
    ("http://example.com/a#part", "http://example.com/a"),
    ("http://example.com/a?b#c?d", "http://example.com/a?b"),
    ("http://example.com:80/a", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("https://example.com:80/a", "https://example.com:80/a"),
    ("http://example.com:/a", "http://example.com/a"),
    ("http://example.com:00080/a", "http://example.com/a"),
    ("http://example.com:08080/a", "http://example.com:8080/a"),
    ("http://example.com:0/a", "http://example.com:0/a"),
    ("http://example.com:65535/a", "http://example.com:65535/a"),
    ("http://joe:pw@example.com/a", "http://example.com/a"),
    ("http://joe@example.com:81/a", "http://example.com:81/a"),
    ("http://@example.com/a", "http://example.com/a"),
    ("http://example.com/@scope/pkg", "http://example.com/@scope/pkg"),
    ("http://example.com/a?mail=joe@x", "http://example.com/a?mail=joe@x"),
    ("http://my_host.local./a", "http://my_host.local./a"),
    ("http://127.0.0.1/", "http://127.0.0.1/"),
    ("http://1.2.3.4.example/", "http://1.2.3.4.example/"),
  ])
  func `the key is the URL in one spelling, without userinfo and fragment`(given: String, key: String) throws {
    #expect(try location(given).key == key)
    #expect(try location(key).key == key)
  }

  @Test(arguments: [
    "http://h/a/../b", "http://h/a/./b", "http://h//a//b", "http://h/a%2fb%2F", "http://h/a%7Eb~", "http://h/%zz%",
    "http://h/a?x=%20+&X=1&x=2", "http://h/a?", "http://h/<>\"^`{|}", "http://h/..", "http://h/a;b=c,d!$'()*:@",
    "http://h/[1]?[2]", "http://h/?a?b/c",
  ])
  func `path and query are never touched`(given: String) throws {
    #expect(try location(given).key == given)
    #expect(try location(given).text == given)
  }

  @Test(arguments: [
    ("http://h/a b", "http://h/a%20b"), ("http://h/ü", "http://h/%C3%BC"),
    ("http://h/?q=日本", "http://h/?q=%E6%97%A5%E6%9C%AC"),
    ("http://h/😀", "http://h/%F0%9F%98%80"), ("http://h/a ", "http://h/a%20"), ("http://h/a#ü b", "http://h/a"),
    ("http://h/%C3%BC ü", "http://h/%C3%BC%20%C3%BC"),
  ])
  func `blanks and non-ASCII are percent-encoded as UTF-8`(given: String, sent: String) throws {
    #expect(try location(given).text == sent)
    #expect(try location(given).key == sent)
  }

  @Test func `the text to send keeps userinfo, and nothing else does`() throws {
    let location = try location("http://Joe:p w:ü%40[@Example.com:8080/a?b#c")
    #expect(location.text == "http://Joe:p%20w:%C3%BC%40%5B@example.com:8080/a?b")
    #expect(location.key == "http://example.com:8080/a?b")
    #expect(location.userinfo == "Joe:p%20w:%C3%BC%40%5B")
    #expect(location.host == "example.com")
    #expect(location.description == "http://REDACTED@example.com:8080/a?b")
    #expect(location.origin.description == "http://example.com:8080")
    #expect("\(location)".contains("Joe") == false)
  }

  @Test func `an origin is scheme, host and port, whatever the spelling`() throws {
    let origin = try location("HTTPS://Example.com:443/a").origin
    #expect(try location("https://joe@example.com/b").origin == origin)
    #expect(try location("https://example.com:444/b").origin != origin)
    #expect(try location("http://example.com:443/b").origin != origin)
    #expect(try location("https://example.com./b").origin != origin)
    #expect(try location("https://example.com/b").effectivePort == 443)
    #expect(try location("http://example.com/b").effectivePort == 80)
    #expect(try location("http://example.com:8/b").effectivePort == 8)
    #expect(try location("mem://a/b").effectivePort == nil)
  }

  @Test(arguments: [
    ("", "scheme"), ("example.com/a", "scheme"), ("/a/b", "scheme"), (" http://h/", "scheme"), ("1http://h/", "scheme"),
    ("://h/", "scheme"), ("hättp://h/", "scheme"), ("http", "scheme"),
    ("http:///x", "no host"), ("http://", "no host"), ("http://:80/", "no host"), ("http://joe@/", "no host"),
    ("http://?q", "no host"), ("http://#f", "no host"),
    ("http:/x", "//"), ("http:x", "//"), ("http:", "//"), ("https:?", "//"),
    ("http://ex.com\\@evil/", "backslash"), ("http:\\\\h\\a", "backslash"), ("http://h/a\\b", "backslash"),
    ("http://a@b@c/", "two @"), ("http://a:b@c@d:80/", "two @"),
    ("http://h/a\nb", "control"), ("http://h\t/", "control"), ("http://h/\u{0}", "control"),
    ("http://h/a#\u{7F}", "control"),
    ("mem:a\rb", "control"),
    ("http://h:99999/", "65535"), ("http://h:65536/", "65535"), ("http://h:99999999999999999999/", "65535"),
    ("http://h:8a/", "port"), ("http://h:-1/", "port"), ("http://h: 80/", "port"), ("http://h:80:80/", "port"),
    ("http://bücher.example/", "punycode"), ("http://a b/", "blank"), ("http://a%41/", "%"), ("http://a'b/", "'"),
    ("http://a,b/", ","), ("http://[h/", "IPv6"), ("http://h]/", "]"), ("http://a+b/", "+"),
    ("mem:", "Nothing"), ("mem:#a", "Nothing"),
  ])
  func `what may be read in two ways is refused with the reason`(given: String, reason: String) {
    #expect(refusal(given)?.contains(reason) == true, "\(given): \(refusal(given) ?? "accepted")")
  }

  @Test(arguments: [
    "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0x7f000001/", "http://0177.0.0.1/",
    "http://0/",
    "http://127.0.0.1./", "http://127.0.0.256/", "http://1.2.3.4.5/", "http://127.0.0.0x1/", "http://1.2.3.04/",
    "http://a.b.1/", "http://0x/", "http://.1/", "http://1..2/",
  ])
  func `an IPv4 address in disguise is refused`(given: String) {
    #expect(refusal(given)?.contains("IPv4") == true)
  }

  @Test(arguments: [
    ("[::1]", "[::1]"), ("[::]", "[::]"), ("[0:0:0:0:0:0:0:1]", "[::1]"), ("[2001:DB8::0:1]", "[2001:db8::1]"),
    ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"), ("[2001:0:0:1:0:0:0:1]", "[2001:0:0:1::1]"),
    ("[2001:db8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"), ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
    ("[::ffff:7f00:1]", "[::ffff:127.0.0.1]"), ("[1::]", "[1::]"), ("[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"),
    ("[64:ff9b::1.2.3.4]", "[64:ff9b::102:304]"), ("[0001:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"),
    ("[::1.2.3.4]", "[::1.2.3.4]"),
  ])
  func `an IPv6 address has one spelling`(given: String, host: String) throws {
    #expect(try location("http://\(given):8080/a").host == host)
    #expect(try location("http://\(given)/a").key == "http://\(host)/a")
    #expect(try location("http://\(given)/a").port == nil)
  }

  @Test(arguments: [
    "[]", "[:]", "[:::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1::2::3]", "[12345::]", "[g::]", "[::1%25eth0]",
    "[1.2.3.4]", "[::1.2.3]", "[::1.2.3.4:5]", "[1:2:3:4:5:6:7:8::]", "[1:]", "[:1]", "[::1]x", "[::1", "[v1.x]",
  ])
  func `what is no IPv6 address is refused`(given: String) {
    #expect(refusal("http://\(given)/a") != nil)
  }

  @Test(arguments: [
    ("s3://Bucket/Key%20x?y#z", "s3://Bucket/Key%20x?y", "Bucket"), ("MEM:Abc", "mem:Abc", ""),
    ("mem:a#b", "mem:a", ""),
    ("echo:///x", "echo:///x", ""), ("file:///a b", "file:///a%20b", ""), ("x+y-1.z://H:9/", "x+y-1.z://H:9/", "H:9"),
    ("data:text/plain,ü", "data:text/plain,%C3%BC", ""),
  ])
  func `other schemes are taken as they are`(given: String, key: String, host: String) throws {
    let location = try location(given)
    #expect(location.key == key)
    #expect(location.text == key)
    #expect(location.host == host)
    #expect(!location.isHTTP)
  }

  @Test func `userinfo stays out of the key of other schemes too`() throws {
    let location = try location("sftp://joe:p@w@host/a@b")
    #expect(location.key == "sftp://host/a@b")
    #expect(location.text == "sftp://joe:p@w@host/a@b")
    #expect(location.host == "host")
    #expect(location.userinfo == "joe:p")
  }

  @Test func `no bytes make the parser trap, and what it accepts it accepts again unchanged`() {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "http", "https", "HTTP", "mem", ":", "//", "/", "?", "#", "@", "[", "]", "::", "1", "0x", ".", "..", "%", "%4",
      "a", "ü", " ", "\\", "\u{0}", "ex.com", "127.0.0.1", "[::1]", "80", "99999", "\u{301}",
    ]
    for _ in 0..<20_000 {
      let count = Int.random(in: 0...9, using: &random)
      let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      guard case .success(let location) = URLRule.parse(text) else { continue }
      #expect(location.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
      #expect((try? URLRule.parse(location.text).get()) == location, "\(text)")
      #expect((try? URLRule.parse(location.key).get().key) == location.key, "\(text)")
    }
  }
}
