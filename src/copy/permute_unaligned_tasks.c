/*
** permute_unaligned_tasks.c - who writes what of a box whose rows begin anywhere: groups
** of rows, windows of vectors, tasks of threads.
** SPDX-License-Identifier: MIT
**
** desc/permute_unaligned_desc.h has the names.
*/
#include <math.h>

#include "desc/divisor.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum {
  MT_SECTORLOG = 5, /* logarithms of a sector's bytes, of a vector's */
  MT_VECTORLOG = 4,
  MT_SEGMENT = 64,    /* bytes of a segment, at least */
  MT_LONGPIECES = 512 /* bytes of pieces */
};

/* Instructions that a list may take, in parts of others, if its rows begin alike in
** sectors: these are written as a whole by fewer requests. */
static const double MT_SECTORS_MORE = 1.2;

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }
static uint32_t units_of (mt_span s) { return s.units * s.count; }

/* Instructions of a thread, about: to find a group of rows, and each place of a vector;
** to write a vector, and to read each unit of it. */
enum { MT_FINDROW = 60, MT_FINDPLACE = 4, MT_MOVE = 20, MT_LISTED = 10, MT_COLLECT = 3 };

int64_t mt_permute_unaligned_classes (int64_t step) {
  int64_t classes = 1;
  while (step % MT_VECTOR * classes % MT_VECTOR != 0) classes *= 2;
  return classes;
}

/* Of so many rows those that begin at the same address modulo 16. */
static int64_t alike (int64_t rows, int64_t step) {
  const int64_t classes = mt_permute_unaligned_classes(step);
  return rows < classes ? 1 : rows / classes;
}

bool mt_permute_unaligned_cuts (int64_t segments, int64_t bytes, int64_t rows,
                                int64_t step) {
  const int64_t n = alike(segments, bytes);
  return bytes >= MT_SEGMENT && segments > 1 &&
         (n >= MT_FEWROWS || n >= alike(rows, step));
}

/* class_log: at least such that rows of a class begin at the same address modulo 16.
** More, while there are rows enough for each class: then neighbouring rows are of
** different groups, which neighbouring threads write. */
static uint32_t class_log_of (const mt_desc *d, uint32_t rows) {
  uint32_t log = 0, unit = unit_of(d);
  int64_t step = d->unaligned.store[0].global;
  while (unit << log < MT_SECTOR &&
         (step * (INT64_C(1) << log) % MT_VECTOR != 0 || rows >> (log + 1) >= MT_FEWROWS))
    log++;
  return log;
}

/* Vectors of a row, in parts of `align` bytes: those that begin in it, and if it began in
** no box before the one in which it begins. Of a class whose rows are no multiple of a
** sector apart, one more: the second half of a sector that begins in the row. */
static uint32_t vectors_of (const mt_desc *d, uint32_t align, bool began) {
  const mt_permute_unaligned *s = &d->unaligned;
  bool half = align == MT_VECTOR && (s->halo || s->segment);
  uint32_t bytes = s->length * unit_of(d) + (half ? MT_VECTOR : 0);
  bool later = began && align < MT_UNALIGNED_LINE;
  uint32_t n = (bytes + align + (later ? 0 : align - 2 * unit_of(d)) - later) / align;
  return n * (align / MT_VECTOR);
}

/* Tasks of so many groups: whole windows, and what is left, if it is less than one. */
static mt_unaligned_tasks tasks_of (uint32_t groups, uint32_t vectors, uint32_t log) {
  uint32_t windows = vectors >> log, left = vectors & ((1u << log) - 1);
  mt_unaligned_tasks t = {0};
  while (left > 1u << t.last_log) t.last_log++;
  if (t.last_log == log) windows++, left = 0;
  t.last = windows << log;
  t.whole = groups * t.last;
  t.all = t.whole + (left ? groups << t.last_log : 0);
  return t;
}

/* Small units that are equally far apart in a long row. Groups of few rows save few looks
** into the table: then the windows of one row share them. */
static bool is_linear (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  bool one = s->nlookup == (s->segment ? 2 : 1) && s->lookup[0].run == 0;
  return one && unit_of(d) < 4 && s->group_rows < MT_FEWROWS && s->piece.extent == 0 &&
         s->length * unit_of(d) >= MT_PERMUTE_UNALIGNED_WIDEROW;
}

/* How windows begin and how long they are. `alone`: a class has one row, so that windows
** begin with a sector, those of a long row with a line: caches are asked for fewer lines.
** Rows of pieces meet other banks anyway, and have long windows. */
static void find_windows (mt_desc *d, bool alone, uint32_t log) {
  mt_permute_unaligned *s = &d->unaligned;
  const bool shifts = s->next % MT_SECTOR != 0;
  const bool wide = s->piece.extent != 0 && s->length * unit_of(d) >= MT_LONGPIECES;
  s->align = shifts && !alone ? MT_VECTOR : wide && alone ? MT_UNALIGNED_LINE : MT_SECTOR;
  s->window_log = wide ? MT_UNALIGNED_WIDE : log;
}

static void find_apart (mt_permute_unaligned *s, uint32_t apart) {
  for (uint32_t i = 0; i < 4; i++) s->apart[i] = (i + 1) * apart;
}

static void set_tasks (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  for (int i = 0; i < 2; i++) {
    const uint32_t vectors = s->linear ? 1u << s->window_log : vectors_of(d, s->align, i);
    s->tasks[i] = tasks_of(s->groups.extent, vectors, s->window_log);
  }
}

/* Instructions of so many tasks, of all threads and of the one that has the most. */
static uint64_t cost_of (const mt_desc *d, uint32_t tasks, uint32_t each, bool listed) {
  const uint32_t v = MT_VECTOR / unit_of(d), threads = mt_unaligned_threads(d, listed);
  const uint64_t rounds = (tasks + threads - 1) / threads;
  return (tasks + rounds * threads) *
         (MT_FINDROW + v * MT_FINDPLACE +
          each * (MT_MOVE + (listed ? MT_LISTED : 0) + v * MT_COLLECT));
}

/* group_rows: whatever takes the fewest instructions, of which *cost receives the number,
** if classes, of which there are `sets`, have `many` rows at most. */
static void find_groups (mt_desc *d, uint32_t sets, uint32_t many, bool listed,
                         uint64_t *cost) {
  mt_permute_unaligned *s = &d->unaligned;
  const uint32_t vectors = vectors_of(d, s->align, s->halo != 0);
  *cost = UINT64_MAX;
  for (uint32_t each = 1; each <= many && each <= MT_MOSTEACH; each++) {
    const uint32_t chunks = (many + each - 1) / each, groups = sets * chunks;
    const uint64_t n =
        cost_of(d, tasks_of(groups, vectors, s->window_log).all, each, listed);
    if (n >= *cost) continue;
    *cost = n, s->group_rows = each;
    s->chunks = mt_divisor_of(chunks), s->groups = mt_divisor_of(groups);
  }
}

/* ---------------------------------------------------------------- lists */

/* Rows begin so few steps apart that 32 bits have room for it. */
static bool is_near (const mt_permute_unaligned *s) {
  double far = 0;
  for (uint32_t i = 0; i < s->nstore; i++)
    far += fabs((double)s->store[i].global) * (s->store[i].by.extent - 1.0);
  return far < (double)INT32_MAX * MT_VECTOR;
}

/* Adds the n indices of an axis: have[c] rows are of class c of `classes`, and each index
** goes `step` classes on. */
static void add_axis (uint32_t *have, uint32_t classes, uint32_t n, uint32_t step) {
  uint32_t before[MT_UNALIGNED_CLASSES];
  memcpy(before, have, sizeof before);
  memset(have, 0, sizeof before);
  for (uint32_t i = 0; i < classes && i < n; i++)
    for (uint32_t c = 0; c < classes; c++)
      have[(c + i * step) & (classes - 1)] += before[c] * ((n - i - 1) / classes + 1);
}

/* Classes in the order in which rows are of them; those that have none come last. */
static void order_classes (mt_permute_unaligned *s, uint32_t classes) {
  uint32_t digit[MT_PERMUTE_AXES] = {0}, n = 0, seen = 0;
  int64_t at = 0;
  for (bool more = true; more && n < classes;) {
    const uint32_t c = (uint32_t)((uint64_t)at >> s->list_log) & (classes - 1);
    if (!(seen >> c & 1)) s->list_order[n++] = (uint8_t)c, seen |= 1u << c;
    more = false;
    for (uint32_t i = 0; i < s->nstore && !more; i++) {
      at += s->store[i].global;
      more = ++digit[i] < s->store[i].by.extent;
      if (!more) at -= digit[i] * s->store[i].global, digit[i] = 0;
    }
  }
  for (uint32_t c = 0; c < classes; c++)
    if (!(seen >> c & 1)) s->list_order[n++] = (uint8_t)c;
}

/* Classes of rows and segments that begin at the same address modulo 1 << log. Returns
** how many rows the largest has. */
static uint32_t find_classes (mt_permute_unaligned *s, uint32_t log) {
  uint32_t have[MT_UNALIGNED_CLASSES] = {1}, most = 0;
  uint64_t steps = UINT64_C(1) << log;
  for (uint32_t i = 0; i < s->nstore; i++) steps |= (uint64_t)s->store[i].global;
  s->step = 1 << log, s->step_log = log, s->list_log = 0;
  while (!(steps >> s->list_log & 1)) s->list_log++;
  const uint32_t classes = 1u << (log - s->list_log);
  for (uint32_t i = 0; i < s->nstore; i++)
    add_axis(have, classes, s->store[i].by.extent,
             (uint32_t)((uint64_t)s->store[i].global >> s->list_log) & (classes - 1));
  for (uint32_t c = 0; c < classes; c++)
    if (have[c] > most) most = have[c];
  memset(s->list_order, 0, sizeof s->list_order);
  order_classes(s, classes);
  return most;
}

/* Groups of a list of rows that begin alike modulo 1 << log. */
static void list_groups (mt_desc *d, uint32_t log, uint64_t *cost) {
  mt_permute_unaligned *s = &d->unaligned;
  const uint32_t rows = find_classes(s, log);
  s->align = (uint32_t)s->step;
  find_groups(d, 1u << (log - s->list_log), rows, true, cost);
  s->slots = s->chunks.extent * s->group_rows;
  set_tasks(d);
}

bool mt_permute_unaligned_list (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint64_t cost[2];
  if (unit_of(d) == MT_VECTOR || s->linear != 0 || !is_near(s)) return false;
  list_groups(d, MT_SECTORLOG, &cost[0]);
  const mt_permute_unaligned sectors = *s;
  list_groups(d, MT_VECTORLOG, &cost[1]);
  if ((double)cost[0] <= MT_SECTORS_MORE * (double)cost[1]) *s = sectors;
  return true;
}

/* ---------------------------------------------------------------- all of it */

/* Groups, windows and tasks. */
void mt_permute_unaligned_tasks (mt_desc *d, uint32_t log) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t others = units_of(s->rows), lead = others;
  uint64_t cost;
  if (s->segment != 0 || s->nstore > 1) lead = s->store[0].by.extent;
  if (s->segment == 0) others /= lead;
  s->class_log = class_log_of(d, lead);
  find_apart(s, s->store[0].shared << s->class_log);
  s->later = s->segment << s->class_log;
  s->next = s->store[0].global * (INT64_C(1) << s->class_log);
  uint32_t step = 1u << s->class_log, classes = lead < step ? lead : step;
  uint32_t many = (lead + step - 1) >> s->class_log, v = MT_VECTOR / unit_of(d);
  find_windows(d, many == 1, log);
  find_groups(d, classes * others, many, false, &cost);
  s->classes = mt_divisor_of(classes);
  s->lead = mt_divisor_of(s->segment ? 1 : lead);
  s->nrows = others * s->lead.extent;
  if (is_linear(d)) {
    s->group_rows = 1, s->linear = s->lookup[0].inside;
    s->align = MT_SECTOR, find_apart(s, v * s->linear << s->window_log);
    s->chunks = mt_divisor_of(many), s->groups = mt_divisor_of(classes * many * others);
  }
  set_tasks(d);
}
