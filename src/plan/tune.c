/*
** tune.c - the ways of a plan, and the key under which a measured one is kept.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/tune.h"
#include "copy/algo.h"
#include "desc/swizzle.h"
#include "plan/candidates.h"
#include "plan/families.h"

typedef struct mt_list {
  mt_plan_candidate *row;
  int n;
} mt_list;

/* NULL: the list is full. */
static mt_plan_candidate *add (mt_list *x, const char *kernel) {
  if (x->n == MT_MAXPLANCANDIDATES) return NULL;
  mt_plan_candidate *c = &x->row[x->n++];
  memset(c, 0, sizeof *c);
  snprintf(c->kernel, sizeof c->kernel, "%s", kernel);
  c->algo = "";
  return c;
}

/* The kernel, or one of that family: "copy_transpose" of copy_transpose_b4. */
static bool has (const mt_list *x, const char *kernel, size_t length) {
  for (const mt_plan_candidate *c = x->row; c < x->row + x->n; c++)
    if (strncmp(c->kernel, kernel, length) == 0 &&
        (c->kernel[length] == 0 || c->kernel[length] == '_'))
      return true;
  return false;
}

/* A way of the algorithm copy_NAME, whatever its kernel is called. */
static bool has_form (const mt_list *x, const char *name, size_t length) {
  for (const mt_plan_candidate *c = x->row; c < x->row + x->n; c++)
    if (c->algo[0] && strlen(c->algo) + 5 == length && memcmp(name, "copy_", 5) == 0 &&
        memcmp(name + 5, c->algo, length - 5) == 0)
      return true;
  return false;
}

/* The rest of what was refused. */
static void add_refused (mt_list *x, const mt_plan *p) {
  for (int i = 0; i < p->why.n; i++) {
    const char *name = p->why.name[i];
    if (has(x, name, strlen(name)) || has_form(x, name, strlen(name))) continue;
    mt_plan_candidate *c = add(x, name);
    if (c == NULL) return;
    snprintf(c->why, sizeof c->why, "%s", mt_refusals_reason(&p->why, i));
  }
}

static void fill (mt_plan_candidate *c, const mt_desc *d) {
  c->possible = true;
  c->algo = mt_algo_of(d->algo)->name;
  c->vector = (int)(d->vec * d->elem);
}

/* ---------------------------------------------------------------- copies */

static void add_options (mt_list *x, const mt_plan *p) {
  mt_plan_choice o = {0};
  while (mt_plan_next_candidate(&o, p)) {
    mt_cost cost;
    mt_plan_candidate *c = add(x, o.kernel->name);
    if (c == NULL) return;
    mt_cost_of(&cost, &o.launch, o.kernel);
    fill(c, &o.launch.desc);
    c->traffic = cost.traffic;
    c->used = cost.used;
    c->predicted = cost.us;
    c->chosen = o.kernel == p->kernel && o.launch.desc.algo == p->launch.desc.algo &&
                o.launch.desc.vec == p->launch.desc.vec;
  }
}

static void add_chosen (mt_list *x, const mt_plan *p) {
  mt_plan_candidate *c = add(x, mt_plan_name(p));
  c->possible = c->chosen = true;
}

static void say_why_not (mt_list *x, const mt_plan *p) {
  const mt_plan_candidate *best = x->row;
  while (best < x->row + x->n && !best->chosen) best++;
  assert(best < x->row + x->n);
  for (mt_plan_candidate *c = x->row; c < x->row + x->n; c++) {
    const char *why = p->taken ? "another was asked for" : "no faster, less simple";
    if (c->chosen) continue;
    if (c->predicted > best->predicted) why = "slower, as predicted";
    snprintf(c->why, sizeof c->why, "%s", why);
  }
}

/* The algorithms that it cannot have. */
static void add_forms (mt_list *x, const mt_plan *p) {
  mt_launch flat = p->first;
  mt_vector_limits narrow;
  mt_err err = MT_NOERR;
  if (mt_desc_is_swizzled(&flat.desc) || flat.desc.rests == 0 ||
      mt_vectorize(&flat, &narrow, NULL, &err) != MT_OK)
    return;
  for (uint32_t algo = 0; algo < MT_NALGO; algo++) {
    const mt_algo *a = mt_algo_of(algo);
    char name[32], reason[MT_REASON];
    mt_launch l = flat;
    int n = snprintf(name, sizeof name, "copy_%s", a->name);
    if (a->make == NULL || has_form(x, name, (size_t)n)) continue;
    mt_plan_candidate *c = add(x, name);
    if (c == NULL || mt_algo_make(&l, (mt_algorithm)algo, NULL, reason)) return;
    snprintf(c->why, sizeof c->why, "%s", reason[0] ? reason : a->needs);
  }
}

static void why_copy (mt_list *x, const mt_plan *p) {
  add_options(x, p);
  const bool all = x->n > 0 && p->launch.desc.algo != MT_ALGO_DESCRIBED;
  if (x->n == 0) {
    add_chosen(x, p);
    fill(x->row, &p->launch.desc);
  }
  say_why_not(x, p);
  if (all) add_forms(x, p);
  add_refused(x, p);
}

/* ---------------------------------------------------------------- products */

/* Of a plan that has a family's kernel. */
static void add_ways (mt_list *x, const mt_plan *p) {
  mt_way w = {.family = 0};
  while (mt_next_way(&w, p)) {
    mt_plan_candidate *c = add(x, w.kernel->name);
    if (c == NULL) return;
    c->possible = true;
    c->algo = mt_way_family(&w);
    c->parts = w.parts;
    c->predicted = w.us;
    c->chosen = w.kernel == p->kernel && w.parts == mt_plan_parts(p);
  }
}

static void add_instructions (mt_list *x, const mt_plan *p) {
  const mt_backend *b = p->device->backend;
  bool fit[MT_MAXROWS];
  mt_gemm_rows(fit, p);
  for (size_t i = 0; i < *b->nkernels; i++) {
    mt_plan_candidate *c =
        fit[i] && &b->kernels[i] != p->kernel ? add(x, b->kernels[i].name) : NULL;
    if (c) snprintf(c->why, sizeof c->why, "of another atom: %s", b->kernels[i].atom);
  }
}

static void why_product (mt_list *x, const mt_plan *p) {
  add_ways(x, p);
  if (x->n > 0) say_why_not(x, p);
  else add_chosen(x, p);
  add_refused(x, p);
  if (p->device->arch != 0) add_instructions(x, p);
}

int mt_plan_why (mt_plan_candidate out[MT_MAXPLANCANDIDATES], const mt_plan *p) {
  mt_list x = {out, 0};
  if (p->stage != NULL) return 0;
  if (p->launch.desc.op == MT_OP_GEMM) why_product(&x, p);
  else why_copy(&x, p);
  return x.n;
}

/* ---------------------------------------------------------------- keys */

/* FNV-1a. */
static uint64_t hash (uint64_t h, const void *data, size_t n) {
  const unsigned char *p = data;
  for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3;
  return h;
}

/* The largest power of two, 16 at most, that divides n. */
static uint32_t alignment (uint64_t n) { return (uint32_t)((n | 16) & (0 - (n | 16))); }

/* Where a side begins; of a swizzled one, and where under the swizzle. */
static uint64_t hash_begin (uint64_t h, const mt_launch *l, int side) {
  uint64_t elem = MT_ELEM(&l->desc, side), at = (uint64_t)l->offset[side] * elem;
  bool plain = l->desc.swizzle[side].mask == 0;
  uint64_t origin = (uint64_t)(uintptr_t)l->base[side] +
                    (plain ? at : (uint64_t)l->origin[side] * elem);
  uint32_t x[2] = {alignment(origin), plain ? 0 : alignment(at)};
  return hash(h, x, sizeof x);
}

static uint64_t hash_copy (uint64_t h, const mt_plan *p) {
  h = hash(h, &p->first.desc, sizeof p->first.desc);
  for (int side = 0; side < 2; side++) h = hash_begin(h, &p->first, side);
  return h;
}

/* The product, what kernels ask of its factors and addresses, and who may do it. */
static uint64_t hash_product (uint64_t h, const mt_plan *p) {
  const mt_gemm_launch *l = &p->gemm;
  const char *family = p->family ? p->family : "";
  uint32_t x[3 + MT_PARTS] = {l->precision, l->alpha == 1, l->beta != 0};
  uint32_t e[] = {l->activation, mt_has_beside(l, MT_BIAS),
                  mt_has_beside(l, MT_RESIDUAL)};
  for (int part = 0; part < MT_PARTS; part++)
    x[3 + part] = alignment((uint64_t)(uintptr_t)l->base[part] +
                            (uint64_t)l->offset[part] *
                                mt_dtype_size((mt_dtype)l->desc.part[part].dtype));
  h = hash(h, &l->desc, sizeof l->desc);
  h = hash(h, x, sizeof x);
  if (l->finishes) h = hash(h, e, sizeof e);
  for (int i = 0; i < MT_BESIDES; i++)
    if (e[1 + i]) h = hash(h, &l->beside[i], sizeof l->beside[i]);
  return hash(h, family, strlen(family));
}

size_t mt_plan_key (char *buf, size_t size, const mt_plan *p) {
  const uint64_t h = 0xcbf29ce484222325;
  if (size > 0) buf[0] = 0;
  if (p->stage != NULL) return 0;
  const bool product = p->launch.desc.op == MT_OP_GEMM;
  const char *about = p->device->about;
  int n = snprintf(buf, size, "%016llx\t%.*s",
                   (unsigned long long)(product ? hash_product(h, p) : hash_copy(h, p)),
                   (int)strcspn(about, ",\t\n"), about);
  return n < 0 ? 0 : (size_t)n;
}

bool mt_plan_adds (const mt_plan *p) {
  if (p->launch.desc.op != MT_OP_GEMM) return false;
  bool reads = p->gemm.beta != 0;
  for (int i = 0; i < MT_BESIDES; i++)
    reads = reads || (mt_has_beside(&p->gemm, i) && mt_beside_is_c(&p->gemm, i));
  return reads;
}
