import Foundation
import TestSupport
import Testing

/// The built bridge: lines in, lines out.
@Suite(.serialized)
struct BridgeStories {
  private let server: LoopbackServer
  private let home: TemporaryFolder

  init() throws {
    server = try LoopbackServer { Reply("body of \($0.path)") }
    home = try TemporaryFolder("bridge")
  }

  /// What it answers to these lines, each an object of JSON.
  private func answers(_ lines: String...) async throws -> [[String: Any]] {
    let input = try home.write("input", lines.map { $0 + "\n" }.joined())
    let bridge = URL(filePath: Tool.built).deletingLastPathComponent().appending(path: "http-cache-bridge").path
    let run = try RunningTool(
      [bridge], environment: ["CACHE_DIR": home.path("cache"), "PATH": "/usr/bin:/bin"], folder: home.path, input: input
    )
    let ended = try await run.end()
    #expect(ended.status == 0)
    return ended.objects
  }

  private func request(_ id: Int, _ path: String, _ more: String = "") -> String {
    #"{"id":\#(id),"url":"\#(path.hasPrefix("/") ? server.url(path) : path)"\#(more)}"#
  }

  private func kind(_ answer: [String: Any]?) -> String? { (answer?["error"] as? [String: Any])?["kind"] as? String }

  @Test func `each line is answered, with its id`() async throws {
    let answers = try await answers(request(1, "/a"), request(2, "/b"))
    #expect(Set(answers.map { $0["id"] as? Int }) == [1, 2])
    for answer in answers { #expect(answer["status"] as? Int == 200 && kind(answer) == nil) }
  }

  @Test(
    arguments: [
      (#"{"id":7}"#, 7), (#"{"id":7,"url":5}"#, 7), (#"{"id":"7","url":"http://a/"}"#, nil), ("nonsense", nil),
      ("", nil),
    ] as [(String, Int?)])
  func `a line that is no request is answered too`(_ line: String, _ id: Int?) async throws {
    let answers = try await answers(line, request(8, "/a"))
    #expect(answers.count == 2)
    let failed = try #require(answers.first { $0["error"] != nil })
    #expect(failed["id"] as? Int == id && kind(failed) == "internal")
    #expect(answers.contains { $0["id"] as? Int == 8 && $0["status"] as? Int == 200 })
  }

  @Test func `what no response came of is told from what went wrong inside`() async throws {
    server.redirect("/loop", to: "/loop")
    server.redirect("/moved", to: "/a")
    server.on("/gone", .hangUp)
    let secure = server.url("/a").replacingOccurrences(of: "http:", with: "https:")
    let answers = try await answers(
      request(1, "/loop"), request(2, "/moved", #","redirect":"error""#), request(3, "/gone"), request(4, secure),
      request(5, "http://a b/"))
    var kinds: [Int: String] = [:]
    for answer in answers { if let id = answer["id"] as? Int { kinds[id] = kind(answer) } }
    #expect(kinds == [1: "network", 2: "network", 3: "network", 4: "network", 5: "internal"])
  }
}
