/*
** copy_tile.c - the inner loops of the CPU executor: one tile at a time.
** SPDX-License-Identifier: MIT
*/
#include "cpu/copy.h"
#include "core/simd.h"

enum {
  MT_LONGROW = 1024,  /* bytes that go past the caches */
  MT_AHEADROWS = 4096 /* that short rows are asked for ahead */
};

/* ---------------------------------------------------------------- any strides */

/* The longer of the two loops is the inner one. */
#define MT_LOOPS(MOVE)                                                                   \
  mt_cpu_axis x = t->a, y = t->b;                                                        \
  int64_t nx = na, ny = nb;                                                              \
  if (na < nb) x = t->b, y = t->a, nx = nb, ny = na;                                     \
  for (int64_t j = 0; j < ny; j++) {                                                     \
    const char *s = src + j * y.src;                                                     \
    char *d = dst + j * y.dst;                                                           \
    for (int64_t i = 0; i < nx; i++, s += x.src, d += x.dst) { MOVE; }                   \
  }

#define MT_MOVER(bytes)                                                                  \
  static void move_##bytes(const mt_cpu_tile *t, const char *src, char *dst, int64_t na, \
                           int64_t nb) {                                                 \
    MT_LOOPS(memcpy(d, s, bytes))                                                        \
  }
MT_MOVER(1)
MT_MOVER(2)
MT_MOVER(4)
MT_MOVER(8)
MT_MOVER(16)

/* bytes < unit < 2 * bytes: two moves that overlap. */
#define MT_OVERLAPPING_MOVER(bytes)                                                      \
  static void move_over_##bytes(const mt_cpu_tile *t, const char *src, char *dst,        \
                                int64_t na, int64_t nb) {                                \
    int64_t tail = t->unit - bytes;                                                      \
    MT_LOOPS(memcpy(d, s, bytes); memcpy(d + tail, s + tail, bytes))                     \
  }
MT_OVERLAPPING_MOVER(2)
MT_OVERLAPPING_MOVER(4)
MT_OVERLAPPING_MOVER(8)
MT_OVERLAPPING_MOVER(16)

/* ---------------------------------------------------------------- filling */

enum { MT_PATTERN = 256 };

static void fill_rows (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  char pattern[MT_PATTERN];
  int64_t n = na * t->unit, repeated = n < MT_PATTERN ? n : MT_PATTERN;
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst) {
    int64_t at = 0;
    for (int64_t i = 0; i < repeated; i += t->unit)
      memcpy(pattern + i, src, (size_t)t->unit);
    for (; n - at >= MT_PATTERN; at += MT_PATTERN) memcpy(dst + at, pattern, MT_PATTERN);
    memcpy(dst + at, pattern, (size_t)(n - at));
  }
}

mt_cpu_move *mt_cpu_filler (int64_t unit) {
  return (unit & (unit - 1)) == 0 && unit <= MT_PATTERN ? fill_rows : NULL;
}

/* ---------------------------------------------------------------- transposing */

#ifdef MT_STREAM

/* n < 64 bytes. */
static inline void put_few (char *to, const char *from, int64_t n) {
  for (; n >= 16; n -= 16, to += 16, from += 16) memcpy(to, from, 16);
  if (n & 8) memcpy(to, from, 8), to += 8, from += 8;
  if (n & 4) memcpy(to, from, 4), to += 4, from += 4;
  if (n & 2) memcpy(to, from, 2), to += 2, from += 2;
  if (n & 1) *to = *from;
}

/* What is read so many bytes ahead is asked for: the processor itself asks for nothing
** beyond a page of 4 KiB. */
enum { MT_PREFETCHED = 4096 };

/* Whole lines, past the caches. */
static inline void put_lines (char *to, const char *from, int64_t n) {
  const bool is_long = n >= MT_PREFETCHED;
  for (int64_t i = 0; i < n; i += 64) {
    if (is_long)
      __builtin_prefetch((const void *)((uintptr_t)(from + i) + MT_PREFETCHED));
    mt_stream16(to + i, from + i);
    mt_stream16(to + i + 16, from + i + 16);
    mt_stream16(to + i + 32, from + i + 32);
    mt_stream16(to + i + 48, from + i + 48);
  }
}

static void put_row (char *to, const char *from, int64_t n) {
  int64_t head = (int64_t)(-(uintptr_t)to & 63), body;
  if (head > n) head = n;
  body = (n - head) & -64;
  put_few(to, from, head);
  put_lines(to + head, from + head, body);
  put_few(to + head + body, from + head + body, n - head - body);
}

#endif

void mt_cpu_put (const mt_cpu_tile *t, char *to, const char *from, int64_t n) {
#ifdef MT_STREAM
  if (t->stream) {
    put_row(to, from, n);
    return;
  }
#endif
  (void)t;
  memcpy(to, from, (size_t)n);
}

/* Rows that a processor does not foresee are asked for so many bytes ahead. */
static void move_short_rows (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                             int64_t nb) {
  const int64_t some = 1 + MT_AHEADROWS / na;
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst) {
    const bool asks = t->far && j + some < nb;
    for (int64_t i = 0; asks && i < na; i += 64) mt_prefetch(src + some * t->b.src + i);
    memcpy(dst, src, (size_t)na);
  }
}

/* Units of one byte that lie together along a: rows. */
static void move_rows (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  if (na < MT_LONGROW) move_short_rows(t, src, dst, na, nb);
  else
    for (int64_t j = 0; j < nb; j++)
      mt_cpu_put(t, dst + j * t->b.dst, src + j * t->b.src, na);
}

mt_cpu_move *mt_cpu_mover (int64_t unit) {
  static mt_cpu_move *const exact[] = {move_1, move_2, move_4, move_8, move_16};
  static mt_cpu_move *const over[] = {NULL, move_over_2, move_over_4, move_over_8,
                                      move_over_16};
  for (int w = 0; w < 5; w++) {
    if (unit == (int64_t)1 << w) return exact[w];
    if (unit < (int64_t)2 << w) return over[w];
  }
  return move_rows;
}

/* The buffer's rows, `pitch` apart, become `rows` rows of n bytes of the destination. */
static void put_rows (const mt_cpu_tile *t, char *to, const char *from, int64_t pitch,
                      int64_t n, int64_t rows) {
  int64_t step = t->b.dst;
#ifdef MT_STREAM
  bool lines = ((uintptr_t)to | (uintptr_t)step | (uintptr_t)n) % 64 == 0;
  if (t->stream && lines) {
    for (int64_t j = 0; j < rows; j++) put_lines(to + j * step, from + j * pitch, n);
    return;
  }
  if (t->stream) {
    for (int64_t j = 0; j < rows; j++) put_row(to + j * step, from + j * pitch, n);
    return;
  }
#endif
  for (int64_t j = 0; j < rows; j++) memcpy(to + j * step, from + j * pitch, (size_t)n);
}

/* W rows of W elements, `from` bytes apart, become W rows `to` bytes apart. After log2 W
** rounds of interleaving the halves of a list of vectors, its elements are transposed. */
#define MT_BLOCK(bits, W)                                                                \
  static inline void block_##bits(char *d, int64_t to, const char *s, int64_t from) {    \
    mt_v##bits x[W], y[W];                                                               \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(&x[i], s + i * from, 16);               \
    MT_UNROLL for (int n = 1; n < W; n *= 2) {                                           \
      MT_UNROLL for (int i = 0; i < W / 2; i++) {                                        \
        y[2 * i] = mt_low_##bits(x[i], x[i + W / 2]);                                    \
        y[2 * i + 1] = mt_high_##bits(x[i], x[i + W / 2]);                               \
      }                                                                                  \
      MT_UNROLL for (int i = 0; i < W; i++) x[i] = y[i];                                 \
    }                                                                                    \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(d + i * to, &x[i], 16);                 \
  }

/* A row of the buffer holds the tile's elements along a, and a line more: powers of two
** alias. */
enum { MT_BUFFER = 40 << 10, MT_SHORTROWS = 32 << 10, MT_LINE = 64, MT_AHEAD = 64 };
static int64_t pitch_of (int64_t bytes) { return ((bytes + 63) & -64) + 64; }

/* What to fetch while row i of na rows of n bytes is worked on: rows some way on, or of
** the tile beside this one, which is next. A few bytes of many rows are nothing that a
** processor foresees. */
static inline uintptr_t ahead_of (const char *src, int64_t from, int64_t i, int64_t na,
                                  int64_t n) {
  int64_t at = i + (na < 2 * MT_AHEAD ? na / 2 : MT_AHEAD);
  return (uintptr_t)src + (uintptr_t)(at < na ? at * from : (at - na) * from + n);
}

/* na, nb >= W; the last blocks overlap the ones before. Rows of the buffer are `pitch`
** apart. */
#define MT_INTERLEAVE(bits, W)                                                           \
  static void pack_##bits(char *buf, int64_t pitch, const char *src, int64_t from,       \
                          int64_t na, int64_t nb) {                                      \
    for (int64_t i = 0; i < na; i += W) {                                                \
      uintptr_t ahead = ahead_of(src, from, i, na, nb * (16 / W));                       \
      for (int64_t j = 0; j < nb * (16 / W); j += MT_LINE)                               \
        for (int64_t k = 0; k < W; k++)                                                  \
          mt_prefetch((const void *)(ahead + (uintptr_t)(k * from + j)));                \
      if (i > na - W) i = na - W;                                                        \
      for (int64_t j = 0; j < nb; j += W) {                                              \
        if (j > nb - W) j = nb - W;                                                      \
        block_##bits(buf + j * pitch + i * (16 / W), pitch,                              \
                     src + i * from + j * (16 / W), from);                               \
      }                                                                                  \
    }                                                                                    \
  }

#define MT_TRANSPOSER(bits, W)                                                           \
  MT_BLOCK(bits, W)                                                                      \
  MT_INTERLEAVE(bits, W)                                                                 \
  static void transpose_##bits(const mt_cpu_tile *t, const char *src, char *dst,         \
                               int64_t na, int64_t nb) {                                 \
    _Alignas(64) char buf[MT_BUFFER];                                                    \
    int64_t pitch = pitch_of(na * t->unit);                                              \
    if (na < W || nb < W) {                                                              \
      mt_cpu_mover(t->unit)(t, src, dst, na, nb);                                        \
      return;                                                                            \
    }                                                                                    \
    pack_##bits(buf, pitch, src, t->a.src, na, nb);                                      \
    put_rows(t, dst, buf, pitch, na * t->unit, nb);                                      \
  }

#ifdef MT_SIMD
MT_TRANSPOSER(8, 16)
MT_TRANSPOSER(16, 8)
MT_TRANSPOSER(32, 4)
MT_TRANSPOSER(64, 2)

static void transpose_128 (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                           int64_t nb) {
  _Alignas(64) char buf[MT_BUFFER];
  int64_t pitch = pitch_of(na * 16);
  for (int64_t i = 0; i < na; i++)
    for (int64_t j = 0; j < nb; j++)
      memcpy(buf + j * pitch + i * 16, src + i * t->a.src + j * 16, 16);
  put_rows(t, dst, buf, pitch, na * 16, nb);
}
#endif

/* Two tiles of each: where the rows of the destination are whole lines, and where they
** are not, so that longer rows pay. Measured.
** bytes  move           a,  b      a,   b */
#define MT_TRANSPOSERS(X)                                                                \
  X(1, transpose_8, 256, 128, 512, 64)                                                   \
  X(2, transpose_16, 256, 64, 512, 32)                                                   \
  X(4, transpose_32, 64, 64, 256, 32)                                                    \
  X(8, transpose_64, 32, 32, 128, 32)                                                    \
  X(16, transpose_128, 16, 16, 64, 16)

/* Few indices of a leave room for more of b. */
static void widen (int64_t unit, int64_t na, int64_t *ta, int64_t *tb) {
  int64_t n = MT_SHORTROWS / pitch_of(na * unit);
  if (na >= *ta || n <= *tb) return;
  *ta = na;
  *tb = n & -16;
}

mt_cpu_move *mt_cpu_transposer (int64_t unit, int64_t pitch, int64_t na, int64_t *ta,
                                int64_t *tb) {
#ifdef MT_SIMD
#define MT_TRANSPOSER_ROW(bytes, move, a, b, c, d) {bytes, move, {a, c}, {b, d}},
  static const struct {
    int64_t unit;
    mt_cpu_move *move;
    int64_t ta[2], tb[2];
  } rows[] = {MT_TRANSPOSERS(MT_TRANSPOSER_ROW)};
#undef MT_TRANSPOSER_ROW
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].unit != unit) continue;
    *ta = rows[i].ta[pitch % 64 != 0];
    *tb = rows[i].tb[pitch % 64 != 0];
    widen(unit, na, ta, tb);
    return rows[i].move;
  }
#endif
  (void)unit, (void)pitch, (void)na, (void)ta, (void)tb;
  return NULL;
}
