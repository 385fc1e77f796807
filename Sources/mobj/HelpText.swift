/// What `mobj`, `mobj help` and `--help` print: one screen of 24 lines of 80 columns.
enum HelpText {
  static let version = "mobj 0.1.0"

  static let screen = """
    usage: mobj get [options] URL…      gets objects, and keeps them in a cache
      -o FILE           write the body to FILE (one URL; else: standard output)
      --output-dir DIR  write each body into DIR, named by the end of its URL's path
      --force           overwrite files that exist
      --input FILE      get the URLs in FILE too, one a line; - is standard input
      --json            print a line of JSON for each object; without -o or
                        --output-dir this only fills the cache
      --quiet           no progress, no summary
      --cache DIR       cache folder (default: $XDG_CACHE_HOME/mobj)
      --backend KIND    file (default), big (for millions of objects) or none
      --mode MODE       of fetch(): default, reload, no-cache, force-cache,
                        only-if-cached or no-store
      --header FIELD    send this 'Name: value'; may be given again
      --jobs N          objects at once, 1 to 1024 (default: 64)
      --timeout SECONDS for each object, retries included
      --max-size BYTES  refuse larger bodies; 64K, 10M and 1G will do
      --help, --version

    mobj get https://example.com/ | less
    mobj get --output-dir pictures --input urls.txt
    mobj get --json --mode no-cache https://example.com/ | jq .source

    exit status: 0 all good, 1 something failed, 2 wrong usage, 130 interrupted
    """
}
