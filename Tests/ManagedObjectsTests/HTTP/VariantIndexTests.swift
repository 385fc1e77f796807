import Testing

@testable import ManagedObjects

struct VariantIndexTests {
  @Test func `it comes back from an entry's facts as it went in`() throws {
    var index = VariantIndex(generation: 7)
    index.note(["accept"], "v1", tag: "\"a,b\"")
    index.note(["accept", "accept-language"], "v2", tag: nil)
    let read = try #require(VariantIndex(index.facts))
    #expect(read == index)
    #expect(read.sets == [["accept", "accept-language"], ["accept"]])
    #expect(read.tags == [VariantIndex.Tagged(variant: "v1", tag: "\"a,b\"")])
  }

  @Test func `an answer is no index`() {
    #expect(VariantIndex(EntryFacts(head: LoadHead(fields: ["Vary": "a"]))) == nil)
  }

  @Test func `the newest stand first, and of many only the newest stay`() {
    var index = VariantIndex(generation: 1)
    for number in 0..<100 { index.note(["f\(number)"], "v\(number)", tag: "\"\(number)\"") }
    #expect(index.sets.count == VariantIndex.limitSets && index.sets.first == ["f99"])
    #expect(index.tags.count == VariantIndex.limitTags && index.tags.first?.tag == "\"99\"")
    index.note(["f90"], "v90", tag: "\"new\"")
    #expect(index.sets.first == ["f90"] && index.sets.filter { $0 == ["f90"] }.count == 1)
    #expect(index.tags.filter { $0.variant == "v90" }.map(\.tag) == ["\"new\""])
  }

  @Test func `what is no entity tag is not kept`() {
    var index = VariantIndex(generation: 1)
    index.note(["a"], "v", tag: "no quotes")
    #expect(index.tags.isEmpty)
  }

  @Test func `another index does not find the answers of this one`() {
    let request: HeaderFields = ["Accept": "a"]
    let (one, two) = (VariantIndex(generation: 1), VariantIndex(generation: 2))
    #expect(
      one.text(["accept"], request: request, secrets: nil) != two.text(["accept"], request: request, secrets: nil))
    #expect(one.text(["accept"], request: request, secrets: nil) != one.text(["accept"], request: [:], secrets: nil))
  }

  @Test func `garbage in an entry is read as far as it makes sense`() {
    let facts = EntryFacts(head: LoadHead(status: 0, fields: ["Vary": "*", "ETag": "nothing"]))
    let index = VariantIndex(facts)
    #expect(index?.sets == [] && index?.tags == [])
  }
}
