// What is printed of requests and heads, or looked at by `dump` or a debugger's reflection, tells no secret: URLs go
// through `redacted`, and so do values of fields, but for those that are secret as a whole.

extension HeaderFields: CustomStringConvertible, CustomReflectable {
  /// `[Accept: */*, Authorization: REDACTED]`
  public var description: String { "[\(map(\.description).joined(separator: ", "))]" }

  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection)
  }
}

extension HeaderFields.Field: CustomStringConvertible, CustomReflectable {
  /// `Accept: */*`
  public var description: String {
    "\(redacted(name)): \(HeaderFields.isSecret(name) ? "REDACTED" : redacted(value))"
  }

  public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}

extension HeaderFields {
  /// Whatever is secret by its meaning, and what is named like it: `X-Api-Key`, `X-Auth-Token`, `My-Secret`.
  static func isSecret(_ name: String) -> Bool {
    let lower = name.lowercased()
    return RedirectRule.alwaysSecret.contains(lower) || lower.hasPrefix("set-cookie") || lower.contains("auth")
      || isNamedLikeSecret(name)
  }
}

extension LoadRequest: CustomStringConvertible, CustomReflectable {
  /// `GET https://example.com/a [Accept: */*]`
  public var description: String { "\(method) \(redacted(location)) \(fields)" }

  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "method": method, "location": redacted(location), "fields": fields, "bodyBytes": body?.count as Any,
        "redirectMode": redirectMode, "limitBytes": limitBytes as Any,
      ])
  }
}

extension ObjectRequest: CustomStringConvertible, CustomReflectable {
  /// `https://example.com/a [Accept: */*]`, all locations in the order in which they are tried, after the oid if there is
  /// one.
  public var description: String {
    let places = locations.map { redacted($0) }.joined(separator: ", ")
    return "\(oid.map { "\($0) from " } ?? "")\(places) \(fields)"
  }

  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "oid": oid as Any, "namespace": namespace, "locations": locations.map { redacted($0) }, "fields": fields,
        "credentialScope": credentialScope as Any, "mode": mode, "freshness": freshness as Any, "priority": priority,
        "limitBytes": limitBytes as Any, "timeout": timeout as Any, "whenFull": whenFull as Any,
      ])
  }
}

extension ObjectID: CustomReflectable {
  /// A URL as it may be shown; an oid as it is.
  public var description: String {
    let shown = kind == .url ? redacted(name) : name
    return namespace.isEmpty ? shown : "\(namespace):\(shown)"
  }

  public var customMirror: Mirror { Mirror(self, children: ["kind": kind, "id": description]) }
}
