/*
** copy_gather.h - private: the tables of units from anywhere (cpu/copy_gather.c).
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_COPY_GATHER_H
#define MT_CPU_COPY_GATHER_H

#include "cpu/copy.h"
#include "core/simd.h"

#if defined(MT_STREAM) && defined(__GNUC__)
#define MT_SHUFFLE 1
#endif

enum {
  MT_BOX = 512,       /* bytes of a box, about */
  MT_MOSTBOX = 1024,  /* at most */
  MT_MANYBOXES = 16,  /* of a run: what is left of one is little */
  MT_FEWBYTES = 1024, /* that do not go past the caches */
  MT_TURN = 4096,     /* bytes of a row that are written before the next row is */
  MT_LINE = 64,       /* bytes that the source has together in a cache */
  MT_VECTOR = 16,
  MT_LINES = 2048,  /* that a group of tiles asks for, at most */
  MT_WINDOWS = 12,  /* of a vector, at most */
  MT_FEWWINDOWS = 2 /* so few that memory takes longer than they do */
};

typedef struct window {
  uint8_t mask[16];
  int32_t src;
} window;

struct mt_cpu_gather {
  int64_t unit, units, bytes;        /* bytes of a unit; of a box: units, bytes */
  int64_t step;                      /* indices of the axis a of a box */
  int64_t windows;                   /* of each vector; 0: units go one by one */
  int64_t rows, row[MT_CPU_ROWS][2]; /* what each adds on both sides */
  int32_t at[MT_MOSTBOX];            /* where a unit lies in the source */
  int64_t vectors;
  int32_t to[MT_MOSTBOX / 16];    /* where each vector is */
  uint8_t count[MT_MOSTBOX / 16]; /* of its windows */
  window list[MT_MOSTBOX / 16 * MT_WINDOWS];
  int64_t lines;          /* of the source, of a group of tiles: */
  int32_t line[MT_LINES]; /* where they are */
};

#endif
