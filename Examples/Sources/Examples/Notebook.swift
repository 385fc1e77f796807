import Foundation
import ManagedObjects

/// Texts by name, collected by an actor: `received` runs isolated to it, so no lock is needed.
actor Notebook: ActorUser {
  private let manager: ObjectManager
  private(set) var pages: [String: String] = [:]
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ manager: ObjectManager) { self.manager = manager }

  /// Asks for a text and waits until it is here, or could not be had. A new request takes the place of the last one.
  func write(_ name: String) async {
    manager.manage(self, for: ObjectRequest("echo:\(name)", oid: name))
    // Answered from memory, the page is here already.
    if pages[name] == nil { await withCheckedContinuation { waiting.append($0) } }
  }

  /// On the decode pool, not on the actor: it may take its time.
  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }

  func received(_ ending: Ending<String>) {
    if let name = ending.request.oid { pages[name] = ending.object ?? "(missing)" }
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}
