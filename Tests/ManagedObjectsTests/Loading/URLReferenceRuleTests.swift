import Testing

@testable import ManagedObjects

private func resolved(_ reference: String, from base: String) throws -> String {
  try URLRule.resolve(reference, from: URLRule.parse(base).get()).get().text
}

@Suite struct URLReferenceRuleTests {
  /// RFC 3986 sections 5.4.1 and 5.4.2, without the fragments, which are never sent.
  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
    ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../", "http://a/"), ("../../g", "http://a/g"),
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g"),
  ])
  func `the examples of RFC 3986 come out as printed there`(reference: String, target: String) throws {
    #expect(try resolved(reference, from: "http://a/b/c/d;p?q") == target)
  }

  @Test(arguments: [
    ("/new", "http://127.0.0.1:8080/new"), ("new", "http://127.0.0.1:8080/dir/new"),
    ("//127.0.0.1:9090/new", "http://127.0.0.1:9090/new"), ("?v=2", "http://127.0.0.1:8080/dir/old?v=2"),
    ("http://127.0.0.1:8080/new#part", "http://127.0.0.1:8080/new"), ("/a b ü", "http://127.0.0.1:8080/a%20b%20%C3%BC"),
    (" /new \t", "http://127.0.0.1:8080/new"), ("/a/../new", "http://127.0.0.1:8080/new"),
    ("HTTPS://H/a/../b", "https://h/b"), ("//h", "http://h/"), ("//h?q", "http://h/?q"),
    ("?", "http://127.0.0.1:8080/dir/old?"), ("a:b@c/d", "a:b@c/d"), ("1:b", "http://127.0.0.1:8080/dir/1:b"),
    ("/%2e%2e/x", "http://127.0.0.1:8080/%2e%2e/x"),
    ("/a//../b", "http://127.0.0.1:8080/a/b"), ("//h/..//x", "http://h//x"), ("...", "http://127.0.0.1:8080/dir/..."),
  ])
  func `a redirect keeps the port and takes every form of reference`(reference: String, target: String) throws {
    #expect(try resolved(reference, from: "http://127.0.0.1:8080/dir/old?x=1") == target)
  }

  @Test func `the path of the base stays as it was where it is taken over whole`() throws {
    #expect(try resolved("?y", from: "http://a/b/../c") == "http://a/b/../c?y")
    #expect(try resolved("g", from: "http://a") == "http://a/g")
    #expect(try resolved("g", from: "http://a?q") == "http://a/g")
  }

  @Test func `userinfo stays with the authority it was written for`() throws {
    #expect(try resolved("/b", from: "http://joe:pw@h/a") == "http://joe:pw@h/b")
    #expect(try resolved("//h/b", from: "http://joe:pw@h/a") == "http://h/b")
    #expect(try resolved("http://h/b", from: "http://joe:pw@h/a") == "http://h/b")
  }

  @Test(arguments: [
    "http:", "http:g", "//", "///x", "\\\\evil\\x", "/a\u{0}b", "//a@b@c/", "//h:99999/", "//bücher.example/",
  ])
  func `a reference to what is no URL is refused`(reference: String) {
    #expect(throws: URLRule.Refusal.self) { try resolved(reference, from: "http://a/b") }
  }

  @Test func `references between URLs of other schemes stay inside them`() throws {
    #expect(try resolved("x", from: "mem:abc") == "mem:x")
    #expect(try resolved("../x", from: "s3://bucket/a/b") == "s3://bucket/x")
    #expect(try resolved("/.//evil/x", from: "mem:/a") == "mem:/.//evil/x")
  }

  @Test func `no reference makes the resolver trap`() throws {
    let base = try URLRule.parse("http://joe@a/b/c?d").get()
    let pieces = [".", "..", "/", "//", "?", "#", ":", "a", "http:", "@", " ", "ü", "[", "%2e"]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...8)).map { _ in pieces.randomElement() ?? "" }.joined()
      guard case .success(let location) = URLRule.resolve(text, from: base), location.isHTTP else { continue }
      #expect((try? URLRule.parse(location.text).get()) == location, "\(text)")
    }
  }
}
