import CurlFloor
import Foundation
import TestSupport

/// Bodies for the server, and what a candidate that got them all must have seen.
struct BodySet {
  let name: String
  /// Paths on the server, without a slash in front.
  let paths: [String]
  let bytes: Int
  /// The sum of `floor_digest(body, number)`.
  let digest: UInt64

  var count: Int { paths.count }

  /// Random bytes, a thousand files to a folder.
  static func random(_ name: String, count: Int, size: Int, in root: String) throws -> BodySet {
    var generator = SeededRandom(seed: UInt64(size))
    let paths = try paths(name, count, "bin", in: root)
    var digest: UInt64 = 0
    var words = [UInt64](repeating: 0, count: size / 8)
    for (number, path) in paths.enumerated() {
      for index in words.indices { words[index] = generator.next() }
      try words.withUnsafeBytes { bytes in
        digest &+= floor_digest(bytes.baseAddress, bytes.count, UInt64(number))
        try write(bytes, to: root + "/" + path)
      }
    }
    return BodySet(name: name, paths: paths, bytes: count * size, digest: digest)
  }

  /// JSON of about 30 KiB; each also lies packed beside itself, so that the server does not pay for packing.
  static func json(_ name: String, count: Int, in root: String) throws -> BodySet {
    var generator = SeededRandom(seed: 7)
    let paths = try paths(name, count, "json", in: root)
    var (bytes, digest) = (0, UInt64(0))
    for (number, path) in paths.enumerated() {
      let items = (0..<200).map { item in
        let price = generator.next() % 100_000
        let tags = (0..<3).map { _ in "\"tag\(generator.next() % 50)\"" }.joined(separator: ",")
        return #"{"id":\#(number * 1000 + item),"name":"item-\#(generator.next() % 1_000_000)","price":\#(price),"#
          + #""active":\#(price % 2 == 0),"tags":[\#(tags)],"note":"lorem ipsum \#(price) dolor sit amet"}"#
      }
      let body = Array("{\"page\":\(number),\"items\":[\(items.joined(separator: ","))]}".utf8)
      bytes += body.count
      digest &+= floor_digest(body, body.count, UInt64(number))
      try body.withUnsafeBytes { try write($0, to: root + "/" + path) }
      try gzipped(body).withUnsafeBytes { try write($0, to: root + "/" + path + ".gz") }
    }
    return BodySet(name: name, paths: paths, bytes: bytes, digest: digest)
  }

  /// One file: a random block of 16 MiB again and again, turned a little further each time.
  static func large(_ name: String, size: Int, in root: String) throws -> BodySet {
    var generator = SeededRandom(seed: 11)
    let block = (0..<(16 << 20) / 8).map { _ in generator.next() }
    let path = "\(name).bin"
    let file = open(root + "/" + path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { throw Wrong("\(root)/\(path) cannot be made") }
    defer { close(file) }
    try block.withUnsafeBytes { block in
      var (written, turn) = (0, 0)
      while written < size {
        let piece = block[(turn * 4096 % block.count)...].prefix(size - written)
        guard Glibc.write(file, UnsafeRawBufferPointer(rebasing: piece).baseAddress, piece.count) == piece.count
        else { throw Wrong("\(root)/\(path) cannot be written; is the file system full?") }
        (written, turn) = (written + piece.count, turn + 1)
      }
    }
    return BodySet(name: name, paths: [path], bytes: size, digest: try fileDigest(root + "/" + path).digest)
  }

  /// The first so many.
  func prefix(_ count: Int, in root: String) throws -> BodySet {
    var (bytes, digest) = (0, UInt64(0))
    for (number, path) in paths.prefix(count).enumerated() {
      let file = try Self.fileDigest(root + "/" + path, number: number)
      bytes += file.bytes
      digest &+= file.digest
    }
    return BodySet(name: name, paths: Array(paths.prefix(count)), bytes: bytes, digest: digest)
  }

  // MARK: Checks

  /// What a candidate says it saw.
  func check(_ report: CandidateReport, of candidate: String) throws {
    guard report.bodies == count, report.bytes == bytes, report.digest == digest else {
      throw Wrong("\(candidate) did not get all of \(name): \(report.bodies) bodies, \(report.bytes) bytes")
    }
  }

  /// The files a candidate wrote, named as the paths end; there must be no others.
  func check(folder: String, of candidate: String) throws {
    var (seen, sum) = (0, UInt64(0))
    for (number, path) in paths.enumerated() {
      let file = try Self.fileDigest(folder + "/" + (path.split(separator: "/").last ?? ""), number: number)
      seen += file.bytes
      sum &+= file.digest
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).count
    guard files == count, seen == bytes, sum == digest else {
      throw Wrong("\(candidate) did not write all of \(name): \(files) files, \(seen) bytes")
    }
  }

  private static func fileDigest(_ path: String, number: Int = 0) throws -> (bytes: Int, digest: UInt64) {
    var digest: UInt64 = 0
    let bytes = floor_file_digest(path, UInt64(number), &digest)
    guard bytes >= 0 else { throw Wrong("\(path) cannot be read") }
    return (Int(bytes), digest)
  }

  // MARK: Making

  private static func paths(_ name: String, _ count: Int, _ suffix: String, in root: String) throws -> [String] {
    for folder in 0...(count / 1000) {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(name)/\(folder)", withIntermediateDirectories: true)
    }
    return (0..<count).map { "\(name)/\($0 / 1000)/\(String($0 + 100_000).dropFirst()).\(suffix)" }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(file) }
    guard file >= 0, Glibc.write(file, bytes.baseAddress, bytes.count) == bytes.count else {
      throw Wrong("\(path) cannot be written; is the file system full?")
    }
  }
}
