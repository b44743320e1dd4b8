/*
** header.c - tests of the .npy header: what is read, what is refused and how, hostile bytes.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "npy_test.h"

/* A file in a block of exactly its size. */
typedef struct file { unsigned char *bytes; size_t size, data; } file;

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

static mt_status read_file (mt_npy *out, const file *f, mt_err *err) {
  return mt_npy_read_header(out, f->bytes, f->size < MT_NPY_HEAD ? f->size : MT_NPY_HEAD, f->size,
                            err);
}

/* ---------------------------------------------------------------- what is read */

#define D(descr, order, shape)                                                           \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

/* ver header                                    data  dtype swap layout */
#define READS(X)                                                                         \
  X(1, D("'<f4'", "False", "(3, 4)"),               48, f32,  0, "(3,4):(4,1)")          \
  X(2, D("'<f4'", "False", "(3, 4)"),               48, f32,  0, "(3,4):(4,1)")          \
  X(3, D("'<f4'", "False", "(3, 4)"),               48, f32,  0, "(3,4):(4,1)")          \
  X(1, D("'<f4'", "True", "(3, 4)"),                48, f32,  0, "(3,4):(1,3)")          \
  X(1, D("'<f2'", "False", "(2, 3, 5)"),            60, f16,  0, "(2,3,5):(15,5,1)")     \
  X(1, D("'<f2'", "True", "(2, 3, 5)"),             60, f16,  0, "(2,3,5):(1,2,6)")      \
  X(1, D("'|u1'", "False", "(7,)"),                  7, u8,   0, "7:1")                  \
  X(1, D("'|u1'", "True", "(7,)"),                   7, u8,   0, "7:1")                  \
  X(1, D("'|b1'", "False", "()"),                    1, bool, 0, "():()")                \
  X(1, D("'<f8'", "True", "()"),                     8, f64,  0, "():()")                \
  X(1, D("'<f8'", "False", "(0,)"),                  0, f64,  0, "0:1")                  \
  X(1, D("'<f8'", "False", "(2, 0)"),                0, f64,  0, NULL)                   \
  X(1, D("'<f8'", "False", "(1, 3)"),               24, f64,  0, "(1,3):(0,1)")          \
  X(1, D("'>f8'", "False", "(2,)"),                 16, f64,  1, "2:1")                  \
  X(1, D("'>u2'", "False", "(2,)"),                  4, u16,  1, "2:1")                  \
  X(1, D("'>i1'", "False", "(2,)"),                  2, i8,   0, "2:1")                  \
  X(1, D("'=i4'", "False", "(2,)"),                  8, i32,  0, "2:1")                  \
  X(1, D("'|i8'", "False", "(2,)"),                 16, i64,  0, "2:1")                  \
  X(1, D("'i8'",  "False", "(2,)"),                 16, i64,  0, "2:1")                  \
  X(1, D("'<V2'", "False", "(2,)"),                  4, bf16, 0, "2:1")                  \
  X(1, D("'|V2'", "False", "(2,)"),                  4, bf16, 0, "2:1")                  \
  X(1, D("'bfloat16'", "False", "(2,)"),             4, bf16, 0, "2:1")                  \
  X(1, D("\"<f4\"", "False", "(2,)"),                8, f32,  0, "2:1")                  \
  X(1, D("'<f4'", "False", "(2L, 3L)"),             24, f32,  0, "(2,3):(3,1)")          \
  X(1, D("'<f4'", "False", "(2, 3,)"),              24, f32,  0, "(2,3):(3,1)")          \
  X(1, D("'<f4'", "False", "( 2 , )"),               8, f32,  0, "2:1")                  \
  X(1, "{'shape': (2,), 'descr': '<f4', 'fortran_order': False}\n", 8, f32, 0, "2:1")    \
  X(1, " {\t'fortran_order':True,'shape':(2,3),'descr':'<f4'} \r\n", 24, f32, 0, "(2,3):(1,2)") \
  X(1, D("'<f4'", "False", "(2,)"),               1000, f32,  0, "2:1")                  \
  X(1, D("'|u1'", "False", "(0, 9223372036854775807)"), 0, u8, 0, NULL)

static void check_read (int version, const char *header, size_t data, mt_dtype d, bool swap,
                        const char *layout) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  char text[256];
  file f = make_file(version, header, strlen(header), -1, data);
  CHECK(read_file(&npy, &f, &err) == MT_OK, "%s: %s", header, err.text);
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

/* ver header                                      data  a piece of the message */
#define REFUSES(X)                                                                       \
  X(1, OK4,                                         47, "ends inside its data: 47 bytes, but shape and type need 48") \
  X(1, OK4,                                          0, "ends inside its data: 0 bytes") \
  X(0, OK4,                                         48, "format 0.0; moontile reads 1.0, 2.0 and 3.0") \
  X(4, OK4,                                         48, "format 4.0; moontile reads")    \
  X(1, D("'<c8'", "False", "(3,)"),                 24, "'descr': <c8 is complex numbers, which moontile has no dtype for") \
  X(1, D("'|O'", "False", "(3,)"),                  24, "|O is Python objects")          \
  X(1, D("'<U7'", "False", "(3,)"),                 84, "<U7 is Unicode strings")        \
  X(1, D("'|S7'", "False", "(3,)"),                 84, "|S7 is byte strings")           \
  X(1, D("'<M8[ns]'", "False", "(3,)"),             84, "<M8[ns] is dates")              \
  X(1, D("'<m8[s]'", "False", "(3,)"),              84, "<m8[s] is time spans")          \
  X(1, D("'|V16'", "False", "(3,)"),                84, "|V16 is raw bytes or records")  \
  X(1, D("'>V2'", "False", "(3,)"),                 84, ">V2 is raw bytes")              \
  X(1, D("'<f16'", "False", "(3,)"),                84, "<f16 is floats of another size") \
  X(1, D("'<i3'", "False", "(3,)"),                 84, "<i3 is integers of another size") \
  X(1, D("'|b2'", "False", "(3,)"),                 84, "|b2 is booleans of another size") \
  X(1, D("'<f'", "False", "(3,)"),                  84, "<f is floats of another size")  \
  X(1, D("'f4f4'", "False", "(3,)"),                84, "f4f4 is floats of another size") \
  X(1, D("'<'", "False", "(3,)"),                   84, "< is an unknown type")          \
  X(1, D("''", "False", "(3,)"),                    84, "is an unknown type")            \
  X(1, D("'<<f4'", "False", "(3,)"),                84, "<<f4 is an unknown type")       \
  X(1, D("[('a', '<f4')]", "False", "(3,)"),        84, "is a record type")              \
  X(1, D("('<f4', (2,))", "False", "(3,)"),         84, "is a type with a shape")        \
  X(1, D("f4", "False", "(3,)"),                    84, "a string expected, got f4")     \
  X(1, D("b'<f4'", "False", "(3,)"),                84, "a string expected, got b'<f4'") \
  X(1, D("'\\x3cf4'", "False", "(3,)"),             84, "a plain string that ends expected") \
  X(1, D("'<f4\n'", "False", "(3,)"),               84, "a plain string that ends expected") \
  X(1, "{'descr': '<f4",                            84, "a plain string that ends expected") \
  X(1, D("'<f4'", "0", "(3,)"),                     84, "True or False expected, got 0") \
  X(1, D("'<f4'", "Truely", "(3,)"),                84, "True or False expected, got Truely") \
  X(1, D("'<f4'", "not True", "(3,)"),              84, "True or False expected, got not True") \
  X(1, D("'<f4'", "False", "3"),                    84, "a shape such as (3, 4) expected, got 3") \
  X(1, D("'<f4'", "False", "[3, 4]"),               84, "a shape such as (3, 4) expected, got [3") \
  X(1, D("'<f4'", "False", "(3)"),                  84, "',' (a shape of one extent is written (3,)) expected, got )") \
  X(1, D("'<f4'", "False", "(,)"),                  84, "an extent expected, got ,)")    \
  X(1, D("'<f4'", "False", "(3,,4)"),               84, "an extent expected, got ,4)")   \
  X(1, D("'<f4'", "False", "(3 4)"),                84, "expected, got 4)")              \
  X(1, D("'<f4'", "False", "(3, 4 5)"),             84, "',' or ')' expected, got 5)")   \
  X(1, D("'<f4'", "False", "(3, -4)"),              84, "shape[2] is negative")          \
  X(1, D("'<f4'", "False", "(+3,)"),                84, "an extent expected, got +3")    \
  X(1, D("'<f4'", "False", "(3.0,)"),               84, "expected, got .0,")             \
  X(1, D("'<f4'", "False", "(0x3,)"),               84, "a plain decimal extent expected, got 0x3") \
  X(1, D("'<f4'", "False", "(1_0,)"),               84, "a plain decimal extent expected, got 1_0") \
  X(1, D("'<f4'", "False", "(007,)"),               84, "a plain decimal extent expected, got 007") \
  X(1, D("'<f4'", "False", "(3LL,)"),               84, "a plain decimal extent expected") \
  X(1, D("'<f4'", "False", "(2**3,)"),              84, "expected, got **3")             \
  X(1, D("'<f4'", "False", "(None,)"),              84, "an extent expected, got None")  \
  X(1, D("'<f4'", "False", "((3,), 4)"),            84, "an extent expected, got (3,")   \
  X(1, D("'<f4'", "False", "(9223372036854775808,)"), 84, "shape[1] is beyond 2^63-1")   \
  X(1, D("'<f4'", "False", "(99999999999999999999999999,)"), 84, "shape[1] is beyond 2^63-1") \
  X(1, D("'<f4'", "False", "(4611686018427387904,)"), 84, "no memory holds data of this shape: shape[1]") \
  X(1, D("'|u1'", "False", "(9223372036854775807,)"), 84, "ends inside its data")        \
  X(1, D("'|u1'", "False", "(4294967296, 4294967296)"), 0, "no memory holds data of this shape: shape[2]") \
  X(1, D("'|u1'", "False", "(0, 4294967296, 4294967296)"), 0, "no memory holds")         \
  X(1, D("'|u1'", "False", "(" TEN TEN TEN TEN TEN TEN "1, 1, 1, 1)"), 1, "more than 63 extents") \
  X(1, D("'<f4'", "False", "(3,") ,                 84, "an extent expected, got , }")   \
  X(1, "{'descr': '<f4', 'fortran_order': False}",  84, "no 'shape'")                    \
  X(1, "{'descr': '<f4', 'shape': (3,)}",           84, "no 'fortran_order'")            \
  X(1, "{'fortran_order': False, 'shape': (3,)}",   84, "no 'descr'")                    \
  X(1, "{}",                                        84, "no 'descr'")                    \
  X(1, "{,}",                                       84, "a string expected, got ,}")     \
  X(1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 84, "'descr' is there twice") \
  X(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'shape': (4,)}", 84, "'shape' is there twice") \
  X(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'extra': 1}", 84, "unknown key 'extra'") \
  X(1, "{'descr\\n': '<f4'}",                       84, "a plain string that ends expected") \
  X(1, "{descr: '<f4'}",                            84, "a string expected, got descr")  \
  X(1, "{'descr' '<f4'}",                           84, "':' expected, got '<f4'")       \
  X(1, "{'descr': '<f4' 'fortran_order': False}",   84, "',' or '}' expected, got 'fort") \
  X(1, OK4 " + {}",                                 48, "the end of the header expected, got + {}") \
  X(1, OK4 ",",                                     48, "the end of the header expected, got ,") \
  X(1, "",                                          48, "'{' expected, got the end")     \
  X(1, "   \n",                                     48, "'{' expected, got the end")     \
  X(1, "[" OK4 "]",                                 48, "'{' expected, got [{")          \
  X(1, "__import__('os').system('true')",           48, "'{' expected, got __import__")  \
  X(1, "\xff\xfe{}",                                48, "'{' expected, got ??{}")

static void check_refused (int version, const char *header, size_t data, const char *text) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  file f = make_file(version, header, strlen(header), -1, data);
  mt_status s = read_file(&npy, &f, &err);
  CHECK(s == MT_EFORMAT && err.status == s, "%s: status %d", header, s);
  CHECK(strstr(err.text, text), "%s: '%s' is not in '%s'", header, text, err.text);
  free(f.bytes);
}

/* A header that lies about its length, of a file with `data` bytes. */
static void check_length (int version, long length, size_t data, const char *text) {
  mt_npy npy;
  mt_err err = MT_NOERR;
  file f = make_file(version, OK4, strlen(OK4), length, data);
  CHECK(read_file(&npy, &f, &err) == MT_EFORMAT && strstr(err.text, text), "%ld: %s", length,
        err.text);
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
  check_length(2, 100000, 200000, "the header ends at byte 100012, beyond the 65536 that are read");
}

/* Every prefix of a good file is refused, whether the file is cut or only its head was given. */
static void test_truncated (int version) {
  mt_npy npy;
  file f = make_file(version, OK4, strlen(OK4), -1, 48);
  for (size_t n = 0; n < f.size; n++) {
    mt_err err = MT_NOERR;
    unsigned char *p = malloc(n + !n);
    memcpy(p, f.bytes, n);
    CHECK(mt_npy_read_header(&npy, p, n, n, &err) == MT_EFORMAT && err.text[0], "%zu bytes", n);
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
  const char *opens[] = { "(", "[", "{", "'", "{'shape':((", "{'descr':[[" };
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
  CHECK((size_t)npy.layout.node->shape * mt_dtype_size(npy.dtype) == npy.data_bytes, "its size");
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
  static const char *const pieces[] = {
    "{", "}", "(", ")", ",", ":", "'descr'", "'fortran_order'", "'shape'", "True", "False", "'<f4'",
    "'|u1'", "3", "0", "18446744073709551616", "'", "\"", " ", "\n", "L", "-", "()", "(1,)",
    "{'descr': '<f4', 'fortran_order': ", "'shape': (2, 3)", "(9223372036854775807,)"
  };
  for (int i = 0; i < 200000; i++) {
    char text[1024];
    size_t n = 0;
    for (int k = (int)(random64(&seed) % 16); k-- > 0;) {
      const char *s = pieces[random64(&seed) % (sizeof pieces / sizeof *pieces)];
      memcpy(text + n, s, strlen(s));
      n += strlen(s);
    }
    f = make_file(1 + (int)(random64(&seed) % 3), text, n, -1, random64(&seed) % 32);
    check_sound(&f);
    free(f.bytes);
  }
}

void test_headers (uint64_t seed) {
#define READ_ROW(version, header, data, d, swap, layout)                                 \
  check_read(version, header, data, MT_##d, swap, layout);
  READS(READ_ROW)
#undef READ_ROW
#define REFUSE_ROW(version, header, data, text) check_refused(version, header, data, text);
  REFUSES(REFUSE_ROW)
#undef REFUSE_ROW
  mt_npy npy;
  mt_err err = MT_NOERR;
  CHECK(mt_npy_read_header(&npy, "GIF89a..", 8, 8, &err) == MT_EFORMAT &&
        strstr(err.text, "not a .npy file: it begins with 'GIF89a'"), "%s", err.text);
  CHECK(mt_npy_read_header(&npy, "\x93NUMPY\x01\x01", 8, 8, &err) == MT_EFORMAT &&
        strstr(err.text, "format 1.1"), "%s", err.text);
  CHECK(mt_npy_read_header(&npy, "", 0, 0, &err) == MT_EFORMAT, "an empty file");
  test_lengths();
  for (int version = 1; version <= 3; version++) test_truncated(version);
  test_long();
  test_mutated(seed);
}
