/*
** writer.c - tests of the .npy header as it is written: NumPy's bytes, and read back.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "npy_test.h"

static void check_written (mt_dtype d, bool fortran, const char *shape, size_t size,
                           const char *header) {
  mt_err err = MT_NOERR;
  mt_layout t;
  unsigned char *buf = malloc(MT_NPY_HEADER_MAX);
  size_t n = 0, k = strlen(header);
  CHECK(mt_parse(&t, shape, strlen(shape), &err) == MT_OK, "%s", err.text);
  CHECK(mt_npy_write_header(buf, &n, d, t.node, fortran, &err) == MT_OK, "%s", err.text);
  CHECK(n == size, "%s: %zu bytes, not %zu", shape, n, size);
  CHECK(memcmp(buf, "\x93NUMPY\x01\0", 8) == 0, "%s", shape);
  CHECK(buf[8] + 256u * buf[9] == n - 10, "%s", shape);
  CHECK(memcmp(buf + 10, header, k) == 0, "%.*s", (int)k, (char *)buf + 10);
  for (size_t i = 10 + k; i < n - 1; i++) CHECK(buf[i] == ' ', "%s", shape);
  CHECK(buf[n - 1] == '\n', "%s", shape);
  free(buf);
}

/* The largest shape that a layout can have, and each dtype, come back. */
static void check_back (mt_dtype d, int rank, int64_t extent, bool fortran) {
  mt_err err = MT_NOERR;
  mt_layout t;
  mt_npy npy;
  int64_t dims[MT_MAXNODES];
  unsigned char *buf = malloc(MT_NPY_HEADER_MAX);
  size_t n = 0, bytes = mt_dtype_size(d) * (size_t)extent;
  for (int i = 0; i < rank; i++) dims[i] = i + 1 == rank ? extent : 1;
  CHECK(mt_ints(&t, rank, dims, &err) == MT_OK, "%s", err.text);
  CHECK(mt_npy_write_header(buf, &n, d, t.node, fortran, &err) == MT_OK, "%s", err.text);
  CHECK(n % 64 == 0 && n <= MT_NPY_HEADER_MAX, "%zu", n);
  CHECK(mt_npy_read_header_as(&npy, d, buf, n, n + bytes, &err) == MT_OK, "%s", err.text);
  CHECK(npy.dtype == d && npy.data == n && npy.data_bytes == bytes && !npy.swap, "%s",
        mt_dtype_name(d));
  CHECK(mt_rank(npy.layout.node) == rank, "rank %d", rank);
  CHECK(npy.layout.node->shape == extent, "rank %d", rank);
  free(buf);
}

void test_writer (void) {
#define NPY_WRITE(d, fortran, shape, size, header)                                       \
  check_written(MT_##d, fortran, shape, size, header);
#include "writer.def"
#undef NPY_WRITE
  for (int d = 0; d < MT_NDTYPE; d++)
    for (int rank = 1; rank < MT_MAXNODES; rank++) {
      check_back((mt_dtype)d, rank, 1000, rank % 2);
      check_back((mt_dtype)d, rank, 576460752303423488, rank % 2);
    }
  mt_err err = MT_NOERR;
  mt_layout t;
  char buf[MT_NPY_HEADER_MAX];
  size_t n;
  const char *bad[] = {"(3,-4)", "(3,_)", "(3,1@0)", "3:1", "(2,(3,4)):(1,(2,6))"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(mt_parse(&t, bad[i], strlen(bad[i]), &err) == MT_OK, "%s", err.text);
    mt_status s = mt_npy_write_header(buf, &n, MT_f32, t.node, false, &err);
    CHECK(s == MT_EINVAL, "%s", bad[i]);
  }
  mt_int(&t, 3);
  mt_status s = mt_npy_write_header(buf, &n, MT_NDTYPE, t.node, false, &err);
  CHECK(s == MT_EINVAL, "no dtype");
}
