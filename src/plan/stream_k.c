/*
** stream_k.c - the memory of products whose tiles are shared by stream-K.
** SPDX-License-Identifier: MIT
*/
#include "plan/stream_k.h"

/* What was taken before is enough, or more is taken: graphs may hold the old one. */
static bool has_memory (mt_plan *p, size_t bytes) {
  MT_NEWERR(none);
  if (bytes <= p->sums_bytes) return true;
  if (p->graphs > 0) return false;
  mt_stream_k_free(p);
  if (mt_malloc(p->device, &p->sums, bytes, &none) != MT_OK) return false;
  p->sums_bytes = bytes;
  return true;
}

void mt_stream_k_take (mt_plan *p, size_t most) {
  const bool hopper = p->kernel->op == MT_OP_HOPPER;
  const size_t bytes =
      hopper ? mt_hopper_memory(&p->hopper) : mt_ampere_memory(&p->ampere);
  if (bytes == 0) return;
  if ((most > 0 && bytes > most) || !has_memory(p, bytes)) mt_stream_k_leave(p);
  else if (hopper) p->hopper.launch.work = p->sums;
  else p->ampere.launch.work = p->sums;
}

void mt_stream_k_leave (mt_plan *p) {
  if (p->kernel->op == MT_OP_HOPPER) {
    mt_hopper_share(&p->hopper, false, p->device->cores);
    p->grid.blocks = p->hopper.blocks;
  } else {
    mt_ampere_share(&p->ampere, 0);
    p->grid.blocks = mt_ampere_blocks(&p->ampere);
  }
}

void mt_stream_k_free (mt_plan *p) {
  if (p->sums) mt_recycle(p->device, p->sums, p->sums_bytes);
  p->sums = NULL;
  p->sums_bytes = 0;
}
