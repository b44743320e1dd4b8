/*
** beside.c - devices of one context beside each other on the fake driver: none waits for
** the work of another, and memory goes from one use to the next in order.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

enum { BYTES = 4096, PIECE = 3 * BYTES };

/* A device with memory: bytes go from `src` to `dst`. */
typedef struct guest {
  mt_device *d;
  void *src, *dst;
  mt_plan p;
  mt_err err;
} guest;

static unsigned char data[BYTES];

static void enter (guest *g) {
  memset(g, 0, sizeof *g);
  for (int i = 0; i < BYTES; i++) data[i] = (unsigned char)(i * 41 >> 2);
  EXPECT_STATUS(spec_open_pieces(&g->d, PIECE, &g->err), MT_OK, g->err);
  EXPECT_STATUS(mt_malloc(g->d, &g->src, BYTES, &g->err), MT_OK, g->err);
  EXPECT_STATUS(mt_malloc(g->d, &g->dst, BYTES, &g->err), MT_OK, g->err);
  EXPECT_STATUS(mt_upload(g->d, g->src, data, BYTES, &g->err), MT_OK, g->err);
  spec_plan(&g->p, g->d, g->dst, g->src, BYTES);
}

static void leave (guest *g) {
  mt_recycle(g->d, g->src, BYTES);
  mt_recycle(g->d, g->dst, BYTES);
  mt_device_close(g->d);
}

static void start (guest *g, mt_stream *s) {
  EXPECT_STATUS(mt_plan_launch(&g->p, s, &g->err), MT_OK, g->err);
}

static CUresult query (guest *g, mt_stream *s) {
  CUcontext popped;
  mt_cuda *c = g->d->impl;
  c->driver.cuCtxPushCurrent(c->context);
  CUresult r = c->driver.cuStreamQuery(mt_stream_handle(g->d, s));
  c->driver.cuCtxPopCurrent(&popped);
  return r;
}

/* Calls that wait for all threads of a context. */
static int waits (void) {
  return fake_calls("cuCtxSynchronize") + fake_calls("cuMemFree_v2") +
         fake_calls("cuMemAlloc_v2");
}

/* ---------------------------------------------------------------- waiting */

/* One waits while the other, slow, goes on. */
static void test_synchronize (void) {
  guest a, b;
  enter(&a);
  enter(&b);
  fake_restart();
  fake_set("FAKECUDA_SLOW", "300");
  start(&b, NULL);
  EXPECT(query(&b, NULL) == MT_CU_NOT_READY, "b has nothing to do");
  fake_set("FAKECUDA_SLOW", NULL);
  start(&a, NULL);
  EXPECT_STATUS(mt_synchronize(a.d, NULL, &a.err), MT_OK, a.err);
  fake_set("FAKECUDA_SLOW", "300");
  EXPECT(query(&b, NULL) == MT_CU_NOT_READY, "a waited for b");
  EXPECT(waits() == 0, "%d calls wait for all", waits());
  fake_set("FAKECUDA_SLOW", NULL);
  leave(&a);
  leave(&b);
  spec_expect_clean("one waits");
}

/* Its own stream, others that it made, one that was closed: all are waited for. */
static void test_own_streams (void) {
  guest g;
  mt_stream *s[2];
  enter(&g);
  for (int i = 0; i < 2; i++)
    EXPECT_STATUS(mt_stream_create(g.d, &s[i], &g.err), MT_OK, g.err);
  void *last = mt_stream_handle(g.d, s[0]), *closed = mt_stream_handle(g.d, s[1]);
  fake_set("FAKECUDA_SLOW", "20");
  for (int i = 0; i < 2; i++) start(&g, s[i]);
  start(&g, NULL);
  mt_stream_destroy(g.d, s[1]);
  fake_restart();
  EXPECT_STATUS(mt_synchronize(g.d, NULL, &g.err), MT_OK, g.err);
  fake_set("FAKECUDA_SLOW", "1000");
  EXPECT(query(&g, NULL) == 0 && query(&g, last) == 0 && query(&g, closed) == 0,
         "a stream of its own still works");
  EXPECT(waits() == 0, "%d calls wait for all", waits());
  fake_set("FAKECUDA_SLOW", NULL);
  mt_stream_destroy(g.d, s[0]);
  leave(&g);
  spec_expect_clean("own streams");
}

/* What a kernel meets on any of them shows. */
static void test_errors (void) {
  for (int own = 0; own < 2; own++) {
    guest g;
    mt_stream *s = NULL;
    enter(&g);
    EXPECT_STATUS(mt_stream_create(g.d, &s, &g.err), MT_OK, g.err);
    g.p.launch.offset[MT_DST] = 16;
    start(&g, own ? NULL : s);
    EXPECT_STATUS(mt_synchronize(g.d, NULL, &g.err), MT_ELOST, g.err);
    EXPECT_TEXT(g.err, "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    mt_stream_destroy(g.d, s);
    leave(&g);
    spec_expect_clean("errors");
  }
}

/* Of a stream of the host's only the handle is known, which may be gone: the context is
** waited for, unless it was waited for by its name since. */
static void test_lent_stream (void) {
  guest g;
  mt_stream *s = NULL;
  CUstream lent = NULL;
  CUcontext popped;
  enter(&g);
  mt_cuda *c = g.d->impl;
  c->driver.cuCtxPushCurrent(c->context);
  EXPECT(c->driver.cuStreamCreate(&lent, MT_CU_NON_BLOCKING) == 0, "no stream");
  c->driver.cuCtxPopCurrent(&popped);
  EXPECT_STATUS(mt_stream_of(g.d, &s, lent, &g.err), MT_OK, g.err);
  fake_set("FAKECUDA_SLOW", "20");
  fake_restart();
  start(&g, s);
  EXPECT_STATUS(mt_synchronize(g.d, NULL, &g.err), MT_OK, g.err);
  EXPECT(query(&g, s) == 0, "the host's stream still works");
  EXPECT(fake_calls("cuCtxSynchronize") == 1, "not by the context");
  start(&g, s);
  EXPECT_STATUS(mt_synchronize(g.d, s, &g.err), MT_OK, g.err);
  EXPECT_STATUS(mt_synchronize(g.d, NULL, &g.err), MT_OK, g.err);
  EXPECT(fake_calls("cuCtxSynchronize") == 1, "it was waited for by its name");
  start(&g, s);
  mt_recycle(g.d, g.dst, BYTES);
  EXPECT(fake_calls("cuMemFree_v2") == 1, "what a host's stream may use is kept");
  g.dst = NULL;
  c->driver.cuCtxPushCurrent(c->context);
  c->driver.cuStreamDestroy(lent);
  c->driver.cuCtxPopCurrent(&popped);
  fake_set("FAKECUDA_SLOW", NULL);
  leave(&g);
  spec_expect_clean("a stream of the host's");
}

/* ---------------------------------------------------------------- memory */

static bool is_zero (guest *g, void *p) {
  static const unsigned char zero[BYTES];
  unsigned char back[BYTES];
  EXPECT_STATUS(mt_download(g->d, back, p, BYTES, &g->err), MT_OK, g->err);
  return memcmp(back, zero, BYTES) == 0;
}

/* The same piece again and again, zeroed, behind what used it. */
static void test_again (void) {
  guest g;
  enter(&g);
  void *first = NULL;
  for (int i = 0; i < 20; i++) {
    void *p = NULL;
    EXPECT_STATUS(mt_malloc(g.d, &p, BYTES, &g.err), MT_OK, g.err);
    if (i == 0) first = p, fake_restart();
    EXPECT(p == first && is_zero(&g, p), "use %d: another piece, or not zeroed", i);
    spec_plan(&g.p, g.d, p, g.src, BYTES);
    start(&g, NULL);
    mt_recycle(g.d, p, BYTES);
  }
  EXPECT(waits() == 0, "%d calls wait for all", waits());
  leave(&g);
  spec_expect_clean("again");
}

/* What another stream may use goes to nobody; nor does a piece of another size. */
static void test_order (void) {
  guest g;
  mt_stream *s = NULL;
  void *p = NULL;
  enter(&g);
  EXPECT_STATUS(mt_stream_create(g.d, &s, &g.err), MT_OK, g.err);
  fake_set("FAKECUDA_SLOW", "300");
  start(&g, s);
  void *used = g.dst;
  mt_recycle(g.d, used, BYTES);
  EXPECT_STATUS(mt_malloc(g.d, &g.dst, BYTES, &g.err), MT_OK, g.err);
  EXPECT(g.dst != used && query(&g, s) == MT_CU_NOT_READY, "it is in use");
  fake_set("FAKECUDA_SLOW", NULL);
  EXPECT_STATUS(mt_synchronize(g.d, s, &g.err), MT_OK, g.err);
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES - 16, &g.err), MT_OK, g.err);
  EXPECT(p != used, "a piece of another size");
  mt_free(g.d, p, BYTES - 16);
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES, &g.err), MT_OK, g.err);
  EXPECT(p == used, "it is free");
  mt_recycle(g.d, p, BYTES);
  mt_stream_destroy(g.d, s);
  leave(&g);
  spec_expect_clean("order");
}

/* No more is kept than a piece of what copies pass through, the newest; mt_free keeps
** nothing, since others may have the address. */
static void test_bounds (void) {
  guest g;
  void *p[6], *large = NULL;
  fakecuda_live live;
  enter(&g);
  EXPECT(mt_device_staging(g.d) == MT_STAGE_KEPT * PIECE, "staging: %zu bytes",
         mt_device_staging(g.d));
  for (int i = 0; i < 6; i++)
    EXPECT_STATUS(mt_malloc(g.d, &p[i], BYTES, &g.err), MT_OK, g.err);
  EXPECT_STATUS(mt_malloc(g.d, &large, PIECE + 1, &g.err), MT_OK, g.err);
  for (int i = 0; i < 5; i++) mt_recycle(g.d, p[i], BYTES);
  mt_recycle(g.d, large, PIECE + 1);
  mt_free(g.d, p[5], BYTES);
  fake_count(&live);
  EXPECT(live.bytes == 2 * BYTES + PIECE, "%zu bytes", live.bytes);
  fake_restart();
  for (int i = 4; i > 1; i--) {
    void *q = NULL;
    EXPECT_STATUS(mt_malloc(g.d, &q, BYTES, &g.err), MT_OK, g.err);
    EXPECT(q == p[i], "not the newest");
  }
  EXPECT(waits() == 0, "%d calls wait for all", waits());
  for (int i = 2; i < 5; i++) mt_recycle(g.d, p[i], BYTES);
  void *many[MT_SPARES + 20];
  for (int i = 0; i < MT_SPARES + 20; i++)
    EXPECT_STATUS(mt_malloc(g.d, &many[i], (size_t)(i % 5) + 1, &g.err), MT_OK, g.err);
  for (int i = 0; i < MT_SPARES + 20; i++) mt_recycle(g.d, many[i], (size_t)(i % 5) + 1);
  fake_count(&live);
  EXPECT(live.allocations == 2 + MT_SPARES, "%d pieces", live.allocations);
  leave(&g);
  spec_expect_clean("bounds");
}

/* What is kept is given back before memory is short. */
static void test_shortage (void) {
  guest g;
  void *p = NULL;
  enter(&g);
  fake_set("FAKECUDA_MEMORY", "12288");
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES, &g.err), MT_OK, g.err);
  mt_recycle(g.d, p, BYTES);
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES - 1, &g.err), MT_OK, g.err);
  mt_recycle(g.d, p, BYTES - 1);
  mt_cuda *c = g.d->impl;
  size_t bytes;
  void *at[2];
  fake_set("FAKECUDA_MEMORY", "20480");
  EXPECT(c->nspares == 1, "%u pieces", c->nspares);
  EXPECT_STATUS(mt_cuda_room(g.d, &bytes, at, &g.err), MT_OK, g.err);
  EXPECT(bytes == PIECE && c->nspares == 0, "slots of %zu bytes", bytes);
  fake_set("FAKECUDA_MEMORY", NULL);
  leave(&g);
  spec_expect_clean("shortage");
}

/* A device that is lost keeps nothing, and closes. */
static void test_lost (void) {
  guest g;
  void *p = NULL;
  enter(&g);
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES, &g.err), MT_OK, g.err);
  mt_recycle(g.d, p, BYTES);
  g.p.launch.offset[MT_DST] = 16;
  start(&g, NULL);
  EXPECT_STATUS(mt_malloc(g.d, &p, BYTES, &g.err), MT_ELOST, g.err);
  EXPECT(p == NULL, "memory of a lost device");
  leave(&g);
  spec_expect_clean("lost, with memory kept");
}

/* ---------------------------------------------------------------- filling */

/* Bytes become a unit of 16 again and again, by what the driver has, where 1, 2 or 4
** bytes of it repeat. */
static void test_repeat (void) {
  static const struct {
    const char *unit;
    size_t from, bytes;
    mt_status status;
  } rows[] = {{"aaaaaaaaaaaaaaaa", 0, 4096, MT_OK},
              {"aaaaaaaaaaaaaaaa", 3, 1001, MT_OK},
              {"abababababababab", 2, 998, MT_OK},
              {"abcdabcdabcdabcd", 4, 100, MT_OK},
              {"abcdefghabcdefgh", 0, 64, MT_EUNSUPPORTED},
              {"abcdabcdabcdabcd", 2, 64, MT_EUNSUPPORTED}};
  guest g;
  unsigned char want[BYTES], back[BYTES];
  enter(&g);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *to = (char *)g.src + rows[i].from;
    EXPECT_STATUS(mt_upload(g.d, g.src, data, BYTES, &g.err), MT_OK, g.err);
    memcpy(want, data, BYTES);
    fake_restart();
    mt_status s = mt_device_repeat(g.d, to, rows[i].unit, rows[i].bytes, &g.err);
    EXPECT(s == rows[i].status && g.err.status == MT_OK, "%s: %s", rows[i].unit,
           mt_status_name(s));
    EXPECT(waits() + fake_calls("cuStreamSynchronize") == 0, "it waits");
    for (size_t k = 0; s == MT_OK && k < rows[i].bytes; k++)
      want[rows[i].from + k] = (unsigned char)rows[i].unit[k % 16];
    EXPECT_STATUS(mt_download(g.d, back, g.src, BYTES, &g.err), MT_OK, g.err);
    EXPECT(memcmp(want, back, BYTES) == 0, "%s: filled wrongly", rows[i].unit);
  }
  leave(&g);
  spec_expect_clean("repeat");
}

static void test_unit (void) {
  guest g;
  void *at[3] = {NULL};
  unsigned char back[2][BYTES];
  enter(&g);
  for (int i = 0; i < 3; i++) {
    unsigned char unit[16];
    memset(unit, 'a' + i, 16);
    if (i == 1) fake_restart();
    EXPECT_STATUS(mt_device_unit(g.d, &at[i], unit, &g.err), MT_OK, g.err);
    memset(unit, 0, 16);
    EXPECT(at[i] == at[0], "another place");
    if (i == 2) break;
    spec_plan(&g.p, g.d, i ? g.src : g.dst, at[i], 16);
    start(&g, NULL);
  }
  EXPECT(waits() == 0, "%d calls wait for all", waits());
  EXPECT_STATUS(mt_download(g.d, back[0], g.dst, 16, &g.err), MT_OK, g.err);
  EXPECT_STATUS(mt_download(g.d, back[1], g.src, 16, &g.err), MT_OK, g.err);
  for (int i = 0; i < 16; i++)
    EXPECT(back[0][i] == 'a' && back[1][i] == 'b', "%d: %c, %c", i, back[0][i],
           back[1][i]);
  leave(&g);
  spec_expect_clean("unit");
}

void spec_beside (void) {
  test_synchronize();
  test_own_streams();
  test_errors();
  test_lent_stream();
  test_again();
  test_order();
  test_bounds();
  test_shortage();
  test_lost();
  test_repeat();
  test_unit();
}
