/*
** plan_gemm.c - plans of products: described, proven, given a kernel.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "plan/extend.h"
#include "plan/families.h"
#include "plan/gathered.h"
#include "plan/piped.h"
#include "types/dtype.h"
#include "atom/mma_number.h"

static const char *const part_name[] = {"A", "B", "C"};
static const int operand_of[MT_PARTS] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};

/* ---------------------------------------------------------------- types */

static bool is_float_element (mt_element e) {
  return e == MT_ELEMENT_f16 || e == MT_ELEMENT_bf16 || e == MT_ELEMENT_f32 ||
         e == MT_ELEMENT_f64;
}

/* A and B hold what the instruction reads. C is of the accumulators' type, or both are
** floats: it is rounded when it is stored. */
static bool suits (const mt_mma_op *op, int part, mt_dtype d) {
  mt_element e = mt_mma_op_element(op, operand_of[part]);
  return mt_dtype_holds(d, e) ||
         (part == MT_C && is_float_element(e) && mt_is_float_type(d));
}

static bool suit (const mt_mma_op *op, const mt_tensor *const t[MT_PARTS]) {
  return suits(op, MT_A, t[MT_A]->dtype) && suits(op, MT_B, t[MT_B]->dtype) &&
         suits(op, MT_C, t[MT_C]->dtype);
}

static mt_status check_types (const mt_mma_op *op, const mt_tensor *const t[MT_PARTS],
                              mt_err *err) {
  MT_TRY(mt_mma_op_check(op, err));
  for (int part = 0; part < MT_PARTS; part++) {
    mt_element e = mt_mma_op_element(op, operand_of[part]);
    if (suits(op, part, t[part]->dtype)) continue;
    return mt_fail(err, MT_EUNSUPPORTED,
                   "gemm: %s is %s, but %s has %s there: tensors "
                   "of %s hold it",
                   part_name[part], mt_dtype_name(t[part]->dtype), op->name,
                   mt_element_name(e),
                   part == MT_C && is_float_element(e) ? "any float type" :
                                                         mt_dtypes_of(e));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- kernels */

/* Of ours. */
static const mt_kernel *our_row_of (const mt_device *d, const char *atom) {
  const mt_backend *b = d->backend;
  for (const mt_kernel *k = b->kernels; k < b->kernels + *b->nkernels; k++)
    if (mt_kernel_executes(k, atom, d->arch)) return k;
  return NULL;
}

static const mt_kernel *row_of (const mt_device *d, const char *atom) {
  const mt_kernel *own = mt_own_product(d, atom);
  return own ? own : our_row_of(d, atom);
}

bool mt_device_runs_mma (const mt_device *d, const mt_mma_op *op) {
  MT_NEWERR(no);
  if (mt_mma_op_check(op, &no) != MT_OK) return false;
  if (d->arch == 0 || mt_own_product(d, op->name)) return true;
  return !op->own && our_row_of(d, op->name) != NULL;
}

/* Of the rows that the device runs, the newest architecture. */
static int newest_arch (const mt_device *d) {
  const mt_backend *b = d->backend;
  int newest = 0;
  for (const mt_kernel *k = b->kernels; k < b->kernels + *b->nkernels; k++) {
    const int arch = mt_kernel_arch(k);
    if (k->op == MT_OP_GEMM && arch <= d->arch && arch > newest) newest = arch;
  }
  return newest;
}

/* Marks the rows that have an instruction for these types. Newer instructions, most of
** all there are, have no row: they are passed by a line of their table at a time. */
static void find_rows (bool *has, const mt_device *d,
                       const mt_tensor *const t[MT_PARTS]) {
  const int newest = newest_arch(d);
  mt_atom_cursor c = {0};
  mt_mma_op op;
  while (mt_mma_atom_next(&op, &c)) {
    if (atoi(op.arch + strlen("sm")) > newest) {
      c = (mt_atom_cursor){.row = c.row + 1};
      continue;
    }
    const mt_kernel *k = suit(&op, t) ? our_row_of(d, op.name) : NULL;
    if (k) has[k - d->backend->kernels] = true;
  }
}

/* The instructions that the device has for these types, as rows of its table. */
static void say_others (mt_err *err, const mt_device *d,
                        const mt_tensor *const t[MT_PARTS]) {
  const char *before = "";
  bool has[MT_MAXROWS] = {false};
  assert(*d->backend->nkernels <= MT_MAXROWS);
  find_rows(has, d, t);
  mt_explain(err, "\nfor %s, %s and %s it has: ", mt_dtype_name(t[MT_A]->dtype),
             mt_dtype_name(t[MT_B]->dtype), mt_dtype_name(t[MT_C]->dtype));
  for (size_t i = 0; i < *d->backend->nkernels; i++) {
    if (!has[i]) continue;
    mt_explain(err, "%s%s", before, d->backend->kernels[i].atom);
    before = ", ";
  }
  if (*before == 0) mt_explain(err, "none");
}

void mt_gemm_rows (bool has[MT_MAXROWS], const mt_plan *p) {
  mt_tensor part[MT_PARTS] = {0};
  const mt_tensor *const t[MT_PARTS] = {&part[MT_A], &part[MT_B], &part[MT_C]};
  memset(has, 0, MT_MAXROWS * sizeof *has);
  for (int i = 0; i < MT_PARTS; i++) part[i].dtype = (mt_dtype)p->gemm.desc.part[i].dtype;
  find_rows(has, p->device, t);
}

/* tables: of a described kernel, which none of a host's is. */
static mt_status check_arch (const mt_device *d, const mt_mma_op *op, bool tables,
                             const mt_tensor *const t[MT_PARTS], mt_err *err) {
  if (d->arch == 0 || (!tables && mt_own_product(d, op->name))) return MT_OK;
  if (op->own)
    return mt_fail(
        err, MT_EUNSUPPORTED,
        "gemm: %s is an atom of your own: no kernel of %s has it\n"
        "run it on \"cpu\", or leave the tiled MMA out: an instruction is chosen",
        op->name, d->name);
  if (our_row_of(d, op->name)) return MT_OK;
  mt_fail(err, MT_EUNSUPPORTED,
          "gemm: %s, an instruction of %s, has no kernel on %s, "
          "which is sm_%d",
          op->name, op->arch, d->name, d->arch);
  say_others(err, d, t);
  return err->status;
}

/* ---------------------------------------------------------------- choosing */

static const struct mt_choice {
  mt_dtype a, b;
  const char *atom, *atoms;
} choices[] = {
#define MT_GEMM_CHOICE(a, b, atom, atoms) {MT_##a, MT_##b, atom, atoms},
#include "gemm/partitions.def"
#undef MT_GEMM_CHOICE
};

/* A partition for tensors that came without one. */
static mt_status choose (mt_tiled_mma *out, const mt_device *d,
                         const mt_tensor *const t[MT_PARTS], mt_err *err) {
  const struct mt_choice *end = choices + sizeof choices / sizeof choices[0];
  for (const struct mt_choice *c = choices; c < end; c++) {
    mt_layout atoms;
    if (c->a != t[MT_A]->dtype || c->b != t[MT_B]->dtype) continue;
    MT_TRY(mt_parse(&atoms, c->atoms, strlen(c->atoms), err));
    MT_TRY(mt_make_tiled_mma(out, c->atom, atoms.node, NULL, err));
    if (suit(&out->atom.op, t) && (d->arch == 0 || row_of(d, c->atom))) return MT_OK;
  }
  mt_fail(err, MT_EUNSUPPORTED,
          "gemm: no instruction was chosen for %s and %s to %s on "
          "%s\ndescribe one: tile.gemm(tile.tiled_mma{ atom = ... }, A, B, C)",
          mt_dtype_name(t[MT_A]->dtype), mt_dtype_name(t[MT_B]->dtype),
          mt_dtype_name(t[MT_C]->dtype), d->name);
  if (d->arch != 0) say_others(err, d, t);
  return err->status;
}

/* ---------------------------------------------------------------- plans */

static mt_status prove (mt_plan *p, const mt_tensor *const t[MT_PARTS],
                        const mt_epilogue *e, mt_err *err) {
  for (int part = 0; part < MT_PARTS; part++)
    p->bytes[part] = mt_gemm_room(&p->gemm, part, t[part]);
  p->bytes[MT_PARTS + MT_BIAS] = mt_beside_room(&p->gemm, MT_BIAS, e->bias);
  p->bytes[MT_PARTS + MT_RESIDUAL] = mt_beside_room(&p->gemm, MT_RESIDUAL, e->residual);
  if (mt_gemm_check(&p->gemm, p->own, p->bytes, err) == MT_OK &&
      mt_epilogue_check(&p->gemm, p->bytes + MT_PARTS, err) == MT_OK)
    return MT_OK;
  for (int part = 0; part < MT_PARTS; part++)
    mt_explain(err, "\n%s is %N at offset %lld", part_name[part], t[part]->layout,
               (long long)t[part]->offset);
  return err->status;
}

/* "gemm f16 LAYOUT by f16 LAYOUT to f32 LAYOUT"; long layouts are cut. */
static void write_head (mt_plan *p, const mt_tensor *const t[MT_PARTS]) {
  enum { MT_CUT = MT_HEADSIZE / 3 - 32 };
  static const char *const before[] = {"gemm", " by", " to"};
  size_t n = 0;
  for (int part = 0; part < MT_PARTS; part++) {
    char text[MT_CUT + 4];
    if (mt_format(text, MT_CUT + 1, t[part]->layout) > MT_CUT)
      strcpy(text + MT_CUT, "...");
    n += (size_t)snprintf(p->head + n, sizeof p->head - n, "%s %s %s", before[part],
                          mt_dtype_name(t[part]->dtype), text);
  }
  mt_plan_put_bounds(p, MT_PARTS, t, part_name);
}

/* The kernel of its instruction. Units: atoms of C in every thread, over all tiles and
** batches; 0 if C is empty. */
static mt_status take_described (mt_plan *p, mt_err *err) {
  const mt_gemm_desc *d = &p->gemm.desc;
  bool tv = d->algo == MT_ALGO_DESCRIBED;
  int64_t n = 1, over = 0;
  for (int i = 0; i < 2; i++) {
    over |= mt_mulo(n, tv ? d->tiles[i] : d->size[i], &n);
    if (tv) over |= mt_mulo(n, d->inner[i], &n);
  }
  over |= mt_mulo(n, d->size[MT_L], &n);
  if (over) return mt_fail(err, MT_EOVERFLOW, "gemm: the size of C leaves 64 bits");
  p->units = n;
  p->grid.blocks = n < INT32_MAX ? (uint32_t)n : INT32_MAX;
  p->grid.threads = d->threads;
  if (p->device->arch)
    p->kernel = p->tables ? our_row_of(p->device, p->atom) : row_of(p->device, p->atom);
  return p->tables ? mt_take_pipeline(p, err) : MT_OK;
}

/* ---------------------------------------------------------------- making */

static mt_status describe (mt_plan *p, const mt_tiled_mma *mma,
                           const mt_tensor *const t[MT_PARTS], mt_err *err) {
  const mt_mma_op *op = &mma->atom.op;
  MT_TRY(check_types(op, t, err));
  MT_TRY(check_arch(p->device, op, p->tables != NULL, t, err));
  snprintf(p->atom, sizeof p->atom, "%s", op->name);
  return mt_gemm_describe(&p->gemm, mma, err);
}

/* With a partition of the library's choice, which is large for a thread's stack. */
static mt_status describe_chosen (mt_plan *p, const mt_tensor *const t[MT_PARTS],
                                  mt_err *err) {
  mt_device *d = p->device;
  mt_tiled_mma *mma = mt_host_alloc(d, sizeof *mma);
  if (mma == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a partition");
  mt_status s = choose(mma, d, t, err);
  if (s == MT_OK) s = describe(p, mma, t, err);
  mt_host_free(d, mma, sizeof *mma);
  return s;
}

/* It is a choice of instructions for f32, not beside one. */
static mt_status check_precision (mt_precision x, const mt_tiled_mma *mma,
                                  const mt_tensor *const t[MT_PARTS], mt_err *err) {
  if (x == MT_PRECISION_FULL) return MT_OK;
  if (mma)
    return mt_fail(err, MT_EINVAL,
                   "gemm: precision is for products whose instruction is chosen, but a "
                   "tiled MMA of %s was given\nleave one of the two out",
                   mma->atom.op.name);
  for (int part = 0; part < MT_C; part++)
    if (t[part]->dtype != MT_f32)
      return mt_fail(err, MT_EINVAL,
                     "gemm: precision: tf32 is a way to read f32, but %s is %s\nleave "
                     "precision out, or convert %s",
                     part_name[part], mt_dtype_name(t[part]->dtype), part_name[part]);
  return MT_OK;
}

static mt_status check_family (const char *name, const mt_tiled_mma *mma, mt_err *err) {
  if (name == NULL || mma == NULL) return MT_OK;
  return mt_fail(err, MT_EINVAL,
                 "gemm: family is of products whose kernel is chosen, but a tiled MMA of "
                 "%s was given\nleave one of the two out",
                 mma->atom.op.name);
}

/* A family's kernel, or the backend's own, or that of an instruction which is chosen. */
static mt_status choose_kernel (mt_plan *p, const mt_tensor *const t[MT_PARTS],
                                const mt_gemm_options *o, mt_err *err) {
  bool found;
  MT_TRY(mt_choose_family(&found, p, t, o, err));
  if (found) return MT_OK;
  if (!p->device->backend->own_gemm) {
    MT_TRY(describe_chosen(p, t, err));
    MT_TRY(prove(p, t, &o->epilogue, err));
  }
  return take_described(p, err);
}

/* A later version of the library may have more of them. */
static mt_status check_size (const mt_gemm_options *o, mt_err *err) {
  if (o->size == sizeof *o) return MT_OK;
  return mt_fail(err, MT_EINVAL,
                 "mt_plan_gemm: options: size is %zu, %zu expected\nbegin them with "
                 ".size = sizeof(mt_gemm_options)",
                 o->size, sizeof *o);
}

/* Proven before anything is taken for it. */
static mt_status make (mt_plan *p, const mt_tiled_mma *mma,
                       const mt_tensor *const t[MT_PARTS], const mt_gemm_options *o,
                       mt_err *err) {
  MT_TRY(mt_gemm_tensors(&p->gemm, t[MT_A], t[MT_B], t[MT_C], o->alpha, o->beta, err));
  MT_TRY(mt_gemm_epilogue(&p->gemm, t, &o->epilogue, err));
  MT_TRY(check_precision(o->precision, mma, t, err));
  MT_TRY(check_family(o->family, mma, err));
  p->gemm.precision = o->precision;
  if (mma && mma->atom.op.own) p->own = &mma->atom;
  if (mma) MT_TRY(describe(p, mma, t, err));
  MT_TRY(prove(p, t, &o->epilogue, err));
  MT_TRY(mma ? take_described(p, err) : choose_kernel(p, t, o, err));
  write_head(p, t);
  mt_status s = p->device->backend->prepare_gemm(p, err);
  p->own = NULL;
  return s;
}

/* The product of compact tensors, said of those that were given. */
static mt_status make_gathered (mt_plan *p, const mt_tiled_mma *mma,
                                const mt_tensor *const t[MT_GATHERED],
                                const mt_gemm_options *o, mt_err *err) {
  const mt_tensor *in[MT_GATHERED];
  mt_gemm_options own = *o;
  const mt_gather_options how = {o->beta != 0, o->memory, o->columns};
  MT_TRY(mt_gather_tensors(&p->gathered, in, p->device, t, &how, err));
  own.epilogue.bias = in[MT_PARTS + MT_BIAS];
  own.epilogue.residual = in[MT_PARTS + MT_RESIDUAL];
  MT_TRY(make(p, mma, in, &own, err));
  write_head(p, t);
  return MT_OK;
}

static mt_status make_any (mt_plan *p, const mt_tiled_mma *mma,
                           const mt_tensor *const abc[MT_PARTS], const mt_gemm_options *o,
                           mt_err *err) {
  MT_TRY(check_size(o, err));
  const mt_tensor *const t[MT_GATHERED] = {abc[MT_A], abc[MT_B], abc[MT_C],
                                           o->epilogue.bias, o->epilogue.residual};
  return mt_needs_gathering(t) ? make_gathered(p, mma, t, o, err) :
                                 make(p, mma, abc, o, err);
}

mt_status mt_plan_piped (mt_plan **out, mt_device *d, const mt_tiled_mma *mma,
                         const mt_tensor *const t[MT_PARTS], const mt_gemm_options *o,
                         const mt_pipeline_tables *tables, mt_err *err) {
  mt_plan *p = mt_plan_new(d, "gemm", err);
  *out = NULL;
  if (p == NULL) return err->status;
  p->tables = tables;
  mt_status s = make_any(p, mma, t, o, err);
  p->tables = NULL;
  if (s == MT_OK) *out = p;
  else mt_plan_free(p);
  return s;
}

mt_status mt_plan_gemm (mt_plan **out, mt_device *d, const mt_tiled_mma *mma,
                        const mt_tensor *a, const mt_tensor *b, const mt_tensor *c,
                        const mt_gemm_options *options, mt_err *err) {
  static const mt_gemm_options plain = {.size = sizeof plain, .alpha = 1};
  const mt_tensor *const t[MT_PARTS] = {a, b, c};
  return mt_plan_piped(out, d, mma, t, options ? options : &plain, NULL, err);
}
