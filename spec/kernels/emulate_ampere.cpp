/*
** emulate_ampere.cpp - the kernels of ampere.def on the host.
** SPDX-License-Identifier: MIT
*/
#include "sm80.h"

#include "kernels/gemm/ampere.cuh"

#define MT_AMPERE_ROW(finishes, name, core, a, b, sum, m, n, k, stages, warps_m,         \
                      warps_n, warps_k, major_a, major_b, speed)                         \
  mt::run_ampere<mt::ampere<mt::core_##core, m, n, k, stages, warps_m, warps_n, warps_k, \
                            MT_MAJOR_##major_a, MT_MAJOR_##major_b, finishes>>,
#define MT_AMPERE_KERNEL(...) MT_AMPERE_ROW(false, __VA_ARGS__)
#define MT_AMPERE_EPILOGUE(...) MT_AMPERE_ROW(true, __VA_ARGS__)
static block_kernel *const kernels[] = {
#include "kernels/gemm/ampere.def"
};

bool emulate_ampere (size_t row, const mt_ampere_launch *l, emulated_block *b) {
  return run_blocks(kernels[row], l, b);
}

uint32_t emulate_halves (int e5m2, uint32_t x, int upper) {
  return e5m2 ? mt::halves_e5m2(x, upper) : mt::halves_e4m3(x, upper);
}
