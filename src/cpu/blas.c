/*
** blas.c - the system's BLAS, opened at run time: sgemm and dgemm.
** SPDX-License-Identifier: MIT
**
** The interface is Fortran's: arguments by address, integers of 32 bits, lengths of
** strings behind them. The library stays loaded: it may have threads of its own.
*/
#define _GNU_SOURCE /* RTLD_NODELETE */
#include <dlfcn.h>
#include <stdio.h>

#include "cpu/blas.h"
#include "cpu/host.h"

typedef void mt_gemm_call (const char *ta, const char *tb, const int *m, const int *n,
                           const int *k, const void *alpha, const void *a, const int *lda,
                           const void *b, const int *ldb, const void *beta, void *c,
                           const int *ldc, size_t, size_t);

enum { MT_BLAS_PATH = 256 };

struct mt_blas {
  char path[MT_BLAS_PATH];
  bool named, asked;
  char refused[MT_BLAS_PATH + 80]; /* why it is not called; "": it is */
  void *handle;
  mt_gemm_call *gemm[2]; /* sgemm_, dgemm_ */
  double measured[2][2];
  double most[2]; /* operations of a call; 0: not known yet */
};

mt_status mt_blas_new (mt_blas **out, const mt_device *d, const char *path, mt_err *err) {
  *out = NULL;
  MT_CHECK(path == NULL || strlen(path) < MT_BLAS_PATH, err,
           "device: libblas has a path of more than %d bytes", MT_BLAS_PATH - 1);
  mt_blas *b = mt_host_alloc(d, sizeof *b);
  if (b == NULL) return mt_fail(err, MT_ENOMEM, "no host memory for a device");
  memset(b, 0, sizeof *b);
  b->named = path != NULL;
  strcpy(b->path, path ? path : "libblas.so.3");
  *out = b;
  return MT_OK;
}

void mt_blas_free (const mt_device *d, mt_blas *b) {
  if (b == NULL) return;
  if (b->handle) dlclose(b->handle);
  mt_host_free(d, b, sizeof *b);
}

/* ---------------------------------------------------------------- opening */

/* What only libraries with inner loops of their own export. */
static bool is_fast (void *handle) {
  static const char *const marks[] = {"openblas_get_config", "bli_info_get_version_str",
                                      "MKL_Get_Version"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (dlsym(handle, marks[i])) return true;
  return false;
}

static void resolve (mt_blas *b) {
  static const char *const names[] = {"sgemm_", "dgemm_"};
  for (int i = 0; i < 2; i++) {
    void *p = dlsym(b->handle, names[i]);
    if (p == NULL)
      snprintf(b->refused, sizeof b->refused, "%s has no %s", b->path, names[i]);
    memcpy(&b->gemm[i], &p, sizeof p);
  }
}

static void open_library (mt_blas *b) {
  b->asked = true;
  if (b->path[0] == 0) {
    strcpy(b->refused, "turned off: libblas is \"\"");
    return;
  }
  b->handle = dlopen(b->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (b->handle == NULL) {
    const char *reason = dlerror();
    snprintf(b->refused, sizeof b->refused, "%s", reason ? reason : b->path);
    return;
  }
  resolve(b);
  if (b->refused[0] == 0 && !b->named && !is_fast(b->handle))
    snprintf(b->refused, sizeof b->refused,
             "%s is neither OpenBLAS, BLIS nor MKL: plain "
             "loops",
             b->path);
}

bool mt_blas_is_named (const mt_blas *b) { return b->named; }

bool mt_blas_found (mt_blas *b, mt_refusals *why) {
  if (!b->asked) open_library(b);
  if (b->refused[0]) mt_refusals_add(why, "gemm_blas", "%s", b->refused);
  return b->refused[0] == 0;
}

double *mt_blas_measured (mt_blas *b, bool twofold) { return b->measured[twofold]; }

/* ---------------------------------------------------------------- fitting */

/* A matrix in column-major order, as it is ('N') or transposed ('T'); a side of one
** element has any stride. */
static bool is_matrix (int64_t rows, int64_t columns, int64_t sr, int64_t sc, char *trans,
                       int *ld) {
  bool across = columns == 1, down = rows == 1;
  int64_t n = across ? rows : sc, t = down ? columns : sr;
  if ((down || sr == 1) && n >= rows && n <= INT32_MAX) {
    *trans = 'N';
    *ld = (int)n;
    return true;
  }
  *trans = 'T';
  *ld = (int)(t <= INT32_MAX ? t : 0);
  return (across || sc == 1) && t >= columns && t <= INT32_MAX;
}

/* The strides of an operand's modes; false if one has several axes. */
static bool strides_of (int64_t s[3], const mt_part *p) {
  const mt_digit *d = p->digit;
  for (int i = 0; i < 3; d += p->ndigit[i++]) {
    if (p->ndigit[i] > 1) return false;
    s[i] = p->ndigit[i] ? d->stride : 0;
  }
  return p->swizzle == 0;
}

static bool fits (mt_blas_call *c, const int64_t size[3], int64_t s[MT_PARTS][3]) {
  int x = c->turned ? MT_B : MT_A, y = 1 - x, down = c->turned;
  int64_t m = size[down], n = size[1 - down], k = size[MT_K];
  char trans;
  c->size[0] = (int)m, c->size[1] = (int)n, c->size[2] = (int)k;
  return is_matrix(m, n, s[MT_C][down], s[MT_C][1 - down], &trans, &c->ld[2]) &&
         trans == 'N' && is_matrix(m, k, s[x][0], s[x][1], &c->trans[0], &c->ld[0]) &&
         is_matrix(k, n, s[y][1], s[y][0], &c->trans[1], &c->ld[1]);
}

bool mt_blas_fits (mt_blas_call *out, const mt_gemm_desc *d, mt_refusals *why) {
  static const char name[] = "gemm_blas";
  uint32_t t = d->part[MT_C].dtype;
  int64_t s[MT_PARTS][3];
  memset(out, 0, sizeof *out);
  for (int i = 0; i < MT_PARTS; i++)
    if (d->part[i].dtype != t || (t != MT_f32 && t != MT_f64))
      return mt_refusals_add(why, name, "not f32 alone, nor f64"), false;
  for (int i = 0; i < MT_PARTS; i++) {
    if (!strides_of(s[i], &d->part[i]) || d->size[i] > INT32_MAX || d->size[i] == 0 ||
        d->part[i].real[0] != d->size[i == MT_B ? MT_N : MT_M])
      return mt_refusals_add(why, name, "%c is no plain matrix", "ABC"[i]), false;
    out->step[i] = s[i][2];
  }
  out->twofold = t == MT_f64;
  out->batches = d->size[MT_L];
  if (fits(out, d->size, s)) return true;
  out->turned = true;
  if (fits(out, d->size, s)) return true;
  return mt_refusals_add(why, name, "no side of a matrix lies together"), false;
}

/* ---------------------------------------------------------------- running */

enum { MT_BLASLEAST = 128 }; /* no side is cut below twice this */
#define MT_BLASFIRST 4e7     /* operations of a call of unknown speed */
#define MT_BLASTIME 0.02     /* seconds of a call, about */

/* A product, or a part of it: C = alpha A B + beta C. */
typedef struct part {
  char *p[MT_PARTS]; /* A, B, C of the call */
  int size[3];       /* M, N, K */
  double beta;
} part;

static void call (const mt_blas *b, const mt_blas_call *c, double alpha, const part *x) {
  float f[] = {(float)alpha, (float)x->beta};
  double d[] = {alpha, x->beta};
  const void *pa = c->twofold ? (void *)&d[0] : &f[0];
  const void *pb = c->twofold ? (void *)&d[1] : &f[1];
  b->gemm[c->twofold](&c->trans[0], &c->trans[1], &x->size[0], &x->size[1], &x->size[2],
                      pa, x->p[MT_A], &c->ld[0], x->p[MT_B], &c->ld[1], pb, x->p[MT_C],
                      &c->ld[2], 1, 1);
}

static double operations (const part *x) {
  return 2.0 * x->size[0] * x->size[1] * x->size[2];
}

/* Keeps how many operations fit in the time of a call. */
static void call_timed (mt_blas *b, const mt_blas_call *c, double alpha, const part *x) {
  double t = mt_host_now();
  call(b, c, alpha, x);
  t = mt_host_now() - t;
  if (operations(x) < MT_BLASFIRST / 8) return;
  b->most[c->twofold] = operations(x) * (MT_BLASTIME / (t > 1e-6 ? t : 1e-6));
}

/* Bytes from one index to the next of mode m (M, N, K) of operand i; 0: it has it not. */
static int64_t step_of (const mt_blas_call *c, int i, int m) {
  static const int8_t modes[MT_PARTS][2] = {{0, 2}, {2, 1}, {0, 1}};
  int64_t size = c->twofold ? 8 : 4, along = 1, across = c->ld[i];
  if (i < MT_C && c->trans[i] == 'T') along = across, across = 1;
  return (m == modes[i][0] ? along : m == modes[i][1] ? across : 0) * size;
}

/* The second half of the longest side of x, which becomes the first; false: all of x fits
** into one call. */
static bool cut (part *half, part *x, const mt_blas *b, const mt_blas_call *c) {
  int m = x->size[1] > x->size[0];
  if (x->size[2] > x->size[m]) m = 2;
  double most = b->most[c->twofold] ? b->most[c->twofold] : MT_BLASFIRST;
  if (operations(x) <= most || x->size[m] < 2 * MT_BLASLEAST) return false;
  *half = *x;
  x->size[m] = (x->size[m] / 2 + MT_BLASLEAST - 1) / MT_BLASLEAST * MT_BLASLEAST;
  half->size[m] -= x->size[m];
  for (int i = 0; i < MT_PARTS; i++) half->p[i] += x->size[m] * step_of(c, i, m);
  if (m == 2) half->beta = 1;
  return true;
}

/* Halves again and again: what is left is on `rest`. */
static mt_status run_parts (mt_blas *b, const mt_blas_call *c, double alpha, part x,
                            mt_stint *stint, mt_err *err) {
  part rest[3 * 32];
  int n = 0;
  for (;;) {
    while (cut(&rest[n], &x, b, c)) n++;
    call_timed(b, c, alpha, &x);
    stint->done += operations(&x);
    if (n == 0) return MT_OK;
    if (mt_stopped(err, "gemm")) return MT_ESTOPPED;
    x = rest[--n];
  }
}

static mt_status run_batches (mt_blas *b, const mt_blas_call *c, const mt_gemm_launch *l,
                              mt_stint *stint, mt_err *err) {
  int64_t size = c->twofold ? 8 : 4, spent = 0;
  for (int64_t i = 0; i < c->batches; i++) {
    part x = {.size = {c->size[0], c->size[1], c->size[2]}, .beta = l->beta};
    for (int j = 0; j < MT_PARTS; j++) {
      int from = c->turned && j < MT_C ? 1 - j : j;
      x.p[j] = (char *)l->base[from] + (l->offset[from] + i * c->step[from]) * size;
    }
    double ns = operations(&x);
    MT_TRY(run_parts(b, c, l->alpha, x, stint, err));
    if (mt_stopped_after(&spent, ns < 1e6 ? (int64_t)ns : 1000000, err, "gemm"))
      return MT_ESTOPPED;
  }
  return MT_OK;
}

mt_status mt_blas_run (mt_blas *b, const mt_blas_call *c, const mt_gemm_launch *l,
                       mt_err *err) {
  mt_stint stint;
  part all = {.size = {c->size[0], c->size[1], c->size[2]}};
  mt_stint_begin(&stint, "gemm", "operations", (double)c->batches * operations(&all),
                 err);
  mt_status s = run_batches(b, c, l, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}
