import Testing

@testable import mobj

struct OutputNamesTests {
  @Test(arguments: [
    ("https://e.com/pictures/a%20b.png?size=2/3", "a b.png"), ("https://e.com/a.tar.gz#x/y", "a.tar.gz"),
    ("https://e.com/", "index"), ("https://e.com", "index"), ("https://e.com?a/b", "index"),
    ("https://e.com/a/b/", "index"), ("http://e.com:8080/x", "x"), ("http://[::1]:80/x", "x"), ("s3:bucket/key", "key"),
    ("mem:thing", "thing"), ("", "index"), ("no url at all", "no url at all"), ("https://e.com/100%", "100%"),
    ("https://e.com/%zz%4", "%zz%4"), ("https://e.com/%25%32%30", "%20"), ("https://e.com/a+b", "a+b"),
    ("https://e.com/%E6%BC%A2.txt", "漢.txt"), ("https://e.com/漢.txt", "漢.txt"), ("https://e.com/-rf", "-rf"),
    ("https://e.com/a\\b", "a\\b"), ("https://e.com/a%5cb", "a\\b"), ("https://e.com/.hidden", ".hidden"),
  ])
  func `a file is named by the last component of the path, decoded once`(url: String, expected: String) {
    #expect(OutputNames.base(of: url) == expected)
  }

  @Test(arguments: [
    ("http://e/..", "index"), ("http://e/.", "index"), ("http://e/x/../..", "index"), ("http://e/%2e%2e", "index"),
    ("http://e/%2E", "index"), ("http://e/%2e%2e%2f", ".._"), ("http://e/%2e%2e%2fout", ".._out"),
    ("http://e/..%2Fout", ".._out"), ("http://e/%2Fabs", "_abs"), ("http://e//abs", "abs"), ("http://e/a%2Fb", "a_b"),
    ("http://e/a%00b", "a_b"), ("http://e/a%0Ab", "a_b"), ("http://e/a%0d%7f%1b[2J", "a___[2J"), ("http://e/%00", "_"),
    ("http://e/a%C2%85b", "a_b"), ("http://e/a%E2%80%AEgpj.exe", "a_gpj.exe"), ("http://e/a%E2%80%A8b", "a_b"),
    ("http://e/a%FFb", "a_b"), ("http://e/%E6%BC", "_"),
  ])
  func `no name leaves the folder or upsets a terminal`(url: String, expected: String) {
    #expect(OutputNames.base(of: url) == expected)
  }

  @Test func `names are cut to 200 bytes, between characters`() {
    #expect(OutputNames.base(of: "http://e/" + String(repeating: "x", count: 400)).utf8.count == 200)
    // 199 letters leave one byte, too little for the next character of three.
    let name = OutputNames.base(of: "http://e/" + String(repeating: "x", count: 199) + "漢字")
    #expect(name == String(repeating: "x", count: 199))
    // A family of seven scalars stays or goes as a whole.
    let family = "👨‍👩‍👧‍👦"
    let families = OutputNames.base(of: "http://e/" + String(repeating: family, count: 50))
    #expect(families == String(repeating: family, count: 200 / family.utf8.count))
  }

  @Test func `a single character larger than a name is cut all the same`() {
    let accents = String(repeating: "\u{301}", count: 300)
    let name = OutputNames.base(of: "http://e/a" + accents)
    #expect((199...200).contains(name.utf8.count))
    #expect(name.hasPrefix("a\u{301}\u{301}") || name.unicodeScalars.first == "a")
  }

  @Test func `equal names of one run are numbered in order`() {
    var names = OutputNames()
    let given = ["a/x.png", "b/x.png", "c/x.png", "d/y", "e/", "f/"].map { names.name(for: "http://e/" + $0) }
    #expect(given == ["x.png", "x.png-2", "x.png-3", "y", "index", "index-2"])
  }

  @Test func `a number never makes a name that was given`() {
    var names = OutputNames()
    let given = ["x-2", "x", "x", "x-2", "x", "x-2-2"].map { names.name(for: "http://e/" + $0) }
    #expect(given == ["x-2", "x", "x-3", "x-2-2", "x-4", "x-2-2-2"])
    #expect(Set(given).count == given.count)
  }

  @Test func `numbered names are no longer than others`() {
    var names = OutputNames()
    let url = "http://e/" + String(repeating: "漢", count: 100)
    let given = Set((0..<1200).map { _ in names.name(for: url) })
    #expect(given.count == 1200)
    #expect(given.allSatisfy { $0.utf8.count <= 200 })
  }

  @Test func `whatever the URL, the name is a single safe component`() {
    var random = SystemRandomNumberGenerator()
    let pieces = ["/", "..", ".", "%2f", "%2e", "%00", "a", "漢", "%", "?", "#", ":", "\\", " ", "\n", "%ff", "//"]
    var names = OutputNames()
    for _ in 0..<5000 {
      let url = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
      let name = names.name(for: url)
      #expect(!name.isEmpty && name != "." && name != ".." && name.utf8.count <= 200, "\(url)")
      #expect(!name.utf8.contains { $0 == 0x2F || $0 < 0x20 || $0 == 0x7F }, "\(url)")
    }
  }
}
