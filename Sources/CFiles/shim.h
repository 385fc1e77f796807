// Doors for the file caches to what Swift cannot call: statx and renameat2, which Glibc's module hides or may lack,
// and atomic access to memory that processes share. All are inline and have no state.
#pragma once
// No header of the C library is included: a module that did would own its types (`timespec`), and other files of this
// package could not use them without importing it.
#include <asm/unistd.h>
#include <linux/stat.h>
#include <stdint.h>

extern long syscall(long number, ...);

// O_NOATIME of open(2), the same on all of x86, ARM and RISC-V, and UTIME_OMIT of utimensat(2).
static const int mo_no_atime = 01000000;
static const long mo_time_omit = (1l << 30) - 2l;

// What the caches ask of a file's status; times in nanoseconds since 1970, `born` 0 where the file system has none.
struct mo_file_info {
  uint64_t device, inode;
  int64_t bytes, modified, born;
  uint32_t mode, owner;
};

// A device's number as fstat(2) gives it (makedev(3)).
static inline uint64_t mo_device(uint64_t major, uint64_t minor) {
  return (major & 0xfffff000u) << 32 | (major & 0xfffu) << 8 | (minor & 0xffffff00u) << 12 | (minor & 0xffu);
}

// Dates after the year 2262 wrap around: such an entry counts as very old.
static inline int64_t mo_nanoseconds(const struct statx_timestamp *time) {
  return (int64_t)((uint64_t)time->tv_sec * 1000000000u + time->tv_nsec);
}

// statx(2); never follows a symbolic link in the last component.
static inline int mo_file_info(int folder, const char *path, struct mo_file_info *out) {
  struct statx from;
  long result = syscall(__NR_statx, folder, path, 0x100 /* AT_SYMLINK_NOFOLLOW */, STATX_BASIC_STATS | STATX_BTIME, &from);
  if (result != 0) return -1;
  out->device = mo_device(from.stx_dev_major, from.stx_dev_minor);
  out->inode = from.stx_ino;
  out->bytes = (int64_t)from.stx_size;
  out->modified = mo_nanoseconds(&from.stx_mtime);
  out->born = (from.stx_mask & STATX_BTIME) ? mo_nanoseconds(&from.stx_btime) : 0;
  out->mode = from.stx_mode;
  out->owner = from.stx_uid;
  return 0;
}

// renameat2(2) with RENAME_NOREPLACE inside one folder: fails with EEXIST where `to` is there already.
static inline int mo_rename_new(int folder, const char *from, const char *to) {
  return (int)syscall(__NR_renameat2, folder, from, folder, to, 1u);
}

// renameat2(2) with RENAME_EXCHANGE inside one folder: each gets the other's name, in one step.
static inline int mo_rename_exchange(int folder, const char *one, const char *other) {
  return (int)syscall(__NR_renameat2, folder, one, folder, other, 2u);
}

// Counters need no order among each other, so all of these are relaxed.
static inline int64_t mo_load(const int64_t *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
static inline void mo_store(int64_t *at, int64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
static inline int64_t mo_add(int64_t *at, int64_t value) { return __atomic_add_fetch(at, value, __ATOMIC_RELAXED); }
