internal import FoundationEssentials
internal import ManagedObjects

/// The run of `mobj explain`: looks, prints, and touches neither the network nor the folder.
enum ExplainRun {
  /// - Returns: the exit status: 1 where nothing is stored for the URL, or it could not be found out.
  static func status(of options: ExplainOptions, environment: [String: String]) -> Int32 {
    var console = Console(showsProgress: false, environment: environment, startedAt: .now)
    do {
      let (text, isStored) = try explain(options, environment)
      console.output(text)
      if let fault = console.outputFault, fault != .brokenPipe {
        console.note("mobj: standard output cannot be written: \(fault.text)")
      }
      if !isStored { console.note("mobj: nothing is stored for \(redacted(options.url))") }
      return isStored && console.outputFault == nil ? 0 : 1
    } catch {
      console.note("mobj: \((error as? ObjectError)?.message ?? "\(error)")")
      return 1
    }
  }

  private static func explain(
    _ options: ExplainOptions, _ environment: [String: String]
  ) throws -> (text: String, isStored: Bool) {
    guard let folder = options.cacheFolder ?? CacheFolder.standard(in: environment) else {
      throw ObjectError(
        .invalidRequest, "Neither XDG_CACHE_HOME nor HOME names a folder for a cache; give --cache DIR.")
    }
    // The URL first: what is wrong with it is wrong with every folder.
    let request = try self.request(options)
    let cache = try ExistingCache.open(
      URL(filePath: folder, directoryHint: .isDirectory), limits: CacheLimits(bytes: nil))
    try check(cache, isOf: options.backend, folder)
    let explanation = try CacheExplanation(of: request, in: cache)
    let report = ExplainReport(explanation, folder: folder, backend: cache.backendName, now: SystemTime().wallNow)
    return (options.json ? report.json : report.text, !explanation.entries.isEmpty)
  }

  private static func request(_ options: ExplainOptions) throws(ObjectError) -> ObjectRequest {
    var request = ObjectRequest(options.url)
    request.fields = options.fields
    request.mode = options.mode
    if case .failure(let refusal) = URLRule.parse(options.url) {
      throw ObjectError(.invalidURL, "“\(redacted(options.url))” is no URL to be loaded. \(refusal.why)")
    }
    return request
  }

  private static func check(
    _ cache: any StoredCache, isOf backend: ExplainOptions.Backend?, _ folder: String
  ) throws(ObjectError) {
    let names: [ExplainOptions.Backend: String] = [.file: "FileCache", .big: "BigFileCache"]
    guard let backend, names[backend] != cache.backendName else { return }
    throw ObjectError(
      .cacheBroken, "The folder \(folder) is of a \(cache.backendName), not of --backend \(backend.rawValue).")
  }
}
