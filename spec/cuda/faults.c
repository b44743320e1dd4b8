/*
** faults.c - every call of the driver fails in turn, with every error that we tell apart.
** SPDX-License-Identifier: MIT
**
** A scenario uses all of the backend. Run once without faults it tells how often it calls
** each function, up to where it begins to clean up. Then it runs once for each call and
** each error: the status is the one of the table, nothing crashes, nothing is left alive,
** a lost device stays lost, and the host goes on with the CPU.
*/
#include <limits.h>

#include "spec.h"

enum { BYTES = 4096, FEW = 512 };

typedef struct scenario {
  mt_device *d, *cpu;
  mt_stream *s;
  mt_plan *product, *up, *down;
  mt_graph *graph;
  void *src, *dst, *few, *locked;
  mt_err err;
  int before[FAKE_CALLS], after[FAKE_CALLS]; /* calls: to the clean-up, in all */
} scenario;

static const char *const names[] = {
#define MT_CUDA_CALL(name, suffix, args) #name #suffix,
#include "cuda/driver.def"
};

static void count_calls (int *out) {
  for (int i = 0; i < FAKE_CALLS; i++) out[i] = fake_calls(names[i]);
}

/* dst = src src for 8 by 8 integers, in their 4 KiB. By the family that takes no memory:
** where another lacks it, this one is taken. */
static mt_status multiply (scenario *x) {
  static const mt_gemm_options o = {.size = sizeof o, .alpha = 1, .family = "ampere"};
  int32_t c[64];
  mt_layout a, c_layout;
  MT_TRY(mt_parse(&a, "(8,8):(8,1)", 11, &x->err));
  MT_TRY(mt_parse(&c_layout, "(8,8):(1,8)", 11, &x->err));
  mt_tensor A = {a.node, MT_i8, x->src, BYTES, 0, NULL}, C = A;
  C.layout = c_layout.node, C.dtype = MT_i32, C.data = x->dst;
  MT_TRY(mt_plan_gemm(&x->product, x->d, NULL, &A, &A, &C, &o, &x->err));
  MT_TRY(mt_plan_launch(x->product, NULL, &x->err));
  MT_TRY(mt_synchronize(x->d, NULL, &x->err));
  MT_TRY(mt_download(x->d, c, x->dst, sizeof c, &x->err));
  for (int i = 0; i < 64; i++) {
    int sum = 0;
    for (int k = 0; k < 8; k++)
      sum += (int8_t)(7 * (i % 8 * 8 + k)) * (int8_t)(7 * (i / 8 * 8 + k));
    EXPECT(c[i] == sum, "product %d: %d, not %d", i, (int)c[i], sum);
  }
  return MT_OK;
}

/* A copy twice and the product once. */
static mt_status replay (scenario *x, mt_plan *p) {
  MT_TRY(mt_graph_begin(&x->graph, x->d, &x->err));
  MT_TRY(mt_plan_launch(p, NULL, &x->err));
  MT_TRY(mt_plan_launch(x->product, NULL, &x->err));
  MT_TRY(mt_plan_launch(p, NULL, &x->err));
  MT_TRY(mt_graph_end(x->graph, &x->err));
  MT_TRY(mt_graph_launch(x->graph, x->s, &x->err));
  MT_TRY(mt_graph_launch(x->graph, NULL, &x->err));
  return mt_synchronize(x->d, NULL, &x->err);
}

/* Integers of the host go up as columns and come down as rows, in 4 pieces each way. */
static mt_status transfer (scenario *x) {
  mt_layout a, b;
  int32_t host[1024], back[1024];
  MT_TRY(mt_malloc_locked(x->d, &x->locked, BYTES, &x->err));
  for (int i = 0; i < BYTES; i++)
    EXPECT(((char *)x->locked)[i] == 0, "byte %d of locked pages is not 0", i);
  MT_TRY(mt_parse(&a, "(64,16):(16,1)", 14, &x->err));
  MT_TRY(mt_parse(&b, "(64,16):(1,64)", 14, &x->err));
  for (int i = 0; i < 1024; i++) host[i] = 5 * i;
  mt_tensor from = {a.node, MT_i32, host, BYTES, 0, NULL}, to = from, there = from;
  to.data = back, there.layout = b.node, there.data = x->dst;
  MT_TRY(spec_open(&x->cpu, "cpu", &x->err));
  MT_TRY(mt_plan_transfer(&x->up, x->cpu, &from, x->d, &there, &x->err));
  MT_TRY(mt_plan_transfer(&x->down, x->d, &there, x->cpu, &to, &x->err));
  MT_TRY(mt_plan_launch(x->up, NULL, &x->err));
  MT_TRY(mt_plan_launch(x->down, x->s, &x->err));
  EXPECT(memcmp(host, back, BYTES) == 0, "transferred wrongly");
  return MT_OK;
}

/* Memory comes back without a call of the driver, and is filled by words of 1, 2 and 4
** bytes, and with what repeats in 16 only. */
static mt_status fill (scenario *x) {
  static const char *const units[] = {"aaaaaaaaaaaaaaaa", "abababababababab",
                                      "abcdabcdabcdabcd"};
  char back[FEW];
  void *unit = NULL;
  MT_TRY(mt_malloc(x->d, &x->few, FEW, &x->err));
  mt_recycle(x->d, x->few, FEW);
  MT_TRY(mt_malloc(x->d, &x->few, FEW, &x->err));
  for (int i = 0; i < 3; i++) {
    const int word = 1 << i; /* the alignment has no wider one */
    char *to = (char *)x->few + word;
    MT_TRY(mt_device_repeat(x->d, to, units[i], (size_t)(FEW - word), &x->err));
    MT_TRY(mt_download(x->d, back, x->few, FEW, &x->err));
    for (int k = 0; k < FEW - word; k++)
      EXPECT(back[word + k] == units[i][k % 16], "byte %d of %s", k, units[i]);
  }
  MT_TRY(mt_device_unit(x->d, &unit, "0123456789abcdef", &x->err));
  MT_TRY(mt_download(x->d, back, unit, 16, &x->err));
  EXPECT(memcmp(back, "0123456789abcdef", 16) == 0, "another unit");
  return mt_wait_own(x->d, &x->err);
}

static mt_status use (scenario *x) {
  unsigned char host[BYTES], back[BYTES];
  static mt_plan p; /* a graph holds it to the end */
  double us = 0;
  for (int i = 0; i < BYTES; i++) host[i] = (unsigned char)(i * 7);
  MT_TRY(spec_open(&x->d, "cuda", &x->err));
  MT_TRY(mt_malloc(x->d, &x->src, BYTES, &x->err));
  MT_TRY(mt_malloc(x->d, &x->dst, BYTES, &x->err));
  MT_TRY(mt_upload(x->d, x->src, host, BYTES, &x->err));
  MT_TRY(mt_stream_create(x->d, &x->s, &x->err));
  spec_plan(&p, x->d, x->dst, x->src, BYTES);
  MT_TRY(x->d->backend->launch(&p, x->s, &x->err));
  MT_TRY(mt_synchronize(x->d, x->s, &x->err));
  MT_TRY(mt_stream_wait(x->d, x->s, NULL, &x->err));
  MT_TRY(mt_stream_wait(x->d, NULL, x->s, &x->err));
  MT_TRY(x->d->backend->launch(&p, NULL, &x->err));
  MT_TRY(mt_synchronize(x->d, NULL, &x->err));
  MT_TRY(x->d->backend->measure(&p, 3, &us, &x->err));
  EXPECT(us > 0, "3 launches took %g us", us);
  MT_TRY(mt_download(x->d, back, x->dst, BYTES, &x->err));
  EXPECT(memcmp(host, back, BYTES) == 0, "copied wrongly");
  MT_TRY(fill(x));
  MT_TRY(multiply(x));
  MT_TRY(replay(x, &p));
  return transfer(x);
}

/* Rows become columns on the CPU, beside a GPU that may be lost. */
static void go_on_with_cpu (void) {
  mt_device *d = NULL;
  mt_plan *p = NULL;
  mt_layout a, b;
  mt_err err = MT_NOERR;
  int32_t from[64], to[64] = {0};
  for (int i = 0; i < 64; i++) from[i] = 3 * i;
  EXPECT_STATUS(spec_open(&d, "cpu", &err), MT_OK, err);
  EXPECT_STATUS(mt_parse(&a, "(16,4):(4,1)", 12, &err), MT_OK, err);
  EXPECT_STATUS(mt_parse(&b, "(16,4):(1,16)", 13, &err), MT_OK, err);
  mt_tensor src = {a.node, MT_i32, from, sizeof from, 0, NULL}, dst = src;
  dst.layout = b.node, dst.data = to;
  EXPECT_STATUS(mt_plan_copy(&p, d, NULL, &src, &dst, &err), MT_OK, err);
  EXPECT_STATUS(mt_plan_launch(p, NULL, &err), MT_OK, err);
  EXPECT_STATUS(mt_synchronize(d, NULL, &err), MT_OK, err);
  for (int i = 0; i < 64; i++)
    EXPECT(to[i] == from[i % 16 * 4 + i / 16], "on the CPU: %d is %d", i, (int)to[i]);
  mt_plan_free(p);
  mt_device_close(d);
}

static mt_status play (scenario *x) {
  memset(x, 0, sizeof *x);
  fake_restart();
  mt_status s = use(x);
  count_calls(x->before);
  if (s == MT_ELOST && x->d != NULL) {
    mt_err err = MT_NOERR;
    EXPECT_STATUS(mt_synchronize(x->d, NULL, &err), MT_ELOST, err);
  }
  if (s != MT_OK) go_on_with_cpu();
  mt_graph_free(x->graph);
  mt_plan_free(x->product);
  mt_plan_free(x->up);
  mt_plan_free(x->down);
  mt_device_close(x->cpu);
  if (x->d != NULL) {
    mt_free(x->d, x->src, BYTES);
    mt_free(x->d, x->dst, BYTES);
    mt_recycle(x->d, x->few, FEW);
    mt_free_locked(x->d, x->locked, BYTES);
    mt_stream_destroy(x->d, x->s);
    mt_device_close(x->d);
  }
  count_calls(x->after);
  return s;
}

static mt_status status_of (CUresult r) {
  static const struct {
    CUresult number;
    mt_status status;
  } rows[] = {
#define MT_CUDA_ERROR(name, number, status, advice) {number, status},
#include "cuda/driver.def"
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].number == r) return rows[i].status;
  return MT_EDRIVER;
}

static const CUresult codes[] = {
#define MT_CUDA_ERROR(name, number, status, advice) number,
#include "cuda/driver.def"
    1, 201, 400, 999};

/* The others that the driver's manual has, all of which are MT_EDRIVER: they are run
** where MOONTILE_ALL_CODES is set. 600, NOT_READY, is none: who hears it waits for ever.
** */
static const CUresult other_codes[] = {5,   6,   7,   8,   103, 202, 205, 206, 207,
                                       208, 210, 211, 212, 213, 215, 216, 217, 219,
                                       224, 225, 301, 302, 303, 304, 401, 402, 701,
                                       703, 704, 705, 708, 711, 712, 713, 720, 800,
                                       801, 805, 806, 807, 808, 809, 811, 812, 900,
                                       901, 902, 903, 904, 905, 906, 907, 908, 909,
                                       910, 912, 913, 914, 915, 916, 917};

/* Without memory for a second slot, or a further one, one must do; what the driver does not
** tell about an address is that it is page-locked; a stream that does not say whether it
** works is taken to work. Calls [first, end) are of these slots: behind them others
** synchronize, so that one call alone may fail. */
static bool is_borne (int f, int n, CUresult code, bool alone) {
  static const struct {
    int f, first, end;
  } slots[] = {{FAKE_cuMemHostAlloc, 3, INT_MAX},
               {FAKE_cuMemAlloc, 6, INT_MAX},
               {FAKE_cuEventCreate, 8, INT_MAX}, /* two events of order, two measured */
               {FAKE_cuMemsetD8Async, 7, INT_MAX},
               {FAKE_cuStreamSynchronize, 23, 26}};
  if (f == FAKE_cuPointerGetAttributes || f == FAKE_cuStreamQuery) return true;
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
    if (slots[i].f == f && n >= slots[i].first && n < slots[i].end)
      return status_of(code) == MT_ENOMEM && (alone || slots[i].end == INT_MAX);
  return false;
}

/* The status with call n of function f failing. A context that was not popped shows in
** the call after; what fails in the clean-up, of a capture too, shows nowhere. */
static mt_status expected (const scenario *clean, int f, int n, CUresult code,
                           bool alone) {
  if (n > clean->before[f] || f == FAKE_cuGraphDestroy || f == FAKE_cuStreamDestroy)
    return MT_OK;
  if (is_borne(f, n, code, alone)) return MT_OK;
  if (f != FAKE_cuCtxPopCurrent) return status_of(code);
  return n == clean->before[f] ? MT_OK : MT_ELOST;
}

/* Memory can be given back in its context only: without one it stays, and nothing else.
** */
static void expect_clean (int f, const char *order) {
  fakecuda_live live;
  fake_count(&live);
  if (f == FAKE_cuCtxPushCurrent && live.allocations <= 8) fake_forget();
  spec_expect_clean(order);
}

/* The text of an error of the driver begins with the call, and has name and number. */
static bool tells (const char *text, CUresult code) {
  char number[16];
  snprintf(number, sizeof number, "(%d): ", code);
  return strstr(text, "cu") != NULL && strstr(text, number) != NULL;
}

static bool no_kernels (int f, mt_status s) {
  return f == FAKE_cuLibraryLoadData && s == MT_ENODEV && !mt_cuda_has_kernels();
}

/* `more`: "" for call n alone, "+" for all from n on. */
static void one_fault (const scenario *clean, int f, int n, CUresult code,
                       const char *more) {
  char order[96];
  scenario x;
  snprintf(order, sizeof order, "%s:%d:%d%s", names[f], code, n, more);
  fake_set("FAKECUDA_FAIL", order);
  mt_status s = play(&x), wanted = expected(clean, f, n, code, *more == '\0');
  fake_set("FAKECUDA_FAIL", NULL);
  EXPECT(s == wanted, "%s: %s instead of %s: %s", order, mt_status_name(s),
         mt_status_name(wanted), x.err.text);
  if (s != MT_OK && !no_kernels(f, s))
    EXPECT(tells(x.err.text, code), "%s: %s", order, x.err.text);
  expect_clean(f, order);
}

static int all_faults (const scenario *clean, const CUresult *code, size_t most) {
  int runs = 0;
  for (int f = 0; f < FAKE_CALLS; f++)
    for (int n = 1; n <= clean->after[f]; n++)
      for (size_t i = 0; i < most; i++, runs += 2) {
        one_fault(clean, f, n, code[i], "");
        one_fault(clean, f, n, code[i], "+");
      }
  return runs;
}

void spec_faults (void) {
  scenario clean;
  EXPECT_STATUS(play(&clean), MT_OK, clean.err);
  spec_expect_clean("no fault");
  int runs = all_faults(&clean, codes, sizeof codes / sizeof *codes);
  if (getenv("MOONTILE_ALL_CODES") != NULL)
    runs += all_faults(&clean, other_codes, sizeof other_codes / sizeof *other_codes);
  printf("cuda: %d runs with faults\n", runs);
}
