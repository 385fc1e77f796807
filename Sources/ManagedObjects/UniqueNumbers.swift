/// Numbers that are as good as random ones, without asking the system for each: no two of one source are the same, and
/// those of two sources, also of two processes, meet as seldom as random ones do.
///
/// It counts from a random start, in the steps and with the mixing of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", 2014), which gives each count a number of its own. For names, not for secrets: who
/// knows one number can tell the others.
final class UniqueNumbers: Sendable {
  private let count = Lock(UInt64.random(in: .min ... .max))

  func next() -> UInt64 {
    var mixed = count.withLock { count in
      count &+= 0x9E37_79B9_7F4A_7C15
      return count
    }
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
