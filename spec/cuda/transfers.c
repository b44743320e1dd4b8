/*
** transfers.c - copies between the host and the fake driver's device: random pairs of
** layouts in small pieces against element by element; slots, short memory, refusals.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"
#include "mt_stage.h"

enum { MOST = 4096, MODES = 4, CASES = 1500 };

/* ---------------------------------------------------------------- random layouts */

static uint64_t state;

static uint64_t next64 (void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static int pick (int n) { return (int)(next64() >> 33) % n; }

typedef struct side {
  mt_layout layout;
  mt_dtype dtype;
  int64_t offset, size;        /* of the buffer, in elements */
  unsigned char *bytes, *want; /* what is in it; what is to be in it */
} side;

/* Leaves of all modes in a row, `first[k]` the first of mode k. */
typedef struct leaves {
  int n, first[MODES + 1];
  int64_t extent[3 * MODES], stride[3 * MODES];
} leaves;

static void random_leaves (leaves *l, const int *mode, int rank) {
  l->n = 0;
  for (int k = 0; k < rank; k++) {
    int rest = mode[k];
    l->first[k] = l->n;
    for (int f = 2; f <= 3 && rest > 0; f++)
      if (rest > f && rest % f == 0 && pick(3) == 0) l->extent[l->n++] = f, rest /= f;
    l->extent[l->n++] = rest;
  }
  l->first[rank] = l->n;
}

/* Each passes all that the ones before it reach; of a source some repeat. */
static void random_strides (leaves *l, bool source) {
  int order[3 * MODES];
  int64_t at = 1;
  for (int i = 0; i < l->n; i++) order[i] = i;
  for (int i = l->n - 1, how = pick(3); how && i > 0; i--) {
    int j = how == 1 ? 0 : pick(i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  bool repeat = source && pick(4) == 0;
  for (int i = 0; i < l->n; i++) {
    int64_t *d = &l->stride[order[i]];
    *d = at;
    if (repeat && pick(2)) *d = pick(4) ? 0 : pick(5) - 2;
    else at = at * l->extent[order[i]] + (pick(5) == 0 ? pick(4) : 0);
    if (at == 0) at = 1;
    if (pick(7) == 0) *d = -*d;
  }
}

static size_t put_modes (char *text, size_t at, const leaves *l, int rank,
                         const int64_t *v) {
  at += (size_t)sprintf(text + at, "(");
  for (int k = 0; k < rank; k++) {
    int n = l->first[k + 1] - l->first[k];
    at += (size_t)sprintf(text + at, "%s%s", k ? "," : "", n > 1 ? "(" : "");
    for (int i = l->first[k]; i < l->first[k + 1]; i++)
      at += (size_t)sprintf(text + at, "%s%lld", i > l->first[k] ? "," : "",
                            (long long)v[i]);
    if (n > 1) at += (size_t)sprintf(text + at, ")");
  }
  return at + (size_t)sprintf(text + at, ")");
}

static mt_status random_layout (mt_layout *out, const int *mode, int rank, bool source,
                                mt_err *err) {
  char text[512];
  size_t at = 0;
  leaves l;
  random_leaves(&l, mode, rank);
  random_strides(&l, source);
  if (pick(5) == 0) {
    int b = 1 + pick(3), m = pick(3), s = b + pick(3);
    at = (size_t)sprintf(text, "Sw<%d,%d,%d> o %d o ", b, m, pick(4) ? s : -s,
                         pick(2) ? 0 : pick(60));
  }
  at = put_modes(text, at, &l, rank, l.extent);
  text[at++] = ':';
  at = put_modes(text, at, &l, rank, l.stride);
  return mt_parse(out, text, at, err);
}

/* A buffer of its own around what the layout reaches. */
static mt_status fill_side (side *s, int seed, mt_err *err) {
  int64_t high, low;
  MT_TRY(mt_cosize(&high, &low, s->layout.node, err));
  s->offset = pick(4) - low;
  s->size = high + s->offset + pick(4);
  size_t n = (size_t)s->size * mt_dtype_size(s->dtype) + 1;
  s->bytes = malloc(n);
  s->want = malloc(n);
  for (size_t i = 0; i < n; i++)
    s->want[i] = s->bytes[i] = (unsigned char)((i + (size_t)seed) * 2654435761u >> 22);
  return MT_OK;
}

static mt_status random_pair (side pair[2], mt_err *err) {
  static const mt_dtype dtypes[] = {MT_u8, MT_bf16, MT_i32, MT_f64};
  int rank = 1 + pick(MODES), mode[MODES], room = 1 << (4 + pick(9));
  mt_dtype dtype = dtypes[pick(4)];
  for (int k = 0; k < rank; k++) {
    mode[k] = pick(60) == 0 ? 0 : 1 + pick(pick(3) ? 12 : 64);
    if (mode[k] > room) mode[k] = room;
    if (mode[k] > 1) room /= mode[k];
  }
  for (int s = 0; s < 2; s++) {
    memset(&pair[s], 0, sizeof pair[s]);
    pair[s].dtype = dtype;
    MT_TRY(random_layout(&pair[s].layout, mode, rank, s == MT_SRC, err));
    MT_TRY(fill_side(&pair[s], s, err));
  }
  return MT_OK;
}

static mt_status copy_by_hand (side pair[2], mt_err *err) {
  size_t each = mt_dtype_size(pair[0].dtype);
  for (int64_t i = 0; i < mt_size(pair[0].layout.node); i++) {
    int64_t at[2];
    for (int s = 0; s < 2; s++) MT_TRY(mt_at(&at[s], pair[s].layout.node, i, err));
    memcpy(pair[MT_DST].want + (size_t)(at[MT_DST] + pair[MT_DST].offset) * each,
           pair[MT_SRC].bytes + (size_t)(at[MT_SRC] + pair[MT_SRC].offset) * each, each);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- transfers */

static size_t bytes_of (const side *s) {
  return (size_t)s->size * mt_dtype_size(s->dtype);
}

static mt_tensor tensor_of (const side *s, void *data) {
  return (mt_tensor){s->layout.node, s->dtype, data, bytes_of(s), s->offset};
}

/* Once or twice: slots and plans are used again. The device's tensor comes and goes. */
static mt_status run (mt_device *gpu, mt_device *cpu, side pair[2], int host,
                      mt_stream *stream, mt_err *err) {
  side *g = &pair[1 - host];
  void *data = NULL;
  mt_plan *p = NULL;
  MT_TRY(mt_malloc(gpu, &data, bytes_of(g), err));
  mt_tensor t[2];
  t[host] = tensor_of(&pair[host], pair[host].bytes);
  t[1 - host] = tensor_of(g, data);
  mt_device *d[2] = {gpu, gpu};
  d[host] = cpu;
  mt_status s = mt_upload(gpu, data, g->bytes, bytes_of(g), err);
  if (s == MT_OK) s = mt_plan_transfer(&p, d[0], &t[0], d[1], &t[1], err);
  for (int i = pick(2); i < 2 && s == MT_OK; i++) s = mt_plan_launch(p, stream, err);
  if (s == MT_OK) s = mt_download(gpu, g->bytes, data, bytes_of(g), err);
  if (s == MT_OK) mt_plan_format((char [2000]){0}, 2000, p);
  mt_plan_free(p);
  mt_free(gpu, data, bytes_of(g));
  return s;
}

/* What a copy on one device cannot do, one between two need not do. */
static bool is_refused (mt_device *cpu, side pair[2], mt_err *err) {
  mt_plan *p = NULL;
  mt_tensor src = tensor_of(&pair[0], pair[0].bytes);
  mt_tensor dst = tensor_of(&pair[1], pair[1].bytes);
  mt_status s = mt_plan_copy(&p, cpu, NULL, &src, &dst, err);
  mt_plan_free(p);
  return s != MT_OK;
}

static int one_pair (mt_device *gpu, mt_device *cpu, mt_stream *stream, int seed) {
  side pair[2];
  char text[2][300];
  mt_err err = MT_NOERR, refused = MT_NOERR;
  int host = pick(2), done = 0;
  EXPECT_STATUS(random_pair(pair, &err), MT_OK, err);
  for (int s = 0; s < 2; s++) mt_format(text[s], sizeof text[s], pair[s].layout.node);
  EXPECT_STATUS(copy_by_hand(pair, &err), MT_OK, err);
  if (!is_refused(cpu, pair, &refused)) {
    done = 1;
    mt_status st = run(gpu, cpu, pair, host, pick(2) ? stream : NULL, &err);
    EXPECT(st == MT_OK, "case %d, %s -> %s: %s", seed, text[0], text[1], err.text);
    for (int s = 0; s < 2 && st == MT_OK; s++)
      EXPECT(memcmp(pair[s].bytes, pair[s].want, bytes_of(&pair[s])) == 0,
             "case %d, host is %s, %s: %s -> %s differs", seed, host ? "dst" : "src",
             s ? "dst" : "src", text[0], text[1]);
  }
  for (int s = 0; s < 2; s++) free(pair[s].bytes), free(pair[s].want);
  return done;
}

static mt_status open_pieces (mt_device **out, size_t piece, mt_err *err) {
  mt_device_options o = {.libcuda = fake_path, .piece = piece};
  return mt_device_open(out, "cuda", &o, err);
}

static void test_pairs (void) {
  static const size_t pieces[] = {16, 24, 100, 256, 1000, 0};
  static const char *const hosts[] = {"cpu", "cpu:checked"};
  int done = 0;
  for (int k = 0; k < 12; k++) {
    mt_device *gpu = NULL, *cpu = NULL;
    mt_stream *stream = NULL;
    mt_err err = MT_NOERR;
    mt_device_options two = {.threads = 2};
    EXPECT_STATUS(open_pieces(&gpu, pieces[k % 6], &err), MT_OK, err);
    EXPECT_STATUS(mt_device_open(&cpu, hosts[k / 6], &two, &err), MT_OK, err);
    EXPECT_STATUS(mt_stream_create(gpu, &stream, &err), MT_OK, err);
    for (int i = 0; i < CASES / 12; i++) {
      state = 88172645463325252u + 1000003u * (uint64_t)(1000 * k + i);
      for (int warm = 0; warm < 9; warm++) next64();
      done += one_pair(gpu, cpu, stream, 1000 * k + i);
    }
    mt_stream_destroy(gpu, stream);
    mt_device_close(cpu);
    mt_device_close(gpu);
    spec_expect_clean("pairs");
  }
  EXPECT(done > CASES * 3 / 4, "only %d of %d pairs were copied", done, CASES);
}

/* ---------------------------------------------------------------- by hand */

typedef struct place {
  mt_device *gpu, *cpu;
  mt_layout rows, columns;     /* (64,32), of f32 */
  float host[2048], back[2048];
  void *data;
  mt_plan *up, *down;
  mt_err err;
} place;

static mt_tensor tensor (const mt_layout *a, void *data) {
  return (mt_tensor){a->node, MT_f32, data, sizeof ((place *)0)->host, 0};
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
  EXPECT_STATUS(open_pieces(&x->gpu, piece, &x->err), MT_OK, x->err);
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
    {1024, true, "kernel: cpu_rows (cpu), copy_flat_u32 (cuda)\n"
     "way: from cpu to cuda:0, 8 pieces of at most 1024 bytes", 8, 8, 3},
    {1024, false, "kernel: cpu_rows (cpu)\n"
     "way: from cpu to cuda:0, 8 pieces of at most 1024 bytes", 8, 0, 3},
    {4100, true, "kernel: cpu_rows (cpu), copy_box_b4 (cuda)\n"
     "way: from cpu to cuda:0, 2 pieces of at most 4100 bytes", 2, 2, 2},
    {8192, false, "kernel: none\nway: from cpu to cuda:0, as one run", 1, 0, 0},
    {0, true, "kernel: cpu_rows (cpu), copy_box_b4 (cuda)\n"
     "way: from cpu to cuda:0, 1 piece of at most 4194304 bytes", 1, 1, 1},
  };
  for (const struct row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
    place x;
    char text[1000];
    enter(&x, r->piece);
    fake_restart();
    EXPECT_STATUS(plan_both(&x, r->columns ? &x.columns : &x.rows), MT_OK, x.err);
    mt_plan_format(text, sizeof text, x.up);
    EXPECT(strstr(text, r->text) != NULL, "no \"%s\" in: %s", r->text, text);
    go_and_return(&x, r->text);
    EXPECT(fake_calls("cuMemcpyHtoDAsync_v2") == r->transfers &&
           fake_calls("cuMemcpyDtoHAsync_v2") == r->transfers &&
           fake_calls("cuLaunchKernelEx") == 2 * r->kernels &&
           fake_calls("cuMemHostAlloc") == r->slots,
           "%d up, %d down, %d kernels, %d slots: %s",
           fake_calls("cuMemcpyHtoDAsync_v2"), fake_calls("cuMemcpyDtoHAsync_v2"),
           fake_calls("cuLaunchKernelEx"), fake_calls("cuMemHostAlloc"), r->text);
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
    {"cuMemHostAlloc:2:1", 0, true, 1}, {"cuMemAlloc_v2:2:1", 0, true, 1},
    {"cuMemHostAlloc:2:1+", 0, true, -1}, {"cuMemHostAlloc:2:1+", 1024, false, 0},
    {"cuMemAlloc_v2:2:1+", 1024, true, -1}, {"cuMemHostAlloc:2:2+", 512, true, 1},
    {"cuMemAlloc_v2:2:3+", 512, true, 2}, {"cuMemHostAlloc:2:3", 512, false, 3},
    {"cuEventCreate:2:4+", 512, true, 1}, {"cuEventCreate:2:1", 512, true, -1},
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
  EXPECT(x.down->stage->pack.p == NULL, "it is packed");
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

static void check_no_ways (mt_plan *p) {
  mt_way way[MT_MAXWAYS];
  mt_err err = MT_NOERR;
  char key[MT_KEY_SIZE] = "x";
  double us;
  EXPECT_STATUS(mt_plan_is_launch(p, &err), MT_EUNSUPPORTED, err);
  EXPECT_TEXT(err, "plan: a copy between the host and cuda:0 goes in pieces");
  EXPECT_STATUS(mt_plan_measure(p, 1, &us, &err), MT_EUNSUPPORTED, err);
  EXPECT_STATUS(mt_plan_take(p, "copy_flat_u128", 16, &err), MT_EUNSUPPORTED, err);
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
  wide.dtype = MT_i32;
  EXPECT_STATUS(mt_plan_transfer(&p, x.cpu, &h, x.gpu, &wide, &x.err), MT_EUNSUPPORTED,
                x.err);
  wide = d, wide.offset = 1;
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
  test_shortage();
  test_locked();
  test_order(false);
  test_order(true);
  test_refused();
  test_pairs();
}
