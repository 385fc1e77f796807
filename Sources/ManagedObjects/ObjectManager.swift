/// Loads, shares, caches and decodes objects for its users. The front door; see the README for the eight steps.
public final class ObjectManager: Sendable {
  public init(
    loaders: [any Loader] = [], cache: (any CacheBackend)? = nil, interceptors: [any Interceptor] = [],
    policy: Policy = Policy()
  ) {}

  package init(
    loaders: [any Loader], cache: (any CacheBackend)?, interceptors: [any Interceptor] = [], policy: Policy = Policy(),
    time: any TimeSource
  ) {}
}
