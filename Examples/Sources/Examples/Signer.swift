import Foundation
import ManagedObjects

/// Signs what is asked for, keeps some of it from being asked for at all, and asks once more after 401.
struct Signer: Interceptor {
  /// The token to sign with; asked for again after 401, since it may have expired.
  let token: @Sendable () -> String

  func willLoad(_ request: LoadRequest) async throws -> LoadVerdict {
    if request.location.contains("secret") { return .refuse("Secrets are not loaded.") }
    return .load(signed(request))
  }

  func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict {
    head.status == 401 && attempt == 1 ? .retry(signed(request)) : .accept
  }

  private func signed(_ request: LoadRequest) -> LoadRequest {
    var request = request
    request.fields["Authorization"] = "Bearer \(token())"
    return request
  }
}
