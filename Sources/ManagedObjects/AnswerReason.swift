/// Why an answer came from where it did, by the rule that decided it. The raw values appear in the tool's JSON.
public enum AnswerReason: String, Hashable, Sendable, CaseIterable {
  // From a cache
  /// Stored and fresh, by what `Freshness` goes by.
  case fresh
  /// Stale, but the server allows it to be given while a load in the background asks (RFC 5861 section 3).
  case staleWhileRevalidate = "stale-while-revalidate"
  /// Stale, but the server cannot be reached, or fails (RFC 9111 section 4.2.4, RFC 5861 section 4).
  case staleError = "stale-error"
  /// Stale, as the request allows: by the mode force-cache or only-if-cached, or by max-stale.
  case staleAllowed = "stale-allowed"
  /// The server was asked, and says that what is stored is still good (304).
  case revalidated

  // From the server
  /// Nothing is stored under this name for these credentials.
  case absent = "miss: absent"
  /// What is stored answers other requests only, as its Vary says.
  case varies = "miss: vary"
  /// What is stored is past its time.
  case expired = "miss: expired"
  /// What is stored lies in the future: the clock was ahead when it came, and its age cannot be known.
  case clock = "miss: clock"
  /// What is stored must be asked about each time: it says so, or the request does.
  case noCache = "miss: no-cache"
  /// What is stored was invalidated: by the caller, or by an unsafe method.
  case invalidated = "miss: invalidated"
  /// Nobody could decode what is stored, so the server is asked whether it is still so.
  case undecodable = "miss: undecodable"
  /// Not stored, now or before: response, request or mode say no-store.
  case noStore = "miss: no-store"
  /// The method is none that a cache answers.
  case method = "miss: method"
  /// The mode passes over what is stored.
  case reload

  /// Where what is stored comes from then.
  var storedSource: ObjectSource {
    switch self {
    case .staleWhileRevalidate, .staleError, .staleAllowed: .stale
    case .revalidated: .revalidated
    default: .file
    }
  }
}

extension CacheMode {
  /// Why it is loaded where nothing is found, or nothing is looked for.
  var reasonToLoad: AnswerReason {
    switch self {
    case .noStore: .noStore
    case .reload: .reload
    case .standard, .noCache, .forceCache, .onlyIfCached: .absent
    }
  }
}
