/*
** gathered.c - products of composed operands: a composed layout has no strides, so what
** it reaches is copied by a list of offsets, and the product is of compact tensors.
** SPDX-License-Identifier: MIT
*/
#include "plan/gathered.h"
#include "core/build.h"

enum { ALIGN = 256 };

struct mt_gathered {
  void *memory; /* of the device */
  size_t bytes;
  mt_plan *before[MT_PARTS], *after;
  mt_tensor tensor[MT_PARTS];
  mt_layout layout[MT_PARTS];
};

bool mt_needs_gathering (const mt_tensor *const t[MT_PARTS]) {
  for (int part = 0; part < MT_PARTS; part++)
    if (mt_is_composed(t[part]->layout) && mt_is_integral(t[part]->layout)) return true;
  return false;
}

static bool is_gathered (const mt_tensor *t) { return mt_is_composed(t->layout); }

/* Where each begins, and how many bytes they are. */
static mt_status measure (size_t at[MT_PARTS], size_t *all,
                          const mt_tensor *const t[MT_PARTS], mt_err *err) {
  int64_t sum = 0, n;
  for (int part = 0; part < MT_PARTS; part++) {
    at[part] = (size_t)sum;
    if (!is_gathered(t[part])) continue;
    if (mt_mulo(mt_size(t[part]->layout), (int64_t)mt_dtype_size(t[part]->dtype), &n) ||
        mt_addo(n, ALIGN - 1, &n) || mt_addo(sum, n / ALIGN * ALIGN, &sum))
      return mt_fail(err, MT_EOVERFLOW, "gemm: copies of its tensors leave 64 bits");
  }
  *all = (size_t)sum;
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

static mt_status compact (mt_gathered *g, int part, const mt_tensor *t, size_t at,
                          mt_err *err) {
  mt_tensor *own = &g->tensor[part];
  MT_TRY(mt_layout_left(&g->layout[part], mt_base(t->layout), err));
  *own = *t;
  own->layout = g->layout[part].node;
  own->data = g->memory;
  own->bytes = g->bytes;
  own->offset = (int64_t)(at / mt_dtype_size(t->dtype));
  return MT_OK;
}

mt_status mt_gather_tensors (const mt_tensor *in[MT_PARTS], mt_plan *p,
                             const mt_tensor *const t[MT_PARTS], bool reads, size_t most,
                             mt_err *err) {
  size_t at[MT_PARTS], bytes = 0;
  mt_gathered *g = p->gathered = mt_host_alloc(p->device, sizeof *g);
  if (g == NULL) return mt_fail(err, MT_ENOMEM, "gemm: no host memory for a plan");
  memset(g, 0, sizeof *g);
  MT_TRY(measure(at, &bytes, t, err));
  MT_TRY(want_memory(bytes, most, err));
  if (bytes > 0) MT_TRY(mt_malloc(p->device, &g->memory, bytes, err));
  g->bytes = bytes;
  for (int part = 0; part < MT_PARTS; part++) {
    in[part] = t[part];
    if (!is_gathered(t[part])) continue;
    MT_TRY(compact(g, part, t[part], at[part], err));
    in[part] = &g->tensor[part];
    if (part != MT_C || reads)
      MT_TRY(mt_plan_copy(&g->before[part], p->device, NULL, t[part], in[part], err));
    if (part == MT_C)
      MT_TRY(mt_plan_copy(&g->after, p->device, NULL, in[part], t[part], err));
  }
  return MT_OK;
}

void mt_gathered_free (mt_plan *p) {
  mt_gathered *g = p->gathered;
  for (int part = 0; part < MT_PARTS; part++) mt_plan_free(g->before[part]);
  mt_plan_free(g->after);
  if (g->memory) mt_free(p->device, g->memory, g->bytes);
  mt_host_free(p->device, g, sizeof *g);
}

size_t mt_gathered_bytes (const mt_gathered *g) { return g->bytes; }

mt_status mt_gathered_launch (mt_plan *p, mt_stream *s,
                              mt_status (*product)(mt_plan *p, mt_stream *s, mt_err *err),
                              mt_err *err) {
  mt_gathered *g = p->gathered;
  MT_TRY(mt_graph_idle(p->device, "a product of composed operands", err));
  for (int part = 0; part < MT_PARTS; part++)
    if (g->before[part]) MT_TRY(mt_plan_launch(g->before[part], s, err));
  MT_TRY(product(p, s, err));
  return g->after ? mt_plan_launch(g->after, s, err) : MT_OK;
}
