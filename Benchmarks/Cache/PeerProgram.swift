import Foundation

/// A candidate that is a program, in whatever language: jobs go to its standard input, a line each, and times come back.
/// The protocol stands at the top of `Peers/Sources/cache-peer/main.swift`.
final class PeerProgram: Candidate {
  private(set) var name = ""
  private(set) var version = ""
  private(set) var abilities: Set<Ability> = []
  private let command: [String]
  private let folder: URL
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread = Data()

  /// - Parameter command: the program and its arguments; the folder is added.
  init(_ command: [String], in folder: URL) throws {
    self.command = command
    self.folder = folder
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command + [folder.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let parts = try line().split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3 else { throw Breach("\(command[0]) does not say who it is.") }
    (name, version) = (parts[0], parts[1])
    abilities = Set(parts[2].split(separator: " ").compactMap { Ability(rawValue: String($0)) })
  }

  /// It ends when there is nothing more to read.
  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  func sibling() throws -> any Candidate { try PeerProgram(command, in: folder) }

  func run(_ job: Job) throws -> [Int] {
    let limit = job.operation == .open ? [job.limitEntries ?? 0] : []
    let times = try ask([job.operation.word] + ([job.bytes] + limit + job.keys).map(String.init))
    guard times.count == max(1, [.open, .trim].contains(job.operation) ? times.count : job.keys.count) else {
      throw Breach("\(name) measured \(times.count) of \(job.keys.count) operations.")
    }
    return times
  }

  func count() throws -> Int {
    guard let count = try ask(["count", "0"]).first else { throw Breach("\(name) does not say how many it has.") }
    return count
  }

  /// The numbers of the answer.
  private func ask(_ words: [String]) throws -> [Int] {
    try input.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
    let answer = try line()
    if answer.hasPrefix("error") { throw Breach("\(name): \(answer.dropFirst(6))") }
    return answer.split(separator: " ").compactMap { Int($0) }
  }

  private func line() throws -> String {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread = Data(unread[(end + 1)...]) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Breach("\(command.joined(separator: " ")) has ended.") }
      unread += more
    }
  }
}
