internal import ManagedObjects

/// How one URL ended.
struct Outcome: Sendable {
  /// As the user gave it.
  var url: String
  /// Name under which the object is cached; nil where the URL cannot be read.
  var id: String?
  /// nil: it failed.
  var source: ObjectSource?
  /// Why it came from there; nil: it failed.
  var reason: AnswerReason?
  /// Of the response, where one came.
  var status: Int?
  /// Length of the body.
  var bytes = 0
  var duration = Duration.zero
  var error: ObjectError?
  /// nil: nothing was asked of a server.
  var timings: LoadTimings?
  /// The file that was written.
  var file: String?

  /// Interrupted: neither good nor to be reported as a failure.
  var isGivenUp: Bool { error?.code == .cancelled }
}
