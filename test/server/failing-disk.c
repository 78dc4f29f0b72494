/*
 * Makes the disk fail, or the process die, at the n-th write below one folder. Loaded with LD_PRELOAD by failing-disk.ts.
 * DISK_FOLDER: the folder. DISK_ORDERS: a file of the text "WHAT FROM COUNT": from the FROM-th write after the orders
 * changed on (from 1), COUNT writes fail with WHAT = eio or enospc, or the process ends there (kill). The number of
 * writes since then is kept in DISK_ORDERS, followed by the number of fsync and fdatasync calls among them. A write is a
 * pwrite, write, ftruncate, fsync or fdatasync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* Shared with whoever gives the orders: what (0 nothing, 1 eio, 2 enospc, 3 kill), from, count, writes so far, syncs of them. */
static volatile int *orders;
static const char *folder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_ORDERS");
  folder = getenv("DISK_FOLDER");
  if (!path || !folder) return;
  int fd = open(path, O_RDWR);
  if (fd < 0) return;
  void *mapped = mmap(NULL, 5 * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) orders = mapped;
  close(fd);
}

static int concerns(int fd) {
  char link[64], path[PATH_MAX];
  if (!orders) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0 && strstr(path, ".db") != NULL;
}

/* 0, or the error that this write fails with. */
static int fate(int fd) {
  if (!concerns(fd)) return 0;
  pthread_mutex_lock(&lock);
  int n = ++orders[3];
  int what = orders[0];
  int struck = what != 0 && n >= orders[1] && n < orders[1] + orders[2];
  pthread_mutex_unlock(&lock);
  if (!struck) return 0;
  if (what == 3) kill(getpid(), SIGKILL);
  return what == 1 ? EIO : ENOSPC;
}

/* Counts a sync that is done. */
static int synced(int fd, int result) {
  if (result == 0 && concerns(fd)) __sync_fetch_and_add(&orders[4], 1);
  return result;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define STRIKE(fd) \
  do { \
    int error = fate(fd); \
    if (error) { errno = error; return -1; } \
  } while (0)

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { STRIKE(fd); return REAL(pwrite64)(fd, bytes, count, at); }
ssize_t write(int fd, const void *bytes, size_t count) { STRIKE(fd); return REAL(write)(fd, bytes, count); }
int fsync(int fd) { STRIKE(fd); return synced(fd, REAL(fsync)(fd)); }
int fdatasync(int fd) { STRIKE(fd); return synced(fd, REAL(fdatasync)(fd)); }
int ftruncate64(int fd, off64_t length) { STRIKE(fd); return REAL(ftruncate64)(fd, length); }
