import Foundation
import Testing

@testable import ManagedObjects

private func follow(
  _ location: String?, status: Int = 302, from: String = "http://127.0.0.1:8080/dir/old?x=1", hops: Int = 0,
  request: LoadRequest? = nil, allowsDowngrade: Bool = false, secretFields: Set<String> = []
) throws -> RedirectRule.Verdict {
  RedirectRule.follow(
    status: status, location: location, from: try URLRule.parse(from).get(), hops: hops,
    request: request ?? LoadRequest(location: from), allowsDowngrade: allowsDowngrade, secretFields: secretFields)
}

extension RedirectRule.Verdict {
  fileprivate var request: LoadRequest? { if case .to(let request) = self { request } else { nil } }
  fileprivate var error: ObjectError? { if case .refused(let error) = self { error } else { nil } }
  fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}

@Suite struct RedirectRuleTests {
  @Test(arguments: [
    ("/new", "http://127.0.0.1:8080/new"), ("new", "http://127.0.0.1:8080/dir/new"),
    ("//127.0.0.1:8080/new", "http://127.0.0.1:8080/new"), ("?v=2", "http://127.0.0.1:8080/dir/old?v=2"),
    ("http://127.0.0.1:8080/new#part", "http://127.0.0.1:8080/new"), ("/a b", "http://127.0.0.1:8080/a%20b"),
    // UTF-8 as a server sends it, a character a byte; and a byte that is none.
    ("/\u{C3}\u{BC}", "http://127.0.0.1:8080/%C3%BC"), ("/\u{FC}", "http://127.0.0.1:8080/%FC"),
    ("https://Other.example", "https://other.example/"),
  ])
  func `every good form of Location is followed, and the port is kept`(location: String, target: String) throws {
    #expect(try follow(location).request?.location == target)
  }

  @Test(arguments: [200, 204, 300, 304, 305, 306, 309, 400, 404])
  func `other statuses are delivered as they are`(status: Int) throws {
    #expect(try follow("/new", status: status).isNone)
  }

  @Test func `a redirect without a Location is delivered as it is`() throws {
    #expect(try follow(nil).isNone)
    #expect(try follow("").isNone)
  }

  @Test func `the caller's mode decides first`() throws {
    var request = LoadRequest(location: "http://h/")
    request.redirectMode = .manual
    #expect(try follow("/new", request: request).isNone)
    request.redirectMode = .refuse
    #expect(try follow("/new", request: request).error?.code == .refusedByPolicy)
    #expect(try follow(nil, status: 200, request: request).isNone)
  }

  @Test func `the eleventh redirect is one too many`() throws {
    #expect(try follow("/new", hops: 9).request != nil)
    let error = try #require(try follow("/new", hops: 10).error)
    #expect(error.code == .tooManyRedirects)
    #expect(error.message.contains("10"))
  }

  @Test(arguments: [
    ("file:///etc/passwd", ObjectError.Code.unsupportedScheme), ("mem:x", .unsupportedScheme),
    ("data:text/plain,x", .unsupportedScheme), ("http:///x", .invalidURL), ("http://a@b@c/", .invalidURL),
    ("\\\\evil\\x", .invalidURL), ("http://127.1/", .invalidURL), ("//h:99999/", .invalidURL),
  ])
  func `what no caller may ask for, no server may send us to`(location: String, code: ObjectError.Code) throws {
    #expect(try follow(location).error?.code == code)
  }

  @Test func `https to http is refused unless allowed`() throws {
    let from = "https://h/a?token=s3cr3t"
    let error = try #require(try follow("http://h/b?token=s3cr3t", from: from).error)
    #expect(error.code == .refusedByPolicy)
    #expect(!error.message.contains("s3cr3t"))
    #expect(try follow("http://h/b", from: from, allowsDowngrade: true).request?.location == "http://h/b")
    #expect(try follow("https://h/b", from: "http://h/a").request?.location == "https://h/b")
  }

  @Test(arguments: [
    (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
    (303, "GET", "GET"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (307, "POST", "POST"), (308, "PUT", "PUT"),
    (301, "HEAD", "HEAD"),
  ])
  func `the method changes as RFC 9110 says, and with it the body`(status: Int, method: String, next: String) throws {
    var request = LoadRequest(location: "http://h/a", fields: ["Content-Type": "a/b", "X-Other": "1"])
    request.method = method
    request.body = Data([1])
    let sent = try #require(try follow("/b", status: status, from: "http://h/a", request: request).request)
    #expect(sent.method == next)
    #expect((sent.body == nil) == (method != next))
    #expect(sent.fields.contains("Content-Type") == (method == next))
    #expect(sent.fields["X-Other"] == "1")
  }

  @Test(arguments: [
    ("http://h/b", true), ("/b", true), ("http://H:80/b", true), ("http://h:81/b", false), ("https://h/b", false),
    ("http://h.evil/b", false), ("//other/b", false),
  ])
  func `secrets stay inside their origin`(location: String, isSameOrigin: Bool) throws {
    let request = LoadRequest(
      location: "http://h/a",
      fields: [
        "AUTHORIZATION": "Bearer x", "cookie": "a=b", "Proxy-Authorization": "y", "X-Api-Key": "z", "Host": "h",
        "Accept": "c/d", "Range": "bytes=5-",
      ])
    let sent = try #require(
      try follow(location, from: "http://h/a", request: request, secretFields: ["x-API-key"]).request)
    for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "Host"] {
      #expect(sent.fields.contains(name) == isSameOrigin, "\(name)")
    }
    #expect(sent.fields["Accept"] == "c/d")
    #expect(sent.fields["Range"] == "bytes=5-")
  }

  @Test func `userinfo is a secret like any other`() throws {
    let from = "http://joe:pw@h/a"
    #expect(try follow("/b", from: from).request?.location == "http://joe:pw@h/b")
    #expect(try follow("http://h/b", from: from).request?.location == "http://joe:pw@h/b")
    #expect(try follow("http://h:81/b", from: from).request?.location == "http://h:81/b")
    #expect(try follow("//other/b", from: from).request?.location == "http://other/b")
    #expect(try follow("http://ann:x@h/b", from: from).request?.location == "http://ann:x@h/b")
  }

  @Test func `whether it has changed is asked only of whoever sent it, by date or by tag`() throws {
    let date = "Mon, 02 Jan 2023 00:00:00 GMT"
    for (location, isSame) in [("/b", false), ("http://h/a?x=1", false), ("http://H:80/a#part", true), ("a", true)] {
      let request = LoadRequest(
        location: "http://h/a", fields: ["If-None-Match": "\"1\"", "if-modified-since": date])
      let sent = try #require(try follow(location, from: "http://h/a", request: request).request)
      #expect(sent.fields["If-Modified-Since"] == (isSame ? date : nil), "\(location)")
      #expect(sent.fields["If-None-Match"] == (isSame ? "\"1\"" : nil), "\(location)")
    }
  }

  @Test(arguments: [301, 308]) func `a permanent redirect leads where it led, so the tag goes along`(status: Int) throws
  {
    let fields: HeaderFields = ["If-None-Match": "\"1\"", "If-Modified-Since": "Mon, 02 Jan 2023 00:00:00 GMT"]
    let request = LoadRequest(location: "http://h/a", fields: fields)
    let sent = try #require(try follow("https://h/a", status: status, from: "http://h/a", request: request).request)
    #expect(sent.fields["If-None-Match"] == "\"1\"" && sent.fields["If-Modified-Since"] == nil)
  }

  // MARK: Freshness of what came by redirects

  @Test func `a redirect leads on for ever, for a time, or once`() {
    let now = WallTime(seconds: 784_111_777)
    func lifetime(_ status: Int, _ fields: HeaderFields = [:]) -> Duration? {
      RedirectRule.lifetime(LoadHead(status: status, fields: fields), now: now)
    }
    for status in [301, 308] {
      #expect(lifetime(status) == nil)
      for said in ["no-store", "no-cache", "max-age=0"] { #expect(lifetime(status, ["Cache-Control": said]) == .zero) }
      #expect(lifetime(status, ["Cache-Control": "max-age=5"]) == .seconds(5))
      for vary in ["Accept-Language", "*"] { #expect(lifetime(status, ["Vary": vary]) == .zero) }
    }
    for status in [302, 303, 307] {
      #expect(lifetime(status) == .zero)
      #expect(lifetime(status, ["Cache-Control": "max-age=5"]) == .seconds(5))
      #expect(lifetime(status, ["Cache-Control": "max-age=5, no-store"]) == .zero)
    }
    for (age, left) in [("3", 2), ("5", 0), ("9", 0)] {
      #expect(lifetime(301, ["Cache-Control": "max-age=5", "Age": age]) == .seconds(left), "\(age) s old")
    }
  }

  @Test func `what they led to is fresh no longer, and keeps what it says`() {
    let now = WallTime(seconds: 784_111_777)
    func control(_ fields: HeaderFields, _ lifetime: Duration?) -> [String] {
      let head = RedirectRule.answer(LoadHead(fields: fields), afterRedirectsFor: lifetime, now: now)
      return head.fields.values(of: "Cache-Control")
    }
    let hour: HeaderFields = ["Cache-Control": "max-age=3600, must-revalidate"]
    #expect(control(hour, nil) == ["max-age=3600, must-revalidate", "redirected"])
    #expect(control(hour, .seconds(3600)) == ["max-age=3600, must-revalidate", "redirected"])
    #expect(control(hour, .seconds(60)) == ["max-age=3600, must-revalidate", "max-age=60, redirected"])
    #expect(control(hour, .zero) == ["max-age=3600, must-revalidate", "max-age=0, redirected"])
    let aged: HeaderFields = ["Cache-Control": "max-age=100", "Age": "90"]
    #expect(control(aged, .seconds(5)) == ["max-age=100", "max-age=95, redirected"])
    #expect(control(aged, .seconds(50)) == ["max-age=100", "redirected"])
    #expect(control([:], .zero) == ["redirected"])
  }

  @Test func `what redirects led to is no answer for those who want to see them, nor they for the others`() {
    let redirect = LoadHead(status: 302, fields: ["Location": "/b"])
    let direct = LoadHead(fields: ["Cache-Control": "max-age=9"])
    let marked = RedirectRule.answer(direct, afterRedirectsFor: nil, now: WallTime(seconds: 1))
    let answers = [RedirectMode.follow, .manual, .refuse].map { mode in
      [redirect, direct, marked].map { RedirectRule.mayAnswer(mode, with: $0) }
    }
    #expect(answers == [[false, true, true], [true, true, false], [false, true, false]])
  }

  @Test func `a 304 carries their time and mark to what it is about`() {
    let now = WallTime(seconds: 784_111_777)
    func answer(_ fields: HeaderFields, _ lifetime: Duration?) -> LoadHead {
      RedirectRule.answer(LoadHead(status: 304, fields: fields), afterRedirectsFor: lifetime, now: now)
    }
    let hour = LoadHead(fields: ["Cache-Control": "max-age=3600"])
    for fields: HeaderFields in [[:], ["Cache-Control": "max-age=1"]] {
      for (lifetime, line) in [(60, "max-age=60, redirected"), (0, "max-age=0, redirected"), (nil, "redirected")] {
        let confirmation = answer(fields, lifetime.map { .seconds($0) })
        let confirmed = RedirectRule.answer(hour, redirectedAs: confirmation, now: now)
        #expect(confirmed.fields.values(of: "Cache-Control") == ["max-age=3600", line])
        #expect(RedirectRule.unmarked(confirmation.fields) == fields)
      }
      #expect(RedirectRule.answer(hour, redirectedAs: LoadHead(status: 304, fields: fields), now: now) == hour)
    }
  }
}
