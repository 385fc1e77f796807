// Users keep their own state in a `Lock`, so it comes with the library; it has a module of its own because
// `CurlTransfer` needs it and knows nothing of this one.
@_exported public import Locking
