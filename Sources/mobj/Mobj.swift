internal import CMalloc
internal import FoundationEssentials
internal import Glibc

/// The command line tool. `HelpText` says what it does.
@main
struct Mobj {
  static func main() async {
    keepFreedMemory()
    Descriptor.reserveStandardNumbers()
    // A reader that goes away is seen as an error of the write.
    signal(SIGPIPE, SIG_IGN)
    exit(await status(of: Array(CommandLine.arguments.dropFirst())))
  }

  /// libcurl takes and gives back its buffers for each transfer. Unless told otherwise the C library returns such memory to
  /// the system at once, and for the next transfer has it back page by page, each with a fault (mallopt(3)): a seventh
  /// of the time that many files of some 100 KiB take. For a program to decide, and for no library.
  private static func keepFreedMemory() {
    mallopt(M_MMAP_THRESHOLD, 4 << 20)
    mallopt(M_TRIM_THRESHOLD, 64 << 20)
    mallopt(M_TOP_PAD, 1 << 20)
  }

  private static func status(of words: [String]) async -> Int32 {
    do throws(UsageError) {
      switch try Arguments.parse(words) {
      case .help(let topic): return show(HelpText.screen(topic))
      case .version: return show(HelpText.version)
      case .get(let options):
        Descriptor.raiseLimit(for: options.jobs)
        var get = try Get(options, environment: ProcessInfo.processInfo.environment)
        return await get.run(until: Interrupt())
      case .cache(let options):
        return CacheRun.status(of: options, environment: ProcessInfo.processInfo.environment, until: Interrupt())
      case .explain(let options):
        return ExplainRun.status(of: options, environment: ProcessInfo.processInfo.environment)
      }
    } catch {
      let topic = words.first.flatMap { ["get", "cache", "explain"].contains($0) ? "\($0) " : nil } ?? ""
      try? Descriptor.standardError.write(Console.shown("mobj: \(error.message)") + "\nTry 'mobj \(topic)--help'.\n")
      return 2
    }
  }

  private static func show(_ text: String) -> Int32 {
    do throws(Descriptor.Fault) { try Descriptor.standardOutput.write(text + "\n") } catch {
      return error == .brokenPipe ? 0 : 1
    }
    return 0
  }
}
