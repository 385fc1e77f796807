/// What a server has seen so far.
package struct ServerLog: Sendable {
  /// Requests by path, as soon as head and body were there.
  package var hits: [String: Int] = [:]
  /// The first requests, in order of arrival; see `LoopbackServer.init(limitRecorded:)`.
  package var requests: [Request] = []
  /// Heads that could not be read as a request; the answer was 400.
  package var malformed: [[UInt8]] = []
  package var connectionsOpened = 0
  package var connectionsOpen = 0
  /// Replies that were sent to their end, whatever end that was. Counted when the client may have them already: wait.
  package var finishedReplies = 0
  /// Replies during which the client closed: before all was handed to the kernel, which takes some MB.
  package var abortedReplies = 0
  /// Heads and bodies handed to the kernel, for replies that are over.
  package var sentBytes = 0

  package var allHits: Int { hits.values.reduce(0, +) }
}
