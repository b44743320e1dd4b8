/*
** gemm_launch.c - products in host memory: the reference for a described partition,
** the processor's own product without one.
** SPDX-License-Identifier: MIT
*/
#include "cpu/copy.h"
#include "cpu/gemm.h"

enum { MT_MAXWORKERS = 64 };

static mt_status prepare_reference (mt_plan *p, int threads, mt_err *err) {
  const mt_gemm_desc *d = &p->gemm.desc;
  int64_t units = p->units < MT_MAXWORKERS ? p->units : MT_MAXWORKERS;
  int workers = threads < units ? threads : units > 0 ? (int)units : 1;
  p->workspace_bytes = mt_mma_ref_size(d, p->own, workers);
  MT_CHECK(p->workspace_bytes > 0, err, "gemm: there is no atom %d", (int)d->atom);
  p->workspace = mt_host_alloc(p->device, p->workspace_bytes);
  if (p->workspace == NULL)
    return mt_fail(err, MT_ENOMEM, "gemm: no host memory for %zu bytes of accumulators",
                   p->workspace_bytes);
  p->kernel = &mt_cpu_kernels[MT_ROW_mma_ref];
  p->grid.threads = (uint32_t)workers;
  return mt_mma_ref_make(p->workspace, d, p->own, workers, err);
}

static mt_status prepare_own (mt_plan *p, int threads, mt_err *err) {
  p->kernel = &mt_cpu_kernels[MT_ROW_gemm];
  p->grid.threads = (uint32_t)threads;
  MT_TRY(mt_cpu_gemm_new(&p->native, p->device, &p->gemm, &p->why, err));
  p->name = mt_cpu_gemm_name(p->native);
  return MT_OK;
}

mt_status mt_cpu_product_prepare (mt_plan *p, int threads, mt_err *err) {
  if (p->gemm.desc.algo == MT_ALGO_STRIDED) return prepare_own(p, threads, err);
  return prepare_reference(p, threads, err);
}

mt_status mt_cpu_product_run (mt_plan *p, mt_pool *pool, mt_err *err) {
  if (p->native) return mt_cpu_gemm_run(p->native, &p->gemm, pool, err);
  return mt_mma_ref_run(p->workspace, &p->gemm, pool ? NULL : p->bytes, pool, err);
}

void mt_cpu_product_release (mt_plan *p) {
  mt_host_free(p->device, p->workspace, p->workspace_bytes);
  if (p->native) mt_cpu_gemm_free(p->device, p->native);
}
