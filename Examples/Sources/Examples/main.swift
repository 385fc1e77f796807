import Foundation
import ManagedObjects

let backend = ShelfBackend(limitEntries: 100)
let signer = Signer { "token of today" }
let manager = ObjectManager(loaders: [EchoLoader()], cache: backend, interceptors: [signer])

// The shortest way: one call, one object.
let text = try await manager.object(for: ObjectRequest("echo:hello"), decodedBy: .text)
print("async:      ", text)

// A user that conforms to ManagedUser, waiting for its endings.
let counter = WordCount()
manager.manage(counter, for: ObjectRequest("echo:one%20two%20three"))
for await ending in counter.endings {
  print("conforming: ", try ending.get(), "words")
  break
}

// A user that is an actor.
let notebook = Notebook(manager)
await notebook.write("a")
await notebook.write("b")
print("actor:      ", await notebook.pages.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })

// A subclass of ManagedUserBase, which carries its own URL.
let table = Table(url: "echo:a,b%0Ac,d")
manager.manage(table)
for await news in table.news {
  print("subclass:   ", news, table.object ?? [])
  break
}

// The interceptor signed the request, and keeps secrets from being asked for.
let answer = try await manager.answer(for: ObjectRequest("echo:signed"), decodedBy: .text)
print("interceptor:", answer.head.fields["X-Asked-By"] ?? "not signed")
do {
  _ = try await manager.data(for: ObjectRequest("echo:secret"))
} catch {
  print("            ", error.code.rawValue)
}

// What was loaded stands on the shelf.
await manager.settle()
print("backend:    ", backend.statistics().entries, "entries")
