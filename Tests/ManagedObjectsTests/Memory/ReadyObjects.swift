@testable import ManagedObjects

func memoryKey(_ name: String, scope: String = "", variant: String = "") -> MemoryKey {
  MemoryKey(id: ObjectID(name), scope: scope, representation: Representation(of: Int.self, variant: variant))
}

func memoryKey(_ number: Int) -> MemoryKey { memoryKey("key \(number)") }

func ready<Object: Sendable>(
  _ object: Object, etag: String = "", count: Int = 1, at seconds: Int64 = 0
) -> ReadyObject {
  let fields: HeaderFields = etag.isEmpty ? [:] : ["ETag": etag]
  let facts = EntryFacts(head: LoadHead(fields: fields), responseTime: WallTime(seconds: seconds))
  return ReadyObject(box: ObjectBox(object), facts: facts, count: count)
}

extension ReadyObject {
  func object<Object: Sendable>(as type: Object.Type = Object.self) -> Object? { (box as? ObjectBox<Object>)?.object }

  var picture: Picture? { object() }
}

/// An object that can be in use.
final class Picture: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

extension SlotTable {
  @discardableResult
  mutating func insert(_ number: Int, cost: Int = 1, into queue: QueueName) -> Int32 {
    insert(memoryKey(number), .strong(ready(number)), cost: cost, into: queue)
  }
}
