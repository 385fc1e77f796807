internal import ManagedObjects

/// Replies that depend on what was asked.
extension Reply {
  package static func redirect(to location: String, status: Int = 302) -> Reply {
    Reply(status, ["Location": location])
  }

  /// A body with validators: 304 without it where the request's If-None-Match, or else its If-Modified-Since, fits
  /// (RFC 9110 section 13.2.2).
  package static func revalidating(
    _ body: [UInt8], etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil
  ) -> Reply {
    var whole = Reply(200, body)
    if let etag { whole = whole.adding("ETag", etag) }
    if let lastModified { whole = whole.adding("Last-Modified", lastModified) }
    if let cacheControl { whole = whole.adding("Cache-Control", cacheControl) }
    var unchanged = whole
    unchanged.status = 304
    unchanged.body = .bytes([])
    return Reply { [whole, unchanged] request in
      if let wanted = request["If-None-Match"] { return matches(wanted, etag) ? unchanged : whole }
      return lastModified != nil && request["If-Modified-Since"] == lastModified ? unchanged : whole
    }
  }

  package static func revalidating(
    _ text: String, etag: String? = nil, lastModified: String? = nil, cacheControl: String? = nil
  ) -> Reply {
    revalidating(Array(text.utf8), etag: etag, lastModified: lastModified, cacheControl: cacheControl)
  }

  /// Part of a body where one range is asked for and If-Range, if there is one, fits; 416 where it lies beyond the end
  /// (RFC 9110 section 14).
  package static func ranged(_ body: [UInt8], etag: String? = nil, cacheControl: String? = nil) -> Reply {
    Reply { request in
      var reply = part(of: body, for: request, etag: etag).adding("Accept-Ranges", "bytes")
      if let etag { reply = reply.adding("ETag", etag) }
      if let cacheControl { reply = reply.adding("Cache-Control", cacheControl) }
      return reply
    }
  }

  private static func part(of body: [UInt8], for request: Request, etag: String?) -> Reply {
    if let condition = request["If-Range"], condition != etag { return Reply(200, body) }
    guard let wanted = request["Range"].flatMap({ range($0, of: body.count) }) else { return Reply(200, body) }
    if wanted.isEmpty { return Reply(416, ["Content-Range": "bytes */\(body.count)"]) }
    return Reply(
      206, Array(body[wanted]),
      ["Content-Range": "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(body.count)"])
  }

  /// "bytes=0-99", "bytes=100-", "bytes=-50"; empty: beyond the end; nil: not one range.
  private static func range(_ text: String, of count: Int) -> Range<Int>? {
    guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return nil }
    switch (Int(ends[0]), Int(ends[1])) {
    case (let first?, let last?): return first <= last ? min(first, count)..<min(last + 1, count) : nil
    case (let first?, nil): return min(first, count)..<count
    case (nil, let last?): return max(0, count - last)..<count
    case (nil, nil): return nil
    }
  }

  /// Weak comparison (RFC 9110 section 8.8.3.2) with a list of entity tags, or "*".
  private static func matches(_ list: String, _ etag: String?) -> Bool {
    guard let etag else { return false }
    func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
    return list.split(separator: ",").contains { item in
      let tag = item.drop { $0 == " " }.prefix { $0 != " " }
      return tag == "*" || opaque(tag) == opaque(etag[...])
    }
  }
}
