// Feeds all that reads bytes from outside with bytes that libFuzzer makes up, guided by what they reach.
//
//   first byte  what the rest is
//   ----------  ------------------------------------------------------------------------------------
//   H           a raw response head                       C   a Cache-Control field
//   D           a date of a header field                  V   a Vary field, a request, an index of variants
//   R           Range, Content-Range and entity tags      F   a stored head, asked for at odd times
//   U           a URL, and a reference at it              E   an entry's head on disk, its checksum put right
//   Z           a compressed body                         T   a text that is to be shown
//
// A finding is a trap (index, overflow, `expect`), 5 seconds over one input, or memory without bound. The input is left in
// a file; `./dev fuzz FILE` runs it again.

import CFuzzer
import Foundation

let seedsOption = "--seeds"
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == seedsOption {
  try Seeds.write(to: CommandLine.arguments[2])
  exit(0)
}

var count = CommandLine.argc
var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&count, &words) { bytes, size in
    Target.run(Array(UnsafeBufferPointer(start: bytes, count: Int(size))))
    return 0
  })
