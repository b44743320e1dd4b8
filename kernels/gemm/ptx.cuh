/*
** ptx.cuh - the instructions of products: one struct each, under the name of its kernel.
** SPDX-License-Identifier: MIT
**
** A struct says what the kernels ask of an instruction, and runs it:
**   lanes      how many threads execute it together
**   A, B, C    registers of a thread; of a warpgroup's, C is that of 8 columns
**   word       of a register of A and B
**   bits       of a value of A and B in its register, the first in the low bits
**   bytes      of a value of A and B in memory
**   acc        what the registers of C hold
** Value v of a thread is in register v * bits / (bits of a word): the order of values of
** an atom is the order of registers of its instruction.
*/
#ifndef PTX_CUH
#define PTX_CUH

#include "kernels/gemm/number.cuh"

/* Volatile: what an instruction waits for is not told to the compiler. Tests on the host
** have an instruction of their own. */
#define MT_LIST(...) __VA_ARGS__
#ifndef MT_INSTRUCTION
#define MT_INSTRUCTION(name, text, out, in)                                              \
  asm volatile(text : MT_LIST out : MT_LIST in : "memory")
#define MT_BARRIER(text, id) asm volatile(text : : "r"(id) : "memory")
#define MT_ORDER(text) asm volatile(text : : : "memory")
#endif

namespace mt {

/* ------------------------------------------------------------------ accumulators */

/* number: what a value becomes; a sum is rounded to what the registers hold. */
struct acc_f32 {
  typedef float word;
  typedef double number;
  enum { per = 1 }; /* values of a register */
  static MT_INLINE number get (const word *c, int v) { return c[v]; }
  static MT_INLINE number sum (number x, number y) { return (float)(x + y); }
};

struct acc_f64 {
  typedef double word;
  typedef double number;
  enum { per = 1 };
  static MT_INLINE number get (const word *c, int v) { return c[v]; }
  static MT_INLINE number sum (number x, number y) { return x + y; }
};

struct acc_f16 {
  typedef uint32_t word;
  typedef double number;
  enum { per = 2 };
  static MT_INLINE number get (const word *c, int v) {
    return read_float(MT_f16, c[v / 2] >> 16 * (v % 2) & 0xffff);
  }
  static MT_INLINE number sum (number x, number y) {
    return read_float(MT_f16, write_float(MT_f16, x + y));
  }
};

struct acc_s32 {
  typedef uint32_t word;
  typedef int64_t number;
  enum { per = 1 };
  static MT_INLINE number get (const word *c, int v) { return (int32_t)c[v]; }
  static MT_INLINE number sum (number x, number y) { return (int32_t)(x + y); }
};

/* Of the instructions with .satfinite. */
struct acc_s32_sat : acc_s32 {
  static MT_INLINE number sum (number x, number y) {
    const number v = x + y;
    return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
  }
};

/* ------------------------------------------------------------------ registers in text */

/* The operands D, A, B, C of mma.sync by their numbers of registers; C is D. */
#define MT_TEXT_112 " {%0, %1}, {%2}, {%3}, {%0, %1};"
#define MT_TEXT_212 " {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
#define MT_TEXT_422 " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
#define MT_TEXT_214 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
#define MT_TEXT_424 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define MT_TEXT_844                                                                      \
  " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15},"         \
  " {%0, %1, %2, %3};"

/* Their constraints; registers of A and B: u32 or f64. */
#define MT_F32(x) "f"(__uint_as_float(x))
#define MT_F64(x) "d"(__longlong_as_double(x))
#define MT_U32(x) "r"(x)
#define MT_OUT_2(k) "+" k(c[0]), "+" k(c[1])
#define MT_OUT_4(k) MT_OUT_2(k), "+" k(c[2]), "+" k(c[3])
#define MT_IN_1(k, x) k(x[0])
#define MT_IN_2(k, x) k(x[0]), k(x[1])
#define MT_IN_4(k, x) MT_IN_2(k, x), k(x[2]), k(x[3])
#define MT_IN_8(k, x) MT_IN_4(k, x), k(x[4]), k(x[5]), k(x[6]), k(x[7])

#define MT_LETTER_f16 "r"
#define MT_LETTER_s32 "r"
#define MT_LETTER_s32_sat "r"
#define MT_LETTER_f32 "f"
#define MT_LETTER_f64 "d"

/* ------------------------------------------------------------------ a thread */

#define MT_FMA(type, word_, size, in)                                                    \
  struct fma_##type {                                                                    \
    enum { lanes = 1, A = 1, B = 1, C = 1, bits = 8 * size, bytes = size };              \
    typedef acc_##type acc;                                                              \
    typedef word_ word;                                                                  \
    static MT_INLINE void run (acc::word *c, const word *a, const word *b) {             \
      MT_INSTRUCTION(fma_##type, "fma.rn." #type " %0, %1, %2, %0;",                     \
                     ("+" MT_LETTER_##type(c[0])), (in(a[0]), in(b[0])));                \
    }                                                                                    \
  };

/*     type  word     size  in */
MT_FMA(f32, uint32_t, 4, MT_F32)
MT_FMA(f64, uint64_t, 8, MT_F64)
#undef MT_FMA

/* ------------------------------------------------------------------ a warp */

#define MT_MMA_SYNC(name, text, a_, b_, c_, sum, word_, in, bits_, bytes_)               \
  struct mma_##name {                                                                    \
    enum { lanes = 32, A = a_, B = b_, C = c_, bits = bits_, bytes = bytes_ };           \
    typedef acc_##sum acc;                                                               \
    typedef word_ word;                                                                  \
    static MT_INLINE void run (acc::word *c, const word *a, const word *b) {             \
      MT_INSTRUCTION(mma_##name, "mma.sync.aligned." text MT_TEXT_##a_##b_##c_,          \
                     (MT_OUT_##c_(MT_LETTER_##sum)),                                     \
                     (MT_IN_##a_(in, a), MT_IN_##b_(in, b)));                            \
    }                                                                                    \
  };

#define MT_MMA_32(name, text, a, b, c, acc, bits, bytes)                                 \
  MT_MMA_SYNC(name, text, a, b, c, acc, uint32_t, MT_U32, bits, bytes)
/*        name               shape and types                         A B C  acc  bits
** and bytes of a value */
MT_MMA_32(16x8x8_f16_f16, "m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, f16, 16, 2)
MT_MMA_32(16x8x8_f32_f16, "m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, f32, 16, 2)
MT_MMA_32(16x8x16_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, f16, 16, 2)
MT_MMA_32(16x8x16_f32_f16, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, f32, 16, 2)
MT_MMA_32(16x8x8_f32_bf16, "m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, f32, 16, 2)
MT_MMA_32(16x8x16_f32_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, f32, 16, 2)
MT_MMA_32(16x8x4_f32_tf32, "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, f32, 32, 4)
MT_MMA_32(16x8x8_f32_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, f32, 32, 4)

#define MT_MMA_64(name, shape, a, b, c)                                                  \
  MT_MMA_SYNC(name, shape ".row.col.f64.f64.f64.f64", a, b, c, f64, uint64_t, MT_F64,    \
              64, 8)
/*        name         shape      A B C */
MT_MMA_64(8x8x4_f64, "m8n8k4", 1, 1, 2)
MT_MMA_64(16x8x4_f64, "m16n8k4", 2, 1, 4)
MT_MMA_64(16x8x8_f64, "m16n8k8", 4, 2, 4)
MT_MMA_64(16x8x16_f64, "m16n8k16", 8, 4, 4)

/* Integers: each pair of types, wrapping and saturating. */
#define MT_MMA_PAIR(mnk, shape, x, y, a, b, c, bits)                                     \
  MT_MMA_32(mnk##_##x##_##y, shape ".row.col.s32." #x "." #y ".s32", a, b, c, s32, bits, \
            1)                                                                           \
  MT_MMA_32(mnk##_##x##_##y##_sat, shape ".row.col.satfinite.s32." #x "." #y ".s32", a,  \
            b, c, s32_sat, bits, 1)
#define MT_MMA_INT(mnk, shape, s, u, a, b, c, bits)                                      \
  MT_MMA_PAIR(mnk, shape, s, s, a, b, c, bits)                                           \
  MT_MMA_PAIR(mnk, shape, s, u, a, b, c, bits)                                           \
  MT_MMA_PAIR(mnk, shape, u, s, a, b, c, bits)                                           \
  MT_MMA_PAIR(mnk, shape, u, u, a, b, c, bits)
/*         M N K    shape       types   A B C  bits */
MT_MMA_INT(8x8x16, "m8n8k16", s8, u8, 1, 1, 2, 8)
MT_MMA_INT(16x8x16, "m16n8k16", s8, u8, 2, 1, 4, 8)
MT_MMA_INT(16x8x32, "m16n8k32", s8, u8, 4, 2, 4, 8)
MT_MMA_INT(8x8x32, "m8n8k32", s4, u4, 1, 1, 2, 4)
MT_MMA_INT(16x8x32, "m16n8k32", s4, u4, 2, 1, 4, 4)
MT_MMA_INT(16x8x64, "m16n8k64", s4, u4, 4, 2, 4, 4)

#define MT_MMA_BIT(mnk, shape, op, a, b, c)                                              \
  MT_MMA_32(mnk##_u1_##op, shape ".row.col.s32.b1.b1.s32." #op ".popc", a, b, c, s32, 1, \
            1)
/*         M N K     shape        op   A B C */
MT_MMA_BIT(8x8x128, "m8n8k128", xor, 1, 1, 2)
MT_MMA_BIT(8x8x128, "m8n8k128", and, 1, 1, 2)
MT_MMA_BIT(16x8x128, "m16n8k128", xor, 2, 1, 4)
MT_MMA_BIT(16x8x128, "m16n8k128", and, 2, 1, 4)
MT_MMA_BIT(16x8x256, "m16n8k256", xor, 4, 2, 4)
MT_MMA_BIT(16x8x256, "m16n8k256", and, 4, 2, 4)

/* 8-bit floats: each pair of types. */
#define MT_MMA_FLOAT8(acc, c, x, y)                                                      \
  MT_MMA_32(16x8x32_##acc##_##x##_##y, "m16n8k32.row.col." #acc "." #x "." #y "." #acc,  \
            4, 2, c, acc, 8, 1)
#define MT_PAIRS_OF_FLOAT8(X, ...)                                                       \
  X(__VA_ARGS__, e4m3, e4m3)                                                             \
  X(__VA_ARGS__, e4m3, e5m2)                                                             \
  X(__VA_ARGS__, e5m2, e4m3)                                                             \
  X(__VA_ARGS__, e5m2, e5m2)
MT_PAIRS_OF_FLOAT8(MT_MMA_FLOAT8, f32, 4)
MT_PAIRS_OF_FLOAT8(MT_MMA_FLOAT8, f16, 2)

/* ------------------------------------------------------------------ a warpgroup */

/* m64n8: side by side they give what a wider one gives. A and B lie in shared memory
** K-major without a swizzle, whatever their tensors are. Scales are 1; `tail`: what they
** and the majors are called for these types, of A in shared memory and in registers. */
#define MT_WGMMA_TEXT(first, text, d, a, b, tail)                                        \
  "{ .reg .pred p; setp.ne.b32 p, %" first ", 0; wgmma.mma_async.sync.aligned." text     \
  " {" d "}, " a ", " b ", p" tail "; }"
#define MT_WGMMA_SS_4(text, tail)                                                        \
  MT_WGMMA_TEXT("6", text, "%0, %1, %2, %3", "%4", "%5", tail)
#define MT_WGMMA_SS_2(text, tail) MT_WGMMA_TEXT("4", text, "%0, %1", "%2", "%3", tail)
#define MT_WGMMA_RS_4(text, tail)                                                        \
  MT_WGMMA_TEXT("9", text, "%0, %1, %2, %3", "{%4, %5, %6, %7}", "%8", tail)
#define MT_WGMMA_RS_2(text, tail)                                                        \
  MT_WGMMA_TEXT("7", text, "%0, %1", "{%2, %3, %4, %5}", "%6", tail)

#define MT_WGMMA(name, text, c_, sum, size, ss_tail, rs_tail)                            \
  struct wgmma_ss_##name {                                                               \
    enum { lanes = 128, A = 1, B = 1, C = c_, bits = 8 * size, bytes = size };           \
    typedef acc_##sum acc;                                                               \
    enum { a_shared = true }; /* its word, and B, are descriptors */                     \
    typedef uint64_t word;                                                               \
    static MT_INLINE void run (acc::word *c, const word *a, uint64_t b) {                \
      MT_INSTRUCTION(wgmma_ss_##name, MT_WGMMA_SS_##c_(text, ss_tail),                   \
                     (MT_OUT_##c_(MT_LETTER_##sum)), ("l"(a[0]), "l"(b), "r"(1)));       \
    }                                                                                    \
  };                                                                                     \
  struct wgmma_rs_##name {                                                               \
    enum { lanes = 128, A = 4, B = 1, C = c_, bits = 8 * size, bytes = size };           \
    typedef acc_##sum acc;                                                               \
    enum { a_shared = false };                                                           \
    typedef uint32_t word;                                                               \
    static MT_INLINE void run (acc::word *c, const word *a, uint64_t b) {                \
      MT_INSTRUCTION(wgmma_rs_##name, MT_WGMMA_RS_##c_(text, rs_tail),                   \
                     (MT_OUT_##c_(MT_LETTER_##sum)),                                     \
                     (MT_IN_4(MT_U32, a), "l"(b), "r"(1)));                              \
    }                                                                                    \
  };

/*       name       shape and types           C  acc  size  SS              RS */
MT_WGMMA(f16_f16, "m64n8k16.f16.f16.f16", 2, f16, 2, ", 1, 1, 0, 0", ", 1, 1, 0")
MT_WGMMA(f32_f16, "m64n8k16.f32.f16.f16", 4, f32, 2, ", 1, 1, 0, 0", ", 1, 1, 0")
MT_WGMMA(f32_bf16, "m64n8k16.f32.bf16.bf16", 4, f32, 2, ", 1, 1, 0, 0", ", 1, 1, 0")
MT_WGMMA(f32_tf32, "m64n8k8.f32.tf32.tf32", 4, f32, 4, ", 1, 1", ", 1, 1")

#define MT_WGMMA_FLOAT8(acc, c, x, y)                                                    \
  MT_WGMMA(acc##_##x##_##y, "m64n8k32." #acc "." #x "." #y, c, acc, 1, ", 1, 1", ", 1, 1")
MT_PAIRS_OF_FLOAT8(MT_WGMMA_FLOAT8, f32, 4)
MT_PAIRS_OF_FLOAT8(MT_WGMMA_FLOAT8, f16, 2)

#define MT_WGMMA_INT(x, y)                                                               \
  MT_WGMMA(x##_##y, "m64n8k32.s32." #x "." #y, 4, s32, 1, "", "")                        \
  MT_WGMMA(x##_##y##_sat, "m64n8k32.s32." #x "." #y ".satfinite", 4, s32_sat, 1, "", "")
MT_WGMMA_INT(s8, s8)
MT_WGMMA_INT(s8, u8)
MT_WGMMA_INT(u8, s8)
MT_WGMMA_INT(u8, u8)

/* Before the first instruction that uses what registers hold. */
MT_INLINE void wgmma_begin () { MT_ORDER("wgmma.fence.sync.aligned;"); }
/* Then the registers of C are there, and shared memory may be written again. */
MT_INLINE void wgmma_end () {
  MT_ORDER("wgmma.commit_group.sync.aligned;");
  MT_ORDER("wgmma.wait_group.sync.aligned 0;");
}
/* After writing what an instruction will read from shared memory. */
MT_INLINE void shared_written () { MT_ORDER("fence.proxy.async.shared::cta;"); }
/* Of the 128 threads with the same id, from 1 on. */
MT_INLINE void warpgroup_barrier (uint32_t id) { MT_BARRIER("bar.sync %0, 128;", id); }

} // namespace mt
#endif
