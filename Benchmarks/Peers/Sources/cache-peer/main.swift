// `cache-peer sqlite|lmdb FOLDER`: a store that somebody would take instead of a file cache, for the cache benchmark.
//
// It reads a job a line from standard input, and answers with a line: what each operation took, in nanoseconds, a miss
// of a mixed job as a negative number; or "error" and why. Its first line says who it is and what it can do:
//
//     SQLite blobs|3.40.1|limit trim
//     open 1024 8000 17     (opens anew, for bodies of 1,024 bytes, with a limit of so many entries, 0: none; one get)
//                                                                                                  → 456000
//     put 4096 1 2 3        (bodies of 4,096 bytes under the keys 1, 2, 3)                         → 24000 23100 23900
//     get 4096 3 1 2    miss 4096 77    contains 4096 1    mixed 4096 5 1 5    trim 4096
//     count 0               (how many are stored)                                                  → 7950
//
// Keys become URLs, as `Job.name(of:)` of the benchmark makes them; a body begins with its key, which is checked.

import Glibc

guard CommandLine.arguments.count == 3, let kind = PeerKind(rawValue: CommandLine.arguments[1]) else {
  complain("usage: cache-peer sqlite|lmdb FOLDER")
  exit(2)
}
do {
  let peer = try kind.open(CommandLine.arguments[2])
  say(peer.introduction)
  while let line = readLine() {
    do {
      let job = try PeerJob(line)
      say(try job.run(on: peer).map(String.init).joined(separator: " "))
    } catch {
      say("error \(error)")
    }
  }
} catch {
  complain("cache-peer: \(error)")
  exit(1)
}

func say(_ line: String) {
  print(line)
  fflush(nil)
}

func complain(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  write(2, bytes, bytes.count)
}

enum PeerKind: String {
  case sqlite, lmdb

  func open(_ folder: String) throws -> any Peer {
    mkdir(folder, 0o700)
    return switch self {
    case .sqlite: try SQLitePeer(folder)
    case .lmdb: try LMDBPeer(folder)
    }
  }
}
