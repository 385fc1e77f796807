/// What `mobj`, `mobj help` and `--help` print: a screen of 24 lines of 80 columns each.
enum HelpText {
  enum Topic: CaseIterable { case all, get, cache, explain }

  static let version = "mobj 0.1.0"

  static func screen(_ topic: Topic) -> String {
    switch topic {
    case .all: all
    case .get: get
    case .cache: cache
    case .explain: explain
    }
  }

  private static let all = """
    usage: mobj get [options] URL…           gets objects, and keeps them in a cache
           mobj cache VERB [options] DIR …   looks after a cache folder
           mobj explain [options] URL        what is stored, and what would be done
           mobj get --help, mobj cache --help, mobj explain --help, mobj --version

    mobj get https://example.com/ | less
    mobj get --output-dir pictures --input urls.txt --failed rest.txt
    mobj get --json --mode no-cache https://example.com/ | jq .source

    mobj cache stat ~/.cache/mobj
    mobj cache list --json ~/.cache/mobj | jq .id
    mobj cache trim --to 1G --max-age 30d ~/.cache/mobj
    mobj cache remove ~/.cache/mobj https://example.com/
    mobj explain https://example.com/

    Results go to standard output, all that is for people to standard error.
    exit status: 0 all good, 1 something failed, 2 wrong usage, 130 interrupted
    """

  private static let get = """
    usage: mobj get [options] URL…      gets objects, and keeps them in a cache
      -o FILE            write the body to FILE (one URL; else: standard output)
      --output-dir DIR   write each body into DIR, named by the end of the URL path
      --force            overwrite files that exist
      --input FILE       get the URLs in FILE too, one a line; - is standard input
      --failed FILE      write lines that failed or never began to FILE (or -);
                         with --output-dir they may get other names then
      --json             print a line of JSON for each object; without -o or
                         --output-dir this only fills the cache
      --quiet            no progress, no summary
      --cache DIR        cache folder (default: $XDG_CACHE_HOME/mobj)
      --backend KIND     file (default), big (for millions of objects) or none
      --mode MODE        of fetch(): default, reload, no-cache, force-cache,
                         only-if-cached or no-store
      --header FIELD     send this 'Name: value'; may be given again
      --jobs N           objects at once (64); --per-host N: of one host (8)
      --retry N          tries for each object, 1 to 100 (3)
      --timeout SECONDS  for each object, retries included
      --max-size BYTES   refuse larger bodies; 64K, 10M and 1G will do

    mobj get https://example.com/ | less
    mobj get --output-dir pictures --input urls.txt --failed rest.txt
    exit status: 0 all good, 1 something failed, 2 wrong usage, 130 interrupted
    """

  private static let cache = """
    usage: mobj cache VERB [options] DIR      DIR: as given to mobj get --cache
      stat DIR             what made it, what is in it, hits, what is left over
      list DIR             every entry: bytes, age, status, URL or id, entity tag
      verify DIR           read every entry; 1 is the status when any is damaged
        --repair           and remove the damaged ones
      trim DIR             remove the least recently used, down to all of
        --to SIZE          64K, 10M, 1G (as --max-size), or 80% of what is there
        --max-files N
        --max-age AGE      since they were stored; 90s, 45m, 12h, 30d, 4w
      clear DIR            remove all entries, without asking
      remove DIR NAME…     NAME: a URL, an id as list shows it (namespace:id), or a
                           key of list --json; all answers under it are removed,
                           those of every credential and variant too
      --json               list and verify: a line of JSON each; else: one document
      --quiet              no progress

    mobj cache verify --repair ~/.cache/mobj
    mobj cache trim --to 1G --max-age 30d ~/.cache/mobj
    mobj cache list --json ~/.cache/mobj | jq -r 'select(.status != 200).id'
    exit status: 0 all good, 1 damaged, not found or failed, 2 wrong usage
    """

  private static let explain = """
    usage: mobj explain [options] URL     what is stored for it, and what mobj get
                                          would do with that now, and why
      --cache DIR        cache folder (default: $XDG_CACHE_HOME/mobj)
      --backend KIND     that it must be of: file or big (default: whatever it is)
      --mode MODE        of fetch(): default, reload, no-cache, force-cache,
                         only-if-cached or no-store
      --header FIELD     'Name: value' of the request; may be given again
      --json             one document

    Shows the head of each stored answer (secrets redacted), how old it is, how long
    it is fresh and who says so. Asks no server and changes nothing.

    mobj explain https://example.com/
    mobj explain --cache c --json https://example.com/ | jq .now.reason
    exit status: 0 all good, 1 nothing is stored or it failed, 2 wrong usage
    """
}
