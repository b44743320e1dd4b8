/*
** witness.h - private: an element of a copy, named for people.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_WITNESS_H
#define MT_COPY_WITNESS_H

#include "desc/domain.h"

/* Numbers of a coordinate as the descriptor counts them. */
typedef struct mt_witness {
  int64_t rest, thread, value, offset;
} mt_witness;

/* The element with index v[j] on axis j of the box. */
mt_witness mt_witness_of (const mt_launch *l, const mt_domain *b, int side,
                          const int64_t *v);

/* "value 1 of thread 2 in block 3"; the buffer has room for it, of two for both. */
enum { MT_WITNESS_TEXT = 96 };
const char *mt_witness_text (char *buf, const mt_desc *d, const mt_witness *w);
const char *mt_witnesses_text (char *buf, const mt_desc *d, const mt_witness *a,
                               const mt_witness *b);

#endif
