/// Who may use the network next: transfers wait here, never inside libcurl, where thousands cost seconds.
///
/// Bounded in all and per host. Among those that may start, the order is priority, then waiting time: one that waits
/// rises a level every 5 s and then stands behind those already there, so low never starves. Since all rise at the same
/// pace, the moment at which a transfer reaches the highest level orders any two of them for good:
///
///     rank = time of enqueue + 5 s x levels below the highest
///
/// Each host keeps its waiting transfers in a heap by rank; one more heap holds the hosts that may start something, by
/// the rank of their first. Nothing is searched for: cancelled and re-ranked transfers stay in a heap until they come to
/// its top, or until most of it is such leftovers, when it is built anew. A step is O(log n) on average.
///
/// A value: no clock, no lock; time comes in with each call.
package struct TransferQueue<ID: Hashable & Sendable>: Sendable {
  package typealias Instant = Moment

  /// How long one waits for the next level.
  private static var timePerLevel: Duration { .seconds(5) }

  private struct Ticket: Comparable, Sendable {
    /// When it reaches, or would reach, the highest level.
    let rank: Instant
    /// Order of arrival, among equal ranks.
    let number: UInt64
    let id: ID

    static func < (left: Self, right: Self) -> Bool {
      left.rank == right.rank ? left.number < right.number : left.rank < right.rank
    }
    static func == (left: Self, right: Self) -> Bool { left.rank == right.rank && left.number == right.number }
  }

  private struct Waiting: Sendable {
    /// Index into `hosts`.
    let host: Int
    let since: Instant
    var ticket: Ticket
  }

  private struct Host: Sendable {
    var name = ""
    var tickets = Heap<Ticket>()
    /// Transfers that wait; the heap may hold more tickets than that.
    var waiting = 0
    var running = 0
    var heldUntil: Instant?
    /// The ticket under which the host stands among the startable ones; nil: it does not.
    var listed: Ticket?
    /// Its hold stands in `holds`.
    var isInHolds = false

    var isIdle: Bool { waiting == 0 && running == 0 }
  }

  /// A host among those that may start something. Counts only while the host is listed under that ticket.
  private struct Listing: Comparable, Sendable {
    let ticket: Ticket
    let host: Int
    static func < (left: Self, right: Self) -> Bool { left.ticket < right.ticket }
  }

  private struct Hold: Comparable, Sendable {
    let until: Instant
    let host: Int
    static func < (left: Self, right: Self) -> Bool { left.until < right.until }
  }

  private let limit: Int
  private let limitPerHost: Int
  private var waitingTransfers: [ID: Waiting] = [:]
  /// Index into `hosts` of each running transfer.
  private var runningTransfers: [ID: Int] = [:]
  /// Records by index, so that a step changes one in its place; those of dropped hosts are used again.
  private var hosts: [Host] = []
  private var hostIndices: [String: Int] = [:]
  private var freeIndices: [Int] = []
  private var startable = Heap<Listing>()
  private var holds = Heap<Hold>()
  private var nextNumber: UInt64 = 0
  /// Holds of idle hosts are looked through when there are this many hosts.
  private var sweepAtHosts = 64

  /// - Parameters: at least one each.
  package init(limit: Int, limitPerHost: Int) {
    self.limit = max(1, limit)
    self.limitPerHost = max(1, limitPerHost)
  }

  package var running: Int { runningTransfers.count }
  package var waiting: Int { waitingTransfers.count }

  // MARK: Coming and going

  /// Puts a transfer in line. One that waits already only changes its priority; one that runs stays as it is.
  package mutating func enqueue(_ id: ID, host name: String, priority: LoadPriority, at now: Instant) {
    guard runningTransfers[id] == nil else { return }
    guard waitingTransfers[id] == nil else { return changePriority(id, to: priority) }
    let host = index(of: name, at: now)
    let ticket = Ticket(rank: Self.rank(now, priority), number: nextNumber, id: id)
    nextNumber += 1
    waitingTransfers[id] = Waiting(host: host, since: now, ticket: ticket)
    hosts[host].waiting += 1
    insert(ticket, host)
  }

  /// Counts it as running where it may start at once and nobody stands before it; else puts it in line.
  /// - Returns: false: it waits.
  package mutating func startOrEnqueue(_ id: ID, host name: String, priority: LoadPriority, at now: Instant) -> Bool {
    let host = index(of: name, at: now)
    guard runningTransfers.count < limit, hosts[host].running < limitPerHost, hosts[host].waiting == 0,
      startable.smallest == nil, hosts[host].heldUntil == nil, runningTransfers[id] == nil, waitingTransfers[id] == nil
    else {
      enqueue(id, host: name, priority: priority, at: now)
      return false
    }
    hosts[host].running += 1
    runningTransfers[id] = host
    return true
  }

  /// Keeps the time that it has waited. Does nothing to one that does not wait.
  package mutating func changePriority(_ id: ID, to priority: LoadPriority) {
    guard let old = waitingTransfers[id] else { return }
    let ticket = Ticket(rank: Self.rank(old.since, priority), number: old.ticket.number, id: id)
    guard ticket != old.ticket else { return }
    waitingTransfers[id]?.ticket = ticket
    insert(ticket, old.host)
  }

  /// True: it was waiting, and is gone. One that runs is ended by `finished`.
  package mutating func cancel(_ id: ID) -> Bool {
    guard let entry = waitingTransfers.removeValue(forKey: id) else { return false }
    hosts[entry.host].waiting -= 1
    dropLeftovers(entry.host)
    dropIfIdle(entry.host)
    return true
  }

  /// A running transfer has ended, however it did.
  package mutating func finished(_ id: ID) {
    guard let host = runningTransfers.removeValue(forKey: id) else { return }
    hosts[host].running -= 1
    list(host)
    dropIfIdle(host)
  }

  /// Starts nothing for this host before that time, as Retry-After asks. The later of two holds counts.
  package mutating func hold(host name: String, until: Instant) {
    let host = index(of: name, at: nil)
    if let held = hosts[host].heldUntil, held >= until { return }
    hosts[host].heldUntil = until
    hosts[host].listed = nil
    // The older hold, if it stands there, no longer counts.
    hosts[host].isInHolds = false
    list(host)
  }

  // MARK: Starting

  /// All that may start now, in the order in which they should, and counts them as running.
  package mutating func startable(at now: Instant) -> [ID] {
    releaseHolds(at: now)
    var ids: [ID] = []
    while runningTransfers.count < limit, let listing = startable.popSmallest() {
      let host = listing.host
      guard hosts[host].listed == listing.ticket else { continue }
      hosts[host].listed = nil
      if let first = firstWaiting(host), first == listing.ticket {
        start(first, host)
        ids.append(first.id)
      }
      list(host)
    }
    return ids
  }

  /// When to call `startable` though nothing was enqueued or finished: a hold ends. nil: no need. Never before `now`.
  package mutating func nextWake(after now: Instant) -> Instant? {
    while let hold = holds.smallest {
      let isCurrent = isCurrent(hold)
      if isCurrent, hosts[hold.host].waiting > 0 { return max(now, hold.until) }
      _ = holds.popSmallest()
      if isCurrent { hosts[hold.host].isInHolds = false }
    }
    return nil
  }

  private mutating func start(_ ticket: Ticket, _ host: Int) {
    _ = hosts[host].tickets.popSmallest()
    hosts[host].waiting -= 1
    hosts[host].running += 1
    waitingTransfers[ticket.id] = nil
    runningTransfers[ticket.id] = host
  }

  // MARK: Tickets and listings

  private static func rank(_ since: Instant, _ priority: LoadPriority) -> Instant {
    since + timePerLevel * (LoadPriority.veryHigh.rawValue - priority.rawValue)
  }

  private mutating func insert(_ ticket: Ticket, _ host: Int) {
    hosts[host].tickets.insert(ticket)
    dropLeftovers(host)
    list(host)
  }

  /// Each building anew is paid for by as many tickets that became leftovers.
  private mutating func dropLeftovers(_ host: Int) {
    guard hosts[host].tickets.count > 2 * hosts[host].waiting + 64 else { return }
    let current = waitingTransfers
    hosts[host].tickets.keep { current[$0.id]?.ticket == $0 }
  }

  /// The first ticket of a host that is not a leftover.
  private mutating func firstWaiting(_ host: Int) -> Ticket? {
    while let ticket = hosts[host].tickets.smallest, waitingTransfers[ticket.id]?.ticket != ticket {
      _ = hosts[host].tickets.popSmallest()
    }
    return hosts[host].tickets.smallest
  }

  /// Enters the host where it belongs: among the holds, or among those that may start something.
  private mutating func list(_ host: Int) {
    guard hosts[host].waiting > 0 else { return }
    if let until = hosts[host].heldUntil {
      if !hosts[host].isInHolds { holds.insert(Hold(until: until, host: host)) }
      hosts[host].isInHolds = true
      return
    }
    guard hosts[host].running < limitPerHost, let first = firstWaiting(host) else { return }
    // An earlier listing stays good; a later one stays in the heap, and is passed over when it comes up.
    if let listed = hosts[host].listed, listed <= first { return }
    hosts[host].listed = first
    startable.insert(Listing(ticket: first, host: host))
    if startable.count > 2 * hosts.count + 64 { dropOldListings() }
  }

  private mutating func dropOldListings() {
    let current = hosts
    startable.keep { current[$0.host].listed == $0.ticket }
  }

  // MARK: Hosts

  private mutating func index(of name: String, at now: Instant?) -> Int {
    if let index = hostIndices[name] { return index }
    if let now, hostIndices.count >= sweepAtHosts { sweepHosts(at: now) }
    let index = freeIndices.popLast() ?? hosts.count
    if index == hosts.count { hosts.append(Host()) }
    hosts[index].name = name
    hostIndices[name] = index
    return index
  }

  private func isCurrent(_ hold: Hold) -> Bool {
    hosts[hold.host].isInHolds && hosts[hold.host].heldUntil == hold.until
  }

  private mutating func releaseHolds(at now: Instant) {
    while let hold = holds.smallest, hold.until <= now {
      _ = holds.popSmallest()
      guard isCurrent(hold) else { continue }
      hosts[hold.host].heldUntil = nil
      hosts[hold.host].isInHolds = false
      list(hold.host)
      dropIfIdle(hold.host)
    }
  }

  private mutating func dropIfIdle(_ host: Int) {
    guard hosts[host].isIdle, hosts[host].heldUntil == nil else { return }
    hostIndices[hosts[host].name] = nil
    hosts[host] = Host()
    freeIndices.append(host)
  }

  /// Ends holds that are over, of hosts that nobody asks for any more.
  private mutating func sweepHosts(at now: Instant) {
    for host in Array(hostIndices.values) where hosts[host].isIdle {
      guard let until = hosts[host].heldUntil, until <= now else { continue }
      hosts[host].heldUntil = nil
      dropIfIdle(host)
    }
    sweepAtHosts = 2 * hostIndices.count + 64
  }
}
