import CSQLite
import Foundation
import ManagedObjects
import Shelf

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

// A database, opened by SQLite where the cache keeps it. It is stored by hand here, as if it had just been loaded.
let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
let made = folder.appending(path: "stars.sqlite")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let keeping = ObjectManager(loaders: [EchoLoader()], cache: try FileCache(folder: folder.appending(path: "cache")))
var connection: OpaquePointer?
sqlite3_open(made.path, &connection)
sqlite3_exec(connection, "CREATE TABLE stars (name); INSERT INTO stars VALUES ('Vega')", nil, nil, nil)
sqlite3_close(connection)
let request = ObjectRequest("echo:stars")
let head = LoadHead(fields: ["Cache-Control": "max-age=60"])
try await keeping.store(Data(contentsOf: made), for: request, head: head)
let database = try await keeping.object(for: request, decodedBy: Database.decoder)
print("database:   ", try database.rows("SELECT name FROM stars").map { $0.map { $0 ?? "NULL" } })
try FileManager.default.removeItem(at: folder)
