import Foundation
import TestSupport

@testable import ManagedObjects

/// The two ways to ask for the same: an object, or the HTTP answer. What HTTP says binds both.
enum Face: CaseIterable, Sendable { case object, response }

/// What came, whichever way it was asked for.
struct FaceAnswer: Sendable {
  let text: String
  let source: ObjectSource
  let reason: AnswerReason
  let head: LoadHead
}

/// A room whose time is turned by hand, and managers that try once and remember no failure.
struct FacesRoom {
  let room: StoryRoom
  let time = ManualClock()

  init() throws { room = try StoryRoom() }

  var server: LoopbackServer { room.server }

  /// With an empty memory, on the one folder.
  func manager(_ freshness: Freshness = .http) throws -> ObjectManager {
    var policy = Policy()
    policy.retry = .never
    policy.failureMemory = .none
    policy.freshness = freshness
    return ObjectManager(
      loaders: [CurlLoader()], cache: try FileCache(folder: room.cacheFolder), policy: policy, time: time)
  }

  func ask(
    _ face: Face, _ path: String, _ fields: HeaderFields = [:], by manager: ObjectManager,
    mode: CacheMode = .standard
  ) async throws -> FaceAnswer {
    switch face {
    case .object:
      var request = room.request(path)
      (request.fields, request.mode) = (fields, mode)
      let answer = try await manager.answer(for: request, decodedBy: .data)
      await manager.settle()
      return FaceAnswer(
        text: String(decoding: answer.object, as: UTF8.self), source: answer.source, reason: answer.reason,
        head: answer.head)
    case .response:
      var request = LoadRequest(location: server.url(path), fields: fields)
      request.mode = mode
      let response = try await manager.response(to: request)
      return FaceAnswer(
        text: String(decoding: try response.data(), as: UTF8.self), source: response.source, reason: response.reason,
        head: response.head)
    }
  }

  /// By a manager of its own, as another process would.
  func ask(
    _ face: Face, _ path: String, _ fields: HeaderFields = [:], mode: CacheMode = .standard
  ) async throws -> FaceAnswer {
    try await ask(face, path, fields, by: manager(), mode: mode)
  }
}
