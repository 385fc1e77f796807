import Testing

@testable import CurlTransfer

@Suite struct AddressRuleTests {
  /// The bytes of `1.2.3.4`, or of eight words of IPv6.
  private func bytes(_ text: String) -> [UInt8] {
    if text.contains(".") { return text.split(separator: ".").compactMap { UInt8($0) } }
    let words = text.split(separator: ":").compactMap { UInt16($0, radix: 16) }
    return words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }

  @Test(arguments: [
    ("0.0.0.0", "this network"), ("0.255.255.255", "this network"), ("10.0.0.1", "private"),
    ("10.255.255.255", "private"), ("100.64.0.1", "shared by carriers"), ("100.127.255.255", "shared by carriers"),
    ("127.0.0.1", "loopback"), ("127.255.255.254", "loopback"), ("169.254.169.254", "link-local"),
    ("172.16.0.1", "private"), ("172.31.255.255", "private"), ("192.0.0.1", "reserved for protocols"),
    ("192.0.2.1", "documentation"), ("192.88.99.1", "reserved"), ("192.168.0.1", "private"),
    ("198.18.0.1", "benchmarking"), ("198.19.255.255", "benchmarking"), ("198.51.100.7", "documentation"),
    ("203.0.113.9", "documentation"), ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"),
    ("240.0.0.1", "reserved"), ("255.255.255.255", "reserved"),
  ])
  func `special addresses of IPv4 are not public`(_ address: String, _ purpose: String) {
    #expect(AddressRule.purpose(of: bytes(address)) == purpose)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.0.9", "192.0.0.10",
    "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
  ])
  func `their neighbours are public`(_ address: String) {
    #expect(AddressRule.purpose(of: bytes(address)) == nil)
  }

  @Test(arguments: [
    ("0:0:0:0:0:0:0:0", "unspecified"), ("0:0:0:0:0:0:0:1", "loopback"), ("0:0:0:0:0:0:0:2", "not allotted"),
    ("0:0:0:0:0:0:7f00:1", "not allotted"), ("64:ff9b:1:0:0:0:0:1", "private"), ("100:0:0:0:0:0:0:1", "discarded"),
    ("2001:0:0:0:0:0:0:1", "reserved for protocols"), ("2001:2:0:0:0:0:0:1", "reserved for protocols"),
    ("2001:1ff:0:0:0:0:0:1", "reserved for protocols"), ("2001:db8:0:0:0:0:0:1", "documentation"),
    ("3fff:fff:0:0:0:0:0:1", "documentation"), ("5f00:0:0:0:0:0:0:1", "not allotted"),
    ("fc00:0:0:0:0:0:0:1", "private"), ("fdff:0:0:0:0:0:0:1", "private"), ("fe80:0:0:0:0:0:0:1", "link-local"),
    ("febf:0:0:0:0:0:0:1", "link-local"), ("fec0:0:0:0:0:0:0:1", "private"), ("ff02:0:0:0:0:0:0:1", "multicast"),
  ])
  func `special addresses of IPv6 are not public`(_ address: String, _ purpose: String) {
    #expect(AddressRule.purpose(of: bytes(address)) == purpose)
  }

  @Test(arguments: [
    "2000:0:0:0:0:0:0:1", "2001:1:0:0:0:0:0:1", "2001:3:0:0:0:0:0:1", "2001:4:112:0:0:0:0:1", "2001:20:0:0:0:0:0:1",
    "2001:200:0:0:0:0:0:1", "2606:4700:4700:0:0:0:0:1111", "3ffe:ffff:0:0:0:0:0:1", "3fff:1000:0:0:0:0:0:1",
  ])
  func `allotted addresses of IPv6 are public`(_ address: String) {
    #expect(AddressRule.purpose(of: bytes(address)) == nil)
  }

  @Test(arguments: [
    ("0:0:0:0:0:ffff:7f00:1", "loopback"), ("0:0:0:0:0:ffff:a9fe:a9fe", "link-local"),
    ("64:ff9b:0:0:0:0:a00:1", "private"), ("2002:c0a8:1:0:0:0:0:1", "private"),
    ("0:0:0:0:0:ffff:101:101", nil), ("64:ff9b:0:0:0:0:808:808", nil), ("2002:808:808:0:0:0:0:1", nil),
  ])
  func `an address with one of IPv4 inside is judged by that`(_ address: String, _ purpose: String?) {
    #expect(AddressRule.purpose(of: bytes(address)) == purpose)
  }

  @Test func `what is no address of either kind is not public`() {
    for count in [0, 1, 3, 5, 15, 17, 28] {
      #expect(AddressRule.purpose(of: Array(repeating: 1, count: count)) == "no IP address")
    }
  }

  @Test func `every first byte of IPv4 has an answer`() {
    let public4 = (UInt8.min...UInt8.max).filter { AddressRule.purpose(of: [$0, 1, 1, 1]) == nil }
    #expect(public4 == (1...223).filter { $0 != 10 && $0 != 127 })
  }
}
