/*
** gemm_side.h - private: an operand of a product on the processor: offsets by tables,
** elements to and from panels, numbers of any type to and from what they are added up in.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_SIDE_H
#define MT_CPU_GEMM_SIDE_H

#include "moontile/types.h"
#include "cpu/gemm_micro.h"
#include "desc/gemm_desc.h"

/* A mode of an operand: x, y or the batch. */
typedef struct mt_cpu_mode {
  const mt_digit *digit;
  uint32_t n;
} mt_cpu_mode;

enum { MT_X, MT_Y, MT_BATCH, MT_SIDE_MODES };

/* An operand while a block of its ordinates is at hand. Without a swizzle the element
** (i,j,l) of the block lies offset + table[X][i] + table[Y][j] + table[batch][l] on. */
typedef struct mt_cpu_side {
  mt_part part;
  mt_cpu_mode mode[MT_SIDE_MODES]; /* their digits lie in `part` */
  int64_t elem;                    /* bytes */
  char *base;
  int64_t offset;
  int64_t *table[MT_SIDE_MODES];
} mt_cpu_side;

/* out[i]: what ordinate first + i of a mode adds to the offset, for i < n. */
void mt_cpu_offsets (int64_t *out, const mt_cpu_mode *m, int64_t first, int64_t n);

/* A piece of the block: ordinates x .. x + nx of the first mode, y .. y + ny of the
** second, at one index of the batch. */
typedef struct mt_cpu_piece {
  int64_t x, nx, y, ny, batch;
} mt_cpu_piece;

/* Its first element; of an operand without a swizzle. */
char *mt_cpu_element (const mt_cpu_side *s, const mt_cpu_piece *p);

/* Elements as they are, out[j][i] for rows of `width` >= nx, 0 from nx on; and back (what
** is beyond nx is not written). */
void mt_cpu_gather (void *out, const mt_cpu_side *s, const mt_cpu_piece *p,
                    int64_t width);
void mt_cpu_scatter (const mt_cpu_side *s, const mt_cpu_piece *p, const void *from,
                     int64_t width);

/* n elements that lie together, as numbers of another type. */
typedef void mt_cpu_convert (void *out, const void *in, int64_t n);
/* Integers are read exactly; NULL: floats are not added up as integers. */
mt_cpu_convert *mt_cpu_widener (mt_dtype from, mt_acc to);
/* As copies convert: floats are rounded to nearest even; integers, of sums below 2^62,
** saturate. NULL: no such type of C. */
mt_cpu_convert *mt_cpu_narrower (mt_acc from, mt_dtype to);
/* Whether the dtype's elements are what is added up: no conversion is needed. */
bool mt_cpu_is_native (mt_dtype d, mt_acc acc);

/* t += v, of u32 and of floats that are integers below 2^24; fresh: t = v. */
void mt_cpu_count (void *t, const void *v, int64_t n, bool fresh);

/* t = alpha t + beta c, of floats, element by element; c NULL: t = alpha t. */
void mt_cpu_combine (mt_acc acc, void *t, const void *c, int64_t n, double alpha,
                     double beta);
/* t = activation(t), of floats. */
void mt_cpu_activate (mt_acc acc, void *t, int64_t n, uint32_t activation);

#endif
