/*
** fakepack.c - kernels that pack operands without a GPU: row by row.
** SPDX-License-Identifier: MIT
*/
#include "fakecuda.h"
#include "core/arith.h"

/* The rows of a batch follow each other, the batches too; what is behind a row is 0. */
static bool move_rows (const mt_pack_operand *o, const char *from, char *to,
                       size_t room) {
  const int64_t step = o->vectors.extent * (int64_t)MT_PACK_VECTOR;
  const char *low = from - (o->from - o->low), *high = from + (o->high - o->from);
  for (uint32_t row = 0; row < o->all / o->vectors.extent; row++) {
    const uint32_t batch = row / o->rows.extent, in = row % o->rows.extent;
    const char *at = from + batch * o->from_batch + in * o->from_pitch;
    const int64_t end = row * o->to_pitch + step;
    if (at < low || at + o->bytes > high || o->bytes > step || (uint64_t)end > room)
      return false;
    memset(to + row * o->to_pitch, 0, (size_t)step);
    memcpy(to + row * o->to_pitch, at, (size_t)o->bytes);
  }
  return true;
}

static bool pack (const mt_pack_operand *o, uint32_t each, int device) {
  size_t room;
  if (o->all == 0) return o->blocks == 0;
  const int64_t before = o->from - o->low;
  const char *low =
      fake_host((CUdeviceptr)(uintptr_t)o->low, device, (size_t)(o->high - o->low), NULL);
  char *to = fake_host((CUdeviceptr)(uintptr_t)o->to, device, 0, &room);
  return low && to && (uintptr_t)o->to % MT_PACK_VECTOR == 0 &&
         o->to_pitch % MT_PACK_VECTOR == 0 && o->blocks == mt_div_up(o->all, each) &&
         move_rows(o, low + before, to, room);
}

mt_status fake_pack (const mt_kernel *k, mt_grid grid, const mt_pack_launch *l,
                     int device) {
  const uint32_t each = MT_PACK_THREADS * k->unroll;
  const mt_pack_operand *o = l->operand;
  return grid.threads == MT_PACK_THREADS && grid.blocks == o[0].blocks + o[1].blocks &&
                 pack(&o[0], each, device) && pack(&o[1], each, device) ?
             MT_OK :
             MT_ERANGE;
}
