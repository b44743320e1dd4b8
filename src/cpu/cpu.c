/*
** cpu.c - the backend "cpu": any descriptor, on all processors.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "cpu/blas.h"
#include "cpu/copy.h"
#include "cpu/host.h"
#include "copy/ref.h"

#define MT_CPU_KERNEL(name, how)                                                         \
  {#name, MT_OP_COPY, MT_ALGO_STRIDED, 0, 1, 1, 0, NULL, true, MT_CAST_ALL},
#define MT_CPU_GEMM(name, algo, how)                                                     \
  {#name, MT_OP_GEMM, MT_ALGO_##algo, 0, 1, 1, 0, "*", false, 0},
const mt_kernel mt_cpu_kernels[] = {
#include "cpu/copy.def"
};
const size_t mt_ncpu_kernels = sizeof mt_cpu_kernels / sizeof mt_cpu_kernels[0];

/* d->impl is the pool. */
static mt_status cpu_open (mt_device *d, int index, mt_err *err) {
  int threads = d->options.threads > 0 ? d->options.threads : mt_host_processors();
  (void)index;
  if (threads > 1024) threads = 1024;
  d->threads = threads;
  MT_TRY(mt_blas_new(&d->blas, d, d->options.libblas, err));
  d->impl = mt_pool_new(&d->options, threads);
  if (d->impl == NULL) {
    mt_blas_free(d, d->blas);
    return mt_fail(err, MT_ENOMEM, "no host memory for a device");
  }
  snprintf(d->name, sizeof d->name, "cpu");
  mt_host_about(d->about, sizeof d->about, threads);
  return MT_OK;
}

static void cpu_close (mt_device *d) {
  mt_blas_free(d, d->blas);
  mt_pool_free(&d->options, d->impl);
}

static void cpu_halt (mt_device *d) { mt_pool_halt(d->impl); }

/* Bytes of the tables of a row; 0: it has none. */
static size_t tables_of (const mt_cpu_job *job) {
  if (job->row == MT_ROW_cpu_gather) return mt_cpu_gather_size();
  return job->runs.n[0] > 0 || job->row == MT_ROW_cpu_transpose ? mt_cpu_places_size() :
                                                                  0;
}

/* A plan that is moved, and prepared again, has a place for them, if it needs as much. */
static mt_status make_tables (mt_plan *p, mt_cpu_job *job, mt_err *err) {
  const size_t bytes = tables_of(job);
  if (bytes == 0) return MT_OK;
  if (p->workspace != NULL && p->workspace_bytes != bytes) {
    mt_host_free(p->device, p->workspace, p->workspace_bytes);
    p->workspace = NULL;
  }
  p->workspace_bytes = bytes;
  if (p->workspace == NULL) p->workspace = mt_host_alloc(p->device, bytes);
  if (p->workspace == NULL)
    return mt_fail(err, MT_ENOMEM, "no host memory for the tables of a copy");
  if (job->row == MT_ROW_cpu_gather) {
    mt_cpu_gather_make(p->workspace, job);
    job->tile.gather = p->workspace;
    return MT_OK;
  }
  (job->row == MT_ROW_cpu_rows ? mt_cpu_row_places : mt_cpu_turn_places)(p->workspace,
                                                                         job);
  job->tile.places = p->workspace;
  return MT_OK;
}

static mt_status cpu_prepare (mt_plan *p, mt_err *err) {
  mt_cpu_job *job = p->data;
  int threads = mt_pool_threads(p->device->impl);
  mt_cpu_plan(job, &p->launch, threads, &p->why);
  if (p->slots) mt_cpu_aim(job, p->slots, threads);
  int64_t pieces = job->piece ? (job->tiles - 1) / job->piece + 1 : 0;
  p->kernel = &mt_cpu_kernels[job->row];
  p->grid.blocks = job->tiles < UINT32_MAX ? (uint32_t)job->tiles : UINT32_MAX;
  p->grid.threads = (uint32_t)(pieces < threads ? pieces : threads);
  return make_tables(p, job, err);
}

/* What no loop over tiles can do: access by access, on the caller's thread. */
static mt_status run_literally (const mt_plan *p, mt_err *err) {
  const mt_desc *d = &p->launch.desc;
  mt_kernel row = {"cpu_literal", MT_OP_COPY, (uint8_t)d->algo, 0, 1, 1, 0,
                   NULL,          true,       MT_CAST_ALL};
  mt_grid grid = {1, (uint32_t)(d->algo == MT_ALGO_DESCRIBED ? d->threads : 1)};
  return mt_ref_run(&row, grid, &p->launch, p->bytes, err);
}

static mt_status cpu_prepare_product (mt_plan *p, mt_err *err) {
  return mt_cpu_product_prepare(p, mt_pool_threads(p->device->impl), err);
}

static bool cpu_loop (mt_plan *p, mt_loop *out) {
  mt_cpu_job *job = p->data;
  *out = (mt_loop){p->device->impl, mt_cpu_run, job, job->tiles,
                   job->row == MT_ROW_cpu_rows && !job->demoted};
  return job->move != NULL;
}

static mt_status cpu_launch (mt_plan *p, mt_stream *s, mt_err *err) {
  mt_cpu_job *job = p->data;
  (void)s;
  if (p->launch.desc.op == MT_OP_GEMM) return mt_cpu_product_run(p, p->device->impl, err);
  if (job->move == NULL)
    return job->row == MT_ROW_cpu_literal ? run_literally(p, err) : MT_OK;
  return mt_pool_run(p->device->impl, "copy", job->tiles, job->piece, mt_cpu_run, job,
                     err);
}

const mt_backend mt_backend_cpu = {.name = "cpu",
                                   .kernels = mt_cpu_kernels,
                                   .nkernels = &mt_ncpu_kernels,
                                   .open = cpu_open,
                                   .close = cpu_close,
                                   .halt = cpu_halt,
                                   MT_HOST_MEMORY,
                                   .launch = cpu_launch,
                                   .loop = cpu_loop,
                                   .prepare = cpu_prepare,
                                   .data_bytes = sizeof(mt_cpu_job),
                                   .own_gemm = true,
                                   .prepare_gemm = cpu_prepare_product,
                                   .release = mt_cpu_product_release};
