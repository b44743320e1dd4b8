/*
** gather_desc.h - GATHER: words of the destination, whose units lie anywhere in the
** source, shared with CUDA.
** SPDX-License-Identifier: MIT
**
** The thread axes of the descriptor are a run of the destination: its row. The value axes
** number rows. A unit is an access, a word 4 bytes or a unit, if that is more. A thread
** writes words that are aligned in the destination, so a row that begins within a word
** has words of two ends that are not whole:
**
**   row of 9 bytes, begins at 2   |  .  .  x0 x1 | x2 x3 x4 x5 | x6 x7 x8 .  |
**                                   word 0         word 1        word 2
**
** A tile has some indices of the last thread axis, and of the last value axis, and all of
** the others. So all tiles are alike: unit n of a row of a tile lies as far behind the
** first one in each. These distances are a table in shared memory: of units from
** -(V - 1) on, V units being a word, since words begin up to so many units earlier. A
** row that begins f units into a word reads the table in phase f, where unit -f comes
** first: the distances of a word are one vector.
**
** Spans   The four bytes of a word often lie in two or three words of the source that
** follow one another: pixels, windows, what is repeated. If that is so of all words, the
** table has instead, for each, how far the first of these lies behind, and how bytes of
** them are selected. All rows must begin at the same address modulo 4 in the source.
*/
#ifndef MT_DESC_GATHER_DESC_H
#define MT_DESC_GATHER_DESC_H

#include "desc/divisor_desc.h"

enum {
  MT_GATHER_THREADS = 256,
  MT_GATHER_TABLE = 32768, /* bytes of the table of units, at most */
  MT_GATHER_ROWS = 1024,   /* rows of a tile, at most */
  MT_GATHER_SHARED = MT_GATHER_TABLE + 8 * MT_GATHER_ROWS + 16
};

/* Bytes of a word, and its units. */
#define MT_GATHER_WORD(bytes) ((bytes) < 4 ? 4 : (bytes))
#define MT_GATHER_UNITS(bytes) (MT_GATHER_WORD(bytes) / (bytes))

/* Tile t is tile (i, j) of index r of rest. Some indices of rest may come before those of
** tiles, so that neighbours have what is left of a line: u = t / first,
**   i = u mod along, j = u / along mod across,
**   r = u / along / across * first + t mod first.
** Thread t of block b does the words t, t + threads, ... of the tiles b, b + blocks, ...;
** word w of a tile is word w mod words of row w / words.
** cut is chosen. All else follows from it, the axes and where the destination begins. */
typedef struct mt_gather {
  uint32_t cut[2];       /* indices of the last thread axis and of the last value axis */
  uint32_t units, rows;  /* of a row of a tile; of a tile */
  uint32_t phases;       /* the units of a word; 1: all rows begin with a word */
  uint32_t ahead;        /* units before a row's first word, of STAGED only */
  uint32_t tiles, table; /* tiles; bytes of the table of units */
  uint32_t spans;        /* 1: rows begin alike, so that words may have spans */
  int64_t reach[2];      /* bytes of the source: a tile is in [0] <= x < [1] */
  mt_divisor words, along, across, first;
} mt_gather;

#endif
