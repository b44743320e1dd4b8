/*
** mt_choice.h - private: the ways in which a copy without a partition can be done, and what
** each costs.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CHOICE_H
#define MT_CHOICE_H

#include "mt_device.h"
#include "mt_plan.h"

/* What a way costs on a GPU: bytes of memory that are moved, what part of its tiles is
** used, microseconds. A prediction for an H200; elsewhere it is the order that counts. */
typedef struct mt_cost { double traffic, used, us; } mt_cost;

void mt_cost_of (mt_cost *out, const mt_launch *l);

/* Ways below MT_MAXWIDTH: FLAT by accesses of 16 >> way bytes; the others: those of
** mt_tile_form, by the widest accesses. */
enum { MT_WAYS = MT_MAXWIDTH + MT_TILEWAYS };

/* The cheapest way as predicted, ties to FLAT. `wide` is FLAT by the widest accesses (which
** touch no more memory than narrower ones) and becomes it; why->tile says why there are no
** tiles. */
void mt_cheapest (mt_launch *wide, mt_narrow *why);

/* A way and a kernel of the device for it. */
typedef struct mt_option {
  int way;
  const mt_kernel *kernel;
  mt_grid grid;
  mt_launch launch;
} mt_option;

/* The next option of a plan of a copy, the first after a cleared one: by ways, the wider and
** the simpler first, then by rows. False: there is no other. A partition has one way. A
** backend that prepares plans itself has no options. */
bool mt_option_next (mt_option *o, const mt_plan *p);

#endif
