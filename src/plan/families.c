/*
** families.c - products by the families of kernels: the fastest as predicted, another.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "plan/families.h"
#include "plan/kept.h"
#include "plan/pack.h"
#include "plan/stream_k.h"

/* ---------------------------------------------------------------- ways */

/* choose: the best row, or negative, and why. take: the row and the parts of w, if it
** does the product so. Both fill its predicted time and its launch. */
typedef int chooser (mt_way *w, const mt_plan *p, char *why, size_t size);
typedef bool taker (mt_way *w, const mt_plan *p);

/* Parts of K that share a tile in a cluster: of GPUs that have the other family. */
static int most_parts (const mt_plan *p) {
  return p->device->hopper ? MT_AMPERE_MOST_PARTS : 1;
}

static int choose_ampere (mt_way *w, const mt_plan *p, char *why, size_t size) {
  const int cores = p->device->cores;
  int row = mt_ampere_choose(&w->ampere, &p->gemm, cores, most_parts(p), why, size);
  w->us = w->ampere.us;
  w->parts = w->ampere.launch.parts;
  return row;
}

static bool take_ampere (mt_way *w, const mt_plan *p) {
  const mt_ampere_row *row = &mt_ampere_rows[w->row];
  if (w->parts > most_parts(p)) return false;
  bool takes = mt_ampere_take(&w->ampere, row, w->parts, &p->gemm, p->device->cores);
  w->us = w->ampere.us;
  return takes;
}

static int choose_hopper (mt_way *w, const mt_plan *p, char *why, size_t size) {
  int row = mt_hopper_choose(&w->hopper, &p->gemm, p->device->cores, why, size);
  w->us = w->hopper.us;
  w->parts = w->hopper.launch.parts;
  return row;
}

static bool take_hopper (mt_way *w, const mt_plan *p) {
  bool takes = mt_hopper_take(&w->hopper, w->row, w->parts, &p->gemm, p->device->cores);
  w->us = w->hopper.us;
  return takes;
}

static const struct family {
  const char *name;
  mt_op op;
  const size_t *rows;
  int most_parts;
  chooser *choose;
  taker *take;
} families[] = {{"hopper", MT_OP_HOPPER, &mt_nhopper_rows, MT_HOPPER_MOST_PARTS,
                 choose_hopper, take_hopper},
                {"ampere", MT_OP_AMPERE, &mt_nampere_rows, MT_AMPERE_MOST_PARTS,
                 choose_ampere, take_ampere}};
enum { NFAMILY = sizeof families / sizeof families[0] };

static bool has_family (const mt_device *d, const struct family *f) {
  return f->op == MT_OP_HOPPER ? d->hopper : d->ampere;
}

/* Whether the family may do the product, if it can. */
static bool may_do (const mt_plan *p, const struct family *f) {
  return has_family(p->device, f) &&
         (p->family == NULL || strcmp(p->family, f->name) == 0);
}

static void name_kernel (mt_way *w, const mt_plan *p) {
  w->kernel = mt_first_kernel(p->device->backend, families[w->family].op) + w->row;
}

/* More parts, else the next row, else the next family. */
static bool advance (mt_way *w) {
  if (w->parts != 0 && w->parts < families[w->family].most_parts) {
    w->parts *= 2;
    return true;
  }
  if (w->parts != 0) w->row++;
  w->parts = 1;
  if ((size_t)w->row == *families[w->family].rows) w->row = 0, w->family++;
  return w->family < NFAMILY;
}

bool mt_next_way (mt_way *w, const mt_plan *p) {
  if (mt_plan_parts(p) == 0) return false;
  while (advance(w)) {
    const struct family *f = &families[w->family];
    if (!may_do(p, f) || !f->take(w, p)) continue;
    name_kernel(w, p);
    return true;
  }
  return false;
}

const char *mt_way_family (const mt_way *w) { return families[w->family].name; }

int mt_plan_parts (const mt_plan *p) {
  if (p->launch.desc.op != MT_OP_GEMM || p->kernel == NULL) return 0;
  if (p->kernel->op == MT_OP_HOPPER) return p->hopper.launch.parts;
  return p->kernel->op == MT_OP_AMPERE ? p->ampere.launch.parts : 0;
}

/* ---------------------------------------------------------------- choosing */

static void install (mt_plan *p, const mt_way *w) {
  const bool hopper = families[w->family].op == MT_OP_HOPPER;
  if (hopper) p->hopper = w->hopper;
  else p->ampere = w->ampere;
  const int64_t tiles = hopper ? p->hopper.launch.tiles : p->ampere.launch.tiles;
  const uint32_t blocks = hopper ? p->hopper.blocks : mt_ampere_blocks(&p->ampere);
  p->kernel = w->kernel;
  p->grid = (mt_grid){blocks, p->kernel->threads};
  p->units = tiles;
}

/* The best of one family; false: none, and p->why says why. */
static bool ask_family (mt_way *w, mt_plan *p, int i) {
  char why[160] = "";
  *w = (mt_way){.family = i};
  w->row = families[i].choose(w, p, why, sizeof why);
  if (w->row < 0) {
    mt_refusals_add(&p->why, families[i].name, "%s", why);
    return false;
  }
  name_kernel(w, p);
  return true;
}

/* The best of all families that may do it, but of `left_out`; false: there is none. */
static bool find_family (mt_way *best, mt_plan *p, int left_out) {
  mt_way w;
  bool found = false;
  for (int i = 0; i < NFAMILY; i++) {
    if (i == left_out || !may_do(p, &families[i]) || !ask_family(&w, p, i)) continue;
    const bool wins = !found || w.us < best->us;
    const mt_way *slow = wins ? best : &w;
    if (found)
      mt_refusals_add(&p->why, mt_way_family(slow), "%.3g us as predicted, not %.3g",
                      slow->us, wins ? w.us : best->us);
    if (wins) *best = w;
    found = true;
  }
  return found;
}

/* What the kernel takes in another form, and memory for stream-K, within the bytes that
** may be taken for it: without these each tile has its block. */
static mt_status pack (mt_plan *p, const mt_tensor *const t[MT_PARTS], size_t most,
                       mt_err *err) {
  size_t bytes = 0;
  mt_stream_k_take(p, most);
  if (p->kernel->op != MT_OP_HOPPER) return MT_OK;
  if (p->memory) return mt_pack_place(p, err);
  MT_TRY(mt_pack_size(&bytes, p, err));
  if (bytes > most && most > 0)
    return mt_fail(err, MT_ELIMIT, "it takes %zu bytes, of which %zu may be taken", bytes,
                   most);
  return mt_pack(p, t, err);
}

/* It was asked for, and does not take the product. */
static mt_status no_family (const mt_plan *p, const char *name, mt_err *err) {
  const char *before = "; there are: ";
  if (p->why.n > 0)
    return mt_fail(err, MT_EUNSUPPORTED, "gemm: family %s: %s\nleave family out", name,
                   mt_refusals_reason(&p->why, 0));
  mt_fail(err, MT_EUNSUPPORTED, "gemm: %s has no kernels of a family \"%s\"",
          p->device->name, name);
  for (const struct family *f = families; f < families + NFAMILY; f++) {
    if (!has_family(p->device, f)) continue;
    mt_explain(err, "%s%s", before, f->name);
    before = ", ";
  }
  return err->status;
}

/* The name as it stays; of no family: the one that was given. */
static const char *static_name (const char *name) {
  for (const struct family *f = families; name && f < families + NFAMILY; f++)
    if (strcmp(name, f->name) == 0) return f->name;
  return name;
}

mt_status mt_choose_family (bool *found, mt_plan *p, const mt_tensor *const t[MT_PARTS],
                            const mt_gemm_options *o, mt_err *err) {
  mt_way w;
  mt_err packing = MT_NOERR;
  p->family = static_name(o->family);
  *found = find_family(&w, p, -1);
  if (*found) install(p, &w);
  if (*found && pack(p, t, o->memory, &packing) != MT_OK) {
    const int left_out = w.family;
    p->why = (mt_refusals){0};
    mt_refusals_add(&p->why, mt_way_family(&w), "%s", packing.text);
    *found = find_family(&w, p, left_out);
    if (*found) install(p, &w);
    else p->kernel = NULL;
  }
  if (*found) return mt_keep_tensors(p, t, err);
  return o->family ? no_family(p, o->family, err) : MT_OK;
}

/* ---------------------------------------------------------------- another way */

/* What the other families say of a product that has a way which was asked for. */
static void say_others (mt_plan *p, int taken) {
  p->why = (mt_refusals){0};
  for (int i = 0; i < NFAMILY; i++) {
    mt_way w;
    if (i == taken || !may_do(p, &families[i]) || !ask_family(&w, p, i)) continue;
    mt_refusals_add(&p->why, families[i].name, "%.3g us as predicted", w.us);
  }
}

/* The way of a plan that has one. */
static void read_way (mt_way *w, const mt_plan *p) {
  *w = (mt_way){.kernel = p->kernel, .parts = mt_plan_parts(p)};
  while (families[w->family].op != p->kernel->op) w->family++;
  if (p->kernel->op == MT_OP_HOPPER) w->hopper = p->hopper;
  else w->ampere = p->ampere;
}

/* Memory that a graph may read stays. */
static mt_status exchange (mt_plan *p, const mt_way *w, size_t memory, mt_err *err) {
  mt_way old;
  const mt_tensor *t[MT_PARTS];
  const bool packed = p->memory != NULL;
  read_way(&old, p);
  mt_kept_tensors(t, p);
  install(p, w);
  mt_status s = pack(p, t, memory, err);
  if (s == MT_OK) s = p->device->backend->prepare_gemm(p, err);
  if (s != MT_OK) install(p, &old);
  if (p->graphs == 0 && (s == MT_OK ? p->kernel->op != MT_OP_HOPPER : !packed))
    mt_unpack(p);
  if (s != MT_OK) return s;
  p->taken = true;
  say_others(p, w->family);
  return MT_OK;
}

mt_status mt_take_way (mt_plan *p, const char *kernel, int parts, size_t memory,
                       mt_err *err) {
  mt_way w = {.family = 0};
  while (mt_next_way(&w, p))
    if (w.parts == parts && strcmp(w.kernel->name, kernel) == 0)
      return exchange(p, &w, memory, err);
  return mt_fail(err, MT_EUNSUPPORTED,
                 "plan: %s with K in %d parts is no way to do it on %s\n"
                 "print(plan:why()) shows those that are",
                 kernel, parts, p->device->name);
}
