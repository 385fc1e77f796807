import Testing

@testable import ManagedObjects

struct EntryPathsTests {
  private let name = EntryName(key("cat"))
  private var hex: String { String(key("cat").digest.hex.prefix(32)) }

  private func listed(_ name: String) -> ListedName {
    let bytes = Array(name.utf8)
    return ListedName(bytes.span)
  }

  @Test(arguments: [(16, 1), (256, 2), (4096, 3)]) func `an entry is in the shard its name begins with`(
    shards: Int, digits: Int
  ) {
    let paths = EntryPaths(shards: shards)
    #expect(paths.shards == shards)
    #expect(paths.shard(paths.shard(of: name)).description == String(hex.prefix(digits)))
    #expect(paths.head(name).description == "\(hex.prefix(digits))/\(hex)")
    #expect(paths.body(name, generation: 0xAB).description == "\(hex.prefix(digits))/\(hex).00000000000000ab")
    #expect(paths.head(name).bytes.last == 0)
  }

  @Test func `other numbers of shards become the next that there is`() {
    #expect([0, 1, 17, 257, 100_000].map { EntryPaths(shards: $0).shards } == [16, 16, 256, 4096, 4096])
  }

  @Test func `a name that was spelled is read back`() {
    let unique = UniqueName(process: 1, count: .max)
    #expect(listed(hex) == .head(name))
    #expect(listed(hex + ".00000000000000ff") == .body(name, generation: 255))
    #expect(listed(String(EntryPaths.unfinished(unique).description)) == .temp)
    #expect(EntryPaths.temp(unique).description == "temp/t0000000000000001ffffffffffffffff")
  }

  @Test(arguments: [
    "", "format", "x", "0123456789abcdef0123456789abcde", "0123456789ABCDEF0123456789ABCDEF",
    "0123456789abcdef0123456789abcdefg", "u0123456789abcdef0123456789abcdef", "t0123456789abcdef0123456789abcdeg",
    "0123456789abcdef0123456789abcdef-0123456789abcdef", "0123456789abcdef0123456789abcdef.0123456789abcdeg",
  ]) func `a name of any other form is not ours`(name: String) {
    #expect(listed(name) == .unknown)
  }
}

struct StoreFormatTests {
  @Test func `what was written is read back`() {
    for format in [
      StoreFormat(backend: .fileCache, shards: 16), StoreFormat(backend: .bigFileCache, shards: 4096),
    ] {
      #expect(StoreFormat.read(Array(format.line.utf8)) == .known(format))
    }
  }

  @Test(arguments: [
    "ManagedObjects 2 FileCache 16\n", "ManagedObjects 1 PackedCache 16\n", "ManagedObjects 1 FileCache 32\n",
  ]) func `what another made is foreign`(line: String) {
    guard case .foreign = StoreFormat.read(Array(line.utf8)) else {
      Issue.record("\(line)")
      return
    }
  }

  @Test(arguments: ["", "\n", "ManagedObjects", "ManagedObjects 1 FileCache 16", "Something else stands here\n"])
  func `what is not whole is damaged`(line: String) {
    #expect(StoreFormat.read(Array(line.utf8)) == .damaged)
    #expect(StoreFormat.read([0xFF, 0xFE, 0x0A]) == .damaged)
  }
}
