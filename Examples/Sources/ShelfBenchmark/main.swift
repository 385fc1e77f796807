import CacheBenchmark
import Shelf

// A backend of one's own beside the library's, on the same work in one run.
try CacheBenchmark.main(adding: [
  CacheContender("ShelfBackend") { _, limits in ShelfBackend(limitEntries: limits.limitEntries ?? .max) }
])
