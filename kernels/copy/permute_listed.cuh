/*
** permute_listed.cuh - copies of boxes whose rows begin anywhere, and share what a thread
** looks up wherever they lie.
** SPDX-License-Identifier: MIT
**
** As permute_unaligned.cuh, but for the rows of a task: those are not equally far apart.
** While the runs arrive all rows are put into a list, by the address at which they begin:
**
**   rows of the box        0  1  2  3  4  5  6  7  ...
**   begin, modulo step     0  3  2  1  1  0  3  2
**   list                   0  5 | 3  4 | 2  7 | 1  6     four classes of two slots
**
** A task writes one vector of up to group_rows rows of a class. Which of these comes
** first in the list is left to chance.
*/
#ifndef PERMUTE_LISTED_CUH
#define PERMUTE_LISTED_CUH

#include "kernels/copy/permute_unaligned.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* A row of the list, or a segment of one: where it begins in the destination, in steps
** behind the first address of its class; what it adds to the places of row 0; if it is a
** segment, the place of the box's row that it begins with. */
struct listed_row {
  int32_t dst;
  uint16_t at, place;
};

/* Lists the rows that are real: counts[class] of each class. */
MT_INLINE void list_rows (const mt_permute_unaligned &k, const unaligned_block &b,
                          char *box, uint32_t *counts) {
  listed_row *list = (listed_row *)(box + k.groups_at);
  const uint32_t each = MT_UNALIGNED_SEGMENTS(k);
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < b.size.rows * each; n += blockDim.x) {
    const unaligned_walk w(k.store, k.nstore, n);
    const uint32_t place = k.segment ? n % each * k.segment : 0;
    const uint32_t c = ((uint32_t)w.global & (k.step - 1)) >> k.list_log;
    if (place >= b.size.row) continue;
    list[c * k.slots + atomicAdd(&counts[c], 1)] = {(int32_t)(w.global >> k.step_log),
                                                    (uint16_t)w.shared, (uint16_t)place};
  }
}

/* The rows of group n: addresses in the list, each 8 * chunks behind the one before, and
** the first address of the class. */
struct listed_group {
  uint32_t row, end;
  char *dst;
  MT_INLINE listed_group (const mt_permute_unaligned &k, const unaligned_block &b,
                          const char *box, const uint32_t *counts, uint32_t n) {
    const uint32_t log = k.step_log - k.list_log;
    const uint32_t c = k.list_order[n & ((1u << log) - 1)];
    const uint32_t list = unaligned_address(box) + k.groups_at + c * k.slots * 8;
    row = list + 8 * (n >> log), end = list + 8 * counts[c];
    dst = b.dst + (c << k.list_log);
  }
};

/* A segment that begins before this place writes the vector as a whole. */
template <int ES>
MT_INLINE uint32_t listed_before (const mt_permute_unaligned &k, const unaligned_block &b,
                                  int32_t first, bool half) {
  return (uint32_t)(unaligned_limit<ES>(k, b, first, half) + 1);
}

/* The vector from place `first` on of all rows of a group: if all of it is real, or what
** is real of it. `before`: the place above, of a second half of a sector in the upper 16
** bits. The row is read as two words. */
template <int ES, typename UNITS>
MT_INLINE void listed_put (const mt_permute_unaligned &k, const unaligned_block &b,
                           listed_group g, const char *box, int32_t first) {
  enum { PART = ES >= 4 };
  char *const dst = (char *)kept((int64_t)(g.dst + (int64_t)first * ES));
  const uint32_t before =
      listed_before<ES>(k, b, first, true) << 16 | listed_before<ES>(k, b, first, false);
  UNITS units(k, box, first);
  units.go(unaligned_address(box));
#pragma unroll 1
  do {
    uint2 x;
    unaligned_get(&x, g.row, box);
    const uint32_t at = x.y & 0xffff;
    char *to = dst + (int64_t)(int32_t)x.x * k.step;
    if ((x.y | 0xffff) < before << (16 & ~(uint32_t)(uintptr_t)to))
      unaligned_whole(to, units.vector(box, at));
    else if (PART)
      unaligned_put_part<ES>(k, b, to, first, (int32_t)(x.y >> 16), units, box, at);
    g.row += 8 * k.chunks.extent;
  } while ((int32_t)(g.end - g.row) > 0);
}

/* All tasks. */
template <int ES, typename UNITS>
MT_INLINE void listed_store (const mt_permute_unaligned &k, const unaligned_block &b,
                             const char *box, const uint32_t *counts) {
  enum { V = 16 / ES };
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < unaligned_tasks(k, b).all; n += blockDim.x) {
    const unaligned_task task(k, unaligned_tasks(k, b), n);
    const listed_group g(k, b, box, counts, task.group);
    if ((int32_t)(g.end - g.row) <= 0) continue;
    uint2 x;
    unaligned_get(&x, g.row, box);
    const uint32_t begin = (uint32_t)(uintptr_t)g.dst + x.x * (uint32_t)k.step;
    const int32_t first = unaligned_begin<ES>(k, b, begin) + (int32_t)(V * task.vector);
    if (first < (int32_t)k.length + V && first < (int32_t)b.size.row + V &&
        first >= (ES < 4 ? 0 : 1 - V))
      listed_put<ES, UNITS>(k, b, g, box, first);
  }
}

/* What is known of the box stays in shared memory: registers are scarce. */
template <int ES> MT_INLINE void copy_permute_listed (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_PERMUTE_UNALIGNED_SHARED);
  __shared__ unaligned_block b;
  __shared__ uint32_t counts[MT_UNALIGNED_CLASSES];
  const mt_permute_unaligned &k = p.desc.unaligned;
  char *box = (char *)(shared + 1);
  if (threadIdx.x < MT_UNALIGNED_CLASSES) counts[threadIdx.x] = 0;
  unaligned_meet<ES>(p, box, &b);
  unaligned_fetch<ES, MT_UNALIGNED_LISTED(ES)>(p, b, box);
  list_rows(k, b, box, counts);
  fetched();
  if (k.piece.extent) listed_store<ES, unaligned_pieces<ES>>(k, b, box, counts);
  else listed_store<ES, unaligned_units<ES>>(k, b, box, counts);
  unaligned_write_ends<ES>(k, b, box);
}

template <int BYTES> struct copier<MT_ALGO_PERMUTE_UNALIGNED, BYTES, 2> {
  static MT_INLINE void run (const mt_launch &p) { copy_permute_listed<BYTES>(p); }
};

} // namespace mt

#undef MT_INLINE
#endif
