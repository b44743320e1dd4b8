/*
** checked.c - the backend "cpu:checked": the reference executor, each access verified.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "cpu/copy.h"
#include "cpu/host.h"
#include "copy/ref.h"

static const mt_kernel rows[] = {
#define MT_ALGO(name, lower, threads, unroll, what)                                      \
  {"ref_" #lower, MT_OP_COPY, MT_ALGO_##name, 0,    threads,                             \
   unroll,        0,          NULL,           true, MT_CAST_ALL},
#include "desc/algos.def"
};
static const size_t nrows = sizeof rows / sizeof rows[0];

static mt_status checked_open (mt_device *d, int index, mt_err *err) {
  (void)index, (void)err;
  snprintf(d->name, sizeof d->name, "cpu:checked");
  snprintf(d->about, sizeof d->about, "the reference: each access on its own, verified");
  return MT_OK;
}

static void checked_close (mt_device *d) { (void)d; }

static mt_status checked_prepare_product (mt_plan *p, mt_err *err) {
  return mt_cpu_product_prepare(p, 1, err);
}

static mt_status checked_launch (mt_plan *p, mt_stream *s, mt_err *err) {
  (void)s;
  if (p->launch.desc.op == MT_OP_GEMM) return mt_cpu_product_run(p, NULL, err);
  return mt_ref_run(p->kernel, p->grid, &p->launch, p->bytes, err);
}

const mt_backend mt_backend_checked = {.name = "cpu:checked",
                                       .kernels = rows,
                                       .nkernels = &nrows,
                                       .open = checked_open,
                                       .close = checked_close,
                                       MT_HOST_MEMORY,
                                       .launch = checked_launch,
                                       .prepare_gemm = checked_prepare_product,
                                       .release = mt_cpu_product_release};
