internal import ManagedObjects

/// What the run's task is told by its children, one each.
enum Step: Sendable {
  case lines([InputLine])
  case listEnded
  case listBroken(Descriptor.Fault)
  case jobEnded(Int, Outcome, body: Loaded?)
  case cacheFailed(ObjectError)
  case ticked
  case interrupted
  /// A child had nothing to tell before it was called off.
  case nothing

  static func nextLines(of list: InputLines) async -> Step {
    do throws(Descriptor.Fault) {
      let lines = try await list.next()
      return lines.isEmpty ? .listEnded : .lines(lines)
    } catch {
      return .listBroken(error)
    }
  }

  static func tick() async -> Step {
    do { try await Task.sleep(for: ProgressBar.barEvery) } catch { return .nothing }
    return .ticked
  }

  static func firstFault(in events: AsyncStream<ObjectEvent>) async -> Step {
    for await event in events { if case .cacheFailed(_, let error) = event { return .cacheFailed(error) } }
    return .nothing
  }

  static func interruption(_ arrival: AsyncStream<Void>) async -> Step {
    for await _ in arrival { return .interrupted }
    return .nothing
  }
}
