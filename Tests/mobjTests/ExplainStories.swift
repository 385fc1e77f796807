import Foundation
import TestSupport
import Testing

/// `mobj explain` with folders that `mobj get` made.
@Suite(.serialized)
struct ExplainStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer { request in
      Reply(
        "body of \(request.path)",
        ["Cache-Control": "max-age=3600", "ETag": "\"v\"", "Set-Cookie": "id=hunter2", "X-Own": "shown"])
    }
    tool = try Tool()
  }

  private func get(_ path: String, _ words: String...) async throws {
    #expect(try await tool.run(["get", "--json", "--cache", "c"] + words + [server.url(path)]).status == 0)
  }

  private func explain(_ path: String, _ words: String...) async throws -> Tool.Run {
    try await tool.run(["explain", "--cache", "c", server.url(path)] + words)
  }

  private func now(_ run: Tool.Run) throws -> [String: Any] {
    try #require(run.objects.first?["now"] as? [String: Any])
  }

  @Test(arguments: ["file", "big"])
  func `what is fresh is told with its head, its age and who says how long`(backend: String) async throws {
    try await get("/a", "--backend", backend)
    let run = try await explain("/a", "--backend", backend)
    #expect(run.status == 0 && run.notes.isEmpty)
    for part in [
      "now        given without asking, for another ", "(fresh)\n", "answer 1   200 OK, 10 B\n",
      "fresh for 1 h by max-age\n", "  ETag: \"v\"\n", "  Set-Cookie: REDACTED\n", "  X-Own: shown\n",
    ] {
      #expect(run.text.contains(part), "\(part) in \(run.text)")
    }
    #expect(!run.text.contains("hunter2"))
    let object = try #require(try await explain("/a", "--json").objects.first)
    let answers = try #require(object["answers"] as? [[String: Any]])
    #expect(answers.count == 1 && answers[0]["lifetimeSeconds"] as? Int == 3600)
    #expect(answers[0]["lifetimeBy"] as? String == "max-age" && answers[0]["answersRequest"] as? Bool == true)
    #expect((answers[0]["fields"] as? [String])?.contains("Set-Cookie: REDACTED") == true)
  }

  @Test func `the tool does then what it said`() async throws {
    server.on("/stale", .revalidating("x", etag: "\"1\"", cacheControl: "max-age=0"))
    server.on("/swr", Reply("x", ["Cache-Control": "max-age=0, stale-while-revalidate=600"]))
    server.on("/bare", Reply("x", ["Cache-Control": "max-age=0"]))
    server.on("/gone", Reply(404, "x", ["Cache-Control": "max-age=600"]))
    for path in ["/stale", "/swr", "/bare", "/fresh"] { try await get(path) }
    _ = try await tool.run("get", "--json", "--cache", "c", server.url("/gone"))
    let expected = [
      ("/stale", "ask", "miss: expired", "revalidated"),
      ("/swr", "refresh", "stale-while-revalidate", "stale-while-revalidate"),
      ("/bare", "load", "miss: expired", "miss: expired"), ("/fresh", "give", "fresh", "fresh"),
    ]
    for (path, action, reason, done) in expected {
      let now = try now(try await explain(path, "--json"))
      #expect(now["action"] as? String == action && now["reason"] as? String == reason, "\(path): \(now)")
      let got = try await tool.run("get", "--json", "--cache", "c", server.url(path))
      #expect(got.objects.first?["reason"] as? String == done, "\(path)")
    }
    let gone = try now(try await explain("/gone", "--json"))
    #expect(gone["action"] as? String == "fail" && gone["status"] as? Int == 404)
    let asked = try now(try await explain("/stale", "--json"))
    #expect(asked["conditions"] as? [String] == ["If-None-Match: \"1\""])
    #expect(try await explain("/stale").text.contains("asked about with If-None-Match: \"1\"; 304 renews it"))
    #expect(try await explain("/stale").text.contains("outage     given for another 6 d\n"))
  }

  @Test func `every variant and every credential's answer is shown, and which of them is for this request`()
    async throws
  {
    server.on("/v") { Reply($0["Accept"] ?? "", ["Cache-Control": "max-age=60", "Vary": "Accept"]) }
    for type in ["a", "bb"] { try await get("/v", "--header", "Accept: \(type)") }
    try await get("/v", "--header", "Accept: ccc", "--header", "Authorization: hunter2")
    let run = try await explain("/v", "--header", "Accept: bb")
    #expect(run.text.contains("answer 1   200 OK, 2 B\n") && run.text.contains("varies     accept: bb\n"))
    #expect(run.text.contains("1 B; not for this request\n"))
    #expect(run.text.contains("3 B; of a credential, not for this request\n") && !run.text.contains("hunter2"))
    #expect(try now(try await explain("/v", "--json", "--header", "Accept: x"))["reason"] as? String == "miss: vary")
    let own = try await explain("/v", "--json", "--header", "Accept: ccc", "--header", "Authorization: hunter2")
    #expect(try now(own)["action"] as? String == "give")
  }

  @Test func `the modes decide as they do for get`() async throws {
    try await get("/a")
    let modes = [
      ("default", "give", "fresh"), ("reload", "load", "reload"), ("no-cache", "ask", "miss: no-cache"),
      ("no-store", "load", "miss: no-store"), ("only-if-cached", "give", "fresh"),
    ]
    for (mode, action, reason) in modes {
      let now = try now(try await explain("/a", "--json", "--mode", mode))
      #expect(now["action"] as? String == action && now["reason"] as? String == reason, "\(mode)")
    }
    let missing = try await explain("/none", "--json", "--mode", "only-if-cached")
    #expect(try now(missing)["action"] as? String == "fail" && missing.status == 1)
  }

  @Test func `it asks nobody and changes nothing`() async throws {
    try await get("/a", "--header", "Authorization: x")
    try await get("/b")
    func state() throws -> [String: String] {
      var state: [String: String] = [:]
      for name in tool.home.names where name.hasPrefix("c/") {
        let facts = try FileManager.default.attributesOfItem(atPath: tool.home.path(name))
        // The kernel dates a mapped file when it pleases, after the program that wrote it.
        let date = name.hasSuffix("/counters") ? nil : facts[.modificationDate]
        let bytes = facts[.type] as? FileAttributeType == .typeRegular ? try tool.home.read(name) : []
        state[name] = "\(facts[.systemFileNumber] ?? "") \(date ?? "") \(bytes)"
      }
      return state
    }
    let before = try state()
    let hits = server.allHits
    for words in [["--json"], ["--header", "Authorization: other"], ["--mode", "reload"]] {
      #expect(try await tool.run(["explain", "--cache", "c", server.url("/b")] + words).status < 2)
    }
    #expect(try state() == before && server.allHits == hits)
  }

  @Test func `a folder without counters is told of, and left without`() async throws {
    try await get("/a")
    try FileManager.default.removeItem(atPath: tool.home.path("c/counters"))
    #expect(try await explain("/a").status == 0)
    #expect(!tool.names(in: "c").contains("counters"))
  }

  @Test func `a bad URL, a folder that is none, and nothing stored are told apart`() async throws {
    let noFolder = try await explain("/a")
    #expect(noFolder.status == 1 && noFolder.output.isEmpty && noFolder.notes.hasPrefix("mobj: "))
    #expect(tool.names(in: "c").isEmpty, "none is made")
    try await get("/a")
    let nothing = try await explain("/b")
    #expect(nothing.status == 1 && nothing.text.contains("now        loaded (miss: absent)\n"))
    #expect(nothing.notes == "mobj: nothing is stored for \(server.url("/b"))\n")
    let bad = try await tool.run("explain", "--cache", "c", "http://")
    #expect(bad.status == 1 && bad.output.isEmpty && bad.notes.contains("is no URL to be loaded"))
    let other = try await explain("/a", "--backend", "big")
    #expect(other.status == 1 && other.notes.contains("is of a FileCache, not of --backend big"))
    try tool.home.write("d/file", "x")
    let strange = try await tool.run("explain", "--cache", "d", server.url("/a"))
    #expect(strange.status == 1 && strange.output.isEmpty)
  }
}
