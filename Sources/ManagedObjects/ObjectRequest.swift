public import FoundationEssentials

/// What is wanted: a value, read once by the call that takes it.
public struct ObjectRequest: Sendable {
  /// The identity of the object where it is not its URL; nil: the first URL names it. "" is refused.
  public var oid: String?
  /// Where the bytes are: URLs as text, in the order in which they are tried (mirrors). Read only when a load needs
  /// them; one that cannot be read ends the request with `.invalidURL`.
  public var locations: [String]
  public var mode = CacheMode.standard
  public var priority = LoadPriority.normal
  /// What to do when the FIFO of live handlers is full; nil: the way of the call (`manage` bumps, all others wait).
  public var whenFull: WhenFull?
  private var box: RestBox?

  public enum WhenFull: Sendable { case bumpOldest, wait }

  /// The caller's division of its own names, for `remove(namespace:)`.
  public var namespace: String {
    get { box?.rest.namespace ?? "" }
    set { change { $0.namespace = newValue } }
  }

  /// Header fields to send. Secret ones also choose the credential scope, unless `credentialScope` names it.
  public var fields: HeaderFields {
    get { box?.rest.fields ?? [:] }
    set { change { $0.fields = newValue } }
  }

  /// A stable name for whose answer this is ("user 4711"), so that the next run finds it again when the token changed.
  public var credentialScope: String? {
    get { box?.rest.credentialScope }
    set { change { $0.credentialScope = newValue } }
  }

  /// How long a stored answer may be used; nil: as the manager's policy says.
  public var freshness: Freshness? {
    get { box?.rest.freshness }
    set { change { $0.freshness = newValue } }
  }

  /// Bodies of more bytes end the request with `.tooLarge`; nil: no limit of the request's own.
  public var limitBytes: Int? {
    get { box?.rest.limitBytes }
    set { change { $0.limitBytes = newValue } }
  }

  /// Time for the whole load, retries and waiting for a transfer slot included; nil: as the manager's policy says.
  public var timeout: Duration? {
    get { box?.rest.timeout }
    set { change { $0.timeout = newValue } }
  }

  /// What most requests do not say. Apart, since each waiting task, seat and ending has a request of its own.
  private struct Rest: Sendable {
    var namespace = ""
    var fields: HeaderFields = [:]
    var credentialScope: String?
    var freshness: Freshness?
    var limitBytes: Int?
    var timeout: Duration?
  }

  private final class RestBox: Sendable {
    let rest: Rest
    init(_ rest: Rest) { self.rest = rest }
  }

  /// Nothing is said but what the object is called, where it is, and how soon it is wanted.
  var isPlain: Bool { box == nil && mode == .standard }

  private mutating func change(_ body: (inout Rest) -> Void) {
    var rest = box?.rest ?? Rest()
    body(&rest)
    box = RestBox(rest)
  }

  /// Never fails: a text that is no URL arrives as the ending `.invalidURL`.
  public init(_ text: String, oid: String? = nil) {
    locations = [text]
    self.oid = oid
  }

  public init(_ url: URL, oid: String? = nil) { self.init(url.absoluteString, oid: oid) }

  public init(oid: String, mirrors: [URL]) {
    locations = mirrors.map(\.absoluteString)
    self.oid = oid
  }

  /// The locations that Foundation can read as URLs.
  public var urls: [URL] { locations.compactMap { URL(string: $0) } }

  /// What is shared and cached; nil: neither a usable oid nor a URL.
  public var id: ObjectID? {
    if let oid { return oid.isEmpty ? nil : ObjectID(oid, namespace: namespace) }
    guard let first = locations.first, case .success(let location) = URLRule.parse(first) else { return nil }
    return ObjectID(location.key, kind: .url, namespace: namespace)
  }
}

/// The cache modes of fetch() (https://fetch.spec.whatwg.org/#concept-request-cache-mode).
public enum CacheMode: String, Sendable, CaseIterable {
  /// Stored and fresh: used. Stale: revalidated. Else loaded.
  case standard = "default"
  /// Neither reads nor writes any cache.
  case noStore = "no-store"
  /// Loads without looking, then stores.
  case reload
  /// Revalidates what is stored, however fresh; but for a fresh answer that says `immutable` (RFC 8246).
  case noCache = "no-cache"
  /// Uses what is stored, however stale; loads what is not.
  case forceCache = "force-cache"
  /// Uses what is stored, however stale; never loads: a miss ends with `.notCached`.
  case onlyIfCached = "only-if-cached"
}

/// How long a stored answer may be used without asking the server.
public enum Freshness: Hashable, Sendable {
  /// As the response says (RFC 9111).
  case http
  /// For ever: an id never changes its bytes.
  case immutable
  /// For this long after it was received or revalidated, whatever the response says.
  case ttl(Duration)
}

public enum LoadPriority: Int, Sendable, Comparable, CaseIterable {
  case veryLow, low, normal, high, veryHigh

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
