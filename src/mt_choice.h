/*
** mt_choice.h - private: the forms of copies, the ways in which a copy without a
** partition can be done, and what each costs.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CHOICE_H
#define MT_CHOICE_H

#include "mt_device.h"
#include "mt_plan.h"

/* ---------------------------------------------------------------- forms */

/* What a copy costs on a GPU: bytes of memory that are moved; what part of its tiles or
** vectors is used; microseconds, of which `least` pass whatever is moved, and how many
** times as long as at best the rest takes. A prediction for an H200; elsewhere it is the
** order that counts. */
typedef struct mt_cost { double traffic, used, least, slow, us; } mt_cost;

/* A form: one row of mt_forms. `cost` adds to traffic and least, which are 0, and to slow
** and used, which are 1. */
typedef struct mt_form_row {
  const char *name;              /* in tables of ways; copy_NAME is a family of kernels */
  double speed, cast;            /* at best, of what memory has; if it converts */
  double any_us;                 /* microseconds more of an element, of any two types */
  mt_form_maker *make;           /* NULL: a flat copy does not become it */
  void (*cost) (mt_cost *c, const mt_launch *l);
  const char *needs;             /* of a copy, if `make` says nothing */
} mt_form_row;
extern const mt_form_row mt_forms[MT_NFORM];

/* By this kernel; NULL: by the first one that can. */
void mt_cost_of (mt_cost *out, const mt_launch *l, const mt_kernel *k);
/* Microseconds that the form takes at least for the elements of l. */
double mt_form_least (const mt_launch *l, mt_form form);

/* The flat copy in a form that has `make`. False, and why not ("": there is nothing to
** say): it is as it was. */
bool mt_form_make (mt_launch *l, mt_form form, char *why);

/* ---------------------------------------------------------------- ways */

/* The cheapest form as predicted, ties to FLAT. `wide` is FLAT by the widest accesses
** (which touch no more memory than narrower ones) and becomes it; why->tile says why no
** tiles were taken. */
void mt_cheapest (mt_launch *wide, mt_narrow *why);

/* A way and a kernel of the device for it. */
typedef struct mt_option {
  int way;
  const mt_kernel *kernel;
  mt_grid grid;
  mt_launch launch;
} mt_option;

/* The next option of a plan of a copy, the first after a cleared one: FLAT, the wider the
** sooner, then the other forms, by the widest accesses; of each its rows. No two have
** kernel and width in common. False: there is no other. A partition has one way. A
** backend that prepares plans itself has no options, nor has a copy between the host and
** a device. */
bool mt_option_next (mt_option *o, const mt_plan *p);

#endif
