/*
** piped.c - plans of described kernels that no row is.
** SPDX-License-Identifier: MIT
*/
#include "core/arith.h"
#include "plan/piped.h"

uint32_t mt_pipeline_most_shared (int arch) {
  const uint32_t small = 101376, of_80 = 166912, of_90 = 232448;
  const int major = arch / 10;
  const bool large = major == 9 || major == 10;
  const uint32_t all = large ? of_90 : arch == 80 || arch == 87 ? of_80 : small;
  return all - MT_PIPELINE_STATIC;
}

static mt_status check_shared (const mt_plan *p, mt_err *err) {
  const uint32_t want = p->piped.pipe.shared;
  const uint32_t most = mt_pipeline_most_shared(p->device->arch);
  if (want <= most) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "gemm: the kernel is not precompiled, and so takes %lu bytes of shared "
                 "memory, of which a block has %lu on %s\ntake fewer stages than %lu",
                 (unsigned long)want, (unsigned long)most, p->device->name,
                 (unsigned long)p->piped.pipe.stages);
}

/* The row of its instruction: as far behind the first as that of products. */
static const mt_kernel *row_of (const mt_backend *b, const mt_kernel *of_atom) {
  return mt_first_kernel(b, MT_OP_PIPELINE) + (of_atom - mt_first_kernel(b, MT_OP_GEMM));
}

static mt_status take_grid (mt_plan *p, mt_err *err) {
  const mt_pipeline *x = &p->piped.pipe;
  int64_t n = 0;
  if (mt_mulo(x->tiles[0], x->tiles[1], &n) || mt_mulo(n, p->gemm.desc.size[MT_L], &n))
    return mt_fail(err, MT_EOVERFLOW, "gemm: the size of C leaves 64 bits");
  p->units = n;
  p->grid.blocks = n < INT32_MAX ? (uint32_t)n : INT32_MAX;
  p->grid.threads = p->gemm.desc.threads;
  return MT_OK;
}

/* The memory is the plan's own: a graph that is recorded has nothing to do with it. */
static mt_status take_tables (mt_plan *p, mt_err *err) {
  const mt_pipeline_tables *t = p->tables;
  p->memory_bytes = t->words * sizeof *t->table;
  mt_status s = mt_malloc(p->device, &p->memory, p->memory_bytes, err);
  if (s != MT_OK) p->memory = NULL;
  MT_TRY(s);
  mt_pipeline_move(&p->piped.pipe, t->table, p->memory);
  return p->device->backend->upload(p->device, p->memory, t->table, p->memory_bytes, err);
}

mt_status mt_take_pipeline (mt_plan *p, mt_err *err) {
  MT_TRY(mt_gemm_pipeline(&p->piped, p->tables, err));
  MT_TRY(check_shared(p, err));
  MT_TRY(take_grid(p, err));
  p->kernel = row_of(p->device->backend, p->kernel);
  return take_tables(p, err);
}
