/*
** copies.c - copies through the fake driver are those of the CPU, byte for byte.
** SPDX-License-Identifier: MIT
*/
#include "spec.h"

/* A row: atom, thr, val (NULL: any partition), type, and the layouts of both sides. */
typedef struct row {
  const char *atom, *thr, *val;
  mt_dtype dtype;
  const char *src, *dst;
} row;

static const row rows[] = {
    {NULL, NULL, NULL, MT_f32, "(64,96):(96,1)", "(64,96):(1,64)"},
    {NULL, NULL, NULL, MT_u8, "(61,43):(43,1)", "(61,43):(1,61)"},
    {NULL, NULL, NULL, MT_f64, "1000", "1000"},
    {NULL, NULL, NULL, MT_u8, "1003", "1003"},
    {NULL, NULL, NULL, MT_f16, "(8,9,10):(90,10,1)", "(8,9,10):(1,80,8)"},
    {NULL, NULL, NULL, MT_i16, "(8,(2,3)):(1,(24,8))", "(8,(2,3)):(6,(3,1))"},
    {NULL, NULL, NULL, MT_f32, "(5,0):(1,5)", "(5,0):(1,5)"},
    {NULL, NULL, NULL, MT_f32, "(16,16):(0,1)", "(16,16):(16,1)"},
    {"UniversalCopy<uint128_t>", "(32,8):(8,1)", "(1,4):(0,1)", MT_f32, "(128,96):(96,1)",
     "(128,96):(96,1)"},
    {"UniversalCopy<uint128_t>", "(32,8):(8,1)", "(1,4):(0,1)", MT_f32,
     "(127,100):(100,1)", "(127,100):(100,1)"},
    {"UniversalCopy<uint32_t>", "(32,8):(8,1)", "(1,4):(0,1)", MT_f32, "(127,99):(99,1)",
     "(127,99):(1,127)"},
    {"UniversalCopy<uint8_t>", "(4,8):(8,1)", "(3,5):(5,1)", MT_u8, "(61,43):(43,1)",
     "(61,43):(1,61)"},
    {"UniversalCopy<uint64_t>", "(4,8):(1,4)", "(4,1):(1,0)", MT_u16, "(64,24):(1,64)",
     "(64,24):(1,64)"},
    {"AutoVectorizingCopy", "(4,8):(8,1)", "(2,16):(16,1)", MT_u8, "(50,300):(304,1)",
     "(50,300):(304,1)"},
    {"AutoVectorizingCopy", "32", "8:1", MT_bf16, "1000", "1000"},
};

static mt_status parse (mt_layout *out, const char *text, mt_err *err) {
  return mt_parse(out, text, strlen(text), err);
}

/* n means n:1. */
static mt_status layout (mt_layout *out, const char *text, mt_err *err) {
  mt_layout shape;
  MT_TRY(parse(&shape, text, err));
  if (shape.node[0].tag == MT_INT) return mt_make_layout(out, shape.node, NULL, err);
  mt_copy_value(out, shape.node);
  return MT_OK;
}

static mt_status bytes_of (size_t *out, const char *text, mt_dtype dtype, mt_err *err) {
  mt_layout a;
  int64_t n;
  MT_TRY(layout(&a, text, err));
  MT_TRY(mt_cosize(&n, a.node, err));
  *out = (size_t)n * mt_dtype_size(dtype);
  return MT_OK;
}

static mt_status partition (mt_tiled_copy *out, const row *r, mt_err *err) {
  mt_layout thr, val;
  MT_TRY(layout(&thr, r->thr, err));
  MT_TRY(layout(&val, r->val, err));
  return mt_make_tiled_copy(out, r->atom, (int)mt_dtype_size(r->dtype) * 8, thr.node,
                            val.node, err);
}

static mt_status run_plan (mt_device *d, const row *r, mt_tensor *src, mt_tensor *dst,
                           mt_err *err) {
  mt_layout a, b;
  mt_tiled_copy c;
  mt_plan *p;
  MT_TRY(layout(&a, r->src, err));
  MT_TRY(layout(&b, r->dst, err));
  if (r->thr != NULL) MT_TRY(partition(&c, r, err));
  src->layout = a.node, dst->layout = b.node;
  src->dtype = dst->dtype = r->dtype;
  MT_TRY(mt_plan_copy(&p, d, r->thr ? &c : NULL, src, dst, err));
  mt_status s = mt_plan_launch(p, NULL, err);
  if (s == MT_OK) s = mt_synchronize(d, NULL, err);
  mt_plan_free(p);
  return s;
}

/* What is in dst after the copy on d of `from` into a buffer of zeros. */
static mt_status copy_on (mt_device *d, const row *r, const void *from, size_t nsrc,
                          void *to, size_t ndst, mt_err *err) {
  mt_tensor src = {.bytes = nsrc}, dst = {.bytes = ndst};
  MT_TRY(mt_malloc(d, &src.data, nsrc, err));
  mt_status s = mt_malloc(d, &dst.data, ndst, err);
  if (s == MT_OK) s = mt_upload(d, src.data, from, nsrc, err);
  if (s == MT_OK) s = run_plan(d, r, &src, &dst, err);
  if (s == MT_OK) s = mt_download(d, to, dst.data, ndst, err);
  mt_free(d, src.data, nsrc);
  mt_free(d, dst.data, ndst);
  return s;
}

static void test_row (mt_device *gpu, mt_device *cpu, const row *r) {
  enum { MOST = 1 << 16 };
  static unsigned char from[MOST], ours[MOST], theirs[MOST];
  mt_err err = MT_NOERR;
  size_t nsrc = 0, ndst = 0;
  EXPECT_STATUS(bytes_of(&nsrc, r->src, r->dtype, &err), MT_OK, err);
  EXPECT_STATUS(bytes_of(&ndst, r->dst, r->dtype, &err), MT_OK, err);
  for (size_t i = 0; i < nsrc; i++) from[i] = (unsigned char)(i * 2654435761u >> 13);
  memset(ours, 1, sizeof ours);
  memset(theirs, 2, sizeof theirs);
  EXPECT_STATUS(copy_on(gpu, r, from, nsrc, ours, ndst, &err), MT_OK, err);
  EXPECT_STATUS(copy_on(cpu, r, from, nsrc, theirs, ndst, &err), MT_OK, err);
  EXPECT(memcmp(ours, theirs, ndst) == 0, "%s -> %s differs", r->src, r->dst);
}

void spec_copies (void) {
  mt_device *gpu = NULL, *cpu = NULL;
  mt_err err = MT_NOERR;
  EXPECT_STATUS(spec_open(&gpu, "cuda", &err), MT_OK, err);
  EXPECT_STATUS(spec_open(&cpu, "cpu", &err), MT_OK, err);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) test_row(gpu, cpu, &rows[i]);
  mt_device_close(gpu);
  mt_device_close(cpu);
  spec_expect_clean("copies");
}
