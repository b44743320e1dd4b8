/*
** writer.c - tests of the .npy header as it is written: NumPy's bytes, and what reading gives back.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "npy_test.h"

/* dtype order shape as text             size  the header without its blanks; from NumPy 1.24 */
#define WRITES(X)                                                                        \
  X(f32,  0, "()",                        128, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }") \
  X(f32,  0, "(3)",                       128, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }") \
  X(f32,  0, "3",                         128, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }") \
  X(f16,  0, "(3,4)",                     128, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }") \
  X(f16,  1, "(3,4)",                     128, "{'descr': '<f2', 'fortran_order': True, 'shape': (3, 4), }") \
  X(u8,   0, "(2,3,5)",                   128, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 5), }") \
  X(u8,   0, "((2,3),5)",                 128, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 5), }") \
  X(i64,  0, "(0,7)",                     128, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7), }") \
  X(bool, 0, "(1,1)",                     128, "{'descr': '|b1', 'fortran_order': False, 'shape': (1, 1), }") \
  X(bf16, 0, "(8)",                       128, "{'descr': '<V2', 'fortran_order': False, 'shape': (8,), }") \
  X(f64,  1, "(1000000000,0)",            128, "{'descr': '<f8', 'fortran_order': True, 'shape': (1000000000, 0), }") \
  X(f64,  0, "(0,1,1,1,1,1,1,1,1,1,1,11)", 128, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11), }") \
  X(f64,  0, "(0,1,1,1,1,1,1,1,1,1,1,1,1,1)", 128, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }") \
  X(f64,  0, "(0,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", 192, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }") \
  X(f64,  1, "(0,1,1,1,1,1,1,1,1,1,1,1234567)", 128, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1234567), }")

static void check_written (mt_dtype d, bool fortran, const char *shape, size_t size,
                           const char *header) {
  mt_err err = MT_NOERR;
  mt_layout t;
  unsigned char *buf = malloc(MT_NPY_HEADER_MAX);
  size_t n = 0, k = strlen(header);
  CHECK(mt_parse(&t, shape, strlen(shape), &err) == MT_OK, "%s", err.text);
  CHECK(mt_npy_write_header(buf, &n, d, t.node, fortran, &err) == MT_OK, "%s", err.text);
  CHECK(n == size, "%s: %zu bytes, not %zu", shape, n, size);
  CHECK(memcmp(buf, "\x93NUMPY\x01\0", 8) == 0 && buf[8] + 256u * buf[9] == n - 10, "%s", shape);
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
  CHECK(mt_npy_read_header(&npy, buf, n, n + bytes, &err) == MT_OK, "%s", err.text);
  CHECK(npy.dtype == d && npy.data == n && npy.data_bytes == bytes && !npy.swap, "%s",
        mt_dtype_name(d));
  CHECK(mt_rank(npy.layout.node) == rank && npy.layout.node->shape == extent, "rank %d", rank);
  free(buf);
}

void test_writer (void) {
#define WRITE_ROW(d, fortran, shape, size, header)                                       \
  check_written(MT_##d, fortran, shape, size, header);
  WRITES(WRITE_ROW)
#undef WRITE_ROW
  for (int d = 0; d < MT_NDTYPE; d++)
    for (int rank = 1; rank < MT_MAXNODES; rank++) {
      check_back((mt_dtype)d, rank, 1000, rank % 2);
      check_back((mt_dtype)d, rank, 576460752303423488, rank % 2);
    }
  mt_err err = MT_NOERR;
  mt_layout t;
  char buf[MT_NPY_HEADER_MAX];
  size_t n;
  const char *bad[] = { "(3,-4)", "(3,_)", "(3,1@0)", "3:1", "(2,(3,4)):(1,(2,6))" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(mt_parse(&t, bad[i], strlen(bad[i]), &err) == MT_OK, "%s", err.text);
    CHECK(mt_npy_write_header(buf, &n, MT_f32, t.node, false, &err) == MT_EINVAL, "%s", bad[i]);
  }
  mt_int(&t, 3);
  CHECK(mt_npy_write_header(buf, &n, MT_NDTYPE, t.node, false, &err) == MT_EINVAL, "no dtype");
}
