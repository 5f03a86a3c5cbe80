/*
 * Preloaded into the service: its wall clock, and no other, is ahead by the milliseconds that stand in the file which
 * CLOCK_STEP names, 8 bytes in the machine's own order. Whoever writes other ones there steps it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead_ms;

__attribute__((constructor)) static void find_step(void) {
  const char *path = getenv("CLOCK_STEP");
  int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  void *found;
  if (fd < 0) return;
  found = mmap(NULL, sizeof *ahead_ms, PROT_READ, MAP_SHARED, fd, 0);
  if (found != MAP_FAILED) ahead_ms = found;
  close(fd);
}

static int64_t step_ms(void) { return ahead_ms == NULL ? 0 : *ahead_ms; }

int clock_gettime(clockid_t id, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  int answer;
  int64_t ms;
  if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
  answer = real(id, time);
  if (answer != 0 || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return answer;
  ms = step_ms();
  time->tv_sec += ms / 1000;
  time->tv_nsec += (ms % 1000) * 1000000;
  if (time->tv_nsec >= 1000000000) {
    time->tv_nsec -= 1000000000;
    time->tv_sec += 1;
  } else if (time->tv_nsec < 0) {
    time->tv_nsec += 1000000000;
    time->tv_sec -= 1;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != NULL) *into = now.tv_sec;
  return now.tv_sec;
}
