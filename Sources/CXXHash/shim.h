// xxHash, and doors to the faster of its two ways to compute one value.
//
// On x86 the plain functions are made for every processor of that kind; where the library was built with a choice at run
// time they take three times as long for 4 KiB. Its header is installed only where the library has those functions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
static inline uint64_t mo_xxh3(const void *bytes, size_t count) { return XXH3_64bits_dispatch(bytes, count); }
static inline void mo_xxh3_update(XXH3_state_t *state, const void *bytes, size_t count) {
  XXH3_64bits_update_dispatch(state, bytes, count);
}
#else
static inline uint64_t mo_xxh3(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
static inline void mo_xxh3_update(XXH3_state_t *state, const void *bytes, size_t count) {
  XXH3_64bits_update(state, bytes, count);
}
#endif

// For texts, which are too short for the choice to matter.
static inline uint64_t mo_xxh3_seeded(const void *bytes, size_t count, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}
