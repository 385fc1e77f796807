import Testing

@testable import ManagedObjects

private let secrets = VaryRule.Secrets(names: ["X-Api-Key"]) { "digest of \($0.utf8.count)" }

private func head(_ vary: String...) -> LoadHead {
  var head = LoadHead()
  for line in vary { head.fields.append("Vary", line) }
  return head
}

private func matches(_ vary: String, stored: HeaderFields, asked: HeaderFields) -> Bool {
  let head = head(vary)
  let varying = VaryRule.varying(of: head, to: stored, secrets: secrets)
  return VaryRule.matches(head, varying: varying, request: asked, secrets: secrets)
}

@Suite struct VaryRuleTests {
  @Test func `names come in lower case, sorted, once`() {
    #expect(VaryRule.names(of: head("X-Kind, Accept-Language", "x-kind")) == ["accept-language", "x-kind"])
    #expect(VaryRule.names(of: head()) == [])
    #expect(VaryRule.names(of: head("", " , ")) == [])
  }

  @Test(arguments: ["*", " * ", "a, *", "*, a", "Accept-Language)", "a b", "a, \"b\"", "a;b", "\u{E9}"])
  func `a star or a broken member matches nothing`(vary: String) {
    #expect(VaryRule.names(of: head(vary)) == nil)
    #expect(VaryRule.names(of: head("a", vary)) == nil)
    #expect(!matches(vary, stored: ["a": "1"], asked: ["a": "1"]))
  }

  @Test func `a request matches where the named fields are the same`() {
    #expect(matches("X-Kind", stored: ["X-Kind": "a"], asked: ["x-kind": "a", "Other": "1"]))
    #expect(!matches("X-Kind", stored: ["X-Kind": "a"], asked: ["X-Kind": "b"]))
    #expect(!matches("X-Kind", stored: ["X-Kind": "a"], asked: ["X-Kind": "A"]))
    #expect(matches("", stored: ["X-Kind": "a"], asked: ["X-Kind": "b"]))
  }

  @Test func `absence is a value, and so is nothing`() {
    #expect(matches("X-Kind", stored: [:], asked: [:]))
    #expect(!matches("X-Kind", stored: [:], asked: ["X-Kind": "a"]))
    #expect(!matches("X-Kind", stored: ["X-Kind": "a"], asked: [:]))
    #expect(!matches("X-Kind", stored: ["X-Kind": ""], asked: [:]))
  }

  @Test func `several lines of a field are one list`() {
    #expect(matches("X-Kind", stored: ["X-Kind": "a", "x-kind": "b"], asked: ["X-Kind": "a, b"]))
  }

  @Test(arguments: [
    ("en", "EN", true), ("en, de", "de,en", true), ("en;q=0.5, de", "de , en; q=0.5", true), ("en", "de", false),
    ("en, de", "en", false), ("en;q=0.5", "en;q=0.6", false),
  ])
  func `languages are compared without case, order and spacing`(stored: String, asked: String, isSame: Bool) {
    for name in ["Accept-Language", "Accept-Encoding"] {
      let (one, other) = (
        HeaderFields(dictionaryLiteral: (name, stored)), HeaderFields(dictionaryLiteral: (name, asked))
      )
      #expect(matches(name, stored: one, asked: other) == isSame)
      let variants = [one, other].map { VaryRule.variant([name.lowercased()], request: $0, secrets: nil) }
      #expect((variants[0] == variants[1]) == isSame)
    }
  }

  @Test func `a secret field is kept as a digest, and still compared`() {
    let asked: HeaderFields = ["AUTHORIZATION": "Bearer abc", "x-api-KEY": "k", "Accept": "a/b"]
    let varying = VaryRule.varying(
      of: head("authorization, Cookie, X-API-Key, Accept"), to: asked, secrets: secrets)
    #expect(varying.map(\.value) == ["a/b", "digest of 10", "digest of 1"])
    #expect(matches("Authorization", stored: ["Authorization": "abc"], asked: ["authorization": "abc"]))
    #expect(!matches("Authorization", stored: ["Authorization": "abc"], asked: ["authorization": "abcd"]))
    #expect(!VaryRule.variant(["authorization"], request: asked, secrets: secrets).contains("Bearer"))
  }

  @Test func `what the server coded answers only those who asked for codings alike, though it does not say so`() {
    let coded = LoadHead(fields: ["Content-Encoding": "gzip", "Vary": "X-Kind"])
    let plain = LoadHead(fields: ["Vary": "X-Kind"])
    let requests: [HeaderFields] = [[:], ["Accept-Encoding": "gzip, br"], ["Accept-Encoding": "identity"]]
    for (place, stored) in requests.enumerated() {
      for (other, asked) in requests.enumerated() {
        for head in [coded, plain] {
          let varying = VaryRule.varying(of: head, to: stored, secrets: nil)
          let isMatch = VaryRule.matches(head, varying: varying, request: asked, secrets: nil)
          #expect(isMatch == (head == plain || place == other))
        }
      }
    }
    #expect(VaryRule.names(of: coded, to: [:]) == ["x-kind"])
    #expect(VaryRule.names(of: coded, to: requests[1]) == ["accept-encoding", "x-kind"])
    #expect(VaryRule.names(of: plain, to: requests[1]) == ["x-kind"])
    let same = VaryRule.varying(of: coded, to: ["accept-encoding": "BR,gzip"], secrets: nil)
    #expect(VaryRule.matches(coded, varying: same, request: requests[1], secrets: nil))
  }

  @Test func `a variant tells requests apart exactly where they do not match`() {
    let requests: [HeaderFields] = [[:], ["A": ""], ["A": "1"], ["A": "2"], ["B": "1"], ["A": "1", "B": "1"]]
    let variants = requests.map { VaryRule.variant(["a", "b"], request: $0, secrets: nil) }
    #expect(Set(variants).count == requests.count)
    #expect(variants[5] == "a: 1\nb: 1\n")
  }
}
