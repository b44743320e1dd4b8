/*
** mt_blas.c - the system's BLAS, opened at run time: sgemm and dgemm.
** SPDX-License-Identifier: MIT
**
** The interface is Fortran's: arguments by address, integers of 32 bits, lengths of
** strings behind them. The library stays loaded: it may have threads of its own.
*/
#define _GNU_SOURCE /* RTLD_NODELETE */
#include <dlfcn.h>
#include <stdio.h>

#include "mt_blas.h"

typedef void mt_gemm_call (const char *ta, const char *tb, const int *m, const int *n,
                           const int *k, const void *alpha, const void *a, const int *lda,
                           const void *b, const int *ldb, const void *beta, void *c,
                           const int *ldc, size_t, size_t);

enum { MT_BLAS_PATH = 256 };

struct mt_blas {
  char path[MT_BLAS_PATH];
  bool named, asked;
  char refused[MT_BLAS_PATH + 80];   /* why it is not called; "": it is */
  void *handle;
  mt_gemm_call *gemm[2];             /* sgemm_, dgemm_ */
  double measured[2][2];
};

mt_status mt_blas_new (mt_blas **out, const mt_device *d, const char *path,
                       mt_err *err) {
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
    snprintf(b->refused, sizeof b->refused, "%s is neither OpenBLAS, BLIS nor MKL: plain "
             "loops", b->path);
}

bool mt_blas_is_named (const mt_blas *b) { return b->named; }

bool mt_blas_found (mt_blas *b, mt_why *why) {
  if (!b->asked) open_library(b);
  if (b->refused[0]) mt_why_add(why, "gemm_blas", "%s", b->refused);
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

bool mt_blas_fits (mt_blas_call *out, const mt_mma_desc *d, mt_why *why) {
  static const char name[] = "gemm_blas";
  uint32_t t = d->part[MT_C].dtype;
  int64_t s[MT_PARTS][3];
  memset(out, 0, sizeof *out);
  for (int i = 0; i < MT_PARTS; i++)
    if (d->part[i].dtype != t || (t != MT_f32 && t != MT_f64))
      return mt_why_add(why, name, "not f32 alone, nor f64"), false;
  for (int i = 0; i < MT_PARTS; i++) {
    if (!strides_of(s[i], &d->part[i]) || d->size[i] > INT32_MAX || d->size[i] == 0)
      return mt_why_add(why, name, "%c is no plain matrix", "ABC"[i]), false;
    out->step[i] = s[i][2];
  }
  out->twofold = t == MT_f64;
  out->batches = d->size[MT_L];
  if (fits(out, d->size, s)) return true;
  out->turned = true;
  if (fits(out, d->size, s)) return true;
  return mt_why_add(why, name, "no side of a matrix lies together"), false;
}

/* ---------------------------------------------------------------- running */

void mt_blas_run (const mt_blas *b, const mt_blas_call *c, const mt_mma_launch *l) {
  int64_t size = c->twofold ? 8 : 4;
  float alpha = (float)l->alpha, beta = (float)l->beta;
  const void *pa = c->twofold ? (const void *)&l->alpha : &alpha;
  const void *pb = c->twofold ? (const void *)&l->beta : &beta;
  for (int64_t i = 0; i < c->batches; i++) {
    char *p[MT_PARTS];
    for (int j = 0; j < MT_PARTS; j++)
      p[j] = (char *)l->base[j] + (l->offset[j] + i * c->step[j]) * size;
    b->gemm[c->twofold](&c->trans[0], &c->trans[1], &c->size[0], &c->size[1], &c->size[2],
                        pa, p[c->turned ? MT_B : MT_A], &c->ld[0],
                        p[c->turned ? MT_A : MT_B], &c->ld[1], pb, p[MT_C], &c->ld[2],
                        1, 1);
  }
}
