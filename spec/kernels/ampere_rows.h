/*
** ampere_rows.h - the rows of ampere.def in the namespace of a mutant: included for each.
** SPDX-License-Identifier: MIT
*/
namespace mt {

#define MT_AMPERE_KERNEL(name, core, a, b, sum, m, n, k, stages, warps_m, warps_n,       \
                         warps_k, major_a, major_b, speed)                               \
  typedef ampere<core_##core, m, n, k, stages, warps_m, warps_n, warps_k,                \
                 MT_MAJOR_##major_a, MT_MAJOR_##major_b>                                 \
      row_##name;
#include "kernels/gemm/ampere.def"

} // namespace mt
