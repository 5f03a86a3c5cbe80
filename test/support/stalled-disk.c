/*
 * Preloaded into the service: while the file that STALL_FLAG names exists, whatever writes to or syncs a file below
 * STALL_DIR waits, as on a disk that answers no more. The wait is in the call itself, in whichever thread makes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_ours(int fd) {
  const char *dir = getenv("STALL_DIR");
  char link[64], path[PATH_MAX];
  ssize_t length;
  if (dir == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, dir, strlen(dir)) == 0;
}

static void wait_for_disk(int fd) {
  const char *flag = getenv("STALL_FLAG");
  struct stat found;
  if (flag == NULL || !is_ours(fd)) return;
  while (stat(flag, &found) == 0) usleep(20000);
}

#define REAL(name) static __typeof__(name) *real; if (real == NULL) real = dlsym(RTLD_NEXT, #name)

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  REAL(pwritev);
  wait_for_disk(fd);
  return real(fd, parts, count, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  REAL(pwritev64);
  wait_for_disk(fd);
  return real(fd, parts, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  REAL(pwrite64);
  wait_for_disk(fd);
  return real(fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  REAL(pwrite);
  wait_for_disk(fd);
  return real(fd, bytes, length, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  wait_for_disk(fd);
  return real(fd, parts, count);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  wait_for_disk(fd);
  return real(fd, bytes, length);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  wait_for_disk(fd);
  return real(fd);
}

int fsync(int fd) {
  REAL(fsync);
  wait_for_disk(fd);
  return real(fd);
}

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  wait_for_disk(fd);
  return real(fd, length);
}

int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  wait_for_disk(fd);
  return real(fd, length);
}
