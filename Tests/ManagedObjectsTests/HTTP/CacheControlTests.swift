import Testing

@testable import ManagedObjects

private func control(_ lines: String...) -> CacheControl {
  var fields = HeaderFields()
  for line in lines { fields.append("Cache-Control", line) }
  return CacheControl(fields)
}

@Suite struct CacheControlTests {
  @Test(arguments: [
    ("max-age=60", Duration.seconds(60)), ("MAX-Age=60", .seconds(60)), ("max-age=\"60\"", .seconds(60)),
    ("max-age=0060", .seconds(60)), ("a=b, max-age=60 , c", .seconds(60)), (",,max-age=60,,", .seconds(60)),
    ("max-age=60,max-age=30", .seconds(30)), ("max-age=30,max-age=60", .seconds(30)),
    ("max-age=\"6\\0\"", .seconds(60)), ("max-age=2147483648", .seconds(1 << 31)),
    ("max-age=2147483649", .seconds(1 << 31)), ("max-age=99999999999999999999", .seconds(1 << 31)),
    ("x=\"a\\\", max-age=9\", max-age=60", .seconds(60)), ("@, max-age=60", .seconds(60)),
  ])
  func `a time is read by the grammar`(text: String, time: Duration) {
    #expect(control(text).maxAge == time)
  }

  @Test(arguments: [
    "max-age=-5", "max-age=", "max-age", "max-age=abc", "max-age=60.0", "max-age=1 2", "max-age =60", "max-age= 60",
    "max-age='60'", "max-age=\"60", "max-age=\"\"", "max-age=60;", "max-age=60x", "max-age=0x10", "max-age=60, max-age",
    "max-age=\"60\"x",
  ])
  func `a time that cannot be read is no time at all`(text: String) {
    #expect(control(text).maxAge == .zero)
  }

  @Test(arguments: [
    "", "max-agee=60", "x-max-age=60", "x=\"max-age=60\"", "x=\"a, max-age=60, b\"", "s-maxage=60", "=60",
  ])
  func `what only looks like max-age is none`(text: String) {
    #expect(control(text).maxAge == nil)
  }

  @Test func `several lines are one list`() {
    let all = control("max-age=60", "No-Store", "must-revalidate, public")
    #expect(all.maxAge == .seconds(60))
    #expect(all.noStore && all.mustRevalidate && all.isPublic)
  }

  @Test func `no-cache with field names withholds those only`() {
    #expect(control("no-cache").noCache)
    #expect(control("no-cache=\"Set-Cookie, X-B\"").withheldFields == ["set-cookie", "x-b"])
    #expect(!control("no-cache=\"Set-Cookie\"").noCache)
    #expect(control("no-cache=Set-Cookie").withheldFields == ["set-cookie"])
    #expect(control("no-cache=\"a\", no-cache").noCache)
    #expect(control("no-cache=\"a").noCache)
    #expect(control("no-cache=").noCache)
    #expect(control("private=\"a\"").withheldFields == [])
    #expect(control("private=\"a\"").isPrivate)
  }

  @Test func `restrictions count with rubbish behind them, permissions do not`() {
    let rubbish = control("no-store x, no-cache/, must-revalidate=1, public x, immutable (, must-understand=\"")
    #expect(rubbish.noStore && rubbish.noCache && rubbish.mustRevalidate)
    #expect(!rubbish.isPublic && !rubbish.isImmutable && !rubbish.mustUnderstand)
  }

  @Test func `quotes that never close hide nothing behind them`() {
    #expect(control("x=\"abc, no-store").noStore)
  }

  @Test func `the times for stale answers and requests are read too`() {
    let all = control("stale-while-revalidate=5, stale-if-error=6, min-fresh=7, max-stale=8, only-if-cached")
    #expect(all.staleWhileRevalidate == .seconds(5))
    #expect(all.staleIfError == .seconds(6))
    #expect(all.minFresh == .seconds(7))
    #expect(all.maxStale == .seconds(8))
    #expect(all.onlyIfCached)
    #expect(control("max-stale").maxStale == CacheControl.limit)
    #expect(control("max-stale=x").maxStale == .zero)
    #expect(control("min-fresh=x").minFresh == CacheControl.limit)
    #expect(control("min-fresh=1, min-fresh=3").minFresh == .seconds(3))
    #expect(control("stale-if-error=6, stale-if-error=2").staleIfError == .seconds(2))
  }

  @Test func `no text makes it trap`() {
    let pieces = ["max-age", "no-cache", "=", "\"", ",", " ", "\\", "9", "\u{FF}", "x", ";", "\t"]
    for _ in 0..<20_000 {
      let read = control((0..<Int.random(in: 0...12)).map { _ in pieces.randomElement() ?? "" }.joined())
      #expect(read.maxAge.map { $0 >= .zero && $0 <= CacheControl.limit } ?? true)
    }
  }
}
