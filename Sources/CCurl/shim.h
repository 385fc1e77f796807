// Typed doors to libcurl's variadic calls, which Swift cannot call. They vanish in a release build.
#pragma once
#include <curl/curl.h>

static inline CURLcode mo_easy_setopt_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode mo_easy_setopt_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
