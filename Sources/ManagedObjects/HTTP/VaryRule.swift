/// Which requests a stored response answers, as its Vary field says (RFC 9111 section 4.1).
///
/// Who sets Accept-Encoding gets a coded body as it was sent, all others have it unpacked. So what the server has coded
/// varies on that field as well, whether or not the server says so: else one would be given the other's bytes.
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

  /// Those by which the answer to this request is told from others under the same id. nil as above.
  package static func names(of head: LoadHead, to request: HeaderFields) -> [String]? {
    names(of: head).map { ($0 + unsaidCoding(of: head, $0, asked: request)).sorted() }
  }

  /// The field that chooses the coding, where the server has coded what it was asked to, and does not name it.
  private static func unsaidCoding(of head: LoadHead, _ names: [String], asked request: HeaderFields) -> [String] {
    guard head.fields.contains("Content-Encoding"), request.contains(coding), !names.contains(coding) else { return [] }
    return [coding]
  }

  private static let coding = "accept-encoding"

  /// What is kept of a request, so that it can be told which others its answer answers; secret fields as a digest.
  package static func varying(of head: LoadHead, to request: HeaderFields, secrets: Secrets?) -> HeaderFields {
    let said = names(of: head) ?? []
    return selected(said + unsaidCoding(of: head, said, asked: request), from: request, secrets: secrets)
  }

  /// Whether this body is coded, or not, as such a request gets it.
  package static func isCoded(_ head: LoadHead, _ varying: HeaderFields, asFor request: HeaderFields) -> Bool {
    !head.fields.contains("Content-Encoding")
      || normalised(coding, varying.list(of: coding)) == normalised(coding, request.list(of: coding))
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
    guard let names = names(of: head), isCoded(head, varying, asFor: request) else { return false }
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
