/// How much is received at once. Bodies that follow one another on a handle are mostly alike.
///
/// Many bytes at once save system calls. But libcurl takes and gives back the room for each transfer, and to give back
/// 64 KiB or more makes the C library tidy its heap and return memory to the system (malloc(3), M_TRIM_THRESHOLD):
/// dear where the body is small.
enum BufferRule {
  /// - Parameter lastBody: of the transfer before; nil: there was none.
  static func bytes(lastBody: Int?) -> Int {
    // Nobody knows yet. Room that is not filled is not touched either.
    guard let lastBody else { return 512 << 10 }
    switch lastBody {
    case ..<(48 << 10): return 48 << 10
    case ..<(8 << 20): return 128 << 10
    default: return 512 << 10
    }
  }
}
