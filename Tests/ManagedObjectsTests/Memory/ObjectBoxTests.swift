import Testing

@testable import ManagedObjects

private protocol Shape: AnyObject, Sendable {}
private final class Circle: Shape {}

@Suite struct ObjectBoxTests {
  @Test func `an instance of a class is found weakly while it lives`() throws {
    var picture: Picture? = Picture(1)
    let weak = try #require(picture.flatMap { ObjectBox($0).weakBox() })
    #expect((weak.box() as? ObjectBox<Picture>)?.object === picture)
    picture = nil
    #expect(weak.box() == nil)
  }

  @Test func `values have no weak form, nor have optionals and existentials`() {
    #expect(ObjectBox(1).weakBox() == nil)
    #expect(ObjectBox("text").weakBox() == nil)
    #expect(ObjectBox([Picture(1)]).weakBox() == nil)
    #expect(ObjectBox(Optional(Picture(1))).weakBox() == nil)
    #expect(ObjectBox(Circle() as any Shape).weakBox() == nil)
  }
}

@Suite struct MemoryKeyTests {
  @Test func `equal keys have equal hashes, whichever way they were made`() {
    let text = "https://example.com/" + String(repeating: "a", count: 40)
    let same = String(decoding: Array(text.utf8), as: UTF8.self)
    #expect(memoryKey(text) == memoryKey(same))
    #expect(memoryKey(text).hash == memoryKey(same).hash)
    #expect(memoryKey(text).hashValue == memoryKey(same).hashValue)
  }

  @Test func `any part that differs makes another key`() {
    let key = memoryKey("a", scope: "s", variant: "v")
    #expect(key != memoryKey("b", scope: "s", variant: "v"))
    #expect(key != memoryKey("a", scope: "t", variant: "v"))
    #expect(key != memoryKey("a", scope: "s", variant: "w"))
    #expect(
      key != MemoryKey(id: ObjectID("a"), scope: "s", representation: Representation(of: String.self, variant: "v")))
  }
}
