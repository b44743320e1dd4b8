/*
** kernel_choice.c - the kernel that does a copy, its grid, and why not others.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "copy/kernel_choice.h"
#include "desc/cast_desc.h"
#include "desc/swizzle.h"

/* Whether a row's type stands for one of so many bytes. */
static bool stands_for (uint32_t type, uint32_t bytes) {
  return type == MT_any ||
         (type >= MT_any1 && type <= MT_any8 && 1u << (type - MT_any1) == bytes);
}

static bool converts (const mt_kernel *k, const mt_desc *d) {
  if (k->cast == d->cast || k->cast == MT_CAST_ALL) return true;
  if (d->cast == 0 || k->cast == 0) return false;
  if (MT_CAST_ROUNDING(d->cast) != MT_ROUND_NEAREST) return k->cast == MT_CAST_ROUNDS;
  return stands_for(MT_CAST_SRC(k->cast), d->elem) &&
         stands_for(MT_CAST_DST(k->cast), d->to);
}

/* Rows of another operation, algorithm, width or conversion, or of plain sides if they
** are swizzled, are not alternatives: they go without a word. */
static bool same_kind (const mt_kernel *k, const mt_desc *d) {
  bool swizzles = mt_desc_is_swizzled(d);
  if (k->op != d->op || k->algo != d->algo || !converts(k, d)) return false;
  if (k->bytes == 0) return k->swizzled || !swizzles;
  return k->bytes == d->elem * d->vec && k->swizzled == swizzles;
}

/* What CUDA kernels convert, and in which algorithm. */
static const struct {
  uint32_t algo, cast;
} casts[] = {
#define MT_CAST_KERNEL(name, algo, src, dst)                                             \
  {MT_ALGO_##algo, MT_CAST(MT_##src, MT_##dst)},
#include "kernels/cast/cast.def"
};

/* Types of so many bytes, to the nearest: as fast as of two types. */
static bool sized (uint32_t cast, const mt_desc *d) {
  const uint32_t src = MT_CAST_SRC(cast), dst = MT_CAST_DST(cast);
  return src >= MT_any1 && src <= MT_any8 && stands_for(src, d->elem) &&
         stands_for(dst, d->to) && MT_CAST_ROUNDING(d->cast) == MT_ROUND_NEAREST;
}

bool mt_kernel_casts (const mt_desc *d, uint32_t algo, bool own) {
  for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
    if (casts[i].algo != algo) continue;
    if ((casts[i].cast == d->cast || sized(casts[i].cast, d)) && !mt_desc_is_swizzled(d))
      return true;
    if (casts[i].cast == MT_CAST_ANY && !own) return true;
  }
  return false;
}

const mt_kernel *mt_kernel_choose (const mt_kernel *rows, size_t n, const mt_desc *d,
                                   mt_grid *grid, mt_refusals *why) {
  for (const mt_kernel *k = rows; k < rows + n; k++) {
    const mt_algo *a = mt_algo_of(d->algo);
    if (!same_kind(k, d) || (a->suits && !a->suits(k, d))) continue;
    if (a->fits && !a->fits(k, d, why)) continue;
    *grid = a->grid(k, d);
    return k;
  }
  return NULL;
}
