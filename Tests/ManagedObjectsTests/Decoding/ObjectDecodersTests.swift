import Foundation
import Testing

@testable import ManagedObjects

private struct Shop: Codable, Hashable, Sendable {
  struct Item: Codable, Hashable, Sendable { var name: String, price: Double }
  var items: [Item]
}

private func loaded(_ text: String, contentType: String? = nil) -> Loaded {
  var head = LoadHead()
  head.fields["Content-Type"] = contentType
  return Loaded(id: ObjectID("a"), head: head, bytes: Data(text.utf8))
}

@Suite struct ObjectDecodersTests {
  @Test func `data is the bytes as they are`() throws {
    #expect(try ObjectDecoder.data.decode(loaded("abc")) == Data("abc".utf8))
  }

  @Test func `text is read in the charset of the response`() throws {
    #expect(try ObjectDecoder.text.decode(loaded("grün")) == "grün")
    #expect(try ObjectDecoder.text.decode(loaded("grün", contentType: "text/plain; charset=latin1")) == "grÃ¼n")
    #expect(ObjectDecoder.text.cost?("grün") == 5)
  }

  @Test func `JSON becomes the type that is asked for`() throws {
    let shop = try ObjectDecoder<Shop>.json().decode(loaded(#"{"items":[{"name":"a","price":1.5}]}"#))
    #expect(shop == Shop(items: [.init(name: "a", price: 1.5)]))
    #expect(try ObjectDecoder.json([Int].self).decode(loaded("[1,2]")) == [1, 2])
  }

  @Test(arguments: [
    (#"{"items":[{"name":"a","price":1},{"name":"b","price":"x"}]}"#, "at items[1].price"),
    (#"{"items":[{"price":1}]}"#, "at items[0].name"), (#"{}"#, "at items"), (#"{"items":null}"#, "at items"),
    (#"{"items":"#, "Shop"), ("", "Shop"), ("[]", "Shop"),
  ])
  func `an error in JSON names its place`(json: String, place: String) throws {
    let error = #expect(throws: ObjectError.self) { try ObjectDecoder.json(Shop.self).decode(loaded(json)) }
    #expect(error?.code == .undecodable)
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    #expect(error?.underlying is DecodingError)
  }

  @Test func `the same type by the same name is one representation`() {
    #expect(ObjectDecoder.json(Shop.self).representation == ObjectDecoder<Shop>.json().representation)
    #expect(ObjectDecoder.json(Data.self).representation != ObjectDecoder.data.representation)
    #expect(ObjectDecoder.json(String.self).representation != ObjectDecoder.text.representation)
  }
}
