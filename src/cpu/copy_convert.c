/*
** copy_convert.c - copies that convert on the CPU: blocks of elements, by a carrier.
** SPDX-License-Identifier: MIT
*/
#include "types/convert.h"
#include "cpu/copy.h"
#include "cpu/copy_isas.h"
#include "desc/cast_desc.h"
#include "core/simd.h"
#include "types/float.h"

enum {
  MT_BLOCK = 256,        /* elements */
  MT_LEASTSTREAM = 1024, /* bytes of a run that goes past the caches */
  MT_TURNED = 32 << 10,  /* bytes of a tile */
  MT_LINE = 64
};

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

#define MT_LOADER(isa, function, dtype, size, carrier, type)                             \
  MT_CAST_FOR_##isa static void function##_##isa(void *out, const char *src,             \
                                                 int64_t step, int64_t n) {              \
    const mt_cast_type t = mt_cast_type_of(dtype);                                       \
    type *o = out;                                                                       \
    MT_EACH(size, MT_BITS_##size x; memcpy(&x, src + at, size);                          \
            o[i] = mt_cast_load_##carrier(MT_LITTLE_BITS(x, size), t))                   \
  }

#define MT_STORER(isa, function, dtype, size, carrier, type)                             \
  MT_CAST_FOR_##isa static void function##_##isa(char *dst, int64_t step,                \
                                                 const void *in, int64_t n) {            \
    const mt_cast_type t = mt_cast_type_of(dtype);                                       \
    const type *o = in;                                                                  \
    MT_EACH(size, MT_BITS_##size x = (MT_BITS_##size)mt_cast_store_##carrier(o[i], t);   \
            MT_MAKE_LITTLE(x, size); memcpy(dst + at, &x, size))                         \
  }

/* Of every type by every carrier, though not all of them go together. */
#define MT_STEPS(isa, _name, dtype, bytes)                                               \
  MT_LOADER(isa, load_f32##_name, dtype, bytes, f32, uint32_t)                           \
  MT_LOADER(isa, load_f64##_name, dtype, bytes, f64, uint64_t)                           \
  MT_LOADER(isa, load_i64##_name, dtype, bytes, i64, int64_t)                            \
  MT_LOADER(isa, load_u64##_name, dtype, bytes, u64, uint64_t)                           \
  MT_STORER(isa, store_f32##_name, dtype, bytes, f32, uint32_t)                          \
  MT_STORER(isa, store_f64##_name, dtype, bytes, f64, uint64_t)                          \
  MT_STORER(isa, store_i64##_name, dtype, bytes, i64, int64_t)                           \
  MT_STORER(isa, store_u64##_name, dtype, bytes, u64, uint64_t)
#define MT_DTYPE(name, kind, bytes, ...) MT_CAST_ISAS(MT_STEPS, _##name, MT_##name, bytes)
#include "moontile/dtypes.def"

enum { f32 = MT_CARRY_F32, f64 = MT_CARRY_F64, i64 = MT_CARRY_I64, u64 = MT_CARRY_U64 };

/* Of one instruction set. */
typedef struct mt_cast_steps {
  mt_cast_load *load[MT_NDTYPE][MT_NCARRIER];
  mt_cast_store *store[MT_NDTYPE][MT_NCARRIER];
} mt_cast_steps;

#define MT_STEPS_OF(isa, step, _name)                                                    \
  {[f32] = step##_f32##_name##_##isa,                                                    \
   [f64] = step##_f64##_name##_##isa,                                                    \
   [i64] = step##_i64##_name##_##isa,                                                    \
   [u64] = step##_u64##_name##_##isa},

#ifdef MT_CAST_FOR_avx2
static const mt_cast_steps steps_avx512 = {{
#define MT_DTYPE(name, ...) MT_STEPS_OF(avx512, load, _##name)
#include "moontile/dtypes.def"
                                           },
                                           {
#define MT_DTYPE(name, ...) MT_STEPS_OF(avx512, store, _##name)
#include "moontile/dtypes.def"
                                           }};
static const mt_cast_steps steps_avx2 = {{
#define MT_DTYPE(name, ...) MT_STEPS_OF(avx2, load, _##name)
#include "moontile/dtypes.def"
                                         },
                                         {
#define MT_DTYPE(name, ...) MT_STEPS_OF(avx2, store, _##name)
#include "moontile/dtypes.def"
                                         }};
#endif
static const mt_cast_steps steps_plain = {{
#define MT_DTYPE(name, ...) MT_STEPS_OF(plain, load, _##name)
#include "moontile/dtypes.def"
                                          },
                                          {
#define MT_DTYPE(name, ...) MT_STEPS_OF(plain, store, _##name)
#include "moontile/dtypes.def"
                                          }};

static const mt_cast_steps *choose_steps (void) {
#ifdef MT_CAST_FOR_avx2
  if (MT_CAST_HAS_avx512) return &steps_avx512;
  if (MT_CAST_HAS_avx2) return &steps_avx2;
#endif
  return &steps_plain;
}

/* ---------------------------------------------------------------- tiles */

/* The lines of the next block but one, while this one is worked on. */
#define MT_FETCH_BLOCK(src, step)                                                        \
  if ((step) <= 8)                                                                       \
    for (int64_t line = 0; line < MT_BLOCK * (step); line += MT_LINE)                    \
      mt_prefetch(                                                                       \
          (const void *)((uintptr_t)(src) + (uintptr_t)(2 * MT_BLOCK * (step) + line)));

/* In one step, if there is one for elements that lie together, and it is right for these.
** One of the two is enough where the elements of a side lie together and are what the
** carrier holds. */
static inline void cast_block (const mt_cpu_tile *t, void *block, char *dst, int64_t to,
                               const char *src, int64_t from, int64_t n) {
  if (t->direct && from == t->from && to == t->to && t->direct(dst, src, n)) return;
  if (from != 0 && from == t->carried[MT_SRC]) {
    t->store(dst, to, src, n);
  } else if (to != 0 && to == t->carried[MT_DST]) {
    t->load(dst, src, from, n);
  } else {
    t->load(block, src, from, n);
    t->store(dst, to, block, n);
  }
}

/* n elements, `from` bytes apart, to elements of `to` bytes that lie together. */
static void cast_run (const mt_cpu_tile *t, char *out, int64_t to, const char *src,
                      int64_t from, int64_t n) {
  uint64_t block[MT_BLOCK];
  for (int64_t i = 0; i < n; i += MT_BLOCK) {
    int64_t some = n - i < MT_BLOCK ? n - i : MT_BLOCK;
    MT_FETCH_BLOCK(src + i * from, from)
    cast_block(t, block, out + i * to, to, src + i * from, from, some);
  }
}

static void cast_strided (const mt_cpu_tile *t, const char *src, char *dst, mt_cpu_axis x,
                          int64_t n) {
  uint64_t block[MT_BLOCK];
  for (int64_t i = 0; i < n; i += MT_BLOCK) {
    int64_t some = n - i < MT_BLOCK ? n - i : MT_BLOCK;
    MT_FETCH_BLOCK(src + i * x.src, x.src)
    cast_block(t, block, dst + i * x.dst, x.dst, src + i * x.src, x.src, some);
  }
}

/* A run of the destination, past the caches. */
static void cast_streamed (const mt_cpu_tile *t, const char *src, char *dst,
                           mt_cpu_axis x, int64_t n) {
  _Alignas(64) char out[MT_BLOCK * 8];
  for (int64_t i = 0; i < n; i += MT_BLOCK) {
    int64_t some = n - i < MT_BLOCK ? n - i : MT_BLOCK;
    cast_run(t, out, x.dst, src + i * x.src, x.src, some);
    mt_cpu_put(t, dst + i * x.dst, out, some * x.dst);
  }
}

/* Along the axis whose steps in the destination are shorter. */
static void cast_tile (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                       int64_t nb) {
  mt_cpu_axis x = t->a, y = t->b;
  int64_t nx = na, ny = nb;
  if (nb > 1 && (na == 1 || (x.dst < 0 ? -x.dst : x.dst) > (y.dst < 0 ? -y.dst : y.dst)))
    x = t->b, y = t->a, nx = nb, ny = na;
  bool streams = t->stream && x.dst == t->to && nx * x.dst >= MT_LEASTSTREAM;
  for (int64_t j = 0; j < ny; j++)
    (streams ? cast_streamed : cast_strided)(t, src + j * y.src, dst + j * y.dst, x, nx);
}

/* The sides run along different axes: runs of the source, converted, are transposed. */
static void cast_turned (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                         int64_t nb) {
  _Alignas(64) char turned[MT_TURNED];
  mt_cpu_tile u = *t;
  u.unit = u.b.src = t->to;
  u.a.src = nb * t->to;
  for (int64_t i = 0; i < na; i++)
    cast_run(t, turned + i * u.a.src, t->to, src + i * t->a.src, t->b.src, nb);
  t->turn(&u, turned, dst, na, nb);
}

/* Whether such tiles do it, of at most ta by tb. */
bool mt_cpu_turns (mt_cpu_tile *t, mt_cpu_move **move, int64_t *ta, int64_t *tb) {
  if (*move != cast_tile || t->a.dst != t->to || t->a.extent < 16 || t->b.extent < 16)
    return false;
  t->turn = mt_cpu_turner(t->to, t->b.dst, t->a.extent, t->b.extent, ta, tb);
  if (t->turn == NULL || *ta * *tb * t->to > MT_TURNED) return false;
  *move = cast_turned;
  return true;
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

/* Bytes of an element that is its carrier; else 0. */
static int64_t carried_bytes (uint32_t dtype, mt_carrier c) {
  static const mt_dtype same[MT_NCARRIER] =
      {[f32] = MT_f32, [f64] = MT_f64, [i64] = MT_i64, [u64] = MT_u64};
  const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  return little && dtype == (uint32_t)same[c] ? mt_cast_type_of(dtype).bytes : 0;
}

mt_cpu_move *mt_cpu_caster (mt_cpu_tile *t, uint32_t cast) {
  uint32_t src = MT_CAST_SRC(cast), dst = MT_CAST_DST(cast);
  t->cast = cast;
  t->to = mt_cast_type_of(dst).bytes;
  t->from = mt_cast_type_of(src).bytes;
  if (MT_CAST_ROUNDING(cast) != MT_ROUND_NEAREST) return round_tile;
  mt_carrier c = mt_cast_carrier(mt_cast_type_of(src), mt_cast_type_of(dst));
  const mt_cast_steps *steps = choose_steps();
  t->carried[MT_SRC] = carried_bytes(src, c);
  t->carried[MT_DST] = carried_bytes(dst, c);
  t->load = steps->load[src][c];
  t->store = steps->store[dst][c];
  t->direct = mt_cpu_direct((mt_dtype)src, (mt_dtype)dst);
  return cast_tile;
}
