internal import Glibc

/// A certificate authority of a test's own, and what it has signed: PEM files in a temporary folder, made by `openssl`,
/// good for two days. Elliptic curves, since RSA keys take long to find.
package final class Certificates: Sendable {
  private let folder: TemporaryFolder

  package init() throws {
    guard DebianPackage.openssl.isInstalled else { throw SystemFault(DebianPackage.openssl.binary, ENOENT) }
    folder = try TemporaryFolder("certificates")
    let script = """
      set -e
      cd "$1"
      printf '[req]\\ndistinguished_name=name\\n[name]\\n' > openssl.cnf
      make() {
        name=$1 subject=$2
        shift 2
        openssl req -config openssl.cnf -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
          -subj "/CN=$subject" -keyout $name.key -out $name.pem "$@"
      }
      make authority 'Authority of a test' -addext basicConstraints=critical,CA:TRUE -addext keyUsage=keyCertSign
      signed='-CA authority.pem -CAkey authority.key -addext basicConstraints=critical,CA:FALSE'
      make server localhost $signed -addext subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost
      make client 'Client of a test' $signed -addext extendedKeyUsage=clientAuth
      """
    let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(nothing) }
    let process = try Shell.start(
      script, [folder.path], input: nothing, output: folder.path("output.log"))
    guard Shell.wait(for: process) == 0 else {
      let told = String(decoding: (try? folder.read("output.log")) ?? [], as: UTF8.self)
      throw StartFault("openssl made no certificates: \(told)")
    }
  }

  /// Of the authority that signed the others.
  package var authority: String { folder.path("authority.pem") }
  /// For 127.0.0.1, ::1 and localhost.
  package var server: String { folder.path("server.pem") }
  package var serverKey: String { folder.path("server.key") }
  package var client: String { folder.path("client.pem") }
  package var clientKey: String { folder.path("client.key") }
}
