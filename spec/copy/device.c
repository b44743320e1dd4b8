/*
** device.c - host devices: names, memory, allocators that fail, threads.
** SPDX-License-Identifier: MIT
*/
#include <sys/wait.h>
#include <unistd.h>

#include "exec_test.h"

/* Fails from the n-th allocation on; counts what is alive. */
typedef struct purse {
  long left, blocks;
  size_t bytes;
} purse;

static void *counted (void *ud, void *ptr, size_t osize, size_t nsize) {
  purse *p = ud;
  if (nsize == 0) {
    if (ptr) p->blocks--, p->bytes -= osize;
    free(ptr);
    return NULL;
  }
  if (p->left-- <= 0 || nsize > (size_t)1 << 40) return NULL;
  void *q = realloc(ptr, nsize);
  p->blocks += ptr == NULL;
  p->bytes += nsize - (ptr ? osize : 0);
  return q;
}

static void check_names (void) {
  static const char *const bad[] =
      {"",      "gpu",    "cpu:",    "cpu:1",   "cpu:fast",        "cpu:checked:1",
       "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999"};
  mt_device *d;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    mt_err why = MT_NOERR;
    CHECK(mt_device_open(&d, bad[i], NULL, &why) == MT_ENODEV && d == NULL && why.text[0],
          "\"%s\" opens", bad[i]);
  }
  mt_device_options o = {.size = sizeof o, .threads = -1};
  mt_err why = MT_NOERR;
  CHECK(mt_device_open(&d, "cpu", &o, &why) == MT_EINVAL, "-1 threads");
  MUST(mt_device_open(&d, "cpu", NULL, err));
  CHECK(strcmp(mt_device_name(d), "cpu") == 0 && mt_device_about(d)[0] &&
            mt_device_is_host(d),
        "%s", mt_device_name(d));
  mt_device_close(d);
  mt_device_close(NULL);
  CHECK(strcmp(mt_kernel_name("cpu", 0), "cpu_rows") == 0, "cpu_rows");
  CHECK(mt_kernel_name("cpu", 99) == NULL && mt_kernel_name("cpu", -1) == NULL &&
            mt_kernel_name("gpu", 0) == NULL,
        "no such kernels");
}

static void check_memory (mt_device *d) {
  for (size_t n = 0; n < 3000; n = n * 2 + 1) {
    void *p, *q;
    char out[3000];
    MUST(mt_malloc(d, &p, n, err));
    MUST(mt_malloc(d, &q, n, err));
    CHECK(n == 0 || ((uintptr_t)p % 256 == 0 && (uintptr_t)q % 256 == 0), "alignment");
    memset(out, 1, sizeof out);
    MUST(mt_download(d, out, p, n, err));
    for (size_t i = 0; i < n; i++) CHECK(out[i] == 0, "not zeroed");
    memset(out, 7, sizeof out);
    MUST(mt_upload(d, q, out, n, err));
    memset(out, 0, sizeof out);
    MUST(mt_download(d, out, q, n, err));
    CHECK(n == 0 || out[n - 1] == 7, "not there");
    mt_free(d, p, n);
    mt_free(d, q, n);
  }
  void *p = &p;
  mt_err why = MT_NOERR;
  CHECK(mt_malloc(d, &p, SIZE_MAX, &why) == MT_ENOMEM && p == NULL,
        "all memory there is");
  CHECK(mt_malloc(d, &p, PTRDIFF_MAX - 300, &why) == MT_ENOMEM && p == NULL,
        "half of it");
}

/* Everything that allocates, once. */
static mt_status scenario (const char *name, purse *p, mt_err *why) {
  mt_device_options o = {.size = sizeof o, .alloc = counted, .alloc_ud = p, .threads = 2};
  mt_layout a = parse("(64,64):(64,1)"), b = parse("(64,64):(1,64)");
  mt_device *d = NULL;
  mt_plan *plan = NULL;
  mt_stream *stream = NULL;
  void *x = NULL, *y = NULL;
  mt_status s = mt_device_open(&d, name, &o, why);
  if (s == MT_OK) s = mt_malloc(d, &x, 16384, why);
  if (s == MT_OK) s = mt_malloc(d, &y, 16384, why);
  mt_tensor src = {a.node, MT_f32, x, 16384, 0, NULL};
  mt_tensor dst = {b.node, MT_f32, y, 16384, 0, NULL};
  if (s == MT_OK) s = mt_stream_create(d, &stream, why);
  if (s == MT_OK) s = mt_plan_copy(&plan, d, NULL, &src, &dst, why);
  long before = p->left;
  if (s == MT_OK) s = mt_plan_launch(plan, stream, why);
  if (s == MT_OK) s = mt_synchronize(d, stream, why);
  CHECK(p->left == before, "a launch allocates");
  mt_plan_free(plan);
  if (d) {
    mt_stream_destroy(d, stream);
    mt_free(d, x, 16384);
    mt_free(d, y, 16384);
  }
  mt_device_close(d);
  return s;
}

static void check_failing (const char *name) {
  bool whole = false;
  for (long n = 0; n < 30 && !whole; n++) {
    purse p = {n, 0, 0};
    mt_err why = MT_NOERR;
    mt_status s = scenario(name, &p, &why);
    CHECK(s == MT_OK || (s == MT_ENOMEM && why.text[0]), "%ld: %s", n, mt_status_name(s));
    CHECK(p.blocks == 0 && p.bytes == 0, "%ld allocations: %ld blocks leak", n, p.blocks);
    whole = s == MT_OK;
  }
  CHECK(whole, "never succeeds");
}

/* ---------------------------------------------------------------- threads */

static void transpose_on (mt_device *d, int n) {
  char text[64];
  void *x, *y;
  mt_plan *p;
  size_t bytes = (size_t)n * (size_t)n * 4;
  snprintf(text, sizeof text, "(%d,%d):(%d,1)", n, n, n);
  mt_layout a = parse(text);
  snprintf(text, sizeof text, "(%d,%d):(1,%d)", n, n, n);
  mt_layout b = parse(text);
  MUST(mt_malloc(d, &x, bytes, err));
  MUST(mt_malloc(d, &y, bytes, err));
  uint32_t *from = x, *to = y;
  for (size_t i = 0; i < bytes / 4; i++) from[i] = (uint32_t)i;
  mt_tensor s = {a.node, MT_f32, x, bytes, 0, NULL};
  mt_tensor t = {b.node, MT_f32, y, bytes, 0, NULL};
  MUST(mt_plan_copy(&p, d, NULL, &s, &t, err));
  MUST(mt_plan_launch(p, NULL, err));
  for (size_t i = 0; i < bytes / 4; i++)
    if (to[i] != i % (size_t)n * (size_t)n + i / (size_t)n) {
      CHECK(false, "wrong at %d", (int)i);
      break;
    }
  mt_plan_free(p);
  mt_free(d, x, bytes);
  mt_free(d, y, bytes);
}

/* The pool starts late, works again and again, and a child process works without it. */
static void check_threads (int threads) {
  mt_device_options o = {.size = sizeof o, .threads = threads};
  mt_device *d;
  int status = 1;
  MUST(mt_device_open(&d, "cpu", &o, err));
  transpose_on(d, 8);
  for (int i = 0; i < 5; i++) transpose_on(d, 700 + i * 64);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    transpose_on(d, 800);
    mt_device_close(d);
    _exit(0);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
        "the child fails");
  transpose_on(d, 900);
  mt_device_close(d);
}

void test_device (void) {
  mt_device *d;
  purse p = {1000, 0, 0};
  mt_device_options o = {.size = sizeof o, .alloc = counted, .alloc_ud = &p};
  check_names();
  MUST(mt_device_open(&d, "cpu", &o, err));
  check_memory(d);
  mt_device_close(d);
  CHECK(p.blocks == 0 && p.bytes == 0, "memory leaks");
  check_failing("cpu");
  check_failing("cpu:checked");
  for (int threads = 1; threads < 6; threads++) check_threads(threads);
}
