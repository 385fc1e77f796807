import Foundation

/// What is compared with what, and the bounds we promise to keep.
struct Contests {
  let bench: TestBench
  let rounds: Int
  private let myself = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path

  var all: [Contest] {
    get throws {
      try [
        inMemory(), overHTTP2(), smallToFiles(), toCache(), mediumInMemory(), mediumToFiles(), largeToFile(), packed(),
        besideSession(), oneAtATime(), growthToFile(), growthInMemory(), waiting(), cancelling(),
      ]
    }
  }

  // MARK: Into memory

  private func inMemory() throws -> Contest {
    let list = try bench.list(bench.small.paths, "s.list")
    return contest(
      "S to memory", bench.small,
      floors(list, bench.small) + [
        candidate("object(for:), 64 in flight", bench.small, job(.objects, list)),
        candidate("object(for:), all callers at once", bench.small, job(.callers, list)),
      ],
      [
        .init(name: "S to memory, 64 in flight", measure: .cpu, candidate: 3, against: 0, must: 1.4, goal: 1.15),
        .init(
          name: "S to memory, \(bench.small.count) callers", measure: .cpu, candidate: 4, against: 0, must: 1.7,
          goal: 1.35),
      ])
  }

  private func overHTTP2() throws -> Contest {
    let list = try bench.list(bench.small.paths, "s2.list", isSecure: true)
    var floor = job(.floor, list)
    floor.authorities = bench.server.authorities
    var polling = floor
    polling.isPolling = true
    var objects = job(.objects, list)
    objects.authorities = bench.server.authorities
    return contest(
      "S to memory, HTTP/2", bench.small,
      [
        candidate("C loop", bench.small, floor), candidate("C loop, multi_poll", bench.small, polling),
        candidate("object(for:), 64 in flight", bench.small, objects),
      ],
      [
        .init(
          name: "S to memory over HTTP/2, 64 in flight", measure: .cpu, candidate: 2, against: 0, must: 1.4, goal: 1.15)
      ])
  }

  private func mediumInMemory() throws -> Contest {
    let list = try bench.list(bench.medium.paths, "m.list")
    return contest(
      "M to memory", bench.medium,
      floors(list, bench.medium) + [candidate("object(for:), 64 in flight", bench.medium, job(.objects, list))],
      [.init(name: "M to memory, 64 in flight", measure: .cpu, candidate: 3, against: 0, must: 0.9, goal: 0.6)])
  }

  private func packed() throws -> Contest {
    let list = try bench.list(bench.json.paths, "j.list")
    var floor = job(.floor, list)
    floor.inflates = true
    return contest(
      "J to memory", bench.json,
      [
        candidate("C loop, inflating", bench.json, floor),
        candidate("object(for:), 64 in flight", bench.json, job(.objects, list)),
      ],
      [.init(name: "J to memory, inflated", measure: .cpu, candidate: 1, against: 0, must: 1.25, goal: 1.1)])
  }

  private func besideSession() throws -> Contest {
    let list = try bench.list(bench.few.paths, "few.list")
    return contest(
      "Few of S to memory", bench.few,
      [
        candidate("URLSession", bench.few, job(.session, list)),
        candidate("object(for:), 64 in flight", bench.few, job(.objects, list)),
      ],
      [
        .init(
          name: "Small objects", measure: .cpu, candidate: 1, against: 0, must: 1.0 / 6, goal: 0.1)
      ])
  }

  private func oneAtATime() throws -> Contest {
    let list = try bench.list(bench.few.paths, "few.list")
    var floor = job(.floor, list)
    floor.parallel = 1
    var polling = floor
    polling.isPolling = true
    var asked = polling
    asked.isAskedFromOutside = true
    var objects = job(.objects, list)
    objects.parallel = 1
    return contest(
      "S one at a time", bench.few,
      [
        candidate("C loop", bench.few, floor), candidate("object(for:)", bench.few, objects),
        candidate("C loop, multi_poll", bench.few, polling),
        candidate("C loop, multi_poll, asked by another thread", bench.few, asked),
      ],
      [
        .init(
          name: "Latency of one idle request", measure: .wall, candidate: 1, against: 0, must: 1.5, goal: 1.35)
      ])
  }

  // MARK: Into files

  private func smallToFiles() throws -> Contest {
    try toFiles(
      "S to files", bench.small,
      [
        .init(name: "S to files, mobj get", measure: .wall, candidate: 1, against: 0, must: 1.1, goal: 0.95),
        .init(name: "S to files, mobj get", measure: .cpu, candidate: 1, against: 0, must: 1.1, goal: 0.95),
      ])
  }

  private func mediumToFiles() throws -> Contest {
    try toFiles(
      "M to files", bench.medium,
      [.init(name: "M to files, mobj get", measure: .wall, candidate: 1, against: 0, must: 1.2, goal: 1.0)])
  }

  private func toFiles(_ name: String, _ set: BodySet, _ bounds: [Contest.Bound]) throws -> Contest {
    let list = try bench.list(set.paths, "\(set.name).list")
    let curl = try curlConfiguration(set)
    return contest(
      name, set,
      [
        toFolder("curl -Z", set) { _ in ["curl", "-s", "-Z", "--parallel-max", "64", "-K", curl] },
        toFolder("mobj get", set) { output in
          mobj + ["--output-dir", output, "--input", list]
        },
      ], bounds)
  }

  private func largeToFile() throws -> Contest {
    let set = bench.large
    let url = bench.server.url(set.paths[0])
    let list = try bench.list(set.paths, "l.list")
    return contest(
      "L to a file", set,
      [
        toFolder("curl", set) { output in ["curl", "-s", "-o", output + "/l.bin", url] },
        toFolder("mobj get", set) { output in mobj + ["-o", output + "/l.bin", url] },
        Contest.Candidate(name: "recv and write") {
          try bench.withOutput { output in
            var job = job(.receive, list)
            (job.port, job.output) = (bench.server.port, output + "/l.bin")
            let report = try start(job)
            try set.check(folder: output, of: "recv and write")
            return Contest.Run(wall: report.wall, cpu: report.cpu)
          }
        },
      ],
      [
        .init(name: "L to a file, mobj get", measure: .wall, candidate: 1, against: 0, must: 0.9, goal: 0.8),
        .init(name: "L to a file, mobj get", measure: .wall, candidate: 1, against: 2, must: 1.2, goal: 1.1),
      ])
  }

  private func toCache() throws -> Contest {
    let list = try bench.list(bench.small.paths, "s.list")
    return contest(
      "S to FileCache", bench.small,
      [
        Contest.Candidate(name: "C loop and put") {
          try bench.withOutput { output in
            var job = job(.floor, list)
            job.output = output
            let run = try self.run(job, bench.small, "C loop and put")
            // A folder for each of the 256 first digits, too.
            let files = try FileManager.default.subpathsOfDirectory(atPath: output).count { $0.utf8.count > 3 }
            guard files == bench.small.count else { throw Wrong("the C loop put \(files) files") }
            return run
          }
        },
        Contest.Candidate(name: "object(for:), FileCache") {
          try bench.withOutput { output in
            var job = job(.cached, list)
            job.output = output
            return try self.run(job, bench.small, "FileCache")
          }
        },
      ], [.init(name: "S to FileCache", measure: .cpu, candidate: 1, against: 0, must: 1.4, goal: 1.2)])
  }

  // MARK: Memory, and many at once

  private func growthToFile() throws -> Contest {
    // Holes: what is sent is as many bytes, and no room is taken for them here.
    let file = bench.root + "/growing.bin"
    _ = FileManager.default.createFile(atPath: file, contents: nil)
    guard truncate(file, bench.sizes.growing) == 0 else { throw Wrong("\(file) cannot be made") }
    var job = job(.growthToFile, try bench.list(bench.first.paths + ["growing.bin"], "growing.list"))
    return Contest(
      name: "Growth, to a file", rounds: 1, bodies: 1,
      candidates: [
        Contest.Candidate(name: "file(for:at:)") {
          try bench.withOutput { output in
            job.output = output + "/growing.bin"
            let report = try start(job)
            _ = try ChildProcess(["cmp", "-s", output + "/growing.bin", file], output: bench.folder + "/report")
            return Contest.Run(wall: report.wall, cpu: report.cpu, value: report.value)
          }
        }
      ],
      bounds: [
        .init(
          name: "Growth, \(bench.sizes.growing >> 30) GiB to a file", measure: .value, candidate: 0, must: 8, goal: 4,
          unit: "MiB", scale: 1.0 / Double(1 << 20))
      ])
  }

  private func growthInMemory() throws -> Contest {
    let list = try bench.list(bench.first.paths + bench.inMemory.paths, "n.list")
    return Contest(
      name: "Growth, in memory", rounds: rounds, bodies: 1,
      candidates: [candidate("object(for:)", bench.inMemory, job(.growthInMemory, list))],
      bounds: [
        .init(
          name: "Growth, \(bench.inMemory.bytes >> 20) MiB in memory", measure: .value, candidate: 0, must: 1.25,
          goal: 1.1, unit: "bodies", scale: 1 / Double(bench.inMemory.bytes))
      ])
  }

  private func waiting() -> Contest {
    crowd(
      "Waiting requests", .waiting, beside: .bareWaiting, bench.sizes.waiting,
      .init(
        name: "Memory of a waiting request", measure: .value, candidate: 1, must: 4, goal: 2, unit: "KiB",
        scale: 1.0 / 1024))
  }

  private func cancelling() -> Contest {
    crowd(
      "Cancelling", .cancel, beside: .bareCancel, 10_000,
      .init(
        name: "Cancel 10,000 waiting and 64 running", measure: .value, candidate: 1, must: 30, goal: 15, unit: "ms"))
  }

  private func crowd(
    _ name: String, _ kind: CandidateJob.Kind, beside bare: CandidateJob.Kind, _ count: Int, _ bound: Contest.Bound
  ) -> Contest {
    Contest(
      name: name, rounds: rounds, bodies: count,
      candidates: [("bare tasks", bare), ("object(for:)", kind)].map { candidate, kind in
        var job = job(kind, "")
        job.count = count
        return Contest.Candidate(name: candidate) { [job] in
          let report = try start(job)
          guard report.bodies == count else { throw Wrong("\(name): not all came to wait") }
          return Contest.Run(wall: report.wall, cpu: report.cpu, value: report.value)
        }
      }, bounds: [bound])
  }

  // MARK: Candidates

  private func contest(
    _ name: String, _ set: BodySet, _ candidates: [Contest.Candidate], _ bounds: [Contest.Bound]
  ) -> Contest {
    Contest(
      name: name, rounds: rounds, bodies: set.count, candidates: candidates, bounds: bounds)
  }

  private func job(_ kind: CandidateJob.Kind, _ list: String) -> CandidateJob { CandidateJob(kind: kind, list: list) }

  /// The C loop, and beside it two that a good program in C might be.
  private func floors(_ list: String, _ set: BodySet) -> [Contest.Candidate] {
    let floor = job(.floor, list)
    var polling = floor
    polling.isPolling = true
    var buffered = floor
    buffered.buffer = 128 << 10
    return [
      candidate("C loop", set, floor), candidate("C loop, multi_poll", set, polling),
      candidate("C loop, 128 KiB buffer", set, buffered),
    ]
  }

  private func candidate(_ name: String, _ set: BodySet, _ job: CandidateJob) -> Contest.Candidate {
    Contest.Candidate(name: name) { try run(job, set, name) }
  }

  private func run(_ job: CandidateJob, _ set: BodySet, _ name: String) throws -> Contest.Run {
    let report = try start(job)
    try set.check(report, of: name)
    return Contest.Run(wall: report.wall, cpu: report.cpu, value: report.value)
  }

  private func start(_ job: CandidateJob) throws -> CandidateReport {
    let text = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
    let output = bench.folder + "/report"
    _ = try ChildProcess([myself, "candidate", text], output: output)
    return try JSONDecoder().decode(CandidateReport.self, from: Data(contentsOf: URL(filePath: output)))
  }

  /// Another program, with a folder of its own for the files.
  private func toFolder(_ name: String, _ set: BodySet, _ command: @escaping (String) -> [String]) -> Contest.Candidate
  {
    Contest.Candidate(name: name) {
      try bench.withOutput { output in
        let child = try ChildProcess(command(output), output: bench.folder + "/report")
        try set.check(folder: output, of: name)
        return Contest.Run(wall: child.wall, cpu: child.cpu)
      }
    }
  }

  /// The tool stands beside this program: `dev` builds both.
  private var mobj: [String] {
    [
      URL(filePath: myself).deletingLastPathComponent().path + "/mobj", "get", "--backend", "none", "--quiet",
      "--per-host", "64",
    ]
  }

  private func curlConfiguration(_ set: BodySet) throws -> String {
    let file = "\(bench.folder)/\(set.name).curl"
    let lines = set.paths.map { path in
      "url = \"\(bench.server.url(path))\"\noutput = \"\(bench.folder)/output/\(path.split(separator: "/").last ?? "")\"\n"
    }
    try Data(lines.joined().utf8).write(to: URL(filePath: file))
    return file
  }
}
