import Testing

@testable import ManagedObjects

struct ProxyRuleTests {
  private func proxy(
    for url: String = "http://a.example/", _ choice: ProxyChoice = .environment, _ environment: [String: String] = [:]
  ) throws -> ProxyRule.Proxy? {
    try ProxyRule(choice, environment: environment).proxy(for: URLRule.parse(url).get()).get()
  }

  private func refusal(_ choice: ProxyChoice, _ environment: [String: String] = [:]) -> ObjectError? {
    do {
      _ = try proxy(choice, environment)
      return nil
    } catch { return error as? ObjectError }
  }

  private func proxy(_ choice: ProxyChoice, _ environment: [String: String]) throws -> ProxyRule.Proxy? {
    try proxy(for: "http://a.example/", choice, environment)
  }

  // MARK: Which

  @Test func `an empty environment has none`() throws {
    #expect(try proxy() == nil)
    #expect(try proxy(.environment, ["http_proxy": "", "all_proxy": ""]) == nil)
  }

  @Test func `each scheme has its own variable, and all_proxy stands in`() throws {
    let both = ["http_proxy": "h:1", "https_proxy": "s:2", "all_proxy": "a:3"]
    #expect(try proxy(for: "http://x/", .environment, both)?.host == "h")
    #expect(try proxy(for: "https://x/", .environment, both)?.host == "s")
    #expect(try proxy(for: "https://x/", .environment, ["http_proxy": "h:1"]) == nil)
    #expect(try proxy(for: "http://x/", .environment, ["https_proxy": "s:1"]) == nil)
    for name in ["all_proxy", "ALL_PROXY"] {
      #expect(try proxy(for: "http://x/", .environment, [name: "a:3"])?.host == "a")
      #expect(try proxy(for: "https://x/", .environment, [name: "a:3"])?.host == "a")
    }
  }

  @Test func `HTTP_PROXY in capitals is never read`() throws {
    #expect(try proxy(.environment, ["HTTP_PROXY": "evil:1"]) == nil)
    #expect(try proxy(for: "https://x/", .environment, ["HTTP_PROXY": "evil:1"]) == nil)
  }

  @Test func `of two spellings the lower-case one counts, unless it is empty`() throws {
    let both = ["https_proxy": "low:1", "HTTPS_PROXY": "up:2"]
    #expect(try proxy(for: "https://x/", .environment, both)?.host == "low")
    #expect(try proxy(for: "https://x/", .environment, ["https_proxy": "", "HTTPS_PROXY": "up:2"])?.host == "up")
    let exceptions = ["http_proxy": "h:1", "no_proxy": "b.example", "NO_PROXY": "a.example"]
    #expect(try proxy(.environment, exceptions)?.host == "h")
  }

  @Test(arguments: ["no_proxy", "NO_PROXY"]) func `exceptions are asked directly`(_ name: String) throws {
    let environment = ["http_proxy": "h:1", name: "a.example, 127.0.0.0/8"]
    #expect(try proxy(for: "http://a.example/", .environment, environment) == nil)
    #expect(try proxy(for: "http://127.9.9.9/", .environment, environment) == nil)
    #expect(try proxy(for: "http://b.example/", .environment, environment)?.host == "h")
  }

  @Test func `none means none, and a URL means that one for both schemes`() throws {
    let environment = ["all_proxy": "a:3", "no_proxy": "*"]
    #expect(try proxy(.none, environment) == nil)
    let choice = ProxyChoice.url("http://p:9", except: ".corp")
    #expect(try proxy(for: "http://x/", choice, environment)?.host == "p")
    #expect(try proxy(for: "https://x/", choice, environment)?.port == 9)
    #expect(try proxy(for: "http://x.corp/", choice, environment) == nil)
  }

  // MARK: Reading

  @Test(arguments: [
    ("p", "http", "p", 80), ("p:3128", "http", "p", 3128), ("http://p:3128/", "http", "p", 3128),
    ("HTTPS://P.Example", "https", "p.example", 443), ("http://[::1]:3128", "http", "[::1]", 3128),
    ("127.0.0.1:8080", "http", "127.0.0.1", 8080),
  ])
  func `a proxy is read`(_ text: String, _ scheme: String, _ host: String, _ port: Int) throws {
    let read = try #require(try proxy(.url(text), [:]))
    #expect(read == ProxyRule.Proxy(scheme: scheme, host: host, port: port))
  }

  @Test func `user and password are decoded`() throws {
    let read = try #require(try proxy(.url("http://j%40e:p%3Aw%25@p:1"), [:]))
    #expect(read.user == "j@e" && read.password == "p:w%" && read.host == "p")
    let bare = try #require(try proxy(.url("joe@p:1"), [:]))
    #expect(bare.user == "joe" && bare.password == "")
  }

  @Test(arguments: ["socks5://p:1080", "http://", "http://p:99999", "ftp://p", "http://joe:hidden%zz@p:1", "p q"])
  func `one that cannot be read is an error that names the setting and no password`(_ text: String) throws {
    for (choice, environment, name) in [
      (ProxyChoice.environment, ["http_proxy": text], "http_proxy"), (.url(text), [:], "CurlLoaderOptions.proxy"),
    ] {
      let error = try #require(refusal(choice, environment))
      #expect(error.code == .invalidRequest && error.message.contains(name) && !error.message.contains("hidden"))
    }
  }

  @Test func `what is excepted works though the proxy cannot be read`() throws {
    #expect(try proxy(.environment, ["http_proxy": "socks5://p", "no_proxy": "a.example"]) == nil)
  }

  @Test func `a choice shows no password`() {
    let choice = ProxyChoice.url("http://joe:hidden@p:1", except: "a")
    var dumped = ""
    dump(choice, to: &dumped)
    var options = CurlLoaderOptions()
    options.proxy = choice
    dump(options, to: &dumped)
    for text in ["\(choice)", String(reflecting: choice), "\(options)", dumped] { #expect(!text.contains("hidden")) }
  }
}
