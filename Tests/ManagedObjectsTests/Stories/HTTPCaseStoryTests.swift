import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What went wrong elsewhere, asked for both ways: clocks, dates, variants, redirects, odd heads.
struct HTTPCaseStoryTests {
  private let faces: FacesRoom
  private var server: LoopbackServer { faces.server }

  init() throws { faces = try FacesRoom() }

  private func ask(_ face: Face, _ path: String, _ fields: HeaderFields = [:]) async throws -> FaceAnswer {
    try await faces.ask(face, path, fields)
  }

  // MARK: Times

  @Test(arguments: Face.allCases)
  func `a clock that was a month ahead and is put right keeps nothing fresh for a month`(
    face: Face
  ) async throws {
    server.on("/m", .revalidating("body", etag: "\"1\"", cacheControl: "max-age=60"))
    let now = faces.time.wallNow
    faces.time.wallNow = now + .seconds(30 * 86_400)
    #expect(try await ask(face, "/m").source == .network)
    faces.time.wallNow = now
    faces.time.advance(by: .seconds(61))
    let again = try await ask(face, "/m")
    #expect(again.text == "body" && again.source == .revalidated)
    #expect(try await ask(face, "/m").source == .file)
    #expect(server.hits("/m") == 2)
  }

  @Test(arguments: Face.allCases) func `what a 304 says about freshness is kept, for the next process too`(
    face: Face
  ) async throws {
    server.on("/r") { request in
      request["If-None-Match"] == "\"v1\""
        ? Reply(304, ["ETag": "\"v1\"", "Cache-Control": "max-age=100"])
        : Reply("body", ["ETag": "\"v1\"", "Cache-Control": "max-age=2"])
    }
    let manager = try faces.manager()
    var hits: [Int] = []
    for wait in [0, 1, 2, 1] {
      faces.time.advance(by: .seconds(wait))
      #expect(try await faces.ask(face, "/r", by: manager).text == "body")
      hits.append(server.hits("/r"))
    }
    faces.time.advance(by: .seconds(1))
    #expect(try await ask(face, "/r").text == "body")
    #expect(hits + [server.hits("/r")] == [1, 1, 2, 2, 2])
  }

  @Test(arguments: Face.allCases) func `dates and times that nobody can read harm no answer, and keep none`(
    face: Face
  ) async throws {
    let stale: [(String, KeyValuePairs<String, String>)] = [
      ("/-1", ["Expires": "-1"]), ("/0", ["Expires": "0"]), ("/empty", ["Expires": ""]),
      ("/99", ["Expires": "Thu, 99 Foo 2099"]), ("/past", ["Expires": "Sunday, 06-Nov-94 08:49:37 GMT"]),
      ("/asctime", ["Expires": "Sun Nov  6 08:49:37 1994"]), ("/-5", ["Cache-Control": "max-age=-5"]),
      ("/date", ["Expires": "0", "Date": "garbage"]),
    ]
    let fresh: [(String, KeyValuePairs<String, String>)] = [
      ("/9999", ["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"]),
      ("/giant", ["Cache-Control": "max-age=99999999999999999999"]),
      ("/both", ["Expires": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": "garbage"]),
    ]
    for (path, fields) in stale + fresh { server.on(path) { _ in Reply("body of \(path)", fields) } }
    for (path, _) in stale + fresh {
      for _ in 0..<2 { #expect(try await ask(face, path).text == "body of \(path)") }
    }
    #expect(stale.map { server.hits($0.0) } == stale.map { _ in 2 })
    #expect(fresh.map { server.hits($0.0) } == fresh.map { _ in 1 })
  }

  // MARK: Variants

  @Test(arguments: Face.allCases) func `an answer is given to those requests only that its Vary names`(
    face: Face
  ) async throws {
    server.on("/t") { request in
      Reply(
        "\(request["Accept-Language"] ?? "none") \(request["X-Kind"] ?? "none")",
        ["Vary": "Accept-Language, X-Kind", "Cache-Control": "max-age=600"])
    }
    let asked: [HeaderFields] = [
      ["Accept-Language": "en"], ["aCCept-lanGUage": "de"], ["ACCEPT-LANGUAGE": "en"], [:],
      ["Accept-Language": "en", "x-kind": "a"], ["Accept-Language": "de"], ["accept-language": "en", "X-KIND": "a"],
    ]
    var texts: [String] = []
    for fields in asked { texts.append(try await ask(face, "/t", fields).text) }
    #expect(texts == ["en none", "de none", "en none", "none none", "en a", "de none", "en a"])
    #expect(server.hits("/t") == 4)
  }

  @Test(arguments: Face.allCases, ["Accept-Language)", "*", "a, *", "\u{E9}"])
  func `a Vary that nobody can read lets no other request have the answer`(face: Face, vary: String) async throws {
    server.on("/t") { Reply($0["Accept-Language"] ?? "none", ["Vary": vary, "Cache-Control": "max-age=600"]) }
    for language in ["en", "de", "en"] {
      #expect(try await ask(face, "/t", ["Accept-Language": language]).text == language)
    }
  }

  @Test(arguments: Face.allCases) func `what never changes is loaded once for each variant, whatever else Vary says`(
    face: Face
  ) async throws {
    server.on("/t") { Reply($0["Accept"] ?? "none", ["Vary": "Accept", "Cache-Control": "no-cache"]) }
    server.on("/any") { _ in Reply("any", ["Vary": "*", "Cache-Control": "no-store"]) }
    for type in ["a", "b", "a", "b"] {
      faces.time.advance(by: .seconds(86_400))
      #expect(try await faces.ask(face, "/t", ["Accept": type], by: faces.manager(.immutable)).text == type)
      #expect(try await faces.ask(face, "/any", by: faces.manager(.immutable)).text == "any")
    }
    #expect(server.hits("/t") == 2 && server.hits("/any") == 1)
  }

  // MARK: What a 304 is about

  @Test(arguments: Face.allCases) func `a 304 that names another tag confirms nothing`(face: Face) async throws {
    server.on(
      "/a", Reply("one", ["Cache-Control": "max-age=0", "ETag": "\"1\""]),
      Reply(304, ["Cache-Control": "max-age=60", "ETag": "\"2\""]),
      Reply("two", ["Cache-Control": "max-age=60", "ETag": "\"2\""]))
    #expect(try await ask(face, "/a").text == "one")
    let second = try await ask(face, "/a")
    #expect(second.text == "two" && second.source == .network)
    let third = try await ask(face, "/a")
    #expect(third.text == "two" && third.source == .file)
    #expect(server.hits("/a") == 3)
  }

  @Test(arguments: Face.allCases) func `one condition is sent: that of what is stored, not the caller's`(
    face: Face
  ) async throws {
    let sent = Collector<[String]>()
    server.on("/a") { request in
      sent.append(request.values(of: "If-None-Match") + request.values(of: "If-Modified-Since"))
      return request["If-None-Match"] == "\"1\""
        ? Reply(304, ["ETag": "\"1\""]) : Reply("one", ["Cache-Control": "max-age=0", "ETag": "\"1\""])
    }
    #expect(try await ask(face, "/a").text == "one")
    let own: HeaderFields = ["If-None-Match": "\"0\"", "If-Modified-Since": "Mon, 02 Jan 2023 00:00:00 GMT"]
    #expect(try await ask(face, "/a", own).text == "one")
    #expect(sent.elements == [[], ["\"1\""]])
  }

  @Test(arguments: Face.allCases) func `what a 304 tells one credential is not told to everybody`(
    face: Face
  ) async throws {
    server.on("/p") { request in
      guard request["If-None-Match"] != nil else {
        return Reply("all", ["Cache-Control": "public, max-age=10", "ETag": "\"1\""])
      }
      return request["Authorization"] == nil
        ? Reply(304, ["Cache-Control": "public, max-age=10"])
        : Reply(304, ["Cache-Control": "private, max-age=3600", "X-Name": "joe"])
    }
    #expect(try await ask(face, "/p").source == .network)
    faces.time.advance(by: .seconds(20))
    let own = try await ask(face, "/p", ["Authorization": "joe"])
    #expect(own.text == "all" && own.source == .revalidated && own.head.fields["X-Name"] == "joe")
    let others = try await ask(face, "/p")
    #expect(others.text == "all" && others.source == .revalidated)
    #expect(!others.head.fields.contains("X-Name"))
  }

  // MARK: Redirects

  @Test(arguments: Face.allCases) func `a temporary redirect is asked each time, a permanent one is not`(
    face: Face
  ) async throws {
    let year: KeyValuePairs<String, String> = ["Cache-Control": "max-age=31536000", "ETag": "\"1\""]
    for status in [301, 302, 303, 307, 308] {
      server.on("/\(status)") { _ in .redirect(to: "/v1", status: status) }
      server.on("/\(status)-said") { _ in
        Reply(status, ["Location": "/v1", "Cache-Control": "max-age=60"])
      }
    }
    server.on("/v1") { _ in Reply("one", year) }
    for status in [301, 302, 303, 307, 308] {
      for path in ["/\(status)", "/\(status)-said"] { #expect(try await ask(face, path).source == .network) }
      let again = try await ask(face, "/\(status)")
      #expect(again.text == "one" && again.source == ([301, 308].contains(status) ? .file : .network), "\(status)")
      #expect(try await ask(face, "/\(status)-said").source == .file, "\(status)")
    }
    faces.time.advance(by: .seconds(61))
    for status in [301, 302, 303, 307, 308] {
      #expect(try await ask(face, "/\(status)-said").source == .network, "\(status)")
    }
  }

  @Test(arguments: Face.allCases) func `the latest version is the latest, though each is good for a year`(
    face: Face
  ) async throws {
    server.on("/latest", .redirect(to: "/v1"), .redirect(to: "/v2"))
    for version in ["v1", "v2"] {
      server.on("/\(version)") { _ in Reply(version, ["Cache-Control": "max-age=31536000", "ETag": "\"\(version)\""]) }
    }
    #expect(try await ask(face, "/latest").text == "v1")
    #expect(try await ask(face, "/latest").text == "v2")
  }

  @Test(arguments: Face.allCases) func `the latest version is the latest though both have one tag`(
    face: Face
  ) async throws {
    // As nginx makes it of time and length, which two files of one image may share.
    let tag = "\"65920080-5\""
    server.on("/latest", .redirect(to: "/v1"), .redirect(to: "/v2"))
    for path in ["/v1", "/v2"] {
      server.on(path) { request in
        Reply(request["If-None-Match"] == tag ? 304 : 200, request["If-None-Match"] == tag ? "" : path, ["ETag": tag])
      }
    }
    #expect(try await ask(face, "/latest").text == "/v1")
    #expect(try await ask(face, "/latest").text == "/v2")
  }

  @Test(arguments: Face.allCases) func `the latest version is the latest though it is older`(face: Face) async throws {
    server.on("/latest", .redirect(to: "/v2"), .redirect(to: "/v1"))
    for (path, date) in [("/v2", "Tue, 02 Jan 2024 00:00:00 GMT"), ("/v1", "Mon, 02 Jan 2023 00:00:00 GMT")] {
      server.on(path) { request in
        let isModified = request["If-Modified-Since"] == nil
        return Reply(isModified ? 200 : 304, isModified ? path : "", ["Last-Modified": date])
      }
    }
    #expect(try await ask(face, "/latest").text == "/v2")
    #expect(try await ask(face, "/latest").text == "/v1")
  }

  @Test func `a permanent redirect that is wanted as it is, is kept as long as it says`() async throws {
    server.on("/a") { _ in Reply(301, ["Location": "/b", "Cache-Control": "max-age=60"]) }
    var request = LoadRequest(location: server.url("/a"))
    request.redirectMode = .manual
    for _ in 0..<2 {
      let response = try await faces.manager().response(to: request)
      #expect(response.status == 301 && response.head.fields["Location"] == "/b")
    }
    #expect(server.hits("/a") == 1)
  }

  // MARK: Heads

  @Test(arguments: Face.allCases) func `a mebibyte of header is refused, and the error says what is too large`(
    face: Face
  ) async throws {
    server.on("/big", Reply("x", hour).padded(headBytes: 1 << 20))
    let error = await failure { try await ask(face, "/big") }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("head") == true, "\(error?.message ?? "")")
    #expect(faces.room.entryFiles.isEmpty)
    server.on("/b", Reply("good", hour))
    #expect(try await ask(face, "/b").text == "good")
  }

  @Test(arguments: Face.allCases) func `values that are no text, and repeats, are kept as they came`(
    face: Face
  ) async throws {
    let odd: [UInt8] = [0x22, 0xFF, 0xE9, 0x80, 0x22]
    server.on("/a") { request in
      let isSame = request["If-None-Match"] != nil
      return Reply(isSame ? 304 : 200, isSame ? "" : "x", ["Cache-Control": "max-age=10"]).adding("ETag", bytes: odd)
        .adding("X-Own", bytes: [0xC3, 0xA9]).adding("X-Own", "b")
    }
    let text = "\"\u{FF}\u{E9}\u{80}\""
    for source in [ObjectSource.network, .file, .revalidated] {
      if source == .revalidated { faces.time.advance(by: .seconds(11)) }
      let answer = try await ask(face, "/a")
      #expect(answer.source == source)
      #expect(answer.head.fields["ETag"] == text)
      #expect(answer.head.fields.values(of: "X-Own") == ["\u{C3}\u{A9}", "b"])
    }
    #expect(server.requests("/a").last?["If-None-Match"] == text)
  }

  @Test(arguments: Face.allCases) func `an archive keeps its packing, and a coding is undone once, stored or not`(
    face: Face
  ) async throws {
    let archive = gzipped(Array("a tar, say".utf8))
    server.on("/a.tar.gz", Reply(archive, ["Content-Type": "application/x-gzip", "Cache-Control": "max-age=60"]))
    server.on(
      "/b.tar.gz",
      Reply(gzipped(archive), ["Content-Encoding": "gzip", "Cache-Control": "max-age=60", "Vary": "Accept-Encoding"]))
    let packed = String(decoding: archive, as: UTF8.self)
    for source in [ObjectSource.network, .file] {
      for path in ["/a.tar.gz", "/b.tar.gz"] {
        let answer = try await ask(face, path)
        #expect(answer.text == packed && answer.source == source)
      }
    }
  }

  @Test(arguments: Face.allCases) func `who sets Accept-Encoding gets the bytes as sent, all others have them unpacked`(
    face: Face
  ) async throws {
    let packed = gzipped(Array("body".utf8))
    for path in ["/silent", "/vary"] {
      server.on(path) { _ in
        let reply = Reply(packed, ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"])
        return path == "/vary" ? reply.adding("Vary", "Accept-Encoding") : reply
      }
      for manager in [try faces.manager(), try faces.manager(.immutable)] {
        for fields: HeaderFields in [[:], ["Accept-Encoding": "gzip, deflate"], ["Accept-Encoding": "gzip"]] {
          for _ in 0..<2 {
            let text = try await faces.ask(face, path, fields, by: manager).text
            #expect(text == (fields.isEmpty ? "body" : String(decoding: packed, as: UTF8.self)), "\(path) \(fields)")
          }
          #expect(try await faces.ask(face, path, fields, by: manager).source != .network)
        }
        for fields: HeaderFields in [["Accept-Encoding": "gzip"], [:]] {
          let text = try await faces.ask(face, path, fields, by: manager).text
          #expect(text == (fields.isEmpty ? "body" : String(decoding: packed, as: UTF8.self)))
        }
      }
    }
  }

  @Test func `a 304 to the tag of another coding gives nobody that one`() async throws {
    server.on("/a") { request in
      let fields: KeyValuePairs<String, String> = [
        "Content-Encoding": "gzip", "Vary": "Accept-Encoding, X", "ETag": "W/\"1\"", "Cache-Control": "max-age=60",
      ]
      return request["If-None-Match"] == nil ? Reply(gzipped(Array("body".utf8)), fields) : Reply(304, fields)
    }
    _ = try await ask(.response, "/a", ["Accept-Encoding": "gzip"])
    #expect(try await ask(.response, "/a").text == "body")
  }

  // MARK: Parts, and servers that ask for patience

  @Test func `a part is never stored as the whole, whoever asks for it`() async throws {
    server.on("/a", .ranged(Array("0123456789".utf8), etag: "\"1\"", cacheControl: "max-age=60"))
    let range: HeaderFields = ["Range": "bytes=2-4"]
    #expect(try await ask(.response, "/a", range).text == "234")
    #expect(await failure { try await ask(.object, "/a", range) }?.head?.status == 206)
    #expect(faces.room.entryFiles.isEmpty)
    #expect(try await ask(.object, "/a").text == "0123456789")
    let cut = try await ask(.response, "/a", range)
    #expect(cut.text == "234" && cut.source == .file && cut.head.status == 206)
  }

  @Test(arguments: [429, 503]) func `a server that asks for patience is answered for once, and nothing is kept of it`(
    status: Int
  ) async throws {
    server.on("/a", Reply(status, "later", ["Retry-After": "2"]), Reply("now", hour))
    let first = try await ask(.response, "/a")
    #expect(first.head.status == status && first.text == "later")
    #expect(faces.room.entryFiles.isEmpty)
    #expect(try await ask(.response, "/a").text == "now")
  }

  // MARK: Unsafe methods

  @Test func `an unsafe request with credentials makes stale what everybody has, and nothing of others`() async throws {
    server.otherwise { request in
      Reply(request["Authorization"] ?? "all", ["Cache-Control": "max-age=60", "Vary": "X"])
    }
    let (one, two): (HeaderFields, HeaderFields) = (["Authorization": "one"], ["Authorization": "two"])
    for fields in [[:], one, two] { _ = try await ask(.response, "/a", fields) }
    var post = LoadRequest(location: server.url("/a"), fields: one)
    post.method = "POST"
    _ = try await faces.manager().response(to: post)
    var sources: [ObjectSource] = []
    for fields in [[:], one, two] { sources.append(try await ask(.response, "/a", fields).source) }
    #expect(sources == [.network, .network, .file])
  }
}
