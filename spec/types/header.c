/*
** header.c - tests of the .npy header: what is read, what is refused, hostile bytes.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "npy_test.h"

/* A file in a block of exactly its size. */
typedef struct file {
  unsigned char *bytes;
  size_t size, data;
} file;

/* version 1, 2 or 3; `length` >= 0 is a lie about the header's length. */
static file make_file (int version, const char *header, size_t header_size, long length,
                       size_t data_size) {
  file f;
  size_t field = version == 1 ? 2 : 4;
  f.data = 8 + field + header_size;
  f.size = f.data + data_size;
  f.bytes = calloc(f.size, 1);
  memcpy(f.bytes, "\x93NUMPY", 6);
  f.bytes[6] = (unsigned char)version;
  uint64_t n = length >= 0 ? (uint64_t)length : header_size;
  for (size_t i = 0; i < field; i++) f.bytes[8 + i] = (unsigned char)(n >> (8 * i));
  memcpy(f.bytes + 8 + field, header, header_size);
  return f;
}

/* As `as`, or (-1) as what the file says. */
static mt_status read_as (mt_npy *out, int as, const file *f, mt_err *err) {
  size_t head = f->size < MT_NPY_HEAD ? f->size : MT_NPY_HEAD;
  return as < 0 ? mt_npy_read_header(out, f->bytes, head, f->size, err) :
                  mt_npy_read_header_as(out, (mt_dtype)as, f->bytes, head, f->size, err);
}

static mt_status read_file (mt_npy *out, const file *f, mt_err *err) {
  return read_as(out, -1, f, err);
}

/* ---------------------------------------------------------------- what is read */

#define D(descr, order, shape)                                                           \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"
#define OK4 D("'<f4'", "False", "(3, 4)")
#define TEN "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "

static void check_read (int version, int as, const char *header, size_t data, mt_dtype d,
                        bool swap, const char *layout) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  char text[256];
  file f = make_file(version, header, strlen(header), -1, data);
  CHECK(read_as(&npy, as, &f, &err) == MT_OK, "%s: %s", header, err.text);
  if (err.status == MT_OK) {
    mt_format(text, sizeof text, npy.layout.node);
    CHECK(!layout || strcmp(text, layout) == 0, "%s is %s", header, text);
    CHECK(npy.dtype == d && npy.swap == swap, "%s: %s", header, mt_dtype_name(npy.dtype));
    CHECK(npy.data == f.data && npy.data_bytes <= data, "%s", header);
  }
  free(f.bytes);
}

/* ---------------------------------------------------------------- what is refused */

#define OK4 D("'<f4'", "False", "(3, 4)")
#define TEN "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "

static void check_refused (int version, int as, const char *header, size_t data,
                           const char *text) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  file f = make_file(version, header, strlen(header), -1, data);
  mt_status s = read_as(&npy, as, &f, &err);
  CHECK(s == MT_EFORMAT && err.status == s, "%s: status %d", header, s);
  CHECK(strstr(err.text, text), "%s: '%s' is not in '%s'", header, text, err.text);
  free(f.bytes);
}

/* A header that lies about its length, of a file with `data` bytes. */
static void check_length (int version, long length, size_t data, const char *text) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  file f = make_file(version, OK4, strlen(OK4), length, data);
  CHECK(read_file(&npy, &f, &err) == MT_EFORMAT, "%ld", length);
  CHECK(strstr(err.text, text), "%ld: %s", length, err.text);
  free(f.bytes);
}

static void test_lengths (void) {
  long n = (long)strlen(OK4);
  check_length(1, 0, 48, "'{' expected, got the end");
  check_length(1, n - 1, 48, "a string expected, got the end");
  check_length(1, n - 5, 48, "got the end");
  check_length(1, n + 1, 48, "the end of the header expected");
  check_length(1, n + 48, 48, "the end of the header expected");
  check_length(1, n + 49, 48, "the file ends inside its header");
  check_length(1, 65535, 48, "the file ends inside its header, after 117 of 65545 bytes");
  check_length(2, 0xffffffff, 48, "of 4294967307 bytes");
  check_length(3, 0x7fffffff, 48, "the file ends inside its header");
  check_length(2, 100000, 200000, "the header ends at byte 100012, beyond the 65536");
}

/* Every prefix of a good file is refused, whether the file is cut or only its head was
** given. */
static void test_truncated (int version) {
  mt_npy npy;
  file f = make_file(version, OK4, strlen(OK4), -1, 48);
  for (size_t n = 0; n < f.size; n++) {
    mt_err err = MT_NOERR;
    unsigned char *p = malloc(n + !n);
    memcpy(p, f.bytes, n);
    CHECK(mt_npy_read_header(&npy, p, n, n, &err) == MT_EFORMAT, "%zu bytes", n);
    CHECK(err.text[0], "%zu bytes", n);
    mt_status want = n < f.data ? MT_EFORMAT : MT_OK;
    CHECK(mt_npy_read_header(&npy, p, n, f.size, &err) == want, "%zu bytes given", n);
    free(p);
  }
  free(f.bytes);
}

/* Blanks as far as 64 KiB, nesting as far as 64 KiB. */
static void test_long (void) {
  enum { SIZE = 60000 };
  static char text[SIZE];
  const char *opens[] = {"(", "[", "{", "'", "{'shape':((", "{'descr':[["};
  mt_npy npy;
  memset(text, ' ', SIZE);
  memcpy(text + SIZE - strlen(OK4), OK4, strlen(OK4));
  for (int version = 1; version <= 3; version++) {
    mt_err err = MT_NOERR;
    file f = make_file(version, text, SIZE, -1, 48);
    CHECK(read_file(&npy, &f, &err) == MT_OK, "%s", err.text);
    free(f.bytes);
  }
  for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
    mt_err err = MT_NOERR;
    size_t n = strlen(opens[i]);
    memcpy(text, opens[i], n);
    memset(text + n, opens[i][n - 1], SIZE - n);
    file f = make_file(1, text, SIZE, -1, 48);
    CHECK(read_file(&npy, &f, &err) == MT_EFORMAT, "%s", opens[i]);
    CHECK(strlen(err.text) < 400, "a message of bounded length");
    free(f.bytes);
  }
}

/* What was read, if anything was, lies in the file and is of one piece. */
static void check_sound (const file *f) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  if (read_file(&npy, f, &err) != MT_OK) {
    CHECK(err.status == MT_EFORMAT && err.text[0], "status %d", err.status);
    return;
  }
  CHECK(npy.data <= f->size && npy.data_bytes <= f->size - npy.data, "inside the file");
  size_t elements = (size_t)npy.layout.node->shape;
  CHECK(elements * mt_dtype_size(npy.dtype) == npy.data_bytes, "its size");
}

/* Every byte replaced by every other; then random pieces of headers. */
static void test_mutated (uint64_t seed) {
  file f = make_file(1, OK4, strlen(OK4), -1, 48);
  for (size_t i = 0; i < f.data; i++) {
    unsigned char old = f.bytes[i];
    for (int c = 0; c < 256; c++) {
      f.bytes[i] = (unsigned char)c;
      check_sound(&f);
    }
    f.bytes[i] = old;
  }
  free(f.bytes);
  static const char *const pieces[] = {"{",
                                       "}",
                                       "(",
                                       ")",
                                       ",",
                                       ":",
                                       "'descr'",
                                       "'fortran_order'",
                                       "'shape'",
                                       "True",
                                       "False",
                                       "'<f4'",
                                       "'|u1'",
                                       "3",
                                       "0",
                                       "18446744073709551616",
                                       "'",
                                       "\"",
                                       " ",
                                       "\n",
                                       "L",
                                       "-",
                                       "()",
                                       "(1,)",
                                       "{'descr': '<f4', 'fortran_order': ",
                                       "'shape': (2, 3)",
                                       "(9223372036854775807,)"};
  for (int i = 0; i < 200000; i++) {
    char text[1024];
    size_t n = 0;
    for (int k = (int)(splitmix64(&seed) % 16); k-- > 0;) {
      const char *s = pieces[splitmix64(&seed) % (sizeof pieces / sizeof *pieces)];
      memcpy(text + n, s, strlen(s));
      n += strlen(s);
    }
    f = make_file(1 + (int)(splitmix64(&seed) % 3), text, n, -1, splitmix64(&seed) % 32);
    check_sound(&f);
    free(f.bytes);
  }
}

void test_headers (uint64_t seed) {
#define NPY_READ(version, header, data, d, swap, layout)                                 \
  check_read(version, -1, header, data, MT_##d, swap, layout);
#define NPY_READ_AS(d, header, data, swap, layout)                                       \
  check_read(1, MT_##d, header, data, MT_##d, swap, layout);
#define NPY_REFUSE(version, header, data, text)                                          \
  check_refused(version, -1, header, data, text);
#define NPY_REFUSE_AS(d, header, data, text) check_refused(1, MT_##d, header, data, text);
#include "header.def"
#undef NPY_READ
#undef NPY_READ_AS
#undef NPY_REFUSE
#undef NPY_REFUSE_AS
  mt_npy npy;
  mt_err err = MT_NOERR;
  CHECK(mt_npy_read_header(&npy, "GIF89a..", 8, 8, &err) == MT_EFORMAT &&
            strstr(err.text, "not a .npy file: it begins with 'GIF89a'"),
        "%s", err.text);
  CHECK(mt_npy_read_header(&npy, "\x93NUMPY\x01\x01", 8, 8, &err) == MT_EFORMAT &&
            strstr(err.text, "format 1.1"),
        "%s", err.text);
  CHECK(mt_npy_read_header(&npy, "", 0, 0, &err) == MT_EFORMAT, "an empty file");
  CHECK(mt_npy_read_header_as(&npy, MT_NDTYPE, "", 0, 0, &err) == MT_EINVAL, "no dtype");
  test_lengths();
  for (int version = 1; version <= 3; version++) test_truncated(version);
  test_long();
  test_mutated(seed);
}
