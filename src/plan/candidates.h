/*
** candidates.h - private: the ways in which the copy of a plan can be done.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_CANDIDATES_H
#define MT_PLAN_CANDIDATES_H

#include "plan/device.h"

/* A way and a kernel of the device for it. */
typedef struct mt_plan_choice {
  int way;
  const mt_kernel *kernel;
  mt_grid grid;
  mt_launch launch;
} mt_plan_choice;

/* The next option of a plan of a copy, the first after a cleared one: STRIDED, the wider
** the sooner, then the other algorithms, by the widest accesses; of each its rows. No two
** have kernel and width in common. False: there is no other. A partition has one way. A
** backend that prepares plans itself has no options, nor has a copy between the host and
** a device. */
bool mt_plan_next_candidate (mt_plan_choice *o, const mt_plan *p);

#endif
