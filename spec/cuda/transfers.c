/*
** transfers.c - copies between the host and the fake driver's device, by hand: slots,
** short memory, conversions, refusals. Random ones: transfer_pairs.c.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"
#include "plan/stage.h"

mt_status spec_open_pieces (mt_device **out, size_t piece, mt_err *err) {
  mt_device_options o = {.size = sizeof o, .libcuda = fake_path, .piece = piece};
  return mt_device_open(out, "cuda", &o, err);
}

typedef struct place {
  mt_device *gpu, *cpu;
  mt_layout rows, columns; /* (64,32), of f32 */
  float host[2048], back[2048];
  void *data;
  mt_plan *up, *down;
  mt_err err;
} place;

static mt_tensor tensor (const mt_layout *a, void *data) {
  return (mt_tensor){a->node, MT_f32, data, sizeof((place *)0)->host, 0, NULL};
}

static mt_status plan_both (place *x, const mt_layout *device) {
  mt_tensor h = tensor(&x->rows, x->host), b = tensor(&x->rows, x->back);
  mt_tensor d = tensor(device, x->data);
  MT_TRY(mt_plan_transfer(&x->up, x->cpu, &h, x->gpu, &d, &x->err));
  return mt_plan_transfer(&x->down, x->gpu, &d, x->cpu, &b, &x->err);
}

static void enter (place *x, size_t piece) {
  memset(x, 0, sizeof *x);
  for (int i = 0; i < 2048; i++) x->host[i] = (float)i;
  EXPECT_STATUS(spec_open_pieces(&x->gpu, piece, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_device_open(&x->cpu, "cpu", NULL, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_parse(&x->rows, "(64,32):(32,1)", 14, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_parse(&x->columns, "(64,32):(1,64)", 14, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_malloc(x->gpu, &x->data, sizeof x->host, &x->err), MT_OK, x->err);
}

static void leave (place *x, const char *what) {
  mt_plan_free(x->up);
  mt_plan_free(x->down);
  mt_free(x->gpu, x->data, sizeof x->host);
  mt_device_close(x->gpu);
  mt_device_close(x->cpu);
  spec_expect_clean(what);
}

static void expect_text (const mt_plan *p, const char *want) {
  char text[1000];
  mt_plan_format(text, sizeof text, p);
  EXPECT(strstr(text, want) != NULL, "no \"%s\" in: %s", want, text);
}

static void go_and_return (place *x, const char *what) {
  EXPECT_STATUS(mt_plan_launch(x->up, NULL, &x->err), MT_OK, x->err);
  EXPECT_STATUS(mt_plan_launch(x->down, NULL, &x->err), MT_OK, x->err);
  EXPECT(memcmp(x->host, x->back, sizeof x->host) == 0, "%s: it did not return", what);
}

/* Bytes of a piece, layout on the device, the text of the way up, driver calls of it. */
static void test_ways (void) {
  static const struct row {
    size_t piece;
    bool columns;
    const char *text;
    int transfers, kernels, slots;
  } rows[] = {
      {1024, true,
       "kernel: cpu_rows (cpu), copy_transpose_b4 (cuda)\n"
       "way: from cpu to cuda:0, 8 pieces of at most 1024 bytes",
       8, 8, MT_STAGE_SLOTS},
      {1024, false,
       "kernel: cpu_rows (cpu)\n"
       "way: from cpu to cuda:0, 8 pieces of at most 1024 bytes",
       8, 0, MT_STAGE_SLOTS},
      {4100, true,
       "kernel: cpu_rows (cpu), copy_transpose_b4 (cuda)\n"
       "way: from cpu to cuda:0, 2 pieces of at most 4100 bytes",
       2, 2, 2},
      {8192, false, "kernel: none\nway: from cpu to cuda:0, as one run", 1, 0, 0},
      {0, true,
       "kernel: cpu_rows (cpu), copy_transpose_b4 (cuda)\n"
       "way: from cpu to cuda:0, 1 piece of at most 524288 bytes",
       1, 1, 1},
  };
  for (const struct row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    place x;
    enter(&x, r->piece);
    fake_restart();
    EXPECT_STATUS(plan_both(&x, r->columns ? &x.columns : &x.rows), MT_OK, x.err);
    expect_text(x.up, r->text);
    go_and_return(&x, r->text);
    EXPECT(fake_calls("cuMemcpyHtoDAsync_v2") == r->transfers &&
               fake_calls("cuMemcpyDtoHAsync_v2") == r->transfers &&
               fake_calls("cuLaunchKernelEx") == 2 * r->kernels &&
               fake_calls("cuMemHostAlloc") == r->slots,
           "%d up, %d down, %d kernels, %d slots: %s", fake_calls("cuMemcpyHtoDAsync_v2"),
           fake_calls("cuMemcpyDtoHAsync_v2"), fake_calls("cuLaunchKernelEx"),
           fake_calls("cuMemHostAlloc"), r->text);
    leave(&x, r->text);
  }
}

/* Calls that fail for want of memory, layout on the device, slots in the end (of more
** than there is room for); -1: no plan. */
static void test_shortage (void) {
  static const struct row {
    const char *fail;
    size_t piece;
    bool columns;
    int slots;
  } rows[] = {
      {"cuMemHostAlloc:2:1", 0, true, 1},
      {"cuMemAlloc_v2:2:1", 0, true, 1},
      {"cuMemHostAlloc:2:1+", 0, true, -1},
      {"cuMemHostAlloc:2:1+", 1024, false, 0},
      {"cuMemAlloc_v2:2:1+", 1024, true, -1},
      {"cuMemHostAlloc:2:2+", 512, true, 1},
      {"cuMemAlloc_v2:2:3+", 512, true, 2},
      {"cuMemHostAlloc:2:3", 512, false, MT_STAGE_SLOTS},
      {"cuEventCreate:2:4+", 512, true, 1},
      {"cuEventCreate:2:1", 512, true, -1},
  };
  for (const struct row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    place x;
    fakecuda_live live;
    enter(&x, r->piece);
    fake_restart();
    fake_set("FAKECUDA_FAIL", r->fail);
    mt_status s = plan_both(&x, r->columns ? &x.columns : &x.rows);
    EXPECT(s == (r->slots < 0 ? MT_ENOMEM : MT_OK), "%s: %s: %s", r->fail,
           mt_status_name(s), x.err.text);
    if (s == MT_OK) go_and_return(&x, r->fail);
    fake_set("FAKECUDA_FAIL", NULL);
    fake_count(&live);
    EXPECT(live.pinned == (r->slots < 0 ? 0 : r->slots), "%s: %d slots", r->fail,
           live.pinned);
    leave(&x, r->fail);
  }
}

/* Page-locked memory of the caller's is not staged. */
static void test_locked (void) {
  place x;
  void *locked = NULL;
  enter(&x, 1024);
  mt_cuda *c = x.gpu->impl;
  EXPECT_STATUS(mt_cuda_enter(c, &x.err), MT_OK, x.err);
  EXPECT(c->driver.cuMemHostAlloc(&locked, sizeof x.host, 0) == 0, "not page-locked");
  memcpy(locked, x.host, sizeof x.host);
  mt_tensor from = tensor(&x.rows, locked), to = tensor(&x.rows, x.data);
  fake_restart();
  EXPECT_STATUS(mt_plan_transfer(&x.up, x.cpu, &from, x.gpu, &to, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_plan_launch(x.up, NULL, &x.err), MT_OK, x.err);
  EXPECT(fake_calls("cuMemHostAlloc") == 0 && fake_calls("cuMemcpyHtoDAsync_v2") == 1,
         "it was staged");
  to.layout = x.columns.node;
  EXPECT_STATUS(mt_plan_transfer(&x.down, x.gpu, &to, x.cpu, &from, &x.err), MT_OK,
                x.err);
  EXPECT(x.down->stage->pack[0].p == NULL, "it is packed");
  EXPECT_STATUS(mt_plan_launch(x.down, NULL, &x.err), MT_OK, x.err);
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++)
      EXPECT(((float *)locked)[32 * i + j] == x.host[i + 64 * j], "(%d,%d)", i, j);
  c->driver.cuMemFreeHost(locked);
  mt_cuda_leave(c);
  leave(&x, "locked");
}

/* Behind what was launched on the stream, of runs and of others. */
static void test_order (bool columns) {
  place x;
  void *first = NULL;
  mt_plan *before = NULL;
  mt_stream *stream = NULL;
  const size_t bytes = sizeof x.host;
  enter(&x, 1024);
  EXPECT_STATUS(mt_stream_create(x.gpu, &stream, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_malloc(x.gpu, &first, bytes, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_upload(x.gpu, first, x.host, bytes, &x.err), MT_OK, x.err);
  mt_tensor from = tensor(&x.rows, first), to = tensor(&x.rows, x.data);
  if (columns) to.layout = x.columns.node;
  EXPECT_STATUS(mt_plan_copy(&before, x.gpu, NULL, &from, &to, &x.err), MT_OK, x.err);
  EXPECT_STATUS(plan_both(&x, columns ? &x.columns : &x.rows), MT_OK, x.err);
  EXPECT_STATUS(mt_plan_launch(before, stream, &x.err), MT_OK, x.err);
  EXPECT_STATUS(mt_plan_launch(x.down, stream, &x.err), MT_OK, x.err);
  EXPECT(memcmp(x.host, x.back, bytes) == 0, "too early, %d", columns);
  mt_plan_free(before);
  mt_free(x.gpu, first, bytes);
  mt_stream_destroy(x.gpu, stream);
  leave(&x, "order");
}

/* Which end converts; what travels. The device's side has the host's layout or another. */
static void test_casts (void) {
  static const struct row {
    mt_dtype host, device;
    bool columns;
    const char *up, *down;
  } rows[] = {
      {MT_f32, MT_bf16, false,
       "kernel: cpu_cast (cpu)\n"
       "way: from cpu to cuda:0, 4 pieces of at most 1024 bytes of bf16",
       "kernel: cpu_cast (cpu)\n"
       "way: from cuda:0 to cpu, 4 pieces of at most 1024 bytes of bf16"},
      {MT_f32, MT_u8, true,
       "kernel: cpu_cast (cpu), copy_transpose_b1 (cuda)\n"
       "way: from cpu to cuda:0, 2 pieces of at most 1024 bytes of u8",
       "kernel: copy_transpose_b1 (cuda), cpu_cast (cpu)\n"
       "way: from cuda:0 to cpu, 2 pieces of at most 1024 bytes of u8"},
      {MT_bf16, MT_f32, false,
       "kernel: cpu_rows (cpu), cast_bf16_f32 (cuda)\n"
       "way: from cpu to cuda:0, 4 pieces of at most 1024 bytes of bf16",
       "kernel: cast_f32_bf16 (cuda), cpu_rows (cpu)\n"
       "way: from cuda:0 to cpu, 4 pieces of at most 1024 bytes of bf16"},
      {MT_i32, MT_f32, false,
       "kernel: cpu_rows (cpu), cast_i32_f32 (cuda)\n"
       "way: from cpu to cuda:0, 8 pieces of at most 1024 bytes of i32",
       "kernel: cast_f32_i32 (cuda), cpu_rows (cpu)\n"
       "way: from cuda:0 to cpu, 8 pieces of at most 1024 bytes of i32"},
  };
  for (const struct row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    place x;
    enter(&x, 1024);
    mt_tensor h = tensor(&x.rows, x.host), b = tensor(&x.rows, x.back);
    mt_tensor d = tensor(r->columns ? &x.columns : &x.rows, x.data);
    h.dtype = b.dtype = r->host;
    d.dtype = r->device;
    for (int i = 0; i < 2048; i++) {
      float v = (float)(i % 100);
      mt_cast_element(r->host, (char *)x.host + (size_t)i * mt_dtype_size(r->host),
                      MT_f32, &v);
    }
    memcpy(x.back, x.host, sizeof x.host);
    memset(x.back, 0, 2048 * mt_dtype_size(r->host));
    EXPECT_STATUS(mt_plan_transfer(&x.up, x.cpu, &h, x.gpu, &d, &x.err), MT_OK, x.err);
    EXPECT_STATUS(mt_plan_transfer(&x.down, x.gpu, &d, x.cpu, &b, &x.err), MT_OK, x.err);
    expect_text(x.up, r->up);
    expect_text(x.down, r->down);
    go_and_return(&x, r->up);
    leave(&x, "casts");
  }
}

static void check_no_ways (mt_plan *p) {
  mt_plan_candidate way[MT_MAXPLANCANDIDATES];
  mt_err err = MT_NOERR;
  char key[MT_KEY_SIZE] = "x";
  double us;
  EXPECT_STATUS(mt_plan_is_launch(p, &err), MT_EUNSUPPORTED, err);
  EXPECT_TEXT(err, "plan: a copy between the host and cuda:0 goes in pieces");
  EXPECT_STATUS(mt_plan_measure(p, 1, &us, &err), MT_EUNSUPPORTED, err);
  EXPECT_STATUS(mt_plan_take(p, "copy_strided_u128", 16, 0, &err), MT_EUNSUPPORTED, err);
  EXPECT(mt_plan_why(way, p) == 0, "ways of a transfer");
  EXPECT(mt_plan_key(key, sizeof key, p) == 0 && key[0] == 0, "key: %s", key);
}

static void test_refused (void) {
  place x;
  mt_graph *g = NULL;
  enter(&x, 64);
  mt_tensor h = tensor(&x.rows, x.host), d = tensor(&x.rows, x.data), wide = d;
  mt_plan *p = NULL;
  EXPECT_STATUS(mt_plan_transfer(&p, x.cpu, &h, x.cpu, &h, &x.err), MT_EINVAL, x.err);
  EXPECT_TEXT(x.err, "copy: src is on cpu, dst is on cpu: one of them must be the host");
  EXPECT_STATUS(mt_plan_transfer(&p, x.gpu, &d, x.gpu, &d, &x.err), MT_EINVAL, x.err);
  wide.offset = 1;
  EXPECT_STATUS(mt_plan_transfer(&p, x.cpu, &h, x.gpu, &wide, &x.err), MT_ERANGE, x.err);
  EXPECT(p == NULL, "a plan of nothing");
  EXPECT_STATUS(plan_both(&x, &x.columns), MT_OK, x.err);
  check_no_ways(x.up);
  mt_device *both[] = {x.gpu, x.cpu};
  for (int i = 0; i < 2; i++) {
    EXPECT_STATUS(mt_graph_begin(&g, both[i], &x.err), MT_OK, x.err);
    EXPECT_STATUS(mt_plan_launch(x.up, NULL, &x.err), MT_EINVAL, x.err);
    EXPECT_TEXT(x.err, "copy: ");
    mt_graph_free(g);
  }
  go_and_return(&x, "refused");
  leave(&x, "refused");
}

void spec_transfers (void) {
  test_ways();
  test_casts();
  test_shortage();
  test_locked();
  test_order(false);
  test_order(true);
  test_refused();
}
