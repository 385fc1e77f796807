import Foundation

/// A file cache as one writes it on Foundation alone, in the ancestor's manner: all files in one folder `ready`, written
/// in `loading` and moved, named by the key with '/' made '_', touched by every read, and when there are too many all of
/// them listed, sorted by date and removed down to four fifths. It checks nothing and knows neither heads nor processes.
final class PlainFoundationCache: Candidate {
  let name = "Foundation files"
  let version = ""
  let abilities: Set<Ability> = [.limit, .trim]
  private let folder: URL
  private let manager = FileManager.default
  private var limitEntries: Int?
  private var counted = 0

  init(in folder: URL) throws {
    self.folder = folder
    for part in ["ready", "loading"] {
      try manager.createDirectory(at: folder.appending(path: part), withIntermediateDirectories: true)
    }
  }

  /// As the folder says, since another one may have trimmed.
  func count() throws -> Int { try manager.contentsOfDirectory(atPath: path("ready")).count }

  func sibling() throws -> any Candidate { try PlainFoundationCache(in: folder) }

  func run(_ job: Job) throws -> [Int] {
    switch job.operation {
    case .open: return [try open(job)]
    case .trim:
      let start = nanoseconds()
      try trim(to: limitEntries ?? .max)
      return [nanoseconds() - start]
    default: return try job.keys.map { try measure(job, $0) }
    }
  }

  private func open(_ job: Job) throws -> Int {
    let start = nanoseconds()
    limitEntries = job.limitEntries
    for key in job.keys { _ = get(Job.name(of: key)) }
    let time = nanoseconds() - start
    if limitEntries != nil { counted = try count() }
    return time
  }

  private func measure(_ job: Job, _ number: Int) throws -> Int {
    let name = Job.name(of: number)
    let body = [.put, .mixed].contains(job.operation) ? Data(job.body(of: number)) : Data()
    let start = nanoseconds()
    var isHit = true
    switch job.operation {
    case .put: try put(name, body)
    case .get: try check(get(name), number, job)
    case .miss: if get(name) != nil { throw Breach("Foundation found what was never stored.") }
    case .contains: if !manager.fileExists(atPath: path("ready", name)) { throw Breach("Foundation lost \(name).") }
    default:
      if let found = get(name) {
        try check(found, number, job)
      } else {
        isHit = false
        try put(name, body)
      }
    }
    let time = nanoseconds() - start
    return isHit ? time : -time
  }

  private func check(_ found: Data?, _ number: Int, _ job: Job) throws {
    guard let found, found.count == job.bytes, found.starts(with: Job.stamp(number)) else {
      throw Breach("Foundation gave other bytes for \(Job.name(of: number)), or none.")
    }
  }

  private func path(_ part: String, _ name: String = "") -> String {
    folder.path + "/\(part)/" + name.replacingOccurrences(of: "/", with: "_")
  }

  private func get(_ name: String) -> Data? {
    guard let file = FileHandle(forReadingAtPath: path("ready", name)), let data = try? file.readToEnd() else {
      return nil
    }
    try? file.close()
    try? manager.setAttributes([.modificationDate: Date()], ofItemAtPath: path("ready", name))
    return data
  }

  private func put(_ name: String, _ body: Data) throws {
    let temp = path("loading", name)
    guard manager.createFile(atPath: temp, contents: nil), let file = FileHandle(forWritingAtPath: temp) else {
      throw Breach("Foundation could not make \(temp).")
    }
    try file.write(contentsOf: body)
    try file.close()
    try manager.moveItem(atPath: temp, toPath: path("ready", name))
    counted += 1
    if let limitEntries, counted > limitEntries { try trim(to: limitEntries * 4 / 5) }
  }

  private func trim(to limit: Int) throws {
    let keys: Set<URLResourceKey> = [.contentModificationDateKey, .fileSizeKey]
    let ready = folder.appending(path: "ready")
    guard let files = manager.enumerator(at: ready, includingPropertiesForKeys: Array(keys)) else { return }
    var dated: [(date: Date, url: URL)] = []
    for case let url as URL in files {
      dated.append((try url.resourceValues(forKeys: keys).contentModificationDate ?? .distantPast, url))
    }
    dated.sort { $0.date < $1.date }
    for file in dated.prefix(max(0, dated.count - limit)) { try manager.removeItem(at: file.url) }
    counted = min(dated.count, limit)
  }
}
