internal import FoundationEssentials
internal import ManagedObjects

/// The run of `mobj get`.
///
/// One task does all the talking: it takes what its children tell (a line of the list, the end of a job, a tick), keeps
/// at most `--jobs` jobs on their way, and alone writes to the outputs. Of a list it holds one piece ahead.
struct Get {
  private let options: GetOptions
  private let fetch: Fetch
  private let loaderExecutor: any TaskExecutor
  private let list: InputLines?
  private let scoreboard: Scoreboard
  private let bodyOutput: BodyOutput
  private let start: ContinuousClock.Instant
  private var console: Console
  private var summary = Summary()
  private var names = OutputNames()
  private var failedLines = FailedLines()
  private var failedFile: FailedFile?
  /// The URLs of the command line that have not begun.
  private var urls: ArraySlice<String>
  /// Lines of the list that have not begun.
  private var lines: ArraySlice<InputLine> = []
  private var begun = 0
  private var running = 0
  private var isReading = false
  private var hasListEnded = false
  private var hasListFailed = false
  private var isInterrupted = false

  /// - Throws: where the list or an output cannot be opened.
  init(_ options: GetOptions, environment: [String: String]) throws(UsageError) {
    self.options = options
    start = .now
    urls = options.urls[...]
    list = try Self.open(options.input)
    bodyOutput = try Self.openOutput(options)
    failedFile = try Self.openFailed(options.failed)
    console = Console(showsProgress: !options.quiet, environment: environment, startedAt: start)
    let cache = CacheFolder.open(options, in: environment)
    if let warning = cache.warning { console.warn(warning) }
    fetch = Fetch(manager: ObjectManager(cache: cache.backend, policy: Self.policy(options)), options: options)
    loaderExecutor = fetch.manager.loaderExecutor
    let weight = Self.expectedWeight(options, list)
    scoreboard = Scoreboard(ProgressMeter(expectedWeight: weight, startedAt: start))
  }

  /// Runs to the end, or until interrupted. - Returns: the exit status.
  mutating func run(until interrupt: Interrupt) async -> Int32 {
    let faults = fetch.manager.cacheFaults()
    let interruption = interrupt.arrival
    await withTaskGroup(of: Step.self) { group in
      group.addTask { await Step.firstFault(in: faults) }
      group.addTask { await Step.interruption(interruption) }
      if !options.quiet { group.addTask { await Step.tick() } }
      begin(&group)
      while !isOver, let step = await group.next() { take(step, &group) }
      list?.stop()
      group.cancelAll()
      // What was still on its way is given up; what became whole meanwhile counts, and so does a warning.
      for await step in group {
        switch step {
        case .jobEnded, .cacheFailed: take(step, &group)
        case .lines(let read): lines = read[...]
        default: break
        }
      }
    }
    return await finish()
  }

  private var isOver: Bool { isStopping || hasListEnded && running == 0 }
  private var isStopping: Bool { isInterrupted || console.outputFault != nil }

  private mutating func take(_ step: Step, _ group: inout TaskGroup<Step>) {
    switch step {
    case .lines(let lines):
      isReading = false
      self.lines = lines[...]
    case .listEnded: endList()
    case .listBroken(let fault):
      console.note("mobj: \(options.input ?? "") cannot be read: \(fault.text)")
      hasListFailed = true
      endList()
    case .jobEnded(let job, let outcome, let body): end(job, outcome, body)
    case .cacheFailed(let error): console.warn(error.message)
    case .ticked:
      let now = ContinuousClock.now
      console.show(scoreboard.read(at: now), at: now)
      group.addTask { await Step.tick() }
    case .interrupted: isInterrupted = true
    case .nothing: break
    }
    begin(&group)
  }

  // MARK: Jobs

  /// Begins jobs while there is room: the command line's URLs first, then the lines of the list.
  private mutating func begin(_ group: inout TaskGroup<Step>) {
    while !isStopping, running < options.jobs, let line = nextLine() { begin(line, &group) }
    guard !isStopping, running < options.jobs, !isReading, !hasListEnded else { return }
    guard let list else { return endList() }
    isReading = true
    group.addTask { await Step.nextLines(of: list) }
  }

  private mutating func nextLine() -> InputLine? {
    guard let url = urls.popFirst() else { return lines.popFirst() }
    return InputLine(url: url, problem: nil, weight: Self.weight(of: url))
  }

  private mutating func begin(_ line: InputLine, _ group: inout TaskGroup<Step>) {
    let job = begun
    begun += 1
    running += 1
    if failedFile != nil { failedLines.began(job, line) }
    scoreboard.began(job, weight: line.weight)
    let target = target(for: line)
    let progress = progress(of: job)
    // Until it waits for the network it runs here: there is nothing to be handed to another thread.
    // It is woken where its load ends, which spares another thread.
    group.addImmediateTask(executorPreference: loaderExecutor) { [fetch] in
      let ended = await fetch.run(line, target: target, progress: progress)
      return .jobEnded(job, ended.outcome, body: ended.body)
    }
  }

  /// nil: it is shown to nobody.
  private func progress(of job: Int) -> (@Sendable (LoadProgress) -> Void)? {
    if options.quiet { return nil }
    return { [scoreboard] in scoreboard.progressed(job, to: $0) }
  }

  private mutating func target(for line: InputLine) -> Fetch.Target {
    switch options.output {
    case .standardOutput: .body
    case .file(let path): if case .device = bodyOutput { .body } else { .file(path) }
    case .folder(let path): .file((path.hasSuffix("/") ? path : path + "/") + names.name(for: line.url))
    case .cacheOnly: .cacheOnly
    }
  }

  private mutating func end(_ job: Int, _ outcome: Outcome, _ body: Loaded?) {
    var outcome = outcome
    if let body {
      do throws(ObjectError) { try bodyOutput.write(body, &console) } catch { outcome.error = error }
    }
    running -= 1
    scoreboard.finished(job, outcome)
    summary.add(outcome)
    failedFile?.write(failedLines.ended(job, failed: outcome.error != nil))
    if options.json {
      console.output(JSONLine.text(outcome))
    } else if let error = outcome.error, !outcome.isGivenUp, !isOfOutput(error) {
      console.note("mobj: \(redacted(outcome.url)): \(error.message)")
    }
  }

  /// What is wrong with standard output is told once, at the end.
  private func isOfOutput(_ error: ObjectError) -> Bool { error.code == .outputFailed && console.outputFault != nil }

  private mutating func endList() {
    isReading = false
    hasListEnded = true
    scoreboard.listEnded()
  }

  // MARK: The end

  private mutating func finish() async -> Int32 {
    console.clearBar()
    if let fault = console.outputFault, fault != .brokenPipe {
      console.note("mobj: standard output cannot be written: \(fault.text)")
    }
    await finishFailed()
    if let fault = failedFile?.fault {
      console.note("mobj: --failed \(options.failed ?? "") cannot be written: \(fault.text)")
    }
    // Whoever closed the pipe wants to hear no more.
    if !options.quiet, console.outputFault != .brokenPipe { console.note(summary.text(took: .now - start)) }
    await fetch.manager.settle(atMost: .seconds(1))
    fetch.manager.shutdown()
    if isInterrupted { return Interrupt.exitStatus }
    let hasFailed = summary.failed > 0 || hasListFailed || console.outputFault != nil || failedFile?.fault != nil
    return hasFailed ? 1 : 0
  }

  /// What an early end has left undone has not failed yet, but who goes on with the lines that failed wants it too; and the
  /// list may be the very file that they replace.
  private mutating func finishFailed() async {
    guard failedFile != nil else { return }
    do throws(Descriptor.Fault) {
      if isStopping || hasListFailed { try await writeRest() }
      failedFile?.finish()
    } catch {
      failedFile?.abandon()
      console.note(
        "mobj: --failed \(options.failed ?? "") would not be whole, and what was there stays: the rest of "
          + "\(options.input ?? "") cannot be read: \(error.text)")
    }
  }

  private mutating func writeRest() async throws(Descriptor.Fault) {
    while let line = nextLine() { failedFile?.write(FailedLines.text(of: line)) }
    while let list, failedFile?.fault == nil {
      let lines = try await list.rest()
      if lines.isEmpty { return }
      failedFile?.write(lines.flatMap(FailedLines.text))
    }
  }
}

// MARK: Before the run

extension Get {
  /// Ready objects are of little use to a run that asks once for each: those of repeated URLs, for a moment.
  private static let limitMemoryCost = 4 << 20

  private static func policy(_ options: GetOptions) -> Policy {
    var policy = Policy()
    policy.limitTransfers = options.jobs
    policy.limitTransfersPerHost = min(options.jobs, options.jobsPerHost)
    if let tries = options.tries {
      policy.retry.limitTries = tries
      // Whoever counts the tries is not to be stopped by the clock; --timeout is there for that.
      policy.retry.limitTime = max(policy.retry.limitTime, .seconds(120 * tries))
    }
    policy.limitLiveHandlers = max(options.jobs, policy.limitLiveHandlers)
    policy.limitMemoryCost = limitMemoryCost
    return policy
  }

  private static func open(_ input: String?) throws(UsageError) -> InputLines? {
    guard let input else { return nil }
    do throws(Descriptor.Fault) { return try InputLines(path: input) } catch {
      throw UsageError("--input cannot read \(input): \(error.text)")
    }
  }

  private static func openFailed(_ path: String?) throws(UsageError) -> FailedFile? {
    guard let path else { return nil }
    do throws(Descriptor.Fault) { return try FailedFile(path: path) } catch {
      throw UsageError("--failed cannot write \(path): \(error.text)")
    }
  }

  private static func openOutput(_ options: GetOptions) throws(UsageError) -> BodyOutput {
    switch options.output {
    case .file(let path) where Descriptor.isSpecial(path):
      do throws(Descriptor.Fault) { return .device(try .open(path, forWriting: true)) } catch {
        throw UsageError("-o cannot write \(path): \(error.text)")
      }
    case .folder(let path):
      do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
        throw UsageError("--output-dir cannot make \(path)")
      }
      return .standardOutput
    default: return .standardOutput
    }
  }

  /// Every URL weighs what its line does; nil: how long the list is, nobody knows.
  private static func expectedWeight(_ options: GetOptions, _ list: InputLines?) -> Int? {
    let given = options.urls.reduce(0) { $0 + weight(of: $1) }
    guard let list else { return given }
    return list.bytesToRead.map { $0 + given }
  }

  private static func weight(of url: String) -> Int { url.utf8.count + 1 }
}
