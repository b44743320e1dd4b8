/*
** gathered.c - products of composed operands: a composed layout has no strides, so what
** it reaches is copied by a list of offsets, and the product is of compact tensors.
** SPDX-License-Identifier: MIT
*/
#include "plan/gathered.h"
#include "core/build.h"
#include "types/dtype.h"

enum { ALIGN = 256 };

struct mt_gathered {
  mt_device *device;
  void *memory; /* of the device */
  size_t bytes;
  mt_plan *before[MT_GATHERED], *after;
  mt_tensor tensor[MT_GATHERED];
  mt_layout layout[MT_GATHERED];
};

/* A swizzled bias or residual that has not the shape of C is repeated: it has no place in
** the descriptor of one that has. */
static bool is_repeated (const mt_tensor *x, const mt_tensor *c) {
  return mt_is_swizzled(x->layout) &&
         (mt_size(x->layout) != mt_size(c->layout) ||
          mt_rank(mt_inner(x->layout)) != mt_rank(mt_base(c->layout)));
}

bool mt_is_gathered (const mt_tensor *const t[MT_GATHERED], int i) {
  static const bool beside[MT_GATHERED] = {[MT_PARTS + MT_BIAS] = true,
                                           [MT_PARTS + MT_RESIDUAL] = true};
  if (t[i] == NULL || t[i]->layout->tag < MT_SWIZZLE) return false;
  return mt_is_integral(t[i]->layout) &&
         (mt_is_composed(t[i]->layout) || (beside[i] && is_repeated(t[i], t[MT_C])));
}

bool mt_needs_gathering (const mt_tensor *const t[MT_GATHERED]) {
  for (int i = 0; i < MT_GATHERED; i++)
    if (mt_is_gathered(t, i)) return true;
  return false;
}

/* ---- compact tensors */

/* The steps of modes 0, 1, 2 and how many elements all are; rows, or columns, begin at
** multiples of 16 bytes, as wide accesses want. */
static bool find_steps (int64_t step[3], int64_t *all, const mt_node *a, int64_t elem,
                        bool columns) {
  const int64_t aligned = elem < 16 ? 16 / elem : 1;
  const int rank = mt_rank(a) < 3 ? mt_rank(a) : 3;
  bool over = false;
  *all = 1;
  for (int i = 0; i < rank; i++) {
    const int mode = i < 2 && rank > 1 && !columns ? 1 - i : i;
    step[mode] = *all;
    over |= mt_mulo(*all, mt_size(mt_mode(a, mode)), all);
    if (i > 0 || rank == 1) continue;
    over |= mt_addo(*all, aligned - 1, all);
    *all -= *all % aligned;
  }
  return !over;
}

static void set_strides (mt_node *mode, int64_t step) {
  for (mt_node *p = mode; p < mode + mode->span; p++) {
    if (mt_is_branch(p)) continue;
    *p = mt_leaf_of(p->shape, step);
    step *= p->shape;
  }
}

mt_status mt_compact_operand (mt_layout *out, int64_t *bytes, const mt_tensor *t,
                              bool columns, mt_err *err) {
  const int64_t elem = (int64_t)mt_dtype_size(t->dtype);
  int64_t step[3] = {1, 1, 1}, all;
  MT_TRY(mt_layout_left(out, mt_base(t->layout), err));
  if (!find_steps(step, &all, out->node, elem, columns) || mt_mulo(all, elem, bytes) ||
      mt_addo(*bytes, ALIGN - 1, bytes))
    return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
  *bytes -= *bytes % ALIGN;
  for (int i = 0; i < mt_rank(out->node) && i < 3; i++)
    set_strides(out->node + (mt_mode(out->node, i) - out->node), step[i]);
  return MT_OK;
}

/* Where each begins, and how many bytes they are. */
static mt_status measure (mt_gathered *g, size_t at[MT_GATHERED],
                          const mt_tensor *const t[MT_GATHERED], unsigned columns,
                          mt_err *err) {
  int64_t sum = 0, n;
  for (int part = 0; part < MT_GATHERED; part++) {
    at[part] = (size_t)sum;
    if (!mt_is_gathered(t, part)) continue;
    MT_TRY(mt_compact_operand(&g->layout[part], &n, t[part], columns >> part & 1, err));
    if (mt_addo(sum, n, &sum))
      return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
  }
  g->bytes = (size_t)sum;
  return MT_OK;
}

static mt_status want_memory (size_t bytes, size_t most, mt_err *err) {
  if (most == 0 || bytes <= most) return MT_OK;
  return mt_fail(
      err, MT_ENOMEM,
      "gemm: composed operands are copied into %zu bytes of memory, and memory "
      "= %zu is less",
      bytes, most);
}

static void place (mt_gathered *g, int part, const mt_tensor *t, size_t at) {
  mt_tensor *own = &g->tensor[part];
  *own = *t;
  own->layout = g->layout[part].node;
  own->data = g->memory;
  own->bytes = g->bytes;
  own->offset = (int64_t)(at / mt_dtype_size(t->dtype));
}

/* A copy of an operand, whose error says which. */
static mt_status plan_copy (mt_plan **out, mt_gathered *g, int part, const mt_tensor *src,
                            const mt_tensor *dst, mt_err *err) {
  static const char *const names[] = {"A", "B", "C", "bias", "residual"};
  mt_status s = mt_plan_copy(out, g->device, NULL, src, dst, err);
  if (s == MT_OK || s == MT_ESTOPPED) return s;
  s = mt_renamed("gemm", s, err);
  mt_explain(err, "\n%s here is %s", src == &g->tensor[part] ? "dst" : "src",
             names[part]);
  return s;
}

/* The operand as the product has it, and its copies. */
static mt_status gather (mt_gathered *g, int part, const mt_tensor *t, size_t at,
                         bool reads, mt_err *err) {
  const mt_tensor *own = &g->tensor[part];
  place(g, part, t, at);
  if (part == MT_C) MT_TRY(plan_copy(&g->after, g, part, own, t, err));
  return part != MT_C || reads ? plan_copy(&g->before[part], g, part, t, own, err) :
                                 MT_OK;
}

mt_status mt_gather_tensors (mt_gathered **out, const mt_tensor *in[MT_GATHERED],
                             mt_device *d, const mt_tensor *const t[MT_GATHERED],
                             const mt_gather_options *o, mt_err *err) {
  size_t at[MT_GATHERED];
  mt_gathered *g = *out = mt_host_alloc(d, sizeof *g);
  if (g == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a plan");
  memset(g, 0, sizeof *g);
  g->device = d;
  MT_TRY(measure(g, at, t, o->columns, err));
  MT_TRY(want_memory(g->bytes, o->most, err));
  if (g->bytes > 0) MT_TRY(mt_malloc(d, &g->memory, g->bytes, err));
  for (int part = 0; part < MT_GATHERED; part++) {
    in[part] = mt_is_gathered(t, part) ? &g->tensor[part] : t[part];
    if (mt_is_gathered(t, part))
      MT_TRY(gather(g, part, t[part], at[part], o->reads, err));
  }
  return MT_OK;
}

void mt_gathered_free (mt_gathered *g) {
  for (int part = 0; part < MT_GATHERED; part++) mt_plan_free(g->before[part]);
  mt_plan_free(g->after);
  if (g->memory) mt_recycle(g->device, g->memory, g->bytes);
  mt_host_free(g->device, g, sizeof *g);
}

size_t mt_gathered_bytes (const mt_gathered *g) { return g->bytes; }

mt_status mt_gathered_read (mt_gathered *g, mt_stream *s, mt_err *err) {
  MT_TRY(mt_graph_idle(g->device, "a product of composed operands", err));
  for (int part = 0; part < MT_GATHERED; part++)
    if (g->before[part]) MT_TRY(mt_plan_launch(g->before[part], s, err));
  return MT_OK;
}

mt_status mt_gathered_write (mt_gathered *g, mt_stream *s, mt_err *err) {
  return g->after ? mt_plan_launch(g->after, s, err) : MT_OK;
}
