import Testing

@testable import ManagedObjects

@Suite struct RedactionTests {
  @Test(arguments: [
    ("https://h/a?size=2", "https://h/a?size=2"),
    ("https://joe:pw@h/a", "https://REDACTED@h/a"),
    ("https://joe@h/a@b", "https://REDACTED@h/a@b"),
    ("https://a:b@c@h/", "https://REDACTED@h/"),
    ("https://h/@scope/pkg?a=b@c", "https://h/@scope/pkg?a=b@c"),
    ("https://h:80/@me", "https://h:80/@me"),
    ("https://[::1]/@me", "https://[::1]/@me"),
    ("https://joe:p/w@h/a", "https://REDACTED@h/a"),
    ("//joe:pw@h/a", "//REDACTED@h/a"),
    ("joe:pw@h/a", "REDACTED@h/a"),
    ("http:/joe:pw@h/a", "http:/REDACTED@h/a"),
    ("http:\\\\joe:pw@h", "http:\\\\REDACTED@h"),
    ("https://h/?a=1&token=x&b=2", "https://h/?a=1&token=REDACTED&b=2"),
    ("https://h/?token=&b", "https://h/?token=&b"),
    ("https://h/?token&b", "https://h/?token&b"),
    ("https://h/?a=1;SIG=x", "https://h/?a=1;SIG=REDACTED"),
    ("https://h/cb#access_token=x&state=1", "https://h/cb#access_token=REDACTED&state=1"),
    ("https://h/?%74oken=x", "https://h/?%74oken=REDACTED"),
    ("https://h/?token=a?b=c", "https://h/?token=REDACTED?b=c"),
    ("https://h/?token=a=b", "https://h/?token=REDACTED"),
    ("no url at all", "no url at all"), ("", ""), ("?", "?"), ("@", "REDACTED@"), (":", ":"),
  ])
  func `secrets are shown as REDACTED, all else as it is`(given: String, shown: String) {
    #expect(redacted(given) == shown)
    #expect(redacted(shown) == shown)
  }

  @Test(arguments: [
    "token", "access_token", "refreshToken", "id-token", "sig", "Signature", "X-Amz-Signature",
    "X-Amz-Security-Token",
    "X-Amz-Credential", "X-Goog-Signature", "AWSAccessKeyId", "key", "api_key", "apikey", "API-KEY", "password",
    "passwd",
    "pwd", "secret", "client_secret", "code", "auth", "sessionid", "sid", "jwt", "hdnts",
  ])
  func `a parameter named like a secret is hidden in any spelling`(name: String) {
    #expect(redacted("https://h/?a=1&\(name)=s3cr3t&b=2") == "https://h/?a=1&\(name)=REDACTED&b=2")
    #expect(redacted("https://h/?\(name.uppercased())=s3cr3t") == "https://h/?\(name.uppercased())=REDACTED")
  }

  @Test(arguments: ["q", "keyword", "page", "encode", "author", "designer", "id", "w", "format"])
  func `ordinary parameters are shown`(name: String) {
    #expect(redacted("https://h/?\(name)=value") == "https://h/?\(name)=value")
  }

  @Test func `controls and characters that turn text around are escaped`() {
    #expect(redacted("http://h/a\nb\u{1B}[0m\u{7F}") == "http://h/a\\u{A}b\\u{1B}[0m\\u{7F}")
    #expect(redacted("http://h/\u{202E}\u{2028}\u{85}ü😀") == "http://h/\\u{202E}\\u{2028}\\u{85}ü😀")
  }

  @Test func `a combining mark does not hide a sign from the rule`() {
    #expect(!redacted("http://h/?token=\u{301}s3cr3t").contains("s3cr3t"))
    #expect(!redacted("http://h/?\u{301}a=1&\u{301}token=s3cr3t").contains("s3cr3t"))
    #expect(!redacted("http://joe:s3cr3t@\u{301}h/").contains("s3cr3t"))
  }

  @Test func `the text is never much longer than 500 characters`() {
    let long = redacted("https://h/" + String(repeating: "a", count: 3000))
    #expect(long.count == 501)
    #expect(long.hasSuffix("a…"))
    #expect(redacted("https://h/?a=" + String(repeating: "\u{1}", count: 3000)).count <= 501)
    #expect(redacted("?" + String(repeating: "&", count: 100_000)).count == 501)
    #expect(redacted(String(repeating: "a", count: 500)).count == 500)
  }

  @Test func `userinfo too long to end is hidden`() {
    let secret = String(repeating: "s", count: 20_000)
    #expect(redacted("https://\(secret)@h/") == "https://REDACTED…")
    #expect(redacted("https://h/?\(secret)=s3cr3t").contains("s3cr3t") == false)
  }
}
