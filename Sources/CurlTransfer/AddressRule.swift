/// Whether an IP address is one of the public Internet, so that a server which loads what strangers name cannot be sent
/// to its own neighbours.
///
/// The ranges are those of IANA's special-purpose address registries (RFC 6890, as of 2025) that are not "globally
/// reachable", and multicast. Of IPv6 only 2000::/3 is allotted at all. An address that carries an IPv4 address inside
/// (mapped, NAT64, 6to4) is judged by that.
package enum AddressRule {
  /// - Parameter address: 4 or 16 bytes, in network order.
  /// - Returns: what the address is for; nil: it is public.
  package static func purpose(of address: [UInt8]) -> String? {
    switch address.count {
    case 4: purpose(in: special4, address)
    case 16: purpose6(address)
    default: "no IP address"
    }
  }

  private static func purpose6(_ address: [UInt8]) -> String? {
    for embedding in embeddings where embedding.range.contains(address) {
      return purpose(of: Array(address[embedding.at..<(embedding.at + 4)]))
    }
    if reachable6.contains(where: { $0.contains(address) }) { return nil }
    if let purpose = purpose(in: special6, address) { return purpose }
    return allotted6.contains(address) ? nil : "not allotted"
  }

  private static func purpose(in table: [(AddressRange, String)], _ address: [UInt8]) -> String? {
    guard !reachable4.contains(where: { $0.contains(address) }) else { return nil }
    return table.first { $0.0.contains(address) }?.1
  }

  // MARK: The registries

  private static let special4: [(AddressRange, String)] = [
    (AddressRange([0], 8), "this network"), (AddressRange([10], 8), "private"),
    (AddressRange([100, 64], 10), "shared by carriers"), (AddressRange([127], 8), "loopback"),
    (AddressRange([169, 254], 16), "link-local"), (AddressRange([172, 16], 12), "private"),
    (AddressRange([192, 0, 0], 24), "reserved for protocols"), (AddressRange([192, 0, 2], 24), "documentation"),
    (AddressRange([192, 88, 99], 24), "reserved"), (AddressRange([192, 168], 16), "private"),
    (AddressRange([198, 18], 15), "benchmarking"), (AddressRange([198, 51, 100], 24), "documentation"),
    (AddressRange([203, 0, 113], 24), "documentation"), (AddressRange([224], 4), "multicast"),
    (AddressRange([240], 4), "reserved"),
  ]

  /// Within 192.0.0.0/24, but reachable: Port Control Protocol and TURN anycast.
  private static let reachable4 = [AddressRange([192, 0, 0, 9], 32), AddressRange([192, 0, 0, 10], 32)]

  private static let special6: [(AddressRange, String)] = [
    (AddressRange(words: [0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (AddressRange(words: [], 128), "unspecified"),
    (AddressRange(words: [0x64, 0xFF9B, 1], 48), "private"),
    (AddressRange(words: [0x100], 64), "discarded"),
    (AddressRange(words: [0x2001], 23), "reserved for protocols"),
    (AddressRange(words: [0x2001, 0xDB8], 32), "documentation"),
    (AddressRange(words: [0x3FFF], 20), "documentation"),
    (AddressRange(words: [0xFC00], 7), "private"), (AddressRange(words: [0xFE80], 10), "link-local"),
    (AddressRange(words: [0xFEC0], 10), "private"), (AddressRange(words: [0xFF00], 8), "multicast"),
  ]

  /// Within 2001::/23, but reachable: anycast of PCP, TURN and DNS-SD, AMT, AS112, ORCHIDv2, drone identities.
  private static let reachable6 = [
    AddressRange(words: [0x2001, 1, 0, 0, 0, 0, 0, 1], 128), AddressRange(words: [0x2001, 1, 0, 0, 0, 0, 0, 2], 128),
    AddressRange(words: [0x2001, 1, 0, 0, 0, 0, 0, 3], 128), AddressRange(words: [0x2001, 3], 32),
    AddressRange(words: [0x2001, 4, 0x112], 48), AddressRange(words: [0x2001, 0x20], 28),
    AddressRange(words: [0x2001, 0x30], 28),
  ]

  private static let allotted6 = AddressRange(words: [0x2000], 3)

  /// Where an IPv4 address stands inside one of IPv6.
  private static let embeddings: [(range: AddressRange, at: Int)] = [
    (AddressRange(words: [0, 0, 0, 0, 0, 0xFFFF], 96), 12), (AddressRange(words: [0x64, 0xFF9B], 96), 12),
    (AddressRange(words: [0x2002], 16), 2),
  ]
}

/// All addresses that begin with the same bits: `10.0.0.0/8`.
private struct AddressRange: Sendable {
  private let prefix: [UInt8]
  private let bits: Int
  private let length: Int

  init(_ prefix: [UInt8], _ bits: Int) { self.init(prefix, bits, length: 4) }

  init(words: [UInt16], _ bits: Int) {
    self.init(words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }, bits, length: 16)
  }

  private init(_ prefix: [UInt8], _ bits: Int, length: Int) {
    self.prefix = prefix + Array(repeating: 0, count: length - prefix.count)
    self.bits = bits
    self.length = length
  }

  func contains(_ address: [UInt8]) -> Bool {
    guard address.count == length else { return false }
    let whole = bits / 8
    guard address[..<whole] == prefix[..<whole] else { return false }
    let rest = bits % 8
    return rest == 0 || (address[whole] ^ prefix[whole]) >> UInt8(8 - rest) == 0
  }
}
