import Foundation
import ManagedObjects
import TestSupport
import Testing

@Suite struct RecordingUserTests {
  @Test func `endings, progress and decodes are kept in order`() async throws {
    let user = RecordingUser.text()
    let loaded = Loaded(id: ObjectID("a"), bytes: Data("hello".utf8))
    #expect(try user.readyFromLoaded(loaded) == "hello")
    #expect(user.memoryCost(of: "hello", from: loaded) == 5)
    user.progressed(LoadProgress(receivedBytes: 1, expectedBytes: 5))
    #expect(user.endings.isEmpty)
    Task {
      user.ended(Ending(request: ObjectRequest("mem:a"), outcome: .ready("hello", .network)))
      user.ended(Ending(request: ObjectRequest("mem:b"), outcome: .cancelled(.bumped)))
    }
    #expect(try await user.object() == "hello")
    #expect(try await user.ending(1).request.locations == ["mem:b"])
    #expect(try await user.progress(1).map(\.receivedBytes) == [1])
    #expect(user.decodes == 1)
  }

  @Test func `users share an object by type and variant`() {
    #expect(RecordingUser.text().representation == RecordingUser.text().representation)
    #expect(RecordingUser.text(variant: "b").representation != RecordingUser.text().representation)
    #expect(RecordingUser.data(variant: "text").representation != RecordingUser.text().representation)
  }
}
