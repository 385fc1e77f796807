import Foundation
import ManagedObjects

/// Comma-separated values, as rows of cells.
///
/// A subclass of `ManagedUserBase` says how bytes become its object, and overrides what it wants to hear of. It restates
/// `@unchecked Sendable`, and keeps variables of its own in a `Lock`, since its callbacks come on threads of the library.
final class Table: ManagedUserBase<[[Substring]]>, @unchecked Sendable {
  enum Misread: Error { case tabs }

  /// What happens to this table, in words.
  let news: AsyncStream<String>
  private let say: AsyncStream<String>.Continuation
  private let longestRow = Lock(0)

  init(url: String) {
    (news, say) = AsyncStream.makeStream()
    super.init(url: url)
  }

  /// Cells in the longest row.
  var columns: Int { longestRow.withLock { $0 } }

  override func readyFromLoaded(_ loaded: Loaded) throws -> [[Substring]] {
    let text = String(decoding: try loaded.data(), as: UTF8.self)
    // Whatever is thrown reaches the user as a failure with the code `.undecodable`.
    if text.contains("\t") { throw Misread.tabs }
    return text.split(separator: "\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
  }

  override func ready(_ rows: [[Substring]]) {
    let longest = rows.map(\.count).max() ?? 0
    longestRow.withLock { $0 = longest }
    say.yield("\(rows.count) rows")
  }

  override func failed(_ error: ObjectError) { say.yield("failed: \(error.code.rawValue)") }
  override func cancelled(_ reason: CancelReason) { say.yield("cancelled: \(reason.rawValue)") }
}
