/// What `mobj cache` is to do: a value, whole and free of contradictions.
struct CacheOptions: Equatable {
  enum Verb: String, CaseIterable { case stat, list, verify, trim, clear, remove }

  var verb = Verb.stat
  var folder = ""
  /// URLs and ids to remove.
  var names: [String] = []
  var json = false
  var quiet = false
  /// Remove what is found damaged.
  var repairs = false
  /// What to trim to; nil: no such limit.
  var limitBytes: Int?
  var limitEntries: Int?
  var limitAge: Duration?
  /// Trim to this part of the bytes that are there, in percent; nil: not asked for.
  var limitPercent: Int?
}
