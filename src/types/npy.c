/*
** npy.c - the header of .npy files: a strict reader of its literal, and a writer.
** SPDX-License-Identifier: MIT
**
** A file is "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1,
** 4 in 2 and 3, little endian), the header and the data. The header is a Python
** dictionary with the keys 'descr', 'fortran_order' and 'shape'. It is read by a grammar
** of just this, nothing is evaluated:
**   header = "{" pair { "," pair } [","] "}"
**   pair   = string ":" (string | "True" | "False" | shape)
**   shape  = "(" ")" | "(" n "," [n { "," n } [","]] ")"
** An array of one dimension is n:1; one without dimensions is ():(), of size 1.
*/
#include <stdio.h>

#include "moontile/npy.h"
#include "core/error.h"

#define BAD(err, ...) mt_fail((err), MT_EFORMAT, "npy: " __VA_ARGS__)

static const struct {
  char npy[4];
  const char *numpy;
} dtypes[] = {
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, npy, numpy, ...)           \
  {npy, numpy},
#include "moontile/dtypes.def"
};

/* " |b1 |i1 ..." */
static const char all_npy[] =
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, npy, ...) " " npy
#include "moontile/dtypes.def"
    ;

enum { MAXDIMS = MT_MAXNODES - 1, QUOTE = 64, ALIGN = 64 };
enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* The cursor of the reader; `begin` is the first byte of the file. */
typedef struct reader {
  const unsigned char *begin, *at, *end;
  unsigned seen; /* HAS_... */
  bool fortran;
  int rank;
  int64_t dims[MAXDIMS];
  int as; /* the mt_dtype that is wanted; -1: any */
  mt_npy *npy;
  mt_err *err;
} reader;

/* A piece of the file for a message: printable, of bounded length. */
typedef struct quoted {
  char text[QUOTE + 4];
} quoted;

static quoted quote (const unsigned char *s, size_t n) {
  quoted q;
  size_t i, most = n < QUOTE ? n : QUOTE;
  for (i = 0; i < most; i++) q.text[i] = (char)(s[i] >= 32 && s[i] < 127 ? s[i] : '?');
  memcpy(q.text + i, n > most ? "..." : "", n > most ? 4 : 1);
  return q;
}

/* ---------------------------------------------------------------- tokens */

static bool is_blank (unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit (unsigned char c) { return c >= '0' && c <= '9'; }
static bool is_word (unsigned char c) {
  return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next byte that is not blank; 0 at the end (and where the file has a 0). */
static int peek (reader *r) {
  while (r->at < r->end && is_blank(*r->at)) r->at++;
  return r->at < r->end ? *r->at : 0;
}

static mt_status expected (reader *r, const char *what) {
  int c = peek(r);
  quoted q = quote(r->at, (size_t)(r->end - r->at));
  return BAD(r->err, "header, byte %zu of the file: %s expected, got %s%s",
             (size_t)(r->at - r->begin), what, c || r->at < r->end ? "" : "the end",
             q.text);
}

static bool accept (reader *r, char c) {
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

static mt_status expect (reader *r, char c) {
  const char what[] = {'\'', c, '\'', 0};
  return accept(r, c) ? MT_OK : expected(r, what);
}

/* 'text' or "text", without escapes. */
static mt_status read_string (reader *r, const unsigned char **s, size_t *n) {
  int mark = peek(r);
  if (mark != '\'' && mark != '"') return expected(r, "a string");
  const unsigned char *p = r->at + 1;
  while (p < r->end && *p != mark && *p != '\\' && *p >= ' ') p++;
  if (p == r->end || *p != mark) return expected(r, "a plain string that ends");
  *s = r->at + 1;
  *n = (size_t)(p - *s);
  r->at = p + 1;
  return MT_OK;
}

static bool same (const unsigned char *s, size_t n, const char *word) {
  return n == strlen(word) && memcmp(s, word, n) == 0;
}

/* A decimal integer >= 0, without leading zeros; Python 2 wrote 3L. */
static mt_status read_extent (reader *r, int64_t *out) {
  int c = peek(r);
  const unsigned char *s = r->at;
  if (c == '-') return BAD(r->err, "shape[%d] is negative", r->rank + 1);
  if (!is_digit((unsigned char)c)) return expected(r, "an extent");
  for (*out = 0; r->at < r->end && is_digit(*r->at); r->at++)
    if (mt_mulo(*out, 10, out) || mt_addo(*out, *r->at - '0', out))
      return BAD(r->err, "shape[%d] is beyond 2^63-1", r->rank + 1);
  bool zeros = *s == '0' && r->at - s > 1;
  if (r->at < r->end && *r->at == 'L') r->at++;
  if (!zeros && !(r->at < r->end && is_word(*r->at))) return MT_OK;
  r->at = s;
  return expected(r, "a plain decimal extent");
}

/* ---------------------------------------------------------------- values */

/* kind of a NumPy type string   what it is */
#define KINDS(X)                                                                         \
  X('c', "complex numbers")                                                              \
  X('O', "Python objects")                                                               \
  X('S', "byte strings")                                                                 \
  X('a', "byte strings")                                                                 \
  X('U', "Unicode strings")                                                              \
  X('M', "dates")                                                                        \
  X('m', "time spans")                                                                   \
  X('V', "raw bytes or records")                                                         \
  X('f', "floats of another size")                                                       \
  X('i', "integers of another size")                                                     \
  X('u', "integers of another size")                                                     \
  X('b', "booleans of another size")

static const char *kind_name (unsigned char kind) {
#define KIND_ROW(letter, name)                                                           \
  if (kind == letter) return name;
  KINDS(KIND_ROW)
#undef KIND_ROW
  return "an unknown type";
}

static mt_status unsupported (reader *r, const unsigned char *s, size_t n,
                              const char *what) {
  return BAD(r->err,
             "'descr': %s is %s, which moontile has no dtype for\n"
             "  it has%s ('<V2' is bf16), also big-endian ('>f4')",
             quote(s, n).text, what, all_npy);
}

static const char raw_byte[] = "V1";

/* The dtype that a type string without its byte order names; -1: none. */
static int named_dtype (const unsigned char *t, size_t n, bool ordered) {
  if (same(t, n, "f1")) return MT_e5m2;
  for (int d = 0; d < MT_NDTYPE; d++) {
    const char *kind = dtypes[d].npy + 1; /* "V2" of what NumPy has not */
    if (same(t, n, dtypes[d].numpy) && (!ordered || *kind == 'V')) return d;
    if (same(t, n, kind) && strcmp(raw_byte, kind) != 0) return d;
  }
  return -1;
}

/* Raw bytes or unsigned integers of the size of the dtype that is wanted. */
static bool is_raw (const reader *r, const unsigned char *t, size_t n) {
  return r->as >= 0 && n == 2 && (t[0] == 'V' || t[0] == 'u') &&
         t[1] == '0' + mt_dtype_size((mt_dtype)r->as);
}

/* An optional byte order, then kind and size as in the list. ml_dtypes writes bfloat16
** as '<V2'. */
static mt_status read_descr (reader *r) {
  const unsigned char *s, *t;
  size_t n, k;
  int c = peek(r);
  if (c == '[' || c == '(')
    return unsupported(r, r->at, (size_t)(r->end - r->at),
                       c == '[' ? "a record type" : "a type with a shape");
  MT_TRY(read_string(r, &s, &n));
  char order = n && strchr("<>|=", *s) && *s ? (char)*s : '=';
  t = n && (order == *s) ? s + 1 : s;
  k = n - (size_t)(t - s);
  bool raw = is_raw(r, t, k);
  int d = raw ? r->as : named_dtype(t, k, t > s);
  if (d == MT_bf16 && order == '>' && !raw) d = -1;
  if (d < 0 && same(t, k, raw_byte))
    return BAD(r->err,
               "'descr': %s is bytes, which may be e4m3 or e5m2 or any other "
               "type; the one that is meant must be given",
               quote(s, n).text);
  if (d < 0) return unsupported(r, s, n, kind_name(k ? *t : 0));
  if (r->as >= 0 && d != r->as)
    return BAD(r->err, "'descr': %s is %s, not %s", quote(s, n).text,
               mt_dtype_name((mt_dtype)d), mt_dtype_name((mt_dtype)r->as));
  r->npy->dtype = (mt_dtype)d;
  r->npy->swap = order == '>' && mt_dtype_size((mt_dtype)d) > 1;
  return MT_OK;
}

static mt_status read_order (reader *r) {
  peek(r);
  const unsigned char *s = r->at;
  while (r->at < r->end && is_word(*r->at)) r->at++;
  r->fortran = same(s, (size_t)(r->at - s), "True");
  if (r->fortran || same(s, (size_t)(r->at - s), "False")) return MT_OK;
  r->at = s;
  return expected(r, "True or False");
}

static mt_status read_shape (reader *r) {
  if (peek(r) != '(') return expected(r, "a shape such as (3, 4)");
  r->at++;
  for (r->rank = 0; !accept(r, ')'); r->rank++) {
    if (r->rank == MAXDIMS)
      return BAD(r->err, "the shape has more than %d extents", MAXDIMS);
    MT_TRY(read_extent(r, &r->dims[r->rank]));
    if (accept(r, ',')) continue;
    if (r->rank == 0) return expected(r, "',' (a shape of one extent is written (3,))");
    if (peek(r) != ')') return expected(r, "',' or ')'");
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- the dictionary */

/* key             bit         reader */
#define KEYS(X)                                                                          \
  X("descr", HAS_DESCR, read_descr)                                                      \
  X("fortran_order", HAS_ORDER, read_order)                                              \
  X("shape", HAS_SHAPE, read_shape)

static mt_status read_pair (reader *r) {
  const unsigned char *s;
  size_t n;
  MT_TRY(read_string(r, &s, &n));
#define KEY_ROW(key, bit, read)                                                          \
  if (same(s, n, key)) {                                                                 \
    if (r->seen & bit) return BAD(r->err, "header: '" key "' is there twice");           \
    r->seen |= bit;                                                                      \
    MT_TRY(expect(r, ':'));                                                              \
    return read(r);                                                                      \
  }
  KEYS(KEY_ROW)
#undef KEY_ROW
  return BAD(r->err,
             "header: unknown key '%s'; the keys are 'descr', 'fortran_order' "
             "and 'shape'",
             quote(s, n).text);
}

static mt_status read_dict (reader *r) {
  MT_TRY(expect(r, '{'));
  while (!accept(r, '}')) {
    MT_TRY(read_pair(r));
    if (!accept(r, ',') && peek(r) != '}') return expected(r, "',' or '}'");
  }
  peek(r);
  if (r->at < r->end) return expected(r, "the end of the header");
#define KEY_ROW(key, bit, read)                                                          \
  if (!(r->seen & bit)) return BAD(r->err, "header: no '" key "'");
  KEYS(KEY_ROW)
#undef KEY_ROW
  return MT_OK;
}

/* The compact layout of the shape, and the bytes of its data. As in NumPy, the extents
** that are not 0 must have a product in range even if there is nothing to store. */
static mt_status make_layout (reader *r) {
  int64_t bytes = (int64_t)mt_dtype_size(r->npy->dtype);
  bool empty = false;
  for (int i = 0; i < r->rank; i++) {
    empty |= r->dims[i] == 0;
    if (r->dims[i] && (mt_mulo(bytes, r->dims[i], &bytes) || (uint64_t)bytes > SIZE_MAX))
      return BAD(r->err, "no memory holds data of this shape: shape[%d] is %lld", i + 1,
                 (long long)r->dims[i]);
  }
  r->npy->data_bytes = empty ? 0 : (size_t)bytes;
  mt_layout shape;
  if (r->rank == 1) mt_int(&shape, r->dims[0]);
  else MT_TRY(mt_ints(&shape, r->rank, r->dims, r->err));
  return r->fortran ? mt_layout_left(&r->npy->layout, shape.node, r->err) :
                      mt_layout_right(&r->npy->layout, shape.node, r->err);
}

static uint64_t little_endian (const unsigned char *p, int n) {
  uint64_t x = 0;
  while (n-- > 0) x = x << 8 | p[n];
  return x;
}

/* Where the header lies: [*begin, out->data) of the file. */
static mt_status find_header (mt_npy *out, size_t *begin, const unsigned char *p,
                              size_t bytes, uint64_t file_size, mt_err *err) {
  static const char magic[] = "\x93NUMPY";
  size_t n = bytes < 6 ? bytes : 6;
  if (memcmp(p, magic, n) != 0)
    return BAD(err, "not a .npy file: it begins with '%s'", quote(p, n).text);
  int version = bytes >= 8 ? p[6] : 0, field = version == 1 ? 2 : 4;
  if (bytes >= 8 && (version < 1 || version > 3 || p[7] != 0))
    return BAD(err, "format %d.%d; moontile reads 1.0, 2.0 and 3.0", version, p[7]);
  *begin = 8 + (size_t)field;
  uint64_t end = bytes >= *begin ? *begin + little_endian(p + 8, field) : *begin;
  if (end > file_size)
    return BAD(err, "the file ends inside its header, after %llu of %llu bytes",
               (unsigned long long)file_size, (unsigned long long)end);
  if (end > bytes)
    return BAD(err, "the header ends at byte %llu, beyond the %zu that are read",
               (unsigned long long)end, bytes);
  out->data = (size_t)end;
  return MT_OK;
}

static mt_status read_header (mt_npy *out, int as, const void *head, size_t bytes,
                              uint64_t file_size, mt_err *err) {
  const unsigned char *p = head;
  size_t begin = 0;
  if (bytes > file_size) bytes = (size_t)file_size;
  if (!bytes) return BAD(err, "the file is empty");
  memset(out, 0, sizeof *out);
  MT_TRY(find_header(out, &begin, p, bytes, file_size, err));
  reader r = {.begin = p, .at = p + begin, .end = p + out->data};
  r.as = as;
  r.npy = out;
  r.err = err;
  MT_TRY(read_dict(&r));
  MT_TRY(make_layout(&r));
  uint64_t rest = file_size - out->data;
  if (out->data_bytes > rest)
    return BAD(err,
               "the file ends inside its data: %llu bytes, but shape and type need "
               "%zu",
               (unsigned long long)rest, out->data_bytes);
  return MT_OK;
}

mt_status mt_npy_read_header (mt_npy *out, const void *head, size_t bytes,
                              uint64_t file_size, mt_err *err) {
  return read_header(out, -1, head, bytes, file_size, err);
}

mt_status mt_npy_read_header_as (mt_npy *out, mt_dtype as, const void *head, size_t bytes,
                                 uint64_t file_size, mt_err *err) {
  MT_CHECK((unsigned)as < MT_NDTYPE, err, "npy: there is no dtype number %d", (int)as);
  return read_header(out, (int)as, head, bytes, file_size, err);
}

/* ---------------------------------------------------------------- writing */

/* The extents as a Python tuple: (), (3,), (3, 4); integers at any depth count as
** extents. Returns how many; `text` has room for MAXDIMS of 20 digits. */
static int put_shape (char *text, const mt_node *shape, int64_t *growing, bool fortran) {
  int n = 0;
  size_t at = 0;
  text[at++] = '(';
  for (const mt_node *t = shape; t < mt_next(shape); t++) {
    if (t->tag != MT_INT) continue;
    at += (size_t)sprintf(text + at, n ? ", %lld" : "%lld", (long long)t->shape);
    if (n++ == 0 || fortran) *growing = t->shape;
  }
  if (n == 1) text[at++] = ',';
  text[at++] = ')';
  text[at] = 0;
  return n;
}

/* NumPy leaves room for the extent that grows when data are appended: 21 digits. */
static size_t growth (int64_t extent) {
  size_t digits = 1;
  while (extent >= 10) extent /= 10, digits++;
  return 21 - digits;
}

mt_status mt_npy_write_header (void *buf, size_t *size, mt_dtype d, const mt_node *shape,
                               bool fortran_order, mt_err *err) {
  MT_CHECK((unsigned)d < MT_NDTYPE, err, "npy: there is no dtype number %d", (int)d);
  for (const mt_node *t = shape; t < mt_next(shape); t++)
    MT_CHECK(t->tag == MT_TUPLE || (t->tag == MT_INT && t->ring == MT_Z && t->shape >= 0),
             err, "npy: a shape has extents that are integers and not negative");
  char dims[MAXDIMS * 22 + 8], *text = buf;
  int64_t growing = 0;
  int rank = put_shape(dims, shape, &growing, fortran_order);
  size_t at = 10 + (size_t)sprintf(text + 10,
                                   "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                                   dtypes[d].npy, fortran_order ? "True" : "False", dims);
  size_t end = at + (rank ? growth(growing) : 0) + 1;
  end += ALIGN - end % ALIGN;
  memset(text + at, ' ', end - at - 1);
  text[end - 1] = '\n';
  memcpy(text, "\x93NUMPY\x01", 8);
  text[8] = (char)((end - 10) & 255);
  text[9] = (char)((end - 10) >> 8);
  *size = end;
  return MT_OK;
}
