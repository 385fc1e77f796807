// The floors of the network benchmark: the least that a program in C does for the same bodies.
//
// A body is received, its length and checksum are added to the result, and it is let go, or put into a folder first.
// Nothing else is done: no redirects, no retries, no cache rules, and a status other than 200 is a failure.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum floor_engine {
  // curl_multi_socket_action and epoll: the yardstick.
  floor_engine_socket,
  // curl_multi_perform and curl_multi_poll.
  floor_engine_poll,
};

struct floor_job {
  const char *const *urls;
  size_t count;
  // Easy handles, each used for one body after another.
  size_t parallel;
  enum floor_engine engine;
  // CURLOPT_BUFFERSIZE; 0: libcurl's own, 16 KiB.
  long buffer;
  // Only with floor_engine_poll, one after another: another thread asks for each body and sleeps until it is there.
  int asked_from_outside;
  // Ask for gzip, and have libcurl undo it.
  int inflates;
  // Wait for a connection that may carry many transfers instead of opening another; for HTTP/2.
  int multiplexes;
  // A PEM file; NULL: the system's.
  const char *authorities;
  // Where to put each body, as a file under the hash of its URL, in one of 256 folders; NULL: nowhere.
  const char *folder;
};

struct floor_result {
  uint64_t bodies;
  uint64_t bytes;
  // The sum of XXH3_64bits_withSeed(body, number), numbers counted from 0.
  uint64_t digest;
  // From the first request to the last body, in seconds; cpu: user and system of the whole process.
  double wall;
  double cpu;
};

// 0: all bodies came.
int floor_run(const struct floor_job *job, struct floor_result *result);

// GET by hand on one connection of 127.0.0.1, then recv and write of 256 KiB until the peer closes. The head of the
// response is cut off. 0: the file is there.
int floor_receive(int port, const char *path, const char *file, struct floor_result *result);

// Seconds: of a clock that only goes on, and of the processor, user and system, by the whole process or by this thread.
double floor_now(void);
double floor_cpu(void);
double floor_thread_cpu(void);

// The same checksum for one body.
uint64_t floor_digest(const void *bytes, size_t count, uint64_t number);

// The checksum of a file's bytes, as body number 0; count: how many. Negative: it cannot be read.
int64_t floor_file_digest(const char *path, uint64_t number, uint64_t *digest);

// A socket of 127.0.0.1 that listens and never answers; its port. Negative: none could be had.
int floor_silent_port(void);
