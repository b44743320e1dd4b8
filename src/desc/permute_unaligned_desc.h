/*
** permute_unaligned_desc.h - PERMUTE_UNALIGNED: boxes whose rows begin anywhere, shared
** with CUDA.
** SPDX-License-Identifier: MIT
**
** The thread axes of the descriptor are a box. The first of them are a run: contiguous in
** the source. Those that `order` names first are a row: contiguous in the destination.
** Every axis is in the run, in the row or in both. The last axis of the run and that of
** the row may overhang: then a bound counts along it. A unit is an access, a vector V
** units, 16 bytes.
**
** A box of 3 runs and 5 rows, units of 4 bytes. Runs are loaded by the vectors that they
** touch, so every unit keeps its address modulo 16:
**
**   shared memory              vector       vector           destination
**   run 0, which begins at 8   .. .. a0 a1  a2 a3 a4 ..      row 0   a0 b0 c0
**   run 1,              at 4   .. b0 b1 b2  b3 b4 .. ..      row 1   a1 b1 c1
**   run 2,              at 0   c0 c1 c2 c3  c4 .. .. ..      row 4   a4 b4 c4
**                              <------- pitch -------->
**   run r begins at   r * pitch + r / V * gap + (its address in the source) mod 16
**   place n of row k  lies at   places[n] + 4 k,   places = 8, pitch + 4, 2 pitch
*/
#ifndef MT_DESC_PERMUTE_UNALIGNED_DESC_H
#define MT_DESC_PERMUTE_UNALIGNED_DESC_H

#include "desc/permute_desc.h"

/* Bytes of shared memory of a block. What is loaded passes through the L1, which has what
** shared memory leaves: copies take up to 15 % longer with 28 KiB of L1 than with 60.
** Four blocks of MT_PERMUTE_UNALIGNED_FOUR bytes leave enough, and three of
** MT_PERMUTE_UNALIGNED_SHARED. What needs more than _FOUR takes _THREE at least: else
** there would be four blocks that leave less. A large box is one of three, of _MANY
** threads: these are as many as four blocks of _THREADS have. */
enum {
  MT_PERMUTE_UNALIGNED_SHARED = 65536,
  MT_PERMUTE_UNALIGNED_THREE = 57344,
  MT_PERMUTE_UNALIGNED_FOUR = 49024,
  MT_PERMUTE_UNALIGNED_BOX = 65536, /* of the runs alone, at most */
  MT_PERMUTE_UNALIGNED_BOUNDS = 2,  /* bounds, at most */
  MT_PERMUTE_UNALIGNED_THREADS = 384,
  MT_PERMUTE_UNALIGNED_LARGE = 45056, /* bytes of all units of a box that is large */
  MT_PERMUTE_UNALIGNED_MANY = 512     /* threads of a large one */
};

/* Logarithms of the vectors of windows; bytes of a line. */
enum { MT_UNALIGNED_WINDOW = 3, MT_UNALIGNED_WIDE = 5, MT_UNALIGNED_LINE = 128 };

/* Classes of listed rows, at most. */
enum { MT_UNALIGNED_CLASSES = 32 };

/* Parts of a wavefront. */
enum { MT_UNALIGNED_WAVE = 256 };

/* Threads of a block whose rows are listed, of accesses of so many bytes: bytes need more
** registers. */
#define MT_UNALIGNED_LISTED(bytes) ((bytes) == 1 ? 320 : MT_PERMUTE_UNALIGNED_THREADS)

/* Bytes from the places of V units to the next in the table of places: an odd number of
** words, if they are several. */
#define MT_UNALIGNED_GROUP(v) ((v) < 4 ? 2 * (v) : 2 * (v) + 4)

/* A number of units: `units` for each of `count` indices of the last axis. Bound number
** `bound`, counted from 1, leaves some of these indices; 0: there is no bound. */
typedef struct mt_span {
  uint32_t units, count, bound;
} mt_span;

/* Tasks, and of these the ones in whole windows; the first vector of the last window, and
** how many it has: 1 << last_log. */
typedef struct mt_unaligned_tasks {
  uint32_t all, whole, last, last_log;
} mt_unaligned_tasks;

/* An axis of a row, for finding the places of the row in shared memory. What an index of
** it adds: to the number of the run, to the bytes behind the begin of the run, and to the
** address of the run in the source, modulo 16. The last axis has mul and shift 0, as in
** mt_walk_axis. */
typedef struct mt_lookup_axis {
  mt_divisor by;
  uint32_t run, inside, low;
} mt_lookup_axis;

/* Walks
**   load      runs: the axes of the row that are in no run. Only `global` counts.
**   lookup    places of a row: all of its axes.
**   store     rows: the axes of the run that are in no row; before them the segments.
**
** Tables in shared memory, behind the runs
**   places_at   the places of a row, two bytes each: where row 0 has its place n. V of
**               them lie together, and MT_UNALIGNED_GROUP(V) bytes from these to the next
**               V: threads that look up those of neighbouring vectors read in different
**               banks. Entries go from V before the first to 2 V behind the last of
**               `places`; those that are no places are 0.
**               If piece.extent is not 0 the row consists of pieces of so many units, 2 V
**               and more, that are contiguous here too: then there is an entry a piece.
**   starts_at   where each run begins in the source, in units, four bytes each
**   groups_at   groups of rows, 16 bytes each
** These are offsets from the first run, before which lies a vector that is read but means
** nothing. `size` is all of it.
**
** Pitch   As many vectors as a run may touch; of small units up to 112 bytes more, if the
**   places that warps read together lie in more banks then.
**
** Segments   If the last axis of the row is also in the run, all indices of it have the
**   same places, but for a shift. Then a long row may be cut into segments of `segment`
**   units: the first axis of `store` numbers them, and the table has the places of one.
**   It is, unless tasks have more of other rows. What is said of rows below is said of
**   segments then.
**
** Halo   A sector of 32 bytes may lie in two boxes that follow one another along the row.
**   With a halo the one where it begins writes it. So a box holds `halo` indices more of
**   the row's last axis: longer runs if that axis is in the run, else up to halo_runs
**   more of them. Of longer runs only the first long_runs are: the rest of a sector lies
**   in these. Without a halo both boxes write a part of the sector.
**
** Groups   Rows that are 1 << class_log apart along the first axis of `store` begin at
**   the same address modulo 16. They are a class: one look into the table is enough for
**   the vectors of all of them. A group is up to group_rows rows of a class,
**     class + (chunk * group_rows + i << class_log),  0 <= i < group_rows,
**   at one index `other` of the other axes of `store`. Its number is
**     class + classes * (chunk + chunks * other).
**
** List   Rows that share an address may lie anywhere. If slots is not 0 they are listed:
**   all rows and segments that begin at the same address modulo `step` are a class, which
**   begins 1 << list_log bytes behind the one before and has `slots` rows at most. Of
**   class list_order[n mod classes], where classes is step >> list_log, group n has rows
**     n / classes + chunks * i,  0 <= i < group_rows.
**   Classes come in the order in which rows are of them: so neighbouring groups, and
**   neighbouring threads, have neighbouring rows. What is said of class_log, classes,
**   apart, later and next means nothing then. The list lies at groups_at, 8 bytes a row.
**
** Tasks   A row is written by vectors that are aligned in the destination, from the
**   multiple of `align` bytes in which it begins; or, if it began in the box before, from
**   the first that begins in it, unless `align` is a line. It is 16, or a sector of 32 if
**   all rows of a class begin alike in sectors. Windows are 1 << window_log vectors, 8,
**   and a last one of 1 << last_log vectors: so the threads of a warp, which have many
**   vectors of few rows or few of many, read in different banks. They are 32 where these
**   meet in fewer, and of a long row of pieces, where they lie in fewer lines; if that is
**   alone in its class, `align` is a line. A task writes one vector in each row of a
**   group. First come those of whole windows, task n is
**     lane n mod 8 of window n / 8 / groups, of group n / 8 mod groups;
**   then those of the last ones, whose first lane is vector `last`.
**   tasks[1] are those of a box whose rows began before, tasks[0] of any other.
**   If `linear` is not 0, neighbouring places lie so many bytes apart. Then a group is
**   one row, and a task writes the vectors of its lane in all windows.
**
** order and halo are chosen. All else follows from these, the axes and the bounds. */
typedef struct mt_permute_unaligned {
  uint8_t order[MT_PERMUTE_AXES]; /* the thread axes along the destination */
  uint16_t nload, nlookup, nstore;
  uint32_t pitch, gap; /* multiples of 16 bytes */
  uint32_t places_at, places, starts_at, groups_at, size;
  uint32_t held_runs;           /* in shared memory, with the halo */
  uint32_t length, segment;     /* units of a segment; 0: not cut, length is the row */
  mt_span run, runs, row, rows; /* units of a run, number of runs; the same of rows */
  uint32_t halo, halo_runs, long_runs;
  uint32_t pitch_mul; /* n * pitch_mul >> 32 is n / pitch, for bytes n of a box */
  mt_divisor piece;   /* units of a piece */
  uint32_t align, class_log, group_rows, linear, window_log;
  uint32_t slots, list_log, step_log; /* step is 1 << step_log */
  int32_t step;
  uint8_t list_order[MT_UNALIGNED_CLASSES];
  uint32_t apart[4]; /* bytes of shared memory from a vector of a task to the next four */
  uint32_t later;    /* of segments: units from one row of a group to its next */
  int64_t next;      /* bytes of the destination from one row of a group to its next */
  mt_divisor classes, chunks, groups;
  mt_divisor lead; /* rows along the first axis of `store`; segments: 1 */
  uint32_t nrows;  /* rows of a box, segments together */
  uint32_t waves;  /* wavefronts of a read, in 256ths, where places lie anyhow; else 0 */
  mt_unaligned_tasks tasks[2];
  /* Bytes of the source. For one index of the last axis of `runs`, if that is in no run,
  ** runs begin in reach[0] <= x <= reach[1]; its next index is reach_step behind. */
  int64_t reach[2], reach_step;
  mt_walk_axis load[MT_PERMUTE_AXES], store[MT_PERMUTE_AXES];
  mt_lookup_axis lookup[MT_PERMUTE_AXES];
} mt_permute_unaligned;

/* Segments of a row; 1: it is not cut. */
#define MT_UNALIGNED_SEGMENTS(k) ((k).segment != 0 ? (k).store[0].by.extent : 1)

#endif
