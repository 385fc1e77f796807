import ManagedObjects
import Testing

@testable import mobj

struct RemovalNamesTests {
  private func meant(_ words: [String], _ keys: EntryKey...) -> (taken: [Bool], missing: [String]) {
    var names = RemovalNames(words)
    return (keys.map { names.take($0) }, names.missing)
  }

  private func url(_ name: String, namespace: String = "") -> ObjectID {
    ObjectID(name, kind: .url, namespace: namespace)
  }

  @Test(arguments: [
    "http://example.com/a", "HTTP://Example.COM:80/a", "http://example.com/a#part", "http://joe@example.com/a",
  ])
  func `a URL is compared as the library does`(word: String) {
    let result = meant([word], EntryKey(url("http://example.com/a")), EntryKey(url("http://example.com/A")))
    #expect(result.taken == [true, false])
    #expect(result.missing == [])
  }

  @Test func `every answer under a URL is meant`() {
    let id = url("http://a/")
    let result = meant(
      ["http://a"], EntryKey(id, scope: "joe"), EntryKey(id, kind: .error), EntryKey(id, kind: .partial),
      EntryKey(id, variant: "v"), EntryKey(url("http://a/", namespace: "n")), EntryKey(ObjectID("http://a/")))
    #expect(result.taken == [true, true, true, true, true, false], "an oid of the same text is something else")
  }

  @Test func `an oid is named as it is listed`() {
    let (plain, spaced) = (EntryKey(ObjectID("7")), EntryKey(ObjectID("7", namespace: "pictures")))
    #expect(meant(["7"], plain, spaced).taken == [true, false])
    #expect(meant(["pictures:7"], plain, spaced).taken == [false, true])
  }

  @Test func `one entry is named by its key`() {
    let key = EntryKey(url("http://a/?token=x"), scope: "joe")
    #expect(meant([key.digest.hex], key, EntryKey(key.id)).taken == [true, false])
  }

  @Test(.timeLimit(.minutes(1))) func `as many names as entries take a moment`() {
    let count = 50_000
    var names = RemovalNames((0..<count).map { "\($0)" })
    var taken = 0
    for number in 0..<count where names.take(EntryKey(ObjectID("\(number)"))) { taken += 1 }
    #expect(taken == count && names.missing.isEmpty)
  }

  @Test func `what was not found is told in order`() {
    #expect(meant(["b", "http://a/", "a", "b"], EntryKey(url("http://a/"))).missing == ["b", "a", "b"])
  }
}
