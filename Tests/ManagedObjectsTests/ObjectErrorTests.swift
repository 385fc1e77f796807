import Foundation
import Testing

@testable import ManagedObjects

struct ObjectErrorTests {
  @Test(arguments: [CancelReason.left, .bumped, .superseded, .closed])
  func `a cancellation names its reason and says a sentence`(reason: CancelReason) {
    let error = ObjectError(reason)
    #expect(error.code == .cancelled && error.reason == reason)
    #expect(error.message.hasSuffix(".") && error.head == nil && error.bodyStart.isEmpty)
    #expect(error.description == "cancelled: \(error.message)")
  }

  @Test func `only a cancellation has a reason`() {
    let error = ObjectError(.httpStatus, "No.", head: LoadHead(status: 404), bodyStart: Data([1]))
    #expect(error.reason == nil && error.head?.status == 404 && error.bodyStart == Data([1]))
    #expect(error.description == "httpStatus: No.")
  }

  @Test func `what a backend throws is ours as it is, anything else a broken cache`() {
    #expect(ObjectError(cacheFault: ObjectError(.tooLarge, "x")).code == .tooLarge)
    let error = ObjectError(cacheFault: Broken())
    #expect(error.code == .cacheBroken && error.underlying is Broken)
  }

  @Test func `an ending gives its object or throws what it ended with`() throws {
    let request = ObjectRequest("mem:a")
    #expect(try Ending(request: request, outcome: .ready(1, .file)).get() == 1)
    let failed = Ending<Int>(request: request, outcome: .failed(ObjectError(.timedOut, "x")))
    #expect(throws: ObjectError.self) { try failed.get() }
    let left = Ending<Int>(request: request, outcome: .cancelled(.left))
    do throws(ObjectError) { _ = try left.get() } catch { #expect(error.reason == .left) }
    #expect(left.object == nil && failed.object == nil)
  }

  @Test func `progress is never negative and its fraction never above one`() {
    #expect(LoadProgress(receivedBytes: -1, expectedBytes: -1) == LoadProgress(receivedBytes: 0, expectedBytes: nil))
    #expect(LoadProgress(receivedBytes: 3, expectedBytes: 2).fraction == 1)
    #expect(LoadProgress(receivedBytes: 0, expectedBytes: 0).fraction == 1)
    #expect(LoadProgress(receivedBytes: 1, expectedBytes: nil).fraction == nil)
  }
}
