/*
** mt_mma.h - private: products, from tensors and a partition to a proven launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_MMA_H
#define MT_MMA_H

#include "mt_impl.h"
#include "mt_desc.h"

/* The tensors' half of a launch: sizes, digits (coalesced; strides of any sign, 0 where an
** element is repeated), swizzles, dtypes, bases, offsets; form FLAT, no partition. A and B
** without L are repeated over it. The base of a swizzled operand is where its tensor
** begins, not its buffer: an offset in front of a swizzle has no other place. Errors:
** MT_EINVAL, MT_ERANK, MT_ERANGE, MT_EUNSUPPORTED, MT_ETOOBIG. */
mt_status mt_mma_tensors (mt_mma_launch *out, const mt_tensor *a, const mt_tensor *b,
                          const mt_tensor *c, double alpha, double beta, mt_err *err);

/* The bytes of the buffer of t from the base that mt_mma_tensors gave it. */
size_t mt_mma_room (const mt_mma_launch *l, int part, const mt_tensor *t);

#endif
