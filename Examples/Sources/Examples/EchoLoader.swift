import Foundation
import ManagedObjects

/// Answers `echo:` URLs with their own path, percent-decoded: `echo:a%20b` is the text "a b".
///
/// A loader brings one head, then bytes. What it promises is checked, so a wrong Content-Length would be a failure.
struct EchoLoader: AsyncLoader {
  func accepts(_ url: URL) -> Bool { url.scheme == "echo" }

  func load(_ request: LoadRequest, into sink: LoadSink) async throws {
    let text = request.location.dropFirst("echo:".count)
    guard let bytes = String(text).removingPercentEncoding.map({ Data($0.utf8) }) else {
      throw ObjectError(.invalidURL, "The path of \(request.location) is not percent-encoded.")
    }
    var head = LoadHead(fields: ["Content-Length": "\(bytes.count)", "Cache-Control": "max-age=60"])
    // Who asked is told too, so that one can see what an interceptor did.
    if let who = request.fields["Authorization"] { head.fields.append("X-Asked-By", who) }
    sink.head(head)
    sink.append(bytes)
  }
}
