// curl.h is the first here to include the thread types of the C library, so to the compiler they are of its module.
internal import CCurl
internal import Glibc

/// Starts the thread of an engine. It is joined by `EngineThreads`, which it must enter and leave.
enum EngineThread {
  /// False: the system has no thread to give.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, nil,
      { box in
        guard let box = unsafe box else { return nil }
        EngineThread.blockSignals()
        // The body is let go before the thread ends.
        unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run()
        return nil
      }, box)
    if error != 0 { unsafe Unmanaged<Body>.fromOpaque(box).release() }
    return error == 0
  }

  static var current: UInt { UInt(pthread_self()) }

  static func join(_ thread: UInt) { _ = pthread_join(pthread_t(thread), nil) }

  /// Never comes back; the end of the process ends it.
  static func rest() -> Never { while true { pause() } }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// SIGPIPE, which a write to a closed connection would raise, and all others, which belong to the program's threads.
  private static func blockSignals() {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}
