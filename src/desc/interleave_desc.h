/*
** interleave_desc.h - pieces of interleaved rows, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_INTERLEAVE_DESC_H
#define MT_DESC_INTERLEAVE_DESC_H

#include <stdint.h>

/* INTERLEAVE: a block takes so many accesses of each of n rows, together at most
** MT_INTERLEAVE_BYTES; of MT_INTERLEAVE_FEW rows or less, of accesses below
** MT_INTERLEAVE_LONG bytes, it takes 256 vectors of each. */
enum {
  MT_INTERLEAVE_MOST = 31,
  MT_INTERLEAVE_BYTES = 16384,
  MT_INTERLEAVE_FEW = 4,
  MT_INTERLEAVE_LONG = 4
};
#define MT_INTERLEAVE_GRAIN(bytes) ((bytes) < 8 ? 128 / (bytes) : 16)
#define MT_INTERLEAVE_PIECE(bytes, n)                                                    \
  ((bytes) < MT_INTERLEAVE_LONG && (n) <= MT_INTERLEAVE_FEW ?                            \
       (uint32_t)(4096 / (bytes)) :                                                      \
       (uint32_t)(MT_INTERLEAVE_BYTES / ((n) * (bytes))) / MT_INTERLEAVE_GRAIN(bytes) *  \
           MT_INTERLEAVE_GRAIN(bytes))

#endif
