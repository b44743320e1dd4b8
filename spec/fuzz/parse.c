/*
** parse.c - fuzz target: bytes as the text of a value.
** SPDX-License-Identifier: MIT
**
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined parse.c and the core.
** Otherwise with replay.c, over spec/fuzz/corpus/parse.
*/
#include <stdlib.h>

#include "moontile.h"

#define MUST(cond)                                                                       \
  do {                                                                                   \
    if (!(cond)) abort();                                                                \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static bool is_layout (const mt_node *t) {
  return t->tag == MT_LEAF || t->tag == MT_MODES;
}

/* The queries and a divide of whatever was read: an answer or an error, nothing else. */
static void exercise (const mt_node *t) {
  mt_err err = MT_NOERR;
  mt_layout out, two;
  int64_t cosize, lo, at;
  mt_rank(t);
  mt_depth(t);
  if (!is_layout(t)) return;
  mt_footprint(&lo, &cosize, t, &err);
  mt_at(&at, t, 1, &err);
  mt_flatten(&out, t, &err);
  if (mt_coalesce(&out, t, NULL, &err) == MT_OK) MUST(mt_size(out.node) == mt_size(t));
  if (mt_parse(&two, "2:1", 3, &err) == MT_OK) mt_logical_divide(&out, t, two.node, &err);
  mt_composition(&out, t, t, &err);
}

/* parse(format(parse(text))) is parse(text). */
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  mt_layout a, b;
  mt_err err = MT_NOERR;
  char text[8192];
  mt_status s = mt_parse(&a, (const char *)data, size, &err);
  MUST(s == MT_OK || (err.status == s && err.text[0]));
  if (s != MT_OK) return 0;
  MUST(a.node->span >= 1 && a.node->span <= MT_MAXNODES);
  size_t n = mt_format(text, sizeof text, a.node);
  MUST(n > 0 && n < sizeof text);
  MUST(mt_parse(&b, text, n, &err) == MT_OK);
  MUST(mt_equal(a.node, b.node));
  exercise(a.node);
  return 0;
}
