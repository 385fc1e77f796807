// inflateInit2 and deflateInit2 are macros, which Swift cannot call.
#pragma once
#include <zlib.h>

static inline int mo_inflateInit2(z_stream *stream, int windowBits) { return inflateInit2(stream, windowBits); }
static inline int mo_deflateInit2(z_stream *stream, int level, int windowBits) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}
