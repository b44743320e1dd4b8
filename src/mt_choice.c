/*
** mt_choice.c - the ways in which a copy can be done, and the cheapest.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "mt_choice.h"

/* Ways below MT_MAXWIDTH: FLAT by accesses of 16 >> way bytes; then the forms from
** MT_FIRSTFORM on, by the widest accesses. */
enum {
  MT_FIRSTFORM = MT_FORM_FLAT + 1,
  MT_WAYS = MT_MAXWIDTH + MT_NFORM - MT_FIRSTFORM
};

/* ---------------------------------------------------------------- choosing */

/* Why no tiles: they would be slower. */
static void say_slower (mt_narrow *why, const mt_cost *tiles, const mt_cost *best) {
  snprintf(why->tile, sizeof why->tile, "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without", 100 * tiles->used, tiles->us, best->us);
}

/* Forms that could not be faster than what was found are not made: boxes take long. */
static void find_other (mt_launch *best, mt_cost *least, mt_cost *tiles,
                        const mt_launch *flat, mt_narrow *why) {
  for (int form = MT_FIRSTFORM; form < MT_NFORM; form++) {
    char reason[MT_REASON];
    mt_launch l = *flat;
    mt_cost cost;
    if (least->us >= 0 && mt_form_least(flat, (mt_form)form) >= least->us) continue;
    if (!mt_form_make(&l, (mt_form)form, reason)) {
      if (form == MT_FORM_TILE) snprintf(why->tile, sizeof why->tile, "%s", reason);
      continue;
    }
    mt_cost_of(&cost, &l, NULL);
    if (form <= MT_FORM_SHEAR) *tiles = cost, why->sheared = form == MT_FORM_SHEAR;
    if (least->us < 0 || cost.us < least->us) *best = l, *least = cost;
  }
}

void mt_cheapest (mt_launch *wide, mt_narrow *why) {
  const mt_launch flat = *wide;
  mt_cost tiles = {.us = -1}, least = {.us = -1}, cost;
  find_other(wide, &least, &tiles, &flat, why);
  if (least.us < 0) return;
  if (mt_form_least(&flat, MT_FORM_FLAT) <= least.us) {
    mt_cost_of(&cost, &flat, NULL);
    if (cost.us <= least.us) *wide = flat, least = cost;
  }
  if (tiles.us > least.us) say_slower(why, &tiles, &least);
}

/* ---------------------------------------------------------------- options */

/* By accesses of so many bytes, of the wider side. */
static bool flat_by (mt_launch *l, uint32_t width) {
  const uint32_t elem = MT_ELEM(&l->desc, MT_DST);
  mt_narrow why;
  mt_err err = MT_NOERR;
  return mt_widen_to(l, &why, NULL, width, &err) == MT_OK &&
         l->desc.vec * (elem > l->desc.elem ? elem : l->desc.elem) == width;
}

/* The copy in this way; false if it cannot be done so. */
static bool make_way (mt_launch *l, int way) {
  char reason[MT_REASON];
  mt_narrow why;
  mt_err err = MT_NOERR;
  if (way < MT_MAXWIDTH) return flat_by(l, 1u << (MT_MAXWIDTH - 1) >> way);
  return l->desc.rests > 0 && mt_widen(l, &why, NULL, &err) == MT_OK &&
         mt_form_make(l, (mt_form)(way - MT_MAXWIDTH + MT_FIRSTFORM), reason);
}

static bool next_row (mt_option *o, const mt_plan *p) {
  const mt_backend *b = p->device->backend;
  const mt_kernel *first = o->kernel ? o->kernel + 1 : b->kernels;
  mt_why why = {{0}, 0};
  o->kernel = mt_kernel_choose(first, (size_t)(b->kernels + *b->nkernels - first),
                               &o->launch.desc, &o->grid, &why);
  return o->kernel != NULL;
}

static bool next_partitioned (mt_option *o, const mt_plan *p) {
  o->launch = p->launch;
  return next_row(o, p);
}

bool mt_option_next (mt_option *o, const mt_plan *p) {
  if (p->launch.desc.op != MT_OP_COPY || p->stage != NULL ||
      p->device->backend->prepare)
    return false;
  if (p->launch.desc.form == MT_FORM_TV) return next_partitioned(o, p);
  if (o->kernel && next_row(o, p)) return true;
  for (o->way += o->launch.desc.elem != 0; o->way < MT_WAYS; o->way++) {
    o->launch = p->first;
    if (make_way(&o->launch, o->way) && next_row(o, p)) return true;
  }
  return false;
}
