/*
** warpgroup.cpp - wgmma on the host: what a descriptor reads, products and their sums.
** SPDX-License-Identifier: MIT
**
** Sums are no numbers in the registers of threads from the first instruction on until
** they were waited for. An instruction is done when all 128 threads have come to it: then,
** or when the first of them waits for its group.
*/
#include "cluster.h"
#include "spec/common/wide.h"

#define __device__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#include "kernels/gemm/number.cuh"

namespace emulated {

enum { LANES = 128, MOST_PRODUCTS = 32, MOST_COMMITS = 16, ROWS = 64, MOST_N = 256 };
static const uint32_t POISON = 0x7FBADBAD;

static const struct {
  int bytes;
  uint32_t dtype;
} types[] = {{2, MT_bf16}, {2, MT_f16}, {4, MT_f32}, {1, MT_e4m3},
             {1, MT_e5m2}, {1, MT_i8},  {1, MT_u8}};

/* What an instruction was given; where its operands' chunks are; who came to it. */
struct instruction {
  kind type;
  int n, a_mn, b_mn;
  uint64_t a, b;
  bool keep;
  int group, lanes;
  uint32_t at_a[ROWS * 2], at_b[MOST_N * 2];
  struct {
    int8_t barrier;
    int16_t phase;
  } loads[8];
  int nloads;
};

struct warpgroup {
  instruction list[MOST_PRODUCTS];
  int made, done;            /* instructions: those before are there, are done */
  int commits[MOST_COMMITS]; /* of threads, of the groups after `full` */
  int full;                  /* groups that all threads committed */
  union {
    float real[ROWS * MOST_N];
    int32_t whole[ROWS * MOST_N];
  } sums;
};

void reset_groups (block &b) {
  for (warpgroup *&g : b.group) {
    if (g == NULL) g = (warpgroup *)malloc(sizeof *g);
    g->made = g->done = g->full = 0;
    memset(g->commits, 0, sizeof g->commits);
  }
}

static warpgroup &group () { return *mine().group[me->id / LANES]; }

/* ------------------------------------------------------------------ descriptors */

struct descriptor {
  uint32_t start, leading, stride;
  int wide; /* chunks of a row of the swizzle: 1, 2, 4, 8 */
};

static descriptor read_descriptor (uint64_t d) {
  static const int wide[] = {1, 8, 4, 2};
  need((d >> 49 & 7) == 0, "a descriptor with a base offset");
  return {(uint32_t)(d & 0x3fff) << 4, (uint32_t)(d >> 16 & 0x3fff) << 4,
          (uint32_t)(d >> 32 & 0x3fff) << 4, wide[d >> 62]};
}

static uint32_t swizzled (const descriptor &d, uint32_t at) {
  return at ^ (at >> 3 & (uint32_t)(d.wide - 1) << 4);
}

/* Half c of the 32 bytes of K of row i. */
static uint32_t place_k (const descriptor &d, uint32_t i, uint32_t c) {
  const uint32_t row = d.start + i / 8 * d.stride + i % 8 * (uint32_t)d.wide * 16;
  return swizzled(d, row + c * (d.wide == 1 ? d.leading : 16));
}

/* Elements 8 i to 8 i + 7 of M or N, at depth j. */
static uint32_t place_mn (const descriptor &d, uint32_t i, uint32_t j) {
  const uint32_t wide = (uint32_t)d.wide, next = wide == 1 ? d.leading : d.stride;
  const uint32_t at = d.start + i % wide * 16 + j % 8 * wide * 16 + j / 8 * next;
  return swizzled(d, at + i / wide * (wide == 1 ? d.stride : d.leading));
}

/* The chunks of an operand of so many rows: K-major two of each row, MN-major by depth. */
static void find_chunks (uint32_t *at, uint64_t from, bool mn, uint32_t rows) {
  const descriptor d = read_descriptor(from);
  const uint32_t across = mn ? rows / 8 : 2, down = mn ? 16 : rows;
  for (uint32_t i = 0; i < down; i++)
    for (uint32_t c = 0; c < across; c++)
      at[i * across + c] = mn ? place_mn(d, c, i) : place_k(d, i, c);
}

/* ------------------------------------------------------------------ numbers */

static float halves[1 << 16], bytes[2][1 << 8];

static void make_tables () {
  for (uint32_t i = 0; i < 1 << 16; i++) halves[i] = (float)mt::read_float(MT_f16, i);
  for (uint32_t i = 0; i < 1 << 8; i++) {
    bytes[0][i] = (float)mt::read_float(MT_e4m3, i);
    bytes[1][i] = (float)mt::read_float(MT_e5m2, i);
  }
}

static float as_float (uint32_t bits) {
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/* Elements of a chunk; of tf32 the first 19 bits count. */
static void read_chunk (float *to, kind type, const char *from) {
  const uint8_t *b = (const uint8_t *)from;
  uint16_t h[8];
  uint32_t w[4];
  memcpy(h, from, 16);
  memcpy(w, from, 16);
  switch (type) {
    case BF16:
      for (int i = 0; i < 8; i++) to[i] = as_float((uint32_t)h[i] << 16);
      break;
    case F16:
      for (int i = 0; i < 8; i++) to[i] = halves[h[i]];
      break;
    case TF32:
      for (int i = 0; i < 4; i++) to[i] = as_float(w[i] & 0xffffe000u);
      break;
    case E4M3:
    case E5M2:
      for (int i = 0; i < 16; i++) to[i] = bytes[type == E5M2][b[i]];
      break;
    default:
      for (int i = 0; i < 16; i++) to[i] = type == S8 ? (int8_t)b[i] : b[i];
  }
}

/* An operand as rows of M or N, `deep` elements each; turned: as rows of K. */
static void read_operand (float *to, const instruction &p, const uint32_t *at, bool mn,
                          int rows, bool turned) {
  const int each = 16 / types[p.type].bytes, deep = 2 * each;
  const int across = mn ? rows / 8 : 2, down = mn ? 16 : rows;
  const char *memory = mine().memory;
  for (int i = 0; i < down; i++)
    for (int c = 0; c < across; c++) {
      float x[16];
      read_chunk(x, p.type, memory + at[i * across + c]);
      for (int e = 0; e < each; e++) {
        const int row = mn ? c * each + e : i, k = mn ? i : c * each + e;
        to[turned ? k * rows + row : row * deep + k] = x[e];
      }
    }
}

/* ------------------------------------------------------------------ products */

/* Integers of 8 bits, 32 of them: the sum is exact. 16 sums at a time are in registers. */
WIDE_VECTORS static void add_rows (float *sum, const float *a, const float *b, int deep,
                                   int n) {
  enum { EACH = 16 };
  for (int j = 0; j < n; j += EACH) {
    float s[EACH];
    for (int i = 0; i < EACH; i++) s[i] = sum[j + i];
    for (int k = 0; k < deep; k++)
      for (int i = 0; i < EACH; i++) s[i] += a[k] * b[k * n + j + i];
    for (int i = 0; i < EACH; i++) sum[j + i] = s[i];
  }
}

static void add_whole (int32_t *sum, const float *x, int n) {
  for (int j = 0; j < n; j++) {
    const int64_t s = sum[j] + (int64_t)x[j];
    sum[j] = (int32_t)(s < INT32_MIN ? INT32_MIN : s > INT32_MAX ? INT32_MAX : s);
  }
}

static void execute (warpgroup &g, const instruction &p) {
  static float a[ROWS * 32], b[MOST_N * 32], row[MOST_N];
  const int deep = 32 / types[p.type].bytes;
  if (halves[1] == 0) make_tables();
  read_operand(a, p, p.at_a, p.a_mn, ROWS, false);
  read_operand(b, p, p.at_b, p.b_mn, p.n, true);
  for (int i = 0; i < ROWS; i++) {
    float *real = g.sums.real + i * p.n;
    int32_t *whole = g.sums.whole + i * p.n;
    if (!p.keep) memset(real, 0, (size_t)p.n * sizeof *real);
    if (p.type < S8) add_rows(real, a + i * deep, b, deep, p.n);
    else {
      memset(row, 0, sizeof row);
      add_rows(row, a + i * deep, b, deep, p.n);
      add_whole(whole, row, p.n);
    }
  }
}

/* The instructions of groups before this one. */
static void perform (warpgroup &g, int before) {
  for (; g.done < g.made && g.list[g.done % MOST_PRODUCTS].group < before; g.done++) {
    const instruction &p = g.list[g.done % MOST_PRODUCTS];
    need(p.lanes == LANES, "an instruction that not all threads of a warpgroup came to");
    execute(g, p);
  }
}

/* ------------------------------------------------------------------ registers */

static uint32_t *place_of_sum (warpgroup &g, int n, int i) {
  const int lane = (int)me->id % 32, warp = (int)me->id % LANES / 32;
  const int row = warp * 16 + i / 2 % 2 * 8 + lane / 4;
  return (uint32_t *)&g.sums.whole[row * n + i / 4 * 8 + lane % 4 * 2 + i % 2];
}

/* The sums of this thread are the instructions' from now on. */
static void give_sums (warpgroup &g, void *c, int n) {
  uint32_t *r = (uint32_t *)c;
  need(me->fenced, "wgmma without a fence since its registers were used");
  me->sums = c, me->nsums = n / 2;
  for (int i = 0; i < n / 2; i++) {
    *place_of_sum(g, n, i) = r[i];
    r[i] = POISON;
  }
}

static void take_sums (warpgroup &g) {
  uint32_t *r = (uint32_t *)me->sums;
  for (int i = 0; i < me->nsums; i++) {
    need(r[i] == POISON, "registers were written while wgmma had them");
    r[i] = *place_of_sum(g, me->nsums * 2, i);
  }
  me->sums = NULL, me->fenced = false;
}

/* ------------------------------------------------------------------ instructions */

/* Of the first thread: which loads its operands wait for; they are read from now on. */
static void note_operand (instruction &p, const uint32_t *at, int n) {
  block &b = mine();
  for (int i = 0; i < n; i++) {
    chunk &c = chunk_at(b, at[i]);
    need(c.load >= 0 || how->edges, "wgmma reads what nobody loaded");
    c.products[me->id / LANES] = (int16_t)(p.group + 1);
    if (c.load < 0) continue; /* rows that do not count */
    int k = 0;
    while (k < p.nloads && (p.loads[k].barrier != c.load || p.loads[k].phase != c.phase))
      k++;
    if (k < p.nloads) continue;
    need(p.nloads < 8, "wgmma reads more loads than the test has");
    p.loads[p.nloads].barrier = c.load;
    p.loads[p.nloads++].phase = c.phase;
  }
}

static void make (instruction &p, const instruction &as) {
  memcpy((void *)&p, &as, offsetof(instruction, at_a));
  p.nloads = 0;
  find_chunks(p.at_a, p.a, p.a_mn, ROWS);
  find_chunks(p.at_b, p.b, p.b_mn, (uint32_t)p.n);
  note_operand(p, p.at_a, ROWS * 2);
  note_operand(p, p.at_b, p.n * 2);
}

static bool same (const instruction &x, const instruction &y) {
  return x.type == y.type && x.n == y.n && x.a_mn == y.a_mn && x.b_mn == y.b_mn &&
         x.a == y.a && x.b == y.b && x.keep == y.keep && x.group == y.group;
}

void product (kind type, int n, bool a_mn, bool b_mn, void *c, uint64_t a, uint64_t b,
              bool keep) {
  warpgroup &g = group();
  instruction now;
  now.type = type, now.n = n, now.a_mn = a_mn, now.b_mn = b_mn;
  now.a = a, now.b = b, now.keep = keep, now.group = me->committed, now.lanes = 0;
  instruction &p = g.list[me->issued % MOST_PRODUCTS];
  need(!(a_mn || b_mn) || types[type].bytes == 2, "MN-major operands are of 16 bits");
  if (me->issued == g.made) {
    need(g.made - g.done < MOST_PRODUCTS, "more products than the test has");
    make(p, now);
    g.made++;
  }
  need(same(p, now), "the threads of a warpgroup differ");
  for (int i = 0; i < p.nloads; i++)
    need_loaded(me->block,
                {{0, 0, 0}, p.loads[i].phase, 0, p.loads[i].barrier, -1, false});
  if (me->sums == NULL) give_sums(g, c, n);
  need(me->sums == c && me->nsums == n / 2, "wgmma with other registers before its end");
  me->issued++, p.lanes++;
}

void fence_products () { me->fenced = true; }

void commit_products () {
  warpgroup &g = group();
  const int ahead = me->committed++ - g.full;
  need(ahead < MOST_COMMITS, "more groups than the test has");
  g.commits[ahead]++;
  if (g.commits[0] < LANES) return;
  memmove(g.commits, g.commits + 1, sizeof g.commits - sizeof g.commits[0]);
  g.commits[MOST_COMMITS - 1] = 0;
  g.full++;
  if (at_once()) perform(g, g.full);
  wake(me->block, me->id / LANES * LANES, LANES, &g);
}

/* The registers are the thread's again if nothing is left. */
void wait_products (int n) {
  warpgroup &g = group();
  const int before = me->committed - n;
  int16_t &known = me->knows.of[me->block].products[me->id / LANES];
  while (g.full < before) wait_on(&g, "the other threads of its warpgroup, by wgmma", 0);
  perform(g, before);
  if (before > known) known = (int16_t)before;
  const instruction &last = g.list[(me->issued + MOST_PRODUCTS - 1) % MOST_PRODUCTS];
  if (me->sums != NULL && last.group < before) take_sums(g);
}

void end_of_products () {
  need(me->sums == NULL, "it ends while wgmma has its registers");
}

} // namespace emulated

uint32_t emulate_operand (uint64_t from, bool mn, uint32_t i, uint32_t j, uint32_t size) {
  const emulated::descriptor d = emulated::read_descriptor(from);
  if (mn) return emulated::place_mn(d, i * size / 16, j) + i * size % 16;
  return emulated::place_k(d, i, j * size / 16) + j * size % 16;
}
