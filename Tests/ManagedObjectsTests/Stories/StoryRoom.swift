import Foundation
import TestSupport

@testable import ManagedObjects

/// What most stories need: a server on loopback, a cache folder, and managers on both.
struct StoryRoom {
  let server: LoopbackServer
  let folder: TemporaryFolder
  let kind: FileCacheTests.Kind

  init(_ kind: FileCacheTests.Kind = .file) throws {
    self.kind = kind
    server = try LoopbackServer()
    folder = try TemporaryFolder("story")
  }

  var cacheFolder: URL { folder.url.appending(path: "cache") }

  /// A manager as a new process would have it: empty memory, the same folder.
  func manager(_ change: (inout Policy) -> Void = { _ in }) throws -> ObjectManager {
    var policy = Policy()
    policy.retry.firstDelay = .milliseconds(1)
    change(&policy)
    return ObjectManager(cache: try kind.open(at: cacheFolder), policy: policy)
  }

  /// Without retries and without remembering failures.
  func strictManager() throws -> ObjectManager {
    try manager {
      $0.retry = .never
      $0.failureMemory = .none
    }
  }

  func memoryManager(_ change: (inout Policy) -> Void = { _ in }) -> ObjectManager {
    var policy = Policy()
    policy.retry = .never
    policy.failureMemory = .none
    change(&policy)
    return ObjectManager(policy: policy)
  }

  func request(_ path: String) -> ObjectRequest { ObjectRequest(server.url(path)) }

  /// Large files of the cache folder: bodies and heads, without what belongs to the folder itself.
  var entryFiles: [String] {
    folder.names.filter { $0.hasPrefix("cache/") && $0.split(separator: "/").count == 3 && !$0.contains("/temp/") }
  }
}

extension FileCacheTests.Kind {
  /// As a program opens it.
  func open(at folder: URL, _ limits: CacheLimits = CacheLimits()) throws -> any StoredCache {
    switch self {
    case .file: try FileCache(folder: folder, limits: limits)
    case .big: try BigFileCache(folder: folder, limits: limits)
    }
  }
}

func failure<Success>(_ body: () async throws -> Success) async -> ObjectError? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? ObjectError }
}

let hour: KeyValuePairs<String, String> = ["Cache-Control": "max-age=3600"]
