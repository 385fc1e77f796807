internal import FoundationEssentials
package import ManagedObjects

/// A user that remembers all it is told, and lets a test wait for it.
///
///     let user = RecordingUser.text()
///     manager.manage(user, for: request)
///     let ending = try await user.ending()
package final class RecordingUser<Object: Sendable>: ManagedUser {
  private let decoder: @Sendable (Loaded) throws -> Object
  package let representation: Representation
  package let delivery: Delivery
  package let wantsUpdates: Bool
  private let cost: Int?
  private let all = Collector<Ending<Object>>()
  private let steps = Collector<LoadProgress>()
  private let news = Collector<ObjectUpdate<Object>>()
  private let decoded = Collector<ObjectSource>()

  /// - Parameter variant: Users of one type and variant share an object.
  package init(
    variant: String = "recorded", delivery: Delivery = .pool, wantsUpdates: Bool = false, cost: Int? = nil,
    decode: @escaping @Sendable (Loaded) throws -> Object
  ) {
    representation = Representation(of: Object.self, variant: variant)
    self.delivery = delivery
    self.wantsUpdates = wantsUpdates
    self.cost = cost
    decoder = decode
  }

  package func readyFromLoaded(_ loaded: Loaded) throws -> Object {
    decoded.append(loaded.source)
    return try decoder(loaded)
  }

  package func ended(_ ending: Ending<Object>) { all.append(ending) }
  package func updated(_ update: ObjectUpdate<Object>) { news.append(update) }
  package func progressed(_ progress: LoadProgress) { steps.append(progress) }
  package func memoryCost(of object: Object, from loaded: Loaded) -> Int { cost ?? loaded.count }

  package var endings: [Ending<Object>] { all.elements }
  package var progress: [LoadProgress] { steps.elements }
  package var updates: [ObjectUpdate<Object>] { news.elements }
  /// How often this user, and no other, was asked to decode.
  package var decodes: Int { decoded.elements.count }

  /// The ending of this number, counted from 0.
  package func ending(_ number: Int = 0, seconds: Double = 10) async throws -> Ending<Object> {
    try await all.wait(number + 1, seconds: seconds)[number]
  }

  package func ending(_ number: Int = 0, seconds: Double = 10) throws -> Ending<Object> {
    try all.wait(number + 1, seconds: seconds)[number]
  }

  /// The object of the first ending; throws what it ended with instead.
  package func object(seconds: Double = 10) async throws -> Object { try await ending(seconds: seconds).get() }

  /// The first newer object than the one it was given.
  package func update(seconds: Double = 10) async throws -> ObjectUpdate<Object> {
    try await news.wait(1, seconds: seconds)[0]
  }

  /// Waits for so many reports of progress.
  @discardableResult
  package func progress(_ count: Int, seconds: Double = 10) async throws -> [LoadProgress] {
    try await steps.wait(count, seconds: seconds)
  }
}

extension RecordingUser<String> {
  package static func text(
    variant: String = "text", delivery: Delivery = .pool, wantsUpdates: Bool = false
  ) -> RecordingUser {
    RecordingUser(variant: variant, delivery: delivery, wantsUpdates: wantsUpdates) {
      String(decoding: try $0.data(), as: UTF8.self)
    }
  }
}

extension RecordingUser<Data> {
  package static func data(variant: String = "data", delivery: Delivery = .pool) -> RecordingUser {
    RecordingUser(variant: variant, delivery: delivery) { try $0.data() }
  }
}
