/// Whose answer a request gets: requests of different scope never share a load, an object or an entry.
struct ScopeRule: Sendable {
  private let secretFields: Set<String>

  init(secretFields: Set<String>) {
    self.secretFields = RedirectRule.alwaysSecret.union(secretFields.map { $0.lowercased() })
  }

  /// "" for a request without secrets; "name:…" where the caller names the scope; else "secret:" and the digest of the
  /// fields, or "user:" and the digest of these and of who is named in the URLs.
  ///
  /// - Parameters:
  ///   - users: what the URLs say before their hosts, "name:password".
  ///   - digest: a keyed one, so that a secret cannot be guessed from it.
  func scope(
    named name: String?, fields: HeaderFields, users: [String] = [], digest: ([UInt8]) -> String
  ) -> String {
    if let name { return "name:\(name)" }
    guard !fields.isEmpty || !users.isEmpty else { return "" }
    let secrets = fields.filter { secretFields.contains($0.name.lowercased()) }.map {
      "\($0.name.lowercased()):\($0.value)\n"
    }.sorted()
    if !users.isEmpty { return "user:" + digest(Array((secrets + users).joined(separator: "\n").utf8)) }
    return secrets.isEmpty ? "" : "secret:" + digest(Array(secrets.joined().utf8))
  }

  /// Whether of all secret fields there is only Cookie.
  func isCookieOnly(_ fields: HeaderFields) -> Bool {
    let secrets = Set(fields.map { $0.name.lowercased() }.filter(secretFields.contains))
    return secrets == ["cookie"]
  }
}
