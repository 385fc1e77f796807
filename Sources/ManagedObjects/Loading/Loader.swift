public import FoundationEssentials

/// Where bytes come from. What it delivers is checked like a bad server's: a lie ends the load as a failure.
public protocol Loader: Sendable {
  /// Whether this loader can load the URL; the first loader that can is asked.
  func accepts(_ url: URL) -> Bool

  /// Starts a load and returns at once. Head, bytes and end go into the sink, from one thread at a time.
  func start(_ request: LoadRequest, into sink: LoadSink) -> LoadStop
}

/// How the manager calls a load off. Calling it after the end does nothing.
public struct LoadStop: Sendable {
  private let load: any StoppableLoad

  public init(_ stop: @escaping @Sendable () -> Void) { load = CalledStop(stop) }

  init(_ load: any StoppableLoad) { self.load = load }

  func stop() { load.stop() }
}

/// A load that needs no closure to be called off.
protocol StoppableLoad: AnyObject, Sendable {
  func stop()
}

private final class CalledStop: StoppableLoad {
  private let call: @Sendable () -> Void
  init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  func stop() { call() }
}

/// A loader written as one async function: returning is the end, throwing is failure, task cancellation is the stop.
public protocol AsyncLoader: Loader {
  func load(_ request: LoadRequest, into sink: LoadSink) async throws
}

extension AsyncLoader {
  public func start(_ request: LoadRequest, into sink: LoadSink) -> LoadStop {
    let task = Task {
      do {
        try await load(request, into: sink)
        sink.finish()
      } catch {
        sink.fail(
          error as? ObjectError ?? ObjectError(.transport, "The loader failed: \(error).", underlying: error))
      }
    }
    return LoadStop { task.cancel() }
  }
}

/// Steps around every load. Both have defaults that let everything pass.
public protocol Interceptor: Sendable {
  /// Before each attempt: change the request, answer it, or refuse it.
  func willLoad(_ request: LoadRequest) async throws -> LoadVerdict

  /// When the final head is here; nothing is committed or delivered before the verdict.
  /// - Parameter attempt: counts from 1.
  func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict
}

extension Interceptor {
  public func willLoad(_ request: LoadRequest) async throws -> LoadVerdict { .load(request) }
  public func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict {
    .accept
  }
}

public enum LoadVerdict: Sendable {
  case load(LoadRequest)
  case answer(LoadHead, Data)
  case refuse(String)
}

public enum HeadVerdict: Sendable {
  case accept
  /// Drop this response and load once more with this request.
  case retry(LoadRequest)
  case refuse(String)
}
