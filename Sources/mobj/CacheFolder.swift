internal import FoundationEssentials
internal import ManagedObjects

/// Where the tool keeps what it got.
enum CacheFolder {
  /// `mobj` in the user's cache folder (XDG Base Directory Specification: relative paths in the variable are ignored).
  /// - Returns: nil where the environment names neither that nor a home.
  static func standard(in environment: [String: String]) -> String? {
    if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/mobj" }
    if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.cache/mobj" }
    return nil
  }

  /// The backend that was asked for; nil: none, and why, where one was asked for.
  static func open(
    _ options: GetOptions, in environment: [String: String]
  ) -> (backend: (any CacheBackend)?, warning: String?) {
    guard options.backend != .none else { return (nil, nil) }
    guard let path = options.cacheFolder ?? standard(in: environment) else {
      return (nil, "neither XDG_CACHE_HOME nor HOME names a folder for a cache; give --cache DIR")
    }
    do throws(ObjectError) {
      let folder = URL(filePath: path, directoryHint: .isDirectory)
      if options.backend == .big { return (try BigFileCache(folder: folder), nil) }
      return (try FileCache(folder: folder), nil)
    } catch {
      return (nil, error.message)
    }
  }
}
