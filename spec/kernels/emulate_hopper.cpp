/*
** emulate_hopper.cpp - the kernels of hopper.def on the host.
** SPDX-License-Identifier: MIT
*/
#include "sm90.h"

#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/rest.cuh"

namespace mt {

char memory[1]; /* where it begins is not what the test says */
typedef out_s32 out_i32;
enum { MAJOR_K, MAJOR_MN };

} // namespace mt

/* Forms have kernels of their own here only of one type: the others choose as they run,
** which compiles in a third of the time. */
static constexpr int form_of (emulated::kind type, int form) {
  return type == emulated::F16 ? form : MT_FORM_ANY;
}

typedef void kernel (const mt_hopper_launch &p);
#define MT_HOPPER_ROW(ending, form, name, a, b, c, n, stages, cluster, major_a, major_b) \
  mt::run_hopper<mt::hopper<mt::op_##a, n, stages, cluster, mt::MAJOR_##major_a,         \
                            mt::MAJOR_##major_b, mt::out_##c, ending,                    \
                            form_of(mt::op_##a::type, MT_FORM_##form)>>,
static kernel *const kernels[] = {
#include "kernels/gemm/hopper.def"
};

void emulate_map (mt_tma_map *out, const emulated_map *m) {
  static_assert(sizeof *m <= sizeof *out, "a map has room for what it is made of");
  memset(out, 0, sizeof *out);
  memcpy(out, m, sizeof *m);
}

bool emulate_hopper (size_t row, const mt_hopper_launch *l, emulated_run *r) {
  emulated::how = r;
  return emulated::run(kernels[row], *l);
}

/* Its threads need nothing of each other. */
void emulate_rest (const mt_rest_launch *l) {
  emulated::thread nobody = {};
  emulated::me = &nobody;
  blockDim.x = MT_REST_THREADS;
  for (blockIdx.x = 0; blockIdx.x < l->all; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) mt::run_rest(*l);
  emulated::me = NULL;
}
