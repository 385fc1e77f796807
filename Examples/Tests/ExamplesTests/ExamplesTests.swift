import Foundation
import ManagedObjects
import Shelf
import Testing

@testable import Examples

@Suite struct ExamplesTests {
  private let backend = ShelfBackend(limitEntries: 3)

  private func manager(token: @escaping @Sendable () -> String = { "t" }) -> ObjectManager {
    ObjectManager(loaders: [EchoLoader()], cache: backend, interceptors: [Signer(token: token)])
  }

  @Test func `a table is read from comma-separated values`() async {
    let manager = manager()
    let table = Table(url: "echo:a,b%0Ac,,")
    manager.manage(table)
    #expect(await table.news.first { _ in true } == "2 rows")
    #expect(table.object == [["a", "b"], ["c", "", ""]])
    #expect(table.columns == 3)
  }

  @Test func `what a decoder throws arrives as a failure`() async {
    let manager = manager()
    let table = Table(url: "echo:a%09b")
    manager.manage(table)
    #expect(await table.news.first { _ in true } == "failed: undecodable")
    #expect(table.object == nil)
  }

  @Test func `words are counted, and the second user gets the number from memory at once`() async throws {
    let manager = manager()
    let first = WordCount()
    manager.manage(first, for: ObjectRequest("echo:one%20two"))
    for await ending in first.endings {
      #expect(try ending.get() == 2)
      break
    }
    let second = WordCount()
    #expect(manager.manage(second, for: ObjectRequest("echo:one%20two")) == nil)
    for await ending in second.endings {
      #expect(ending.object == 2)
      break
    }
  }

  @Test func `an actor collects texts`() async {
    let notebook = Notebook(manager())
    await notebook.write("a")
    await notebook.write("b")
    await notebook.write("a")
    #expect(await notebook.pages == ["a": "a", "b": "b"])
  }

  @Test func `requests are signed, and secrets are refused`() async throws {
    let manager = manager { "of today" }
    let answer = try await manager.answer(for: ObjectRequest("echo:x"), decodedBy: .text)
    #expect(answer.object == "x")
    #expect(answer.head.fields["X-Asked-By"] == "Bearer of today")
    await #expect { try await manager.data(for: ObjectRequest("echo:secret")) } throws: {
      ($0 as? ObjectError)?.code == .refusedByPolicy
    }
  }

  @Test func `a signer asks once more after 401`() async throws {
    let signer = Signer { "new" }
    let old = LoadRequest(location: "echo:x", fields: ["Authorization": "Bearer old"])
    guard case .retry(let again) = try await signer.didReceive(LoadHead(status: 401), for: old, attempt: 1) else {
      Issue.record("not asked again")
      return
    }
    #expect(again.fields["Authorization"] == "Bearer new")
    guard case .accept = try await signer.didReceive(LoadHead(status: 401), for: again, attempt: 2) else {
      Issue.record("asked again and again")
      return
    }
  }

  @Test func `the shelf answers the next manager, and keeps no more than its limit`() async throws {
    let first = manager()
    for name in ["a", "b", "c", "d"] { _ = try await first.data(for: ObjectRequest("echo:\(name)")) }
    await first.settle()
    #expect(backend.statistics().entries == 3)
    let second = manager()
    let kept = try await second.answer(for: ObjectRequest("echo:d"), decodedBy: .text)
    #expect(kept.source == .file)
    let gone = try await second.answer(for: ObjectRequest("echo:a"), decodedBy: .text)
    #expect(gone.source == .network)
  }
}
