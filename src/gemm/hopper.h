/*
** hopper.h - private: products by TMA and wgmma, from a proven product to a launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_HOPPER_H
#define MT_GEMM_HOPPER_H

#include "moontile/types.h"
#include "desc/gemm_desc.h"
#include "gemm/hopper_desc.h"
#include "gemm/pack.h"

/* What a TMA map is made of, the innermost axis first; its elements are contiguous. Boxes
** lie in shared memory with a swizzle as wide as their lines, of 128
** bytes or of 32; what is outside is read as 0. */
typedef struct mt_tma_box {
  mt_dtype dtype;
  void *base; /* a multiple of 16 */
  uint64_t extent[3];
  uint64_t stride[2]; /* bytes, of axes 1 and 2: multiples of 16 */
  uint32_t box[3];    /* 256 at most */
} mt_tma_box;
/* Bytes of a line of a box. */
static inline uint32_t mt_tma_line (const mt_tma_box *b) {
  return b->box[0] * (uint32_t)mt_dtype_size(b->dtype);
}

enum { MT_HOPPER_MAPS = MT_PARTS }; /* of A, B and D, as MT_A, MT_B, MT_C */

/* How C or a residual is read, of which an epilogue has one or none: lane by lane; by a
** map, where that and D are of 16 bits. */
typedef enum mt_hopper_side { MT_SIDE_NONE, MT_SIDE_READ, MT_SIDE_MAP } mt_hopper_side;

/* A row of kernels/gemm/hopper.def. */
typedef struct mt_hopper_row {
  mt_dtype type[MT_PARTS];
  uint16_t n, stages, cluster;
  bool mn[2];          /* of A and B: M or N is contiguous, not K */
  bool finishes;       /* it has an epilogue; C is of f16, bf16 or f32 */
  mt_hopper_side side; /* of more than 192 columns: what its epilogue reads */
  int form;            /* of the activation of its epilogue, MT_FORM_ANY: each */
  bool by_rows;        /* of more than 192 columns: D has no map */
  bool turned;         /* columns of D lie together, not rows */
} mt_hopper_row;
/* Whether an epilogue of the row is one that reads C or a residual, or none of them, and
** has an activation of this form. */
static inline bool mt_hopper_ends (const mt_hopper_row *row, bool reads, int form) {
  return (!MT_HOPPER_ONE_WAY(row->n) || (row->side != MT_SIDE_NONE) == reads) &&
         (row->form == MT_FORM_ANY || row->form == form);
}
extern const mt_hopper_row mt_hopper_rows[];
extern const size_t mt_nhopper_rows;

typedef struct mt_hopper {
  mt_hopper_launch launch; /* without the maps */
  mt_tma_box map[MT_HOPPER_MAPS];
  bool has_d[2];       /* D may be written by a map: as it is; as its transpose */
  mt_tma_box d_map[2]; /* these; the one of the row is map[MT_C] */
  bool has_side[2];    /* C or the residual may be read by a map, as D is */
  mt_tma_box side_d[2], side_map; /* of the residual; the one of the row */
  const mt_hopper_row *row;
  uint32_t blocks, cluster, shared;
  /* Tensors that are no matrices which TMA takes, and so go through memory of the plan's
  ** own, as rows of K (of C: of N), `pitch` elements apart; 0: as they are. `why` has a
  ** line each. Batches follow each other. The maps and `c` then begin at 0, to which the
  ** memory's address is added: part[] says of which tensor each map is. Those of A and B
  ** that `pack` has one launch packs, by row `pack_row`; each other has its own copy. */
  int64_t pitch[MT_PARTS];
  int part[MT_PARTS];
  char why[MT_PARTS][96];
  mt_pack_launch pack;
  size_t pack_row;
  /* Of three terms: what tf32 leaves out of A and B, as maps have it, and how it is
  ** computed; addresses are given as to what is packed. */
  mt_tma_box rest_map[2];
  mt_rest_launch rest[2];
  double us; /* predicted */
} mt_hopper;

/* The last rows of A or B: a map of its own, where edge[i] is not 0. */
static inline mt_tma_box mt_hopper_edge (const mt_hopper *h, int i) {
  mt_tma_box box = h->map[i];
  box.box[1] = (uint32_t)h->launch.edge[i];
  return box;
}

/* Whether its launch has a map of a residual. */
static inline bool mt_hopper_has_side (const mt_hopper *h) {
  const bool by_map = h->row->side == MT_SIDE_MAP || h->row->turned;
  return by_map && h->launch.beta == 0 && h->launch.finish.side[MT_RESIDUAL].base != NULL;
}

/* The fastest row for a product without a partition, by prediction, and its launch on a
** GPU of `cores` multiprocessors; maps are left to who launches it. D may be computed as
** its transpose: A and B change places. Negative: no row does it, and why is in `why`.
** The laws: (1) every element of D is stored once; (2) nothing outside of A, B and C is
** read or written, by the extents of the maps and of M and N. */
int mt_hopper_choose (mt_hopper *out, const mt_gemm_launch *l, int cores, char *why,
                      size_t size);

/* The same by this row with K in so many parts, 1, 2, 4 or 8, whatever it costs; false:
** it does not take the product so. */
bool mt_hopper_take (mt_hopper *out, int row, int parts, const mt_gemm_launch *l,
                     int cores);
enum { MT_HOPPER_MOST_PARTS = 8 };

/* Bytes of flags and sums of a launch of stream-K: 0 without. */
size_t mt_hopper_memory (const mt_hopper *h);
/* The launch with stream-K or without, and its blocks; false: the row or the product has
** none. */
bool mt_hopper_share (mt_hopper *h, bool streams, int cores);

#endif
