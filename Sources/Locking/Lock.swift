// The one lock of the library, public because users keep their own state in it (see `ManagedUserBase`).
//
// `Synchronization.Mutex` is a futex that the thread sanitizer does not see on Linux: correct code reports races.
// The sanitizer's run therefore sets THREAD_SANITIZER and gets a pthread mutex, which it does see.
#if THREAD_SANITIZER
  internal import Glibc

  /// A value that only one thread at a time may touch.
  ///
  /// Sound although unchecked: `value` is reached only between lock and unlock of the mutex in the same cell,
  /// and the cell has no other owner than this noncopyable value.
  @safe public struct Lock<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @safe private final class Cell {
      let handle = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      var value: Value

      init(_ value: consuming Value) {
        self.value = value
        unsafe pthread_mutex_init(handle, nil)
      }

      deinit {
        unsafe pthread_mutex_destroy(handle)
        unsafe handle.deallocate()
      }
    }

    private let cell: Cell

    public init(_ value: consuming sending Value) { cell = Cell(value) }

    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      unsafe pthread_mutex_lock(cell.handle)
      defer { unsafe pthread_mutex_unlock(cell.handle) }
      return try body(&cell.value)
    }
  }
#else
  public import Synchronization

  /// A value that only one thread at a time may touch.
  ///
  /// Never hold it across a callback, I/O or `await`. What leaves it must outlive it, since a release build may free a
  /// value, and run its deinit, before the lock is let go:
  ///
  ///     let old = lock.withLock { value in let old = value; value = []; return old }
  ///     withExtendedLifetime(old) {}
  public struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>

    @inlinable public init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Runs `body` with the value, while no other thread has it. Not recursive.
    @inlinable public borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  }
#endif
