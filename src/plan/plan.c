/*
** plan.c - plans: described, proven, given a kernel, launched, printed.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/tune.h"
#include "tile/bounds.h"
#include "copy/check.h"
#include "core/build.h"
#include "copy/choice.h"
#include "copy/kernel_choice.h"
#include "plan/candidates.h"
#include "plan/extend.h"
#include "plan/families.h"
#include "plan/kept.h"
#include "plan/pack.h"
#include "plan/stream_k.h"
#include "plan/stage.h"
#include "plan/gathered.h"
#include "plan/table.h"

static const char *const side_name[] = {"src", "dst"};

/* ---------------------------------------------------------------- proving */

/* The first mode of a destination with a stride of 0, from 1; 0 if there is none. */
static int broadcast_mode (const mt_node *a) {
  for (int i = 0; i < mt_rank(a); i++) {
    const mt_node *m = mt_mode(a, i);
    for (const mt_node *p = m; p < mt_next(m); p++)
      if (p->tag == MT_LEAF && p->shape > 1 && p->stride == 0) return i + 1;
  }
  return 0;
}

/* A way out of what the validator refused; "" where the words before say it already. */
static const char *way_out (mt_status s) {
  if (s == MT_EINJECTIVE)
    return "\nan element of dst is written once: give each value a place of its own";
  if (s == MT_EOVERLAP) return "\ncopy through a tensor of its own in between";
  return "";
}

/* What the validator said of the descriptor, in words about the tensors. */
static mt_status explain (const mt_tensor *src, const mt_tensor *dst, mt_err *err) {
  mt_err cause = *err;
  const char *way = way_out(cause.status);
  int mode = err->status == MT_EINJECTIVE ? broadcast_mode(mt_inner(dst->layout)) : 0;
  if (mode > 0 && strncmp(cause.text, "dst: ", 5) == 0)
    return mt_failn(err, cause.status, "copy: dst mode %d has stride 0: %s\ndst is %N%s",
                    mode, cause.text + 5, dst->layout, way);
  return mt_failn(err, cause.status,
                  "copy: %s\nsrc is %N at offset %lld\ndst is %N at offset %lld%s",
                  cause.text, src->layout, (long long)src->offset, dst->layout,
                  (long long)dst->offset, way);
}

static mt_status prove (mt_plan *p, const mt_tensor *src, const mt_tensor *dst,
                        mt_err *err) {
#ifdef MT_UNSAFE_NO_CHECK /* a test build, for a sanitizer to find what it does */
  if (mt_check_shape(&p->launch, err) == MT_OK) return MT_OK;
#else
  if (mt_check_copy(&p->launch, p->bytes, err) == MT_OK) return MT_OK;
#endif
  return explain(src, dst, err);
}

bool mt_device_runs_copy (const mt_device *d, const mt_copy_atom *a) {
  int64_t bits = mt_size(mt_mode(a->ref.node, 1)) * a->bits; /* 1: any number */
  if (d == NULL || a->own) return d != NULL;
  return mt_size(a->thr_id.node) == 1 && (bits == 1 || (bits % 8 == 0 && bits <= 128));
}

/* ---------------------------------------------------------------- kernels */

static int log_of (int n) {
  int log = 0;
  while (1 << log < n) log++;
  return log;
}

/* Wider rows of the same algorithm than the one that was taken. */
static void put_why (mt_plan *p, const mt_vector_limits *narrow,
                     const mt_tiled_copy *copy) {
  const mt_backend *b = p->device->backend;
  if (narrow->tile[0])
    mt_refusals_add(&p->why,
                    narrow->unaligned ? "copy_transpose_unaligned" : "copy_transpose",
                    "%s", narrow->tile);
  if (p->launch.desc.cast) return;
  const mt_kernel *end = p->kernel;
  if (mt_own_row_of(p->device, p->kernel)) end = b->kernels + *b->nkernels;
  for (const mt_kernel *k = b->kernels; k < end; k++) {
    if (k->bytes <= p->kernel->bytes || k->algo != p->kernel->algo ||
        k->swizzled != p->kernel->swizzled)
      continue;
    if (copy && copy->atom_bits != 0)
      mt_refusals_add(&p->why, k->name, "the atom moves %d bytes", copy->atom_bits / 8);
    else if (narrow->reason[log_of(k->bytes)][0])
      mt_refusals_add(&p->why, k->name, "%s", narrow->reason[log_of(k->bytes)]);
  }
}

static mt_status no_kernel (const mt_plan *p, mt_err *err) {
  const mt_refusals *w = &p->why;
  mt_fail(err, MT_EUNSUPPORTED, "copy: no kernel of %s fits:%s", p->device->backend->name,
          w->n == 0 ? "\nnone has this width" : "");
  for (int i = 0; i < w->n; i++)
    mt_explain(err, "\n%s: %s", w->name[i], mt_refusals_reason(w, i));
  return err->status;
}

static mt_status choose (mt_plan *p, const mt_vector_limits *narrow,
                         const mt_tiled_copy *copy, mt_err *err) {
  const mt_backend *b = p->device->backend;
  if (b->prepare) return b->prepare(p, err);
  const mt_desc *desc = &p->launch.desc;
  p->kernel = mt_own_copy(p->device, desc, &p->grid, &p->why);
  if (p->kernel == NULL)
    p->kernel = mt_kernel_choose(b->kernels, *b->nkernels, desc, &p->grid, &p->why);
  if (p->kernel == NULL) return no_kernel(p, err);
  put_why(p, narrow, copy);
  return MT_OK;
}

/* ---------------------------------------------------------------- plans */

void mt_plan_put_bounds (mt_plan *p, int n, const mt_tensor *const t[],
                         const char *const names[]) {
  size_t at = strlen(p->head);
  const char *before = "\nragged: ";
  for (int i = 0; i < n; i++) {
    char text[MT_HEADSIZE / 4];
    if (mt_ordinates(t[i]) == 0 || at >= sizeof p->head) continue;
    mt_bounds_format(text, sizeof text, t[i]->bounds);
    at += (size_t)snprintf(p->head + at, sizeof p->head - at, "%s%s %s", before, names[i],
                           text);
    before = ", ";
  }
}

/* "copy f32 LAYOUT -> LAYOUT", "copy f32 LAYOUT -> bf16 LAYOUT"; long layouts are cut. */
static void write_head (mt_plan *p, const mt_tensor *src, const mt_tensor *dst) {
  enum { MT_CUT = MT_HEADSIZE / 2 - 32 };
  const mt_tensor *side[] = {src, dst};
  char text[2][MT_CUT + 4];
  for (int o = 0; o < 2; o++)
    if (mt_format(text[o], MT_CUT + 1, side[o]->layout) > MT_CUT)
      strcpy(text[o] + MT_CUT, "...");
  bool cast = src->dtype != dst->dtype;
  mt_rounding r = MT_CAST_ROUNDING(p->launch.desc.cast);
  snprintf(p->head, sizeof p->head, "copy %s %s -> %s%s%s%s%s", mt_dtype_name(src->dtype),
           text[0], cast ? mt_dtype_name(dst->dtype) : "", cast ? " " : "", text[1],
           r ? ", rounding " : "", r ? mt_rounding_name(r) : "");
  mt_plan_put_bounds(p, 2, side, side_name);
}

static mt_status put_rounding (mt_plan *p, mt_rounding r, mt_err *err) {
  MT_CHECK((unsigned)r <= MT_ROUND_UP, err, "copy: no such rounding");
  uint32_t *cast = &p->launch.desc.cast;
  if (*cast) *cast = MT_CAST_ROUNDED(*cast, r);
  return MT_OK;
}

mt_status mt_plan_table (mt_plan *p, const mt_tiled_copy *copy,
                         mt_device *const device[2], const mt_tensor *src,
                         const mt_tensor *dst, mt_rounding r, mt_err *err) {
  MT_TRY(mt_table_make(p, copy, device, src, dst, err));
  MT_TRY(put_rounding(p, r, err));
  write_head(p, src, dst);
  return MT_OK;
}

static mt_status make (mt_plan *p, const mt_tiled_copy *copy, const mt_tensor *src,
                       const mt_tensor *dst, mt_rounding r, mt_err *err) {
  mt_vector_limits narrow, unused;
  const mt_tiled_copy *as = copy;
  bool values = mt_table_by(&as);
  if (values || as != copy) {
    MT_TRY(mt_check_tiled_copy(copy, src, err));
    MT_TRY(mt_check_wide(copy, src, dst, err));
  }
  if (values || mt_needs_table(src, dst)) {
    mt_device *const device[] = {p->device, p->device};
    return mt_plan_table(p, copy, device, src, dst, r, err);
  }
  if (as != copy)
    mt_refusals_add(&p->why, "the tiled copy",
                    "a function numbers its threads: what they copy, each element once, "
                    "is done as copy(src, dst)");
  copy = as;
  MT_TRY(mt_describe(&p->launch, p->modes, copy, src, dst, err));
  MT_TRY(put_rounding(p, r, err));
  MT_TRY(prove(p, src, dst, err));
  p->first = p->launch;
  MT_TRY(mt_vectorize(&p->launch, &narrow, copy, err));
  MT_TRY(mt_vectorize_to(&p->first, &unused, NULL, 1, err));
  if (copy == NULL && p->launch.desc.rests > 0) mt_cheapest(&p->launch, &narrow);
  MT_TRY(prove(p, src, dst, err));
  write_head(p, src, dst);
  return choose(p, &narrow, copy, err);
}

mt_status mt_plan_prove (mt_plan *p, const mt_tensor *src, const mt_tensor *dst,
                         mt_rounding r, mt_err *err) {
  p->bytes[MT_SRC] = src->bytes;
  p->bytes[MT_DST] = dst->bytes;
  MT_TRY(mt_describe(&p->launch, p->modes, NULL, src, dst, err));
  MT_TRY(put_rounding(p, r, err));
  if (p->launch.desc.nbound > 0)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "copy: the real elements of src %N and dst %N "
                    "are no box: between two devices they do not travel in pieces\n"
                    "T:to(device) brings the ragged tensor there; copy then",
                    src->layout, dst->layout);
  MT_TRY(prove(p, src, dst, err));
  write_head(p, src, dst);
  return MT_OK;
}

static size_t plan_size (const mt_device *d) {
  return sizeof(mt_plan) + d->backend->data_bytes;
}

mt_plan *mt_plan_new (mt_device *d, const char *op, mt_err *err) {
  mt_plan *p = mt_host_alloc(d, plan_size(d));
  if (p == NULL) {
    mt_fail(err, MT_ENOMEM, "%s: no host memory for a plan", op);
    return NULL;
  }
  memset(p, 0, plan_size(d));
  p->device = d;
  p->data = p + 1;
  return p;
}

mt_status mt_plan_copy (mt_plan **out, mt_device *d, const mt_tiled_copy *copy,
                        const mt_tensor *src, const mt_tensor *dst, mt_err *err) {
  return mt_plan_copy_rounded(out, d, copy, src, dst, MT_ROUND_NEAREST, err);
}

mt_status mt_plan_copy_rounded (mt_plan **out, mt_device *d, const mt_tiled_copy *copy,
                                const mt_tensor *src, const mt_tensor *dst, mt_rounding r,
                                mt_err *err) {
  mt_plan *p = mt_plan_new(d, "copy", err);
  *out = NULL;
  if (p == NULL) return err->status;
  p->bytes[MT_SRC] = src->bytes;
  p->bytes[MT_DST] = dst->bytes;
  mt_status s = make(p, copy, src, dst, r, err);
  if (s == MT_OK) *out = p;
  else mt_plan_free(p);
  return s;
}

/* Bytes of the source, as often as they are read. */
static double bytes_of (const mt_plan *p) {
  const mt_desc *d = p->stage ? &p->launch.desc : &p->first.desc;
  return (double)d->rests * (double)d->threads * (double)d->values * d->vec * d->elem;
}

static double operations_of (const mt_plan *p) {
  double n = 2;
  for (int m = 0; m < MT_GEMM_MODES; m++) n *= (double)p->gemm.desc.size[m];
  return n;
}

static mt_status launch_kernel (mt_plan *p, mt_stream *s, mt_err *err) {
  return p->device->backend->launch(p, s, err);
}

static mt_status launch_gathered (mt_plan *p, mt_stream *s, mt_err *err) {
  MT_TRY(mt_gathered_read(p->gathered, s, err));
  MT_TRY(launch_kernel(p, s, err));
  return mt_gathered_write(p->gathered, s, err);
}

static mt_status launch (mt_plan *p, mt_stream *s, mt_err *err) {
  if (p->table) return mt_table_launch(p, s, err);
  if (p->gathered) return launch_gathered(p, s, err);
  return p->stage ? mt_stage_launch(p, s, err) : launch_kernel(p, s, err);
}

/* The backend tells how much of this step is done. */
static mt_status launch_watched (mt_plan *p, mt_stream *s, mt_err *err) {
  mt_stint stint;
  if (p->launch.desc.op == MT_OP_GEMM)
    mt_stint_begin(&stint, "gemm", "operations", operations_of(p), err);
  else mt_stint_begin(&stint, "copy", "bytes", bytes_of(p), err);
  stint.step = stint.total;
  mt_status status = launch(p, s, err);
  mt_stint_end(&stint, err);
  return status;
}

mt_status mt_plan_launch (mt_plan *p, mt_stream *s, mt_err *err) {
  bool product = p->launch.desc.op == MT_OP_GEMM;
  mt_graph *recording = p->device->recording;
  if ((product ? p->units : p->launch.desc.rests) == 0) return MT_OK;
  if (recording && !p->stage && !p->table && !p->gathered)
    return mt_graph_add(recording, p, s, err);
  return err->watch ? launch_watched(p, s, err) : launch(p, s, err);
}

mt_status mt_plan_is_launch (const mt_plan *p, mt_err *err) {
  if (p->table)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "plan: a composed layout has no strides: its copy goes by a list of "
                   "offsets, on the host, and has no other ways\nprint(plan) shows it");
  if (p->gathered)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "plan: a product of composed operands copies them by lists of "
                   "offsets, on the host, and has no other ways\nprint(plan) shows it");
  if (p->stage == NULL) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "plan: a copy between the host and %s goes in "
                 "pieces, by kernels at both ends: it has no other ways\n"
                 "print(plan) shows them; plan() returns when the copy is done: any "
                 "clock can time it",
                 p->device->name);
}

mt_status mt_plan_measure (mt_plan *p, int n, double *us, mt_err *err) {
  bool product = p->launch.desc.op == MT_OP_GEMM;
  *us = 0;
  MT_TRY(mt_plan_is_launch(p, err));
  MT_CHECK(n > 0, err, "measure: %d launches", n);
  MT_TRY(mt_graph_idle(p->device, "measure", err));
  if ((product ? p->units : p->launch.desc.rests) == 0) return MT_OK;
  return p->device->backend->measure(p, n, us, err);
}

/* ---------------------------------------------------------------- other kernels */

static bool is_it (const mt_kernel *k, const mt_desc *d, const char *kernel, int vector) {
  return strcmp(k->name, kernel) == 0 && d->vec * d->elem == (uint32_t)vector;
}

/* Proven anew: the axes are others. */
static mt_status take (mt_plan *p, const mt_plan_choice *o, mt_err *err) {
  mt_launch wide = p->first;
  mt_vector_limits narrow;
  MT_TRY(mt_check_copy(&o->launch, p->bytes, err));
  p->launch = o->launch;
  p->kernel = o->kernel;
  p->grid = o->grid;
  p->taken = true;
  if (p->launch.desc.algo == MT_ALGO_DESCRIBED) return MT_OK;
  MT_TRY(mt_vectorize(&wide, &narrow, NULL, err));
  p->why = (mt_refusals){0};
  put_why(p, &narrow, NULL);
  return MT_OK;
}

mt_status mt_plan_take (mt_plan *p, const char *kernel, int how, size_t memory,
                        mt_err *err) {
  mt_plan_choice o = {0};
  bool copy = p->launch.desc.op == MT_OP_COPY;
  if (p->gathered == NULL) MT_TRY(mt_plan_is_launch(p, err));
  if (mt_plan_parts(p) > 0) return mt_take_way(p, kernel, how, memory, err);
  while (copy && mt_plan_next_candidate(&o, p))
    if (is_it(o.kernel, &o.launch.desc, kernel, how)) return take(p, &o, err);
  if (copy && is_it(p->kernel, &p->launch.desc, kernel, how)) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "plan: %s by %d bytes at once is no way to do it "
                 "on %s\nprint(plan:why()) shows those that are",
                 kernel, how, p->device->name);
}

/* The last of its owner and the graphs that hold it frees it. */
void mt_plan_free (mt_plan *p) {
  if (p == NULL || p->graphs-- > 0) return;
  if (p->stage) mt_stage_free(p);
  if (p->table) mt_table_free(p);
  if (p->gathered) mt_gathered_free(p->gathered);
  mt_unpack(p);
  mt_stream_k_free(p);
  mt_forget_tensors(p);
  if (p->device->backend->release) p->device->backend->release(p);
  mt_host_free(p->device, p, plan_size(p->device));
}

size_t mt_plan_memory (const mt_plan *p) {
  return p->memory_bytes + p->sums_bytes +
         (p->gathered ? mt_gathered_bytes(p->gathered) : 0);
}
