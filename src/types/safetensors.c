/*
** safetensors.c - headers of .safetensors files: a strict reader of JSON, a writer.
** SPDX-License-Identifier: MIT
**
** The grammar is that of just these files, nothing is kept but where things are:
**   header = "{" [member {"," member}] "}" blanks
**   member = string ":" ("{" [string ":" string {"," ...}] "}" | tensor)
**   tensor = "{" field "," field "," field "}", dtype, shape and data_offsets once each
** There is no recursion, and no number but decimal integers from 0 on.
*/
#include <stdio.h>

#include "moontile/safetensors.h"
#include "core/build.h"
#include "core/error.h"
#include "types/utf8.h"

#define BAD(err, ...) mt_fail((err), MT_EFORMAT, "safetensors: " __VA_ARGS__)

enum { MAXDIMS = MT_MAXNODES - 1, LENGTH = 8, QUOTE = 48 };
enum { HAS_DTYPE = 1, HAS_SHAPE = 2, HAS_OFFSETS = 4, HAS_ALL = 7 };

static const char *const names[MT_NDTYPE] =
    {[MT_bool] = "BOOL", [MT_i8] = "I8",        [MT_i16] = "I16",     [MT_i32] = "I32",
     [MT_i64] = "I64",   [MT_u8] = "U8",        [MT_u16] = "U16",     [MT_u32] = "U32",
     [MT_u64] = "U64",   [MT_f16] = "F16",      [MT_bf16] = "BF16",   [MT_f32] = "F32",
     [MT_f64] = "F64",   [MT_e4m3] = "F8_E4M3", [MT_e5m2] = "F8_E5M2"};

typedef struct reader {
  const unsigned char *begin, *at, *end;
  mt_err *err;
} reader;

/* A JSON string: its bytes between the quotes. */
typedef struct string {
  const unsigned char *s;
  size_t n;
} string;

/* What a tensor's fields say. */
typedef struct fields {
  unsigned seen;
  mt_dtype dtype;
  const unsigned char *shape;
  int64_t count; /* elements */
  int64_t offset[2];
} fields;

/* ---------------------------------------------------------------- tokens */

static size_t place (const reader *r) { return (size_t)(r->at - r->begin); }

static int peek (reader *r) {
  while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at)) r->at++;
  return r->at < r->end ? *r->at : -1;
}

/* The text there, for a message. */
static const char *shown (char *buf, const unsigned char *s, size_t n) {
  size_t i = 0;
  for (; i < n && i < QUOTE; i++) buf[i] = (char)(s[i] >= 32 && s[i] < 127 ? s[i] : '?');
  memcpy(buf + i, n > QUOTE ? "..." : "", n > QUOTE ? 4 : 1);
  return buf;
}

static mt_status expected (reader *r, const char *what) {
  char buf[QUOTE + 4];
  bool ends = peek(r) < 0;
  return BAD(r->err, "header, byte %zu of the file: %s expected, got %s", place(r), what,
             ends ? "the end" : shown(buf, r->at, (size_t)(r->end - r->at)));
}

static bool accept (reader *r, int c) {
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

static mt_status expect (reader *r, char c) {
  const char what[] = {'\'', c, '\'', 0};
  return accept(r, c) ? MT_OK : expected(r, what);
}

/* Behind an escape at p, or NULL. */
static const unsigned char *escape (const unsigned char *p, const unsigned char *end) {
  if (end - p < 2) return NULL;
  if (p[1] != 'u') return p[1] && strchr("\"\\/bfnrt", p[1]) ? p + 2 : NULL;
  if (end - p < 6) return NULL;
  for (int i = 2; i < 6; i++)
    if (mt_hex_digit(p[i]) < 0) return NULL;
  return p + 6;
}

static mt_status read_string (reader *r, string *out) {
  if (peek(r) != '"') return expected(r, "a string");
  const unsigned char *p = r->at + 1;
  out->s = p;
  while (p && p < r->end && *p != '"' && *p >= ' ')
    p = *p == '\\' ? escape(p, r->end) : p + 1;
  if (p == NULL || p == r->end || *p != '"') return expected(r, "a string that ends");
  out->n = (size_t)(p - out->s);
  if (!mt_is_utf8(out->s, out->n)) return expected(r, "a string in UTF-8");
  r->at = p + 1;
  return MT_OK;
}

static bool same (string s, const char *word) {
  return s.n == strlen(word) && memcmp(s.s, word, s.n) == 0;
}

/* A decimal integer from 0 on, without leading zeros, signs, fractions, exponents. */
static mt_status read_integer (reader *r, int64_t *out) {
  peek(r);
  const unsigned char *s = r->at;
  *out = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (mt_mulo(*out, 10, out) || mt_addo(*out, *r->at - '0', out))
      return BAD(r->err, "header, byte %zu of the file: a number beyond 2^63-1",
                 (size_t)(s - r->begin));
  bool zeros = r->at - s > 1 && *s == '0';
  bool more = r->at < r->end && *r->at && strchr(".eE+-", *r->at);
  if (r->at > s && !zeros && !more) return MT_OK;
  r->at = s;
  return expected(r, "an integer from 0 on");
}

/* [n, ...]: at most `room`. */
static mt_status read_integers (reader *r, int64_t *out, int *n, int room) {
  MT_TRY(expect(r, '['));
  *n = 0;
  if (accept(r, ']')) return MT_OK;
  do {
    if (*n == room)
      return BAD(r->err, "header, byte %zu of the file: more than %d numbers", place(r),
                 room);
    MT_TRY(read_integer(r, &out[(*n)++]));
  } while (accept(r, ','));
  return expect(r, ']');
}

/* ---------------------------------------------------------------- fields */

static mt_status read_dtype (reader *r, fields *f) {
  string s;
  char buf[QUOTE + 4];
  MT_TRY(read_string(r, &s));
  for (int d = 0; d < MT_NDTYPE; d++)
    if (same(s, names[d])) return f->dtype = (mt_dtype)d, MT_OK;
  return BAD(r->err, "\"dtype\": moontile has none for \"%s\"", shown(buf, s.s, s.n));
}

static mt_status read_shape (reader *r, fields *f) {
  int64_t dims[MAXDIMS], bytes;
  int n;
  peek(r);
  f->shape = r->at;
  MT_TRY(read_integers(r, dims, &n, MAXDIMS));
  bool empty = false;
  bytes = 8; /* of the widest type: as in NumPy, also where there are no elements */
  for (int i = 0; i < n; i++) {
    empty |= dims[i] == 0;
    if (dims[i] && mt_mulo(bytes, dims[i], &bytes))
      return BAD(r->err, "no memory holds data of this shape: shape[%d] is %lld", i,
                 (long long)dims[i]);
  }
  f->count = empty ? 0 : bytes / 8;
  return MT_OK;
}

static mt_status read_offsets (reader *r, fields *f) {
  int n;
  MT_TRY(read_integers(r, f->offset, &n, 2));
  if (n == 2 && f->offset[0] <= f->offset[1]) return MT_OK;
  return BAD(r->err,
             "header, before byte %zu of the file: data_offsets: [begin, end] "
             "expected",
             place(r));
}

static const struct {
  const char *key;
  unsigned bit;
  mt_status (*read)(reader *r, fields *f);
} keys[] = {{"dtype", HAS_DTYPE, read_dtype},
            {"shape", HAS_SHAPE, read_shape},
            {"data_offsets", HAS_OFFSETS, read_offsets}};

static mt_status read_field (reader *r, fields *f) {
  string s;
  char buf[QUOTE + 4];
  MT_TRY(read_string(r, &s));
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (!same(s, keys[i].key)) continue;
    if (f->seen & keys[i].bit)
      return BAD(r->err, "header: \"%s\" is there twice", keys[i].key);
    f->seen |= keys[i].bit;
    MT_TRY(expect(r, ':'));
    return keys[i].read(r, f);
  }
  return BAD(r->err,
             "header: unknown key \"%s\"; the keys are \"dtype\", \"shape\" and "
             "\"data_offsets\"",
             shown(buf, s.s, s.n));
}

static mt_status read_tensor (reader *r, fields *f) {
  MT_TRY(expect(r, '{'));
  do MT_TRY(read_field(r, f));
  while (accept(r, ','));
  MT_TRY(expect(r, '}'));
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!(f->seen & keys[i].bit)) return BAD(r->err, "header: no \"%s\"", keys[i].key);
  int64_t bytes = f->count * (int64_t)mt_dtype_size(f->dtype);
  if (bytes == f->offset[1] - f->offset[0]) return MT_OK;
  return BAD(r->err,
             "header, before byte %zu of the file: shape and type need %lld "
             "bytes, data_offsets has %lld",
             place(r), (long long)bytes, (long long)(f->offset[1] - f->offset[0]));
}

static mt_status read_metadata (reader *r) {
  string s;
  MT_TRY(expect(r, '{'));
  if (accept(r, '}')) return MT_OK;
  do {
    MT_TRY(read_string(r, &s));
    MT_TRY(expect(r, ':'));
    MT_TRY(read_string(r, &s));
  } while (accept(r, ','));
  return expect(r, '}');
}

/* ---------------------------------------------------------------- order */

/* Heap sort: no memory, no recursion. */
typedef int compare (const void *head, const mt_safetensor *a, const mt_safetensor *b);

static void sift (mt_safetensor *x, size_t i, size_t n, compare *f, const void *head) {
  for (size_t c; (c = 2 * i + 1) < n; i = c) {
    if (c + 1 < n && f(head, &x[c], &x[c + 1]) < 0) c++;
    if (f(head, &x[i], &x[c]) >= 0) return;
    mt_safetensor t = x[i];
    x[i] = x[c];
    x[c] = t;
  }
}

static void sort (mt_safetensor *x, size_t n, compare *f, const void *head) {
  for (size_t i = n / 2; i-- > 0;) sift(x, i, n, f, head);
  while (n-- > 1) {
    mt_safetensor t = x[0];
    x[0] = x[n];
    x[n] = t;
    sift(x, 0, n, f, head);
  }
}

static int by_data (const void *head, const mt_safetensor *a, const mt_safetensor *b) {
  (void)head;
  if (a->data != b->data) return a->data < b->data ? -1 : 1;
  if (a->bytes != b->bytes) return a->bytes < b->bytes ? -1 : 1;
  return a->name < b->name ? -1 : a->name > b->name;
}

static int by_name (const void *head, const mt_safetensor *a, const mt_safetensor *b) {
  const unsigned char *p = head;
  return mt_compare_json(p + a->name, a->name_bytes, p + b->name, b->name_bytes);
}

static mt_status check_names (mt_safetensor *x, size_t n, const void *head, mt_err *err) {
  char buf[QUOTE + 4];
  sort(x, n, by_name, head);
  for (size_t i = 1; i < n; i++)
    if (by_name(head, &x[i - 1], &x[i]) == 0)
      return BAD(err, "header: \"%s\" is there twice",
                 shown(buf, (const unsigned char *)head + x[i].name, x[i].name_bytes));
  return MT_OK;
}

static mt_status check_data (mt_safetensor *x, size_t n, const void *head, size_t bytes,
                             uint64_t file_size, mt_err *err) {
  char buf[QUOTE + 4];
  uint64_t at = bytes;
  sort(x, n, by_data, head);
  for (size_t i = 0; i < n; at += x[i++].bytes)
    if (x[i].data != at)
      return BAD(err, "\"%s\": its data begin at byte %llu, those before end at %llu",
                 shown(buf, (const unsigned char *)head + x[i].name, x[i].name_bytes),
                 (unsigned long long)(x[i].data - bytes),
                 (unsigned long long)(at - bytes));
  if (at == file_size) return MT_OK;
  return BAD(err, "the file has %llu bytes of data, its tensors %llu",
             (unsigned long long)(file_size - bytes), (unsigned long long)(at - bytes));
}

/* ---------------------------------------------------------------- reading */

mt_status mt_safetensors_header (size_t *bytes, const void *begin, uint64_t file_size,
                                 mt_err *err) {
  const unsigned char *p = begin;
  uint64_t n = 0;
  if (file_size < LENGTH)
    return BAD(err, "the file ends inside its header, after %llu bytes",
               (unsigned long long)file_size);
  for (int i = LENGTH; i-- > 0;) n = n << 8 | p[i];
  if (n > MT_SAFETENSORS_MOST)
    return BAD(err, "a header of %llu bytes: at most %d are read", (unsigned long long)n,
               MT_SAFETENSORS_MOST);
  if (n > file_size - LENGTH)
    return BAD(err, "the file ends inside its header, after %llu of %llu bytes",
               (unsigned long long)file_size, (unsigned long long)n + LENGTH);
  *bytes = (size_t)n + LENGTH;
  return MT_OK;
}

/* One member; a tensor is stored in x, where that is not NULL. */
static mt_status read_member (reader *r, mt_safetensor *x, bool *tensor, bool *metadata) {
  string name;
  fields f = {.seen = 0};
  MT_TRY(read_string(r, &name));
  MT_TRY(expect(r, ':'));
  *tensor = !same(name, "__metadata__");
  if (!*tensor) {
    if (*metadata) return BAD(r->err, "header: \"__metadata__\" is there twice");
    *metadata = true;
    return read_metadata(r);
  }
  MT_TRY(read_tensor(r, &f));
  uint64_t data = (uint64_t)(r->end - r->begin);
  if (x)
    *x = (mt_safetensor){.dtype = f.dtype,
                         .name = (size_t)(name.s - r->begin),
                         .name_bytes = name.n,
                         .shape = (size_t)(f.shape - r->begin),
                         .data = data + (uint64_t)f.offset[0],
                         .bytes = (uint64_t)(f.offset[1] - f.offset[0])};
  return MT_OK;
}

mt_status mt_safetensors_read (size_t *n, mt_safetensor *items, size_t room,
                               const void *head, size_t bytes, uint64_t file_size,
                               mt_err *err) {
  const unsigned char *p = head;
  reader r = {p, p + LENGTH, p + bytes, err};
  bool tensor, metadata = false;
  *n = 0;
  if (bytes <= LENGTH || *r.at != '{') return expected(&r, "'{'");
  r.at++;
  if (!accept(&r, '}')) {
    do {
      MT_TRY(read_member(&r, *n < room ? &items[*n] : NULL, &tensor, &metadata));
      *n += tensor;
    } while (accept(&r, ','));
    MT_TRY(expect(&r, '}'));
  }
  if (peek(&r) >= 0) return expected(&r, "the end of the header");
  if (*n > room) return MT_OK;
  MT_TRY(check_names(items, *n, head, err));
  return check_data(items, *n, head, bytes, file_size, err);
}

mt_status mt_safetensors_layout (mt_layout *out, const void *head, size_t bytes,
                                 const mt_safetensor *x, mt_err *err) {
  const unsigned char *p = head;
  reader r = {p, p + x->shape, p + bytes, err};
  int64_t dims[MAXDIMS];
  int n;
  mt_layout shape;
  MT_TRY(read_integers(&r, dims, &n, MAXDIMS));
  if (n == 1) mt_int(&shape, dims[0]);
  else MT_TRY(mt_ints(&shape, n, dims, err));
  return mt_layout_right(out, shape.node, err);
}

size_t mt_safetensors_name (char *out, const void *head, const mt_safetensor *x) {
  return mt_json_to_utf8(out, (const unsigned char *)head + x->name, x->name_bytes);
}

/* ---------------------------------------------------------------- writing */

/* What of it there is room for; counts all. */
typedef struct writer {
  char *out;
  size_t size, at;
} writer;

static void put (writer *w, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++, w->at++)
    if (w->at + 1 < w->size) w->out[w->at] = s[i];
}

static void put_text (writer *w, const char *s) { put(w, s, strlen(s)); }

static void put_number (writer *w, uint64_t x) {
  char buf[24];
  put(w, buf, (size_t)sprintf(buf, "%llu", (unsigned long long)x));
}

static void put_string (writer *w, const char *s, size_t n) {
  char buf[8];
  put(w, "\"", 1);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c < ' ') put(w, buf, (size_t)sprintf(buf, "\\u%04x", c));
    else {
      if (c == '"' || c == '\\') put(w, "\\", 1);
      put(w, s + i, 1);
    }
  }
  put(w, "\"", 1);
}

size_t mt_safetensors_format (char *out, size_t size, const char *name, size_t name_bytes,
                              mt_dtype d, const mt_node *shape, uint64_t begin,
                              uint64_t end) {
  writer w = {out, size, 0};
  int n = 0;
  put_string(&w, name, name_bytes);
  put_text(&w, ":{\"dtype\":\"");
  put_text(&w, (unsigned)d < MT_NDTYPE ? names[d] : "");
  put_text(&w, "\",\"shape\":[");
  for (const mt_node *t = shape; t < mt_next(shape); t++) {
    if (t->tag != MT_INT) continue;
    if (n++) put(&w, ",", 1);
    put_number(&w, (uint64_t)t->shape);
  }
  put_text(&w, "],\"data_offsets\":[");
  put_number(&w, begin);
  put(&w, ",", 1);
  put_number(&w, end);
  put_text(&w, "]}");
  if (size > 0) out[w.at < size ? w.at : size - 1] = '\0';
  return w.at;
}
