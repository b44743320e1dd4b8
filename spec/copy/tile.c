/*
** tile.c - tiled copies and partitions against CuTe's (spec/golden/copy_tiled.tsv), their
** laws on random layouts, and what is refused.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

static mt_tiled_copy made (char **f) {
  mt_tiled_copy c;
  mt_layout thr = parse(f[3]), val = parse(f[4]);
  MUST(mt_make_tiled_copy(&c, f[1], atoi(f[2]), thr.node, val.node, err));
  return c;
}

/* want: TiledLayout_TV, Tiler_MN, layoutS_TV, layoutD_TV */
static void check_facts (const mt_tiled_copy *c, char **f, char **want) {
  mt_layout s, d;
  MUST(mt_copy_tv(&s, c, MT_COPY_S, err));
  MUST(mt_copy_tv(&d, c, MT_COPY_D, err));
  const mt_node *is[] = {c->layout_tv.node, c->tiler.node, s.node, d.node};
  for (int i = 0; i < 4; i++) {
    mt_layout w = parse(want[i]);
    CHECK(same_form(is[i], w.node), "%s %s %s %s, column %d: %s, not %s", f[0], f[1],
          f[3], f[4], i + 1, text_of(is[i]), want[i]);
  }
}

static void check_made (char **f) {
  mt_tiled_copy c = made(f);
  check_facts(&c, f, f + 5);
}

static void check_of_mma (char **f) {
  mt_tiled_copy c;
  mt_tiled_mma mma;
  mt_layout atoms = parse(f[4]), permutation = parse(f[5]);
  mt_mma_part x = (mt_mma_part)(f[0][strlen("make_tiled_copy_")] - 'A');
  MUST(mt_make_tiled_mma(&mma, f[3], atoms.node, permutation.node, err));
  MUST(mt_make_tiled_copy_mma(&c, f[1], atoi(f[2]), &mma, x, err));
  check_facts(&c, f, f + 6);
}

static void check_partition (char **f) {
  mt_tiled_copy c = made(f);
  mt_layout a = parse(f[5]), want = parse(f[7]), start = parse(f[8]), part, at;
  mt_copy_side side = f[0][strlen("partition_")] == 'S' ? MT_COPY_S : MT_COPY_D;
  MUST(mt_copy_partition(&part, &at, &c, side, a.node, atoll(f[6]), err));
  CHECK(same_form(part.node, want.node) && mt_equal(at.node, start.node),
        "%s %s %s %s %s, thread %s: %s at %s, not %s at %s", f[0], f[1], f[3], f[4], f[5],
        f[6], text_of(part.node), text_of(at.node), f[7], f[8]);
}

/* Of a compact fragment with the shape of thread 0's part. */
static void check_retile (char **f) {
  mt_tiled_copy c = made(f);
  mt_layout a = parse(f[5]), want = parse(f[6]), part, at, frg, is;
  MUST(mt_copy_partition(&part, &at, &c, MT_COPY_S, a.node, 0, err));
  MUST(mt_layout_left(&frg, part.node, err));
  MUST(mt_copy_retile(&is, &c, frg.node, err));
  CHECK(same_form(is.node, want.node), "%s %s %s %s %s: %s, not %s", f[0], f[1], f[3],
        f[4], f[5], text_of(is.node), f[6]);
}

static const struct {
  const char *op;
  void (*check)(char **f);
} ops[] = {
    {"make_tiled_copy", check_made},           {"make_tiled_copy_A", check_of_mma},
    {"make_tiled_copy_B", check_of_mma},       {"make_tiled_copy_C", check_of_mma},
    {"partition_S", check_partition},          {"partition_D", check_partition},
    {"retile_D_of_partition_S", check_retile},
};

static void check_golden (void) {
  char line[4096], *f[16];
  int rows = 0;
  FILE *in = fopen(MOONTILE_SPEC_DIR "/golden/copy_tiled.tsv", "r");
  CHECK(in != NULL, "no golden table");
  while (in && fgets(line, sizeof line, in)) {
    int n = 0;
    line[strcspn(line, "\n")] = 0;
    for (char *p = line; p && n < 16; p = strchr(p, '\t')) {
      if (n > 0) *p++ = 0;
      f[n++] = p;
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
      if (strcmp(f[0], ops[i].op) == 0) ops[i].check(f), rows++;
  }
  if (in) fclose(in);
  CHECK(rows == 241, "%d golden rows", rows);
}

/* ---------------------------------------------------------------- laws */

/* The element of the tile where thr has thread t and val has value v. */
static int64_t element_of (const mt_tiled_copy *c, int64_t t, int64_t v) {
  int64_t at, e = 0, place = 1, i = 0, j = 0;
  while (mt_at(&at, c->thr.node, i, &(mt_err){0}) == MT_OK && at != t) i++;
  while (mt_at(&at, c->val.node, j, &(mt_err){0}) == MT_OK && at != v) j++;
  for (int k = 0; k < mt_rank(c->tiler.node); k++) {
    int64_t n = mt_size(mt_mode(c->thr.node, k)), m = mt_size(mt_mode(c->val.node, k));
    e += (j % m + i % n * m) * place;
    place *= n * m;
    i /= n, j /= m;
  }
  return e;
}

/* (1) layout_tv is a bijection from (thread, value) onto the tile; (2) thread t and value
** v of it are where thr and val put them. */
static void check_laws (void) {
  static const char *const layouts[] = {"1:0",
                                        "4:1",
                                        "(2,3):(1,2)",
                                        "(2,3):(3,1)",
                                        "(4,2):(1,4)",
                                        "((2,2),3):((6,1),2)",
                                        "(1,8):(8,1)",
                                        "(8,1):(1,1)",
                                        "(3,(2,2)):(2,(1,6))",
                                        "(2,2,2):(4,1,2)"};
  enum { N = sizeof layouts / sizeof layouts[0] };
  for (int i = 0; i < N * N; i++) {
    mt_layout thr = parse(layouts[i / N]), val = parse(layouts[i % N]);
    int64_t threads = mt_size(thr.node), values = mt_size(val.node), at;
    char seen[4096] = {0};
    mt_tiled_copy c;
    if (mt_rank(thr.node) != mt_rank(val.node)) continue;
    MUST(mt_make_tiled_copy(&c, "AutoVectorizingCopy", 32, thr.node, val.node, err));
    CHECK(mt_size(c.layout_tv.node) == threads * values, "size of %s",
          text_of(c.layout_tv.node));
    for (int64_t t = 0; t < threads * values; t++) {
      MUST(mt_at(&at, c.layout_tv.node, t, err));
      CHECK(at >= 0 && at < threads * values && !seen[at]++, "%s at %lld",
            text_of(c.layout_tv.node), (long long)t);
      CHECK(at == element_of(&c, t % threads, t / threads), "thr %s, val %s: %s at %lld",
            layouts[i / N], layouts[i % N], text_of(c.layout_tv.node), (long long)t);
    }
  }
}

/* ---------------------------------------------------------------- refusals */

static const struct {
  const char *atom;
  int bits;
  const char *thr, *val, *text;
} bad[] = {
    {"UniversalCopy<uint100_t>", 32, "(4,8)", "(1,1)",
     "make_tiled_copy: there is no atom \"UniversalCopy<uint100_t>\"\n  near it: "
     "UniversalCopy<uint16_t>"},
    {"SM75_U32x4_LDSM_N", 16, "(4,4):(1,4)", "(8,1):(1,0)",
     "is done by 32 threads together, but thr (4,4):(1,4) has 16 threads: not a multiple"},
    {"UniversalCopy<uint128_t>", 32, "(4,8):(1,4)", "(1,2):(1,1)",
     "moves 4 elements of 32 bits at "
     "once, but val (1,2):(1,1) has 2 values: not a multiple"},
    {"UniversalCopy<uint16_t>", 32, "(4,8):(1,4)", "(1,2):(1,1)",
     "UniversalCopy<uint16_t> has no values of 32 bits"},
    {"UniversalCopy<uint32_t>", 12, "(4,8):(1,4)", "(1,2):(1,1)",
     "UniversalCopy<uint32_t> has no values of 12 bits"},
    {"AutoVectorizingCopy", 32, "(4,8):(1,1)", "(1,2):(1,1)",
     "thr (4,8):(1,1) gives elements 1 and 4 the same thread number 1"},
    {"AutoVectorizingCopy", 32, "(4,8):(1,0)", "(1,2):(1,1)",
     "thr (4,8):(1,0) gives elements 0 and 4 the same thread number 0"},
    {"AutoVectorizingCopy", 32, "(4,8):(1,8)", "(1,2):(1,1)",
     "thr (4,8):(1,8) gives element 16 the "
     "thread number 32; its 32 elements need the numbers 0 to 31"},
    {"AutoVectorizingCopy", 32, "(4,8):(1,4)", "(1,2):(1,2)",
     "val (1,2):(1,2) gives element 1 the value number 2; its 2 elements need the numbers "
     "0 to 1"},
    {"AutoVectorizingCopy", 32, "(4,0):(1,4)", "(1,2):(1,2)", "thr (4,0):(1,4) is empty"},
    {"AutoVectorizingCopy", 32, "(4,8):(1@0,1@1)", "(1,2):(1,2)",
     "not a layout of numbers"},
    {"AutoVectorizingCopy", 32, "(4,8)", "(1,2):(1,2)",
     "thr is not a layout of numbers: (4,8)"},
    {"AutoVectorizingCopy", 32, "(4294967296,1073741824):(1,4294967296)", "(1,4):(1,1)",
     "leaves 64 bits"},
};

static void check_refusals (void) {
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    mt_layout thr = parse(bad[i].thr), val = parse(bad[i].val);
    mt_tiled_copy c;
    mt_err err = MT_NOERR;
    mt_status s =
        mt_make_tiled_copy(&c, bad[i].atom, bad[i].bits, thr.node, val.node, &err);
    CHECK(s != MT_OK && err.status == s && strstr(err.text, bad[i].text),
          "row %d: %s: %s", (int)i, mt_status_name(s), err.text);
    if (getenv("MOONTILE_SHOW")) printf("%s\n", err.text);
  }
  mt_layout thr = parse("(4,8):(8,1)"), val = parse("(2,2):(1,2)"), out;
  mt_layout small = parse("32:1"), deep = parse("((5,3),8):((1,10),100)");
  mt_tiled_copy c;
  mt_err why = MT_NOERR;
  MUST(mt_make_tiled_copy(&c, "AutoVectorizingCopy", 32, thr.node, val.node, err));
  CHECK(mt_partition(&out, &c, small.node, &why) == MT_ERANK, "rank: %s", why.text);
  CHECK(mt_partition(&out, &c, deep.node, &why) != MT_OK, "8 does not divide (5,3)");
  if (getenv("MOONTILE_SHOW")) printf("%s\n", why.text);
}

void test_tile (void) {
  check_golden();
  check_laws();
  check_refusals();
}
