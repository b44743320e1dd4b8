/*
** hopper_rows.h - the rows of hopper.def in the namespace of a mutant: included for each.
** SPDX-License-Identifier: MIT
*/
namespace mt {

typedef out_s32 out_i32;
enum { MAJOR_K, MAJOR_MN };
#define MT_HOPPER_ROW(ending, form, name, a, b, c, n, stages, cluster, major_a, major_b) \
  typedef hopper<op_##a, n, stages, cluster, MAJOR_##major_a, MAJOR_##major_b, out_##c,  \
                 ending, MT_FORM_##form>                                                 \
      row_##name;
#include "kernels/gemm/hopper.def"
#undef MT_HOPPER_ROW

} // namespace mt
