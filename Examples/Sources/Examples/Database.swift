import CSQLite
import Foundation
import ManagedObjects

/// A SQLite database that came as a body: SQLite opens the cache's own file, lent to it for as long as this lives.
///
/// The file is never written to, so SQLite is told that it is immutable: it takes no locks and looks for no journal. What
/// comes from elsewhere is not trusted, so its views and triggers may call nothing that has side effects.
///
/// Sound although unchecked: the pointer never changes, and SQLite lets any thread use a connection opened with
/// SQLITE_OPEN_FULLMUTEX (https://sqlite.org/threadsafe.html).
final class Database: @unchecked Sendable {
  /// Shared by all who want the same database. In the memory cache it counts as little: its pages stay in the file.
  static let decoder = ObjectDecoder("sqlite", cost: { _ in 4096 }, decode: { try Database($0) })

  private let connection: OpaquePointer?
  /// Holds the lent file.
  private let loaded: Loaded

  init(_ loaded: Loaded) throws {
    guard let path = try loaded.lendPath() else {
      throw ObjectError(.undecodable, "A database needs a file; give the manager a FileCache.")
    }
    self.loaded = loaded
    // `%`, `?` and `#` mean something in a URI (https://sqlite.org/uri.html).
    let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    var connection: OpaquePointer?
    let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX
    let status = sqlite3_open_v2("file:\(escaped)?immutable=1", &connection, flags, nil)
    // Also after a failure there is a connection to close.
    self.connection = connection
    guard status == SQLITE_OK else { throw fault() }
    // The first to read the file, so the first to see that it is none.
    _ = try rows("PRAGMA trusted_schema = OFF")
    _ = try rows("PRAGMA cell_size_check = ON")
    _ = try rows("SELECT count(*) FROM sqlite_schema")
  }

  deinit { sqlite3_close_v2(connection) }

  /// The rows of a query, as text; NULL is nil. `?` in it stand for the arguments.
  func rows(_ query: String, _ arguments: String...) throws -> [[String?]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, query, -1, &statement, nil) == SQLITE_OK else { throw fault() }
    defer { sqlite3_finalize(statement) }
    // SQLITE_TRANSIENT: the text is copied.
    let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, argument) in arguments.enumerated() {
      guard sqlite3_bind_text(statement, Int32(index + 1), argument, -1, copied) == SQLITE_OK else { throw fault() }
    }
    var rows: [[String?]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) }
          })
      case SQLITE_DONE: return rows
      default: throw fault()
      }
    }
  }

  private func fault() -> ObjectError {
    ObjectError(.undecodable, "SQLite: \(String(cString: sqlite3_errmsg(connection)))")
  }
}
