/*
** vectorize.c - wide accesses, and the order of values and blocks.
** SPDX-License-Identifier: MIT
**
** A run is an axis with stride 1 on both sides. An access of v elements takes v of the
** run; all other strides, the first element's address and the length of the run must be
** multiples of v. A swizzle keeps 2^M elements together: v is at most that.
*/
#include <stdio.h>

#include "desc/axes.h"
#include "desc/swizzle.h"
#include "copy/copy.h"

static const char *const side_name[] = {"src", "dst"};

/* Bytes of an element, of the wider side. */
static uint32_t wide (const mt_desc *d) {
  return MT_ELEM(d, MT_DST) > d->elem ? MT_ELEM(d, MT_DST) : d->elem;
}

/* The axes of a launch, taken apart. `run`: the mode that accesses are made of. */
typedef struct mt_modes {
  mt_axes mode[3];
  int run;
} mt_modes;

static const char *mode_name (const mt_modes *x, int i) {
  static const char *const names[] = {"thread", "value", "rest"};
  return x->run == 2 ? "copy" : names[i];
}

/* ---------------------------------------- whether, and why not */

static const mt_axis *find_run (const mt_modes *x) {
  const mt_axes *a = &x->mode[x->run];
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].stride[MT_SRC] == 1 && a->axis[i].stride[MT_DST] == 1)
      return &a->axis[i];
  return NULL;
}

static bool no_run (const mt_modes *x, char *why) {
  const mt_axes *a = &x->mode[x->run];
  if (a->n == 0) {
    snprintf(why, MT_REASON, "%s has one element", x->run == 2 ? "the copy" : "a thread");
    return false;
  }
  int side = a->axis[0].stride[MT_DST] != 1 ? MT_DST : MT_SRC;
  snprintf(why, MT_REASON, "%s %s axis has stride %lld, not 1", side_name[side],
           mode_name(x, x->run), (long long)a->axis[0].stride[side]);
  return false;
}

static bool strides_divide (const mt_modes *x, const mt_axis *run, int64_t v, char *why) {
  for (int i = 0; i < 3; i++)
    for (const mt_axis *a = x->mode[i].axis; a < x->mode[i].axis + x->mode[i].n; a++)
      for (int side = 0; side < 2; side++) {
        if (a == run || a->stride[side] % v == 0) continue;
        snprintf(why, MT_REASON,
                 "%s %s axis has stride %lld, not a multiple of %d "
                 "elements",
                 side_name[side], mode_name(x, i), (long long)a->stride[side], (int)v);
        return false;
      }
  return true;
}

static bool addresses_divide (const mt_launch *l, uint32_t v, char *why) {
  for (int side = 0; side < 2; side++) {
    uint32_t elem = MT_ELEM(&l->desc, side), width = v * elem;
    int64_t where = l->desc.swizzle[side].mask ? l->origin[side] : l->offset[side];
    uint64_t at = (uint64_t)(uintptr_t)l->base[side] + (uint64_t)where * elem;
    if (at % width == 0) continue;
    snprintf(why, MT_REASON, "%s begins %d bytes past a multiple of %d bytes",
             side_name[side], (int)(at % width), (int)width);
    return false;
  }
  return true;
}

static bool swizzles_keep (const mt_launch *l, int64_t v, char *why) {
  for (int side = 0; side < 2; side++) {
    int64_t run = mt_desc_swizzle_run(l->desc.swizzle[side]);
    if (v > run) {
      snprintf(why, MT_REASON, "the swizzle of %s keeps %lld element%s together",
               side_name[side], (long long)run, run == 1 ? "" : "s");
      return false;
    }
    if (l->desc.swizzle[side].mask == 0 || l->offset[side] % v == 0) continue;
    snprintf(why, MT_REASON,
             "the offset under the swizzle of %s, %lld, is no multiple "
             "of %d elements",
             side_name[side], (long long)l->offset[side], (int)v);
    return false;
  }
  return true;
}

static bool can_be (const mt_launch *l, const mt_modes *x, uint32_t width, char *why) {
  const mt_axis *run = find_run(x);
  int64_t v = width / wide(&l->desc);
  why[0] = 0;
  if (v <= 1) return true;
  if (run == NULL) return no_run(x, why);
  if (run->extent % v != 0) {
    snprintf(why, MT_REASON, "%lld elements lie together, not a multiple of %d",
             (long long)run->extent, (int)v);
    return false;
  }
  return strides_divide(x, run, v, why) && swizzles_keep(l, v, why) &&
         addresses_divide(l, (uint32_t)v, why);
}

static uint32_t widest (const mt_launch *l, const mt_modes *x, uint32_t most,
                        mt_vector_limits *why) {
  const uint32_t elem = wide(&l->desc);
  uint32_t width = elem;
  for (int w = 0; w < MT_MAXWIDTH; w++) {
    why->reason[w][0] = 0;
    if (1u << w <= elem || 1u << w > most || (l->desc.cast && 1u << w < 16)) continue;
    if (can_be(l, x, 1u << w, why->reason[w])) width = 1u << w;
  }
  return width;
}

/* ---------------------------------------------------------------- doing it */

static void split_run (mt_launch *l, mt_modes *x, uint32_t width) {
  int64_t v = width / wide(&l->desc);
  mt_axis *run = (mt_axis *)find_run(x);
  if (v <= 1) return;
  l->desc.vec = (uint32_t)v;
  memcpy(l->desc.lane_step, run->step, sizeof run->step);
  run->extent /= v;
  run->stride[MT_SRC] = run->stride[MT_DST] = v;
  for (int k = 0; k < MT_MAXBOUND; k++) run->step[k] *= v;
  mt_axes_merge(&x->mode[x->run]);
}

static mt_status no_atom (const mt_tiled_copy *copy, int elem, uint32_t width,
                          const char *why, mt_err *err) {
  return mt_fail(err, MT_EALIGN,
                 "copy: UniversalCopy<uint%d_t> moves %d elements at "
                 "once, but %s\nUniversalCopy<uint%d_t> would do, or AutoVectorizingCopy",
                 copy->atom_bits, copy->atom_bits / (8 * elem), why, (int)width * 8);
}

/* Values and rests are done in any order; what an index of a thread or a block means
** stays. */
static void reorder (mt_launch *l, mt_modes *x) {
  for (int i = 1; i < 3; i++) {
    mt_axes_turn(&x->mode[i], l->offset);
    mt_axes_sort(&x->mode[i]);
    mt_axes_merge(&x->mode[i]);
  }
}

/* No reasons: texts need no more than their ends. */
static void clear (mt_vector_limits *why) {
  for (int w = 0; w < MT_MAXWIDTH; w++) why->reason[w][0] = 0;
  why->tile[0] = 0, why->unaligned = false;
}

mt_status mt_vectorize_to (mt_launch *l, mt_vector_limits *why, const mt_tiled_copy *copy,
                           uint32_t most, mt_err *err) {
  mt_modes x;
  x.run = l->desc.algo == MT_ALGO_STRIDED ? 2 : 1;
  clear(why);
  if (l->desc.rests == 0) return MT_OK;
  mt_axes_get(x.mode, &l->desc);
  reorder(l, &x);
  if (l->desc.cast && x.run == 1) return mt_axes_put(&l->desc, x.mode, err);
  uint32_t width = widest(l, &x, most, why);
  if (copy && copy->atom_bits != 0) {
    uint32_t asked = (uint32_t)copy->atom_bits / 8;
    char reason[MT_REASON];
    if (!can_be(l, &x, asked, reason))
      return no_atom(copy, (int)l->desc.elem, width, reason, err);
    width = asked;
  }
  split_run(l, &x, width);
  return mt_axes_put(&l->desc, x.mode, err);
}

mt_status mt_vectorize (mt_launch *l, mt_vector_limits *why, const mt_tiled_copy *copy,
                        mt_err *err) {
  return mt_vectorize_to(l, why, copy, 1u << (MT_MAXWIDTH - 1), err);
}
