/// Stands in until its room is built.
package enum URLRule {
  package struct Location: Hashable, Sendable {
    package var scheme: String
    package var host: String
    package var port: Int?
    package var key: String
    package var text: String
  }
  package struct Refusal: Error { package var why: String }
  package static func parse(_ text: String) -> Result<Location, Refusal> { .failure(Refusal(why: "not yet")) }
}
