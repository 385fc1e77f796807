import Testing

@testable import ManagedObjects

struct ScopeRuleTests {
  private func scope(_ fields: HeaderFields, named name: String? = nil, secret: Set<String> = []) -> String {
    ScopeRule(secretFields: secret).scope(named: name, fields: fields) { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a request without secrets is everybody's`() {
    #expect(scope([:]) == "" && scope(["Accept": "x", "User-Agent": "y"]) == "")
  }

  @Test(arguments: ["Authorization", "COOKIE", "Proxy-Authorization", "x-api-KEY"])
  func `each secret field makes a scope of its own`(name: String) {
    var (one, two) = (HeaderFields(), HeaderFields())
    one[name] = "1"
    two[name] = "2"
    let secret: Set<String> = ["X-Api-Key"]
    #expect(scope(one, secret: secret) != scope(two, secret: secret))
    #expect(scope(one, secret: secret).hasPrefix("secret:"))
  }

  @Test func `a name given by the caller stands for the secrets, and is never a digest or everybody's`() {
    #expect(scope(["Authorization": "1"], named: "joe") == scope(["Authorization": "2"], named: "joe"))
    #expect(scope([:], named: "") != "" && !scope([:], named: "secret:x").hasPrefix("secret:"))
  }

  @Test func `order, case and other fields do not matter, values and repeats do`() {
    let both: HeaderFields = ["Cookie": "a", "Authorization": "b"]
    #expect(scope(both) == scope(["authorization": "b", "Accept": "x", "cookie": "a"]))
    #expect(scope(both) != scope(["Cookie": "b", "Authorization": "a"]))
    #expect(scope(["Cookie": "a", "cookie": "a"]) != scope(["Cookie": "a"]))
    #expect(scope(["Cookie": "a", "cookie": "b"]) != scope(["Cookie": "ab"]))
  }

  @Test func `an empty secret is a secret too`() {
    #expect(scope(["Authorization": ""]) != "")
  }
}
