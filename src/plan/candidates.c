/*
** candidates.c - the ways in which the copy of a plan can be done, one after another.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "copy/kernel_choice.h"
#include "plan/candidates.h"

/* Ways below MT_MAXWIDTH: STRIDED by accesses of 16 >> way bytes; then the algorithms by
** the widest accesses. */
enum { MT_WAYS = MT_MAXWIDTH + MT_NALGO };

/* By accesses of so many bytes, of the wider side. */
static bool flat_by (mt_launch *l, uint32_t width) {
  const uint32_t elem = MT_ELEM(&l->desc, MT_DST);
  mt_vector_limits why;
  mt_err err = MT_NOERR;
  return mt_vectorize_to(l, &why, NULL, width, &err) == MT_OK &&
         l->desc.vec * (elem > l->desc.elem ? elem : l->desc.elem) == width;
}

/* The copy in this way; false if it cannot be done so. */
static bool make_way (mt_launch *l, int way) {
  char reason[MT_REASON];
  mt_vector_limits why;
  mt_err err = MT_NOERR;
  if (way < MT_MAXWIDTH) return flat_by(l, 1u << (MT_MAXWIDTH - 1) >> way);
  const mt_algorithm algo = (mt_algorithm)(way - MT_MAXWIDTH);
  return mt_algo_of(algo)->make != NULL && l->desc.rests > 0 &&
         mt_vectorize(l, &why, NULL, &err) == MT_OK &&
         mt_algo_make(l, algo, NULL, reason);
}

static bool next_row (mt_plan_choice *o, const mt_plan *p) {
  const mt_backend *b = p->device->backend;
  const mt_kernel *first = o->kernel ? o->kernel + 1 : b->kernels;
  mt_refusals why = {0};
  o->kernel = mt_kernel_choose(first, (size_t)(b->kernels + *b->nkernels - first),
                               &o->launch.desc, &o->grid, &why);
  return o->kernel != NULL;
}

static bool next_partitioned (mt_plan_choice *o, const mt_plan *p) {
  o->launch = p->launch;
  return next_row(o, p);
}

bool mt_plan_next_candidate (mt_plan_choice *o, const mt_plan *p) {
  if (p->launch.desc.op != MT_OP_COPY || p->stage != NULL || p->device->backend->prepare)
    return false;
  if (p->launch.desc.algo == MT_ALGO_DESCRIBED) return next_partitioned(o, p);
  if (o->kernel && next_row(o, p)) return true;
  for (o->way += o->launch.desc.elem != 0; o->way < MT_WAYS; o->way++) {
    o->launch = p->first;
    if (make_way(&o->launch, o->way) && next_row(o, p)) return true;
  }
  return false;
}
