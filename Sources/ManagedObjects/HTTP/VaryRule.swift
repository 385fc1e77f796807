/// Which requests a stored response answers, as its Vary field says (RFC 9111 section 4.1).
package enum VaryRule {
  /// Fields whose values are never kept: a keyed digest stands for them.
  package struct Secrets: Sendable {
    let names: Set<String>
    let digest: @Sendable (String) -> String

    /// - Parameters:
    ///   - names: beside Authorization, Cookie and Proxy-Authorization; in any letter case.
    ///   - digest: the same for the same value in every run, and useless to whoever does not have the key.
    package init(names: Set<String> = [], digest: @escaping @Sendable (String) -> String) {
      self.names = Set(names.map { $0.lowercased() })
      self.digest = digest
    }

    func hides(_ name: String) -> Bool { names.contains(name) || RedirectRule.alwaysSecret.contains(name) }
  }

  /// The names, in lower case, sorted, each once. nil: the response answers no other request (`*`, or a member that is
  /// no field name, so that nobody can tell what it varies on).
  package static func names(of head: LoadHead) -> [String]? {
    guard let list = head.fields.list(of: "Vary") else { return [] }
    var names: Set<String> = []
    for member in list.utf8.split(separator: UInt8(ascii: ",")) {
      let name = trimmed(Array(member)[...])
      if name.isEmpty { continue }
      guard name.allSatisfy(isTokenByte), !name.elementsEqual("*".utf8) else { return nil }
      names.insert(lowerText(name))
    }
    return names.sorted()
  }

  /// Those fields of a request, one line each, in the order of `names`; what is absent stays so.
  package static func selected(_ names: [String], from fields: HeaderFields, secrets: Secrets?) -> HeaderFields {
    var selected = HeaderFields()
    for name in names {
      guard let value = fields.list(of: name) else { continue }
      selected.append(name, secrets.map { $0.hides(name) ? $0.digest(value) : value } ?? value)
    }
    return selected
  }

  /// Whether a request with these fields is answered by a response that `varying` was selected for.
  package static func matches(
    _ head: LoadHead, varying: HeaderFields, request: HeaderFields, secrets: Secrets?
  ) -> Bool {
    guard let names = names(of: head) else { return false }
    let selected = selected(names, from: request, secrets: secrets)
    return names.allSatisfy { normalised($0, varying.list(of: $0)) == normalised($0, selected.list(of: $0)) }
  }

  /// A name for the answer to this request among those that vary on `names`: equal exactly where they match.
  package static func variant(_ names: [String], request: HeaderFields, secrets: Secrets?) -> String {
    let selected = selected(names, from: request, secrets: secrets)
    return names.map { name in
      normalised(name, selected.list(of: name)).map { "\(name): \($0)\n" } ?? "\(name)\n"
    }.joined()
  }

  /// Lists of codings and languages mean the same in any letter case, order and spacing.
  private static func normalised(_ name: String, _ value: String?) -> String? {
    guard let value, name == "accept-language" || name == "accept-encoding" else { return value }
    let members = value.utf8.split(separator: UInt8(ascii: ",")).map { member in
      lowerText(member.filter { !isBlank($0) })
    }
    return members.filter { !$0.isEmpty }.sorted().joined(separator: ",")
  }
}
