/*
** extend.c - kernels that a host adds to a device.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "copy/kernel_choice.h"
#include "plan/extend.h"

static const char *const algorithms[MT_NALGO] = {
#define MT_ALGO(name, lower, threads, unroll, what) #lower,
#include "desc/algos.def"
};

/* ---------------------------------------------------------------- finding */

const mt_kernel *mt_own_product (const mt_device *d, const char *atom) {
  for (const mt_own_rows *o = d->own; o; o = o->next)
    for (size_t i = 0; i < o->n; i++)
      if (mt_kernel_executes(&o->row[i].kernel, atom, d->arch)) return &o->row[i].kernel;
  return NULL;
}

const mt_kernel *mt_own_copy (const mt_device *d, const mt_desc *desc, mt_grid *grid,
                              mt_refusals *why) {
  const mt_kernel *found = NULL;
  for (const mt_own_rows *o = d->own; o && !found; o = o->next)
    for (size_t i = 0; i < o->n && !found; i++)
      found = mt_kernel_choose(&o->row[i].kernel, 1, desc, grid, why);
  return found;
}

const mt_own_row *mt_own_row_of (const mt_device *d, const mt_kernel *k) {
  for (const mt_own_rows *o = d->own; o; o = o->next)
    for (size_t i = 0; i < o->n; i++)
      if (k == &o->row[i].kernel) return &o->row[i];
  return NULL;
}

/* ---------------------------------------------------------------- adding */

static bool fits (const char *name) { return name && strlen(name) < MT_ROW_NAME; }

static mt_status read_product (mt_own_row *out, const mt_kernel_row *in, mt_err *err) {
  MT_CHECK(in->algorithm == NULL, err, "kernel %s: a product by %s has no algorithm",
           in->name, in->atom);
  MT_CHECK(fits(in->atom) && in->atom[0], err,
           "kernel %s: an atom's name of 1 to %d bytes", in->name, MT_ROW_NAME - 1);
  out->kernel.op = MT_OP_GEMM;
  out->kernel.threads = 1024;
  out->kernel.unroll = 1;
  memcpy(out->atom, in->atom, strlen(in->atom) + 1);
  out->kernel.atom = out->atom;
  return MT_OK;
}

static mt_status read_copy (mt_own_row *out, const mt_kernel_row *in, mt_err *err) {
  int algo = 0;
  MT_CHECK(in->algorithm != NULL, err, "kernel %s: an atom or an algorithm", in->name);
  while (algo < MT_NALGO && strcmp(algorithms[algo], in->algorithm) != 0) algo++;
  if (algo == MT_NALGO) {
    mt_fail(err, MT_EINVAL,
            "kernel %s: unknown algorithm \"%.64s\"; there are:", in->name,
            in->algorithm);
    for (int i = 0; i < MT_NALGO; i++) mt_explain(err, " %s", algorithms[i]);
    return err->status;
  }
  MT_CHECK(in->bytes == 1 || in->bytes == 2 || in->bytes == 4 || in->bytes == 8 ||
               in->bytes == 16,
           err, "kernel %s: accesses of %d bytes: 1, 2, 4, 8 or 16", in->name, in->bytes);
  MT_CHECK(in->threads > 0 && in->threads <= 1024 && in->unroll > 0 && in->unroll <= 1024,
           err, "kernel %s: %d threads, %d accesses in flight: 1 to 1024", in->name,
           in->threads, in->unroll);
  out->kernel.op = MT_OP_COPY;
  out->kernel.algo = (uint8_t)algo;
  out->kernel.bytes = (uint8_t)in->bytes;
  out->kernel.threads = (uint16_t)in->threads;
  out->kernel.unroll = (uint16_t)in->unroll;
  return MT_OK;
}

static mt_status read_row (mt_own_row *out, const mt_kernel_row *in, const mt_device *d,
                           mt_err *err) {
  MT_CHECK(fits(in->name) && in->name[0], err, "kernel: a name of 1 to %d bytes",
           MT_ROW_NAME - 1);
  if (in->arch > d->arch)
    return mt_fail(err, MT_EUNSUPPORTED, "kernel %s is for sm_%d and later, %s is sm_%d",
                   in->name, in->arch, d->name, d->arch);
  memcpy(out->name, in->name, strlen(in->name) + 1);
  out->kernel.name = out->name;
  out->kernel.arch = 0;
  return in->atom ? read_product(out, in, err) : read_copy(out, in, err);
}

mt_status mt_device_add_kernels (mt_device *d, int abi, const void *image,
                                 const mt_kernel_row *rows, int n, mt_err *err) {
  MT_CHECK(d->backend->add, err, "kernels: %s takes none of a host", d->name);
  MT_CHECK(
      abi == MT_LAUNCH_ABI, err,
      "kernels: descriptors of version %d, this library has %d\ncompile them against "
      "its own share/moontile/cuda",
      abi, MT_LAUNCH_ABI);
  MT_CHECK(image != NULL && rows != NULL && n > 0 && n <= 4096, err,
           "kernels: an image and 1 to 4096 rows");
  size_t size = sizeof(mt_own_rows) + (size_t)n * sizeof(mt_own_row);
  mt_own_rows *o = mt_host_alloc(d, size);
  if (o == NULL) return mt_fail(err, MT_ENOMEM, "no host memory for %d kernels", n);
  memset(o, 0, size);
  o->n = (size_t)n;
  o->size = size;
  mt_status s = MT_OK;
  for (int i = 0; s == MT_OK && i < n; i++) s = read_row(&o->row[i], &rows[i], d, err);
  if (s == MT_OK) s = d->backend->add(d, o, image, err);
  if (s != MT_OK) return mt_host_free(d, o, size), s;
  o->next = d->own;
  d->own = o;
  return MT_OK;
}

void mt_drop_kernels (mt_device *d) {
  while (d->own) {
    mt_own_rows *o = d->own;
    d->own = o->next;
    d->backend->drop(d, o);
    mt_host_free(d, o, o->size);
  }
}
