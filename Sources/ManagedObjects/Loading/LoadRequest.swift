public import FoundationEssentials

/// One load, as a loader sees it.
public struct LoadRequest: Sendable {
  /// The exact text to send; for http and https in the form that `URLRule` made of it.
  public var location: String { didSet { read = nil } }
  /// The location, where it has been read already.
  private(set) var read: URLRule.Location?
  public var method = "GET"
  public var fields: HeaderFields
  public var body: Data?
  public var redirectMode = RedirectMode.follow
  /// Names of fields that, like Authorization and Cookie, must not be sent on when a redirect leaves the origin: the
  /// manager's `Policy.secretFields`.
  public var secretFields: Set<String> = []
  /// What a cache may do for it; loaders have no use for it.
  public var mode = CacheMode.standard
  /// Whose answer it is, as in `ObjectRequest.credentialScope`; nil: told by the secret fields.
  public var credentialScope: String?
  /// More bytes of body, after decoding, are not wanted; nil: no limit.
  public var limitBytes: Int?

  public init(location: String, fields: HeaderFields = [:], limitBytes: Int? = nil) {
    self.location = location
    self.fields = fields
    self.limitBytes = limitBytes
  }

  init(read location: URLRule.Location, fields: HeaderFields, limitBytes: Int?) {
    self.init(location: location.text, fields: fields, limitBytes: limitBytes)
    read = location
  }

  /// Whether it is for the network, by the form that `URLRule` gives such a location.
  var isHTTP: Bool { read?.isHTTP ?? URLRule.isHTTP(location) }

  /// The location for code that speaks Foundation; nil where Foundation cannot read it.
  public var url: URL? { URL(string: location) }
}

/// The redirect modes of fetch().
public enum RedirectMode: Sendable {
  case follow
  /// The 3xx response itself is the answer.
  case manual
  /// A redirect ends the load as a failure.
  case refuse
}
