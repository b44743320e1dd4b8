/*
** own.c - atoms that a user describes, at random, good and broken: what is refused, and
** the witness, by counting.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile/layout.h"
#include "num_test.h"
#include "own_atoms.h"
#include "times.h"

enum { MOST = 4096 };

/* ---------------------------------------------------------------- by counting */

static int64_t size_of (const own_digits *q) {
  int64_t n = 1;
  for (int i = 0; i < q->n; i++) n *= q->s[i];
  return n;
}

static int64_t at (const own_digits *q, int64_t i) {
  int64_t e = 0;
  for (int j = 0; j < q->n; j++) e += i % q->s[j] * q->d[j], i /= q->s[j];
  return e;
}

static bool is_copy (const own_digits *thr, int64_t t) {
  for (int j = 0; j < thr->n; j++) {
    if (thr->d[j] == 0 && t % thr->s[j] != 0) return true;
    t /= thr->s[j];
  }
  return false;
}

typedef struct held {
  bool outside;
  int64_t missing, twice; /* the first; -1: none */
} held;

static held count (const own_digits *thr, const own_digits *val, int64_t n, bool shared) {
  held h = {false, -1, -1};
  int times[MOST] = {0};
  for (int64_t t = 0; t < size_of(thr); t++)
    for (int64_t v = 0; v < size_of(val); v++) {
      int64_t e = at(thr, t) + at(val, v);
      if (shared && is_copy(thr, t)) continue;
      if (e < 0 || e >= n) h.outside = true;
      else times[e]++;
    }
  for (int64_t e = n - 1; e >= 0; e--) {
    if (times[e] == 0) h.missing = e;
    if (times[e] > 1) h.twice = e;
  }
  return h;
}

/* ---------------------------------------------------------------- coordinates */

/* What the elements are taken to: two numbers each. */
typedef struct map {
  int64_t x[MOST], y[MOST];
} map;

/* Whether the numbers i * d + base, i < s, are taken to a layout of one mode, cut in some
** way. */
static bool is_line (const map *m, int64_t s, int64_t d) {
  bool same = true;
  for (int64_t i = 0; same && i < s; i++)
    same = m->x[i * d] == i * m->x[d] && m->y[i * d] == i * m->y[d];
  if (s == 1 || same) return true;
  for (int64_t f = 2; f < s; f++) {
    if (s % f != 0) continue;
    bool first = true;
    for (int64_t i = 0; first && i < f; i++)
      first = m->x[i * d] == i * m->x[d] && m->y[i * d] == i * m->y[d];
    for (int64_t i = 0; first && i < s; i++) /* the rest repeats it */
      first = m->x[i * d] == m->x[i % f * d] + m->x[i / f * f * d] &&
              m->y[i * d] == m->y[i % f * d] + m->y[i / f * f * d];
    if (first && is_line(m, s / f, d * f)) return true;
  }
  return false;
}

/* Whether a layout takes (thread,value) there: it is a sum over the digits, each a line. */
static bool has_layout (const map *m, const own_digits *thr, const own_digits *val) {
  own_digits all = *thr;
  for (int j = 0; j < val->n; j++) all.s[all.n] = val->s[j], all.d[all.n++] = val->d[j];
  for (int j = 0; j < all.n; j++)
    if (!is_line(m, all.s[j], all.d[j])) return false;
  for (int64_t i = 0; i < size_of(&all); i++) {
    int64_t x = 0, y = 0, rest = i;
    for (int j = 0; j < all.n; j++) {
      int64_t e = rest % all.s[j] * all.d[j];
      x += m->x[e], y += m->y[e], rest /= all.s[j];
    }
    int64_t e = at(&all, i);
    if (x != m->x[e] || y != m->y[e]) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- one atom */

static mt_layout layout_of (const text *t) {
  mt_layout out;
  mt_err err = MT_NOERR;
  CHECK(mt_parse(&out, t->s, t->n, &err) == MT_OK, "%s: %s", t->s, err.text);
  return out;
}

static mt_status make (mt_mma_atom *out, const own_mma *a, mt_err *err) {
  mt_layout tv[3];
  mt_mma_op op = {.m = a->m, .n = a->n, .k = a->k};
  for (int i = 0; i < MT_OPERANDS; i++) op.operand[i].element = MT_ELEMENT_f32;
  for (int i = 0; i < 3; i++) tv[i] = layout_of(&a->text[i]);
  return mt_mma_atom_make(out, &op, NULL, tv[0].node, tv[1].node, tv[2].node, err);
}

static const char letters[] = "ABC";

/* The text names an element, or what no element is: as it was counted. */
static void check_witness (const own_mma *a, int part, const int64_t tile[2],
                           const held *h, mt_status s, const char *said) {
  char what[64];
  long long v, t, number;
  int64_t e = s == MT_EINEXACT ? h->missing : h->twice;
  const char *value = strstr(said, ": value ");
  if (s == MT_ERANGE) {
    bool read = value && sscanf(value, ": value %lld of thread %lld is number %lld", &v,
                                &t, &number) == 3;
    CHECK(h->outside && read && number == at(&a->thr[part], t) + at(&a->val[part], v) &&
              (number < 0 || number >= tile[0] * tile[1]),
          "%s", said);
    return;
  }
  CHECK(!h->outside && e >= 0 && (s == MT_EINEXACT || h->missing < 0), "%s", said);
  snprintf(what, sizeof what, "%s%c(%lld,%lld)%s", s == MT_EINEXACT ? "holds " : ": ",
           letters[part], (long long)(e % tile[0]), (long long)(e / tile[0]),
           s == MT_EINEXACT ? ":" : " is held twice");
  CHECK(strstr(said, what), "%s: expected %s", said, what);
  const char *who = strstr(said, ", as value ");
  for (int i = 0; s == MT_EINJECTIVE && i < 2; i++) {
    bool read = who && sscanf(who,
                              i ? " and as value %lld of thread %lld" :
                                  ", as value %lld of thread %lld",
                              &v, &t) == 2;
    CHECK(read && at(&a->thr[part], t) + at(&a->val[part], v) == e, "%s", said);
    if (who) who = strstr(who, " and as value ");
  }
}

static void check_atom (const own_mma *a) {
  static const int axis[3][2] = {{0, 2}, {1, 2}, {0, 1}};
  static mt_mma_atom out;
  static map m;
  const int64_t shape[] = {a->m, a->n, a->k};
  mt_err err = MT_NOERR;
  mt_status s = make(&out, a, &err);
  for (int part = 0; part < 3; part++) {
    const own_digits *thr = &a->thr[part], *val = &a->val[part];
    const int64_t tile[] = {shape[axis[part][0]], shape[axis[part][1]]};
    if (size_of(thr) != size_of(&a->thr[2])) {
      CHECK(s == MT_EINVAL && strstr(err.text, "threads"), "%s", err.text);
      return;
    }
    held h = count(thr, val, tile[0] * tile[1], part < 2);
    if (h.outside || h.missing >= 0 || h.twice >= 0) {
      CHECK(s == MT_ERANGE || s == MT_EINEXACT || s == MT_EINJECTIVE, "%s was taken: %s",
            a->text[part].s, err.text);
      check_witness(a, part, tile, &h, s, err.text);
      return;
    }
    for (int64_t e = 0; e < tile[0] * tile[1]; e++)
      m.x[e] = e % tile[0], m.y[e] = e / tile[0];
    if (has_layout(&m, thr, val)) continue;
    CHECK(s == MT_EINEXACT && strstr(err.text, "coordinates"), "%s of %d x %d: %s",
          a->text[part].s, (int)tile[0], (int)tile[1], err.text);
    return;
  }
  CHECK(s == MT_OK, "%s", err.text);
}

/* Another stride, another extent, a digit less, a digit that moves. */
static void break_it (own_mma *a, uint64_t *seed) {
  int part = own_pick(seed, 3);
  own_digits *thr = &a->thr[part], *val = &a->val[part];
  own_digits *q = own_pick(seed, 2) && thr->n ? thr : val->n ? val : thr;
  if (q->n == 0) return;
  int j = own_pick(seed, q->n), how = own_pick(seed, 5);
  if (how < 2) q->d[j] = own_pick(seed, 40);
  else if (how == 2) q->s[j] += own_pick(seed, 2) ? 1 : q->s[j] > 1 ? -1 : 1;
  else if (how == 3) q->s[j] = q->s[q->n - 1], q->d[j] = q->d[q->n - 1], q->n--;
  else val->s[val->n] = 2, val->d[val->n++] = own_pick(seed, 4);
  own_write(&a->text[part], thr, val);
}

/* A is dealt as if its tile were one column: digits go over the end of a column. */
static void cross (own_mma *a, uint64_t *seed) {
  own_deal(&a->thr[0], &a->val[0], a->m * a->k, 1, a->threads, seed);
  own_write(&a->text[0], &a->thr[0], &a->val[0]);
}

static void test_mma (uint64_t seed) {
  own_mma a;
  long n = cases_of(2000), taken = 0;
  static mt_mma_atom out;
  for (long i = 0; i < n; i++) {
    mt_err err = MT_NOERR;
    own_draw(&a, &seed);
    mt_status s = make(&out, &a, &err);
    CHECK(s == MT_OK && out.op.own, "%s %s %s of %d x %d x %d: %s", a.text[0].s,
          a.text[1].s, a.text[2].s, (int)a.m, (int)a.n, (int)a.k, err.text);
    taken += s == MT_OK;
    check_atom(&a);
    break_it(&a, &seed);
    check_atom(&a);
    own_draw(&a, &seed);
    cross(&a, &seed);
    check_atom(&a);
  }
  CHECK(taken == n, "%ld of %ld", taken, n);
}

/* ---------------------------------------------------------------- copies */

static mt_status make_copy (mt_copy_atom *out, const own_digits thr[2],
                            const own_digits val[2], text t[2], mt_err *err) {
  mt_layout tv[2];
  for (int i = 0; i < 2; i++) {
    own_write(&t[i], &thr[i], &val[i]);
    tv[i] = layout_of(&t[i]);
  }
  return mt_copy_atom_make(out, NULL, 16, NULL, tv[0].node, tv[1].node, NULL, err);
}

/* As src has them: place e is value y of thread x, as one number. */
static void by_source (map *m, const own_digits *thr, const own_digits *val) {
  for (int64_t v = 0; v < size_of(val); v++)
    for (int64_t t = 0; t < size_of(thr); t++)
      m->x[at(thr, t) + at(val, v)] = t + size_of(thr) * v, m->y[t] = 0;
}

static void test_copy (uint64_t seed) {
  static mt_copy_atom out;
  static map m;
  text t[2];
  long n = cases_of(2000), taken = 0;
  for (long i = 0; i < n; i++) {
    own_digits thr[2], val[2];
    mt_err err = MT_NOERR;
    int64_t places = own_extent(&seed) * own_extent(&seed);
    int64_t threads = own_deal(&thr[0], &val[0], places, 1, 0, &seed);
    own_deal(&thr[1], &val[1], places, 1, threads, &seed);
    memset(&m, 0, sizeof m);
    by_source(&m, &thr[0], &val[0]);
    bool can = has_layout(&m, &thr[1], &val[1]);
    mt_status s = make_copy(&out, thr, val, t, &err);
    CHECK(can ? s == MT_OK : s == MT_EINEXACT, "%s to %s: %s", t[0].s, t[1].s, err.text);
    taken += s == MT_OK;
    if (val[1].n == 0) continue;
    int j = own_pick(&seed, val[1].n);
    val[1].d[j] += 1 + own_pick(&seed, 3);
    held h = count(&thr[1], &val[1], places, true);
    s = make_copy(&out, thr, val, t, &err);
    bool bad = h.outside || h.missing >= 0 || h.twice >= 0;
    CHECK(!bad || s != MT_OK, "%s to %s was taken", t[0].s, t[1].s);
  }
  CHECK(taken > n / 2, "%ld of %ld", taken, n);
}

/* ---------------------------------------------------------------- names, types */

static mt_status named (const char *name) {
  mt_layout one;
  mt_copy_atom out;
  mt_err err = MT_NOERR;
  CHECK(mt_parse(&one, "(1,4):(0,1)", 11, &err) == MT_OK, "%s", err.text);
  return mt_copy_atom_make(&out, name, 8, NULL, one.node, one.node, NULL, &err);
}

static void test_names (void) {
  static const char *const bad[] = {"DefaultCopy",
                                    "cute::DefaultCopy",
                                    "SM61_DP4A",
                                    "UniversalCopy<uint128_t>",
                                    "",
                                    "a\"b",
                                    "a\\b",
                                    "a\nb",
                                    "\xc3\xa9"};
  char name[MT_ATOM_NAME + 1];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK(named(bad[i]) == MT_EINVAL, "%s was taken", bad[i]);
  memset(name, 'x', sizeof name);
  name[MT_ATOM_NAME] = 0;
  CHECK(named(name) == MT_EINVAL, "%d bytes", MT_ATOM_NAME);
  name[MT_ATOM_NAME - 1] = 0;
  CHECK(named(name) == MT_OK && named("AutoVectorizing mine") == MT_OK, "a good name");
}

/* Every pair of types into every accumulator: what runs is one sum of products. */
static void test_types (uint64_t seed) {
  static mt_mma_atom out;
  own_mma a;
  own_draw(&a, &seed);
  mt_err err = MT_NOERR;
  CHECK(make(&out, &a, &err) == MT_OK, "%s", err.text);
  int runs = 0;
  strcpy(out.op.name, "mine_SATURATE_XORPOPC<half_t,half_t>"); /* says nothing */
  for (int x = 0; x < MT_NELEMENT; x++)
    for (int y = 0; y < MT_NELEMENT; y++)
      for (int z = 0; z < MT_NELEMENT; z++) {
        double one[] = {1, 1}, two[] = {1, 1}, sum[] = {3};
        mt_mma_op op = out.op;
        op.m = op.n = 1, op.k = 2;
        op.operand[MT_OPERAND_A].element = (mt_element)x;
        op.operand[MT_OPERAND_B].element = (mt_element)y;
        op.operand[MT_OPERAND_C].element = op.operand[MT_OPERAND_D].element =
            (mt_element)z;
        if (mt_mma_op_check(&op, &err)) continue;
        mt_mma_op_run(&op, one, two, sum);
        CHECK(sum[0] == 5, "%s %s %s: %g", mt_element_name((mt_element)x),
              mt_element_name((mt_element)y), mt_element_name((mt_element)z), sum[0]);
        runs++;
      }
  CHECK(runs > 1000, "%d", runs);
}

void test_own (uint64_t seed) {
  test_mma(seed);
  test_copy(seed);
  test_names();
  test_types(seed);
}
