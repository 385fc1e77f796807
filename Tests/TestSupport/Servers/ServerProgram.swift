/// A server as it is started: what to run, and the files that tell it what to do.
package struct ServerProgram: Sendable {
  package let package: DebianPackage
  /// A line for the shell, run in the server's own folder. Descriptor 9 is a socket that listens already, unless
  /// `opensPort`.
  let command: String
  /// The files of its folder, by name, for the port it is to serve.
  let files: @Sendable (_ port: Int) -> [String: String]
  var variables: [String] = []
  var speaksTLS = false
  /// It cannot be given a socket, and so cannot be asked anything until it has made its own.
  var opensPort = false
}

// MARK: nginx

extension ServerProgram {
  /// How nginx speaks TLS 1.2 and 1.3.
  package struct Security: Sendable {
    let certificates: Certificates
    /// HTTP/2 for those who can, by ALPN; else HTTP/1.1 only.
    let http2: Bool
    /// Whoever has no certificate of our authority gets status 400.
    let wantsClient: Bool

    package init(_ certificates: Certificates, http2: Bool = false, wantsClient: Bool = false) {
      self.certificates = certificates
      self.http2 = http2
      self.wantsClient = wantsClient
    }

    fileprivate var directives: String {
      let client = "ssl_client_certificate '\(certificates.authority)'; ssl_verify_client on;"
      return """
        ssl_certificate '\(certificates.server)'; ssl_certificate_key '\(certificates.serverKey)';
            ssl_protocols TLSv1.2 TLSv1.3; \(wantsClient ? client : "")
        """
    }
  }

  /// - Parameters:
  ///   - root: The folder to serve; must be readable.
  ///   - directives: Further lines for the one `location /`.
  package static func nginx(
    root: String, workers: Int = 1, directives: String = "", security: Security? = nil
  ) -> ServerProgram {
    ServerProgram(
      package: .nginx, command: "\(DebianPackage.nginx.binary) -p . -c nginx.conf -e error.log",
      files: { port in
        let words = security.map { $0.http2 ? " ssl http2" : " ssl" } ?? ""
        let site = """
          listen 127.0.0.1:\(port)\(words); root '\(root)';
              \(security?.directives ?? "")
              location / { \(directives) }
          """
        return ["nginx.conf": nginxConfiguration(workers: workers, site: site)]
      },
      // nginx's own way of changing its binary: the descriptors on which it finds its sockets.
      variables: ["NGINX=9;"], speaksTLS: security != nil)
  }

  private static func nginxConfiguration(workers: Int, site: String) -> String {
    """
    daemon off;
    worker_processes \(workers);
    pid nginx.pid;
    error_log error.log;
    \(Shell.isRoot ? "user root root;" : "")
    events { worker_connections 1024; }
    http {
      log_format told '$request $status $body_bytes_sent $connection $sent_http_content_encoding $http_via';
      access_log access.log told;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
      uwsgi_temp_path uwsgi; scgi_temp_path scgi;
      types { text/html html; text/plain txt; application/json json; }
      default_type application/octet-stream;
      sendfile on; tcp_nodelay on; keepalive_requests 1000000;
      server {
        \(site)
      }
    }

    """
  }
}

// MARK: Others

extension ServerProgram {
  /// lighttpd, HTTP/1.1, as it comes but for the folder.
  package static func lighttpd(root: String) -> ServerProgram {
    ServerProgram(
      package: .lighttpd,
      // It takes a socket only as its standard input.
      command: "\(DebianPackage.lighttpd.binary) -D -f lighttpd.conf <&9",
      files: { port in
        let text = """
          server.document-root = "\(root)"
          server.bind = "/dev/stdin"
          server.port = \(port)
          server.errorlog = "error.log"
          server.modules = ("mod_accesslog")
          accesslog.filename = "access.log"
          accesslog.format = "%r %s %b"

          """
        return ["lighttpd.conf": text]
      })
  }

  /// Caddy, as it comes but for the folder: HTTP/1.1, and HTTP/2 without TLS for those who begin with it.
  /// - Parameter directives: Further lines for the one site.
  package static func caddy(root: String, directives: String = "") -> ServerProgram {
    ServerProgram(
      package: .caddy, command: "\(DebianPackage.caddy.binary) run --config Caddyfile --adapter caddyfile",
      files: { port in
        let text = """
          {
            admin off
            auto_https off
            servers {
              protocols h1 h2c
            }
          }
          :\(port) {
            bind 127.0.0.1
            root * "\(root)"
            file_server
            log {
              output file access.log {
                roll_disabled
              }
              format json
            }
            \(directives)
          }

          """
        return ["Caddyfile": text]
      },
      variables: ["HOME=.", "XDG_DATA_HOME=.", "XDG_CONFIG_HOME=."], opensPort: true)
  }

  /// Python's `http.server`: HTTP/1.0, which closes after each reply.
  package static func python(root: String) -> ServerProgram {
    ServerProgram(
      package: .python3, command: "\(DebianPackage.python3.binary) -ISu serve.py '\(root)'",
      files: { _ in
        let text = """
          import functools, http.server, socket, sys

          class Handler(http.server.SimpleHTTPRequestHandler):
              def log_request(self, code="-", size="-"):
                  log.write("%s %d -\\n" % (self.requestline, int(code)))
              def log_error(self, *arguments):
                  pass

          log = open("access.log", "a", buffering=1)
          handler = functools.partial(Handler, directory=sys.argv[1])
          server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler, bind_and_activate=False)
          server.socket = socket.socket(fileno=9)
          server.serve_forever()

          """
        return ["serve.py": text]
      })
  }

  /// A forward proxy, tinyproxy: asks others on behalf of its clients, and says so in "Via". It closes after each reply.
  /// - Parameter login: "user password" that clients must bring; nil: it takes all.
  package static func tinyproxy(login: String? = nil) -> ServerProgram {
    ServerProgram(
      package: .tinyproxy, command: "\(DebianPackage.tinyproxy.binary) -d -c tinyproxy.conf",
      files: { port in
        let text = """
          Port \(port)
          Listen 127.0.0.1
          Timeout 60
          LogFile "access.log"
          LogLevel Connect
          MaxClients 500
          ViaProxyName "tinyproxy"
          \(login.map { "BasicAuth \($0)" } ?? "")

          """
        return ["tinyproxy.conf": text]
      },
      opensPort: true)
  }
}
