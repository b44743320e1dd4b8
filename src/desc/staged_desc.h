/*
** staged_desc.h - STAGED: as GATHER, by way of shared memory; shared with CUDA.
** SPDX-License-Identifier: MIT
**
** Tiles, words and phases are those of GATHER (desc/gather_desc.h). A block first fetches
** what its tile has of the source, by vectors of 16 bytes: pieces, which are contiguous
** there, or nearly so. Then it puts words of the destination together from shared memory.
**
**   source           ....aaaaaaa........bbbbbbb........ccccccc....      pieces
**   vectors          |   aaaaaaa|      |bbbbbbb|      |ccccccc |        aligned
**   shared memory    |   aaaaaaa|  |bbbbbbb|  |ccccccc |
**
** A piece lies at the same address modulo 16 in shared memory as in the source, so that
** whole vectors move. The place there is linear in the indices of the tile as well: each
** axis has a stride for it, that of the source within a piece, another one, which is
** congruent modulo 16, from piece to piece. So one table says for all tiles how far the
** units of a row lie behind one another.
**
** Sheared  Words of rows that begin within a sector of 32 bytes are counted from where
** that begins, up to `ahead` units before word 0 of GATHER, and tiles are cut there. So
** threads that write eight words write a sector, not parts of two. Of each phase the
** table begins as many units earlier; ahead 0: rows begin with sectors, or are too short.
**
**   sectors             |               |               |
**   row                        xxxxxxxxxxxxxxxxxxxxxx
**   words, sheared      |   |   | xx|xxx|xxx|xxx|xxx|xx
**
** Twisted  Neighbouring threads read units that are a word of units apart along the first
** thread axis. Where these lie so in shared memory that they meet the same banks, pieces
** go on by another 16 bytes after each word: piece p lies (p >> twist_log) * 16 further.
**
** Rotated  The units of a word are read one by one, by all threads of a warp at a
** time. If neighbouring threads meet different banks, but 1 << rotate_log of them all of
** these, the next ones begin with another unit: thread n with number n >> rotate_log,
** modulo the units of a word, which is rotated at last. MT_STAGED_STRAIGHT: all begin
** with the first.
**
**   threads, rotate_log 1    0 1 2 3 4 5 6 7
**   units, read in turn      0 0 1 1 2 2 3 3,   1 1 2 2 3 3 0 0,   2 2 3 3 0 0 1 1, ...
**
** Alone  Of short rows that begin or end within words a thread writes units one by one,
** of some rows the same: neighbouring threads write neighbours, so that a row is one
** store or two of a warp, where its words and the units of their ends would be several.
**
** Turned  Rows are numbered by the value axes, the nearest of the source first. Short
** rows with gaps between them are written in another order: those of the axes before the
** nearest one of the destination, `turn` rows, come last. So neighbouring threads write
** rows that are neighbours there, and a line comes to the L2 at once. Rows that are
** alone:
**
**   row number       a + turn * (q + each * b),   a < turn, q < each
**   the table has    the rows a + turn * each * b, `firsts` of them, then the rows
**                    turn * q
**
** and a row lies at the sum of two of these. A thread has one unit of one q, of `lanes`,
** and writes it for some of the firsts: what it looks up is the same for all of a warp.
**
** A block has one tile. Shared memory has, in this order: the table of units, that of
** rows, that of pieces, where the tile begins, the tile.
*/
#ifndef MT_DESC_STAGED_DESC_H
#define MT_DESC_STAGED_DESC_H

#include "desc/gather_desc.h"

enum {
  MT_STAGED_LEVELS = 8,
  MT_STAGED_AXES = 24,
  MT_STAGED_PIECES = 1024, /* of a tile, at most */
  MT_STAGED_MOST = 16,     /* words of a thread, at most */
  MT_STAGED_ALONE = 64,    /* units of a row that are written one by one, at most */
  MT_STAGED_ROWS = 8192,   /* such rows of a tile, at most */
  MT_STAGED_TILE = 48,     /* bytes that say where a tile begins */
  MT_STAGED_STRAIGHT = 31, /* the logarithm for words that are not rotated */
  MT_STAGED_SHARED = 49152 /* bytes of shared memory, at most */
};

enum { MT_STAGED_LEVELSHIFT = 20 };

/* Pieces in a row: how many, and from one to the next in bytes of the source and of
** shared memory. n * mul >> MT_STAGED_LEVELSHIFT is n / extent: both are MT_STAGED_PIECES
** at most. */
typedef struct mt_staged_level {
  uint32_t extent, mul;
  int32_t src, shared;
} mt_staged_level;

/* A thread writes words k, k + step, k + 2 step, ... of a row, so many at most: unit
** n of the second lies skip[1] bytes behind unit n of the first in shared memory, of the
** third skip[2], and so on, whatever k is. So the table has only the first `step`
** words. */
#define MT_STAGED_WORDS(bytes) (64 / MT_GATHER_WORD(bytes))
/* Of these so many are on their way at once; one or two of those that have no more. */
#define MT_STAGED_FLIGHT(bytes) ((bytes) < 16 ? 4 : 2)

/* Piece p of a tile is at index p of the levels, the first fastest. All follows from the
** tile's cut, the axes and where both sides begin. */
typedef struct mt_staged {
  mt_gather tile;          /* its table has 2 bytes for a unit of `step` words */
  uint32_t pieces, length; /* of a tile; bytes of one */
  uint32_t pitch;          /* bytes of the vectors that a piece may touch */
  uint32_t pitch_mul;      /* n * pitch_mul >> 32 is n / pitch, for these of all */
  int32_t reach;           /* bytes from a tile's lowest byte to its last */
  mt_divisor step;         /* words from one of a thread to its next */
  uint32_t times;          /* words of a thread, at most: of one of the first */
  uint32_t even;           /* 1: of all threads, and a multiple of those in flight */
  mt_divisor alone;        /* units of a row that are written one by one; 0: words */
  uint32_t gaps;           /* bytes from row to row of the destination, if these are */
                           /* short and have gaps: lines at their ends are asked for */
  mt_divisor turn;         /* see above; 1: rows are written as they are numbered */
  mt_divisor each, lanes;  /* of rows that are alone, see above */
  uint32_t firsts;
  uint32_t asks;                /* rows of each for which one asks for lines */
  mt_divisor askers;            /* how many rows of each ask */
  int32_t skip[MT_STAGED_MOST]; /* bytes of shared memory */
  uint32_t levels;              /* 0: there is one piece */
  int32_t low;                  /* bytes from the tile's first unit to its lowest byte */
  uint32_t first;               /* where that unit lies behind the byte, when staged, */
  uint32_t before;              /* and what of it is of the row: the table begins there */
  uint32_t twist;               /* the level that is twisted, from 1 on; 0: none */
  uint32_t twist_log;           /* pieces of a word */
  int32_t twist_from;           /* the first unit's piece */
  uint32_t rotate_log;          /* which unit of its word a thread reads first */
  uint32_t pieces_at, tile_at, data_at; /* in shared memory */
  uint32_t size;                        /* of shared memory */
  int32_t stride[MT_STAGED_AXES]; /* of the thread and value axes in shared memory */
  mt_staged_level level[MT_STAGED_LEVELS];
} mt_staged;

#endif
