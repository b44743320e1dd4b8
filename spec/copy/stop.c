/*
** stop.c - calls that take long tell how far they are, ask whether to end, end when they
** are told to, and leave everything in order.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

enum { MOST = 1 << 25 }; /* bytes of an operand */

/* A kind of work. `layout`, `dtype`: of its operands; `what`: an atom, or a number. */
typedef struct work {
  const char *name, *op, *device;
  mt_status (*run)(mt_device *d, const struct work *w, mt_err *e);
  const char *layout[3];
  mt_dtype dtype[3];
  const char *what;
} work;

static unsigned char *memory_of[3];

static mt_tensor operand (const work *w, int i, mt_layout *room) {
  *room = parse(w->layout[i]);
  return (mt_tensor){room->node, w->dtype[i], memory_of[i], MOST, 0, NULL};
}

/* ---------------------------------------------------------------- kinds of work */

static mt_status launched (mt_plan *p, mt_err *e) {
  mt_status s = mt_plan_launch(p, NULL, e);
  mt_plan_free(p);
  return s;
}

static mt_status copy (mt_device *d, const work *w, mt_err *e) {
  mt_layout a, b;
  mt_plan *p;
  mt_tensor src = operand(w, 0, &a), dst = operand(w, 2, &b);
  mt_status s = mt_plan_copy(&p, d, NULL, &src, &dst, e);
  return s == MT_OK ? launched(p, e) : s;
}

static mt_status plan_product (mt_plan **p, mt_device *d, const work *w, mt_err *e) {
  mt_layout room[3], atoms, all;
  mt_tiled_mma mma;
  mt_tensor a = operand(w, 0, &room[0]), b = operand(w, 1, &room[1]);
  mt_tensor c = operand(w, 2, &room[2]);
  if (w->what) {
    atoms = parse("(1,1,1):(0,0,0)");
    all = parse("(_,_,_)");
    MUST(mt_make_tiled_mma(&mma, w->what, atoms.node, all.node, err));
  }
  return mt_plan_gemm(p, d, w->what ? &mma : NULL, &a, &b, &c, NULL, e);
}

static mt_status product (mt_device *d, const work *w, mt_err *e) {
  mt_plan *p;
  mt_status s = plan_product(&p, d, w, e);
  return s == MT_OK ? launched(p, e) : s;
}

static mt_status measure (mt_device *d, const work *w, mt_err *e) {
  mt_plan *p;
  double us;
  mt_status s = plan_product(&p, d, w, e);
  if (s != MT_OK) return s;
  s = mt_plan_measure(p, 500, &us, e);
  mt_plan_free(p);
  return s;
}

static mt_status graph (mt_device *d, const work *w, mt_err *e) {
  mt_plan *p;
  mt_graph *g;
  MUST(plan_product(&p, d, w, err));
  MUST(mt_graph_begin(&g, d, err));
  for (int i = 0; i < 500; i++) MUST(mt_plan_launch(p, NULL, err));
  MUST(mt_graph_end(g, err));
  mt_status s = mt_graph_launch(g, NULL, e);
  mt_graph_free(g);
  mt_plan_free(p);
  return s;
}

static mt_status allocate (mt_device *d, const work *w, mt_err *e) {
  void *p;
  (void)w;
  mt_status s = mt_malloc(d, &p, MOST, e);
  if (s != MT_OK) CHECK(p == NULL, "memory of a call that was stopped");
  mt_free(d, p, MOST);
  return s;
}

static mt_status upload (mt_device *d, const work *w, mt_err *e) {
  (void)w;
  return mt_upload(d, memory_of[2], memory_of[0], MOST, e);
}

/* What is 100 bytes further on overlaps: it is moved from the end on. */
static mt_status download (mt_device *d, const work *w, mt_err *e) {
  (void)w;
  return mt_download(d, memory_of[2] + 100, memory_of[2], MOST - 100, e);
}

static mt_status banks (mt_device *d, const work *w, mt_err *e) {
  mt_layout a = parse(w->layout[0]);
  mt_warp_access how = {.kind = MT_READ, .bits = 16};
  mt_banks out;
  (void)d;
  return mt_bank_conflicts(&out, a.node, &how, e);
}

static mt_status sectors (mt_device *d, const work *w, mt_err *e) {
  mt_layout a = parse(w->layout[0]);
  mt_warp_access how = {.kind = MT_READ, .bits = 16};
  mt_sectors out;
  (void)d;
  return mt_coalescing(&out, a.node, &how, e);
}

static mt_status swizzle (mt_device *d, const work *w, mt_err *e) {
  static mt_candidate list[MT_MAXCANDIDATES];
  mt_layout a = parse(w->layout[0]), smem = parse(w->layout[1]);
  mt_warp_access how = {.kind = MT_READ, .bits = 32};
  mt_swizzle_query q = {smem.node, a.node, NULL, how, how};
  int n;
  (void)d;
  return mt_find_swizzle(list, &n, &q, e);
}

#define F32                                                                              \
  { MT_f32, MT_f32, MT_f32 }
#define F16                                                                              \
  { MT_f16, MT_f16, MT_f32 }
#define U8                                                                               \
  { MT_u8, MT_u8, MT_u8 }
#define SMALL                                                                            \
  { "(64,64):(1,64)", "(64,64):(1,64)", "(64,64):(1,64)" }
#define ATOM "SM80_16x8x16_F32F16F16F32_TN"
static const work kinds[] = {
    {"rows", "copy", "cpu", copy, {"33554432:1", "", "33554432:1"}, U8, NULL},
    {"units",
     "copy",
     "cpu",
     copy,
     {"(3000,4,1000):(1,0,3000)", "", "(3000,4,1000):(8000,2,8)"},
     U8,
     NULL},
    {"boxes",
     "copy",
     "cpu",
     copy,
     {"(3000,4,2700):(1,0,3000)", "", "(3000,4,2700):(10800,1,4)"},
     U8,
     NULL},
    {"transposed",
     "copy",
     "cpu",
     copy,
     {"(2048,2048):(1,2048)", "", "(2048,2048):(2048,1)"},
     F32,
     NULL},
    {"filled", "copy", "cpu", copy, {"33554432:0", "", "33554432:1"}, U8, NULL},
    {"converted",
     "copy",
     "cpu",
     copy,
     {"4000000:1", "", "4000000:1"},
     {MT_f32, MT_f32, MT_f16},
     NULL},
    {"swizzled",
     "copy",
     "cpu",
     copy,
     {"Sw<3,3,3> o 0 o (512,512):(512,1)", "", "(512,512):(1,512)"},
     F32,
     NULL},
    {"checked", "copy", "cpu:checked", copy, {"100000:1", "", "100000:1"}, F32, NULL},
    {"product",
     "gemm",
     "cpu",
     product,
     {"(500,300):(1,500)", "(500,300):(1,500)", "(500,500):(1,500)"},
     F32,
     NULL},
    {"product of f64",
     "gemm",
     "cpu",
     product,
     {"(500,300):(300,1)", "(500,300):(300,1)", "(500,500):(500,1)"},
     {MT_f64, MT_f64, MT_f64},
     NULL},
    {"product of bytes",
     "gemm",
     "cpu",
     product,
     {"(500,900):(900,1)", "(500,900):(900,1)", "(500,500):(500,1)"},
     {MT_i8, MT_i8, MT_i32},
     NULL},
    {"a long sum",
     "gemm",
     "cpu",
     product,
     {"(1,8000000):(0,0)", "(1,8000000):(0,0)", "(1,1):(0,0)"},
     F32,
     NULL},
    {"a batch",
     "gemm",
     "cpu",
     product,
     {"(1,1,4000000):(0,0,1)", "(1,1,4000000):(0,0,1)", "(1,1,4000000):(0,0,1)"},
     F32,
     NULL},
    {"atoms",
     "gemm",
     "cpu",
     product,
     {"(128,64):(1,128)", "(128,64):(1,128)", "(128,128):(1,128)"},
     F16,
     ATOM},
    {"atoms, checked",
     "gemm",
     "cpu:checked",
     product,
     {"(64,256):(1,64)", "(64,256):(1,64)", "(64,64):(1,64)"},
     F16,
     ATOM},
    {"measure", "", "cpu", measure, SMALL, F32, NULL},
    {"graph", "", "cpu", graph, SMALL, F32, NULL},
    {"memory", "cpu", "cpu", allocate, {0}, {0}, NULL},
    {"upload", "cpu", "cpu", upload, {0}, {0}, NULL},
    {"download", "cpu", "cpu", download, {0}, {0}, NULL},
    {"banks", "bank_conflicts", "cpu", banks, {"(32768,7):(3,1)"}, {0}, NULL},
    {"sectors", "coalescing", "cpu", sectors, {"(32768,7):(3,1)"}, {0}, NULL},
    {"swizzles",
     "find_swizzle",
     "cpu",
     swizzle,
     {"(128,16):(16,1)", "(16,128):(1,16)"},
     {0},
     NULL},
};

/* ---------------------------------------------------------------- stopping them */

typedef struct clock {
  long asked, end;
} clock; /* end: the question that ends it */

static bool stop (void *ud) {
  clock *c = ud;
  return ++c->asked == c->end;
}

/* Operands of 0, 1, 2, 3 again and again, a result of zeros. */
static void clear (void) {
  memset(memory_of[2], 0, MOST);
  for (int i = 0; i < 2; i++) {
    memcpy(memory_of[i], "\0\1\2\3", 4);
    for (size_t n = 4; n < MOST; n *= 2) memcpy(memory_of[i] + n, memory_of[i], n);
  }
}

static uint64_t result (void) {
  uint64_t h = 0, word;
  for (size_t k = 0; k < MOST; k += sizeof word) {
    memcpy(&word, memory_of[2] + k, sizeof word);
    h = h * 31 + word;
  }
  return h;
}

/* What a watch was told: how often, that calls were over, and whether it made sense. */
typedef struct told {
  long times, over;
  bool sane;
  double done, total; /* the last */
} told;

static void report (void *ud, const mt_progress *p) {
  told *t = ud;
  if (p == NULL) {
    t->over++;
    return;
  }
  bool same = t->times > 0 && t->total == p->total;
  t->times++;
  t->sane = t->sane && p->done >= 0 && p->done <= p->total && p->op[0] && p->unit[0] &&
            (!same || p->done >= t->done);
  t->done = p->done, t->total = p->total;
}

/* Nobody stops it; the watch sees it go on, and end. */
static void check_watched (mt_device *d, const work *w, bool alone) {
  told t = {.sane = true};
  mt_watch watch = {.report = report, .ud = &t};
  mt_err err = {.watch = &watch};
  clear();
  CHECK(w->run(d, w, &err) == MT_OK, "%s: %s", w->name, err.text);
  CHECK(t.sane, "%s: %g of %g is done", w->name, t.done, t.total);
  CHECK(watch.stint == NULL && !watch.told, "%s: goes on when it is over", w->name);
  CHECK((t.times > 0) == (t.over > 0), "%s: told %ld times, over %ld times", w->name,
        t.times, t.over);
  if (!alone) return;
  CHECK(t.times >= 2 && t.done > 0, "%s: told %ld times, at last that %g is done",
        w->name, t.times, t.done);
}

/* alone: all is done by the thread that is asked; else others may have done it before. */
static void stop_at (mt_device *d, const work *w, long end, bool alone) {
  clock c = {.end = end};
  told t = {.sane = true};
  mt_watch watch = {.report = report, .ud = &t};
  mt_err err = {.stop = stop, .stop_ud = &c, .watch = &watch};
  size_t n = strlen(w->op);
  mt_status s = w->run(d, w, &err);
  if (!alone && s == MT_OK && c.asked < end) return;
  CHECK(s == MT_ESTOPPED && err.status == s, "%s: %s: %s", w->name, mt_status_name(s),
        err.text);
  CHECK(strncmp(err.text, w->op, n) == 0 && strstr(err.text, ": stopped by the host"),
        "%s: %s", w->name, err.text);
  CHECK(c.asked == end, "%s: asked %ld times, told to end at %ld", w->name, c.asked, end);
  CHECK(t.sane && (t.times > 0) == (t.over == 1) && watch.stint == NULL,
        "%s: told %ld times, over %ld times", w->name, t.times, t.over);
}

static void check (const work *w, int threads) {
  clock never = {.end = -1};
  mt_err asking = {.stop = stop, .stop_ud = &never};
  mt_device_options o = {.size = sizeof(mt_device_options),
                         .threads = threads,
                         .libblas = ""};
  mt_device *d;
  MUST(mt_device_open(&d, w->device, &o, err));
  clear();
  CHECK(w->run(d, w, &asking) == MT_OK, "%s: %s", w->name, asking.text);
  CHECK(threads > 1 || never.asked >= 2, "%s: asked %ld times", w->name, never.asked);
  uint64_t want = result();
  for (long end = 1; end <= 2; end++) stop_at(d, w, end, threads == 1);
  check_watched(d, w, threads == 1);
  CHECK(result() == want, "%s: another result after it was stopped, or while watched",
        w->name);
  mt_device_close(d);
}

/* One that does not know yet how fast the BLAS is: of a fast one a part is all. */
static mt_device *open_blas (void) {
  mt_device_options o = {.size = sizeof(mt_device_options),
                         .threads = 1,
                         .libblas = "libblas.so.3"};
  mt_device *d = NULL;
  MUST(mt_device_open(&d, "cpu", &o, err));
  return d;
}

/* A product by a BLAS goes in parts: the same but for the order of sums. */
static void check_blas (void) {
  static const work w = {"blas",
                         "gemm",
                         "cpu",
                         product,
                         {"(700,900):(1,700)", "(600,900):(900,1)", "(700,600):(600,1)"},
                         {MT_f32, MT_f32, MT_f32},
                         NULL};
  mt_device_options none = {.size = sizeof(mt_device_options), .libblas = ""};
  mt_device *d, *own;
  mt_err plain = MT_NOERR;
  static float want[700 * 600];
  MUST(mt_device_open(&own, "cpu", &none, err));
  d = open_blas();
  clear();
  for (int i = 0; i < 2; i++)
    for (size_t k = 0; k < MOST / 4; k++)
      ((float *)(void *)memory_of[i])[k] = (float)(k % 7);
  MUST(product(own, &w, err));
  memcpy(want, memory_of[2], sizeof want);
  memset(memory_of[2], 0, sizeof want);
  CHECK(product(d, &w, &plain) == MT_OK, "%s", plain.text);
  CHECK(memcmp(want, memory_of[2], sizeof want) == 0, "a BLAS in parts adds otherwise");
  mt_device_close(d);
  mt_device_close(own);
  for (long end = 1; end <= 3; end++) {
    d = open_blas();
    if (end <= 2) stop_at(d, &w, end, true);
    else check_watched(d, &w, true);
    mt_device_close(d);
  }
}

void test_stop (void) {
  for (int i = 0; i < 3; i++) memory_of[i] = exact_memory(MOST, 0).p;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    for (int threads = 1; threads <= 3; threads += 2) check(&kinds[i], threads);
  check_blas();
  for (int i = 0; i < 3; i++) free(memory_of[i]);
}
