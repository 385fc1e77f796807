// Typed doors to libcurl's variadic calls, which Swift cannot call. They vanish in a release build.
#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>

static inline CURLcode mo_easy_setopt_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode mo_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode mo_easy_setopt_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}
// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, which share one type.
static inline CURLcode mo_easy_setopt_writer(
    CURL *easy, CURLoption option, size_t (*value)(char *bytes, size_t size, size_t count, void *user)) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode mo_easy_setopt_socket_opener(
    CURL *easy, curl_socket_t (*value)(void *user, curlsocktype purpose, struct curl_sockaddr *address)) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
// The bytes of an IPv4 or IPv6 address, in network order; returns how many, 0 for any other family.
static inline size_t mo_address_bytes(const struct curl_sockaddr *address, unsigned char bytes[16]) {
  const struct sockaddr *name = &address->addr;
  switch (address->family) {
  case AF_INET: memcpy(bytes, &((const struct sockaddr_in *)name)->sin_addr, 4); return 4;
  case AF_INET6: memcpy(bytes, &((const struct sockaddr_in6 *)name)->sin6_addr, 16); return 16;
  default: return 0;
  }
}

static inline long mo_easy_getinfo_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t mo_easy_getinfo_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
// The text belongs to libcurl and lives until the next call with this handle.
static inline const char *mo_easy_getinfo_text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}
static inline void *mo_easy_getinfo_private(CURL *easy) {
  void *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

static inline CURLMcode mo_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
// The next easy handle that has ended, and how; NULL when there is none.
static inline CURL *mo_multi_next_ended(CURLM *multi, CURLcode *result) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left))) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}
