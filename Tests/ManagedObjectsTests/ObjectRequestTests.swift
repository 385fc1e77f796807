import Foundation
import Testing

@testable import ManagedObjects

struct ObjectRequestTests {
  @Test func `a request is its url, without default port, fragment and userinfo`() {
    let plain = ObjectRequest("http://example.com/a?b").id
    #expect(plain == ObjectID("http://example.com/a?b", kind: .url))
    for text in ["HTTP://EXAMPLE.com:80/a?b", "http://joe:pw@example.com/a?b", "http://example.com/a?b#c"] {
      #expect(ObjectRequest(text).id == plain, "\(text)")
    }
    #expect(ObjectRequest("http://example.com/a?B").id != plain)
  }

  @Test func `an oid is the identity, wherever the bytes are`() throws {
    let mirrors = ["http://a/x", "http://b/x"].compactMap { URL(string: $0) }
    let request = ObjectRequest(oid: "x", mirrors: mirrors)
    #expect(request.id == ObjectID("x") && request.locations == ["http://a/x", "http://b/x"])
    #expect(request.urls == mirrors)
    #expect(ObjectRequest("http://a/x", oid: "x").id == request.id)
    #expect(ObjectRequest("x", oid: nil).id != request.id)
    #expect(try ObjectRequest(#require(URL(string: "http://a/x"))).id == ObjectRequest("http://a/x").id)
  }

  @Test func `a namespace keeps equal names apart`() {
    var request = ObjectRequest("http://a/x", oid: "x")
    request.namespace = "tiles"
    #expect(request.id == ObjectID("x", namespace: "tiles") && request.id != ObjectID("x"))
    #expect(request.id?.description == "tiles:x")
  }

  @Test func `what names nothing has no id`() {
    #expect(ObjectRequest("").id == nil && ObjectRequest("http://").id == nil)
    #expect(ObjectRequest("http://a/", oid: "").id == nil)
    #expect(ObjectRequest(oid: "x", mirrors: []).id == ObjectID("x"))
    var request = ObjectRequest("http://a/")
    request.locations = []
    #expect(request.id == nil)
  }

  @Test func `priorities are in order`() {
    #expect(LoadPriority.allCases == LoadPriority.allCases.sorted())
    #expect(LoadPriority.veryLow < .low && .normal < .veryHigh)
  }
}
