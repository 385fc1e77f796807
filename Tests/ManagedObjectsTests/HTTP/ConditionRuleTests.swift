import Testing

@testable import ManagedObjects

private let received = WallTime(seconds: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

private func isNotModified(_ stored: HeaderFields, _ request: HeaderFields, status: Int = 200) -> Bool {
  ConditionRule.isNotModified(LoadHead(status: status, fields: stored), request: request, responseTime: received)
}

struct ConditionRuleTests {
  @Test func `tags are compared weakly, each member of the list`() {
    let stored: HeaderFields = ["ETag": "\"abc\""]
    for asked in ["\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", " \"x\" ,W/\"abc\"", "*", "nonsense, \"abc\""] {
      #expect(isNotModified(stored, ["If-None-Match": asked]), "\(asked)")
    }
    for asked in ["\"ab\"", "abc", "", "w/\"abc\"", "\"a,b\"", "\"abc", "\"x\"\"abc"] {
      #expect(!isNotModified(stored, ["If-None-Match": asked]), "\(asked)")
    }
    #expect(isNotModified(["ETag": "W/\"a,b\""], ["If-None-Match": "\"a,b\""]))
  }

  @Test func `a star matches whatever is stored, a tag only what has one`() {
    #expect(isNotModified([:], ["If-None-Match": "*"]))
    #expect(!isNotModified([:], ["If-None-Match": "\"abc\""]))
  }

  @Test func `a tag counts alone, whatever the date says`() {
    let stored: HeaderFields = ["ETag": "\"new\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
    let later = "Sun, 06 Nov 2094 08:49:37 GMT"
    #expect(!isNotModified(stored, ["If-None-Match": "\"old\"", "If-Modified-Since": later]))
    #expect(isNotModified(stored, ["If-Modified-Since": later]))
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sunday, 06-Nov-94 08:49:37 GMT", true),
    ("Sun Nov  6 08:49:37 1994", true), ("Sun, 06 Nov 1994 08:49:36 GMT", false), ("yesterday", false), ("", false),
  ])
  func `a date counts in each of its three forms`(asked: String, expected: Bool) {
    #expect(isNotModified(["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], ["If-Modified-Since": asked]) == expected)
  }

  @Test func `without Last-Modified the time of the answer stands for it`() {
    let now: HeaderFields = ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]
    #expect(isNotModified(["Date": "Sun, 06 Nov 1994 08:49:37 GMT"], now))
    #expect(!isNotModified(["Date": "Sun, 06 Nov 1994 08:49:38 GMT"], now))
    #expect(isNotModified([:], now))
    #expect(!isNotModified(["Last-Modified": "garbage"], now))
  }

  @Test func `only a success can be unmodified`() {
    #expect(!isNotModified(["ETag": "\"a\""], ["If-None-Match": "\"a\""], status: 404))
  }

  @Test func `what is no tag is none`() {
    for text in ["", "abc", "\"", "\"a", "a\"", "W/", "W/\"", "\"a\"b", "\"a\" \"b\""] {
      #expect(EntityTag(text) == nil)
    }
    #expect(EntityTag(" W/\"a\" ")?.isWeak == true)
    #expect(EntityTag("\"\"")?.opaque == [])
  }
}
