/// Runs tasks on the thread that loads, between its looks at what has come: a task that only waits for loads is then
/// woken where they end, and no thread has to wake another.
///
/// For tasks that never block, since transfers stand still meanwhile, and managers that have such a thread.
final class LoaderExecutor: TaskExecutor {
  private let core: Core

  init(_ core: Core) { self.core = core }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    core.onLoaderThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
