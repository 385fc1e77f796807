import CSQLite
import Foundation
import ManagedObjects
import Testing

@testable import Examples

@Suite struct DatabaseTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "it's 100%? #\(UUID().uuidString)")
  private let manager: ObjectManager
  private let cache: FileCache

  init() throws {
    cache = try FileCache(folder: folder)
    manager = ObjectManager(loaders: [EchoLoader()], cache: cache)
  }

  /// A database of so many stars, made by SQLite itself.
  private func stars(_ count: Int) throws -> Data {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var connection: OpaquePointer?
    #expect(sqlite3_open(path, &connection) == SQLITE_OK)
    let script = """
      CREATE TABLE stars (name TEXT PRIMARY KEY, note TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO stars SELECT 'star ' || i, hex(randomblob(100)) FROM n;
      INSERT INTO stars VALUES ('it''s', NULL);
      """
    #expect(sqlite3_exec(connection, script, nil, nil, nil) == SQLITE_OK)
    sqlite3_close(connection)
    return try Data(contentsOf: URL(filePath: path))
  }

  private func store(_ bytes: Data) async throws -> ObjectRequest {
    let request = ObjectRequest("echo:database")
    try await manager.store(bytes, for: request, head: LoadHead(fields: ["Cache-Control": "max-age=60"]))
    return request
  }

  private var lent: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "lent").path)) ?? []
  }

  @Test(arguments: [10, 20_000]) func `a database is queried where the cache keeps it, small or large`(
    count: Int
  ) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let request = try await store(stars(count))
    do {
      let database = try await manager.object(for: request, decodedBy: Database.decoder)
      #expect(try database.rows("SELECT count(*) FROM stars") == [["\(count + 1)"]])
      #expect(try database.rows("SELECT name, note FROM stars WHERE name = ?", "it's") == [["it's", nil]])
      // Shared, and good for as long as somebody has it, whatever becomes of the entry.
      #expect(try await manager.object(for: request, decodedBy: Database.decoder) === database)
      try await manager.removeAll()
      #expect(try database.rows("SELECT count(*) FROM stars WHERE note IS NULL") == [["1"]])
      #expect(throws: ObjectError.self) { try database.rows("DELETE FROM stars") }
      #expect(throws: ObjectError.self) { try database.rows("SELECT nothing FROM nowhere") }
      #expect(lent.count == 1)
    }
    #expect(lent.isEmpty)
  }

  @Test func `many threads may ask one database at once`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let request = try await store(stars(1000))
    let database = try await manager.object(for: request, decodedBy: Database.decoder)
    let found = try await withThrowingTaskGroup(of: [[String?]].self) { group in
      for number in 1...100 {
        group.addTask { try database.rows("SELECT name FROM stars WHERE name = ?", "star \(number)") }
      }
      return try await group.reduce(into: 0) { $0 += $1.count }
    }
    #expect(found == 100)
  }

  @Test func `bytes that are no database cannot be decoded, and stay in the cache`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    for bytes in [Data("no database".utf8), try stars(10).prefix(3000)] {
      let request = try await store(bytes)
      await #expect { try await manager.object(for: request, decodedBy: Database.decoder) } throws: {
        ($0 as? ObjectError)?.code == .undecodable
      }
      #expect(try await manager.contains(request))
      #expect(lent.isEmpty)
    }
  }

  @Test func `without files there is nothing to open, and the error says what to do`() async throws {
    let manager = ObjectManager(loaders: [EchoLoader()])
    await #expect { try await manager.object(for: ObjectRequest("echo:x"), decodedBy: Database.decoder) } throws: {
      ($0 as? ObjectError)?.message.contains("FileCache") == true
    }
  }
}
