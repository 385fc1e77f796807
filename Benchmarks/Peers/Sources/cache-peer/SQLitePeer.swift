import CSQLite

/// Bodies as blobs in rows, in the manner that is recommended: one table, write-ahead log, `synchronous` normal, every
/// statement prepared once. What was used longest ago goes first, a tenth of the limit at a time.
final class SQLitePeer: Peer {
  private let path: String
  private var database: OpaquePointer?
  private var statements: [String: OpaquePointer] = [:]
  private var limitEntries = 0
  private var counted = 0

  init(_ folder: String) throws {
    path = folder + "/cache.sqlite"
    try reopen(limitEntries: 0)
  }

  var introduction: String { "SQLite blobs|\(String(cString: sqlite3_libversion()))|limit trim" }

  func reopen(limitEntries: Int) throws {
    close()
    try check(sqlite3_open(path, &database))
    // Another process may hold the write lock, as while it trims.
    sqlite3_busy_timeout(database, 10_000)
    for text in [
      "pragma journal_mode = wal", "pragma synchronous = normal",
      "create table if not exists entry (key text primary key, used integer not null, body blob not null)",
      "create index if not exists entry_used on entry (used)",
    ] { try check(sqlite3_exec(database, text, nil, nil, nil)) }
    self.limitEntries = limitEntries
    if limitEntries > 0 { counted = try count() }
  }

  deinit { close() }

  private func close() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    sqlite3_close(database)
    database = nil
  }

  // MARK: Operations

  func put(_ key: String, _ body: [UInt8]) throws {
    let statement = try prepare("insert or replace into entry (key, used, body) values (?, ?, ?)")
    bind(key, to: statement)
    sqlite3_bind_int64(statement, 2, Int64(now()))
    sqlite3_bind_blob(statement, 3, body, Int32(body.count), Self.copied)
    try run(statement)
    counted += 1
    if limitEntries > 0, counted > limitEntries { try removeOldest(max(1, limitEntries / 10)) }
  }

  func get(_ key: String, touches: Bool) throws -> [UInt8]? {
    let statement = try prepare("select body from entry where key = ?")
    bind(key, to: statement)
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_column_blob(statement, 0), count: Int(sqlite3_column_bytes(statement, 0)))
    let body = Array(bytes)
    if touches {
      let touch = try prepare("update entry set used = ? where key = ?")
      sqlite3_bind_int64(touch, 1, Int64(now()))
      sqlite3_bind_text(touch, 2, key, -1, Self.copied)
      try run(touch)
    }
    return body
  }

  func contains(_ key: String) throws -> Bool {
    let statement = try prepare("select 1 from entry where key = ?")
    bind(key, to: statement)
    defer { sqlite3_reset(statement) }
    return sqlite3_step(statement) == SQLITE_ROW
  }

  func count() throws -> Int { Int(try number("select count(*) from entry")) }

  func trim() throws -> [Int] {
    let start = now()
    try removeOldest(try count() - limitEntries)
    return [now() - start]
  }

  private func removeOldest(_ number: Int) throws {
    guard number > 0 else { return }
    let statement = try prepare("delete from entry where key in (select key from entry order by used limit ?)")
    sqlite3_bind_int64(statement, 1, Int64(number))
    try run(statement)
    counted -= number
  }

  // MARK: SQLite

  /// SQLITE_TRANSIENT of sqlite3_bind_blob: SQLite makes its own copy.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private func bind(_ key: String, to statement: OpaquePointer) {
    sqlite3_bind_text(statement, 1, key, -1, Self.copied)
  }

  private func prepare(_ text: String) throws -> OpaquePointer {
    if let known = statements[text] { return known }
    var new: OpaquePointer?
    try check(sqlite3_prepare_v2(database, text, -1, &new, nil))
    guard let new else { throw PeerFault("no statement") }
    statements[text] = new
    return new
  }

  private func run(_ statement: OpaquePointer) throws {
    let result = sqlite3_step(statement)
    sqlite3_reset(statement)
    if result != SQLITE_DONE { try check(result) }
  }

  private func number(_ text: String) throws -> Int64 {
    let statement = try prepare(text)
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw PeerFault("\(text): no row") }
    return sqlite3_column_int64(statement, 0)
  }

  private func check(_ result: Int32) throws {
    if result != SQLITE_OK { throw PeerFault("SQLite: \(String(cString: sqlite3_errmsg(database)))") }
  }
}
