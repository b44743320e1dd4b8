/*
** memcpy_peer.c - memcpy by several threads, each a slice: the peer of copies on the CPU.
** SPDX-License-Identifier: MIT
*/
#define _DEFAULT_SOURCE

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

#define CLASS "moontile.bench.Memcpy"

enum { MAXTHREADS = 1024 };

/* Thread 0 is the caller. Between the barriers `start` and `done` each copies its slice.
** */
typedef struct memcpy_peer {
  size_t bytes;
  char *src, *dst;
  int threads, started;
  bool ready, quit;
  pthread_barrier_t start, done;
  pthread_t thread[MAXTHREADS];
  int next; /* numbers of the threads that begin */
  pthread_mutex_t lock;
} memcpy_peer;

double peer_now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_slice (memcpy_peer *p, int i) {
  size_t slice = (p->bytes / (size_t)p->threads + 63) & ~(size_t)63;
  size_t begin = slice * (size_t)i, end = begin + slice;
  if (end > p->bytes) end = p->bytes;
  if (begin < end) memcpy(p->dst + begin, p->src + begin, end - begin);
}

static void *work (void *ud) {
  memcpy_peer *p = ud;
  pthread_mutex_lock(&p->lock);
  int i = ++p->next;
  pthread_mutex_unlock(&p->lock);
  for (;;) {
    pthread_barrier_wait(&p->start);
    if (p->quit) return NULL;
    copy_slice(p, i);
    pthread_barrier_wait(&p->done);
  }
}

static memcpy_peer *check (lua_State *L) { return luaL_checkudata(L, 1, CLASS); }

static int peer_gc (lua_State *L) {
  memcpy_peer *p = check(L);
  if (p->ready) {
    p->quit = true;
    pthread_barrier_wait(&p->start);
    for (int i = 0; i < p->started; i++) pthread_join(p->thread[i], NULL);
    pthread_barrier_destroy(&p->start);
    pthread_barrier_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    p->ready = false;
  }
  free(p->src);
  free(p->dst);
  p->src = p->dst = NULL;
  return 0;
}

static void fill (char *p, size_t bytes) {
  uint64_t x = 88172645463325252u;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    memcpy(p + i, &x, 8);
  }
}

/* In pages of 2 MiB, as large tensors are and NumPy's arrays. */
static char *new_buffer (size_t bytes) {
  char *p = NULL;
  if (posix_memalign((void **)&p, 4096, (bytes + 4095) & ~(size_t)4095)) return NULL;
#ifdef MADV_HUGEPAGE
  if (bytes >= 4 << 20) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return p;
}

/* memcpy (bytes, threads) -> a pair of buffers and the threads that copy one to the
** other. */
static int peer_new (lua_State *L) {
  lua_Integer bytes = luaL_checkinteger(L, 1), threads = luaL_checkinteger(L, 2);
  luaL_argcheck(L, bytes > 0, 1, "positive number of bytes expected");
  luaL_argcheck(L, threads >= 1 && threads <= MAXTHREADS, 2, "1 to 1024 threads");
  memcpy_peer *p = lua_newuserdatauv(L, sizeof *p, 0);
  memset(p, 0, sizeof *p);
  luaL_setmetatable(L, CLASS);
  p->bytes = (size_t)bytes;
  p->threads = (int)threads;
  p->src = new_buffer(p->bytes);
  p->dst = new_buffer(p->bytes);
  if (!p->src || !p->dst)
    return luaL_error(L, "memcpy: no memory for 2 x %I bytes", bytes);
  fill(p->src, p->bytes);
  memset(p->dst, 1, p->bytes);
  pthread_barrier_init(&p->start, NULL, (unsigned)threads);
  pthread_barrier_init(&p->done, NULL, (unsigned)threads);
  pthread_mutex_init(&p->lock, NULL);
  for (; p->started < threads - 1; p->started++)
    if (pthread_create(&p->thread[p->started], NULL, work, p))
      abort(); /* the threads that wait at the barrier cannot be called back */
  p->ready = true;
  return 1;
}

/* peer () -> seconds of one copy. */
static int peer_call (lua_State *L) {
  memcpy_peer *p = check(L);
  if (!p->ready) return luaL_error(L, "memcpy: closed");
  double t = peer_now();
  if (p->threads > 1) pthread_barrier_wait(&p->start);
  copy_slice(p, 0);
  if (p->threads > 1) pthread_barrier_wait(&p->done);
  lua_pushnumber(L, peer_now() - t);
  return 1;
}

static int processors (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)sysconf(_SC_NPROCESSORS_ONLN));
  return 1;
}

void peer_open_memcpy (lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", peer_call},
                                  {"__gc", peer_gc},
                                  {"__close", peer_gc},
                                  {NULL, NULL}};
  static const luaL_Reg functions[] = {{"memcpy", peer_new},
                                       {"processors", processors},
                                       {NULL, NULL}};
  luaL_newmetatable(L, CLASS);
  luaL_setfuncs(L, meta, 0);
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
