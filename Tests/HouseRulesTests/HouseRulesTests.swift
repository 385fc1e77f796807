import Foundation
import Testing

@Suite struct HouseRulesTests {
  @Test func `every file keeps the rules of the house`() throws {
    let files = try SourceTree().files()
    #expect(files.count > 20, "the tree was not found")
    for (path, text) in files {
      let source = SourceText(text)
      for rule in HouseRule.all { #expect(rule.check(path, source) == [], "\(rule.name)") }
    }
  }

  @Test func `a target names every module of the package that its files import`() throws {
    let tree = SourceTree()
    let manifest = Manifest(try String(contentsOf: tree.root.appending(path: "Package.swift"), encoding: .utf8))
    #expect(manifest.targets.count > 10, "the manifest was not understood")
    for (path, text) in try tree.files() { #expect(manifest.undeclared(path, text) == [], "\(path)") }
  }

  @Test func `a module that is imported but not named is found`() {
    let manifest = Manifest(
      """
      .library(name: "One", targets: ["One"]),
      .target(name: "One", swiftSettings: strict),
      .testTarget(
        name: "OneTests", dependencies: ["Two"], swiftSettings: strict),
      .target(name: "Two", dependencies: ["One"], path: "Tests/OneTests/Two", swiftSettings: strict),
      """)
    let text = "import Foundation\nimport Two\n@testable import One\n// import Three"
    #expect(manifest.undeclared("Tests/OneTests/A.swift", text) == ["One"])
    #expect(manifest.undeclared("Tests/OneTests/Two/A.swift", text) == [])
    #expect(manifest.undeclared("Elsewhere/A.swift", text) == [])
  }

  /// A breach: where it stands, what it says, and on which line it has to be found.
  struct Breach: CustomTestStringConvertible {
    let path: String
    let text: String
    var line = 1
    var testDescription: String { "\(path): \(text)" }
  }

  @Test(arguments: [
    Breach(path: "Sources/ManagedObjects/Loading/CurlLoader.swift", text: "internal import CCurl"),
    Breach(path: "Sources/mobj/main.swift", text: "import CCurl"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "internal import CurlTransfer"),
    Breach(path: "Sources/ManagedObjects/Loaded.swift", text: "public import Foundation"),
    Breach(path: "Sources/mobj/Get.swift", text: "import struct Foundation.URL"),
    Breach(path: "Sources/mobj/Get.swift", text: "import FoundationNetworking"),
    Breach(path: "Sources/ManagedObjects/HTTP/Age.swift", text: "internal import Glibc"),
    Breach(
      path: "Sources/ManagedObjects/Loading/RetryRule.swift", text: "\npublic import FoundationEssentials", line: 2),
    Breach(path: "Sources/ManagedObjects/Loaded.swift", text: "import Dispatch"),
    Breach(path: "Sources/ManagedObjects/Memory/Cache.swift", text: "weak var owner: ObjectManager?"),
    Breach(path: "Sources/ManagedObjects/Handler.swift", text: "let manager: ObjectManager"),
    Breach(path: "Sources/ManagedObjects/HTTP/Age.swift", text: "let age = ContinuousClock.now - then"),
    Breach(path: "Sources/ManagedObjects/Handlers/Queue.swift", text: "let age = Moment.now - then"),
    Breach(path: "Sources/ManagedObjects/Handlers/State.swift", text: "let state = Lock(State())"),
    Breach(path: "Sources/ManagedObjects/Files/TrimRule.swift", text: "func decide() async {}"),
    Breach(path: "Sources/ManagedObjects/Memory/Slots.swift", text: "let all: UnsafeMutablePointer<Int>"),
    Breach(path: "Sources/ManagedObjects/Loaded.swift", text: "unsafe bytes.withUnsafeBytes { _ in }"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "final class A: @unchecked Sendable {}"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "struct A {\n  nonisolated(unsafe) var x = 1\n}", line: 2),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "let state = Mutex(0)"),
    Breach(path: "Tests/ManagedObjectsTests/A.swift", text: "let done = DispatchSemaphore(value: 0)"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "let x = try! read()"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "fatalError(\"cannot be\")"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "let x = y as! Int"),
    Breach(path: "Sources/ManagedObjects/Core.swift", text: "var a = 1\n// TODO: more", line: 2),
    Breach(path: "Tests/mobjTests/A.swift", text: "try await Task.sleep(for: .seconds(1))"),
    Breach(path: "Tests/mobjTests/A.swift", text: "usleep(10)"),
    Breach(path: "Benchmarks/main.swift", text: String(repeating: "\n", count: 401), line: 401),
  ])
  func `a breach is found`(breach: Breach) {
    let found = HouseRule.all.flatMap { $0.violations(breach.path, breach.text) }
    #expect(found.map(\.line) == [breach.line], "\(found)")
  }

  @Test(arguments: [
    Breach(path: "Sources/CurlTransfer/Engine.swift", text: "internal import CCurl"),
    Breach(path: "Benchmarks/Floor.swift", text: "import CCurl"),
    Breach(path: "Sources/ManagedObjects/Loading/CurlLoader.swift", text: "internal import CurlTransfer"),
    Breach(path: "Sources/ManagedObjects/Loaded.swift", text: "public import FoundationEssentials"),
    Breach(path: "Tests/mobjTests/A.swift", text: "import Foundation"),
    Breach(path: "Sources/ManagedObjects/HTTP/Age.swift", text: "// Nothing is imported here; import is a word."),
    Breach(
      path: "Sources/ManagedObjects/Handler.swift", text: "/// Knows no `ObjectManager`.\nlet a = \"ObjectManager\""),
    Breach(path: "Sources/ManagedObjects/Loading/RetryRule.swift", text: "let start: Moment"),
    Breach(path: "Sources/ManagedObjects/Files/PosixDoor.swift", text: "let buffer: UnsafeRawPointer"),
    Breach(
      path: "Sources/ManagedObjects/Core.swift",
      text: "// Sound: written once, before anybody else can see it.\nnonisolated(unsafe) let x = y"),
    Breach(path: "Sources/Locking/Lock.swift", text: "public import Synchronization\nlet mutex: Mutex<Value>"),
    Breach(path: "Tests/mobjTests/A.swift", text: "let x = try! read()\n/* a sleep(1) /* in */ two */"),
    Breach(path: "Benchmarks/main.swift", text: String(repeating: "\n", count: 400)),
  ])
  func `what is allowed is not complained of`(allowed: Breach) {
    #expect(HouseRule.all.flatMap { $0.violations(allowed.path, allowed.text) } == [])
  }
}

@Suite struct SourceTextTests {
  private func code(_ text: String) -> String {
    SourceText(text).code.joined(separator: "\n").replacing(#/ +/#, with: " ").trimmingCharacters(in: .whitespaces)
  }

  @Test func `comments are blanked, nested ones too`() {
    #expect(code("a // b\nc") == "a \nc")
    #expect(code("a /* b /* c */ d */ e") == "a e")
    #expect(code("a /* b\nc */ d").hasSuffix(" d"))
    #expect(code("a /* never closed") == "a")
  }

  @Test func `literals are blanked, with quotes, escapes and interpolations`() {
    #expect(code(#"a "b // c" d"#) == "a d")
    #expect(code(#"a "b \" c" d"#) == "a d")
    #expect(code(##"a #"b " \" c"# d"##) == "a d")
    #expect(code("a \"\"\"\nb \" c\n\"\"\" d").hasPrefix("a "))
    #expect(code("a \"\"\"\nb \" c\n\"\"\" d").hasSuffix(" d"))
    #expect(code("a \"never closed\nb") == "a \nb")
  }

  @Test func `lines keep their numbers`() {
    let text = "a\n/*\n\n*/\n\"\"\"\nx\n\"\"\"\nb"
    #expect(SourceText(text).code.count == SourceText(text).lines.count)
    #expect(SourceText(text).code.last == "b")
  }
}
