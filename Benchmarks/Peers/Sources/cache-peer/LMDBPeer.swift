import CLMDB
import Glibc

/// LMDB as its fastest users run it: NOSYNC, one read transaction that is renewed, bodies copied out. It has no limit
/// and removes nothing by itself.
final class LMDBPeer: Peer {
  private static let mapBytes = 64 << 30
  private let folder: String
  private var environment: OpaquePointer?
  private var reading: OpaquePointer?
  private var table: MDB_dbi = 0

  init(_ folder: String) throws {
    self.folder = folder
    try reopen(limitEntries: 0)
  }

  var introduction: String {
    "LMDB|\(String(cString: mdb_version(nil, nil, nil)).split(separator: " ")[1].dropLast())|"
  }

  func reopen(limitEntries: Int) throws {
    close()
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, Self.mapBytes))
    try check(mdb_env_open(environment, folder, UInt32(MDB_NOSYNC | MDB_NORDAHEAD), 0o600))
    try write { transaction in try check(mdb_dbi_open(transaction, nil, 0, &table)) }
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reading))
    mdb_txn_reset(reading)
  }

  deinit { close() }

  private func close() {
    if let reading { mdb_txn_abort(reading) }
    if let environment { mdb_env_close(environment) }
    (reading, environment) = (nil, nil)
  }

  func put(_ key: String, _ body: [UInt8]) throws {
    try write { transaction in
      try with(key) { key in
        try body.withUnsafeBytes { bytes in
          var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
          try check(mdb_put(transaction, table, &key, &value, 0))
        }
      }
    }
  }

  func get(_ key: String, touches: Bool) throws -> [UInt8]? {
    try find(key) { Array(UnsafeRawBufferPointer(start: $0.mv_data, count: $0.mv_size)) }
  }

  func contains(_ key: String) throws -> Bool { try find(key) { _ in true } ?? false }

  func count() throws -> Int {
    var facts = MDB_stat()
    try check(mdb_env_stat(environment, &facts))
    return facts.ms_entries
  }

  func trim() throws -> [Int] { throw PeerFault("LMDB removes nothing by itself") }

  // MARK: LMDB

  private func find<Result>(_ key: String, _ use: (MDB_val) -> Result) throws -> Result? {
    try check(mdb_txn_renew(reading))
    defer { mdb_txn_reset(reading) }
    return try with(key) { key in
      var value = MDB_val()
      let result = mdb_get(reading, table, &key, &value)
      if result == MDB_NOTFOUND { return nil }
      try check(result)
      return use(value)
    }
  }

  private func with<Result>(_ key: String, _ use: (inout MDB_val) throws -> Result) rethrows -> Result {
    var key = key
    return try key.withUTF8 { bytes in
      var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return try use(&value)
    }
  }

  private func write(_ work: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    do { try work(transaction) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try check(mdb_txn_commit(transaction))
  }

  private func check(_ result: Int32) throws {
    if result != 0 { throw PeerFault("LMDB: \(String(cString: mdb_strerror(result)))") }
  }
}
