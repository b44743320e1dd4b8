/*
** safetensors.c - headers of .safetensors files: what is accepted, what is refused and
** why, names with escapes, what is written, every prefix and every changed byte.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "npy_test.h"
#include "times.h"

enum { MOST = 4096, ITEMS = 8 };

/* A file: a header and `data` bytes behind it. */
typedef struct file {
  unsigned char bytes[MOST];
  size_t head;
  uint64_t size;
} file;

static void make_file (file *f, const char *json, uint64_t data) {
  size_t n = strlen(json);
  memset(f->bytes, 0, 8);
  for (int i = 0; i < 8; i++) f->bytes[i] = (unsigned char)((uint64_t)n >> 8 * i);
  memcpy(f->bytes + 8, json, n);
  f->head = n + 8;
  f->size = f->head + data;
}

static mt_status read_file (const file *f, mt_safetensor *x, size_t *n, mt_err *err) {
  size_t bytes = 0;
  mt_status s = mt_safetensors_header(&bytes, f->bytes, f->size, err);
  return s ? s : mt_safetensors_read(n, x, ITEMS, f->bytes, bytes, f->size, err);
}

/* ---------------------------------------------------------------- accepted */

static const struct {
  const char *json;
  uint64_t data;
  const char *want; /* name=dtype layout at the offset; in the order of the data */
} good[] = {
    {"{}", 0, ""},
    {"{}   ", 0, ""},
    {"{\"__metadata__\":{}}", 0, ""},
    {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"\\u00e9\"}}", 0, ""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", 24,
     "a=f32 (2,3):(3,1) 0;"},
    {&" {\"a\":1}"[1], 0, NULL},
    {"{\"b\":{\"shape\":[],\"data_offsets\":[8,9],\"dtype\":\"BOOL\"},\n\t\"a\" : "
     "{\"dtype\":\"I64\", \"shape\":[1] ,\"data_offsets\":[0, 8]} } ",
     9, "a=i64 1:0 0;b=bool ():() 8;"},
    {"{\"z\":{\"dtype\":\"F8_E4M3\",\"shape\":[0,7],\"data_offsets\":[0,0]},"
     "\"y\":{\"dtype\":\"F8_E5M2\",\"shape\":[2,1,2],\"data_offsets\":[0,4]}}",
     4, "z=e4m3 (0,7):(7,1) 0;y=e5m2 (2,1,2):(2,0,1) 0;"},
    {"{\"\\u0061\\n\\ud83d\\ude00\\udc00\":{\"dtype\":\"BF16\",\"shape\":[1],"
     "\"data_offsets\":[0,2]}}",
     2, "a\n\xf0\x9f\x98\x80\xef\xbf\xbd=bf16 1:0 0;"},
};

static void describe (char *out, const file *f, const mt_safetensor *x) {
  char name[64], text[128];
  mt_layout a;
  mt_err err = MT_NOERR;
  size_t n = mt_safetensors_name(name, f->bytes, x);
  mt_status s = mt_safetensors_layout(&a, f->bytes, f->head, x, &err);
  CHECK(s == MT_OK, "%s", err.text);
  mt_format(text, sizeof text, a.node);
  CHECK(x->bytes == (uint64_t)mt_size(a.node) * mt_dtype_size(x->dtype), "bytes of %s",
        text);
  sprintf(out, "%.*s=%s %s %d;", (int)n, name, mt_dtype_name(x->dtype), text,
          (int)(x->data - f->head));
}

static void test_good (void) {
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    file f;
    mt_safetensor x[ITEMS];
    size_t n;
    char got[512] = "";
    mt_err err = MT_NOERR;
    make_file(&f, good[i].json, good[i].data);
    mt_status s = read_file(&f, x, &n, &err);
    if (good[i].want == NULL) {
      CHECK(s == MT_EFORMAT, "accepted: %s", good[i].json);
      continue;
    }
    CHECK(s == MT_OK, "%s: %s", good[i].json, err.text);
    for (size_t k = 0; s == MT_OK && k < n; k++) describe(got + strlen(got), &f, &x[k]);
    CHECK(strcmp(got, good[i].want) == 0, "\"%s\", not \"%s\"", got, good[i].want);
  }
}

/* ---------------------------------------------------------------- refused */

#define ONE(dtype, shape, offsets)                                                       \
  "{\"a\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define A(begin, end)                                                                    \
  "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[" #begin "," #end "]}"

static const struct {
  const char *json;
  uint64_t data;
  const char *why;
} bad[] = {
    {"", 0, "byte 8 of the file: '{' expected"},
    {"[]", 0, "'{' expected, got []"},
    {"{", 0, "a string expected, got the end"},
    {"{} x", 0, "the end of the header expected"},
    {"{\"a\":{}}", 0, "a string expected, got }}"},
    {"{\"a\":7}", 0, "'{' expected, got 7}"},
    {"{,}", 0, "a string expected"},
    {"{\"a\":" A(0, 2) ",}", 2, "a string expected, got }"},
    {"{\"a\":" A(0, 2) "\"b\"}", 2, "'}' expected"},
    {"{\"a\":" A(0, 2) ",\"a\":" A(2, 4) "}", 4, "\"a\" is there twice"},
    {"{\"a\":" A(0, 2) ",\"\\u0061\":" A(2, 4) "}", 4, "is there twice"},
    {"{\"a\":" A(0, 2) ",\"b\":" A(1, 3) "}", 4,
     "\"b\": its data begin at byte 1, those before end at 2"},
    {"{\"a\":" A(0, 2) ",\"b\":" A(3, 5) "}", 5, "begin at byte 3"},
    {"{\"a\":" A(0, 2) ",\"b\":" A(0, 2) "}", 2, "begin at byte 0"},
    {"{\"a\":" A(2, 4) "}", 4, "begin at byte 2"},
    {"{\"a\":" A(0, 2) "}", 3, "the file has 3 bytes of data, its tensors 2"},
    {"{\"a\":" A(0, 2) "}", 1, "the file has 1 bytes of data, its tensors 2"},
    {"{\"a\":" A(2, 0) "}", 2, "[begin, end] expected"},
    {ONE("F4", "[2]", "[0,1]"), 1, "moontile has none for \"F4\""},
    {ONE("f32", "[1]", "[0,4]"), 4, "moontile has none for \"f32\""},
    {ONE("F32", "[3]", "[0,8]"), 8, "need 12 bytes, data_offsets has 8"},
    {ONE("F32", "[2,]", "[0,8]"), 8, "an integer from 0 on expected, got ]"},
    {ONE("F32", "[-2]", "[0,8]"), 8, "an integer from 0 on expected, got -2"},
    {ONE("F32", "[2.0]", "[0,8]"), 8, "an integer from 0 on expected"},
    {ONE("F32", "[02]", "[0,8]"), 8, "an integer from 0 on expected"},
    {ONE("F32", "[2e0]", "[0,8]"), 8, "an integer from 0 on expected"},
    {ONE("F32", "2", "[0,8]"), 8, "'[' expected"},
    {ONE("F32", "[2]", "[0]"), 8, "[begin, end] expected"},
    {ONE("F32", "[2]", "[0,8,9]"), 8, "more than 2 numbers"},
    {ONE("F32", "[9223372036854775808]", "[0,8]"), 8, "a number beyond 2^63-1"},
    {ONE("F32", "[4294967296,2147483648]", "[0,0]"), 0, "no memory holds"},
    {ONE("U8", "[0,9223372036854775807]", "[0,0]"), 0, "no memory holds"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, "no \"data_offsets\""},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 2, "\"dtype\" is there twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"x\":1}}", 2, "unknown key \"x\""},
    {"{\"__metadata__\":{\"a\":1}}", 0, "a string expected, got 1"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "\"__metadata__\" is there twice"},
    {"{\"a\nb\":" A(0, 2) "}", 2, "a string that ends expected"},
    {"{\"\\x\":" A(0, 2) "}", 2, "a string that ends expected"},
    {"{\"\\u12g4\":" A(0, 2) "}", 2, "a string that ends expected"},
    {"{\"\xff\":" A(0, 2) "}", 2, "a string in UTF-8 expected"},
    {"{\"\xc0\x80\":" A(0, 2) "}", 2, "a string in UTF-8 expected"},
    {"{\"\xed\xa0\x80\":" A(0, 2) "}", 2, "a string in UTF-8 expected"},
    {"{\"\xf4\x90\x80\x80\":" A(0, 2) "}", 2, "a string in UTF-8 expected"},
};

static void test_bad (void) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    file f;
    mt_safetensor x[ITEMS];
    size_t n;
    mt_err err = MT_NOERR;
    make_file(&f, bad[i].json, bad[i].data);
    CHECK(read_file(&f, x, &n, &err) == MT_EFORMAT, "accepted: %s", bad[i].json);
    CHECK(strstr(err.text, bad[i].why), "%s: \"%s\", not \"%s\"", bad[i].json, err.text,
          bad[i].why);
  }
}

static void test_lengths (void) {
  static const unsigned char many[8] = {1, 225, 245, 5}, more[8] = {0, 0, 0, 0, 1};
  size_t bytes;
  mt_err err = MT_NOERR;
  CHECK(mt_safetensors_header(&bytes, many, 1000, &err) == MT_EFORMAT &&
            strstr(err.text, "100000001 bytes"),
        "%s", err.text);
  CHECK(mt_safetensors_header(&bytes, more, UINT64_MAX, &err) == MT_EFORMAT, "2^32");
  CHECK(mt_safetensors_header(&bytes, many, 7, &err) == MT_EFORMAT, "7 bytes");
  CHECK(mt_safetensors_header(&bytes, "\5\0\0\0\0\0\0", 12, &err) == MT_EFORMAT &&
            strstr(err.text, "after 12 of 13 bytes"),
        "%s", err.text);
}

/* ------------------------------------------------------- written, changed, cut off */

/* A header of its own for each random set of tensors; returns the bytes of the data. */
static uint64_t write_json (char *json, size_t size, int n, uint64_t *seed) {
  size_t at = 0;
  uint64_t begin = 0;
  json[at++] = '{';
  for (int i = 0; i < n; i++) {
    char name[32];
    mt_layout shape;
    mt_err err = MT_NOERR;
    mt_dtype d = (mt_dtype)(splitmix64(seed) % MT_NDTYPE);
    int64_t dims[3];
    int rank = (int)(splitmix64(seed) % 4);
    uint64_t bytes = mt_dtype_size(d);
    for (int k = 0; k < rank; k++) {
      dims[k] = (int64_t)(splitmix64(seed) % 5);
      bytes *= (uint64_t)dims[k];
    }
    mt_ints(&shape, rank, dims, &err);
    int length = sprintf(name, "%c\"\\\t\xc3\xa9%d", 'a' + i, i);
    if (i) json[at++] = ',';
    at += mt_safetensors_format(json + at, size - at, name, (size_t)length, d, shape.node,
                                begin, begin + bytes);
    begin += bytes;
  }
  strcpy(json + at, "}");
  return begin;
}

static void test_random (uint64_t *seed) {
  char json[MOST];
  file f;
  mt_safetensor x[ITEMS];
  size_t n = 0;
  int wrote = (int)(splitmix64(seed) % ITEMS);
  mt_err err = MT_NOERR;
  uint64_t data = write_json(json, sizeof json, wrote, seed), size;
  make_file(&f, json, data);
  CHECK(read_file(&f, x, &n, &err) == MT_OK && (int)n == wrote, "%s: %s", json, err.text);
  size = f.size;
  for (int i = 0; i < 20; i++) { /* nothing outside is read: the sanitizers look */
    size_t at = 8 + splitmix64(seed) % (f.head - 8);
    unsigned char was = f.bytes[at];
    f.bytes[at] = (unsigned char)splitmix64(seed);
    mt_status s = read_file(&f, x, &n, &err);
    CHECK(s == MT_OK || (s == MT_EFORMAT && err.text[0]), "status %d", (int)s);
    f.bytes[at] = was;
    f.size = splitmix64(seed) % size;
    CHECK(read_file(&f, x, &n, &err) == MT_EFORMAT, "cut off: %s", json);
    f.size = size;
  }
}

void test_safetensors (uint64_t seed) {
  test_good();
  test_bad();
  test_lengths();
  for (int i = 0; i < 500; i++) test_random(&seed);
}
