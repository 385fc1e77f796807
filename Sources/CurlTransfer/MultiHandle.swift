internal import CCurl
internal import Glibc

/// libcurl's set of running transfers and its connection cache.
///
/// Sound although unchecked: everything but `wake` is called on the engine's thread only, and curl_multi_wakeup(3) may be
/// called from any thread. Whoever wakes holds a reference, so the handle outlives the call.
@safe final class MultiHandle: @unchecked Sendable {
  private let multi: UnsafeMutableRawPointer

  /// - Parameter limitConnections: how many stay open; at least as many as transfers run at once, or libcurl closes and
  ///   reopens connections all the time.
  /// Returns nil where libcurl finds no memory or no descriptor.
  init?(limitConnections: Int) {
    Self.initialiseOnce
    guard let multi = unsafe curl_multi_init() else { return nil }
    unsafe self.multi = unsafe multi
    // Without a descriptor libcurl makes do with a handle that nobody can wake.
    guard unsafe curl_multi_wakeup(multi) == CURLM_OK else { return nil }
    _ = unsafe mo_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, limitConnections)
    _ = unsafe mo_multi_setopt_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    // One HTTP/2 connection is to carry all that runs at once, where the server allows it; libcurl's default is 100.
    _ = unsafe mo_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(100, limitConnections))
  }

  deinit { _ = unsafe curl_multi_cleanup(multi) }

  /// Process-wide, as libcurl has it; later calls by others are counted by libcurl and do no harm.
  ///
  /// Handlers of atexit(3) run in reverse order, so ours runs before those of the libraries that this initialises.
  private static let initialiseOnce: Void = {
    _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    atexit { MultiHandle.threads.freeze() }
  }()

  /// Process-wide too, since exit is.
  static let threads = EngineThreads()

  /// Ends `poll`, or the next one. From any thread.
  func wake() { _ = unsafe curl_multi_wakeup(multi) }

  /// False: libcurl refuses the handle.
  func add(_ easy: EasyHandle) -> Bool { unsafe curl_multi_add_handle(multi, easy.easy) == CURLM_OK }

  /// Drops the transfer; its connection is kept only where the transfer was complete.
  func remove(_ easy: EasyHandle) { _ = unsafe curl_multi_remove_handle(multi, easy.easy) }

  /// Does what can be done without waiting; callbacks run inside.
  func perform() {
    var running: Int32 = 0
    _ = unsafe curl_multi_perform(multi, &running)
  }

  /// The next transfer that ended by itself, with libcurl's code.
  func nextEnded() -> (easy: EasyHandle, code: Int)? {
    var code = CURLE_OK
    guard let easy = unsafe mo_multi_next_ended(multi, &code), let handle = unsafe EasyHandle.find(easy)
    else { return nil }
    return (handle, Int(code.rawValue))
  }

  /// Sleeps until a socket is ready, a time-out of libcurl is due, or `wake` was called.
  func poll(atMost milliseconds: Int32) { _ = unsafe curl_multi_poll(multi, nil, 0, milliseconds, nil) }
}
