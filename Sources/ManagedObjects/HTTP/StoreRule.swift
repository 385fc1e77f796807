/// What of a response is kept (RFC 9111 section 3, as a private cache).
package enum StoreRule {
  /// Whether a complete success may be stored: any 2xx but 206, which is a part. Under `.immutable` and `.ttl` the caller
  /// has decided, whatever the response says; under `.http` no-store in response or request forbids it, and so does a
  /// Vary that no later request can match. A response need not be fresh: it can be asked about, and may help in an outage.
  package static func mayStore(
    head: LoadHead, requestFields: HeaderFields, freshness: Freshness, mode: CacheMode
  ) -> Bool {
    guard (200..<300).contains(head.status), head.status != 206, mode != .noStore, !isUnasked(head, requestFields)
    else {
      return false
    }
    return freshness != .http || isStorable(head, requestFields)
  }

  /// Whether the answer that is no success may be stored, beside a good one: where it is fresh for a time, as the server
  /// says or as its status lets one guess (section 4.2.2).
  /// Under `.immutable` and `.ttl` never, since what the caller promised about the object is not true of an error.
  package static func mayStoreFailure(
    head: LoadHead, requestFields: HeaderFields, freshness: Freshness, mode: CacheMode, now: WallTime
  ) -> Bool {
    // 304 is about another response, 416 about a part; 429 must not be stored (RFC 6585 section 4).
    guard head.status >= 300, ![304, 412, 416, 429].contains(head.status), mode != .noStore, freshness == .http,
      !isUnasked(head, requestFields)
    else { return false }
    return FreshnessRule.lifetime(of: EntryFacts(head: head, requestTime: now, responseTime: now)) > .zero
      && isStorable(head, requestFields)
  }

  /// The caller wants no cache to know of it, so what is stored stays as it is too.
  package static func passesByCaches(_ requestFields: HeaderFields, freshness: Freshness, mode: CacheMode) -> Bool {
    mode == .noStore || freshness == .http && CacheControl(requestFields).noStore
  }

  /// Why it was loaded. Where there was nothing, and there will be nothing the next time either, no-store is why.
  package static func reason(
    _ why: AnswerReason, head: LoadHead, requestFields: HeaderFields, freshness: Freshness
  ) -> AnswerReason {
    why == .absent && freshness == .http && forbids(head, requestFields) ? .noStore : why
  }

  /// A whole body that the server has coded although a part was asked for, and so no coding: nobody undoes it, as for all
  /// others who do not set Accept-Encoding.
  private static func isUnasked(_ head: LoadHead, _ requestFields: HeaderFields) -> Bool {
    requestFields.contains("Range") && head.fields.contains("Content-Encoding")
      && !requestFields.contains("Accept-Encoding")
  }

  private static func isStorable(_ head: LoadHead, _ requestFields: HeaderFields) -> Bool {
    !forbids(head, requestFields) && VaryRule.names(of: head) != nil
  }

  private static func forbids(_ head: LoadHead, _ requestFields: HeaderFields) -> Bool {
    let control = CacheControl(head.fields)
    // Section 5.2.2.3: who understands the status may pass over no-store, who does not must not store it.
    let isAllowed = control.mustUnderstand ? understood.contains(head.status) : !control.noStore
    return !isAllowed || CacheControl(requestFields).noStore
  }

  /// The final statuses of RFC 9110 section 15 whose rules for caches are kept here.
  private static var understood: Set<Int> {
    Set(200...205).union(300...303).union(307...308).union(400...415).union(417...417).union([421, 422, 426])
      .union(500...505)
  }

  /// Whether loads of every credential scope may share it.
  package static func isPublic(_ head: LoadHead) -> Bool {
    let control = CacheControl(head.fields)
    return control.isPublic && !control.isPrivate && !control.noStore && !control.noCache
  }

  /// The head without the fields that are about the connection (section 3.1), and without those that must not be used
  /// again unasked (`no-cache="Set-Cookie"`, section 5.2.2.4).
  package static func stored(_ head: LoadHead) -> LoadHead {
    let named = CacheControl(head.fields).withheldFields.union(named(in: head.fields))
    var stored = head
    stored.fields.removeAll(hopByHopNames)
    if !named.isEmpty { stored.fields.removeAll(named: named) }
    return stored
  }

  /// Lower-case names of the fields that end at the next hop: those known, and those that Connection names.
  static func connectionFields(of fields: HeaderFields) -> Set<String> { Set(hopByHop + named(in: fields)) }

  /// In lower case.
  private static func named(in fields: HeaderFields) -> [String] {
    // These two are no fields, or known to go, and nearly all there is.
    let only = fields.onlyValue(of: "Connection")
    if let only, isText(only, "keep-alive") || isText(only, "close") { return [] }
    guard let list = fields.list(of: "Connection") else { return [] }
    return list.utf8.split(separator: UInt8(ascii: ",")).map { lowerText(trimmed(Array($0)[...])) }
  }

  private static let hopByHopNames = HeaderFields.Names(hopByHop)

  private static let hopByHop = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]
}
