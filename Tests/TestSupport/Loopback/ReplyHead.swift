/// Status line and fields of a reply as bytes, without the body. `extra` stands after the reply's own fields.
///
///     HTTP/1.1 200 OK\r\n
///     ETag: "a"\r\n
///     \r\n
func headBytes(_ reply: Reply, extra: [Reply.Field]) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(256)
  bytes.append(contentsOf: reply.version.utf8)
  bytes.append(0x20)
  bytes.append(contentsOf: String(reply.status).utf8)
  bytes.append(0x20)
  bytes.append(contentsOf: (reply.reason ?? usualReason(reply.status)).utf8)
  bytes.append(contentsOf: [0x0D, 0x0A])
  for field in reply.fields { append(field, to: &bytes) }
  for field in extra { append(field, to: &bytes) }
  bytes.append(contentsOf: [0x0D, 0x0A])
  return bytes
}

private func append(_ field: Reply.Field, to bytes: inout [UInt8]) {
  bytes.append(contentsOf: field.name.utf8)
  bytes.append(contentsOf: [0x3A, 0x20])
  bytes.append(contentsOf: field.value)
  bytes.append(contentsOf: [0x0D, 0x0A])
}

/// RFC 9110 section 15, those that tests use.
private func usualReason(_ status: Int) -> String {
  switch status {
  case 100: "Continue"
  case 103: "Early Hints"
  case 200: "OK"
  case 204: "No Content"
  case 206: "Partial Content"
  case 301: "Moved Permanently"
  case 302: "Found"
  case 303: "See Other"
  case 304: "Not Modified"
  case 307: "Temporary Redirect"
  case 308: "Permanent Redirect"
  case 400: "Bad Request"
  case 401: "Unauthorized"
  case 403: "Forbidden"
  case 404: "Not Found"
  case 408: "Request Timeout"
  case 410: "Gone"
  case 412: "Precondition Failed"
  case 416: "Range Not Satisfiable"
  case 429: "Too Many Requests"
  case 500: "Internal Server Error"
  case 502: "Bad Gateway"
  case 503: "Service Unavailable"
  case 504: "Gateway Timeout"
  default: "Status"
  }
}
