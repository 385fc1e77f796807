import Foundation
import ManagedObjects

/// How many words a text has.
///
/// A final class that conforms to `ManagedUser` by itself. Each request ends exactly once; here the endings become an
/// asynchronous sequence, which is one way to wait for them.
final class WordCount: ManagedUser {
  let endings: AsyncStream<Ending<Int>>
  private let sayEnded: AsyncStream<Ending<Int>>.Continuation

  init() { (endings, sayEnded) = AsyncStream.makeStream() }

  /// Called once for all users of this class that want the same text: they share the number.
  func readyFromLoaded(_ loaded: Loaded) throws -> Int {
    String(decoding: try loaded.data(), as: UTF8.self).split(whereSeparator: \.isWhitespace).count
  }

  func ended(_ ending: Ending<Int>) { sayEnded.yield(ending) }
}
