#!/usr/bin/env python3
"""python-diskcache as a candidate of the cache benchmark: `diskcache_peer.py FOLDER`, by the protocol that stands at
the top of Sources/cache-peer/main.swift. Its limit is one of bytes, and it removes what was stored longest ago."""
import os
import sys
import time

import diskcache

BYTES_BESIDE = 600  # of a row beside the body, where none is there yet: key, indices, page remainders
folder = sys.argv[1]
now = time.perf_counter_ns


def name(key):
    return f"https://cdn.example.org/assets/2024/08/{key // 1000}/item-{key}.jpg"


def body(key, count):
    return key.to_bytes(8, "little") + bytes((at * 31) & 255 for at in range(8, count)) if count >= 8 else bytes(count)


def opened(limit=0, body_bytes=0):
    cache = diskcache.Cache(folder, size_limit=2**44)
    if limit:
        count = len(cache)
        each = cache.volume() / count if count else body_bytes + BYTES_BESIDE
        cache.reset("size_limit", int(limit * each))
    else:
        cache.reset("size_limit", 2**44)
    return cache


def checked(found, key, count):
    if found is None:
        raise ValueError(f"{name(key)} is missing")
    if len(found) != count or found[:8] != key.to_bytes(8, "little"):
        raise ValueError(f"{name(key)} has other bytes")


def run(operation, number, keys):
    global cache
    if operation == "open":
        start = now()
        cache.close()
        cache = opened(keys[0], number)
        for key in keys[1:]:
            cache.get(name(key))
        return [now() - start]
    if operation == "count":
        return [len(cache)]
    if operation == "trim":
        start = now()
        cache.cull()
        return [now() - start]
    return [measured(operation, key, number) for key in keys]


def measured(operation, key, count):
    url, content, is_hit = name(key), body(key, count) if operation in ("put", "mixed") else None, True
    start = now()
    if operation == "put":
        cache.set(url, content)
    elif operation == "get":
        checked(cache.get(url), key, count)
    elif operation == "miss":
        if cache.get(url) is not None:
            raise ValueError("found what was never stored")
    elif operation == "contains":
        if url not in cache:
            raise ValueError(f"{url} is missing")
    elif operation == "mixed":
        found = cache.get(url)
        is_hit = found is not None
        if is_hit:
            checked(found, key, count)
        else:
            cache.set(url, content)
    else:
        raise ValueError(f"{operation} is no operation")
    taken = now() - start
    return taken if is_hit else -taken


os.makedirs(folder, exist_ok=True)
cache = opened()
python = ".".join(map(str, sys.version_info[:3]))
print(f"python-diskcache|{diskcache.__version__}, Python {python}|limit trim", flush=True)
for line in sys.stdin:
    words = line.split()
    try:
        times = run(words[0], int(words[1]), [int(word) for word in words[2:]])
        print(" ".join(map(str, times)), flush=True)
    except Exception as fault:
        print(f"error {fault}", flush=True)
