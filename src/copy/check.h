/*
** check.h - private: the validator that stands before every launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_CHECK_H
#define MT_COPY_CHECK_H

#include "core/error.h"
#include "desc/copy_desc.h"

/* The descriptor is one: counts, sizes, divisors and widths agree, and nothing that an
** executor computes from it, real or not, leaves int64. MT_EINVAL, MT_EOVERFLOW. */
mt_status mt_check_shape (const mt_launch *l, mt_err *err);

/* MT_OK is a proof: every real access lies in its buffer (bytes[MT_SRC], bytes[MT_DST])
** and is aligned, no two write one element, and nothing that is read is written; sides
** with different swizzles are apart by their ranges alone. Otherwise MT_ERANGE,
** MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP with a witness, or what could not be proven.
** Pure. */
mt_status mt_check_copy (const mt_launch *l, const size_t bytes[2], mt_err *err);

/* No two real elements of the destination are one; of a sound descriptor, whatever its
** buffers. MT_EINJECTIVE; `met`: two are, and the text names them. */
mt_status mt_check_once (const mt_launch *l, bool *met, mt_err *err);

#endif
