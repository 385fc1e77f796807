internal import FoundationEssentials
internal import Glibc
internal import ManagedObjects
internal import TestSupport

/// Shows what the library does against a server in this process, and checks what it shows. Exit status 1: a claim
/// did not hold.
@main struct Demo {
  private let world: DemoServer
  private let table = Table()
  private let folder: TemporaryFolder

  static func main() async throws {
    let demo = try Demo()
    exit(try await demo.run() ? 0 : 1)
  }

  private init() throws {
    world = try DemoServer(count: 3_000)
    folder = try TemporaryFolder("demo")
  }

  private func run() async throws -> Bool {
    let odd: [(DemoServer.Oddity, String)] = [
      (.slow, "slow"), (.missing, "missing"), (.failsOnce, "failing once"), (.moved, "moved"),
    ]
    let list = odd.map { "\(world.count(of: $0)) \($1)" }.joined(separator: ", ")
    print("\(grouped(world.count)) objects on a server in this process: JSON, gzip, text, binary;\n\(list).\n")
    table.printHead()
    var rows: [Row] = []
    let manager = try makeManager()
    rows.append(try await getAll("Cold load", manager, hits: world.wantedHits))
    rows.append(try await getAll("Again, from memory", manager, hits: 0))
    await manager.settle()
    manager.shutdown()
    let missing = world.count(of: .missing)
    rows.append(
      try await getAll(
        "Again, new manager, from files", try makeManager(), hits: missing,
        note: "The \(missing) missing ones are not stored, so they are asked for again."))
    rows.append(try await scroll(past: 1_000, window: 12))
    rows.append(try await decodeTwice())
    rows.append(try await askByManyNames())
    let holds = rows.allSatisfy(\.holds)
    print(holds ? "\nEvery claim was checked and holds." : "\nNot every claim holds.")
    return holds
  }

  private func makeManager() throws -> ObjectManager {
    var policy = Policy()
    policy.limitMemoryCost = 256 << 20
    policy.limitTransfersPerHost = 32
    policy.retry.firstDelay = .milliseconds(20)
    return ObjectManager(cache: try FileCache(folder: folder.url.appending(path: "cache")), policy: policy)
  }

  // MARK: Steps

  /// Everything once: right objects, a typed error for each missing one, and so many requests.
  private func getAll(_ name: String, _ manager: ObjectManager, hits: Int, note: String? = nil) async throws -> Row {
    try await measure(name, objects: world.count) { row in
      row.note = note
      let bad = await countBad(name, manager)
      row.claims.append(
        .init(text: "every object is right, and every missing one is told (\(bad) are not)", holds: bad == 0))
      return hits
    }
  }

  /// Gets all objects, 128 at a time, and counts those that did not come as they should.
  private func countBad(_ name: String, _ manager: ObjectManager) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      var bad = 0
      for number in 0..<world.count {
        if number >= 128 { bad += await group.next() == true ? 0 : 1 }
        group.addTask { await isRight(number, manager) }
        table.showProgress(name, number, of: world.count)
      }
      for await isRight in group { bad += isRight ? 0 : 1 }
      return bad
    }
  }

  private func isRight(_ number: Int, _ manager: ObjectManager) async -> Bool {
    do {
      let object = try await manager.object(for: world.request(number), decodedBy: .demo)
      return DemoServer.oddity(number) != .missing && object == DemoServer.object(number)
    } catch {
      return DemoServer.oddity(number) == .missing && error.code == .httpStatus && error.head?.status == 404
    }
  }

  /// A thousand cells fly past a window of twelve: who falls off is told, who is left gets its object.
  private func scroll(past count: Int, window: Int) async throws -> Row {
    var policy = Policy()
    policy.limitLiveHandlers = window
    let manager = ObjectManager(policy: policy)
    let numbers = (0..<world.count).filter { DemoServer.oddity($0) == .none }.prefix(count)
    let cells = numbers.map { _ in
      RecordingUser<DemoObject>(variant: "demo") { try ObjectDecoder.demo.decode($0) }
    }
    return try await measure("Scrolling past, FIFO of \(window)", objects: count) { row in
      for (cell, number) in zip(cells, numbers) { manager.manage(cell, for: world.request(number)) }
      var endings: [Ending<DemoObject>] = []
      for cell in cells { endings.append(try await cell.ending()) }
      check(endings, numbers, window: window, &row)
      row.claims.append(
        .init(text: "each cell is told exactly once", holds: cells.allSatisfy { $0.endings.count == 1 }))
      return nil
    }
  }

  private func check(
    _ endings: [Ending<DemoObject>], _ numbers: some Collection<Int>, window: Int, _ row: inout Row
  ) {
    let bumped = endings.count { if case .cancelled(.bumped) = $0.outcome { true } else { false } }
    let ready = zip(endings, numbers).map { $0.object == DemoServer.object($1) }
    let lastReady = ready.suffix(window).count(where: \.self)
    row.note = "\(bumped) were bumped and told so; of the last screenful \(lastReady) of \(window) are there."
    row.claims.append(.init(text: "the last screenful is all there", holds: lastReady == window))
    row.claims.append(
      .init(
        text: "the others are right or bumped",
        holds: bumped > 0 && bumped + ready.count(where: \.self) == endings.count))
  }

  /// Two users who decode differently: both get theirs from one load.
  private func decodeTwice() async throws -> Row {
    let manager = ObjectManager()
    return try await measure("Two decoders, one URL", objects: 2) { row in
      let text = "one body, two objects"
      world.server.on("/shared", Reply(text, ["Cache-Control": "max-age=60"]).delayed(by: .milliseconds(20)))
      let words = RecordingUser<[String]>(variant: "words") { loaded in
        String(decoding: try loaded.data(), as: UTF8.self).split(separator: " ").map(String.init)
      }
      let length = RecordingUser<Int>(variant: "length") { $0.count }
      let request = ObjectRequest(world.server.url("/shared"))
      manager.manage(words, for: request)
      manager.manage(length, for: request)
      let isRight = try await words.object() == ["one", "body,", "two", "objects"]
      let isLong = try await length.object() == text.utf8.count
      row.claims.append(.init(text: "both objects are right", holds: isRight && isLong))
      return 1
    }
  }

  /// Several URLs under one oid: who asks second joins the load of the first.
  private func askByManyNames() async throws -> Row {
    let manager = ObjectManager()
    return try await measure("Three URLs, one oid", objects: 3) { row in
      let names = ["/mirror/a", "/mirror/b", "/mirror/c"]
      for name in names {
        world.server.on(name, Reply("the same", ["Cache-Control": "max-age=60"]).delayed(by: .milliseconds(20)))
      }
      let users = names.map { _ in RecordingUser.text() }
      for (user, name) in zip(users, names) {
        manager.manage(user, for: ObjectRequest(world.server.url(name), oid: "the one"))
      }
      var texts: [String] = []
      for user in users { texts.append(try await user.object()) }
      row.claims.append(.init(text: "all three have the object", holds: texts == names.map { _ in "the same" }))
      return 1
    }
  }

  // MARK: Measuring

  /// Runs a step and prints its row, with what the server saw of it.
  /// - Parameter step: does it, adds its claims, and returns the number of requests that it claims; nil: any.
  private func measure(_ name: String, objects: Int, _ step: (inout Row) async throws -> Int?) async throws -> Row {
    let before = world.server.log
    let began = ContinuousClock.now
    var row = Row(name: name, objects: objects)
    let claimedHits = try await step(&row)
    row.time = .now - began
    let after = try await world.server.wait(for: "all replies to end") {
      $0.finishedReplies + $0.abortedReplies == $0.allHits
    }
    row.requests = after.allHits - before.allHits
    row.bytes = after.sentBytes - before.sentBytes
    if let claimedHits {
      row.claims.append(.init(text: "it takes \(claimedHits) requests", holds: row.requests == claimedHits))
    }
    table.printRow(row)
    return row
  }
}
