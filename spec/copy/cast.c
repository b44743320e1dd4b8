/*
** cast.c - conversions: every pair of types against numbers as mt_load_element and
** mt_store_element have them, one by one and in copies on "cpu" and "cpu:checked".
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "exec_test.h"

/* ---------------------------------------------------------------- one element */

static bool is_float (mt_dtype d) {
  mt_number one = {true, 1, 0};
  unsigned char p[8] = {0};
  MUST(mt_store_element(d, p, one, err));
  return !mt_load_element(d, p).isint;
}

/* The number in 64 bits that the type's largest or smallest is. */
static int64_t end_of (mt_dtype d, bool high) {
  int bits = 8 * (int)mt_dtype_size(d);
  bool sign = mt_dtype_name(d)[0] == 'i';
  if (!sign) return high ? (int64_t)(~UINT64_C(0) >> (64 - bits)) : 0;
  return high ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
}

/* Ties to even. */
static double nearest (double f) {
  double down = floor(f), rest = f - down;
  if (rest != 0.5) return rest < 0.5 ? down : down + 1;
  return fmod(down, 2) == 0 ? down : down + 1;
}

static mt_number clamped (mt_dtype d, mt_number v, bool unsign) {
  mt_number out = {true, 0, 0};
  int64_t low = end_of(d, false), high = end_of(d, true);
  if (v.isint && unsign && v.i < 0) { /* 2^63 and more */
    out.i = high;
  } else if (v.isint && d == MT_u64) {
    out.i = v.i < 0 ? 0 : v.i;
  } else if (v.isint) {
    out.i = v.i < low ? low : v.i > high ? high : v.i;
  } else if (v.f == v.f) {
    double f = nearest(v.f), top = ldexp(1, 8 * (int)mt_dtype_size(d) - (low < 0));
    if (f >= top) out.i = high;
    else if (f < (double)low) out.i = low;
    else out.i = f >= 9223372036854775808.0 ? (int64_t)(uint64_t)f : (int64_t)f;
  }
  return out;
}

/* What is expected, by way of a number. u64 beyond 2^63 is split where it becomes a
** float: its last bit sticks. */
static void expect (mt_dtype to, void *dst, mt_dtype from, const void *src) {
  mt_number v = mt_load_element(from, src);
  bool unsign = from == MT_u64;
  if (to == MT_bool) {
    *(unsigned char *)dst = v.isint ? v.i != 0 : v.f != 0;
  } else if (!is_float(to)) {
    MUST(mt_store_element(to, dst, clamped(to, v, unsign), err));
  } else {
    if (v.isint && unsign && v.i < 0) {
      uint64_t n = (uint64_t)v.i;
      v.isint = false;
      v.f = (double)(to == MT_f64 ? n : (n & 2047) ? (n & ~UINT64_C(2047)) | 2048 : n);
    }
    MUST(mt_store_element(to, dst, v, err));
  }
}

static void check_one (mt_dtype to, mt_dtype from, uint64_t bits) {
  unsigned char want[8] = {0}, got[8] = {0};
  expect(to, want, from, &bits);
  mt_cast_element(to, got, from, &bits);
  CHECK(memcmp(want, got, 8) == 0,
        "%s 0x%llx as %s: 0x%02x%02x%02x%02x, not "
        "0x%02x%02x%02x%02x",
        mt_dtype_name(from), (unsigned long long)bits, mt_dtype_name(to), got[3], got[2],
        got[1], got[0], want[3], want[2], want[1], want[0]);
}

/* ---------------------------------------------------------------- values */

/* Bits of a number of the type, near to where another type does something: an element of
** any type, with its last bits changed. */
static uint64_t draw (mt_dtype d) {
  unsigned char p[8] = {0}, q[8];
  uint64_t bits = 0;
  int size = (int)mt_dtype_size(d), kind = pick(4);
  for (int i = 0; i < 8; i++) q[i] = (unsigned char)next64();
  if (kind == 0) {
    memcpy(&bits, q, (size_t)size);
    return bits;
  }
  if (kind == 1) memset(q, pick(2) ? 0xff : 0, 8);
  if (kind == 2)
    for (int i = 0; i < 8; i++)
      if (pick(2)) q[i] = pick(2) ? 0xff : 0;
  mt_cast_element(d, p, (mt_dtype)pick(MT_NDTYPE), q);
  memcpy(&bits, p, (size_t)size);
  if (pick(2)) bits += (uint64_t)between(-3, 3);
  if (pick(4) == 0) bits ^= UINT64_C(1) << pick(8 * size);
  return size == 8 ? bits : bits & ((UINT64_C(1) << 8 * size) - 1);
}

static void elements (void) {
  for (int from = 0; from < MT_NDTYPE; from++)
    for (int to = 0; to < MT_NDTYPE; to++) {
      int bits = 8 * (int)mt_dtype_size((mt_dtype)from);
      begin_case(base_seed + (uint64_t)(from * MT_NDTYPE + to));
      if (from == to) continue;
      for (uint64_t x = 0; bits <= 16 && x < UINT64_C(1) << bits; x++)
        check_one((mt_dtype)to, (mt_dtype)from, x);
      for (long i = 0; bits > 16 && i < base_cases; i++)
        check_one((mt_dtype)to, (mt_dtype)from, draw((mt_dtype)from));
    }
}

/* ---------------------------------------------------------------- rows */

/* from, its number, to, the bits that are expected. */
static const struct {
  mt_dtype from;
  double x;
  mt_dtype to;
  uint64_t bits;
} rows[] = {
    {MT_f32, 1.00390625, MT_bf16, 0x3f80}, /* a tie, to even */
    {MT_f32, 1.01171875, MT_bf16, 0x3f82},
    {MT_f32, 3.4e38, MT_bf16, 0x7f80},
    {MT_f32, 65519, MT_f16, 0x7bff},
    {MT_f32, 65520, MT_f16, 0x7c00},
    {MT_f32, 2.98023224e-8, MT_f16, 0}, /* half of the smallest */
    {MT_f32, 2.98023260e-8, MT_f16, 1},
    {MT_f32, 2.5, MT_i8, 2},
    {MT_f32, 3.5, MT_i8, 4},
    {MT_f32, -2.5, MT_i8, 0xfe},
    {MT_f32, 127.6, MT_i8, 127},
    {MT_f32, -1e30, MT_i8, 0x80},
    {MT_f32, 1e30, MT_i32, 0x7fffffff},
    {MT_f32, -0.6, MT_u8, 0},
    {MT_f32, 254.5, MT_u8, 254},
    {MT_f64, NAN, MT_i64, 0},
    {MT_f64, 1e300, MT_i64, 0x7fffffffffffffff},
    {MT_f64, 1e300, MT_u64, 0xffffffffffffffff},
    {MT_f64, -1e300, MT_i64, 0x8000000000000000},
    {MT_f64, NAN, MT_bool, 1},
    {MT_f64, -0.0, MT_bool, 0},
    {MT_f64, 1e-320, MT_bool, 1},
    {MT_i32, 300, MT_u8, 255},
    {MT_i32, -1, MT_u64, 0},
    {MT_i32, 16777217, MT_f32, 0x4b800000},
    {MT_i32, 16842753, MT_bf16, 0x4b81}, /* above a tie: rounded once */
    {MT_i64, -9223372036854775808.0, MT_f32, 0xdf000000},
    {MT_u64, 9223372036854775808.0, MT_i64, 0x7fffffffffffffff},
    {MT_u64, 9223372036854775808.0, MT_f32, 0x5f000000},
    {MT_bf16, 1, MT_f64, 0x3ff0000000000000},
};

static void examples (void) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    uint64_t src = 0, got = 0;
    mt_number v = {false, 0, rows[i].x};
    MUST(mt_store_element(rows[i].from, &src, v, err));
    mt_cast_element(rows[i].to, &got, rows[i].from, &src);
    CHECK(got == rows[i].bits, "%s %.9g as %s: 0x%llx", mt_dtype_name(rows[i].from),
          rows[i].x, mt_dtype_name(rows[i].to), (unsigned long long)got);
  }
}

/* ---------------------------------------------------------------- copies */

typedef struct pair {
  mt_dtype from, to;
  view src, dst;
  memory in, out, want;
} pair;

static void naive (pair *x) {
  int64_t a, b, n = mt_size(x->src.layout.node);
  size_t e = mt_dtype_size(x->from), f = mt_dtype_size(x->to);
  memcpy(x->want.p, x->out.p, x->out.bytes);
  for (int64_t i = 0; i < n; i++) {
    MUST(mt_at(&a, x->src.layout.node, i, err));
    MUST(mt_at(&b, x->dst.layout.node, i, err));
    mt_cast_element(x->to, x->want.p + (size_t)(x->dst.offset + b) * f, x->from,
                    x->in.p + (size_t)(x->src.offset + a) * e);
  }
}

static void run_on (const char *name, pair *x) {
  mt_device *dev;
  mt_plan *p;
  char text[4096];
  memory got = exact_memory(x->out.bytes, 0);
  memcpy(got.p, x->out.p, got.bytes);
  mt_tensor s = {x->src.layout.node, x->from, x->in.p, x->in.bytes, x->src.offset, NULL};
  mt_tensor d = {x->dst.layout.node, x->to, got.p, got.bytes, x->dst.offset, NULL};
  MUST(mt_device_open(&dev, name, NULL, err));
  MUST(mt_plan_copy(&p, dev, NULL, &s, &d, err));
  mt_plan_format(text, sizeof text, p);
  MUST(mt_plan_launch(p, NULL, err));
  CHECK(memcmp(got.p, x->want.p, got.bytes) == 0, "%s: %s", name, text);
  mt_plan_free(p);
  mt_device_close(dev);
  free_memory(got);
}

static void copy_case (mt_layout shape, bool plain) {
  pair x = {.from = (mt_dtype)pick(MT_NDTYPE)};
  do x.to = (mt_dtype)pick(MT_NDTYPE);
  while (x.to == x.from);
  random_view(&x.src, shape.node, plain);
  random_view(&x.dst, shape.node, true);
  x.in = exact_memory((size_t)x.src.size * mt_dtype_size(x.from), 0);
  x.out = exact_memory((size_t)x.dst.size * mt_dtype_size(x.to), 0);
  x.want = exact_memory(x.out.bytes, 0);
  random_bytes(x.in);
  random_bytes(x.out);
  naive(&x);
  run_on("cpu", &x);
  run_on("cpu:checked", &x);
  free_memory(x.in);
  free_memory(x.out);
  free_memory(x.want);
}

/* ---------------------------------------------------------------- refusals */

static mt_status plan (const mt_tensor *s, const mt_tensor *d, mt_err *why) {
  mt_device *dev;
  mt_plan *p;
  MUST(mt_device_open(&dev, "cpu", NULL, err));
  mt_status status = mt_plan_copy(&p, dev, NULL, s, d, why);
  mt_plan_free(p);
  mt_device_close(dev);
  return status;
}

/* Each side is measured in elements of its own. */
static void refusals (void) {
  _Alignas(16) unsigned char m[64];
  mt_layout eight = parse("8:1");
  mt_err why = MT_NOERR;
  mt_tensor s = {eight.node, MT_f32, m, 32, 0, NULL};
  mt_tensor d = {eight.node, MT_f16, m + 32, 16, 0, NULL};
  CHECK(plan(&s, &d, &why) == MT_OK, "%s", why.text);
  d.data = m + 31;
  CHECK(plan(&s, &d, &why) == MT_EALIGN, "%s", why.text);
  d.data = m + 30;
  CHECK(plan(&s, &d, &why) == MT_EOVERLAP, "%s", why.text);
  CHECK(strstr(why.text, "copy: src and dst overlap: offset 7 of src shares bytes with "
                         "offset 0 of dst\n") == why.text,
        "%s", why.text);
  d.data = m + 32, d.bytes = 14;
  CHECK(plan(&s, &d, &why) == MT_ERANGE, "%s", why.text);
  d.bytes = 16, s.bytes = 31;
  CHECK(plan(&s, &d, &why) == MT_ERANGE, "%s", why.text);
}

/* In one buffer, between each other: what shares no byte is done. */
static void interleaved (void) {
  _Alignas(16) unsigned char m[64];
  mt_layout src = parse("8:2"), dst = parse("8:4"), turned = parse("8:-4");
  mt_err why = MT_NOERR;
  mt_tensor s = {src.node, MT_f32, m, 64, 0, NULL};
  mt_tensor d = {dst.node, MT_u16, m, 64, 2, NULL};
  CHECK(plan(&s, &d, &why) == MT_OK, "%s", why.text);
  d.offset = 3;
  CHECK(plan(&s, &d, &why) == MT_OK, "%s", why.text);
  d.offset = 1;
  CHECK(plan(&s, &d, &why) == MT_EOVERLAP, "%s", why.text);
  d.layout = turned.node, d.offset = 31;
  CHECK(plan(&s, &d, &why) == MT_OK, "%s", why.text);
}

void test_cast (void) {
  mt_layout shape;
  examples();
  refusals();
  interleaved();
  elements();
  for (long i = 0; i < base_cases / 20 + 100; i++) {
    begin_case(base_seed + 77777 + (uint64_t)i);
    if (pick(3)) random_shape(&shape, 4000);
    else shape = parse(pick(2) ? "(96,70)" : "(5,64,64)");
    copy_case(shape, pick(2));
  }
}
