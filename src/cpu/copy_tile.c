/*
** copy_tile.c - the inner loops of the CPU executor: one tile at a time.
** SPDX-License-Identifier: MIT
*/
#include "cpu/copy.h"
#include "core/simd.h"

enum {
  MT_TORNROW = 512,   /* bytes of a transposed tile's that go past the caches */
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

mt_cpu_move *mt_cpu_mover (int64_t unit) {
  static mt_cpu_move *const exact[] = {move_1, move_2, move_4, move_8, move_16};
  static mt_cpu_move *const over[] = {NULL, move_over_2, move_over_4, move_over_8,
                                      move_over_16};
  for (int w = 0; w < 5; w++) {
    if (unit == (int64_t)1 << w) return exact[w];
    if (unit < (int64_t)2 << w) return over[w];
  }
  return NULL;
}

/* ---------------------------------------------------------------- filling */

enum { MT_VECTOR = 16 };

/* A vector of one unit again and again. */
#define MT_SPREAD(bytes)                                                                 \
  case bytes:                                                                            \
    for (int i = 0; i < MT_VECTOR; i += bytes) memcpy(v + i, src, bytes);                \
    return;

static inline void spread (char *v, const char *src, int64_t unit) {
  switch (unit) {
    MT_SPREAD(1)
    MT_SPREAD(2)
    MT_SPREAD(4)
    MT_SPREAD(8)
    default: memcpy(v, src, MT_VECTOR);
  }
}

/* n bytes, a vector at least. The last vector may lie upon the one before. */
static inline void fill_row (char *dst, const char *v, int64_t n) {
  int64_t at = 0;
  for (; n - at >= 4 * MT_VECTOR; at += 4 * MT_VECTOR)
    for (int i = 0; i < 4; i++) memcpy(dst + at + i * MT_VECTOR, v, MT_VECTOR);
  for (; n - at >= MT_VECTOR; at += MT_VECTOR) memcpy(dst + at, v, MT_VECTOR);
  memcpy(dst + n - MT_VECTOR, v, MT_VECTOR);
}

#ifdef MT_STREAM
/* Whole lines past the caches; v goes on from one to the next. */
static void stream_fill (char *dst, const char *v, int64_t n) {
  enum { MT_LINE = 64 };
  char line[MT_LINE + MT_VECTOR];
  for (int i = 0; i < MT_LINE + MT_VECTOR; i += MT_VECTOR) memcpy(line + i, v, MT_VECTOR);
  const int64_t head = (int64_t)(-(uintptr_t)dst & (MT_LINE - 1));
  const int64_t end = head + ((n - head) & -MT_LINE);
  memcpy(dst, line, (size_t)head);
  for (int64_t at = head; at < end; at += MT_VECTOR)
    mt_stream16(dst + at, line + head % MT_VECTOR);
  memcpy(dst + end, line + head % MT_VECTOR, (size_t)(n - end));
}
#else
static void stream_fill (char *dst, const char *v, int64_t n) { fill_row(dst, v, n); }
#endif

static void fill_long (const mt_cpu_tile *t, const char *src, char *dst, int64_t n,
                       int64_t nb) {
  _Alignas(MT_VECTOR) char v[MT_VECTOR];
  for (int64_t j = 0; j < nb; j++) {
    spread(v, src + j * t->b.src, t->unit);
    stream_fill(dst + j * t->b.dst, v, n);
  }
}

static void fill_rows (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  const int64_t n = na * t->unit;
  _Alignas(MT_VECTOR) char v[MT_VECTOR];
  if (t->stream && n >= MT_LONGROW) {
    fill_long(t, src, dst, n, nb);
    return;
  }
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst) {
    spread(v, src, t->unit);
    if (n >= MT_VECTOR) fill_row(dst, v, n);
    else memcpy(dst, v, (size_t)n);
  }
}

mt_cpu_move *mt_cpu_filler (int64_t unit) {
  return (unit & (unit - 1)) == 0 && unit <= MT_VECTOR ? fill_rows : NULL;
}

/* ---------------------------------------------------------------- runs */

/* What is read so many bytes ahead is asked for: the processor itself asks for nothing
** beyond a page of 4 KiB. */
enum { MT_PREFETCHED = 4096 };

#ifdef MT_STREAM

/* n bytes, of which there are `bytes` at least and twice as many at most. */
#define MT_PUT_TWICE(bytes)                                                              \
  if (n >= (bytes)) {                                                                    \
    memcpy(to, from, bytes);                                                             \
    memcpy(to + n - (bytes), from + n - (bytes), bytes);                                 \
    return;                                                                              \
  }

/* n < 64 bytes, by moves that overlap: few branches, none of which repeats. */
static inline void put_few (char *to, const char *from, int64_t n) {
  MT_PUT_TWICE(32)
  MT_PUT_TWICE(16)
  MT_PUT_TWICE(8)
  MT_PUT_TWICE(4)
  MT_PUT_TWICE(2)
  if (n > 0) *to = *from;
}

/* Whole lines, past the caches; what lies so far on is asked for, unless it is here. */
static inline void put_lines (char *to, const char *from, int64_t n, int64_t ahead) {
  for (int64_t i = 0; i < n; i += 64) {
    if (ahead != 0)
      __builtin_prefetch((const void *)((uintptr_t)(from + i) + (uintptr_t)ahead));
    mt_stream16(to + i, from + i);
    mt_stream16(to + i + 16, from + i + 16);
    mt_stream16(to + i + 32, from + i + 32);
    mt_stream16(to + i + 48, from + i + 48);
  }
}

static void put_row (char *to, const char *from, int64_t n, int64_t ahead) {
  int64_t head = (int64_t)(-(uintptr_t)to & 63), body;
  if (head > n) head = n;
  body = (n - head) & -64;
  put_few(to, from, head);
  put_lines(to + head, from + head, body, ahead);
  put_few(to + head + body, from + head + body, n - head - body);
}

#endif

void mt_cpu_put_ahead (const mt_cpu_tile *t, char *to, const char *from, int64_t n,
                       int64_t ahead) {
#ifdef MT_STREAM
  if (t->stream) {
    put_row(to, from, n, ahead);
    return;
  }
#endif
  (void)t, (void)ahead;
  memcpy(to, from, (size_t)n);
}

void mt_cpu_put (const mt_cpu_tile *t, char *to, const char *from, int64_t n) {
  mt_cpu_put_ahead(t, to, from, n, n >= MT_PREFETCHED ? MT_PREFETCHED : 0);
}

/* ---------------------------------------------------------------- short rows */

/* n bytes, of which there are `bytes` at least and twice as many at most. */
#define MT_COPY_SHORT(bytes)                                                             \
  static inline void copy_##bytes(char *to, const char *from, int64_t n) {               \
    memcpy(to, from, bytes);                                                             \
    memcpy(to + n - bytes, from + n - bytes, bytes);                                     \
  }
MT_COPY_SHORT(2)
MT_COPY_SHORT(4)
MT_COPY_SHORT(8)
MT_COPY_SHORT(16)
MT_COPY_SHORT(32)
MT_COPY_SHORT(64)
static inline void copy_any (char *to, const char *from, int64_t n) {
  memcpy(to, from, (size_t)n);
}

/* Rows below so many bytes, by moves of so many. */
#define MT_PUT_SHORT(below, copy)                                                        \
  if (n < (below)) {                                                                     \
    for (int64_t j = 0; j < rows; j++) copy(to + at[j], from + j * pitch, n);            \
    return;                                                                              \
  }

static void put_near (char *to, const int64_t *at, const char *from, int64_t pitch,
                      int64_t n, int64_t rows) {
  MT_PUT_SHORT(2, copy_any)
  MT_PUT_SHORT(4, copy_2)
  MT_PUT_SHORT(8, copy_4)
  MT_PUT_SHORT(17, copy_8)
  MT_PUT_SHORT(33, copy_16)
  MT_PUT_SHORT(INT64_MAX, copy_any)
}

/* Rows whose ends are parts of lines go past the caches only if they are long. */
void mt_cpu_put_rows (const mt_cpu_tile *t, char *to, const int64_t *at, const char *from,
                      int64_t pitch, int64_t n, int64_t rows) {
#ifdef MT_STREAM
  uint64_t all = (uint64_t)(uintptr_t)to | (uint64_t)n;
  for (int64_t j = 0; j < rows; j++) all |= (uint64_t)at[j];
  if (t->stream && all % 64 == 0) {
    for (int64_t j = 0; j < rows; j++) put_lines(to + at[j], from + j * pitch, n, 0);
    return;
  }
  if (t->stream && n >= MT_TORNROW) {
    for (int64_t j = 0; j < rows; j++) put_row(to + at[j], from + j * pitch, n, 0);
    return;
  }
#endif
  (void)t;
  put_near(to, at, from, pitch, n, rows);
}

/* ---------------------------------------------------------------- rows */

/* Units of one byte that lie together along a. Short rows may be asked for so many
** bytes ahead. */
#define MT_ROWS(name, copy)                                                              \
  static void name(const mt_cpu_tile *t, const char *src, char *dst, int64_t na,         \
                   int64_t nb) {                                                         \
    const int64_t some = 1 + MT_AHEADROWS / na;                                          \
    for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst) {                 \
      const bool asks = t->asks && t->b.src != 0 && j + some < nb;                       \
      for (int64_t i = 0; asks && i < na; i += 64)                                       \
        mt_prefetch(src + some * t->b.src + i);                                          \
      copy(dst, src, na);                                                                \
    }                                                                                    \
  }
MT_ROWS(rows_32, copy_32)
MT_ROWS(rows_64, copy_64)
MT_ROWS(rows_any, copy_any)

static void rows_long (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  const int64_t some = na < MT_PREFETCHED ? 1 + MT_AHEADROWS / na : nb;
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst)
    if (j + some < nb) mt_cpu_put_ahead(t, dst, src, na, some * t->b.src);
    else mt_cpu_put(t, dst, src, na);
}

/* The same, several rows for each index of b. */
#define MT_SEVERAL(name, copy)                                                           \
  static void name(const mt_cpu_tile *t, const char *src, char *dst, int64_t na,         \
                   int64_t nb) {                                                         \
    const mt_cpu_places *k = t->places;                                                  \
    const int64_t n = k->n[0];                                                           \
    for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst)                   \
      for (int64_t i = 0; i < n; i++) copy(dst + k->at[1][i], src + k->at[0][i], na);    \
  }
MT_SEVERAL(several_32, copy_32)
MT_SEVERAL(several_64, copy_64)
MT_SEVERAL(several_any, copy_any)

static void several_long (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                          int64_t nb) {
  const mt_cpu_places *k = t->places;
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst)
    for (int64_t i = 0; i < k->n[0]; i++)
      mt_cpu_put(t, dst + k->at[1][i], src + k->at[0][i], na);
}

/* Rows below so many bytes: one, or several, for each index of b. */
static const struct {
  int64_t below;
  mt_cpu_move *one, *several;
} row_movers[] = {{32, rows_any, several_any},
                  {65, rows_32, several_32},
                  {129, rows_64, several_64},
                  {INT64_MAX, rows_any, several_any}};

mt_cpu_move *mt_cpu_row_mover (int64_t bytes, int64_t rows, int64_t past) {
  int i = 0;
  if (bytes >= past) return rows > 1 ? several_long : rows_long;
  while (bytes >= row_movers[i].below) i++;
  return rows > 1 ? row_movers[i].several : row_movers[i].one;
}
