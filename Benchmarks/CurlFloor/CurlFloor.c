// See CurlFloor.h.
#define _GNU_SOURCE
#include "CurlFloor.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

double floor_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double floor_cpu(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double floor_thread_cpu(void) {
  struct timespec spent;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

uint64_t floor_digest(const void *bytes, size_t count, uint64_t number) {
  return XXH3_64bits_withSeed(bytes, count, number);
}

int64_t floor_file_digest(const char *path, uint64_t number, uint64_t *digest) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset_withSeed(state, number);
  size_t room = 256 << 10;
  char *buffer = malloc(room);
  int64_t total = 0;
  ssize_t count;
  while ((count = read(file, buffer, room)) > 0) {
    XXH3_64bits_update(state, buffer, (size_t)count);
    total += count;
  }
  *digest = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  free(buffer);
  close(file);
  return count < 0 ? -1 : total;
}

int floor_silent_port(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof name;
  if (listener < 0 || bind(listener, (struct sockaddr *)&name, length) < 0 || listen(listener, 4096) < 0) return -1;
  if (getsockname(listener, (struct sockaddr *)&name, &length) < 0) return -1;
  return ntohs(name.sin_port);
}

// -- The loop ---------------------------------------------------------------------------------------------------------

// One easy handle and the body it is receiving.
struct lane {
  CURL *easy;
  size_t number;
  char *body;
  size_t length;
  size_t room;
};

struct loop {
  const struct floor_job *job;
  struct floor_result *result;
  CURLM *multi;
  size_t begun;
  size_t ended;
  int failed;
  int epoll;
  // When libcurl wants to be called although no socket is ready; negative: not at all.
  double due;
  int root;
  char made[256];
};

// The first piece tells how long the body is; a body that comes packed does not, and grows.
static size_t body_came(char *bytes, size_t size, size_t count, void *user) {
  struct lane *lane = user;
  size *= count;
  if (lane->length + size > lane->room) {
    curl_off_t promised = -1;
    if (!lane->body) curl_easy_getinfo(lane->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &promised);
    size_t wanted = promised > 0 ? (size_t)promised : lane->room * 2;
    if (wanted < lane->length + size) wanted = lane->length + size;
    char *grown = realloc(lane->body, wanted);
    if (!grown) return 0;
    lane->body = grown;
    lane->room = wanted;
  }
  memcpy(lane->body + lane->length, bytes, size);
  lane->length += size;
  return size;
}

static CURL *make_easy(const struct floor_job *job, struct lane *lane) {
  CURL *easy = curl_easy_init();
  if (!easy) return NULL;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, lane);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, lane);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
  if (job->buffer) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, job->buffer);
  if (job->inflates) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  if (job->multiplexes) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  if (job->authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, job->authorities);
  return easy;
}

static void begin_next(struct loop *loop, struct lane *lane) {
  if (loop->begun >= loop->job->count) return;
  lane->number = loop->begun++;
  lane->body = NULL;
  lane->length = lane->room = 0;
  curl_easy_setopt(lane->easy, CURLOPT_URL, loop->job->urls[lane->number]);
  curl_multi_add_handle(loop->multi, lane->easy);
}

// open, write, close, rename: what a cache with a file an entry cannot do without.
static int put(struct loop *loop, const char *url, const char *bytes, size_t count) {
  XXH128_hash_t hash = XXH3_128bits(url, strlen(url));
  unsigned shard = hash.low64 & 255;
  char final[64], temporary[72];
  snprintf(final, sizeof final, "%02x/%016llx%016llx", shard, (unsigned long long)hash.high64,
           (unsigned long long)hash.low64);
  snprintf(temporary, sizeof temporary, "%s.tmp", final);
  if (!loop->made[shard]) {
    char folder[4];
    snprintf(folder, sizeof folder, "%02x", shard);
    mkdirat(loop->root, folder, 0700);
    loop->made[shard] = 1;
  }
  int file = openat(loop->root, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  int whole = write(file, bytes, count) == (ssize_t)count;
  close(file);
  return whole && renameat(loop->root, temporary, loop->root, final) == 0;
}

static void finish(struct loop *loop, struct lane *lane, CURLcode code) {
  long status = 0;
  curl_easy_getinfo(lane->easy, CURLINFO_RESPONSE_CODE, &status);
  const char *url = loop->job->urls[lane->number];
  if (code != CURLE_OK || status != 200) {
    if (!loop->failed) fprintf(stderr, "%s: %s, status %ld\n", url, curl_easy_strerror(code), status);
    loop->failed = 1;
  } else {
    if (loop->job->folder && !put(loop, url, lane->body, lane->length)) loop->failed = 1;
    loop->result->bodies += 1;
    loop->result->bytes += lane->length;
    loop->result->digest += floor_digest(lane->body, lane->length, lane->number);
  }
  free(lane->body);
  loop->ended += 1;
}

static void take_ended(struct loop *loop) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(loop->multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    struct lane *lane;
    CURLcode code = message->data.result;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &lane);
    curl_multi_remove_handle(loop->multi, lane->easy);
    finish(loop, lane, code);
    if (!loop->job->asked_from_outside) begin_next(loop, lane);
  }
}

// -- The engines ------------------------------------------------------------------------------------------------------

static int socket_wants(CURL *easy, curl_socket_t socket, int what, void *user, void *known) {
  (void)easy;
  struct loop *loop = user;
  struct epoll_event event = {.data.fd = socket};
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(loop->epoll, EPOLL_CTL_DEL, socket, &event);
    return 0;
  }
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (known) return epoll_ctl(loop->epoll, EPOLL_CTL_MOD, socket, &event);
  // Descriptors are reused, and the kernel drops closed ones by itself.
  if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, socket, &event) < 0 && errno == EEXIST)
    epoll_ctl(loop->epoll, EPOLL_CTL_MOD, socket, &event);
  curl_multi_assign(loop->multi, socket, loop);
  return 0;
}

static int timer_wants(CURLM *multi, long milliseconds, void *user) {
  (void)multi;
  struct loop *loop = user;
  loop->due = milliseconds < 0 ? -1 : floor_now() + (double)milliseconds / 1000;
  return 0;
}

static void turn_socket(struct loop *loop) {
  struct epoll_event events[256];
  int running, wait = -1;
  if (loop->due >= 0) {
    double left = (loop->due - floor_now()) * 1000;
    wait = left <= 0 ? 0 : (int)(left + 0.999);
  }
  int count = epoll_wait(loop->epoll, events, 256, wait);
  if (count <= 0) {
    loop->due = -1;
    curl_multi_socket_action(loop->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  for (int i = 0; i < count; i++) {
    int what = 0;
    if (events[i].events & EPOLLIN) what |= CURL_CSELECT_IN;
    if (events[i].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
    if (events[i].events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
    curl_multi_socket_action(loop->multi, events[i].data.fd, what, &running);
  }
  take_ended(loop);
}

static void turn_poll(struct loop *loop) {
  int running;
  curl_multi_perform(loop->multi, &running);
  take_ended(loop);
  if (loop->ended < loop->job->count) curl_multi_poll(loop->multi, NULL, 0, 1000, NULL);
}

// -- Asked from outside -----------------------------------------------------------------------------------------------

// What any library with a thread of its own for libcurl does at least: two threads that wake each other for each body.
struct desk {
  struct loop *loop;
  struct lane *lane;
  sem_t answered;
  atomic_int is_asked;
};

static void *serve(void *user) {
  struct desk *desk = user;
  struct loop *loop = desk->loop;
  while (loop->ended < loop->job->count) {
    if (atomic_exchange(&desk->is_asked, 0)) begin_next(loop, desk->lane);
    size_t before = loop->ended;
    int running;
    curl_multi_perform(loop->multi, &running);
    take_ended(loop);
    if (loop->ended > before)
      sem_post(&desk->answered);
    else
      curl_multi_poll(loop->multi, NULL, 0, 1000, NULL);
  }
  return NULL;
}

static int run_from_outside(struct loop *loop, struct lane *lane) {
  struct desk desk = {.loop = loop, .lane = lane};
  pthread_t server;
  sem_init(&desk.answered, 0, 0);
  if (pthread_create(&server, NULL, serve, &desk) != 0) return 0;
  for (size_t i = 0; i < loop->job->count; i++) {
    atomic_store(&desk.is_asked, 1);
    curl_multi_wakeup(loop->multi);
    sem_wait(&desk.answered);
  }
  pthread_join(server, NULL);
  sem_destroy(&desk.answered);
  return 1;
}

int floor_run(const struct floor_job *job, struct floor_result *result) {
  memset(result, 0, sizeof *result);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct loop loop = {.job = job, .result = result, .multi = curl_multi_init(), .due = -1};
  struct lane *lanes = calloc(job->parallel, sizeof *lanes);
  if (!loop.multi || !lanes) return 1;
  curl_multi_setopt(loop.multi, CURLMOPT_MAXCONNECTS, (long)job->parallel);
  loop.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (job->engine == floor_engine_socket) {
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETFUNCTION, socket_wants);
    curl_multi_setopt(loop.multi, CURLMOPT_SOCKETDATA, &loop);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERFUNCTION, timer_wants);
    curl_multi_setopt(loop.multi, CURLMOPT_TIMERDATA, &loop);
  }
  loop.root = job->folder ? open(job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  double wall = floor_now(), cpu = floor_cpu();
  for (size_t i = 0; i < job->parallel; i++) {
    if (!(lanes[i].easy = make_easy(job, &lanes[i]))) return 1;
    if (!job->asked_from_outside) begin_next(&loop, &lanes[i]);
  }
  if (job->asked_from_outside && !run_from_outside(&loop, &lanes[0])) return 1;
  while (loop.ended < job->count)
    job->engine == floor_engine_socket ? turn_socket(&loop) : turn_poll(&loop);
  result->wall = floor_now() - wall;
  result->cpu = floor_cpu() - cpu;
  for (size_t i = 0; i < job->parallel; i++) curl_easy_cleanup(lanes[i].easy);
  curl_multi_cleanup(loop.multi);
  if (loop.root >= 0) close(loop.root);
  close(loop.epoll);
  free(lanes);
  return loop.failed;
}

// -- One stream by hand -----------------------------------------------------------------------------------------------

static int write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0) return 0;
    bytes += written;
    count -= (size_t)written;
  }
  return 1;
}

int floor_receive(int port, const char *path, const char *file, struct floor_result *result) {
  memset(result, 0, sizeof *result);
  double wall = floor_now(), cpu = floor_cpu();
  int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in name = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  size_t room = 256 << 10;
  char *buffer = malloc(room);
  if (peer < 0 || out < 0 || !buffer || connect(peer, (struct sockaddr *)&name, sizeof name) < 0) return 1;
  int length = snprintf(buffer, room, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
  if (!write_all(peer, buffer, (size_t)length)) return 1;
  int in_head = 1, failed = 0;
  ssize_t count;
  while (!failed && (count = recv(peer, buffer, room, 0)) > 0) {
    char *bytes = buffer;
    if (in_head) {
      // The server sends its head in one piece.
      char *end = memmem(buffer, (size_t)count, "\r\n\r\n", 4);
      if (!end || memcmp(buffer, "HTTP/1.1 200", 12) != 0) return 1;
      bytes = end + 4;
      in_head = 0;
    }
    size_t rest = (size_t)(buffer + count - bytes);
    failed = !write_all(out, bytes, rest);
    result->bytes += rest;
  }
  close(peer);
  close(out);
  free(buffer);
  result->bodies = 1;
  result->wall = floor_now() - wall;
  result->cpu = floor_cpu() - cpu;
  return failed;
}
