internal import Glibc

/// What the machine allows this process.
enum Machine {
  /// Processors that this process may run on.
  static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Open descriptors allowed (getrlimit(2), RLIMIT_NOFILE).
  static var limitDescriptors: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }
}
