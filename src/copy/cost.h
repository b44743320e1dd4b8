/*
** cost.h - private: what a copy costs on a GPU, and what costs are counted with.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_COST_H
#define MT_COPY_COST_H

#include "core/error.h"
#include "desc/copy_desc.h"
#include "desc/kernel.h"

/* What a copy costs on a GPU: bytes of memory that are moved; what part of its tiles or
** vectors is used; microseconds, of which `least` pass whatever is moved, and how many
** times as long as at best the rest takes. A prediction for an H200; elsewhere it is the
** order that counts. */
typedef struct mt_cost {
  double traffic, used, least, slow, us;
} mt_cost;

/* The coefficients of a GPU: copy/cost_h200.def says what each is. */
typedef struct mt_speed {
  double speed, cast, any, again, gap;
} mt_speed;
enum { MT_WIDTHS = 5 };
typedef struct mt_model {
#define MT_COST(name, value, unit) double name;
#define MT_COST_BY(name, unit, ...) double name[MT_WIDTHS];
#include "copy/cost_h200.def"
  mt_speed of[MT_NALGO];
} mt_model;
/* Benchmarks fit it: theirs can be written. */
#ifdef MT_MODEL_OPEN
#define MT_MODEL_CONST
#else
#define MT_MODEL_CONST const
#endif
extern MT_MODEL_CONST mt_model mt_h200;

/* By this kernel; NULL: by the first one that can. */
void mt_cost_of (mt_cost *out, const mt_launch *l, const mt_kernel *k);
/* The same without what every algorithm takes at least: lines of the destination that are
** written in part, which memory reads before. By it algorithms and their tiles are
** chosen. */
void mt_cost_apart (mt_cost *out, const mt_launch *l, const mt_kernel *k);
double mt_cost_always (const mt_launch *l);
/* Microseconds that the algorithm takes at least for the elements of the flat copy l,
** whatever its tiles. */
double mt_algo_least (const mt_launch *l, mt_algorithm algo);
/* Microseconds that so much traffic of it, slowed so much, takes at least. */
double mt_cost_least (const mt_cost *c, const mt_launch *l, mt_algorithm algo);
/* Microseconds of what was counted of a copy in its algorithm: of all, those of
** mt_cost_apart; of a part of it, less. */
double mt_cost_us (const mt_cost *c, const mt_launch *l);
/* What takes so long at least takes more than `limit`: by more than rounding. */
static inline bool mt_is_above (double least, double limit) {
  return least * (1 - 1e-9) > limit;
}

/* ---------------------------------------------------------------- counting */

/* The address of the element at this place of a side. */
uint64_t mt_address (const mt_launch *l, int side, int64_t at);

/* Bytes of an access on a side, on the wider one, on both; accesses of all. */
int64_t mt_unit_of (const mt_desc *d, int side);
int64_t mt_wide_unit (const mt_desc *d);
double mt_both_units (const mt_desc *d);
int64_t mt_accesses (const mt_desc *d);
/* Of a table by width, for units of so many bytes. */
double mt_by_width (const double table[MT_WIDTHS], int64_t bytes);

/* The axes [first, first + n), as bits. */
static inline uint32_t mt_axis_bits (uint32_t first, uint32_t n) {
  return ((1u << n) - 1) << first;
}

/* All of a side in pieces of rows of so many accesses, which begin at multiples of its
** grain: the bytes of the sectors of them, on the average. `row`: the axes of a row. */
double mt_in_pieces (const mt_launch *l, int side, int64_t length, uint32_t row);

/* Pieces that begin at multiples of `at`, a power of two, on the average of all places:
** how many sectors (or lines) of so many bytes they touch, and have whole. */
typedef struct mt_cut {
  double touched, whole;
} mt_cut;
mt_cut mt_cut_of (int64_t bytes, int64_t at, int64_t size);

/* Rows of the destination, of so many accesses, that begin within a sector: what sectors
** that are written in two parts take longer. Ends of rows where nothing follows are not
** counted: mt_cost_always has them. */
double mt_torn (const mt_launch *l, uint32_t row, int64_t length, double part);
/* The part of the ends of such rows where something follows in the sector or the next. */
double mt_part_torn (const mt_launch *l, int64_t length);

/* Bytes of the sectors that the source has, each once. */
double mt_source_bytes (const mt_desc *d);

/* What of the tiles along a run of n accesses is used; of all of them. */
double mt_part_used (int64_t n, int64_t tile);
void mt_set_used (mt_cost *c, double part);

/* Microseconds of instructions, which take their time beside what is moved: all of the
** longer one, and of the shorter one `both` times its part of the longer. */
void mt_cost_issue (mt_cost *c, mt_algorithm algo, double issue, double both);

#endif
