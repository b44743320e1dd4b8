/*
** cases.c - cases from the literature and cases that once were wrong, as rows of text.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "core_test.h"

typedef struct row {
  const char *op, *a, *b, *want;
} row;

static const row rows[] = {
    /* operation             first, second, result */
    {"complement", "4:1", "24", "6:4"},
    {"complement", "6:4", "24", "4:1"},
    {"complement", "4:2", "24", "(2,3):(1,8)"},
    {"complement", "(4,2):(1,6)", "24", "2:12"},
    {"complement", "4:-1", "24", "6:4"},
    {"complement", "4:0", "12", "12:1"},
    {"complement", "0:1", "16", "16:1"},
    {"complement", "(4,0):(1,4)", "8", "8:1"},
    {"complement", "():()", "5", "5:1"},
    {"composition", "20:2", "(4,5):(1,4)", "(4,5):(2,8)"},
    {"composition", "(20,2):(16,4)", "(4,5):(1,4)", "(4,5):(16,64)"},
    {"composition", "(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"},
    {"composition", "(4,6,8,10):(2,3,5,7)", "6:12", "(2,3):(9,5)"},
    {"composition", "(4,2,8):(3,12,97)", "3:3", "3:9"},
    {"composition", "(5,3):(1,7)", "4:1", "4:1"},
    {"composition", "(4,6,1):(2,3,0)", "30:4", "(6,5):(3,0)"},
    {"composition", "(4,3):(3,1)", "3:0", "3:0"},
    {"composition", "(4,3):(3,1)", "1:6", "1:7"},
    {"composition", "():()", "(4,2):(1,4)", "(4,2):(0,0)"},
    {"composition", "(4,2):(1,4)", "():()", "():()"},
    {"composition", "8:3", "4:-2", "4:-6"},
    {"composition", "(3,5,3):(7,1,2)", "2:4", "2:8"},
    {"composition", "(4,6,8):(2,3,5)", "0:7", "0:0"},
    {"composition", "(4,6):(1,4)", "(_,3:2)", "(4,3):(1,8)"},
    {"composition", "(4,6):(1,4)", "(2)", "(2):(1)"},
    {"composition", "(10,5):(1@0,1@1)", "2:13", "2:3@0+1@1"},
    {"composition", "(4,(5,12)):(7,(0,20))", "(3,2):(1@0,5@1)", "(3,2):(7,20)"},
    {"composition", "Sw<3,4,3> o 0 o (8,64):(64,1)", "(8:1,16:2)",
     "Sw<3,4,3> o 0 o (8,16):(64,2)"},
    {"logical_divide", "24:2", "4:2", "(4,(2,3)):(4,(2,16))"},
    {"logical_divide", "24:2", "4", "(4,6):(2,8)"},
    {"logical_divide", "10:1", "4", "(4,3):(1,4)"},
    {"logical_divide", "(4,0):(1,4)", "(2,3)", "((2,2),(3,0)):((1,2),(4,0))"},
    {"zipped_divide", "(8,24):(1,8)", "(4,8)", "((4,8),(2,3)):((1,8),(4,64))"},
    {"zipped_divide", "(10,5):(1@0,1@1)", "(4,2)", "((4,2),(3,3)):((1@0,1@1),(4@0,2@1))"},
    {"tiled_divide", "(8,24):(1,8)", "(4,8)", "((4,8),2,3):((1,8),4,64)"},
    {"flat_divide", "(8,24):(1,8)", "(4,8)", "(4,8,2,3):(1,8,4,64)"},
    {"logical_product", "(2,2):(4,1)", "6:1", "((2,2),(2,3)):((4,1),(2,8))"},
    {"logical_product", "4:1", "3:-1", "(4,3):(1,-4)"},
    {"logical_product", "(2,2):(1,5)", "4:1", "((2,2),(2,2)):((1,5),(2,10))"},
    {"blocked_product", "(2,5):(5,1)", "(3,4):(1,3)", "((2,3),(5,4)):((5,10),(1,30))"},
    {"raked_product", "(2,5):(5,1)", "(3,4):(1,3)", "((3,2),(4,5)):((10,5),(30,1))"},
    {"blocked_product", "8:3", "6:1", "((8,(3,2))):((3,(1,24)))"},
    {"coalesce", "(2,(1,6)):(1,(6,2))", "", "12:1"},
    {"coalesce", "(4,8):(1@0,4@0)", "", "32:1@0"},
    {"coalesce", "(4,8):(1@0,4@1)", "", "(4,8):(1@0,4@1)"},
    {"coalesce", "(0,8):(1,4)", "", "0:0"},
    {"coalesce_by", "(2,(1,6)):(1,(6,2))", "(1,1)", "(2,6):(1,2)"},
    {"idx2crd", "16", "(3,(2,3))", "(1,(1,2))"},
    {"idx2crd", "41", "(4,5)", "(1,10)"},
    {"slice", "(1,_)", "((2,4),(3,5)):((3,6),(1,24))", "((3,5)):((1,24))"},
    {"slice_and_offset", "(1,_)", "((2,4),(3,5)):((3,6),(1,24))", "((3,5)):((1,24))"},
    {"slice", "(9,_)", "Sw<4,0,4> o 0 o (16,64):(64,1)", "Sw<4,0,4> o 64 o (64):(1)"},
    {"get", "Sw<4,0,4> o 0 o (16,(4,8)):(64,(1,2))", "1", "Sw<4,0,4> o 0 o (4,8):(1,2)"},
    {"size", "((2,4),(3,5)):((3,6),(1,24))", "", "120"},
    {"rank", "((2,4),(3,5)):((3,6),(1,24))", "", "2"},
    {"depth", "((2,4),(3,5)):((3,6),(1,24))", "", "2"},
    {"cosize", "((2,4),(3,5)):((3,6),(1,24))", "", "120"},
    {"size", "8:2", "", "8"},
    {"cosize", "8:2", "", "15"},
    {"cosize", "8:0", "", "1"},
    {"cosize", "8:-1", "", "8"},
    {"cosize", "0:5", "", "0"},
    {"cosize", "Sw<3,0,3> o 0 o (8,3):(8,1)", "", "64"},
    {"values", "8:-1", "", "0,-1,-2,-3,-4,-5,-6,-7"},
    {"size", "(65536,65536):(1,65536)", "", "4294967296"},
    {"size", "():()", "", "1"},
    {"rank", "():()", "", "0"},
    {"call", "(1,6,6):(1@0,1@1,1@2)", "35", "(0,5,5)"},
    {"call", "(4):(1@0)", "(2)", "(2)"},
    {"call", "(4,8):(1@2,2@0+1@1)", "(3,2)", "(4,2,3)"},
    {"call", "(8,24):(1,8)", "(0,_)", "0"},
    {"make_layout_left", "((1,2,5),24)", "", "((1,2,5),24):((0,1,2),10)"},
    {"make_layout_right", "((1,2,5),24)", "", "((1,2,5),24):((0,120,24),1)"},
    {"make_layout_like", "(2,(3,4)):(12,(0,-3))", "", "(2,(3,4)):(4,(0,1))"},
    {"make_layout_like", "(4,4,2):(1,1,3)", "", "(4,4,2):(1,1,16)"},
    {"make_identity_layout", "(4,(2,3))", "", "(4,(2,3)):(1@0,(1@0@1,1@1@1))"},
    {"make_identity_layout", "8", "", "8:1"},
    {"right_inverse", "(4,8):(8,1)", "", "(8,4):(4,1)"},
    {"right_inverse", "(4,3):(0,1)", "", "3:4"},
};

static bool parse (mt_layout *out, const char *text, mt_err *err) {
  return mt_parse(out, text, strlen(text), err) == MT_OK;
}

static void run_row (const row *r) {
  static call c;
  int args = 0;
  operation f = find_operation(r->op, &args);
  c.n = args;
  CHECK(f != NULL, "no operation %s", r->op);
  if (f == NULL || !parse(&c.arg[0], r->a, &c.err) ||
      (args > 1 && !parse(&c.arg[1], r->b, &c.err))) {
    CHECK(false, "%s %s %s: %s", r->op, r->a, r->b, c.err.text);
    return;
  }
  mt_status s = f(&c);
  CHECK(s == MT_OK, "%s %s %s: %s", r->op, r->a, r->b, c.err.text);
  CHECK(s != MT_OK || strcmp(c.out[0], r->want) == 0, "%s %s %s: %s wanted, got %s",
        r->op, r->a, r->b, r->want, c.out[0]);
}

/* Text that is read, and how it is written. */
static const char *const texts[][2] = {
    {"(4,(2,2)):(2,(1,8))", "(4,(2,2)):(2,(1,8))"},
    {"( _4 , (_2,2) ) : (_2,(1, _8))", "(4,(2,2)):(2,(1,8))"},
    {"_-3", "-3"},
    {"(4,(2,3))", "(4,(2,3))"},
    {"()", "()"},
    {"():()", "():()"},
    {"(_,3,(_,_2))", "(_,3,(_,2))"},
    {"(4,8):LayoutLeft", "(4,8):(1,4)"},
    {"(4,8):LayoutRight", "(4,8):(8,1)"},
    {"8 : LayoutLeft", "8:1"},
    {"(4,8):(1@0,1@1)", "(4,8):(1@0,1@1)"},
    {"(4,8):(1@0@1,-1@1@1)", "(4,8):(1@0@1,-1@1@1)"},
    {"2:2@1+2@0", "2:2@0+2@1"},
    {"2@0+3@0", "5@0"},
    {"2@0+-2@0", "0"},
    {"2@0 + 0", "2@0"},
    {"1@0@0+1@0", "1@0+1@0@0"},
    {"(2:1,(2,4):(1,8))", "(2:1,(2,4):(1,8))"},
    {"(2:1,4,(_,(3)))", "(2:1,4:1,(_,(3:1)))"},
    {"Sw<3,4,3>", "Sw<3,4,3>"},
    {"S<2,0,-3>", "Sw<2,0,-3>"},
    {"S<3,4,3>o _0 o(8,64):(64,1)", "Sw<3,4,3> o 0 o (8,64):(64,1)"},
    {"Sw<3,4,3> o 16 o 8:1", "Sw<3,4,3> o 16 o 8:1"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
};

static void test_texts (void) {
  char s[TEXT];
  mt_layout v;
  mt_err err = MT_NOERR;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    bool ok = parse(&v, texts[i][0], &err);
    CHECK(ok, "%s: %s", texts[i][0], err.text);
    if (!ok) continue;
    mt_format(s, sizeof s, v.node);
    CHECK(strcmp(s, texts[i][1]) == 0, "%s prints as %s", texts[i][0], s);
  }
}

/* All 18 coordinates of (3,(2,3)) in 1-D, 2-D and natural form. */
static void test_coordinates (void) {
  mt_layout shape, c;
  mt_err err = MT_NOERR;
  char s[3][64];
  int64_t k;
  parse(&shape, "(3,(2,3))", &err);
  for (int i = 0; i < 18; i++) {
    snprintf(s[0], sizeof s[0], "%d", i);
    snprintf(s[1], sizeof s[1], "(%d,%d)", i % 3, i / 3);
    snprintf(s[2], sizeof s[2], "(%d,(%d,%d))", i % 3, i / 3 % 2, i / 6);
    for (int j = 0; j < 3; j++) {
      parse(&c, s[j], &err);
      CHECK(mt_crd2idx(&k, c.node, shape.node, &err) == MT_OK && k == i, "%s is %d", s[j],
            i);
    }
    CHECK(mt_idx2crd(&c, i, shape.node, &err) == MT_OK, "%s", err.text);
    mt_format(s[0], sizeof s[0], c.node);
    CHECK(strcmp(s[0], s[2]) == 0, "%d is %s", i, s[0]);
  }
}

/* 128x128 by 32x32 and 4x4: 16 blocks of 1024, 64 threads of 16 elements. */
static void test_two_levels (void) {
  mt_layout a, t, blocks, block, threads;
  mt_err err = MT_NOERR;
  int path = 0;
  parse(&a, "(128,128):LayoutRight", &err);
  parse(&t, "(32,32)", &err);
  CHECK(mt_zipped_divide(&blocks, a.node, t.node, &err) == MT_OK, "%s", err.text);
  CHECK(mt_size(mt_mode(blocks.node, 0)) == 1024 &&
            mt_size(mt_mode(blocks.node, 1)) == 16,
        "blocks");
  mt_get(&block, blocks.node, 1, &path, &err);
  parse(&t, "(4,4)", &err);
  CHECK(mt_zipped_divide(&threads, block.node, t.node, &err) == MT_OK, "%s", err.text);
  CHECK(mt_size(mt_mode(threads.node, 0)) == 16 &&
            mt_size(mt_mode(threads.node, 1)) == 64,
        "threads");
  int64_t k;
  parse(&a, "(8,24):(1,8)", &err);
  parse(&t, "(4,8)", &err);
  CHECK(mt_zipped_divide(&blocks, a.node, t.node, &err) == MT_OK, "%s", err.text);
  parse(&t, "((0,1),(0,0))", &err);
  CHECK(mt_crd2idx(&k, t.node, blocks.node, &err) == MT_OK && k == 8,
        "8 at ((0,1),(0,0))");
}

/* The other things that the header promises. */
static void test_api (void) {
  mt_layout v, w;
  mt_err err = MT_NOERR;
  int64_t many[MT_MAXNODES] = {0}, lo, n;
  bool fills = true;
  CHECK(strcmp(mt_status_name(MT_ERANK), "MT_ERANK") == 0, "names");
  CHECK(strcmp(mt_status_text(MT_ERANK), "ranks do not match") == 0, "texts");
  CHECK(mt_status_name((mt_status)999) != NULL && mt_status_text((mt_status)-1) != NULL,
        "range");
  CHECK(strcmp(mt_version(), MT_VERSION) == 0, "version");
  CHECK(mt_ints(&v, MT_MAXNODES - 1, many, &err) == MT_OK, "%s", err.text);
  CHECK(mt_ints(&v, MT_MAXNODES, many, &err) == MT_ETOOBIG, "too many");
  mt_int(&v, -5);
  CHECK(v.node[0].tag == MT_INT && v.node[0].shape == -5 && v.node[0].span == 1,
        "mt_int");
  parse(&v, "8:-1", &err);
  CHECK(mt_footprint(&lo, &n, v.node, &err) == MT_OK && n == 1 && lo == -7, "8:-1");
  CHECK(mt_cosize(&n, v.node, &err) == MT_OK && n == 8, "8:-1");
  parse(&v, "(4,2):(1,6)", &err);
  CHECK(mt_complement(&w, &fills, v.node, 24, &err) == MT_OK && !fills, "does not fill");
  parse(&v, "(4,2):(1,4)", &err);
  CHECK(mt_complement(&w, &fills, v.node, 24, &err) == MT_OK && fills, "fills");
  parse(&w, "(4,2):(1,8)", &err);
  CHECK(mt_congruent(v.node, w.node) && !mt_equal(v.node, w.node), "equal");
  CHECK(mt_at(&n, v.node, 1000, &err) == MT_OK && n == 1000, "past the end");
  CHECK(mt_mode(v.node, 2) == NULL && mt_mode(v.node, -1) == NULL, "no such mode");
  CHECK(mt_format(NULL, 0, v.node) == strlen("(4,2):(1,4)"), "length");
}

void test_cases (void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) run_row(&rows[i]);
  test_texts();
  test_coordinates();
  test_two_levels();
  test_api();
}
