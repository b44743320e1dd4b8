/*
** tma.h - boxes that TMA moves between global and shared memory.
** SPDX-License-Identifier: MIT
**
** A tensor map says the extents and strides of a tensor and a box of it; an instruction
** copies one box, which lies in shared memory without a gap, its innermost dimension
** first, under one of three swizzles. Which box, that follows from the layout in shared
** memory: its neighbours are to be neighbours along a mode of the tensor.
*/
#ifndef MOONTILE_TMA_H
#define MOONTILE_TMA_H

#include "moontile/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MT_TMA_DIMS = 5, MT_TMA_MOSTBOX = 256, MT_TMA_ALIGN = 16, MT_TMA_SMEM = 128 };

/* dim, stride, box: innermost first; dimensions that a box does not have are behind those
** that it has, with extent 1 in the box. stride is in bytes, stride[0] of one element;
** the steps of elements are all 1. A tile in shared memory takes `boxes` boxes of `bytes`
** bytes each, which lie behind one another; with multicast each of so many CTAs fetches
** one part of each, for all. why: the first rule of the hardware that is
** broken, or "". */
typedef struct mt_tma {
  int rank;
  int64_t dim[MT_TMA_DIMS], stride[MT_TMA_DIMS], box[MT_TMA_DIMS];
  int bits;    /* of an element */
  int swizzle; /* 0: none; 1, 2, 3: of 32, 64, 128 bytes */
  int64_t boxes, bytes, multicast;
  int64_t align;            /* of shared memory, in bytes */
  int8_t axis[MT_MAXNODES]; /* of each leaf of the tensor: its dimension, or -1 */
  char why[256];
} mt_tma;

/* t: the tensor, or, with data NULL, a layout of elements of `bits` bits; smem: the
** tile in shared memory, (coordinate of the tile) -> element, swizzled or not; box: the
** tile, a tiler of the tensor; NULL: by the extents of smem. multicast: CTAs, 1 for
** none. (1) The boxes of a tile have each of its elements once; (2) element x of a
** box, its dimensions numbered through, lies at element x behind the box's first, under
** the swizzle. Errors: MT_EINVAL, MT_ERANK, MT_EINEXACT (no dimension of the tensor
** runs in shared memory), MT_ETOOBIG (more than 5 dimensions). */
MT_API mt_status mt_make_tma (mt_tma *out, const mt_tensor *t, int bits,
                              const mt_node *smem, const mt_node *box, int64_t multicast,
                              mt_err *err);
/* The tensor of coordinates that an instruction takes (CuTe's get_tma_tensor): g, the
** tensor's layout, with stride 1@k for what is dimension k, 0 for what is none. */
MT_API mt_status mt_tma_coords (mt_layout *out, const mt_tma *t, const mt_node *g,
                                mt_err *err);
MT_API const char *mt_tma_swizzle_name (int swizzle); /* "128B" */
/* For people, like snprintf. */
MT_API size_t mt_tma_format (char *buf, size_t size, const mt_tma *t);

#ifdef __cplusplus
}
#endif

#endif
