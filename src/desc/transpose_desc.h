/*
** transpose_desc.h - tiles of a run by a run, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_TRANSPOSE_DESC_H
#define MT_DESC_TRANSPOSE_DESC_H

#include "desc/divisor_desc.h"

/* A tile of accesses of so many bytes: along the run of the source, of the destination;
** 16 KiB. TRANSPOSE has large ones of 32 KiB too, of MT_LARGE bytes, for runs that fill
** them, of MT_LARGE_THREADS threads where others have 256.
** TRANSPOSE_UNALIGNED holds MT_TRANSPOSE_UNALIGNED_ROWS along the destination and moves
** MT_TRANSPOSE_UNALIGNED_OWN of 8 vectors of these, from multiples of 32 bytes if these
** are 6, else of 16; it begins so much before the first row. Above 2 bytes it also holds
** a vector more along the source. */
#define MT_LARGE(bytes) ((bytes) == 2)
#define MT_LARGE_S(bytes) 128
#define MT_LARGE_D(bytes) 128
#define MT_LARGE_THREADS 512
#define MT_TRANSPOSE_S(bytes) ((bytes) <= 2 ? 128 / (bytes) : 256 / (bytes))
#define MT_TRANSPOSE_D(bytes) ((bytes) <= 2 ? 128 : 64)
#define MT_TRANSPOSE_UNALIGNED_S(bytes) ((bytes) <= 2 ? 128 / (bytes) : 240 / (bytes))
#define MT_TRANSPOSE_UNALIGNED_ROWS(bytes) ((bytes) <= 2 ? 128 : 64)
#define MT_TRANSPOSE_UNALIGNED_OWN(bytes) ((bytes) <= 2 ? 6 : 7)
#define MT_TRANSPOSE_UNALIGNED_D(bytes)                                                  \
  (MT_TRANSPOSE_UNALIGNED_ROWS(bytes) / 8 * MT_TRANSPOSE_UNALIGNED_OWN(bytes))
#define MT_TRANSPOSE_UNALIGNED_BEFORE(bytes)                                             \
  ((8 - MT_TRANSPOSE_UNALIGNED_OWN(bytes)) * 16 / (bytes))

/* The tiles of a run by a run, as blocks take them: in strips of `strip` tiles along the
** run of the source; in a strip first those, then along the run of the destination.
** Block b is tile (s, d) of index r of rest:
**   s = b mod strip + q2 mod across * strip, d = q1 mod along,
**   q1 = b / strip, q2 = q1 / along, r = q2 / across;
** tiles beyond the last are empty. along: tiles of the destination's run; across: strips.
** */
typedef struct mt_raster {
  mt_divisor strip, along, across;
} mt_raster;

/* The vectors of rows, as threads take them. `along` are those of a row. A row may be
** repeated: by the value axis, which the source does not have. Rows that lie `strip` on
** begin at the same address modulo 16, so what a thread puts together once it writes to
** MT_ROWS_EACH of them: `across` such groups of rows there are. Vector n is vector v of
** group g of index r of rest:
**   v = n mod along, g = n / along mod across, r = n / along / across;
** group g has the rows p + strip * (c * MT_ROWS_EACH + i), p = g mod strip,
** c = g / strip, for each i < MT_ROWS_EACH. Without a value axis both are 0, and so is
** g. If rows follow one another (MT_ROWS_PERIODIC), `along` are the vectors of a period,
** which has `strip` rows. If there are many, it begins at a multiple of 128 bytes behind
** the one before, else of 16; or it has all rows, if these are fewer than begin
** differently. Group g has the periods g * MT_ROWS_EACH + i; there are `across` of them.
** */
enum { MT_ROWS_EACH = 8 };

#endif
