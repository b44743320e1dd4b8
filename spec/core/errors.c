/*
** errors.c - what is refused, with which status and in which words.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "core_test.h"

typedef struct row {
  const char *op, *a, *b;
  mt_status status;
  const char *text;
} row;

static const row rows[] = {
    {"composition", "(4,6,8):(2,3,5)", "6:3", MT_EINEXACT,
     "composition: no layout R has R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3\n"
     "  B's stride 3 runs over the end of A's mode 1 (extent 4): A(B(4)) = 9, where a "
     "layout would "
     "give 14\n"
     "  6:2, 6:4 and 6:12 compose with this A; so would 6:3 if mode 1 had extent 3"},
    {"composition", "(6,4):(8,2)", "4:4", MT_EINEXACT,
     "4:3, 4:6 and 4:12 compose with this A"},
    {"composition", "(6,2):(1,7)", "(3,2):(2,3)", MT_EINEXACT,
     "composition: no layout R has R(i) = A(B(i)) for A = (6,2):(1,7), B = (3,2):(2,3)\n"
     "  the modes of B carry into each other at the end of A's mode 1 (extent 6): "
     "A(B(5)) = 8, where "
     "a layout would give 7"},
    {"composition", "(4,6):(1,5)", "6:1", MT_EINEXACT,
     "B's mode 6:1 does not split at the end of A's mode 1 (extent 4): A(B(4)) = 5"},
    {"composition", "((4,6),8):((2,3),5)", "(2,6):(1,3)", MT_EINEXACT,
     "the end of mode 1 (extent 4) of A coalesced, (4,6,8):(2,3,5)"},
    {"composition", "(4,3):(3,1)", "(2,2):(-1,4)", MT_EINEXACT,
     "B's stride -1 is negative and A coalesced has more than one mode: what lies before 0 "
     "is A(-i) = -A(i)"},
    {"composition", "(5,3):(7,1)", "7:1", MT_EINEXACT, "does not split"},
    {"composition", "(4,6,8):(2,3,5)", "65537:3", MT_EINEXACT, ""},
    {"composition", "(4,6,8):(2,3,5)", "(1000,1000):(3,5)", MT_EINEXACT, ""},
    {"composition", "(4,6):(1,4)", "(2,2,2)", MT_ERANK, "tiler (2,2,2) has 3 modes"},
    {"composition", "(2,3):(1,4)", "(4,2):(F1,F2)", MT_OK, ""},
    {"composition", "(3,2):(1,4)", "(4,2):(F1,F2)", MT_EUNSUPPORTED,
     "the extent 3 of A = (3,2):(1,4) is no power of two: they have no digits there"},
    {"composition", "Sw<1,0,1> o 0 o (4,6):(6,1)", "(2,2):(-1,4)", MT_OK, ""},
    {"composition", "(4,2):(F6,F1)", "Sw<1,0,1> o -1 o (2,2):(1,4)", MT_EINEXACT,
     "has no values below 0"},
    {"composition", "Sw<1,0,1>", "(2,3):(1@0,1@1)", MT_EINVAL, "no integers"},
    {"composition", "Sw<1,0,1>", "(2,3)", MT_EINVAL, "a layout or a swizzle expected"},
    {"composition", "Sw<3,0,3>", "Sw<2,0,2>", MT_EINEXACT,
     "composition: Sw<3,0,3> o Sw<2,0,2> is no swizzle\n  their shifts 3 and 2 differ; "
     "before a layout A they are: v o (w o A)"},
    {"composition", "Sw<3,1,4>", "Sw<3,0,4>", MT_EINEXACT,
     "their masks together, Y = 144 and Z = 9, are not two runs of bits apart from each other"},
    {"composition", "(8,2):(1,8)", "(Sw<1,1,1>,2:1)", MT_EUNSUPPORTED,
     "with the swizzle"},
    {"composition", "8:1", "(-2)", MT_EINVAL, "-2 is no layout and no tiler"},
    {"composition", "8:1", "4:1@0", MT_ERANK, "B has the stride 1@0"},
    {"composition", "(8,4):(1,8)", "4:1@2", MT_ERANK, "no such mode"},
    {"composition", "8:1", "4:1@0+1@1", MT_ERANK, "no such mode"},
    {"composition", "((6,4),8):((1,8),1)", "4:2@0+1@1", MT_EINEXACT, "does not split"},
    {"composition", "4:4611686018427387904", "(1,3):(1,4611686018427387904)",
     MT_EOVERFLOW, ""},
    {"complement", "(4,2):(1,2)", "16", MT_EINJECTIVE,
     "complement: (4,2):(1,2) has no complement\n"
     "  its modes 4:1 and 2:2 overlap: 4 values at distance 1 reach past 2; A(2) = A(4) "
     "= 2\n"
     "  a stride of 4 or more on the second would do"},
    {"complement", "(3,2):(2,5)", "30", MT_EINEXACT, "its modes 3:2 and 2:5 interleave"},
    {"complement", "(9,3):(32,13)", "852", MT_EINEXACT,
     "complement: no layout fills what (9,3):(32,13) skips\n"
     "  its modes 3:13 and 9:32 interleave: 3 values at distance 13 reach past 32\n"
     "  copies of it do not meet at a stride of 283 or more\n"
     "  a stride of 39 or more on the second would do"},
    {"complement", "(100,100):(1000,-999)", "8", MT_EINEXACT, "interleave"},
    {"complement", "(1001,1001):(1000,-999)", "8", MT_EINJECTIVE,
     "A(0) = A(1001999) = 0"},
    {"complement", "4:1", "-1", MT_ERANGE, "the bound -1 is negative"},
    {"complement", "(2,3):(1@0,1@1)", "8", MT_EINVAL, "no integers"},
    {"logical_divide", "24:2", "(4,2):(1,6)", MT_EINEXACT, "leave gaps"},
    {"logical_divide", "(10,8):(8,1)", "7", MT_EINEXACT,
     "B is the tile 7:1 with its complement; 5:1 and 10:1 divide this A"},
    {"logical_divide", "(16,1):(1,0)", "5:3", MT_EINEXACT, ""},
    {"logical_divide", "16:1", "(2,2):(1,1)", MT_EINJECTIVE, "overlap"},
    {"logical_divide", "8:1", "4:-1", MT_EINEXACT, "negative stride"},
    {"logical_divide", "8:1", "0", MT_EINVAL, "is empty"},
    {"logical_divide", "(8,8):(1,8)", "(2,2,2)", MT_ERANK, "has 3 modes"},
    {"zipped_divide", "(8,8):(1,8)", "(2,_)", MT_ERANK, "a mode under `_`"},
    {"logical_product", "(4):(2)", "(5,2):(1,2)", MT_EINEXACT,
     "complement of the block (4):(2)"},
    {"logical_product", "3:2", "(2,2):(1,-2)", MT_EINEXACT, "goes back"},
    {"logical_product", "4611686018427387904:1", "8:1", MT_EOVERFLOW, ""},
    {"blocked_product", "(4,4):(1,1)", "(2,2):(1,2)", MT_EINJECTIVE, "overlap"},
    {"coalesce_by", "(2,3):(1,2)", "(1,1,1)", MT_ERANK, "profile (1,1,1) has 3 modes"},
    {"right_inverse", "Sw<1,1,1> o 4 o 8:1", "", MT_EINEXACT,
     "has none: its least value is 4, so no R has A(R(0)) = 0"},
    {"slice", "(_,4)", "Sw<1,2,5> o 0 o (64,6):(6,1)", MT_EINEXACT,
     "slice: (_,4) of Sw<1,2,5> o 0 o (64,6):(6,1): the mode 6:1, which is sliced away, does not "
     "split into the digits of Sw<1,2,5>\n  a power of two as its extent and as its stride would "
     "do; evaluation at a coordinate always does"},
    {"slice_and_offset", "(_,0)", "Sw<3,0,3> o 0 o (16,3):(48,16)", MT_EINEXACT,
     "the mode 3:16, which is sliced away"},
    {"slice", "(0,_)", "Sw<1,2,5> o 0 o (2,6):(8,1)", MT_EINEXACT,
     "the mode 6:1, which is left"},
    {"slice", "(_,1,1)", "Sw<1,0,1> o 0 o (2,3):(1,2)", MT_ERANK, "has 2"},
    {"call", "(2,3,4):(1,2,6)", "(1,1)", MT_ERANK, "coordinate (1,1) has 2 modes"},
    {"call", "8:1", "(1,1)", MT_ERANK, "coordinate"},
    {"call", "8:1", "-1", MT_ERANGE, "coordinate -1 is negative"},
    {"call", "(8,2):(1,8)", "(1,-1)", MT_ERANGE, "negative"},
    {"call", "8:4611686018427387904", "7", MT_EOVERFLOW, ""},
    {"call", "8:3", "9223372036854775807", MT_EOVERFLOW, "leaves 64 bits"},
    {"call", "(2,2):(1@0,1@0@1)", "1@0", MT_EINVAL, "no coordinate"},
    {"call", "(2,2):(1@0,1@1@0)", "3", MT_EINVAL, "begins another"},
    {"cosize", "(2,2):(1@0,1@1)", "", MT_EINVAL, "no integers"},
    {"cosize", "2:9223372036854775807", "", MT_EOVERFLOW, ""},
    {"crd2idx", "(1,1)", "(2,3,4)", MT_ERANK, "coordinate (1,1) has 2 modes"},
    {"idx2crd", "-1", "(2,3)", MT_ERANGE, "negative"},
    {"idx2crd", "1", "(2,_)", MT_EINVAL, "is no shape"},
    {"slice", "(_,1)", "(2,3,4):(1,2,6)", MT_ERANK, "has 2 modes"},
    {"slice", "(_,(1,_))", "(2,3):(1,2)", MT_ERANK, "has 2 modes"},
    {"get", "(2,3):(1,2)", "2", MT_ERANGE, "there is no mode 3"},
    {"make_layout_left", "(2,-3)", "", MT_EINVAL, "extent -3 is negative"},
    {"make_layout_left", "(2,1@0)", "", MT_EINVAL, "a shape holds integers"},
    {"make_layout_left", "(4294967296,4294967296)", "", MT_EOVERFLOW,
     "the size leaves 64 bits"},
    {"make_layout_left", "(4294967296,4294967296,0)", "", MT_EOVERFLOW,
     "the size leaves 64 bits"},
};

static void run_row (const row *r) {
  static call c;
  int args = 0;
  operation f = find_operation(r->op, &args);
  memset(&c.err, 0, sizeof c.err);
  c.n = args;
  mt_status s = f ? MT_OK : MT_NSTATUS;
  if (s == MT_OK) s = mt_parse(&c.arg[0], r->a, strlen(r->a), &c.err);
  if (s == MT_OK && args > 1) s = mt_parse(&c.arg[1], r->b, strlen(r->b), &c.err);
  if (s == MT_OK) s = f(&c);
  CHECK(s == r->status && c.err.status == s, "%s %s %s: %s wanted, got %s: %s", r->op,
        r->a, r->b, mt_status_name(r->status), mt_status_name(s),
        s ? c.err.text : c.out[0]);
  CHECK(strstr(c.err.text, r->text) != NULL, "%s %s %s: the text is\n%s", r->op, r->a,
        r->b, c.err.text);
}

static const struct {
  const char *text;
  mt_status status;
  const char *want;
} bad[] = {
    /* text                        status         in the message */
    {"", MT_ESYNTAX, "value expected at character 1"},
    {"x", MT_ESYNTAX, "value expected at character 1"},
    {"(4,8):(1,4", MT_ESYNTAX, "the parenthesis at character 7 is not closed"},
    {"(4,8", MT_ESYNTAX, "is not closed"},
    {"make_layout( 89223372036854772022:9", MT_ESYNTAX, "is not closed"},
    {"(4,,8)", MT_ESYNTAX, "value expected at character 4"},
    {"4:1 8", MT_ESYNTAX, "unexpected text at character 5"},
    {"4:", MT_ESYNTAX, "integer expected"},
    {":1", MT_ESYNTAX, "value expected"},
    {"4::1", MT_ESYNTAX, "integer expected"},
    {"4:1:1", MT_ESYNTAX, "unexpected text"},
    {"(4:1,8):(1,4)", MT_EINVAL, "a shape holds integers"},
    {"4:(1,_)", MT_ESYNTAX, "integer expected"},
    {"_:1", MT_EINVAL, "a shape holds integers"},
    {"1@256", MT_ESYNTAX, "0..255"},
    {"1@-1", MT_ESYNTAX, "0..255"},
    {"1@0@0@0@0@0@0@0@0", MT_ESYNTAX, "more than 7"},
    {"1@0+3", MT_ESYNTAX, "integer and a basis element"},
    {"(2,3):(1@0,2)", MT_EINVAL, "beside basis elements"},
    {"9223372036854775808", MT_EOVERFLOW, "does not fit 64 bits"},
    {"99999999999999999999999999", MT_EOVERFLOW, "does not fit 64 bits"},
    {"3:9223372036854775807", MT_EOVERFLOW, "an offset leaves 64 bits"},
    {"-2:1", MT_EINVAL, "extent -2 is negative"},
    {"(4,8):4", MT_ERANK, "stride 4 is not congruent with shape"},
    {"(4,8):(1,(4))", MT_ERANK, "not congruent"},
    {"4:(1)", MT_ERANK, "not congruent"},
    {"Sw<3,4>", MT_ESYNTAX, "',' expected"},
    {"Sw<3,4,2>", MT_EINVAL, "|shift| >= bits"},
    {"Sw<-1,4,2>", MT_EINVAL, "must be >= 0"},
    {"Sw<9223372036854775807,1,9223372036854775807>", MT_EINVAL, "at most 62"},
    {"Sw<30,30,30>", MT_EINVAL, "at most 62"},
    {"Sw<3,4,-9223372036854775808>", MT_EINVAL, "at most 62"},
    {"Sw<1,1,1> o 0 o 4", MT_ESYNTAX, "a layout"},
    {"Sw<1,1,1> o 0 o 4:1@0", MT_ESYNTAX, "integer strides"},
    {"Sw<1,1,1> o 0 o Sw<1,1,1>", MT_ESYNTAX, "a layout"},
    {"Sw<1,1,1> o", MT_ESYNTAX, "value expected"},
    {"4:1 o", MT_ESYNTAX, "value expected at character 6"},
    {"4:1 o 3", MT_ESYNTAX, "a layout"},
    {"4:1 o 3 o", MT_ESYNTAX, "value expected"},
    {"4:1 o F3 o 4:1", MT_ESYNTAX, "an offset over F2"},
    {"4:1 o 3 o 4:F1", MT_ESYNTAX, "an offset over F2"},
    {"4:1 o 4:1@0", MT_ESYNTAX, "integer strides"},
    {"4:1 o (2:1,2:1)", MT_ESYNTAX, "integer strides"},
    {"(2:1,-3)", MT_EINVAL, "not an extent"},
    {"(((((((((((((((((1)))))))))))))))))", MT_ETOOBIG, "nested deeper than 16"},
};

static void test_bad_texts (void) {
  mt_layout v;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    mt_err err = MT_NOERR;
    mt_status s = mt_parse(&v, bad[i].text, strlen(bad[i].text), &err);
    CHECK(s == bad[i].status && err.status == s && strstr(err.text, bad[i].want),
          "%s: %s wanted, got %s: %s", bad[i].text, mt_status_name(bad[i].status),
          mt_status_name(s), err.text);
  }
}

/* A million of the same character, in what surrounds it. */
static void test_long_texts (void) {
  static const struct {
    const char *before;
    char c;
    const char *after;
  } kinds[] = {
      {"", '(', ""},   {"(1", ',', ""},  {"", '9', ""},    {"", '_', ""},
      {"4:", '(', ""}, {"", ' ', "4"},   {"4:1", '@', ""}, {"", '-', ""},
      {"(", ')', ""},  {"Sw<", '<', ""}, {"4", ':', ""},
  };
  enum { N = 1000000 };
  char *s = malloc(N + 16);
  mt_layout v;
  for (size_t i = 0; s && i < sizeof kinds / sizeof *kinds; i++) {
    mt_err err = MT_NOERR;
    size_t n = strlen(kinds[i].before);
    memcpy(s, kinds[i].before, n);
    memset(s + n, kinds[i].c, N);
    strcpy(s + n + N, kinds[i].after);
    mt_status status = mt_parse(&v, s, strlen(s), &err);
    CHECK((status == MT_OK) == (kinds[i].c == ' ') && err.status == status, "%s%c...: %s",
          kinds[i].before, kinds[i].c, err.text);
  }
  free(s);
}

/* Too many modes are an error wherever they come from; long operands are cut in
** messages. */
static void test_sizes (void) {
  char s[1024] = "(2";
  mt_layout a, b, r;
  mt_err err = MT_NOERR;
  for (int i = 0; i < 40; i++) strcat(s, ",1");
  strcat(s, ")");
  CHECK(mt_parse(&a, s, strlen(s), &err) == MT_OK, "%s", err.text);
  CHECK(mt_layout_left(&b, a.node, &err) == MT_OK, "%s", err.text);
  const mt_node *modes[] = {b.node, b.node};
  CHECK(mt_concat(&r, 2, modes, &err) == MT_ETOOBIG, "concat");
  CHECK(mt_flat_divide(&r, b.node, a.node, &err) == MT_ETOOBIG, "flat_divide");
  CHECK(mt_mode(b.node, 40) != NULL &&
            mt_select(&r, b.node, 1, (int[]){41}, &err) == MT_ERANGE,
        "select");
  CHECK(strstr(err.text, "...") != NULL && strlen(err.text) < 400, "cut: %s", err.text);
  strcpy(s, "(");
  for (int i = 0; i < 63; i++) strcat(s, i ? ",1" : "1");
  strcat(s, ")");
  CHECK(mt_parse(&a, s, strlen(s), &err) == MT_OK, "63 modes");
  s[strlen(s) - 1] = 0;
  strcat(s, ",1)");
  CHECK(mt_parse(&a, s, strlen(s), &err) == MT_ETOOBIG, "64 modes");
}

/* Layouts that nothing here makes: what sizes memory does not trust them. */
static void test_foreign (void) {
  static const mt_node leaf[] = {{.tag = MT_LEAF, .span = 1, .shape = -4, .stride = 1},
                                 {.tag = MT_LEAF, .span = 1, .shape = 4, .stride = 1}};
  static const mt_node far = {.tag = MT_LEAF, .span = 1, .shape = INT64_MAX, .stride = 3};
  static const mt_node down = {.tag = MT_LEAF,
                               .span = 1,
                               .shape = INT64_MAX,
                               .stride = -3};
  const mt_node *const modes[] = {leaf, leaf};
  mt_err err = MT_NOERR;
  mt_layout out;
  int64_t n, lo;
  CHECK(mt_concat(&out, 2, modes, &err) == MT_EINVAL && strstr(err.text, "extent -4"),
        "%s", err.text);
  CHECK(mt_footprint(&lo, &n, leaf, &err) == MT_EINVAL, "footprint of %s", "-4:1");
  CHECK(mt_get_hier_coord(&out, leaf, -3, &err) == MT_EINVAL, "%s", err.text);
  CHECK(mt_get_1d_coord(&n, leaf, INT64_MIN, &err) == MT_EINVAL, "%s", err.text);
  CHECK(mt_footprint(&lo, &n, &far, &err) == MT_EOVERFLOW, "footprint of %s", "far");
  CHECK(mt_footprint(&lo, &n, &down, &err) == MT_EOVERFLOW, "footprint of %s", "down");
}

/* A fragment without modes has no values to ask for. */
static void test_no_modes (void) {
  static const mt_node thr = {.tag = MT_LEAF, .span = 1, .shape = 4, .stride = 1};
  static const mt_node val = {.tag = MT_LEAF, .span = 1, .shape = 1};
  static const mt_node none = {.tag = MT_MODES, .span = 1, .shape = 1};
  mt_err err = MT_NOERR;
  mt_tiled_copy copy;
  mt_layout out;
  CHECK(mt_make_tiled_copy(&copy, "UniversalCopy<uint32_t>", 32, &thr, &val, &err) ==
            MT_OK,
        "%s", err.text);
  CHECK(mt_copy_retile(&out, &copy, &none, &err) == MT_ERANK, "%s", err.text);
}

void test_errors (void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) run_row(&rows[i]);
  test_bad_texts();
  test_long_texts();
  test_sizes();
  test_foreign();
  test_no_modes();
}
