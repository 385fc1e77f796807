/// Whether a response sends the load on, and with which request (RFC 9110 section 15.4). Ours, not libcurl's, so that
/// each hop is checked like a URL that a caller gave.
package enum RedirectRule {
  package enum Verdict: Sendable {
    /// Not a redirect, or one that the caller wants to see: deliver it as it is.
    case none
    case to(LoadRequest)
    case refused(ObjectError)
  }

  /// Secret everywhere, whatever the policy says.
  package static let alwaysSecret: Set<String> = ["authorization", "cookie", "proxy-authorization"]

  /// - Parameters:
  ///   - location: the first Location field; a 3xx without one is delivered as it is.
  ///   - from: what was asked.
  ///   - hops: redirects followed before this one.
  ///   - request: what was sent; its `redirectMode` counts.
  ///   - allowsDowngrade: from https to http.
  ///   - secretFields: names of fields that, like Authorization and Cookie, never reach another origin.
  package static func follow(
    status: Int, location: String?, from: URLRule.Location, hops: Int, request: LoadRequest, limit: Int = 10,
    allowsDowngrade: Bool = false, secretFields: Set<String> = []
  ) -> Verdict {
    guard isRedirect(status, location), request.redirectMode != .manual, let location else { return .none }
    if request.redirectMode == .refuse {
      return refused(.refusedByPolicy, from, "redirects, and RedirectMode.refuse does not allow that.")
    }
    guard hops < limit else { return refused(.tooManyRedirects, from, "redirects once more after \(limit) redirects.") }
    switch URLRule.resolve(escaped(location), from: from) {
    case .failure(let refusal):
      return refused(.invalidURL, from, "redirects to what is no URL. \(refusal.why)")
    case .success(let target):
      if let refusal = refusal(of: target, from, allowsDowngrade) { return refusal }
      return .to(next(request, status, from, target, secretFields))
    }
  }

  /// Whether it leads elsewhere.
  package static func isRedirect(_ head: LoadHead) -> Bool { isRedirect(head.status, head.fields["Location"]) }

  /// 300 leaves the choice to the reader, 304 is about a stored response, 305 and 306 are no longer used.
  private static func isRedirect(_ status: Int, _ location: String?) -> Bool {
    [301, 302, 303, 307, 308].contains(status) && location?.isEmpty == false
  }

  private static func refusal(
    of target: URLRule.Location, _ from: URLRule.Location, _ allowsDowngrade: Bool
  ) -> Verdict? {
    if !target.isHTTP {
      return refused(.unsupportedScheme, from, "redirects to the scheme \(target.scheme), which is never followed.")
    }
    if from.scheme == "https", target.scheme == "http", !allowsDowngrade {
      return refused(
        .refusedByPolicy, from, "redirects from https to http (\(target)), which is refused unless it is allowed.")
    }
    return nil
  }

  private static func refused(_ code: ObjectError.Code, _ from: URLRule.Location, _ what: String) -> Verdict {
    .refused(ObjectError(code, "\(from) \(what)"))
  }

  // MARK: The next request

  /// How long a redirect leads there without being asked again: for ever if it is permanent and says nothing else, and not
  /// at all if it is temporary and does not say for how long, or varies (RFC 9110 section 15.4, RFC 9111 section 4.2).
  /// nil: for ever.
  package static func lifetime(_ head: LoadHead, now: WallTime) -> Duration? {
    let control = CacheControl(head.fields)
    if control.noStore || control.noCache || VaryRule.names(of: head)?.isEmpty != true { return .zero }
    if isPermanent(head.status), !FreshnessRule.isExplicit(head.fields) { return nil }
    let facts = EntryFacts(head: head, requestTime: now, responseTime: now)
    return max(.zero, FreshnessRule.lifetime(of: facts) - (FreshnessRule.age(of: facts, at: now) ?? .zero))
  }

  /// The answer under the URL that was asked for is as fresh as what the redirects led to, but no longer than they lead
  /// there. So a stricter time stands behind the server's own, and always a mark, since it is no answer for those who want
  /// to see a redirect as it is:
  ///
  ///     Cache-Control: max-age=3600
  ///     Cache-Control: max-age=0, redirected
  ///
  /// A 304 is about an answer that is not known here. It carries the mark and the time to where that is updated.
  ///
  /// - Parameters:
  ///   - lifetime: nil: they lead there for ever.
  ///   - now: asked for only where that matters.
  package static func answer(
    _ head: LoadHead, afterRedirectsFor lifetime: Duration?, now: @autoclosure () -> WallTime
  ) -> LoadHead {
    var answer = head
    let time = lifetime.flatMap { head.status == 304 ? $0 : stricter($0, head, now: now()) }
    answer.fields.append("Cache-Control", time.map { "max-age=\($0.components.seconds), \(mark)" } ?? mark)
    return answer
  }

  /// The greatest age that the redirects allow it; nil: it says no more itself.
  private static func stricter(_ lifetime: Duration, _ head: LoadHead, now: WallTime) -> Duration? {
    let facts = EntryFacts(head: head, requestTime: now, responseTime: now)
    let age = FreshnessRule.age(of: facts, at: now) ?? .zero
    guard lifetime < FreshnessRule.lifetime(of: facts) - age else { return nil }
    return lifetime == .zero ? .zero : lifetime + age
  }

  private static var mark: String { "redirected" }

  /// What `answer` added; nil: it did not come by redirects.
  private static func marked(_ fields: HeaderFields) -> String? {
    fields.values(of: "Cache-Control").last { $0 == mark || $0.hasSuffix(", \(mark)") }
  }

  /// The fields without what `answer` adds.
  static func unmarked(_ fields: HeaderFields) -> HeaderFields {
    guard let marked = marked(fields) else { return fields }
    var rest = HeaderFields()
    for field in fields where field.value != marked || field.name.lowercased() != "cache-control" {
      rest.append(field.name, field.value)
    }
    return rest
  }

  /// What a 304 says of the redirects that led to it holds for the answer that it confirms.
  static func answer(_ head: LoadHead, redirectedAs confirmation: LoadHead, now: WallTime) -> LoadHead {
    guard let marked = marked(confirmation.fields) else { return head }
    return answer(head, afterRedirectsFor: CacheControl(["Cache-Control": marked]).maxAge, now: now)
  }

  /// Whether what is stored may answer such a request: it is a redirect for those who want to see it, and for others what
  /// it led to.
  package static func mayAnswer(_ mode: RedirectMode, with head: LoadHead) -> Bool {
    switch mode {
    case .follow: !isRedirect(head)
    case .manual: marked(head.fields) == nil
    case .refuse: marked(head.fields) == nil && !isRedirect(head)
    }
  }

  private static func next(
    _ request: LoadRequest, _ status: Int, _ from: URLRule.Location, _ target: URLRule.Location,
    _ secretFields: Set<String>
  ) -> LoadRequest {
    var next = request
    let isSameOrigin = target.origin == from.origin
    // Userinfo is an Authorization field in disguise: like that, it stays inside the origin.
    if isSameOrigin, target.userinfo == nil, let userinfo = from.userinfo {
      next.location = target.authenticated(by: userinfo).text
    } else {
      next.location = target.text
    }
    if target.key != from.key { dropConditions(&next, status) }
    if !isSameOrigin { dropSecrets(&next, secretFields) }
    if becomesGET(status, request.method) { dropBody(&next) }
    return next
  }

  /// What is asked is whether it has changed since another target sent it: an older one would not say so, and a tag means
  /// something for one resource only (RFC 9110 section 8.8.3); many are no more than a date and a length. Where a
  /// permanent redirect leads, it led before as well.
  private static func dropConditions(_ request: inout LoadRequest, _ status: Int) {
    request.fields.remove("If-Modified-Since")
    if !isPermanent(status) { request.fields.remove("If-None-Match") }
  }

  /// RFC 9110 sections 15.4.2 and 15.4.9.
  private static func isPermanent(_ status: Int) -> Bool { status == 301 || status == 308 }

  private static func dropSecrets(_ request: inout LoadRequest, _ secretFields: Set<String>) {
    let secret = alwaysSecret.union(secretFields.map { $0.lowercased() })
    for field in request.fields where secret.contains(field.name.lowercased()) { request.fields.remove(field.name) }
    // It names the host that was asked first.
    request.fields.remove("Host")
  }

  /// 303 asks for a GET; 301 and 302 turn POST into GET by old custom (RFC 9110 sections 15.4.2 to 15.4.4).
  private static func becomesGET(_ status: Int, _ method: String) -> Bool {
    status == 303 ? method != "GET" && method != "HEAD" : status <= 302 && method == "POST"
  }

  private static func dropBody(_ request: inout LoadRequest) {
    request.method = "GET"
    request.body = nil
    for name in bodyFields { request.fields.remove(name) }
  }

  /// What describes a body (RFC 9110 section 15.4, last list).
  private static var bodyFields: [String] {
    [
      "Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Content-Length", "Digest",
      "Content-Digest", "Repr-Digest", "Last-Modified", "Transfer-Encoding", "Expect",
    ]
  }

  /// A field's value is bytes, a character each: non-ASCII ones are escaped as the bytes they are.
  private static func escaped(_ location: String) -> String {
    var bytes: [UInt8] = []
    for scalar in location.unicodeScalars {
      let byte = UInt8(truncatingIfNeeded: scalar.value)
      if scalar.value < 0x80 {
        bytes.append(byte)
      } else if scalar.value <= 0xFF {
        URLRule.appendEscape(byte, to: &bytes)
      } else {
        for byte in String(scalar).utf8 { URLRule.appendEscape(byte, to: &bytes) }
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
