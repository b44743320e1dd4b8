/*
** parse_cute.c - reading layouts as CuTe's C++ writes them and as CuTe prints them.
** SPDX-License-Identifier: MIT
**
**   integer  = "Int<" n ">" | "C<" n ">" | [ "_" ] n; "{}" may stand behind everything
**   basis    = "E<" [ path ] ">" | "ScaledBasis<" integer "," path ">"
**   tuple    = ( "Shape" | "make_shape" | ... ) ( "<" ... ">" | "(" ... ")" )
**   layout   = ( "Layout<" | "make_layout(" | ... ) tuple [ "," stride ] ( ">" | ")" )
**   composed = "ComposedLayout<" swizzle "," ( integer | pointer ) "," layout ">"
**   tensor   = ( pointer | swizzle "_" pointer | origin ) "o" layout
**   origin   = "ArithTuple(0,...)" | "counting_iter(" integer ")"
**   pointer  = "smem_ptr[16b](...)" | "smem_ptr_flag_bits<16>" | ...
** Where a pointer to shared memory stands between a swizzle and its layout, the swizzle
** is one of byte addresses: of elements of 2^k bytes it is that with a base of k less.
** What stands in "<" ... ">" in C++ stands in parentheses in Python.
*/
#include "core/parse.h"

bool mt_accept_word (mt_reader *r, const char *word) {
  size_t n = strlen(word);
  if (r->status != MT_OK || mt_peek(r) < 0) return false;
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) return false;
  r->p += n;
  return true;
}

/* Whether one of the words, a NULL behind the last, stands here, with this character
** behind it; takes both. */
static bool accept_one (mt_reader *r, const char *const *words, int c) {
  const char *from = r->p;
  for (; *words; words++) {
    if (mt_accept_word(r, *words) && mt_accept(r, c)) return true;
    r->p = from;
  }
  return false;
}

static void skip_namespace (mt_reader *r) {
  if (!mt_accept_word(r, "cute::")) mt_accept_word(r, "cute.");
}

static bool at_one (mt_reader *r, const char *const *words, int c) {
  const char *from = r->p;
  bool at = accept_one(r, words, c);
  r->p = from;
  return at;
}

/* ---- numbers and tuples */

static const char *const constants[] = {"Int", "C", "_C", NULL};

bool mt_at_constant (mt_reader *r) {
  skip_namespace(r);
  const char *from = r->p;
  bool at = accept_one(r, constants, '<');
  r->p = from;
  return at;
}

int64_t mt_read_constant (mt_reader *r) {
  accept_one(r, constants, '<');
  int64_t n = mt_integer(r);
  mt_expect(r, '>', "'>' expected");
  mt_skip_braces(r);
  return n;
}

/* The path to a mode from the outside, as printed backwards: "1@1@0" is E<0,1>. */
static void read_path (mt_reader *r, mt_node *t, int end) {
  uint8_t path[MT_MAXPATH];
  int n = 0;
  do {
    int64_t i = mt_integer(r);
    if (n == MT_MAXPATH || i < 0 || i > 255)
      mt_syntax(r, "at most 7 indices from 0 to 255 expected before this,");
    if (r->status != MT_OK) return;
    path[n++] = (uint8_t)i;
  } while (mt_accept(r, ','));
  mt_expect(r, end, end == '>' ? "',' or '>' expected" : "',' or ']' expected");
  if (t->shape == 0) return;
  for (int k = 0; k < n; k++) t->path[k] = path[n - 1 - k];
  t->path[MT_MAXPATH] = (uint8_t)n;
  t->ring = MT_BASIS;
}

static const char *const scaled[] = {"ScaledBasis", NULL}, *const unit[] = {"E", NULL};

bool mt_at_basis (mt_reader *r) {
  skip_namespace(r);
  return at_one(r, scaled, '<') || at_one(r, scaled, '(') || at_one(r, unit, '<');
}

bool mt_read_basis (mt_reader *r, mt_node *t) {
  skip_namespace(r);
  t->shape = 1;
  if (accept_one(r, unit, '<')) {
    if (!mt_accept(r, '>')) read_path(r, t, '>'); /* E<> is the integer 1 */
  } else if (accept_one(r, scaled, '<')) {
    t->shape = mt_integer(r);
    mt_expect(r, ',', "',' expected");
    read_path(r, t, '>');
  } else if (accept_one(r, scaled, '(')) {
    t->shape = mt_integer(r);
    mt_expect(r, ',', "',' expected");
    mt_expect(r, '[', "'[' expected");
    read_path(r, t, ']');
    mt_expect(r, ')', "')' expected");
  } else {
    return false;
  }
  mt_skip_braces(r);
  return true;
}

int mt_opening (mt_reader *r) {
  static const char *const names[] = {"Shape",      "Stride",      "Step",
                                      "Coord",      "Tile",        "tuple",
                                      "make_shape", "make_stride", "make_step",
                                      "make_coord", "make_tile",   "make_tuple",
                                      NULL};
  skip_namespace(r);
  return accept_one(r, names, '<') ? '>' : accept_one(r, names, '(') ? ')' : 0;
}

void mt_closing (mt_reader *r, int end) {
  mt_expect(r, end, end == ')' ? "',' or ')' expected" : "',' or '>' expected");
  mt_skip_braces(r);
}

/* ---- pointers */

static const char *const pointers[] = {"gmem_ptr", "smem_ptr", "rmem_ptr",
                                       "tmem_ptr", "ptr",      NULL};
static const char *const flags[] = {"smem_ptr_flag_bits", NULL};
static const char *const coordinates[] = {"ArithTuple", "ArithTupleIterator",
                                          "counting_iter", NULL};

bool mt_at_pointer (mt_reader *r) {
  skip_namespace(r);
  return at_one(r, pointers, '[') || at_one(r, pointers, '(') || at_one(r, flags, '<');
}

int64_t mt_read_pointer (mt_reader *r) {
  int64_t bits = 0;
  if (accept_one(r, flags, '<')) {
    bits = mt_integer(r);
    mt_expect(r, '>', "'>' expected");
    mt_skip_braces(r);
    return bits;
  }
  if (accept_one(r, pointers, '[')) {
    bits = mt_integer(r);
    if (!mt_accept_word(r, "b]")) mt_syntax(r, "'b]' expected");
    mt_expect(r, '(', "'(' expected");
  } else if (!accept_one(r, pointers, '(')) {
    mt_syntax(r, "a pointer expected");
  }
  while (r->status == MT_OK && r->p < r->end && *r->p != ')') r->p++;
  mt_expect(r, ')', "')' expected");
  return bits;
}

void mt_unscale (mt_reader *r, int64_t *v, int64_t bits) {
  int k = 0;
  while (k < 10 && 1 << k < bits) k++;
  if (r->status == MT_OK && bits != 1 << k)
    mt_syntax(r, "bits of an element, a power of two up to 1024, expected before this,");
  if (r->status != MT_OK) return;
  v[1] -= k - 3;
  if (v[1] < 0)
    mt_syntax(
        r, "a swizzle that keeps the bytes of an element together expected before this,");
}

/* ---- layouts */

static const char *const layouts[] = {"Layout", "make_layout", NULL};
static const char *const composed[] = {"ComposedLayout", "make_composed_layout", NULL};

bool mt_at_name (mt_reader *r) {
  skip_namespace(r);
  const char *from = r->p;
  bool at =
      mt_opening(r) != 0 || accept_one(r, layouts, '<') || accept_one(r, layouts, '(');
  r->p = from;
  return at;
}

/* Behind "Layout<" and the like. */
static void read_layout (mt_reader *r, mt_build *b, int end) {
  static const char left[] = "LayoutLeft";
  int at = b->n;
  mt_read_tuple(r, b);
  mt_failed(b, r->status);
  if (b->status != MT_OK) return;
  if (mt_accept(r, ',')) {
    mt_accept_word(r, "stride=");
    mt_read_stride(r, b, at);
  } else if (r->status == MT_OK) {
    mt_reader compact = {left, left, left + sizeof left - 1, MT_OK, false, r->err};
    mt_read_stride(&compact, b, at);
    r->status = compact.status;
    r->built = compact.built;
  }
  mt_closing(r, end);
}

static const char *const swizzles[] = {"Swizzle", "make_swizzle", NULL};

static bool accept_swizzle (mt_reader *r) {
  return mt_accept_word(r, swizzles[0]) || mt_accept_word(r, swizzles[1]);
}

/* Behind "ComposedLayout<" and the like. */
static void read_composed (mt_reader *r, mt_build *b, int end) {
  int at = b->n;
  skip_namespace(r);
  if (accept_swizzle(r)) {
    mt_read_swizzle(r, b, ',');
  } else {
    mt_read_value(r, b);
    mt_failed(b, r->status);
    if (b->status == MT_OK && !mt_is_layout(b->out->node + at))
      mt_syntax(r, "Swizzle<B,M,S> or a layout expected before this,");
    mt_expect(r, ',', "',' expected");
    mt_failed(b, r->status);
    if (b->status == MT_OK) mt_read_composed(r, b, at, ',');
  }
  mt_closing(r, end);
}

/* What a tensor of coordinates begins with: their origin, behind "ArithTuple(". */
static void read_origin (mt_reader *r, mt_layout *origin) {
  mt_build b;
  mt_begin(&b, origin, "parse", r->err);
  mt_open(&b, MT_TUPLE);
  do mt_read_tuple(r, &b);
  while (r->status == MT_OK && b.status == MT_OK && mt_accept(r, ','));
  mt_close(&b);
  mt_failed(&b, r->status);
  r->status = mt_end(&b);
  mt_expect(r, ')', "',' or ')' expected");
}

static bool is_zero (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag != MT_TUPLE && (p->tag != MT_INT || p->shape != 0)) return false;
  return true;
}

/* Takes what stands in front of the layout of a tensor; false: nothing of that. */
static bool accept_front (mt_reader *r, mt_layout *origin) {
  if (mt_at_pointer(r)) mt_read_pointer(r);
  else if (accept_one(r, coordinates, '(')) read_origin(r, origin);
  else return false;
  mt_expect(r, 'o', "'o' expected");
  return true;
}

/* n + A, as a swizzle that does nothing keeps it. */
static mt_status count_from (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "parse", err);
  mt_open(&b, MT_SWIZZLE);
  out->node[0].shape = mt_swizzle_pack(0, 0, 0);
  out->node[0].stride = n;
  mt_add(&b, a);
  mt_close(&b);
  return mt_end(&b);
}

static bool is_number (const mt_node *origin) {
  return origin->tag == MT_TUPLE && origin->arity == 1 && mt_child(origin)->tag == MT_INT;
}

/* The layout at `at` begins at the origin: at coordinates, or at a number. */
static MT_APART void begin_at (mt_reader *r, mt_build *b, int at, const mt_node *origin) {
  mt_layout a, whole;
  if (r->status != MT_OK || b->status != MT_OK || is_zero(origin)) return;
  mt_copy_value(&a, b->out->node + at);
  bool plain = mt_is_layout(a.node) && !mt_is_swizzled(a.node) && mt_is_integral(a.node);
  if (plain && is_number(origin))
    r->status = count_from(&whole, a.node, mt_child(origin)->shape, r->err);
  else r->status = mt_with_origin(&whole, a.node, origin, r->err);
  if (r->status != MT_OK) return;
  b->n = at;
  if (b->level > 0) b->out->node[b->open[b->level - 1]].arity--;
  mt_add(b, whole.node);
}

/* "ArithTuple(0,128) o ", "gmem_ptr[16b](...) o ", and the layout behind it. */
static MT_APART bool read_tensor (mt_reader *r, mt_build *b) {
  mt_layout origin;
  int at = b->n;
  mt_int(&origin, 0);
  if (!accept_front(r, &origin)) return false;
  if (accept_front(r, &origin)) mt_syntax(r, "one pointer expected before this,");
  mt_failed(b, r->status);
  if (b->status == MT_OK) mt_read_value(r, b);
  begin_at(r, b, at, origin.node);
  return true;
}

bool mt_read_cute (mt_reader *r, mt_build *b) {
  skip_namespace(r);
  if (accept_one(r, layouts, '<')) return read_layout(r, b, '>'), true;
  if (accept_one(r, layouts, '(')) return read_layout(r, b, ')'), true;
  if (at_one(r, swizzles, '<') || at_one(r, swizzles, '(')) {
    accept_swizzle(r);
    mt_read_swizzle(r, b, 'o');
    return true;
  }
  if (accept_one(r, composed, '<')) return read_composed(r, b, '>'), true;
  if (accept_one(r, composed, '(')) return read_composed(r, b, ')'), true;
  return read_tensor(r, b);
}
