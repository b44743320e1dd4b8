/*
** mt_cpu_blas.c - whether the system's BLAS runs a product, or the processor's own loops.
** SPDX-License-Identifier: MIT
*/
#include <time.h>

#include "mt_cpu_gemm.h"
#include "mt_host.h"

enum { MT_PROBE = 512, MT_PROBES = 3 };      /* size and number of measured products */
#define MT_LEAST_WORK 1e8                    /* operations for which it is asked */
#define MT_GAIN 1.2                          /* a BLAS has to be that much faster */

static const char name[] = "gemm_blas";

/* ---------------------------------------------------------------- measuring */

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* C = A B of square matrices at `p`, one behind the other. */
static void describe (mt_mma_launch *l, mt_blas_call *call, void *p, bool twofold) {
  static const mt_digit rows = {MT_PROBE, 1, 0, 0}, columns = {MT_PROBE, MT_PROBE, 0, 0};
  mt_why none = {{0}, 0};
  memset(l, 0, sizeof *l);
  l->desc.op = MT_OP_MMA;
  l->desc.form = MT_FORM_FLAT;
  l->alpha = 1;
  for (int i = 0; i < MT_PARTS; i++) {
    mt_part *part = &l->desc.part[i];
    part->dtype = twofold ? MT_f64 : MT_f32;
    part->ndigit[0] = part->ndigit[1] = 1;
    part->digit[0] = rows;
    part->digit[1] = columns;
    l->desc.size[i] = MT_PROBE;
    l->base[i] = p;
    l->offset[i] = (int64_t)i * MT_PROBE * MT_PROBE;
  }
  l->desc.size[MT_L] = 1;
  mt_blas_fits(call, &l->desc, &none);
}

/* Seconds of one product, the least of a few; g NULL: by the BLAS. */
static double least (mt_device *d, mt_cpu_gemm *g, const mt_blas_call *call,
                     const mt_mma_launch *l) {
  mt_err err = MT_NOERR;
  double best = 0;
  for (int i = 0; i < MT_PROBES; i++) {
    double t = now();
    if (g) mt_cpu_gemm_run(g, l, d->impl, &err);
    else mt_blas_run(d->blas, call, l);
    t = now() - t;
    if (best == 0 || t < best) best = t;
  }
  return best;
}

/* Into what is remembered of both; without memory for it nothing. */
static void measure (mt_device *d, bool twofold) {
  size_t each = twofold ? 8 : 4, n = (size_t)MT_PROBE * MT_PROBE, bytes = 3 * n * each;
  double *seen = mt_blas_measured(d->blas, twofold);
  mt_err err = MT_NOERR;
  mt_cpu_gemm *g;
  mt_mma_launch l;
  mt_blas_call call;
  void *p = mt_host_alloc(d, bytes);
  if (p == NULL) return;
  for (size_t i = 0; i < 3 * n; i++)
    if (twofold) ((double *)p)[i] = (double)(i % 7);
    else ((float *)p)[i] = (float)(i % 7);
  describe(&l, &call, p, twofold);
  if (mt_cpu_gemm_native(&g, d, &l, &err) == MT_OK) {
    double work = 2.0 * MT_PROBE * MT_PROBE * MT_PROBE;
    seen[0] = work / least(d, g, &call, &l);
    seen[1] = work / least(d, NULL, &call, &l);
    mt_cpu_gemm_free(d, g);
  }
  mt_host_free(d, p, bytes);
}

/* ---------------------------------------------------------------- choosing */

static bool is_faster (mt_device *d, bool twofold, mt_why *why) {
  double *seen = mt_blas_measured(d->blas, twofold);
  int threads = mt_pool_threads(d->impl), processors = mt_host_processors();
  if (threads < processors) {
    mt_why_add(why, name, "it has threads of its own, this device is to have %d of %d",
               threads, processors);
    return false;
  }
  if (seen[0] == 0) measure(d, twofold);
  if (seen[1] > MT_GAIN * seen[0]) return true;
  mt_why_add(why, name, "measured: %.1f GFLOP/s, the own loops %.1f; it has to be %.1f "
             "times as fast", seen[1] / 1e9, seen[0] / 1e9, MT_GAIN);
  return false;
}

bool mt_cpu_wants_blas (mt_blas_call *call, mt_device *d, const mt_mma_launch *l,
                        mt_why *why) {
  const int64_t *size = l->desc.size;
  double work = 2.0 * (double)size[MT_M] * (double)size[MT_N] * (double)size[MT_K];
  if (d->blas == NULL || !mt_blas_fits(call, &l->desc, why)) return false;
  if (!mt_blas_is_named(d->blas) && work < MT_LEAST_WORK) {
    mt_why_add(why, name, "fewer than %.0e operations", MT_LEAST_WORK);
    return false;
  }
  if (!mt_blas_found(d->blas, why)) return false;
  return mt_blas_is_named(d->blas) || is_faster(d, call->twofold, why);
}
