/*
** choice.h - private: the cheapest algorithm of a copy.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_CHOICE_H
#define MT_COPY_CHOICE_H

#include "copy/copy.h"

/* The cheapest algorithm as predicted, ties to STRIDED. `wide` is STRIDED by the widest
** accesses (which touch no more memory than narrower ones) and becomes it; why->tile says
** why no tiles were taken. */
void mt_cheapest (mt_launch *wide, mt_vector_limits *why);
/* The same; all: of all algorithms and tiles, none left out because it could not be
** better. */
void mt_cheapest_of (mt_launch *wide, mt_vector_limits *why, bool all);

#endif
