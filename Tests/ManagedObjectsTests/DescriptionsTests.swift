import Foundation
import Testing

@testable import ManagedObjects

/// Every way in which Swift turns a value into text.
private func texts<Value>(_ value: Value) -> [String] {
  var dumped = ""
  dump(value, to: &dumped)
  var inside = ""
  dump([value], to: &inside)
  return ["\(value)", String(reflecting: value), "\([value])", dumped, inside]
}

struct DescriptionsTests {
  private let fields: HeaderFields = [
    "Authorization": "Bearer hidden", "Cookie": "a=hidden", "Set-Cookie": "s=hidden", "X-Api-Key": "hidden",
    "X-Auth": "hidden", "Proxy-Authorization": "hidden", "My-Secret-Thing": "hidden", "X-Amz-Security-Token": "hidden",
    "Location": "https://joe:hidden@h/?token=hidden", "Accept": "text/shown",
  ]

  @Test func `fields show their names, and no value that is secret`() {
    for text in texts(fields) {
      #expect(!text.contains("hidden") && text.contains("X-Api-Key") && text.contains("text/shown"))
    }
    for text in fields.flatMap({ texts($0) }) { #expect(!text.contains("hidden")) }
    #expect("\(HeaderFields())" == "[]")
    #expect("\(["Accept": "*/*", "Cookie": "a=b"] as HeaderFields)" == "[Accept: */*, Cookie: REDACTED]")
  }

  @Test func `a load request shows no secret`() {
    var request = LoadRequest(location: "https://joe:hidden@h/a?b=c&sig=hidden", fields: fields)
    request.body = Data("hidden".utf8)
    for text in texts(request) { #expect(!text.contains("hidden") && text.contains("b=c")) }
  }

  @Test func `an object request and its id show no secret`() throws {
    var request = ObjectRequest("https://h/a?b=c&access_token=hidden")
    request.locations.append("https://joe:hidden@mirror/")
    request.fields = fields
    for text in texts(request) { #expect(!text.contains("hidden") && text.contains("mirror")) }
    for text in texts(try #require(request.id)) { #expect(!text.contains("hidden") && text.contains("b=c")) }
    #expect("\(ObjectID("token=shown", namespace: "n"))" == "n:token=shown")
  }

  @Test func `errors, events and endings show no secret`() throws {
    var request = ObjectRequest("https://h/a?access_token=hidden")
    request.fields = fields
    let error = ObjectError(.httpStatus, "Status 500.", head: LoadHead(status: 500, fields: fields))
    let id = try #require(request.id)
    for text in texts(error) + texts(ObjectEvent.failed(id, error)) { #expect(!text.contains("hidden")) }
    let ending = Ending<Int>(request: request, outcome: .failed(error))
    for text in texts(ending) { #expect(!text.contains("hidden")) }
  }
}
