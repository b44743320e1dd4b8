/*
** fakefinish.c - the epilogues of the families without a GPU.
** SPDX-License-Identifier: MIT
*/
#include "desc/epilogue_desc.h"
#include "fakecuda.h"

static double side_at (const mt_finishing_side *s, const int64_t at[3], int device,
                       bool *bad) {
  size_t room;
  const size_t size = mt_dtype_size((mt_dtype)s->dtype);
  if (s->base == NULL) return 0;
  int64_t o = 0;
  for (int i = 0; i < 3; i++) o += at[i] * s->stride[i];
  const CUdeviceptr p =
      (CUdeviceptr)(uintptr_t)s->base + (CUdeviceptr)(o * (int64_t)size);
  const char *host = fake_host(p, device, size, &room);
  *bad |= host == NULL;
  return host ? mt_load_element((mt_dtype)s->dtype, host).f : 0;
}

double fake_ending (const mt_finishing *f, mt_dtype c, double v, const int64_t at[3],
                    int device, bool *bad) {
  const double bias = side_at(&f->side[MT_BIAS], at, device, bad);
  const double residual = side_at(&f->side[MT_RESIDUAL], at, device, bad);
  return mt_finish_sum((uint32_t)f->activation, c == MT_f64, v, bias, residual);
}
