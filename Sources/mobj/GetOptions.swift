internal import ManagedObjects

/// What `mobj get` is to do: a value, whole and free of contradictions.
struct GetOptions: Equatable {
  /// Where bodies go.
  enum Output: Equatable {
    case standardOutput
    case file(String)
    case folder(String)
    /// Nowhere: only the cache is filled.
    case cacheOnly
  }

  enum Backend: String, CaseIterable { case file, big, none }

  /// The URLs of the command line, in order; those of the list follow.
  var urls: [String] = []
  /// A file with a URL a line; "-" is standard input.
  var input: String?
  /// Where the lines go that failed, for another try; "-" is standard output.
  var failed: String?
  var output = Output.standardOutput
  /// Overwrite what exists.
  var force = false
  var json = false
  var quiet = false
  /// nil: the user's cache folder, see `CacheFolder`.
  var cacheFolder: String?
  var backend = Backend.file
  var mode = CacheMode.standard
  var fields: HeaderFields = [:]
  /// Objects on their way at once, 1...1024.
  var jobs = 64
  /// Transfers from one host at once, 1...1024.
  var jobsPerHost = Policy().limitTransfersPerHost
  /// Tries for each object, 1...100; nil: as `Policy` has it.
  var tries: Int?
  var timeout: Duration?
  var limitBytes: Int?
}

/// What a command line asks for.
enum Command: Equatable {
  case help(HelpText.Topic)
  case version
  case get(GetOptions)
  case cache(CacheOptions)
  case explain(ExplainOptions)
}

/// A command line that cannot be obeyed. The message names the word at fault, and the right one where it can be guessed.
struct UsageError: Error, Equatable {
  let message: String

  init(_ message: String) { self.message = message }
}
