/// A ready object whose type only its user knows. Found under a `Representation`, which tells that type.
package protocol ObjectBoxing: AnyObject, Sendable {
  /// False: the object is a value, and `weakBox` always nil.
  var isInstance: Bool { get }
  /// Finds the object again for as long as somebody else keeps it alive; nil where the object is a value.
  func weakBox() -> (any WeakBoxing)?
}

/// What stays of a box whose object is no longer kept.
package protocol WeakBoxing: AnyObject, Sendable {
  /// The object, if it is still alive. The result may be the last to hold it, and letting it go runs its deinit,
  /// which is the user's code: never call this under a lock.
  func box() -> (any ObjectBoxing)?
}

package final class ObjectBox<Object: Sendable>: ObjectBoxing {
  let object: Object

  package init(_ object: Object) { self.object = object }

  /// The static type is asked, not the object: every value can be bridged to an object, which dies at once.
  package var isInstance: Bool { Object.self is AnyObject.Type }

  package func weakBox() -> (any WeakBoxing)? { isInstance ? WeakBox<Object>(object as AnyObject) : nil }
}

final class WeakBox<Object: Sendable>: WeakBoxing {
  // Sound: what is referred to is an `Object`, which is Sendable; only the way through `AnyObject` hides that.
  private nonisolated(unsafe) weak let object: AnyObject?

  init(_ object: AnyObject) { unsafe self.object = object }

  func box() -> (any ObjectBoxing)? { unsafe (object as? Object).map(ObjectBox.init) }
}

extension ObjectBoxing {
  /// The object, where it is of that type.
  func object<Object: Sendable>(as type: Object.Type) -> Object? { (self as? ObjectBox<Object>)?.object }
}
