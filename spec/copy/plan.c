/*
** plan.c - what plans say of themselves, and what is refused in which words.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"

static mt_device *dev;

/* A copy in text: buffers have `bytes` bytes (0: what the layout needs) and start at a
** multiple of 256, `unaligned` bytes on. */
typedef struct copy {
  const char *type, *src, *dst, *atom, *thr, *val;
  int64_t src_offset, dst_offset;
  size_t src_bytes, dst_bytes;
  int src_unaligned, dst_unaligned;
  bool shared; /* dst lies in the buffer of src */
} copy;

typedef struct row {
  copy c;
  mt_status status;
  const char *text; /* of the plan, or in the error */
} row;

static size_t bytes_of (const mt_node *a, mt_dtype type, int64_t offset) {
  int64_t n = 0;
  mt_err none = MT_NOERR;
  if (mt_cosize(&n, a, &none) != MT_OK) n = 0;
  return (size_t)(n + offset) * mt_dtype_size(type);
}

/* A layout, or a shape: then compact, row-major. */
static mt_layout part_of (const char *text) {
  mt_layout t = parse(text), out;
  if (t.node->tag == MT_LEAF || t.node->tag == MT_MODES) return t;
  MUST(mt_layout_right(&out, t.node, err));
  return out;
}

static mt_status plan_of (const copy *c, char *text, size_t size) {
  static _Alignas(256) unsigned char room[2][1 << 20];
  mt_layout src = parse(c->src), dst = parse(c->dst), thr, val;
  mt_tiled_copy tiled;
  mt_dtype type;
  mt_plan *p = NULL;
  mt_err why = MT_NOERR;
  MUST(mt_dtype_find(&type, c->type, err));
  mt_tensor s = {src.node,     type,          room[0] + c->src_unaligned,
                 c->src_bytes, c->src_offset, NULL};
  mt_tensor d = {dst.node,     type,          room[c->shared ? 0 : 1] + c->dst_unaligned,
                 c->dst_bytes, c->dst_offset, NULL};
  if (s.bytes == 0) s.bytes = bytes_of(src.node, type, s.offset);
  if (d.bytes == 0) d.bytes = bytes_of(dst.node, type, d.offset);
  if (c->thr) {
    thr = part_of(c->thr);
    val = part_of(c->val);
    MUST(mt_make_tiled_copy(&tiled, c->atom ? c->atom : "AutoVectorizingCopy",
                            (int)mt_dtype_size(type) * 8, thr.node, val.node, err));
  }
  mt_status st = mt_plan_copy(&p, dev, c->thr ? &tiled : NULL, &s, &d, &why);
  if (st == MT_OK) mt_plan_format(text, size, p);
  else snprintf(text, size, "%s", why.text);
  CHECK((st == MT_OK) == (p != NULL), "a plan or none");
  mt_plan_free(p);
  return st;
}

/* ---------------------------------------------------------------- rows */

static const row rows[] = {
    /* A transposition by threads along the rows. */
    {{.type = "f32",
      .src = "(64,64):(64,1)",
      .dst = "(64,64):(1,64)",
      .thr = "(8,32):(32,1)",
      .val = "(1,1)"},
     MT_OK,
     "plan: copy f32 (64,64):(64,1) -> (64,64):(1,64)\n"
     "kernel: ref_described (cpu:checked)\n"
     "grid: 16 blocks of 256 threads\n"
     "vector: 4 bytes, 1 element\n"
     "thread: 256 = 32 x 8         src 1, 64           dst 64, 1\n"
     "value: 1\n"
     "rest: 16 = 8 x 2             src 512, 32         dst 8, 2048"},
    /* Ragged: bounds, and the vector's own step. */
    {{.type = "f32",
      .src = "(5,12):(12,1)",
      .dst = "(5,12):(12,1)",
      .thr = "(2,2):(2,1)",
      .val = "(1,4):(4,1)",
      .atom = "UniversalCopy<uint128_t>"},
     MT_OK,
     "plan: copy f32 (5,12):(12,1) -> (5,12):(12,1)\n"
     "kernel: ref_described (cpu:checked)\n"
     "grid: 6 blocks of 4 threads\n"
     "vector: 16 bytes, 4 elements\n"
     "thread: 4 = 2 x 2            src 4, 12           dst 4, 12  mode 1: 0, 1  mode 2: 4, "
     "0\n"
     "value: 1\n"
     "rest: 6 = 2 x 3              src 8, 24           dst 8, 24  mode 1: 0, 2  mode 2: 8, "
     "0\n"
     "bounds: mode 1 < 5, mode 2 < 12"},
    /* Everything together: one axis, the widest vectors. */
    {{.type = "u8", .src = "(32,8):(8,1)", .dst = "(32,8):(8,1)"},
     MT_OK,
     "plan: copy u8 (32,8):(8,1) -> (32,8):(8,1)\n"
     "kernel: ref_strided (cpu:checked)\n"
     "grid: 1 blocks of 256 threads\n"
     "vector: 16 bytes, 16 elements\n"
     "rest: 16                     src 16              dst 16"},
    {{.type = "f16", .src = "(4,0):(1,4)", .dst = "(4,0):(1,4)"},
     MT_OK,
     "plan: copy f16 (4,0):(1,4) -> (4,0):(1,4)\n"
     "kernel: ref_strided (cpu:checked)\n"
     "grid: 0 blocks of 256 threads\n"
     "vector: 2 bytes, 1 element\n"
     "rest: 0"},

    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "16:1"},
     MT_ERANK,
     "copy: src (4,4):(1,4) has rank 2, dst 16:1 has rank 1"},
    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "(4,5):(1,4)"},
     MT_ERANK,
     "copy: mode 2 of src (4,4):(1,4) has size 4, of dst (4,5):(1,4) it has 5"},
    {{.type = "f32", .src = "((2,3),4):((1,3),9)", .dst = "((3,2),4):((7,1),21)"},
     MT_EINEXACT,
     "copy: mode 1 of src and of dst have no common refinement: (2,3):(1,3) and "
     "(3,2):(7,1)\n"
     "give both tensors one shape"},
    {{.type = "f32", .src = "8:1", .dst = "8:1", .thr = "(2,2)", .val = "(1,1)"},
     MT_ERANK,
     "copy: the tile (2,2) has 2 modes, the tensors 8:1 have 1"},
    {{.type = "u8", .src = "4096:1", .dst = "4096:1", .thr = "2048:1", .val = "1:0"},
     MT_EUNSUPPORTED,
     "copy: thr 2048:1 has 2048 threads, a block has at most 1024"},
    /* Swizzles: elements, runs of 4, and one that only adds 16. */
    {{.type = "f32", .src = "Sw<2,0,3> o 0 o (8,8):(1,8)", .dst = "(8,8):(1,8)"},
     MT_OK,
     "plan: copy f32 Sw<2,0,3> o 0 o (8,8):(1,8) -> (8,8):(1,8)\n"
     "kernel: ref_strided (cpu:checked)\n"
     "grid: 1 blocks of 256 threads\n"
     "vector: 4 bytes, 1 element\n"
     "swizzle: src Sw<2,0,3>\n"
     "rest: 64                     src 1               dst 1\n"
     "refused: copy_transpose: a side is swizzled"},
    {{.type = "f32",
      .src = "(8,32):(32,1)",
      .dst = "Sw<2,2,3> o 32 o (8,32):(32,1)",
      .thr = "(4,8):(8,1)",
      .val = "(1,4):(0,1)",
      .atom = "UniversalCopy<uint128_t>"},
     MT_OK,
     "plan: copy f32 (8,32):(32,1) -> Sw<2,2,3> o 32 o (8,32):(32,1)\n"
     "kernel: ref_described (cpu:checked)\n"
     "grid: 2 blocks of 32 threads\n"
     "vector: 16 bytes, 4 elements\n"
     "offset: src 0, dst 32\n"
     "swizzle: dst Sw<2,2,3>\n"
     "thread: 32                   src 4               dst 4\n"
     "value: 1\n"
     "rest: 2                      src 128             dst 128"},
    {{.type = "f32", .src = "Sw<1,4,2> o 64 o 16:1", .dst = "16:1"},
     MT_OK,
     "plan: copy f32 Sw<1,4,2> o 64 o 16:1 -> 16:1\n"
     "kernel: ref_strided (cpu:checked)\n"
     "grid: 1 blocks of 256 threads\n"
     "vector: 16 bytes, 4 elements\n"
     "offset: src 80, dst 0\n"
     "rest: 4                      src 4               dst 4"},
    {{.type = "f32", .src = "(8,8):(1@0,1@1)", .dst = "(8,8):(1,8)", .src_bytes = 256},
     MT_EINVAL,
     "copy: src has no layout of offsets"},

    /* Range. */
    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "(4,4):(1,4)", .src_bytes = 60},
     MT_ERANGE,
     "copy: src: element 15 lies at offset 15; the buffer has elements 0 to 14\n"
     "src is (4,4):(1,4) at offset 0\n"},
    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "(4,4):(-1,4)", .dst_bytes = 64},
     MT_ERANGE,
     "copy: dst: element 3 lies at offset -3; the buffer has elements 0 to 15\n"},
    {{.type = "f32",
      .src = "(5,6):(6,1)",
      .dst = "(5,6):(6,1)",
      .dst_bytes = 116,
      .thr = "(2,2)",
      .val = "(2,1)"},
     MT_ERANGE,
     "copy: dst: value 0 of thread 1 in block 5 lies at offset 29; the buffer has elements "
     "0 to 28\n"},
    {{.type = "f32", .src = "4:2305843009213693951", .dst = "4:1", .src_bytes = 64},
     MT_EOVERFLOW,
     "copy: src: an offset leaves 64 bits"},

    /* Injectivity. */
    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "(4,4):(1,0)"},
     MT_EINJECTIVE,
     "copy: dst mode 2 has stride 0: elements 0 and 12 write offset 0\ndst is (4,4):(1,0)"},
    {{.type = "f32",
      .src = "(8,4):(1,8)",
      .dst = "(8,4):(1,0)",
      .thr = "(8,1)",
      .val = "(1,4)",
      .dst_bytes = 32},
     MT_EINJECTIVE,
     "copy: dst mode 2 has stride 0: values 0 and 3 of thread 0 write offset 0\n"},
    {{.type = "f32", .src = "(4,4):(1,4)", .dst = "(4,4):(1,3)"},
     MT_EINJECTIVE,
     "copy: dst: elements 3 and 4 write offset 3\n"},
    {{.type = "f32", .src = "(3,2):(1,3)", .dst = "(3,2):(2,5)"},
     MT_OK,
     "plan: copy f32"},

    /* Alignment. */
    {{.type = "f32",
      .src = "(8,8):(8,1)",
      .dst = "(8,8):(1,8)",
      .thr = "(8,2)",
      .val = "(1,4)",
      .atom = "UniversalCopy<uint128_t>"},
     MT_EALIGN,
     "copy: UniversalCopy<uint128_t> moves 4 elements at once, but dst value axis has "
     "stride 8, not "
     "1\nUniversalCopy<uint32_t> would do, or AutoVectorizingCopy"},
    {{.type = "f32",
      .src = "(8,8):(10,1)",
      .dst = "(8,8):(8,1)",
      .thr = "(8,2)",
      .val = "(1,4)",
      .atom = "UniversalCopy<uint128_t>"},
     MT_EALIGN,
     "but src thread axis has stride 10, not a multiple of 4 elements\n"
     "UniversalCopy<uint64_t> would do"},
    {{.type = "f32",
      .src = "(8,8):(8,1)",
      .dst = "(8,8):(8,1)",
      .thr = "(8,2)",
      .val = "(1,4)",
      .src_offset = 1,
      .atom = "UniversalCopy<uint128_t>"},
     MT_EALIGN,
     "but src begins 4 bytes past a multiple of 16 bytes\nUniversalCopy<uint32_t> would "
     "do"},
    {{.type = "f32",
      .src = "(8,8):(8,1)",
      .dst = "(8,8):(8,1)",
      .dst_unaligned = 8,
      .thr = "(8,2)",
      .val = "(1,4)",
      .atom = "UniversalCopy<uint128_t>"},
     MT_EALIGN,
     "but dst begins 8 bytes past a multiple of 16 bytes\nUniversalCopy<uint64_t> would "
     "do"},
    {{.type = "f32", .src = "8:1", .dst = "8:1", .src_unaligned = 2},
     MT_EALIGN,
     "copy: src: the buffer is not aligned to its elements of 4 bytes\n"},
    {{.type = "f32",
      .src = "(8,8):(8,1)",
      .dst = "(8,8):(8,1)",
      .thr = "(8,2)",
      .val = "(1,2)",
      .atom = "UniversalCopy<uint32_t>"},
     MT_OK,
     "vector: 4 bytes, 1 element\n"},

    /* Overlap. */
    {{.type = "f32", .src = "8:1", .dst = "8:1", .shared = true},
     MT_EOVERLAP,
     "copy: src and dst overlap: offset 0 of src is offset 0 of dst\n"},
    {{.type = "f32", .src = "8:1", .dst = "8:1", .shared = true, .dst_offset = 7},
     MT_EOVERLAP,
     "copy: src and dst overlap: offset 7 of src is offset 7 of dst\n"},
    {{.type = "f32", .src = "8:1", .dst = "8:1", .shared = true, .dst_unaligned = 8},
     MT_EOVERLAP,
     "copy: src and dst overlap: offset 2 of src is offset 0 of dst\n"},
    {{.type = "f32", .src = "8:2", .dst = "8:2", .shared = true, .dst_offset = 1},
     MT_OK,
     "plan:"},
    {{.type = "f32",
      .src = "(8,8):(16,1)",
      .dst = "(8,8):(16,1)",
      .shared = true,
      .dst_offset = 8},
     MT_OK,
     "plan:"},
    {{.type = "f32", .src = "8:1", .dst = "8:1", .shared = true, .dst_offset = 8},
     MT_OK,
     "plan:"},
};

static void check_rows (void) {
  char text[4096];
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mt_status s = plan_of(&rows[i].c, text, sizeof text);
    const char *at = strstr(text, rows[i].text);
    CHECK(s == rows[i].status, "row %d: %s: %s", (int)i, mt_status_name(s), text);
    CHECK(at && (s != MT_OK || strlen(rows[i].text) < 20 || rows[i].text[0] != 'p' ||
                 strcmp(at, rows[i].text) == 0),
          "row %d:\n%s", (int)i, text);
    if (getenv("MOONTILE_SHOW")) printf("%s\n\n", text);
  }
}

/* Like snprintf: cut anywhere, ended always, the length of the whole. */
static void check_format (void) {
  mt_layout a = parse("(64,64):(64,1)"), b = parse("(64,64):(1,64)");
  static float x[4096], y[4096];
  mt_tensor s = {a.node, MT_f32, x, sizeof x, 0, NULL};
  mt_tensor d = {b.node, MT_f32, y, sizeof y, 0, NULL};
  char whole[2048], part[2048];
  mt_plan *p;
  MUST(mt_plan_copy(&p, dev, NULL, &s, &d, err));
  size_t n = mt_plan_format(whole, sizeof whole, p);
  CHECK(n == strlen(whole) && n > 100 && whole[n - 1] != '\n', "%d", (int)n);
  CHECK(mt_plan_format(NULL, 0, p) == n, "without a buffer");
  for (size_t size = 1; size < n + 3; size++) {
    memset(part, '#', sizeof part);
    CHECK(mt_plan_format(part, size, p) == n, "length at %d", (int)size);
    CHECK(strlen(part) == (size <= n ? size - 1 : n), "end at %d", (int)size);
    CHECK(strncmp(part, whole, strlen(part)) == 0 && part[size] == '#', "text at %d",
          (int)size);
  }
  mt_plan_free(p);
  mt_plan_free(NULL);
}

/* Extents beyond 2^31 and their neighbours: planned and refused without a step
** outside. */
static void check_huge (void) {
  static const char *const huge[] = {"2147483647:0",
                                     "2147483648:0",
                                     "4294967296:0",
                                     "(65536,65536):(0,0)",
                                     "(2147483648,2147483648):(0,0)",
                                     "(4611686018427387904,1):(0,0)"};
  static float x[4];
  for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
    mt_layout a = parse(huge[i]), b;
    mt_layout shape;
    mt_plan *p = NULL;
    mt_err why = MT_NOERR;
    MUST(mt_shape(&shape, a.node, err));
    MUST(mt_layout_left(&b, shape.node, err));
    mt_tensor s = {a.node, MT_f32, x, sizeof x, 0, NULL};
    mt_tensor d = {b.node, MT_f32, x + 1, 4, 0, NULL};
    CHECK(mt_plan_copy(&p, dev, NULL, &s, &d, &why) != MT_OK && !p, "%s accepted",
          huge[i]);
  }
}

void test_plan (void) {
  MUST(mt_device_open(&dev, "cpu:checked", NULL, err));
  check_rows();
  check_format();
  check_huge();
  mt_device_close(dev);
}
