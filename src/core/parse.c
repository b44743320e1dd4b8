/*
** parse.c - reading the text form of values.
** SPDX-License-Identifier: MIT
**
**   value    = function [ "o" [ stride "o" ] value ] | tuple | stride | "_"
**   function = swizzle | layout
**   layout   = tuple-or-integer ":" ( tuple-or-stride | "LayoutLeft" | "LayoutRight" )
**   stride   = term { "+" term } | "F" integer
**   term     = [ "_" ] integer { "@" integer }
**   tuple    = "(" [ value { "," value } ] ")"
** A tuple with a layout in it is a tiler. CuTe's C++ may stand for each: parse_cute.c.
*/
#include "core/parse.h"

typedef mt_reader reader;

/* ---- tokens */

/* At most 40 bytes of the text around p, made printable. */
static void near_text (const reader *r, char *s) {
  const char *from = r->p - r->text > 20 ? r->p - 20 : r->text, *to = from + 40;
  size_t n = 0;
  if (to > r->end || to < from) to = r->end;
  for (; from < to; from++) s[n++] = *from >= ' ' && *from < 127 ? *from : '?';
  s[n] = 0;
}

static void say (reader *r, const char *before, const char *behind) {
  char s[48];
  near_text(r, s);
  r->status = mt_fail(r->err, MT_ESYNTAX, "parse: %s at character %zu%s, near \"%s\"",
                      before, (size_t)(r->p - r->text) + 1, behind, s);
}

void mt_syntax (reader *r, const char *what) {
  if (r->status == MT_OK) say(r, what, "");
}

void mt_expect (reader *r, int c, const char *what) {
  if (!mt_accept(r, c)) mt_syntax(r, what);
}

/* The reader and its builder fail together: the error is that of the first failure. */
static void settle (reader *r, mt_build *b) {
  mt_failed(b, r->status);
  if (r->status != MT_OK || b->status == MT_OK) return;
  r->status = b->status;
  r->built = true;
}

static bool is_digit (int c) { return c >= '0' && c <= '9'; }

/* [ "_" ] [ "-" ] digits, no blanks inside; or a number of C++. */
static bool at_integer (reader *r) {
  if (mt_at_letter(r) && mt_at_constant(r)) return true;
  const char *p = r->p;
  if (p < r->end && *p == '_') p++;
  if (p < r->end && *p == '-') p++;
  return p < r->end && is_digit((unsigned char)*p);
}

int64_t mt_integer (reader *r) {
  int64_t v = 0;
  if (r->status == MT_OK && !at_integer(r)) mt_syntax(r, "integer expected");
  if (r->status != MT_OK) return 0;
  if (mt_at_letter(r) && mt_at_constant(r)) return mt_read_constant(r);
  const char *from = r->p;
  if (*r->p == '_') r->p++;
  bool minus = *r->p == '-';
  if (minus) r->p++;
  for (; r->p < r->end && is_digit((unsigned char)*r->p); r->p++)
    if (mt_mulo(v, 10, &v) || mt_subo(v, *r->p - '0', &v)) goto overflow;
  mt_skip_braces(r);
  if (minus || !mt_subo(0, v, &v)) return v;
overflow:
  r->status = mt_fail(r->err, MT_EOVERFLOW,
                      "parse: the integer at character %zu does not fit 64 bits",
                      (size_t)(from - r->text) + 1);
  return 0;
}

/* ---- strides */

static bool at_f2 (reader *r) {
  return mt_peek(r) == 'F' && r->end - r->p > 1 && is_digit((unsigned char)r->p[1]);
}

/* "F" integer */
static void f2_value (reader *r, mt_node *t) {
  r->p++;
  t->shape = mt_integer(r);
  t->ring = MT_F2;
  if (r->status == MT_OK && t->shape >> 62)
    r->status =
        mt_fail(r->err, MT_EOVERFLOW,
                "parse: the F2 value before character %zu needs more than 62 bits",
                (size_t)(r->p - r->text) + 1);
  if (r->status == MT_OK && (mt_peek(r) == '@' || mt_peek(r) == '+'))
    mt_syntax(r, "a lone F2 value expected");
}

/* integer { "@" index } as a node. The path is printed innermost first. */
static void term (reader *r, mt_node *t) {
  memset(t, 0, sizeof *t);
  t->tag = MT_INT;
  t->span = 1;
  if (at_f2(r)) {
    f2_value(r, t);
    return;
  }
  if (mt_at_letter(r) && mt_read_basis(r, t)) return;
  t->shape = mt_integer(r);
  int n = 0;
  while (mt_accept(r, '@')) {
    int64_t i = mt_integer(r);
    if (r->status != MT_OK) return;
    if (n == MT_MAXPATH || i < 0 || i > 255) {
      mt_syntax(r, n == MT_MAXPATH ? "more than 7 indices in a basis element" :
                                     "a basis index must lie in 0..255");
      return;
    }
    t->path[n++] = (uint8_t)i;
  }
  t->path[MT_MAXPATH] = (uint8_t)n;
  t->ring = n > 0 ? MT_BASIS : MT_Z;
  if (t->shape == 0) {
    t->ring = MT_Z;
    memset(t->path, 0, sizeof t->path);
  }
}

enum { MAXTERMS = 32 };

/* Adds t to the terms, in the order of their paths; false if there are too many. */
static bool add_term (mt_node *terms, int *n, const mt_node *t, bool *overflow) {
  int i = 0;
  while (i < *n && mt_compare_paths(&terms[i], t) < 0) i++;
  if (i < *n && mt_compare_paths(&terms[i], t) == 0) {
    *overflow = mt_addo(terms[i].shape, t->shape, &terms[i].shape);
    return true;
  }
  if (*n == MAXTERMS) return false;
  memmove(terms + i + 1, terms + i, (size_t)(*n - i) * sizeof *terms);
  terms[i] = *t;
  ++*n;
  return true;
}

/* The terms in ascending order of their paths, without zeros: a scalar if at most one
** is left. */
static void emit_sum (mt_build *b, mt_node *terms, int n) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (terms[i].shape != 0) terms[k++] = terms[i];
  if (k == 0) {
    mt_add_int(b, 0);
  } else if (k == 1) {
    mt_add(b, terms);
  } else {
    mt_open(b, MT_SUM);
    if (b->status == MT_OK) b->out->node[b->n - 1].shape = -1;
    for (int i = 0; i < k; i++) mt_add(b, &terms[i]);
    mt_close(b);
  }
}

static void read_scalar (reader *r, mt_build *b) {
  mt_node terms[MAXTERMS], t;
  int n = 0;
  bool basis = false, integral = false, overflow = false;
  do {
    term(r, &t);
    if (t.ring == MT_F2) {
      mt_failed(b, r->status);
      mt_add(b, &t);
      return;
    }
    if (t.ring == MT_BASIS) basis = true;
    else if (t.shape != 0) integral = true;
    if (r->status == MT_OK && !add_term(terms, &n, &t, &overflow))
      mt_syntax(r, "sum too long");
    if (r->status == MT_OK && overflow)
      r->status = mt_fail(r->err, MT_EOVERFLOW, "parse: a sum does not fit 64 bits");
  } while (mt_accept(r, '+'));
  if (basis && integral) mt_syntax(r, "a sum of an integer and a basis element");
  if (r->status == MT_OK) emit_sum(b, terms, n);
}

/* ---- values */

/* Takes what a tuple begins with; what ends it, 0: it is none. */
static int opening (reader *r) {
  return mt_accept(r, '(') ? ')' : mt_at_letter(r) ? mt_opening(r) : 0;
}

/* Whether a tuple has more members; Python's of one member ends with a comma. */
static bool goes_on (reader *r, int end) {
  return mt_accept(r, ',') && !(end == ')' && mt_peek(r) == end);
}

/* A scalar or a tuple of such, with nothing else in it: a shape or a stride. */
void mt_read_tuple (reader *r, mt_build *b) {
  int end = opening(r);
  if (end == 0) {
    read_scalar(r, b);
    return;
  }
  mt_open(b, MT_TUPLE);
  mt_failed(b, r->status);
  if (b->status == MT_OK && !mt_accept(r, end)) {
    do mt_read_tuple(r, b);
    while (r->status == MT_OK && b->status == MT_OK && goes_on(r, end));
    if (b->status == MT_OK) mt_closing(r, end);
  }
  mt_close(b);
}

/* "shape :" is behind us, shape is the value from node `at` on: makes a layout of it. */
void mt_read_stride (reader *r, mt_build *b, int at) {
  mt_layout shape, stride, whole;
  mt_build d;
  mt_status s;
  mt_copy_value(&shape, b->out->node + at);
  if (mt_accept_word(r, "LayoutLeft") || mt_accept_word(r, "GenColMajor")) {
    s = mt_layout_left(&whole, shape.node, r->err);
  } else if (mt_accept_word(r, "LayoutRight") || mt_accept_word(r, "GenRowMajor")) {
    s = mt_layout_right(&whole, shape.node, r->err);
  } else {
    mt_begin(&d, &stride, "parse", r->err);
    mt_read_tuple(r, &d);
    mt_failed(&d, r->status);
    s = mt_end(&d);
    if (s == MT_OK) s = mt_make_layout(&whole, shape.node, stride.node, r->err);
  }
  mt_skip_braces(r);
  if (s != MT_OK) {
    r->status = s;
    return;
  }
  b->n = at;
  if (b->level > 0) b->out->node[b->open[b->level - 1]].arity--;
  mt_add(b, whole.node);
  settle(r, b);
}

/* "<B,M,S>", in Python "(B,M,S)" */
static void swizzle_numbers (reader *r, int64_t *v) {
  int end = mt_accept(r, '(') ? ')' : '>';
  for (int i = 0; i < 3; i++) {
    if (i || end == '>') mt_expect(r, i ? ',' : '<', i ? "',' expected" : "'<' expected");
    v[i] = mt_integer(r);
  }
  mt_expect(r, end, end == '>' ? "'>' expected" : "')' expected");
  mt_skip_braces(r);
}

static void check_swizzle (reader *r, const int64_t *v) {
  int64_t shift = v[2] >= 0 ? v[2] : v[2] < -62 ? 63 : -v[2];
  if (r->status != MT_OK) return;
  if (v[0] < 0 || v[0] > 62 || v[1] < 0 || v[1] > 62 || shift > 62 ||
      v[0] + v[1] + shift > 62 || shift < v[0])
    r->status =
        mt_fail(r->err, MT_EINVAL,
                "parse: Sw<%lld,%lld,%lld>: bits and base must be >= 0, |shift| >= bits, "
                "and their sum at most 62",
                (long long)v[0], (long long)v[1], (long long)v[2]);
}

/* ---- composed with what follows */

/* integer "o", or F2 value "o", or nothing: what follows is the layout. sep: 'o', or the
** ',' of a ComposedLayout, which has an offset. */
static mt_node read_offset (reader *r, int sep) {
  mt_node none = {.tag = MT_INT, .span = 1}, t = none;
  const char *from = r->p;
  if (sep == ',') {
    t.shape = mt_integer(r);
    mt_expect(r, sep, "',' expected");
    return t;
  }
  if (at_f2(r)) f2_value(r, &t);
  else if (at_integer(r)) t.shape = mt_integer(r);
  else return none;
  if (r->status == MT_OK && !mt_accept(r, 'o')) {
    r->p = from;
    return none;
  }
  return t.shape == 0 ? none : t;
}

/* What was read from node `at` on becomes the first child of a composed layout. */
static void insert_composed (mt_build *b, int at, const mt_node *offset) {
  mt_node *p = b->out->node + at;
  mt_open(b, MT_COMPOSED); /* a node more, behind; it belongs before */
  if (b->status != MT_OK) return;
  memmove(p + 1, p, (size_t)(b->n - 1 - at) * sizeof *p);
  memset(p, 0, sizeof *p);
  p->tag = MT_COMPOSED;
  p->span = p->arity = 1;
  p->ring = offset->ring;
  p->stride = offset->shape;
  b->open[b->level - 1] = (uint8_t)at;
  if (b->level > 1) b->out->node[b->open[b->level - 2]].arity--;
}

/* The layout that was read last: its values are indices, and the offset one of them. */
static void check_under (reader *r, const mt_build *b, const mt_node *inner,
                         const mt_node *offset) {
  if (r->status != MT_OK || b->status != MT_OK) return;
  if (!mt_has_numbers(inner))
    mt_syntax(r, "a layout with integer strides expected before this,");
  else if (offset->shape != 0 && (offset->ring == MT_F2) == mt_is_integral(inner))
    mt_syntax(
        r, "a layout over F2 begins at an offset over F2, as F3, others at an integer:");
}

static bool may_nest (reader *r, const mt_build *b) {
  if (r->status == MT_OK && b->level >= MT_MAXOPEN - 1)
    r->status =
        mt_fail(r->err, MT_ETOOBIG, "parse: a layout nests at most %d deep", MT_MAXDEPTH);
  return r->status == MT_OK && b->status == MT_OK;
}

/* The offset and what follows, behind the layout at `at` and a separator. */
void mt_read_composed (reader *r, mt_build *b, int at, int sep) {
  const mt_node offset = read_offset(r, sep);
  if (!may_nest(r, b)) return;
  insert_composed(b, at, &offset);
  int inner = b->n;
  settle(r, b);
  if (b->status == MT_OK) mt_read_value(r, b);
  check_under(r, b, b->out->node + inner, &offset);
  mt_failed(b, r->status); /* of half a value nothing is closed */
  mt_close(b);
  settle(r, b);
}

/* The layout behind a swizzle, whose node is at `at`. */
static void swizzled_layout (reader *r, mt_build *b, int at, const mt_node *offset) {
  if (!may_nest(r, b)) return;
  b->open[b->level++] = (uint8_t)at;
  mt_read_value(r, b);
  const mt_node *inner = b->out->node + at + 1;
  check_under(r, b, inner, offset);
  mt_failed(b, r->status);
  if (b->status != MT_OK) return;
  bool plain = mt_is_layout(inner) && !mt_is_swizzled(inner) && mt_is_integral(inner);
  mt_close(b);
  if (b->status != MT_OK || plain) return;
  mt_node *p = b->out->node + at;
  p->arity = 0; /* the swizzle by itself, the layout behind it */
  p->span = 1;
  p->stride = 0;
  insert_composed(b, at, offset);
  if (b->status == MT_OK) p->arity = 2;
  mt_close(b);
}

/* Behind the name; sep: 'o', or the ',' of a ComposedLayout. */
void mt_read_swizzle (reader *r, mt_build *b, int sep) {
  int64_t v[3] = {0};
  mt_node offset = {.tag = MT_INT, .span = 1};
  swizzle_numbers(r, v);
  bool pointer = mt_accept(r, '_'), more = !pointer && mt_accept(r, sep);
  bool at_pointer = pointer || (more && mt_at_letter(r) && mt_at_pointer(r));
  if (at_pointer) mt_unscale(r, v, mt_read_pointer(r));
  else if (more) offset = read_offset(r, sep);
  check_swizzle(r, v);
  if (r->status != MT_OK) return;
  int at = b->n;
  mt_add_swizzle(b, (int)v[0], (int)v[1], (int)v[2]);
  if (b->status != MT_OK || !(pointer || more)) return;
  b->out->node[at].stride = offset.shape;
  if (at_pointer) mt_expect(r, sep, sep == 'o' ? "'o' expected" : "',' expected");
  swizzled_layout(r, b, at, &offset);
  settle(r, b);
}

/* In a tiler an integer n means n:1, and a tuple in it is a tiler too. */
static void emit_tiler (mt_build *b, const mt_node *t) {
  if (t->tag == MT_INT) {
    if (t->ring == MT_Z && t->shape >= 0) {
      mt_add_leaf(b, t->shape, 1);
    } else if (b->status == MT_OK) {
      b->status = mt_failn(b->err, MT_EINVAL, "parse: %N in a tiler is not an extent", t);
    }
  } else if (t->tag == MT_TUPLE || t->tag == MT_TILER) {
    mt_open(b, MT_TILER);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) emit_tiler(b, c);
    mt_close(b);
  } else {
    mt_add(b, t);
  }
}

static bool holds_layout (const mt_node *t) {
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (c->tag == MT_TILER || mt_is_function(c)) return true;
  return false;
}

/* What was read from node `at` on, a tuple, becomes a tiler. */
static MT_APART void make_tiler (mt_build *b, int at) {
  mt_layout tuple;
  mt_copy_value(&tuple, b->out->node + at);
  b->n = at;
  if (b->level > 0) b->out->node[b->open[b->level - 1]].arity--;
  emit_tiler(b, tuple.node);
}

static void read_members (reader *r, mt_build *b, int end) {
  int at = b->n;
  mt_open(b, MT_TUPLE);
  mt_failed(b, r->status);
  if (b->status == MT_OK && !mt_accept(r, end)) {
    do mt_read_value(r, b);
    while (r->status == MT_OK && b->status == MT_OK && goes_on(r, end));
    if (b->status == MT_OK) mt_closing(r, end);
  }
  mt_close(b);
  if (r->status == MT_OK && b->status == MT_OK && holds_layout(b->out->node + at))
    make_tiler(b, at);
}

/* "Sw", "Swizzle", or an S that begins no name. */
static bool accept_swizzle (reader *r) {
  if (mt_peek(r) != 'S') return false;
  int c = r->end - r->p > 1 ? r->p[1] : '<';
  if (c == 'w') return mt_accept_word(r, "Swizzle") || mt_accept_word(r, "Sw");
  return (c < 'a' || c > 'z') && mt_accept(r, 'S');
}

static void no_value (reader *r) {
  char c = mt_peek(r);
  mt_syntax(r,
            c == '?' ? "a number expected: `?` is known at launch only," :
            c == '{' ? "a list of values has no text that is read: function_layout makes "
                       "one of a function," :
                       "value expected");
}

static void read_value (reader *r, mt_build *b) {
  int at = b->n, end;
  if (accept_swizzle(r)) {
    mt_read_swizzle(r, b, 'o');
    return;
  }
  if (mt_at_letter(r) && mt_read_cute(r, b)) return;
  if ((end = opening(r)) != 0) {
    read_members(r, b, end);
  } else if (at_integer(r) || at_f2(r) || (mt_at_letter(r) && mt_at_basis(r))) {
    read_scalar(r, b);
  } else if (mt_accept(r, '_') || mt_accept_word(r, "Underscore") ||
             mt_accept_word(r, "None")) {
    mt_add_wild(b);
  } else {
    no_value(r);
  }
  if (r->status != MT_OK || b->status != MT_OK || !mt_accept(r, ':')) return;
  mt_read_stride(r, b, at);
  if (mt_accept(r, 'o')) mt_read_composed(r, b, at, 'o');
}

void mt_read_value (reader *r, mt_build *b) {
  read_value(r, b);
  settle(r, b);
}

/* A text that is refused and has an open parenthesis is refused for that: whatever was
** read instead would say less. The last one that is open, seen from the end. */
static void blame_parenthesis (reader *r, mt_build *b) {
  int closed = 0;
  for (r->p = r->end; r->p > r->text;) {
    r->p--;
    if (*r->p == ')') closed++;
    if (*r->p == '(' && closed-- == 0) {
      say(r, "the parenthesis", " is not closed");
      b->status = r->status;
      return;
    }
  }
}

mt_status mt_parse (mt_layout *out, const char *text, size_t len, mt_err *err) {
  reader r = {text, text, text + len, MT_OK, false, err};
  mt_build b;
  mt_begin(&b, out, "parse", err);
  mt_read_value(&r, &b);
  if (r.status == MT_OK && mt_peek(&r) >= 0) mt_syntax(&r, "unexpected text");
  if (r.status != MT_OK && !r.built) blame_parenthesis(&r, &b);
  mt_failed(&b, r.status);
  return mt_end(&b);
}
