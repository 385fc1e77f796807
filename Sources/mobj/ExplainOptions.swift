internal import ManagedObjects

/// What `mobj explain` is to do: a value, whole and free of contradictions.
struct ExplainOptions: Equatable {
  enum Backend: String, CaseIterable { case file, big }

  var url = ""
  /// nil: the user's cache folder, see `CacheFolder`.
  var cacheFolder: String?
  /// That the folder must be of; nil: whatever it is.
  var backend: Backend?
  var mode = CacheMode.standard
  var fields: HeaderFields = [:]
  var json = false
}
