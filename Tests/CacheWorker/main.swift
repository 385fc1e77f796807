// `cache-worker file|big …`: a process that works on a cache folder beside others, or is killed at it; what it does
// stands in `ConformanceWorker`.

import Foundation
import ManagedObjects
import ManagedObjectsConformance

do {
  let arguments = CommandLine.arguments.dropFirst()
  try ConformanceWorker.run(arguments.dropFirst()) { folder, limits in
    switch arguments.first {
    case "big": try BigFileCache(folder: folder, limits: limits, shards: 256)
    default: try FileCache(folder: folder, limits: limits)
    }
  }
} catch {
  FileHandle.standardError.write(Data("cache-worker: \(error)\n".utf8))
  exit(1)
}
