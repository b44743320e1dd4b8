/*
** copy_convert.c - copies that convert on the CPU: blocks of elements, by a carrier.
** SPDX-License-Identifier: MIT
*/
#include "types/convert.h"
#include "cpu/copy.h"
#include "desc/cast_desc.h"
#include "types/float.h"

enum { MT_BLOCK = 256 }; /* elements */

/* ---------------------------------------------------------------- loops */

/* A step of the size of the element is a constant: the loop can be a vector's. */
#define MT_EACH(STEP, DO)                                                                \
  if (step == (STEP)) {                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                    \
      const int64_t at = i * (STEP);                                                     \
      DO;                                                                                \
    }                                                                                    \
  } else {                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                    \
      const int64_t at = i * step;                                                       \
      DO;                                                                                \
    }                                                                                    \
  }

/* Elements are little endian, whatever the host is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MT_LITTLE_BITS(bits, bytes) (bits)
#define MT_MAKE_LITTLE(bits, bytes) (void)0
#else
#define MT_LITTLE_BITS(bits, bytes) mt_get_bits(&(bits), bytes)
#define MT_MAKE_LITTLE(bits, bytes) mt_put_bits(&(bits), bytes, bits)
#endif

/* The bits of an element. */
#define MT_BITS_1 uint8_t
#define MT_BITS_2 uint16_t
#define MT_BITS_4 uint32_t
#define MT_BITS_8 uint64_t

#define MT_LOADER(function, dtype, size, carrier, type)                                  \
  static void function(void *out, const char *src, int64_t step, int64_t n) {            \
    const mt_cast_type t = mt_cast_type_of(dtype);                                       \
    type *o = out;                                                                       \
    MT_EACH(size, MT_BITS_##size x; memcpy(&x, src + at, size);                          \
            o[i] = mt_cast_load_##carrier(MT_LITTLE_BITS(x, size), t))                   \
  }

#define MT_STORER(function, dtype, size, carrier, type)                                  \
  static void function(char *dst, int64_t step, const void *in, int64_t n) {             \
    const mt_cast_type t = mt_cast_type_of(dtype);                                       \
    const type *o = in;                                                                  \
    MT_EACH(size, MT_BITS_##size x = (MT_BITS_##size)mt_cast_store_##carrier(o[i], t);   \
            MT_MAKE_LITTLE(x, size); memcpy(dst + at, &x, size))                         \
  }

/* Of every type by every carrier, though not all of them go together. */
#define MT_DTYPE(name, kind, bytes, ...)                                                 \
  MT_LOADER(load_f32_##name, MT_##name, bytes, f32, uint32_t)                            \
  MT_LOADER(load_f64_##name, MT_##name, bytes, f64, uint64_t)                            \
  MT_LOADER(load_i64_##name, MT_##name, bytes, i64, int64_t)                             \
  MT_LOADER(load_u64_##name, MT_##name, bytes, u64, uint64_t)                            \
  MT_STORER(store_f32_##name, MT_##name, bytes, f32, uint32_t)                           \
  MT_STORER(store_f64_##name, MT_##name, bytes, f64, uint64_t)                           \
  MT_STORER(store_i64_##name, MT_##name, bytes, i64, int64_t)                            \
  MT_STORER(store_u64_##name, MT_##name, bytes, u64, uint64_t)
#include "moontile/dtypes.def"

enum { f32 = MT_CARRY_F32, f64 = MT_CARRY_F64, i64 = MT_CARRY_I64, u64 = MT_CARRY_U64 };

static mt_cast_load *const loaders[MT_NDTYPE][MT_NCARRIER] = {
#define MT_DTYPE(name, ...)                                                              \
  {[f32] = load_f32_##name,                                                              \
   [f64] = load_f64_##name,                                                              \
   [i64] = load_i64_##name,                                                              \
   [u64] = load_u64_##name},
#include "moontile/dtypes.def"
};

static mt_cast_store *const storers[MT_NDTYPE][MT_NCARRIER] = {
#define MT_DTYPE(name, ...)                                                              \
  {[f32] = store_f32_##name,                                                             \
   [f64] = store_f64_##name,                                                             \
   [i64] = store_i64_##name,                                                             \
   [u64] = store_u64_##name},
#include "moontile/dtypes.def"
};

/* ---------------------------------------------------------------- tiles */

/* Along the axis whose steps in the destination are shorter. */
static void cast_tile (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  uint64_t block[MT_BLOCK];
  mt_cpu_axis x = t->a, y = t->b;
  int64_t nx = na, ny = nb;
  if (nb > 1 && (na == 1 || (x.dst < 0 ? -x.dst : x.dst) > (y.dst < 0 ? -y.dst : y.dst)))
    x = t->b, y = t->a, nx = nb, ny = na;
  for (int64_t j = 0; j < ny; j++)
    for (int64_t i = 0; i < nx; i += MT_BLOCK) {
      int64_t n = nx - i < MT_BLOCK ? nx - i : MT_BLOCK;
      t->load(block, src + j * y.src + i * x.src, x.src, n);
      t->store(dst + j * y.dst + i * x.dst, x.dst, block, n);
    }
}

/* What does not round to nearest goes element by element. */
static void round_tile (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                        int64_t nb) {
  mt_dtype from = (mt_dtype)MT_CAST_SRC(t->cast), to = (mt_dtype)MT_CAST_DST(t->cast);
  for (int64_t j = 0; j < nb; j++)
    for (int64_t i = 0; i < na; i++)
      mt_cast_rounded(to, dst + i * t->a.dst + j * t->b.dst, from,
                      src + i * t->a.src + j * t->b.src, MT_CAST_ROUNDING(t->cast));
}

mt_cpu_move *mt_cpu_caster (mt_cpu_tile *t, uint32_t cast) {
  uint32_t src = MT_CAST_SRC(cast), dst = MT_CAST_DST(cast);
  t->cast = cast;
  if (MT_CAST_ROUNDING(cast) != MT_ROUND_NEAREST) return round_tile;
  mt_carrier c = mt_cast_carrier(mt_cast_type_of(src), mt_cast_type_of(dst));
  t->load = loaders[src][c];
  t->store = storers[dst][c];
  return cast_tile;
}
