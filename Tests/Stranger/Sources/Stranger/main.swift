import ManagedObjects

// The library links and a manager can be made and let go, from a module that sees only what is public.
let manager = ObjectManager(policy: Policy())
let request = ObjectRequest("https://example.com/a.txt", oid: "a")
print("A stranger can ask for \(request.id?.description ?? "nothing").")
withExtendedLifetime(manager) {}
