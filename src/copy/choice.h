/*
** choice.h - private: the cheapest algorithm of a copy.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_CHOICE_H
#define MT_COPY_CHOICE_H

#include <math.h>

#include "copy/copy.h"

/* A search for tiles, which takes as long as planning without it, is made for what could
** take less than MT_WORTH of the time that was found already, and by more microseconds
** than MT_WORTH_US; of short copies, less than MT_WORTH_SHORT of it. mt_worth: less than
** so many microseconds. */
#define MT_WORTH 0.99
#define MT_WORTH_US 0.2
#define MT_WORTH_SHORT 0.95
static inline double mt_worth (double us) {
  return fmax(us * MT_WORTH_SHORT, fmin(us * MT_WORTH, us - MT_WORTH_US));
}

/* The cheapest algorithm as predicted, to mt_worth, ties to STRIDED. `wide` is STRIDED by
** the widest accesses (which touch no more memory than narrower ones) and becomes it;
** why->tile says why no tiles were taken. */
void mt_cheapest (mt_launch *wide, mt_vector_limits *why);
/* The same; all: of all algorithms and tiles, none left out because it could not be
** better. */
void mt_cheapest_of (mt_launch *wide, mt_vector_limits *why, bool all);

#endif
