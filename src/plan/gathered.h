/*
** gathered.h - private: products of composed operands, which are gathered into memory of
** their own before, and C scattered after.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_GATHERED_H
#define MT_PLAN_GATHERED_H

#include "plan/device.h"

typedef struct mt_gathered mt_gathered;

/* A, B, C, bias, residual; of the last two NULL: there is none. */
enum { MT_GATHERED = MT_PARTS + MT_BESIDES };

/* Whether operand i is gathered: it is composed. */
bool mt_is_gathered (const mt_tensor *const t[MT_GATHERED], int i);
/* Whether one is. */
bool mt_needs_gathering (const mt_tensor *const t[MT_GATHERED]);
/* The layout of t with its last mode of two fastest, its first then, or, of columns, its
** first before the last; what is slower begins at multiples of 16 bytes. */
mt_status mt_compact_operand (mt_layout *out, int64_t *bytes, const mt_tensor *t,
                              bool columns, mt_err *err);

typedef struct mt_gather_options {
  bool reads;       /* C is read, too */
  size_t most;      /* bytes of memory; 0: any */
  unsigned columns; /* as above, a bit for each */
} mt_gather_options;

/* Memory of d for the composed ones of t, and the copies; in[] are the tensors of the
** product itself. *out may be there after an error, too: mt_gathered_free takes it.
** Errors: those of a copy, MT_ENOMEM. */
mt_status mt_gather_tensors (mt_gathered **out, const mt_tensor *in[MT_GATHERED],
                             mt_device *d, const mt_tensor *const t[MT_GATHERED],
                             const mt_gather_options *o, mt_err *err);
void mt_gathered_free (mt_gathered *g);
size_t mt_gathered_bytes (const mt_gathered *g);
/* What comes before the product, and what comes after it. */
mt_status mt_gathered_read (mt_gathered *g, mt_stream *s, mt_err *err);
mt_status mt_gathered_write (mt_gathered *g, mt_stream *s, mt_err *err);

#endif
