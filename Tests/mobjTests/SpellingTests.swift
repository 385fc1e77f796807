import Testing

@testable import mobj

struct SpellingTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("", "abc", 3), ("jobs", "jobs", 0), ("jbos", "jobs", 1), ("job", "jobs", 1),
    ("jobss", "jobs", 1), ("jobx", "jobs", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("größe", "grösse", 2),
  ])
  func `counts letters added, dropped, changed and swapped`(left: String, right: String, expected: Int) {
    #expect(Spelling.distance(left, right) == expected)
    #expect(Spelling.distance(right, left) == expected)
  }

  @Test(arguments: [
    ("--jbos", "--jobs"), ("--outputdir", "--output-dir"), ("--ouput-dir", "--output-dir"), ("--out", "--output-dir"),
    ("--jsno", "--json"), ("--maxsize", "--max-size"), ("--headers", "--header"), ("--time-out", "--timeout"),
    ("--QUIET", nil), ("--verbose", nil), ("-x", nil), ("--x", nil),
  ])
  func `finds the option that was meant`(word: String, expected: String?) {
    #expect(Spelling.nearest(to: word, among: GetOption.allCases.map(\.rawValue)) == expected)
  }

  @Test func `among equally near words the first is taken`() {
    #expect(Spelling.nearest(to: "bat", among: ["cat", "rat"]) == "cat")
    #expect(Spelling.nearest(to: "anything", among: []) == nil)
  }
}
