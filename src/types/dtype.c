/*
** dtype.c - data types: names, sizes, and one element to and from a number.
** SPDX-License-Identifier: MIT
*/
#include "types/dtype.h"
#include "types/float.h"
#include "core/error.h"

typedef struct mt_dtype_row {
  char name[5];
  uint8_t kind, bytes, rank, sum;
  mt_float f; /* 0: an integer */
} mt_dtype_row;

static const mt_dtype_row dtypes[] = {
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, npy, numpy, rank, sum)     \
  {#name, MT_KIND_##kind, bytes, rank, MT_##sum, {e, m, MT_TOP_##top}},
#include "moontile/dtypes.def"
};

/* What C++, CuTe's DSL and PyTorch call them, without the _t at the end, in small
** letters; NumPy's names are in the rows. */
static const struct {
  const char *name;
  mt_dtype d;
} aliases[] = {{"half", MT_f16},          {"float", MT_f32},
               {"double", MT_f64},        {"int", MT_i32},
               {"float_e4m3", MT_e4m3},   {"float_e5m2", MT_e5m2},
               {"float8e4m3fn", MT_e4m3}, {"float8e5m2", MT_e5m2},
               {"boolean", MT_bool},      {"fp16", MT_f16},
               {"fp32", MT_f32},          {"fp64", MT_f64},
               {"__half", MT_f16},        {"nv_bfloat16", MT_bf16},
               {"__nv_bfloat16", MT_bf16}};

static const char *const numpy_names[] = {
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, npy, numpy, ...) numpy,
#include "moontile/dtypes.def"
};

static const char names[] =
#define MT_DTYPE(name, ...) " " #name
#include "moontile/dtypes.def"
    ;

const char *mt_dtype_name (mt_dtype d) {
  return (unsigned)d < MT_NDTYPE ? dtypes[d].name : "?";
}

size_t mt_dtype_size (mt_dtype d) {
  return (unsigned)d < MT_NDTYPE ? dtypes[d].bytes : 0;
}

int mt_dtype_kind (mt_dtype d) { return dtypes[d].kind; }
bool mt_is_float_type (mt_dtype d) { return dtypes[d].kind == MT_KIND_FLOAT; }
int mt_dtype_rank (mt_dtype d) { return dtypes[d].rank; }
mt_dtype mt_dtype_sum (mt_dtype d) { return (mt_dtype)dtypes[d].sum; }

/* Whether a name of n letters is this one, in capitals or not. */
static bool is_name (const char *name, size_t n, const char *this_one) {
  for (size_t i = 0; i < n; i++) {
    char c = name[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != this_one[i]) return false;
  }
  return this_one[n] == '\0';
}

/* Behind its namespaces: cutlass::half_t, torch.float16. */
static const char *last_part (const char *name) {
  const char *last = name;
  for (const char *p = name; *p; p++)
    if ((*p == ':' || *p == '.') && p[1]) last = p + 1;
  return last;
}

/* MT_NDTYPE: none has this name of n letters. */
static mt_dtype named (const char *name, size_t n) {
  for (int d = 0; d < MT_NDTYPE; d++)
    if (is_name(name, n, numpy_names[d])) return (mt_dtype)d;
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (is_name(name, n, aliases[i].name)) return aliases[i].d;
  return MT_NDTYPE;
}

static mt_dtype find (const char *name) {
  name = last_part(name);
  size_t n = strlen(name);
  for (int d = 0; d < MT_NDTYPE; d++)
    if (strcmp(name, dtypes[d].name) == 0) return (mt_dtype)d;
  return named(name, n > 2 && strcmp(name + n - 2, "_t") == 0 ? n - 2 : n);
}

mt_status mt_dtype_find (mt_dtype *out, const char *name, mt_err *err) {
  MT_CHECK(name, err, "dtype: a name expected");
  *out = find(name);
  if (*out < MT_NDTYPE) return MT_OK;
  return mt_fail(err, MT_EINVAL, "unknown dtype '%.32s'\n  the dtypes are:%s", name,
                 names);
}

/* A double that rounds to every narrower float as the integer i does: i itself where it
** has 53 bits, else i rounded to odd. */
static double sticky_double (int64_t i) {
  uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  if (u >> 53 && (u & 1023)) u = (u & ~1023ull) | 1024;
  return i < 0 ? -(double)u : (double)u;
}

/* ---------------------------------------------------------------- elements */

static bool is_signed (mt_dtype d) { return dtypes[d].kind == MT_KIND_INT; }

/* The least and the largest integer of a type, not u64. */
static void int_range (mt_dtype d, int64_t *lo, int64_t *hi) {
  int bits = d == MT_bool ? 1 : 8 * dtypes[d].bytes;
  *hi = is_signed(d) ? INT64_MAX >> (64 - bits) : INT64_MAX >> (63 - bits);
  *lo = is_signed(d) ? -*hi - 1 : 0;
}

/* The integer that v is, if it is one; those of u64 beyond 2^63 as they wrap. */
static bool to_integer (mt_dtype d, mt_number v, int64_t *out) {
  const double two63 = 9223372036854775808.0;
  if (v.isint) {
    *out = v.i;
    return true;
  }
  if (d == MT_u64 && v.f >= two63 && v.f < 2 * two63) {
    *out = (int64_t)(uint64_t)v.f;
    return true;
  }
  if (!(v.f >= (d == MT_u64 ? 0 : -two63) && v.f < two63)) return false;
  *out = (int64_t)v.f;
  return (double)*out == v.f;
}

static mt_status store_integer (mt_dtype d, void *p, mt_number v, mt_err *err) {
  int64_t i, lo, hi;
  const char *name = dtypes[d].name;
  if (!to_integer(d, v, &i)) {
    if (d == MT_u64)
      return mt_fail(err, MT_ERANGE, "u64: %.17g is not an integer from 0 to 2^64-1",
                     v.f);
    int_range(d, &lo, &hi);
    return mt_fail(err, MT_ERANGE, "%s: %.17g is not an integer from %lld to %lld", name,
                   v.f, (long long)lo, (long long)hi);
  }
  if (d != MT_u64) {
    int_range(d, &lo, &hi);
    if (i < lo || i > hi)
      return mt_fail(err, MT_ERANGE, "%s: %lld is not in the range from %lld to %lld",
                     name, (long long)i, (long long)lo, (long long)hi);
  }
  mt_put_bits(p, dtypes[d].bytes, (uint64_t)i);
  return MT_OK;
}

mt_number mt_load_element (mt_dtype d, const void *p) {
  mt_number v = {true, 0, 0};
  if ((unsigned)d >= MT_NDTYPE) return v;
  int bytes = dtypes[d].bytes;
  uint64_t bits = mt_get_bits(p, bytes);
  if (dtypes[d].f.e) {
    v.isint = false;
    v.f = mt_float_decode(bits, dtypes[d].f);
  } else if (d == MT_bool) {
    v.i = bits != 0;
  } else {
    uint64_t sign = is_signed(d) ? 1ull << (8 * bytes - 1) : 0;
    v.i = (int64_t)((bits ^ sign) - sign);
  }
  return v;
}

mt_status mt_store_element (mt_dtype d, void *p, mt_number v, mt_err *err) {
  MT_CHECK((unsigned)d < MT_NDTYPE, err, "store: there is no dtype number %d", (int)d);
  if (!dtypes[d].f.e) return store_integer(d, p, v, err);
  double f = !v.isint ? v.f : d == MT_f64 ? (double)v.i : sticky_double(v.i);
  mt_put_bits(p, dtypes[d].bytes, mt_float_encode(f, dtypes[d].f));
  return MT_OK;
}
