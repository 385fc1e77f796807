import Foundation
import TestSupport
import Testing

/// `mobj cache` with folders that `mobj get` made.
@Suite(.serialized)
struct CacheCommandStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer { request in
      Reply("body of \(request.path)", ["Cache-Control": "max-age=3600", "ETag": "\"v\""])
    }
    tool = try Tool()
  }

  private func fill(_ backend: String = "file", _ paths: String...) async throws {
    let run = try await tool.run(
      ["get", "--json", "--cache", "c", "--backend", backend] + paths.map(server.url))
    #expect(run.status == 0)
  }

  private func cache(_ words: String...) async throws -> Tool.Run { try await tool.run(["cache"] + words) }

  /// Heads of entries, as paths in the folder.
  private var heads: [String] {
    tool.names(in: "c").filter { $0.count <= 3 }.flatMap { shard in
      tool.names(in: "c/\(shard)").filter { $0.count == 32 }.map { "c/\(shard)/\($0)" }
    }
  }

  private func damage(_ name: String) throws {
    var bytes = try tool.home.read(name)
    bytes[bytes.count - 1] ^= 1
    try tool.home.write(name, bytes)
  }

  // MARK: Looking

  @Test(arguments: [("file", "FileCache"), ("big", "BigFileCache")])
  func `stat tells which cache made the folder and how much is in it`(backend: String, name: String) async throws {
    try await fill(backend, "/a", "/b")
    let run = try await cache("stat", "c")
    #expect(run.status == 0 && run.notes.isEmpty)
    #expect(run.text.contains("backend    \(name), version 1"))
    #expect(run.text.contains("entries    2\n") && run.text.contains("bodies     20 B; 8.2 kB count"))
    let object = try #require(try await cache("stat", "--json", "c").objects.first)
    #expect(object["backend"] as? String == name && object["entries"] as? Int == 2)
  }

  @Test(arguments: ["file", "big"])
  func `stat tells how often all programs together found what they looked for`(backend: String) async throws {
    try await fill(backend, "/a", "/b")
    try await fill(backend, "/a", "/b")
    try await fill(backend, "/a", "/c")
    let object = try #require(try await cache("stat", "--json", "c").objects.first)
    #expect(object["hits"] as? Int == 3)
    let misses = try #require(object["misses"] as? Int)
    #expect(misses >= 3)
    let share = Int((3000 / Double(3 + misses)).rounded())
    let text = try await cache("stat", "c").text
    #expect(text.contains("look-ups   \(3 + misses) in "))
    #expect(text.contains(", \(share / 10).\(share % 10) % of them hits"))
  }

  @Test func `list shows every entry, without the secrets of its URL`() async throws {
    try await fill("file", "/a?token=hunter2", "/b")
    let run = try await cache("list", "c")
    #expect(run.status == 0)
    #expect(run.text.split(separator: "\n").count == 2)
    #expect(run.text.contains(server.url("/b") + "  \"v\"\n") && !run.text.contains("hunter2"))
    let objects = try await cache("list", "c", "--json").objects
    #expect(Set(objects.compactMap { $0["id"] as? String }) == [server.url("/a?token=REDACTED"), server.url("/b")])
    #expect(objects.allSatisfy { $0["status"] as? Int == 200 && $0["bytes"] as? Int == 10 })
  }

  @Test func `looking changes nothing`() async throws {
    try await fill("file", "/a", "/b")
    let before = tool.home.names.filter { $0.hasPrefix("c/") }
    for verb in ["stat", "list", "verify"] { #expect(try await cache(verb, "c").status == 0) }
    #expect(tool.home.names.filter { $0.hasPrefix("c/") } == before)
    #expect(try await tool.run("get", "--json", "--cache", "c", server.url("/a")).sources == ["file"])
  }

  @Test(arguments: ["file", "big"])
  func `thousands are listed, verified and cleared`(backend: String) async throws {
    let list = (0..<1500).map { server.url("/\($0)") }.joined(separator: "\n")
    let got = try await tool.run(
      ["get", "--json", "--cache", "c", "--backend", backend, "--input", "-"], input: list)
    #expect(got.status == 0)
    let listed = try await cache("list", "--json", "c")
    #expect(Set(listed.objects.compactMap { $0["id"] as? String }).count == 1500)
    #expect(listed.notes.isEmpty, "no progress in a pipe")
    #expect(try await cache("verify", "c").text.hasPrefix("1,500 entries good, "))
    #expect(try await cache("clear", "c").text.hasPrefix("removed 1,500 entries, "))
    #expect(try await cache("list", "c").output.isEmpty)
    #expect(heads.isEmpty)
  }

  // MARK: Damage

  @Test func `verify finds damage, names it and removes it when asked`() async throws {
    try await fill("file", "/a", "/b", "/c")
    try damage(heads[0])
    let found = try await cache("verify", "c")
    #expect(found.status == 1)
    #expect(found.text.contains("damaged: \(heads[0].dropFirst(2)): the body has changed (http://"))
    #expect(found.text.hasSuffix("2 entries good, 20 B; 1 damaged; --repair removes them\n"))
    let repaired = try await cache("verify", "c", "--repair", "--json")
    #expect(repaired.status == 1)
    #expect(repaired.objects.first?["removed"] as? Bool == true)
    #expect(repaired.objects.last?["badEntries"] as? Int == 1)
    #expect(try await cache("verify", "c").status == 0)
    #expect(heads.count == 2)
  }

  @Test func `a get that is killed half-way leaves no damage`() async throws {
    server.on(
      "/slow",
      Reply([UInt8](repeating: 1, count: 8_000_000), ["Cache-Control": "max-age=60"]).paced(
        bytes: 100_000, every: .milliseconds(20)))
    let tool = self.tool
    let words = ["get", "--json", "--cache", "c", server.url("/slow")] + (0..<50).map { server.url("/\($0)") }
    let running = try tool.start(words)
    try await until("a body is half here") { !tool.names(in: "c/temp").isEmpty && server.allHits > 40 }
    running.kill()
    #expect(try await running.end().status == 137)
    #expect(try await cache("verify", "c").status == 0)
    let stat = try #require(try await cache("stat", "--json", "c").objects.first)
    // The half body; and a small entry, if one was just being written.
    #expect(try #require(stat["temporaryFiles"] as? Int) >= 1)
    #expect(stat["entries"] as? Int == heads.count)
  }

  // MARK: Removing

  @Test func `trim goes down to the limits and no further`() async throws {
    for number in 0..<20 { try await fill("file", "/\(number)") }
    #expect(try await cache("trim", "c", "--max-files", "30").text.hasPrefix("removed 0 entries, "))
    let run = try await cache("trim", "c", "--max-files", "5")
    #expect(run.status == 0)
    #expect(run.text == "removed 15 entries, 61.4 kB; 5 entries, 20.5 kB are left\n")
    let object = try #require(try await cache("trim", "--json", "c", "--max-size", "8K").objects.first)
    #expect(object["removedEntries"] as? Int == 3 && object["entries"] as? Int == 2)
    #expect(try await cache("trim", "c", "--max-age", "1h").text.hasPrefix("removed 0 entries"))
  }

  @Test(arguments: ["file", "big"])
  func `trim goes down to a size, or to a part of what is there`(backend: String) async throws {
    for number in 0..<20 { try await fill(backend, "/\(number)") }
    let half = try #require(try await cache("trim", "--json", "--to", "50%", "c").objects.first)
    #expect(half["removedEntries"] as? Int == 10 && half["entries"] as? Int == 10)
    #expect(try await cache("trim", "c", "--to", "8K").text.hasSuffix("; 2 entries, 8.2 kB are left\n"))
    #expect(try await cache("trim", "c", "--to", "0%").text.hasSuffix("; 0 entries, 0 B are left\n"))
  }

  @Test(arguments: ["file", "big"])
  func `a part of what is there is told from what is there, not from the counters`(backend: String) async throws {
    for number in 0..<20 { try await fill(backend, "/\(number)") }
    try FileManager.default.removeItem(atPath: tool.home.path("c/counters"))
    let half = try await cache("trim", "--json", "--to", "50%", "c")
    #expect(half.status == 0 && half.notes.isEmpty)
    #expect(half.objects.first?["removedEntries"] as? Int == 10 && half.objects.first?["entries"] as? Int == 10)
    #expect(heads.count == 10)
  }

  @Test(arguments: ["file", "big"])
  func `a limit holds although the first look only counts`(backend: String) async throws {
    for number in 0..<20 { try await fill(backend, "/\(number)") }
    try FileManager.default.removeItem(atPath: tool.home.path("c/counters"))
    let run = try await cache("trim", "c", "--max-size", "8K")
    #expect(run.status == 0 && run.notes.isEmpty)
    #expect(run.text.hasSuffix("; 2 entries, 8.2 kB are left\n"))
  }

  @Test func `so it does with the cache of millions`() async throws {
    let list = (0..<600).map { server.url("/\($0)") }.joined(separator: "\n")
    _ = try await tool.run(["get", "--json", "--cache", "c", "--backend", "big", "--input", "-"], input: list)
    let run = try await cache("trim", "--json", "c", "--max-files", "100")
    #expect(run.status == 0)
    let left = try #require(run.objects.first?["entries"] as? Int)
    #expect((80...100).contains(left))
    #expect(heads.count == left)
  }

  @Test func `remove takes URLs as they are spelled, and tells what was not there`() async throws {
    try await fill("file", "/a", "/b", "/c")
    let odd = server.url("/a").replacingOccurrences(of: "http:", with: "HTTP:") + "#part"
    let run = try await cache("remove", "c", odd, server.url("/b"))
    #expect(run.status == 0 && run.text == "removed 2 entries, 20 B\n")
    #expect(try await cache("list", "--json", "c").objects.map { $0["id"] as? String } == [server.url("/c")])
    let missing = try await cache("remove", "c", server.url("/a"), "--json")
    #expect(missing.status == 1)
    #expect(missing.objects.first?["notFound"] as? [String] == [server.url("/a")])
    #expect(missing.notes == "mobj: \(server.url("/a")) is not in the cache\n")
  }

  @Test func `remove takes the answers of every credential, and one by its key`() async throws {
    for secret in ["one", "two"] {
      let run = try await tool.run(
        "get", "--json", "--cache", "c", "--header", "Authorization: \(secret)", server.url("/a"))
      #expect(run.status == 0)
    }
    try await fill("file", "/a", "/b")
    let listed = try await cache("list", "--json", "c").objects
    #expect(listed.count { $0["scoped"] as? Bool == true } == 2)
    let other = try #require(listed.first { $0["id"] as? String == server.url("/b") }?["key"] as? String)
    #expect(try await cache("remove", "c", server.url("/a"), other).text.hasPrefix("removed 4 entries"))
    #expect(heads.isEmpty)
  }

  // MARK: Outputs

  @Test(arguments: ["list", "stat", "verify"])
  func `a full disk behind standard output is told`(verb: String) async throws {
    try await fill("file", "/a")
    let run = try RunningTool(
      ["bash", "-c", "\(Tool.built) cache \(verb) c > /dev/full"], environment: tool.environment,
      folder: tool.home.path)
    let ended = try await run.end()
    #expect(ended.status == 1)
    #expect(ended.notes == "mobj: standard output cannot be written: No space left on device\n")
  }

  @Test func `a reader that goes away ends the list quietly`() async throws {
    let list = (0..<1000).map { server.url("/\($0)") }.joined(separator: "\n")
    _ = try await tool.run(["get", "--json", "--cache", "c", "--input", "-"], input: list)
    let run = try RunningTool(
      ["bash", "-c", "\(Tool.built) cache list c | head -1; echo ${PIPESTATUS[0]}"], environment: tool.environment,
      folder: tool.home.path)
    let ended = try await run.end()
    #expect(ended.notes == "")
    #expect(ended.text.split(separator: "\n").count == 2 && ended.text.contains("http://"))
  }
}
