// curl.h is the first here to include the thread types of the C library, so to the compiler they are of its module.
internal import CCurl
internal import Glibc

/// A thread that nobody joins.
enum EngineThread {
  /// False: the system has no thread to give.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let error = unsafe pthread_create(
      &thread, &attributes,
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
