/*
** families.h - private: products by the families of kernels, which compete by prediction.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_FAMILIES_H
#define MT_PLAN_FAMILIES_H

#include "plan/device.h"

/* A way to do a product: a row of a family, and the parts of its K. */
typedef struct mt_way {
  int family, row, parts; /* parts 0: before the first */
  const mt_kernel *kernel;
  double us; /* as predicted */
  union {
    mt_ampere ampere;
    mt_hopper hopper;
  };
} mt_way;

/* The next way of a plan that has a family's kernel, the first after a cleared one.
** False: there is no other. */
bool mt_next_way (mt_way *w, const mt_plan *p);
const char *mt_way_family (const mt_way *w);
/* The parts of K of a plan that has a family's kernel; 0: it has none. */
int mt_plan_parts (const mt_plan *p);

/* Gives a proven product the kernel that is predicted to be the fastest, and what that
** takes in another form, or says in p->why what each family lacks. *found: it has one.
** Errors: MT_ENOMEM; MT_EUNSUPPORTED where o->family has none. */
mt_status mt_choose_family (bool *found, mt_plan *p, const mt_tensor *const t[MT_PARTS],
                            const mt_gemm_options *o, mt_err *err);

/* Another way, prepared; on failure the plan is as it was. memory: as in
** mt_gemm_options. Errors: MT_EUNSUPPORTED, MT_ELIMIT, those of memory and copies. */
mt_status mt_take_way (mt_plan *p, const char *kernel, int parts, size_t memory,
                       mt_err *err);

#endif
