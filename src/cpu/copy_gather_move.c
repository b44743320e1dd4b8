/*
** copy_gather_move.c - units from anywhere: the loops over boxes.
** SPDX-License-Identifier: MIT
**
** The tables are made by cpu/copy_gather.c. Boxes of few windows are faster than memory:
** where they are much, they go past the caches. If boxes are whole vectors of the
** destination they are written at once, else they are put together near first.
*/
#include "cpu/copy_gather.h"

#ifdef MT_SHUFFLE
#include <tmmintrin.h>
#define MT_FOR_SHUFFLE __attribute__((target("ssse3")))
#endif

/* ---------------------------------------------------------------- moving */

#define MT_UNITS(bytes)                                                                  \
  case bytes:                                                                            \
    for (; !back && i + 8 <= n; i += 8)                                                  \
      MT_UNROLL for (int64_t k = i; k < i + 8; k++)                                      \
          memcpy(to + k * bytes, src + g->at[k], bytes);                                 \
    for (; !back && i < n; i++) memcpy(to + i * bytes, src + g->at[i], bytes);           \
    for (i = n; back && i-- > 0;) memcpy(to + i * bytes, src + g->at[i], bytes);         \
    return;

/* n units of a box, one by one; of a source that runs backwards the last one first. */
static void move_units (const mt_cpu_gather *g, char *to, const char *src, int64_t n) {
  const bool back = g->at[g->units - 1] < g->at[0];
  int64_t i = 0;
  switch (g->unit) {
    MT_UNITS(1)
    MT_UNITS(2)
    MT_UNITS(4)
    MT_UNITS(8)
    MT_UNITS(16)
    default:
      for (; i < n; i++) memcpy(to + i * g->unit, src + g->at[i], (size_t)g->unit);
  }
}

static void move_alone (const mt_cpu_gather *g, char *to, const char *src) {
  move_units(g, to, src, g->units);
}

/* Moves a box. */
typedef void mover (const mt_cpu_gather *g, char *to, const char *src);

#ifdef MT_SHUFFLE
MT_FOR_SHUFFLE static inline __m128i part_of (const window *w, const char *src) {
  return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(src + w->src)),
                          _mm_loadu_si128((const __m128i *)w->mask));
}

/* A box by n windows for each vector. */
#define MT_SHUFFLED(name, n, store)                                                      \
  MT_FOR_SHUFFLE static void name(const mt_cpu_gather *g, char *to, const char *src) {   \
    const int64_t vectors = g->vectors, windows = n;                                     \
    const window *w = g->list;                                                           \
    for (int64_t i = 0; i < vectors; i++, w += windows) {                                \
      __m128i v = part_of(w, src);                                                       \
      for (int64_t k = 1; k < windows; k++) v = _mm_or_si128(v, part_of(w + k, src));    \
      store((__m128i *)(to + g->to[i]), v);                                              \
    }                                                                                    \
  }
MT_SHUFFLED(shuffle_1, 1, _mm_storeu_si128)
MT_SHUFFLED(shuffle_2, 2, _mm_storeu_si128)
MT_SHUFFLED(shuffle_3, 3, _mm_storeu_si128)
MT_SHUFFLED(shuffle_4, 4, _mm_storeu_si128)
MT_SHUFFLED(shuffle_more, g->windows, _mm_storeu_si128)
/* Whole vectors, past the caches. */
MT_SHUFFLED(stream_1, 1, _mm_stream_si128)
MT_SHUFFLED(stream_2, 2, _mm_stream_si128)

/* Units of 8 bytes one by one, two to a vector. */
#define MT_PAIRS(name, store)                                                            \
  static void name(const mt_cpu_gather *g, char *to, const char *src) {                  \
    const int64_t n = g->units / 2;                                                      \
    for (int64_t i = 0; i < n; i++) {                                                    \
      const __m128i a = _mm_loadl_epi64((const __m128i *)(src + g->at[2 * i]));          \
      const __m128i b = _mm_loadl_epi64((const __m128i *)(src + g->at[2 * i + 1]));      \
      store((__m128i *)(to + 16 * i), _mm_unpacklo_epi64(a, b));                         \
    }                                                                                    \
    if (g->units % 2) memcpy(to + 16 * n, src + g->at[2 * n], 8);                        \
  }
MT_PAIRS(move_pairs, _mm_storeu_si128)
MT_PAIRS(stream_pairs, _mm_stream_si128)

static mover *mover_of (const mt_cpu_gather *g) {
  static mover *const movers[] = {move_alone, shuffle_1, shuffle_2,
                                  shuffle_3,  shuffle_4, shuffle_more};
  if (g->windows == 0 && g->unit == 8) return move_pairs;
  return movers[g->windows < 5 ? g->windows : 5];
}

/* Of boxes of whole vectors; NULL: there is none. */
static mover *streamer_of (const mt_cpu_gather *g) {
  if (g->windows == 0 && g->unit == 8) return stream_pairs;
  return g->windows == 1 ? stream_1 : g->windows == 2 ? stream_2 : NULL;
}
#else
static mover *mover_of (const mt_cpu_gather *g) {
  (void)g;
  return move_alone;
}

static mover *streamer_of (const mt_cpu_gather *g) {
  (void)g;
  return NULL;
}
#endif

/* Asks for some lines of the next group of tiles. A macro, as gcc drops calls that do
** nothing but ask. */
#define MT_ASK_SOME(t)                                                                   \
  if ((t)->hand->ask != NULL) {                                                          \
    mt_cpu_hand *h = (t)->hand;                                                          \
    const int64_t most = (t)->gather->lines, some = h->next + (t)->asked;                \
    for (; h->next < some && h->next < most; h->next++)                                  \
      mt_prefetch(h->ask + (t)->gather->line[h->next]);                                  \
  }

/* Boxes that follow one another. The source is read forwards, if nothing is asked for:
** caches fetch what comes next. */
static void move_boxes (const mt_cpu_tile *t, mover *move, char *to, const char *src,
                        int64_t step, int64_t n) {
  const mt_cpu_gather *g = t->gather;
  if (t->hand->ask != NULL) {
    for (int64_t i = 0; i < n; i++) {
      MT_ASK_SOME(t)
      move(g, to + i * g->bytes, src + i * step);
    }
  } else if (step < 0) {
    for (int64_t i = n; i-- > 0;) move(g, to + i * g->bytes, src + i * step);
  } else {
    for (int64_t i = 0; i < n; i++) move(g, to + i * g->bytes, src + i * step);
  }
}

/* ---------------------------------------------------------------- past the caches */

_Static_assert(sizeof((mt_cpu_hand *)0)->near >= MT_CPU_WAITING + MT_MOSTBOX,
               "a box has room behind what waits");

/* Writes the whole lines that wait, past the caches, and the part of one before them. */
static void write_lines (const mt_cpu_tile *t, mt_cpu_hand *h) {
  const int64_t lines = h->end & -MT_LINE, head = -h->from & (MT_LINE - 1);
  if (lines <= h->from) return;
  if (head > 0) memcpy(h->line + h->from, h->near + h->from, (size_t)head);
  h->from += head;
  mt_cpu_put_ahead(t, h->line + h->from, h->near + h->from, lines - h->from, 0);
  memcpy(h->near, h->near + lines, MT_LINE);
  h->line += lines, h->end -= lines, h->from = 0;
}

void mt_cpu_gather_end (const mt_cpu_tile *t) {
  mt_cpu_hand *h = t->hand;
  if (h->line == NULL) return;
  write_lines(t, h);
  memcpy(h->line + h->from, h->near + h->from, (size_t)(h->end - h->from));
  h->line = NULL;
}

/* Where bytes wait that are to lie at `to`. */
static char *wait_for (const mt_cpu_tile *t, char *to) {
  mt_cpu_hand *h = t->hand;
  if (h->line == NULL || h->line + h->end != to) {
    mt_cpu_gather_end(t);
    h->from = h->end = (int64_t)((uintptr_t)to % MT_LINE);
    h->line = to - h->from;
  }
  return h->near + h->end;
}

/* They do: n of them. */
static void wait (const mt_cpu_tile *t, int64_t n) {
  t->hand->end += n;
  if (t->hand->end >= MT_CPU_WAITING) write_lines(t, t->hand);
}

/* Boxes that follow one another, and some units of one more. */
static void stream_boxes (const mt_cpu_tile *t, char *to, const char *src, int64_t step,
                          int64_t n, int64_t units) {
  const mt_cpu_gather *g = t->gather;
  mover *move = mover_of(g);
  for (int64_t i = 0; i < n; i++) {
    MT_ASK_SOME(t)
    move(g, wait_for(t, to + i * g->bytes), src + i * step);
    wait(t, g->bytes);
  }
  if (units == 0) return;
  move_units(g, wait_for(t, to + n * g->bytes), src + n * step, units);
  wait(t, units * g->unit);
}

/* The same by themselves: rows take turns, or the source runs backwards, and is read
** forwards. */
static void stream_piece (const mt_cpu_tile *t, char *to, const char *src, int64_t step,
                          int64_t n, int64_t units) {
  const mt_cpu_gather *g = t->gather;
  const int64_t each = g->bytes < MT_TURN ? MT_TURN / g->bytes : 1;
  char near[MT_TURN];
  for (int64_t i = 0; i < n; i += each) {
    const int64_t many = n - i < each ? n - i : each, at = step < 0 ? n - i - many : i;
    move_boxes(t, mover_of(g), near, src + at * step, step, many);
    mt_cpu_put_ahead(t, to + at * g->bytes, near, many * g->bytes, 0);
  }
  if (units > 0) move_units(g, to + n * g->bytes, src + n * step, units);
}

/* Whether boxes that are no whole lines are put together near. Units that go one by one
** wait for the source, if nobody asked for it. */
static bool is_staged (const mt_cpu_tile *t) {
  return t->gather->windows > 0 || t->asked > 0;
}

/* Whether boxes go past the caches: memory takes longer than their few windows. */
static bool is_streamed (const mt_cpu_tile *t, int64_t bytes) {
  const int64_t run = is_staged(t) && t->run > bytes ? t->run : bytes;
  return t->stream && run >= MT_FEWBYTES && streamer_of(t->gather) != NULL;
}

/* Indices of a that lie before the first whole line; 0: they would be too many. */
static int64_t head_of (const mt_cpu_tile *t, const char *to) {
  const int64_t bytes = (int64_t)(-(uintptr_t)to & (MT_LINE - 1));
  for (int64_t i = 0; i < t->gather->step && i * t->unit < 2 * MT_LINE; i++)
    if ((i * t->unit - bytes) % MT_LINE == 0) return i;
  return 0;
}

/* Of n boxes of whole vectors those that are whole lines. */
static int64_t whole_lines (const mt_cpu_gather *g, int64_t n) {
  int64_t few = 1;
  while (few * g->bytes % MT_LINE != 0) few *= 2;
  return n / few * few;
}

/* n boxes that follow one another, from a line on, at once past the caches. */
static void stream_whole (const mt_cpu_tile *t, char *to, const char *src, int64_t step,
                          int64_t n) {
  const mt_cpu_gather *g = t->gather;
  const int64_t lines = whole_lines(g, n);
  move_boxes(t, streamer_of(g), to, src, step, lines);
  to += lines * g->bytes, src += lines * step;
  move_boxes(t, mover_of(g), to, src, step, n - lines);
}

/* Whether n indices, from `to` on, are boxes of whole vectors, and what is before and
** after them is little. Rows that read the same lines have their turns soon: these are
** put together near. */
static bool is_whole (const mt_cpu_tile *t, const char *to, int64_t n) {
  const mt_cpu_gather *g = t->gather;
  if (g->rows > 1 || g->bytes % MT_VECTOR != 0) return false;
  if (n * t->unit >= MT_TURN) return true;
  const bool ends = n * t->unit % MT_LINE == 0 || t->run <= n * t->unit;
  return (uintptr_t)to % MT_LINE == 0 && n % g->step == 0 && ends;
}

/* n indices of the axis a: what is before a line, boxes, and what is left of one. */
static void move_piece (const mt_cpu_tile *t, char *to, const char *src, int64_t n) {
  const mt_cpu_gather *g = t->gather;
  const int64_t inner = g->units / g->step, step = g->step * t->a.src;
  const bool streams = is_streamed(t, n / g->step * g->bytes);
  const bool whole = streams && is_whole(t, to, n);
  const int64_t head = whole ? head_of(t, to) : 0;
  if (head > 0) move_units(g, to, src, head * inner);
  to += head * t->unit, src += head * t->a.src, n -= head;
  const int64_t boxes = n / g->step;
  const bool lines = whole && (uintptr_t)to % MT_LINE == 0;
  if (streams && !lines && is_staged(t)) {
    const bool alone = g->rows > 1 || (step < 0 && t->hand->ask == NULL);
    (alone && n * t->unit >= MT_FEWBYTES ?
         stream_piece :
         stream_boxes)(t, to, src, step, boxes, (n - boxes * g->step) * inner);
    return;
  }
  if (lines) stream_whole(t, to, src, step, boxes);
  else move_boxes(t, mover_of(g), to, src, step, boxes);
  to += boxes * g->bytes, src += boxes * step, n -= boxes * g->step;
  if (n > 0) move_units(g, to, src, n * inner);
}

/* Rows take turns: they read the same lines. */
static void move_rows (const mt_cpu_tile *t, const char *src, char *dst, int64_t na) {
  const mt_cpu_gather *g = t->gather;
  const int64_t boxes = g->bytes < MT_TURN ? MT_TURN / g->bytes : 1;
  const int64_t each = g->rows == 1 ? na : boxes * g->step;
  for (int64_t i = 0; i < na; i += each)
    for (int64_t r = 0; r < g->rows; r++)
      move_piece(t, dst + i * t->a.dst + g->row[r][1], src + i * t->a.src + g->row[r][0],
                 na - i < each ? na - i : each);
}

/* One box for each index of b, and its rows: no more is asked. */
static void move_single (const mt_cpu_tile *t, const char *src, char *dst, int64_t nb) {
  const mt_cpu_gather *g = t->gather;
  mover *move = mover_of(g);
  const int64_t rows = g->rows;
  for (int64_t j = 0; rows == 1 && j < nb; j++) {
    MT_ASK_SOME(t)
    move(g, dst + j * t->b.dst, src + j * t->b.src);
  }
  for (int64_t j = 0; rows > 1 && j < nb; j++, src += t->b.src, dst += t->b.dst)
    for (int64_t r = 0; r < rows; r++) {
      MT_ASK_SOME(t)
      move(g, dst + g->row[r][1], src + g->row[r][0]);
    }
}

void mt_cpu_gather_move (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                         int64_t nb) {
  if (na == t->gather->step && !is_streamed(t, t->gather->bytes)) {
    move_single(t, src, dst, nb);
    return;
  }
  for (int64_t j = 0; j < nb; j++, src += t->b.src, dst += t->b.dst)
    move_rows(t, src, dst, na);
}
