/*
** wgmma.cuh - the instructions of a warpgroup that read both operands from shared memory.
** SPDX-License-Identifier: MIT
**
** wgmma<T, N>: 64 rows by N columns by 32 bytes of K. A row of the table at the end is a
** type of operands and sums; each has the widths 16, 64, 128, 160, 192 and 256.
*/
#ifndef WGMMA_CUH
#define WGMMA_CUH

#include "gemm/hopper_desc.h"

namespace mt {

/* Before the first instruction of a group that uses these registers. */
MT_INLINE void wgmma_fence () {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
MT_INLINE void wgmma_commit () {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/* At most N groups have not ended. */
template <int N> MT_INLINE void wgmma_wait () {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}

/* N sums that hold nothing: what other instructions made of them before is not carried
** into the next product, which would be held up by it. */
template <int N> MT_INLINE void wgmma_fresh (float *c) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "=f"(c[i]));
}
template <int N> MT_INLINE void wgmma_fresh (int32_t *c) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "=r"(c[i]));
}
template <int N> MT_INLINE void wgmma_fresh (uint32_t *c) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "=r"(c[i]));
}

/* Behind a wait: N sums are what the products made of them. The compiler knows nothing of
** what is on its way: it would read them before, and then let products wait for it. */
template <int N> MT_INLINE void wgmma_settle (float *c) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(c[i]) : : "memory");
}
template <int N> MT_INLINE void wgmma_settle (int32_t *c) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+r"(c[i]) : : "memory");
}

/* ------------------------------------------------------------------ registers in text */

#define MT_C8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define MT_C16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define MT_C32                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "     \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MT_C64                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "     \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "     \
  "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MT_C80                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "     \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "     \
  "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "     \
  "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define MT_C96                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "     \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "     \
  "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "     \
  "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "     \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define MT_C128                                                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "     \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "     \
  "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, "     \
  "%66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, "     \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "     \
  "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "   \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "       \
  "%125, %126, %127"

#define MT_R8(k, b)                                                                      \
  "+" k(c[b]), "+" k(c[b + 1]), "+" k(c[b + 2]), "+" k(c[b + 3]), "+" k(c[b + 4]),       \
      "+" k(c[b + 5]), "+" k(c[b + 6]), "+" k(c[b + 7])
#define MT_R32(k, b) MT_R8(k, b), MT_R8(k, b + 8), MT_R8(k, b + 16), MT_R8(k, b + 24)
#define MT_R64(k, b) MT_R32(k, b), MT_R32(k, b + 32)
#define MT_R80(k, b) MT_R64(k, b), MT_R8(k, b + 64), MT_R8(k, b + 72)
#define MT_R96(k, b) MT_R64(k, b), MT_R32(k, b + 64)
#define MT_R128(k, b) MT_R64(k, b), MT_R64(k, b + 64)

/* What follows n registers: A, B, whether the sums count, the majors. */
#define MT_SAY(regs, text, a, b, keep, tail)                                             \
  "{ .reg .pred p; setp.ne.b32 p, " keep ", 0; wgmma.mma_async.sync.aligned." text       \
  " {" MT_C##regs "}, " a ", " b ", p" tail "; }"
#define MT_SAY_8(text, tail) MT_SAY(8, text, "%8", "%9", "%10", tail("%11", "%12"))
#define MT_SAY_32(text, tail) MT_SAY(32, text, "%32", "%33", "%34", tail("%35", "%36"))
#define MT_SAY_64(text, tail) MT_SAY(64, text, "%64", "%65", "%66", tail("%67", "%68"))
#define MT_SAY_80(text, tail) MT_SAY(80, text, "%80", "%81", "%82", tail("%83", "%84"))
#define MT_SAY_96(text, tail) MT_SAY(96, text, "%96", "%97", "%98", tail("%99", "%100"))
#define MT_SAY_128(text, tail)                                                           \
  MT_SAY(128, text, "%128", "%129", "%130", tail("%131", "%132"))

/* Scales are 1; 16-bit operands say which of them are MN-major. */
#define MT_TAIL_16(a, b) ", 1, 1, " a ", " b
#define MT_TAIL_float(a, b) ", 1, 1"
#define MT_TAIL_int(a, b) ""
#define MT_MAJORS_16 , "n"(A_MN), "n"(B_MN)
#define MT_MAJORS_float
#define MT_MAJORS_int

template <typename T, int N> struct wgmma;

/* Sums: `keep` 0: what c held does not count. */
#define MT_WGMMA_N(type, n, regs, text, sum, letter, kind)                               \
  template <> struct wgmma<type, n> {                                                    \
    template <int A_MN, int B_MN>                                                        \
    static MT_INLINE void run (sum *c, uint64_t a, uint64_t b, uint32_t keep) {          \
      asm volatile(MT_SAY_##regs(text, MT_TAIL_##kind)                                   \
                   : MT_R##regs(letter, 0)                                               \
                   : "l"(a), "l"(b), "r"(keep)MT_MAJORS_##kind);                         \
    }                                                                                    \
  };
#define MT_WGMMA_OP(type, depth, types, sum, letter, kind)                               \
  MT_WGMMA_N(type, 16, 8, "m64n16k" #depth "." types, sum, letter, kind)                 \
  MT_WGMMA_N(type, 64, 32, "m64n64k" #depth "." types, sum, letter, kind)                \
  MT_WGMMA_N(type, 128, 64, "m64n128k" #depth "." types, sum, letter, kind)              \
  MT_WGMMA_N(type, 160, 80, "m64n160k" #depth "." types, sum, letter, kind)              \
  MT_WGMMA_N(type, 192, 96, "m64n192k" #depth "." types, sum, letter, kind)              \
  MT_WGMMA_N(type, 256, 128, "m64n256k" #depth "." types, sum, letter, kind)

/* What operands are: bytes of an element, elements of 32 bytes, the type of the sums. */
#define MT_OPERAND(name, size, sum_)                                                     \
  struct name {                                                                          \
    enum { bytes = size, depth = 32 / size };                                            \
    typedef sum_ sum;                                                                    \
  };
/*         name       bytes  sums */
MT_OPERAND(op_bf16, 2, float)
MT_OPERAND(op_f16, 2, float)
MT_OPERAND(op_tf32, 4, float)
MT_OPERAND(op_e4m3, 1, float)
MT_OPERAND(op_e5m2, 1, float)
MT_OPERAND(op_s8, 1, int32_t)
MT_OPERAND(op_u8, 1, int32_t)
#undef MT_OPERAND

/*          type     depth  text              sums     letter  kind */
MT_WGMMA_OP(op_bf16, 16, "f32.bf16.bf16", float, "f", 16)
MT_WGMMA_OP(op_f16, 16, "f32.f16.f16", float, "f", 16)
MT_WGMMA_OP(op_tf32, 8, "f32.tf32.tf32", float, "f", float)
MT_WGMMA_OP(op_e4m3, 32, "f32.e4m3.e4m3", float, "f", float)
MT_WGMMA_OP(op_e5m2, 32, "f32.e5m2.e5m2", float, "f", float)
MT_WGMMA_OP(op_s8, 32, "s32.s8.s8.satfinite", int32_t, "r", int)
MT_WGMMA_OP(op_u8, 32, "s32.u8.u8.satfinite", int32_t, "r", int)

} // namespace mt
#endif
