/*
** gemm_blas.c - whether the system's BLAS runs a product, or the processor's own loops.
** SPDX-License-Identifier: MIT
*/
#include "cpu/gemm.h"
#include "cpu/host.h"

enum { MT_PROBE = 512, MT_PROBES = 3 }; /* size and number of measured products */
#define MT_LEAST_WORK 1e8               /* operations for which it is asked */
#define MT_GAIN 1.2                     /* a BLAS has to be that much faster */

static const char name[] = "gemm_blas";

/* ---------------------------------------------------------------- measuring */

/* C = A B of square matrices at `p`, one behind the other. */
static void describe (mt_gemm_launch *l, mt_blas_call *call, void *p, bool twofold) {
  static const mt_digit rows = {MT_PROBE, 1, 0, 0}, columns = {MT_PROBE, MT_PROBE, 0, 0};
  mt_refusals none = {0};
  memset(l, 0, sizeof *l);
  l->desc.op = MT_OP_GEMM;
  l->desc.algo = MT_ALGO_STRIDED;
  l->alpha = 1;
  for (int i = 0; i < MT_PARTS; i++) {
    mt_part *part = &l->desc.part[i];
    part->dtype = twofold ? MT_f64 : MT_f32;
    part->ndigit[0] = part->ndigit[1] = 1;
    part->digit[0] = rows;
    part->digit[1] = columns;
    part->real[0] = part->real[1] = MT_PROBE;
    l->desc.size[i] = MT_PROBE;
    l->base[i] = p;
    l->offset[i] = (int64_t)i * MT_PROBE * MT_PROBE;
  }
  l->desc.size[MT_L] = 1;
  mt_blas_fits(call, &l->desc, &none);
}

/* Seconds of one product, the least of a few; g NULL: by the BLAS. 0: it was stopped. */
static double least (mt_device *d, mt_cpu_gemm *g, const mt_blas_call *call,
                     const mt_gemm_launch *l, mt_err *err) {
  double best = 0;
  for (int i = 0; i < MT_PROBES; i++) {
    double t = mt_host_now();
    if ((g ? mt_cpu_gemm_run(g, l, d->impl, err) : mt_blas_run(d->blas, call, l, err)) !=
        MT_OK)
      return 0;
    t = mt_host_now() - t;
    if (best == 0 || t < best) best = t;
  }
  return best;
}

/* Into what is remembered of both; without memory for it nothing. */
static mt_status measure (mt_device *d, bool twofold, mt_err *err) {
  MT_TRYERR(tried, err);
  size_t each = twofold ? 8 : 4, n = (size_t)MT_PROBE * MT_PROBE, bytes = 3 * n * each;
  double *seen = mt_blas_measured(d->blas, twofold);
  mt_cpu_gemm *g;
  mt_gemm_launch l;
  mt_blas_call call;
  void *p = mt_host_alloc(d, bytes);
  if (p == NULL) return MT_OK;
  for (size_t i = 0; i < 3 * n; i++)
    if (twofold) ((double *)p)[i] = (double)(i % 7);
    else ((float *)p)[i] = (float)(i % 7);
  describe(&l, &call, p, twofold);
  if (mt_cpu_gemm_native(&g, d, &l, &tried) == MT_OK) {
    double work = 2.0 * MT_PROBE * MT_PROBE * MT_PROBE;
    double own = least(d, g, &call, &l, &tried);
    double its = own == 0 ? 0 : least(d, NULL, &call, &l, &tried);
    if (its != 0) seen[0] = work / own, seen[1] = work / its;
    mt_cpu_gemm_free(d, g);
  }
  mt_host_free(d, p, bytes);
  if (tried.status != MT_ESTOPPED) return MT_OK;
  return mt_fail(err, MT_ESTOPPED, "%s", tried.text);
}

/* ---------------------------------------------------------------- choosing */

static mt_status is_faster (bool *out, mt_device *d, bool twofold, mt_refusals *why,
                            mt_err *err) {
  double *seen = mt_blas_measured(d->blas, twofold);
  int threads = mt_pool_threads(d->impl), processors = mt_host_processors();
  if (threads < processors) {
    mt_refusals_add(why, name,
                    "it has threads of its own, this device is to have %d of %d", threads,
                    processors);
    return MT_OK;
  }
  if (seen[0] == 0) MT_TRY(measure(d, twofold, err));
  *out = seen[1] > MT_GAIN * seen[0];
  if (!*out)
    mt_refusals_add(why, name,
                    "measured: %.1f GFLOP/s, the own loops %.1f; it has to be %.1f "
                    "times as fast",
                    seen[1] / 1e9, seen[0] / 1e9, MT_GAIN);
  return MT_OK;
}

mt_status mt_cpu_wants_blas (bool *out, mt_blas_call *call, mt_device *d,
                             const mt_gemm_launch *l, mt_refusals *why, mt_err *err) {
  const int64_t *size = l->desc.size;
  double work = 2.0 * (double)size[MT_M] * (double)size[MT_N] * (double)size[MT_K];
  *out = false;
  if (d->blas == NULL || !mt_blas_fits(call, &l->desc, why)) return MT_OK;
  if (l->finishes) {
    mt_refusals_add(why, name, "it has no epilogue");
    return MT_OK;
  }
  if (!mt_blas_is_named(d->blas) && work < MT_LEAST_WORK) {
    mt_refusals_add(why, name, "fewer than %.0e operations", MT_LEAST_WORK);
    return MT_OK;
  }
  if (!mt_blas_found(d->blas, why)) return MT_OK;
  *out = mt_blas_is_named(d->blas);
  return *out ? MT_OK : is_faster(out, d, call->twofold, why, err);
}
