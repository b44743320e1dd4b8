/*
** golden.c - the golden tables: what CuTe answers, in the same form.
** SPDX-License-Identifier: MIT
**
** The stride of a leaf of extent 1 does not count. A divide that rounds up may be
** refused. Rows of errors.tsv must be refused, but those that CuTe refuses for
** divisibility may be answered: the property test shows that such an answer is exact.
** Rows of quirks.tsv that end in _inexact are wrong answers of CuTe: ours must be refused
** or differ.
*/
#include <stdlib.h>

#include "core_test.h"

enum { FIELDS = 8, LINE = 1 << 14 };

void normal (char *out, const char *text) {
  mt_layout v;
  mt_err err = MT_NOERR;
  if (mt_parse(&v, text, strlen(text), &err) != MT_OK) {
    snprintf(out, TEXT, "%s", text);
    return;
  }
  for (mt_node *p = v.node; p < v.node + v.node[0].span; p++) {
    if (p->tag != MT_LEAF || p->shape != 1) continue;
    p->stride = 0;
    p->ring = MT_Z;
    memset(p->path, 0, sizeof p->path);
  }
  mt_format(out, TEXT, v.node);
}

typedef enum table { RESULTS, ERRORS, QUIRKS } table;

typedef struct row {
  table kind;
  const char *line; /* the file and its line, for messages */
  int n;
  char *field[FIELDS];
} row;

typedef struct tally {
  int rows, refused, other;
} tally;

static int64_t size_in (const char *text) {
  mt_layout v;
  mt_err err = MT_NOERR;
  return mt_parse(&v, text, strlen(text), &err) == MT_OK ? mt_size(v.node) : -1;
}

static bool rounds_up (const row *r) {
  return strstr(r->field[0], "_divide") && size_in(r->field[1]) != size_in(r->field[3]);
}

/* A composition with a swizzle that CuTe has no layout for: R(i) = A(B(i)). */
static bool composes (const row *r, const char *got) {
  mt_layout a, b, c;
  mt_err err = MT_NOERR;
  if (mt_parse(&a, r->field[1], strlen(r->field[1]), &err)) return false;
  if (mt_parse(&b, r->field[2], strlen(r->field[2]), &err)) return false;
  if (mt_parse(&c, got, strlen(got), &err) || b.node[0].arity != 0) return false;
  for (int64_t i = 0; i < mt_size(a.node); i++) {
    int64_t at, would, is;
    if (mt_swizzle_at(&at, b.node, i, &err) || mt_at(&would, a.node, at, &err))
      return false;
    if (mt_at(&is, c.node, i, &err) || is != would) return false;
  }
  return mt_size(c.node) == mt_size(a.node);
}

/* Inverses of swizzled layouts by their bits: A(R(i)) = i, or A(R(A(i))) = A(i). */
static bool inverts (const row *r, const char *got) {
  mt_layout a, b, c, v;
  mt_err err = MT_NOERR;
  bool left = strcmp(r->field[0], "left_inverse") == 0;
  if (!left && strcmp(r->field[0], "right_inverse") != 0) return false;
  if (mt_parse(&a, r->field[1], strlen(r->field[1]), &err)) return false;
  if (mt_parse(&b, got, strlen(got), &err)) return false;
  for (int64_t i = 0; i < mt_size(left ? a.node : b.node); i++) {
    int64_t from = i, at;
    if (left && mt_at(&from, a.node, i, &err)) return false;
    mt_int(&c, from);
    if (mt_eval(&v, c.node, b.node, &err)) return false;
    if (mt_at(&at, a.node, v.node[0].shape, &err) || at != from) return false;
  }
  return true;
}

static bool may_answer (const row *r, int args, const char *got) {
  const char *category = r->field[args + 1], *message = r->field[args + 2];
  if (strcmp(category, "swizzle") == 0)
    return strcmp(r->field[0], "composition") == 0 ? composes(r, got) : inverts(r, got);
  return strstr(category, "divisibility") || strcmp(category, "rank1_tuple_block") == 0 ||
         strncmp(message, "substitution", 12) == 0;
}

static void run_results (const row *r, call *c, operation f, int args, tally *t) {
  static char got[TEXT], want[TEXT];
  if (f(c) != MT_OK) {
    CHECK(rounds_up(r), "%s: %s %s %s refused: %s", r->line, r->field[0], r->field[1],
          r->field[2], c->err.text);
    t->refused++;
    return;
  }
  for (int i = args + 1; i < r->n; i++) {
    normal(got, c->out[i - args - 1]);
    normal(want, r->field[i]);
    CHECK(strcmp(got, want) == 0, "%s: %s %s %s is %s, got %s", r->line, r->field[0],
          r->field[1], args > 1 ? r->field[2] : "", r->field[i], c->out[i - args - 1]);
  }
}

static void run_refused (const row *r, call *c, operation f, int args, tally *t) {
  static char got[TEXT], want[TEXT];
  if (f(c) != MT_OK) {
    t->refused++;
    return;
  }
  if (r->kind == ERRORS) {
    CHECK(may_answer(r, args, c->out[0]), "%s: %s %s %s must be refused, got %s", r->line,
          r->field[0], r->field[1], r->field[2], c->out[0]);
  } else {
    normal(got, c->out[0]);
    normal(want, r->field[args + 1]);
    CHECK(strcmp(got, want) != 0, "%s: %s %s %s is not %s", r->line, r->field[0],
          r->field[1], args > 1 ? r->field[2] : "", c->out[0]);
  }
  t->other++;
}

static void run (row *r, tally *t) {
  static call c;
  int args = 0;
  char *inexact = strstr(r->field[0], "_inexact");
  if (r->kind == QUIRKS && !inexact) return;
  if (r->kind == QUIRKS) *inexact = 0;
  operation f = find_operation(r->field[0], &args);
  if (f == NULL || r->n < args + 2) return;
  c.n = args;
  for (int i = 0; i < args; i++) {
    mt_status s = mt_parse(&c.arg[i], r->field[i + 1], strlen(r->field[i + 1]), &c.err);
    if (s != MT_OK) {
      CHECK(r->kind == ERRORS, "%s: %s", r->line, c.err.text);
      return;
    }
    if (i == 0 && strcmp(r->field[0], "idx2crd") == 0 && c.arg[0].node->tag != MT_INT)
      return;
  }
  t->rows++;
  if (r->kind == RESULTS) run_results(r, &c, f, args, t);
  else run_refused(r, &c, f, args, t);
}

static void run_table (const char *dir, const char *name, table kind) {
  static char line[LINE], where[512];
  tally t = {0, 0, 0};
  snprintf(where, sizeof where, "%s/%s.tsv", dir, name);
  FILE *f = fopen(where, "r");
  CHECK(f != NULL, "%s cannot be read", where);
  for (int number = 1; f && fgets(line, sizeof line, f); number++) {
    row r = {kind, where, 0, {0}};
    if (line[0] == '#') continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(where, sizeof where, "%s.tsv:%d", name, number);
    for (char *p = line; p && r.n < FIELDS; p = p ? p + 1 : NULL) {
      r.field[r.n++] = p;
      if ((p = strchr(p, '\t')) == NULL) break;
      *p = 0;
    }
    run(&r, &t);
  }
  if (f) fclose(f);
  printf("%s: %d rows, %d refused, %d answered otherwise\n", name, t.rows, t.refused,
         t.other);
}

void test_golden (const char *dir) {
  run_table(dir, "int_tuple", RESULTS);
  run_table(dir, "layout", RESULTS);
  run_table(dir, "algebra", RESULTS);
  run_table(dir, "divide_product", RESULTS);
  run_table(dir, "swizzle", RESULTS);
  run_table(dir, "errors", ERRORS);
  run_table(dir, "quirks", QUIRKS);
}
