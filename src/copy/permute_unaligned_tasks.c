/*
** permute_unaligned_tasks.c - who writes what of a box whose rows begin anywhere: groups
** of rows, windows of vectors, tasks of threads.
** SPDX-License-Identifier: MIT
**
** desc/permute_unaligned_desc.h has the names.
*/
#include "desc/divisor.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum { MT_LONGPIECES = 512 }; /* bytes of pieces */

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }
static uint32_t units_of (mt_span s) { return s.units * s.count; }

/* Instructions of a thread, about: to find a group of rows, and each place of a vector;
** to write a vector, and to read each unit of it. */
enum { MT_FINDROW = 60, MT_FINDPLACE = 4, MT_MOVE = 20, MT_COLLECT = 3 };

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

/* Groups, windows and tasks. group_rows: whatever takes the fewest instructions, of all
** threads and of the one that has the most tasks. */
void mt_permute_unaligned_tasks (mt_desc *d, uint32_t log) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t others = units_of(s->rows), lead = others;
  if (s->segment != 0 || s->nstore > 1) lead = s->store[0].by.extent;
  if (s->segment == 0) others /= lead;
  s->class_log = class_log_of(d, lead);
  find_apart(s, s->store[0].shared << s->class_log);
  s->later = s->segment << s->class_log;
  s->next = s->store[0].global * (INT64_C(1) << s->class_log);
  uint32_t step = 1u << s->class_log, classes = lead < step ? lead : step;
  uint32_t many = (lead + step - 1) >> s->class_log, v = MT_VECTOR / unit_of(d);
  find_windows(d, many == 1, log);
  uint32_t vectors[2] = {vectors_of(d, s->align, false), vectors_of(d, s->align, true)};
  uint64_t best = UINT64_MAX;
  for (uint32_t each = 1; each <= many && each <= MT_MOSTEACH; each++) {
    uint32_t chunks = (many + each - 1) / each, groups = classes * chunks * others;
    uint32_t tasks = tasks_of(groups, vectors[s->halo != 0], s->window_log).all;
    uint64_t rounds =
        (tasks + MT_PERMUTE_UNALIGNED_THREADS - 1) / MT_PERMUTE_UNALIGNED_THREADS;
    uint64_t cost = (tasks + rounds * MT_PERMUTE_UNALIGNED_THREADS) *
                    (MT_FINDROW + v * MT_FINDPLACE + each * (MT_MOVE + v * MT_COLLECT));
    if (cost >= best) continue;
    best = cost;
    s->group_rows = each;
    s->chunks = mt_divisor_of(chunks), s->groups = mt_divisor_of(groups);
  }
  if (is_linear(d)) {
    s->group_rows = 1, s->linear = s->lookup[0].inside;
    s->align = MT_SECTOR, find_apart(s, v * s->linear << s->window_log);
    s->chunks = mt_divisor_of(many), s->groups = mt_divisor_of(classes * many * others);
    vectors[0] = vectors[1] = 1 << s->window_log;
  }
  for (int i = 0; i < 2; i++)
    s->tasks[i] = tasks_of(s->groups.extent, vectors[i], s->window_log);
  s->classes = mt_divisor_of(classes);
  s->lead = mt_divisor_of(s->segment ? 1 : lead);
  s->nrows = others * s->lead.extent;
}
