/*
** copy.h - private: copies on the CPU as loops over tiles.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_COPY_H
#define MT_CPU_COPY_H

#include "plan/device.h"
#include "host/pool.h"

/* Rows of cpu/copy.def. */
#define MT_CPU_KERNEL(name, how) MT_ROW_##name,
#define MT_CPU_GEMM(name, algo, how) MT_ROW_##name,
typedef enum mt_cpu_row {
#include "cpu/copy.def"
  MT_CPU_NROWS
} mt_cpu_row;
extern const mt_kernel mt_cpu_kernels[];
extern const size_t mt_ncpu_kernels;

/* Index i of an axis lies i * stride bytes on. */
typedef struct mt_cpu_axis {
  int64_t extent, src, dst;
} mt_cpu_axis;

/* n elements, `step` bytes apart, to a carrier of their numbers (types/convert.h), one
** behind the other, and from there. */
typedef void mt_cast_load (void *out, const char *src, int64_t step, int64_t n);
typedef void mt_cast_store (char *dst, int64_t step, const void *in, int64_t n);

/* n elements that lie together on both sides; false: some of them are to be converted
** by the two steps, and so are all. */
typedef bool mt_cast_direct (char *dst, const char *src, int64_t n);

typedef struct mt_cpu_gather mt_cpu_gather;
typedef struct mt_cpu_places mt_cpu_places;

typedef struct mt_cpu_tile mt_cpu_tile;

/* What a thread has in hand while it moves tiles of boxes. Lines of the source that a
** group of tiles reads are asked for while the group before it is moved. What goes past
** the caches waits until it is whole lines. */
enum { MT_CPU_WAITING = 4096 };
typedef struct mt_cpu_hand {
  const char *ask;   /* where the next group begins; NULL: there is none */
  int64_t next;      /* line that is asked for next */
  char *line;        /* that near[0] is of; NULL: nothing waits */
  int64_t from, end; /* what waits there */
  _Alignas(64) char near[MT_CPU_WAITING + 1024];
} mt_cpu_hand;

/* Moves na indices of a by nb indices of b, from and to these addresses. */
typedef void mt_cpu_move (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                          int64_t nb);

/* What a tile does for each pair of its indices is one move of `unit` bytes. */
struct mt_cpu_tile {
  mt_cpu_axis a, b; /* all of them, also beyond the tile */
  int64_t unit;
  bool stream;        /* what is written goes past the caches */
  bool asks;          /* for short rows ahead: measured of pieces that a GPU has next */
  mt_cast_load *load; /* of a conversion: its two steps */
  mt_cast_store *store;
  mt_cast_direct *direct;      /* both at once; NULL: there is no such loop */
  int64_t from;                /* bytes of an element of the source */
  uint32_t cast;               /* as in mt_desc */
  int64_t to;                  /* bytes of an element of the destination */
  int64_t carried[2];          /* of a side whose elements are their carriers; else 0 */
  mt_cpu_move *turn;           /* what transposes elements that are converted */
  const mt_cpu_gather *gather; /* of units from anywhere */
  const mt_cpu_places *places; /* of runs; NULL: of elements equally far apart */
  int64_t gaps;                /* units between two of a run of the source */
  mt_cpu_hand *hand;           /* of boxes */
  int64_t run;                 /* bytes that boxes write together, one after another */
  int64_t asked;               /* lines for each box */
};

enum { MT_MAXOUTER = MT_MAXAXIS + 1 };

/* Units from anywhere: a box has all of the inner axes, and `step` indices of a; it is
** repeated along the axes `row`. */
enum { MT_CPU_INNER = 10, MT_CPU_ROWS = 64 };
typedef struct mt_cpu_boxes {
  int ninner, nrow;
  int64_t unit, step;
  mt_cpu_axis inner[MT_CPU_INNER], row[MT_CPU_INNER];
} mt_cpu_boxes;

/* Of a run of the destination, 0, and of one of the source, 1: the axes before a, b. */
typedef struct mt_cpu_runs {
  int n[2];
  mt_cpu_axis axis[2][MT_CPU_INNER];
} mt_cpu_runs;

/* A copy: every tile of (a,b) at every index of the outer axes. */
typedef struct mt_cpu_job {
  mt_cpu_row row;
  mt_cpu_move *move; /* NULL: the reference runs it */
  mt_cpu_tile tile;
  int64_t ta, tb;   /* indices of a whole tile */
  int64_t along[2]; /* tiles along b and along a: b runs fastest */
  int n;
  mt_cpu_axis outer[MT_MAXOUTER];
  mt_cpu_boxes boxes;
  mt_cpu_runs runs;
  int64_t tiles, piece; /* tiles in all; tiles that a thread takes at once */
  int64_t bytes;        /* of all */
  int64_t ns;           /* that a whole tile takes, about */
  int64_t group;        /* tiles whose lines are asked for together; 0: none are */
  unsigned demoted;     /* sides, 1u << side, whose lines leave the processor's caches */
  const char *src;
  char *dst;
} mt_cpu_job;

/* Chooses a row for the launch and says why not the ones before it. Of an empty launch no
** tiles. */
void mt_cpu_plan (mt_cpu_job *job, const mt_launch *l, int threads, mt_refusals *why);
/* Tiles first .. last - 1 of a job. An mt_work. */
void mt_cpu_run (void *job, int64_t first, int64_t last, mt_worker *w);

/* The move for units of this many bytes, 31 at most. */
mt_cpu_move *mt_cpu_mover (int64_t unit);
/* The move for rows of so many bytes, so many for each index of b. Those of `past` bytes
** and more go past the caches, if the tile streams. */
enum { MT_LONGROW = 1024 };
mt_cpu_move *mt_cpu_row_mover (int64_t bytes, int64_t rows, int64_t past);
/* Converts elements; `cast` as in mt_desc. Fills the steps of the tile. */
mt_cpu_move *mt_cpu_caster (mt_cpu_tile *t, uint32_t cast);
/* The loop that converts such elements in one step; NULL if there is none. */
mt_cast_direct *mt_cpu_direct (mt_dtype from, mt_dtype to);
/* Where the source runs along b and the destination along a: whether the caster's move is
** replaced by one that transposes what it has converted, by tiles of that size. */
bool mt_cpu_turns (mt_cpu_tile *t, mt_cpu_move **move, int64_t *ta, int64_t *tb);
/* n bytes that lie together on both sides; past the caches, if the tile streams. */
void mt_cpu_put (const mt_cpu_tile *t, char *to, const char *from, int64_t n);
/* The same; what lies `ahead` bytes on is asked for, unless that is 0. */
void mt_cpu_put_ahead (const mt_cpu_tile *t, char *to, const char *from, int64_t n,
                       int64_t ahead);
/* Rows of n bytes, `pitch` apart, each so far from `to`. */
void mt_cpu_put_rows (const mt_cpu_tile *t, char *to, const int64_t *at, const char *from,
                      int64_t pitch, int64_t n, int64_t rows);
/* The move where one unit of the source is repeated along a, whose units lie together in
** the destination; NULL if there is none. */
mt_cpu_move *mt_cpu_filler (int64_t unit);
/* Where rows lie, several for each index of b; n[0] is how many. */
void mt_cpu_row_places (mt_cpu_places *k, const mt_cpu_job *job);
/* Runs of both sides (cpu/copy_turn.c), of the source so many units between two of it:
** axes of the job become a, b and those before them; false if a run has less bytes than
** `least`. Then the tables, of mt_cpu_places_size bytes, go to tile.places. */
bool mt_cpu_plan_turn (mt_cpu_job *job, int64_t least, int64_t gaps, const char *name,
                       mt_refusals *why);
size_t mt_cpu_places_size (void);
void mt_cpu_turn_places (mt_cpu_places *k, const mt_cpu_job *job);
/* The move where units lie together along a, which has na indices, in the destination,
** whose rows are `pitch` bytes apart, and along b in the source, and the tile that it
** wants; NULL if there is none. */
mt_cpu_move *mt_cpu_turner (int64_t unit, int64_t pitch, int64_t na, int64_t nb,
                            int64_t *ta, int64_t *tb);

/* Units from anywhere (cpu/copy_gather.c): not, as the destination has no run for them,
** or they go one by one and do not lie near in the source; one by one; by shuffles of
** fewer than two units each; of more. */
typedef enum mt_cpu_boxed {
  MT_BOXED_NOT,
  MT_BOXED_ALONE,
  MT_BOXED_TORN,
  MT_BOXED_SHUFFLED
} mt_cpu_boxed;
/* The axes of the job become boxes, NOT: in part; `near`: lines of the source stay near,
** whichever axes are outside. Then the tables of the boxes, of
** mt_cpu_gather_size bytes, go to tile.gather. */
mt_cpu_boxed mt_cpu_plan_gather (mt_cpu_job *job, bool near);
size_t mt_cpu_gather_size (void);
/* Finds groups whose lines are asked for, after tiles were counted; whether nobody has to
** ask. */
void mt_cpu_plan_asking (mt_cpu_job *job);
bool mt_cpu_is_foreseen (const mt_cpu_job *job);
/* Where the lines of a group lie, of `most` at most: how many. */
int64_t mt_cpu_lines_of (int32_t *at, int64_t most, const mt_cpu_job *job);
void mt_cpu_gather_make (mt_cpu_gather *g, const mt_cpu_job *job);
mt_cpu_move mt_cpu_gather_move;
/* After the last one: writes what waits in the hand. */
void mt_cpu_gather_end (const mt_cpu_tile *t);

/* Elements of a tile's runs: n[0] of the destination's for each index of a, and where
** they lie in the source; n[1] of the source's for each of b, where in the destination.
** Of rows, n[0] for each index of b, where they lie in both. */
enum { MT_CPU_PLACES = 512 };
struct mt_cpu_places {
  int64_t n[2], at[2][MT_CPU_PLACES];
};

/* ---- pieces that a GPU has next (cpu/copy_demote.c) */

/* What a tile has of a side: runs of bytes, at every index of these axes, from `first`
** on. Small gaps are in a run. */
typedef struct mt_cpu_footprint {
  int64_t first, run;
  int n;
  struct {
    int64_t extent, stride;
  } axis[4 * MT_CPU_INNER + 2 + MT_MAXOUTER];
} mt_cpu_footprint;

/* Of na by nb indices, and all of the first `outer` axes outside. */
void mt_cpu_footprint_of (mt_cpu_footprint *p, const mt_cpu_job *job, int side,
                          int64_t na, int64_t nb, int outer);
/* Of the source along so many axes, of units of `run` bytes. */
void mt_cpu_footprint_of_axes (mt_cpu_footprint *p, int64_t run, const mt_cpu_axis *axis,
                               int n);
/* Whether the processor can, asked anew: a hypervisor answers. */
bool mt_cpu_demotes (void);
/* How lines of slots, of these sides (1u << side), are left by so many threads. */
void mt_cpu_aim (mt_cpu_job *job, unsigned slots, int threads);
/* After a tile of a job was moved; only if the processor can. */
void mt_cpu_demote (const mt_cpu_job *job, const char *const tile[2], int64_t na,
                    int64_t nb);

/* ---- products (cpu/gemm_launch.c): what the backends in host memory have in common */

/* Chooses the row and makes what it needs, for this many threads. */
mt_status mt_cpu_product_prepare (mt_plan *p, int threads, mt_err *err);
/* On the threads of the pool; with pool NULL each access is verified. */
mt_status mt_cpu_product_run (mt_plan *p, mt_pool *pool, mt_err *err);
void mt_cpu_product_release (mt_plan *p);

#endif
