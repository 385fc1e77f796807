import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import mobj

struct JSONLineTests {
  @Test func `a good object has all keys in their order`() {
    var outcome = Outcome(url: "https://Example.com/a", id: "https://example.com/a")
    outcome.source = .network
    outcome.reason = .absent
    outcome.status = 200
    outcome.bytes = 12
    outcome.duration = .microseconds(31_900)
    #expect(
      JSONLine.text(outcome)
        == """
        {"url":"https://Example.com/a","id":"https://example.com/a","source":"network","reason":"miss: absent",\
        "status":200,"bytes":12,"milliseconds":31,"error":null}

        """)
  }

  @Test func `a failed one has a stable code and a message`() {
    var outcome = Outcome(url: "x")
    outcome.error = ObjectError(.invalidURL, "Not \"absolute\".")
    #expect(
      JSONLine.text(outcome)
        == """
        {"url":"x","id":null,"source":null,"reason":null,"status":null,"bytes":0,\
        "milliseconds":0,"error":{"code":"invalidURL","message":"Not \\"absolute\\"."}}

        """)
  }

  @Test func `a written file is named`() {
    var outcome = Outcome(url: "x")
    outcome.file = "d/a b"
    #expect(JSONLine.text(outcome).contains(#""bytes":0,"file":"d/a b","milliseconds""#))
  }

  @Test func `where a server was asked, stages and connection are told`() async throws {
    let server = try LoopbackServer()
    server.on("/a", Reply("a"))
    let manager = ObjectManager(policy: Policy())
    var outcome = Outcome(url: "x")
    outcome.timings = try await manager.answer(for: ObjectRequest(server.url("/a")), decodedBy: .text).timings
    let line = JSONLine.text(outcome)
    let read = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let stages = try #require(read["microseconds"] as? [String: Any])
    #expect(Set(stages.keys) == ["queue", "resolve", "connect", "tls", "firstByte", "total"])
    #expect(stages["tls"] is NSNull && (stages["total"] as? Int ?? 0) > 0 && stages["queue"] as? Int != nil)
    let connection = try #require(read["connection"] as? [String: Any])
    #expect(connection["http"] as? String == "1.1" && connection["reused"] as? Bool == false)
    #expect(connection["address"] as? String == "127.0.0.1")
    #expect(line.contains(#","connection":{"#) && line.hasSuffix(#","error":null}"# + "\n"))
  }

  @Test(arguments: [
    ObjectSource.network: "network", .revalidated: "revalidated", .file: "file", .memory: "memory", .stale: "stale",
  ])
  func `sources have the names that are promised`(source: ObjectSource, name: String) {
    var outcome = Outcome(url: "x")
    outcome.source = source
    #expect(JSONLine.text(outcome).contains("\"source\":\"\(name)\""))
  }

  @Test func `any text survives, on one line`() throws {
    let texts = ["", "\"\\/", "a\nb\r\tc", "\u{0}\u{1B}[2J\u{7F}\u{85}", "漢字👨‍👩‍👧", "\u{2028}\u{2029}", "</script>"]
    for text in texts {
      var outcome = Outcome(url: text, id: text)
      outcome.error = ObjectError(.transport, text)
      let line = JSONLine.text(outcome)
      #expect(
        line.last == "\n" && line.dropLast().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
      let read = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(read["url"] as? String == text)
      #expect((read["error"] as? [String: String])?["message"] == text)
    }
  }

  @Test func `figures are never negative`() {
    var outcome = Outcome(url: "x")
    outcome.bytes = -1
    outcome.duration = .seconds(-1)
    #expect(JSONLine.text(outcome).contains(#""bytes":0,"milliseconds":0"#))
  }
}
