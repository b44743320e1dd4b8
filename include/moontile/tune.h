/*
** tune.h - why a plan has its kernel, what else there is, how long that takes.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too. A candidate is a kernel that can do what a
** plan does, or one that was considered and cannot.
*/
#ifndef MOONTILE_TUNE_H
#define MOONTILE_TUNE_H

#include "moontile/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MT_MAXPLANCANDIDATES = 64, MT_CANDIDATE_REASON = 160, MT_KEY_SIZE = 160 };

/* MT_OK: the plan launches one kernel, of which the functions below tell. Else
** MT_EUNSUPPORTED: it is of a copy between the host and a device (mt_plan_transfer): that
** has no candidates, no key, and is neither measured nor taken otherwise. */
MT_API mt_status mt_plan_is_launch (const mt_plan *p, mt_err *err);

typedef struct mt_plan_candidate {
  char kernel[64];
  const char *algo; /* "described", "strided", "rows", or how it goes through shared
                               ** memory: "transpose", "permute", ...; of a product its
                               ** family: "hopper", "ampere"; not possible: "" */
  bool possible, chosen;
  int vector; /* of a copy: bytes of an access to the source; 0: not known */
  int parts;  /* of a product by a family: of its K; else 0 */
  /* On a GPU, else 0: microseconds as predicted for an H200; of copies, also bytes of
  ** memory that are moved, sectors of 32 bytes counted whole, and what part of its tiles
  ** or vectors is used. */
  double traffic, used, predicted;
  char why[MT_CANDIDATE_REASON]; /* it was not chosen; of the chosen "" */
} mt_plan_candidate;

/* Writes at most MT_MAXPLANCANDIDATES and returns how many. Laws of copies', and
** of products' on a GPU that were not given an instruction:
** (1) one is chosen: the kernel of the plan, and its vector or parts;
** (2) if nobody asked for it (mt_plan_take), none of the possible ones is predicted to be
**     faster by more than a hundredth and a fifth of a microsecond; of copies of 6
**     microseconds and less, whose tiles are searched for a short time, by more than a
**     third;
** (3) all that are possible copy the same elements, or give the same sums of products.
** Algorithms that are not possible are rows too: copy_NAME, and what it is for. On a CPU
** the one that was chosen is the only possible one. Of a product by an instruction: the
** kernels for its types. */
MT_API int mt_plan_why (mt_plan_candidate out[MT_MAXPLANCANDIDATES], const mt_plan *p);

/* Another of the possible ones, prepared and proven anew. how: its vector; of a product
** its parts. memory: bytes of device memory that a product may take besides what it has,
** for tensors that the kernel wants in another form; 0: any. What it does not need any
** more is given back, unless a graph holds the plan. Errors, then the plan is as it was:
** MT_EUNSUPPORTED (no way to do it), MT_ELIMIT (memory), those of memory and the
** driver. */
MT_API mt_status mt_plan_take (mt_plan *p, const char *kernel, int how, size_t memory,
                               mt_err *err);

/* Whether each launch adds to what is there: a product with beta. */
MT_API bool mt_plan_adds (const mt_plan *p);

/* Launches it n times on the device's own stream and waits: the microseconds of all, as
** the device tells them. What is written is written n times: for a product with beta that
** is not the same as once. Errors: MT_EINVAL while the device records a graph. */
MT_API mt_status mt_plan_measure (mt_plan *p, int n, double *us, mt_err *err);

/* What copies, or products, have in common that differ in nothing but addresses of the
** same alignment: 16 digits, a tabulator, the device's name. Like snprintf; MT_KEY_SIZE
** is enough. Two with one key may differ in theory; then at worst a slower kernel is
** taken. */
MT_API size_t mt_plan_key (char *buf, size_t size, const mt_plan *p);

#ifdef __cplusplus
}
#endif

#endif
