/*
** flags.cuh - what blocks of a launch give each other by way of memory, for stream-K.
** SPDX-License-Identifier: MIT
**
** A test on the host has these functions of its own.
*/
#ifndef FLAGS_CUH
#define FLAGS_CUH

#include "kernels/gemm/number.cuh"

#ifndef MT_EMULATED
namespace mt {

/* Of another block, on whichever multiprocessor: all that its threads wrote before they
** met is there when its flag is. One thread raises it, or waits, and puts it down. */
MT_INLINE void flag_raise (int32_t *flag) {
  asm volatile("st.release.gpu.global.s32 [%0], 1;" : : "l"(flag) : "memory");
}
MT_INLINE void flag_wait (int32_t *flag) {
  int32_t up;
  do
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(up) : "l"(flag) : "memory");
  while (up == 0);
  asm volatile("st.relaxed.gpu.global.s32 [%0], 0;" : : "l"(flag) : "memory");
}
/* The same of a warp, whose lanes wait for one each, or for none, which is null: until
** all are up. A loop of each lane's own would make those around it ones that may
** diverge. */
MT_INLINE void flags_wait (int32_t *flag) {
  int32_t up = 1;
  do
    if (flag != nullptr)
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
                   : "=r"(up)
                   : "l"(flag)
                   : "memory");
  while (!__all_sync(0xffffffffu, up != 0));
  if (flag != nullptr)
    asm volatile("st.relaxed.gpu.global.s32 [%0], 0;" : : "l"(flag) : "memory");
}
/* What another block wrote. */
MT_INLINE float read_of_block (const float *p) {
  float x;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
  return x;
}
MT_INLINE double read_of_block (const double *p) {
  double x;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(p) : "memory");
  return x;
}
/* Four together, at a multiple of 16 bytes. */
MT_INLINE void read_of_block (float *x, const float *p) {
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
               : "l"(p)
               : "memory");
}

} // namespace mt
#endif
#endif
