/*
** gemm_side.c - elements of an operand by tables of offsets: to panels and back.
** SPDX-License-Identifier: MIT
*/
#include "cpu/gemm_side.h"
#include "core/simd.h"

/* ---------------------------------------------------------------- tables */

/* The last digit takes what the others leave, as everywhere in a descriptor. */
void mt_cpu_offsets (int64_t *out, const mt_cpu_mode *m, int64_t first, int64_t n) {
  int64_t index[MT_MAXDIGIT], at = 0;
  if (m->n == 1) {
    const int64_t step = m->digit->stride;
    for (int64_t i = 0; i < n; i++) out[i] = (first + i) * step;
    return;
  }
  for (uint32_t j = 0; j < m->n; j++) {
    int64_t extent = m->digit[j].extent;
    index[j] = j + 1 < m->n ? first % extent : first;
    first /= extent;
    at += index[j] * m->digit[j].stride;
  }
  for (int64_t i = 0; i < n; i++) {
    out[i] = at;
    for (uint32_t j = 0; j < m->n; j++) {
      at += m->digit[j].stride;
      if (++index[j] < m->digit[j].extent || j + 1 == m->n) break;
      at -= index[j] * m->digit[j].stride;
      index[j] = 0;
    }
  }
}

/* How many of t[0 .. n) count up by 1. */
static int64_t run_of (const int64_t *t, int64_t n) {
  int64_t i = 1;
  while (i < n && t[i] - t[i - 1] == 1) i++;
  return i < n ? i : n;
}

static inline int64_t swizzled (const mt_part *p, int64_t o) {
  int64_t moved = o & p->swizzle;
  return o ^ (p->shift >= 0 ? moved >> p->shift : moved << -p->shift);
}

/* ---------------------------------------------------------------- by element */

/* What the paths have in common: the piece's tables, and where its coordinate 0 lies. */
typedef struct mt_spot {
  const int64_t *x, *y;
  char *base;
} mt_spot;

static mt_spot spot_of (const mt_cpu_side *s, const mt_cpu_piece *p) {
  mt_spot at = {s->table[MT_X] + p->x, s->table[MT_Y] + p->y, s->base};
  if (s->part.swizzle == 0)
    at.base += (s->offset + s->table[MT_BATCH][p->batch]) * s->elem;
  return at;
}

char *mt_cpu_element (const mt_cpu_side *s, const mt_cpu_piece *p) {
  const mt_spot at = spot_of(s, p);
  return at.base + (at.x[0] + at.y[0]) * s->elem;
}

static void gather_swizzled (char *out, const mt_cpu_side *s, const mt_cpu_piece *p,
                             int64_t width) {
  int64_t first = s->offset + s->table[MT_BATCH][p->batch];
  const int64_t *x = s->table[MT_X] + p->x, *y = s->table[MT_Y] + p->y;
  for (int64_t j = 0; j < p->ny; j++)
    for (int64_t i = 0; i < p->nx; i++)
      memcpy(out + (j * width + i) * s->elem,
             s->base + swizzled(&s->part, first + x[i] + y[j]) * s->elem,
             (size_t)s->elem);
}

static void scatter_swizzled (const mt_cpu_side *s, const mt_cpu_piece *p,
                              const char *from, int64_t width) {
  int64_t first = s->offset + s->table[MT_BATCH][p->batch];
  const int64_t *x = s->table[MT_X] + p->x, *y = s->table[MT_Y] + p->y;
  for (int64_t j = 0; j < p->ny; j++)
    for (int64_t i = 0; i < p->nx; i++)
      memcpy(s->base + swizzled(&s->part, first + x[i] + y[j]) * s->elem,
             from + (j * width + i) * s->elem, (size_t)s->elem);
}

#define MT_EACH(bits)                                                                    \
  static void gather_##bits(char *to, mt_spot s, int64_t nx, int64_t ny,                 \
                            int64_t width) {                                             \
    uint##bits##_t *out = (void *)to;                                                    \
    for (int64_t j = 0; j < ny; j++)                                                     \
      for (int64_t i = 0; i < nx; i++)                                                   \
        memcpy(&out[j * width + i], s.base + (s.x[i] + s.y[j]) * (bits / 8), bits / 8);  \
  }                                                                                      \
  static void scatter_##bits(mt_spot s, int64_t nx, int64_t ny, const char *from,        \
                             int64_t width) {                                            \
    const uint##bits##_t *in = (const void *)from;                                       \
    for (int64_t j = 0; j < ny; j++)                                                     \
      for (int64_t i = 0; i < nx; i++)                                                   \
        memcpy(s.base + (s.x[i] + s.y[j]) * (bits / 8), &in[j * width + i], bits / 8);   \
  }
MT_EACH(8)
MT_EACH(16)
MT_EACH(32)
MT_EACH(64)

/* ---------------------------------------------------------------- by blocks */

/* W columns, elements of which lie together along y, become W rows. */
#define MT_TURN(bits, W)                                                                 \
  static inline void turn_##bits(char *to, int64_t width, const char *base,              \
                                 const int64_t *x) {                                     \
    mt_v##bits a[W];                                                                     \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(&a[i], base + x[i] * (bits / 8), 16);   \
    mt_turn_##bits(a);                                                                   \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(to + i * width, &a[i], 16);             \
  }                                                                                      \
  static void turned_##bits(char *to, mt_spot s, int64_t nx, int64_t ny,                 \
                            int64_t width) {                                             \
    const int64_t size = bits / 8;                                                       \
    int64_t mx = nx - nx % W, my = ny - ny % W;                                          \
    for (int64_t i = 0; i < mx; i += W)                                                  \
      for (int64_t j = 0; j < my; j += W)                                                \
        turn_##bits(to + (j * width + i) * size, width * size, s.base + s.y[j] * size,   \
                    s.x + i);                                                            \
    mt_spot side = {s.x + mx, s.y, s.base}, end = {s.x, s.y + my, s.base};               \
    gather_##bits(to + mx * size, side, nx - mx, my, width);                             \
    gather_##bits(to + my * width * size, end, nx, ny - my, width);                      \
  }

#ifdef MT_SIMD
MT_TURN(8, 16)
MT_TURN(16, 8)
MT_TURN(32, 4)
MT_TURN(64, 2)
#else
#define turned_8 gather_8
#define turned_16 gather_16
#define turned_32 gather_32
#define turned_64 gather_64
#endif

/* Few bytes, by moves of 16, 8, 4 or 1, the last of which overlap. */
#define MT_MOVES(size)                                                                   \
  if (bytes >= size) {                                                                   \
    for (int64_t i = 0; i < bytes - size; i += size) memcpy(to + i, from + i, size);     \
    memcpy(to + bytes - size, from + bytes - size, size);                                \
    return;                                                                              \
  }
static inline void copy_row (char *to, const char *from, int64_t bytes) {
  MT_MOVES(16)
  MT_MOVES(8)
  MT_MOVES(4)
  MT_MOVES(1)
}
#undef MT_MOVES

/* Rows that lie together: `bytes` of each. */
static void gather_rows (char *out, mt_spot s, int64_t bytes, int64_t ny, int64_t pitch,
                         int64_t elem) {
  const char *from = s.base + s.x[0] * elem;
  for (int64_t j = 0; j < ny; j++) copy_row(out + j * pitch, from + s.y[j] * elem, bytes);
}

/* ---------------------------------------------------------------- pieces */

/* Bytes of an element: 1, 2, 4, 8. */
static int log_of (int64_t elem) { return elem == 8 ? 3 : (int)elem / 2; }

typedef void mt_gather (char *to, mt_spot s, int64_t nx, int64_t ny, int64_t width);
typedef void mt_scatter (mt_spot s, int64_t nx, int64_t ny, const char *from,
                         int64_t width);
static mt_gather *const gathers[] = {gather_8, gather_16, gather_32, gather_64};
static mt_gather *const turns[] = {turned_8, turned_16, turned_32, turned_64};
static mt_scatter *const scatters[] = {scatter_8, scatter_16, scatter_32, scatter_64};

/* Runs along y are turned; what is none goes element by element. */
static void gather_runs (char *out, mt_spot at, const mt_cpu_piece *p, int64_t width,
                         int64_t elem) {
  enum { MT_RUN = 8, MT_STEP = 16 };
  int log = log_of(elem);
  for (int64_t j = 0, n; j < p->ny; j += n, at.y += n, out += n * width * elem) {
    n = run_of(at.y, p->ny - j);
    mt_gather *move = n >= MT_RUN ? turns[log] : gathers[log];
    if (n < MT_RUN) n = p->ny - j < MT_STEP ? p->ny - j : MT_STEP;
    move(out, at, p->nx, n, width);
  }
}

void mt_cpu_gather (void *to, const mt_cpu_side *s, const mt_cpu_piece *p,
                    int64_t width) {
  char *out = to;
  if (p->nx < width) memset(out, 0, (size_t)(width * p->ny * s->elem));
  if (s->part.swizzle) {
    gather_swizzled(out, s, p, width);
    return;
  }
  mt_spot at = spot_of(s, p);
  if (run_of(at.x, p->nx) == p->nx)
    gather_rows(out, at, p->nx * s->elem, p->ny, width * s->elem, s->elem);
  else gather_runs(out, at, p, width, s->elem);
}

void mt_cpu_scatter (const mt_cpu_side *s, const mt_cpu_piece *p, const void *from,
                     int64_t width) {
  const char *in = from;
  if (s->part.swizzle) {
    scatter_swizzled(s, p, in, width);
    return;
  }
  mt_spot at = spot_of(s, p);
  if (run_of(at.x, p->nx) < p->nx) {
    scatters[log_of(s->elem)](at, p->nx, p->ny, in, width);
    return;
  }
  char *to = at.base + at.x[0] * s->elem;
  for (int64_t j = 0; j < p->ny; j++)
    copy_row(to + at.y[j] * s->elem, in + j * width * s->elem, p->nx * s->elem);
}
