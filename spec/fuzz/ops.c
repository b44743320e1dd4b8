/*
** ops.c - fuzz target: bytes as a sequence of operations over a few values.
** SPDX-License-Identifier: MIT
**
** Each step makes a value or calls a function of ops.def with values of the kinds that it
** takes; its result joins the values. Whatever a function returns is whole, its text reads as
** the same value, and the laws that are cheap to check hold for it.
** With libFuzzer: clang -fsanitize=fuzzer,address,undefined ops.c and the core.
** Otherwise with replay.c, over spec/fuzz/corpus/ops.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/pen.h"
#include "ops_forms.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum { SLOTS = 8, STEPS = 16, TEXT = 16384, SMALL = 256 };

typedef struct bytes {
  const uint8_t *p, *end;
} bytes;

static unsigned take (bytes *b) { return b->p < b->end ? *b->p++ : 0; }

/* Small numbers mostly; a few that are near an end. */
static int64_t number (bytes *b) {
  static const int64_t far[] = {-1,
                                -2,
                                -3,
                                -4,
                                -8,
                                -100,
                                1 << 20,
                                INT64_C(1) << 31,
                                INT64_C(1) << 32,
                                INT64_C(1) << 62,
                                INT64_MAX,
                                INT64_MAX - 1,
                                INT64_MAX / 2,
                                INT64_MIN,
                                INT64_MIN + 1,
                                INT64_MIN / 2};
  unsigned c = take(b);
  if (c < 64) return c;
  if (c < 128) return 1 << (c & 7);
  return c < 240 ? c % 13 : far[c & 15];
}

/* ---- making values */

static void close (pen *p, int at, int arity) {
  p->out->node[at].arity = (uint16_t)arity;
  p->out->node[at].span = (uint32_t)(p->n - at);
}

/* A tuple of numbers, with `_` here and there if wild. */
static void tuple (pen *p, bytes *b, int depth, bool wild) {
  unsigned c = take(b);
  if (depth < 4 && p->n < 40 && (c & 3) == 3) {
    int n = (int)(c >> 2 & 3) + (c == 255 ? 8 : 0), at = p->n, i = 0;
    pen_push(p, MT_TUPLE);
    for (; i < n && p->n < 50; i++) tuple(p, b, depth + 1, wild);
    close(p, at, i);
  } else if (wild && (c & 3) == 2) {
    pen_push(p, MT_WILD);
  } else {
    pen_push(p, MT_INT)->shape = number(b);
  }
}

/* Other numbers in the tree of `shape`: strides; by index path if basis. */
static void strides (mt_layout *out, const mt_layout *shape, bytes *b, bool basis) {
  int mode = 0;
  *out = *shape;
  for (mt_node *p = out->node; p < out->node + out->node[0].span; p++) {
    if (p->tag != MT_INT) continue;
    p->shape = number(b);
    if (!basis || p->shape == 0) continue;
    p->ring = MT_BASIS;
    p->path[0] = (uint8_t)(mode++ & 3);
    p->path[MT_MAXPATH] = 1;
    if (take(b) % 4 == 0) p->path[1] = 1, p->path[MT_MAXPATH] = 2;
  }
}

static mt_status layout (mt_layout *out, bytes *b, bool basis, mt_err *err) {
  mt_layout shape, stride;
  pen p = {&shape, 0};
  tuple(&p, b, 0, false);
  if (take(b) % 4 == 0) return mt_make_layout(out, shape.node, NULL, err);
  strides(&stride, &shape, b, basis);
  return mt_make_layout(out, shape.node, stride.node, err);
}

static bool is_layout (const mt_node *t) {
  return t->tag == MT_LEAF || t->tag == MT_MODES || (t->tag == MT_SUM && t->shape >= 0) ||
         (t->tag == MT_SWIZZLE && t->arity == 1);
}

/* By mode: layouts that are there, `_`, n:1; at least one layout. */
static void tiler (mt_layout *out, bytes *b, const mt_layout *pool) {
  pen p = {out, 0};
  int n = 1 + (int)(take(b) & 3);
  pen_push(&p, MT_TILER);
  for (int i = 0; i < n; i++) {
    unsigned c = take(b);
    const mt_node *t = pool[c % SLOTS].node;
    if (c >= 224 && i > 0) {
      pen_push(&p, MT_WILD);
    } else if (c < 128 && is_layout(t) && t->tag != MT_SWIZZLE &&
               mt_depth(t) < MT_MAXDEPTH && p.n + (int)t->span < 60) {
      memcpy(&out->node[p.n], t, t->span * sizeof *t);
      p.n += (int)t->span;
    } else {
      mt_node *leaf = pen_push(&p, MT_LEAF);
      leaf->shape = take(b) & 31;
      leaf->stride = 1;
    }
  }
  close(&p, 0, n);
}

static mt_status make (mt_layout *out, bytes *b, const mt_layout *pool, mt_err *err) {
  unsigned c = take(b);
  pen p = {out, 0};
  mt_layout w;
  switch (c % 8) {
    case 0:
    case 1:
    case 2: return layout(out, b, false, err);
    case 3: return layout(out, b, true, err);
    case 4: tuple(&p, b, 0, false); return MT_OK;
    case 5: tuple(&p, b, 0, true); return MT_OK;
    case 6: tiler(out, b, pool); return MT_OK;
    default: break;
  }
  if (mt_swizzle_bits(&w, take(b) & 7, take(b) & 7, (int)(take(b) & 15) - 4, err) !=
      MT_OK)
    return err->status;
  if (c & 8) mt_copy_value(out, w.node);
  else return mt_swizzle_composition(out, w.node, pool[take(b) % SLOTS].node, err);
  return MT_OK;
}

/* ---- what is true of every value */

static void sound (const mt_node *t) {
  const mt_node *c = mt_child(t);
  int n = 0;
  bool empty = false;
  int64_t size = 1;
  for (; c < mt_next(t); c = mt_next(c), n++) {
    sound(c);
    if (t->tag != MT_MODES) continue;
    empty = empty || c->shape == 0;
    MUST(is_layout(c) && c->tag != MT_SWIZZLE);
    MUST(empty || !__builtin_mul_overflow(size, c->shape, &size));
  }
  MUST(c == mt_next(t) && n == t->arity && t->span <= MT_MAXNODES);
  MUST(t->tag != MT_LEAF || t->shape >= 0);
  MUST(t->tag != MT_MODES || t->shape == (empty ? 0 : size));
}

static void whole (const mt_node *t) {
  static char text[TEXT];
  mt_err err = MT_NOERR;
  mt_layout again;
  sound(t);
  size_t n = mt_format(text, sizeof text, t);
  MUST(n > 0 && n < sizeof text);
  MUST(mt_parse(&again, text, n, &err) == MT_OK);
  MUST(mt_equal(again.node, t));
}

/* ---- calls */

typedef struct call {
  const mt_node *a, *b, *c;
  int64_t n, m;
  mt_layout out;
} call;

/* a(i), if it is an integer, of F2 too. */
static bool value (int64_t *v, const mt_node *a, int64_t i) {
  mt_layout out, c;
  mt_err err = MT_NOERR;
  mt_int(&c, i);
  if (mt_eval(&out, c.node, a, &err) != MT_OK || out.node->tag != MT_INT) return false;
  *v = out.node->shape;
  return true;
}

static bool integral (const mt_node *a) {
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (p->ring != MT_Z) return false;
  return true;
}

/* The indices that a law is checked at. */
static int64_t few (const mt_node *a) {
  int64_t n = is_layout(a) ? mt_size(a) : 0;
  return n < SMALL ? n : SMALL;
}

static void none (const call *c) { (void)c; }

/* Of layouts: the product of a tuple may be anything. */
static void same_size (const call *c) {
  MUST(!is_layout(c->out.node) || mt_size(c->out.node) == mt_size(c->a));
}

static void same_values (const call *c) {
  int64_t v, w;
  same_size(c);
  for (int64_t i = 0; i < few(c->a); i++)
    MUST(!value(&v, c->a, i) || (value(&w, c->out.node, i) && v == w));
}

static void composed (const call *c) {
  int64_t i, j, v, w;
  if (!is_layout(c->b) || !integral(c->b)) return;
  MUST(mt_size(c->out.node) == mt_size(c->b));
  for (i = 0; i < few(c->b); i++)
    if (value(&j, c->b, i) && j >= 0 && value(&v, c->a, j))
      MUST(value(&w, c->out.node, i) && v == w);
}

static void ascends (const call *c) {
  int64_t v = 0, w = -1;
  for (int64_t i = 0; i < few(c->out.node) && integral(c->a); i++, w = v)
    MUST(value(&v, c->out.node, i) && v > w);
}

static void not_smaller (const call *c) { MUST(mt_size(c->out.node) >= mt_size(c->a)); }

static void multiplied (const call *c) {
  int64_t n;
  if (!is_layout(c->b)) return;
  MUST(!__builtin_mul_overflow(mt_size(c->a), mt_size(c->b), &n));
  MUST(mt_size(c->out.node) == n);
}

static void inverse_right (const call *c) {
  int64_t j, v;
  if (!integral(c->a)) return;
  for (int64_t i = 0; i < few(c->out.node); i++)
    MUST(value(&j, c->out.node, i) && j >= 0 && value(&v, c->a, j) && v == i);
}

static void inverse_left (const call *c) {
  int64_t j, v, w;
  if (!integral(c->a)) return;
  for (int64_t i = 0; i < few(c->a); i++)
    if (value(&v, c->a, i) && v >= 0 && value(&j, c->out.node, v) && j >= 0)
      MUST(value(&w, c->a, j) && v == w);
}

/* The function goes on as it began. */
static void begins (const call *c) {
  int64_t v, w;
  for (int64_t i = 0; i < few(c->out.node); i++)
    if (value(&v, c->a, i)) MUST(value(&w, c->out.node, i) && v == w);
}

static void vanishes (const call *c) {
  int64_t j, v, w;
  if (!integral(c->a) || !value(&w, c->a, 0)) return;
  for (int64_t i = 0; i < few(c->out.node); i++)
    MUST(value(&j, c->out.node, i) && (!value(&v, c->a, j) || v == w));
}

static void added (const call *c) {
  int64_t u, v, w;
  bool xor = !integral(c->a) || !integral(c->b);
  for (int64_t i = 0; i < few(c->a); i++)
    if (value(&u, c->a, i) && value(&v, c->b, i))
      MUST(value(&w, c->out.node, i) && w == (xor? u ^ v : u + v));
}

/* ---- the table */

typedef union function {
  mt_status (*unary)(mt_layout *, const mt_node *, mt_err *);
  mt_status (*binary)(mt_layout *, const mt_node *, const mt_node *, mt_err *);
  mt_status (*ternary)(mt_layout *, const mt_node *, const mt_node *, const mt_node *,
                       mt_err *);
  mt_status (*bounded)(mt_layout *, const mt_node *, int64_t, mt_err *);
  mt_status (*ranged)(mt_layout *, const mt_node *, int, int, mt_err *);
  mt_status (*moded)(mt_layout *, const mt_node *, int, mt_err *);
  mt_status (*placed)(mt_layout *, const mt_node *, int, const mt_node *, mt_err *);
  mt_status (*repeated)(mt_layout *, int, const mt_node *, mt_err *);
  mt_status (*masks)(mt_layout *, int64_t, int64_t, mt_err *);
  mt_status (*recast)(mt_layout *, int64_t, int64_t, const mt_node *, mt_err *);
  mt_status (*number)(int64_t *, const mt_node *, mt_err *);
  mt_status (*number2)(int64_t *, const mt_node *, const mt_node *, mt_err *);
  mt_status (*indexed)(int64_t *, const mt_node *, int64_t, mt_err *);
  mt_status (*truth)(bool *, const mt_node *, const mt_node *, mt_err *);
} function;

/* signature   its call; those up to `recast` have a value as result */
#define SIGNATURES(X)                                                                    \
  X(unary, (&c->out, c->a, err))                                                         \
  X(binary, (&c->out, c->a, c->b, err))                                                  \
  X(ternary, (&c->out, c->a, c->b, c->c, err))                                           \
  X(bounded, (&c->out, c->a, c->n, err))                                                 \
  X(ranged, (&c->out, c->a, (int)(c->n & 7), (int)(c->m & 7) - 1, err))                  \
  X(moded, (&c->out, c->a, (int)(c->n & 7) - 1, err))                                    \
  X(placed, (&c->out, c->a, (int)(c->n & 15) - 1, c->b, err))                            \
  X(repeated, (&c->out, (int)(c->n & 127) - 1, c->a, err))                               \
  X(masks, (&c->out, c->n, c->m, err))                                                   \
  X(recast, (&c->out, c->n, c->m, c->a, err))                                            \
  X(number, (&i, c->a, err))                                                             \
  X(number2, (&i, c->a, c->b, err))                                                      \
  X(indexed, (&i, c->a, c->n, err))                                                      \
  X(truth, (&yes, c->a, c->b, err))

#define SIGNATURE(name, args) is_##name,
typedef enum signature { SIGNATURES(SIGNATURE) } signature;
#undef SIGNATURE

typedef struct op {
  const char *name, *kinds;
  signature signature;
  function f;
  void (*law)(const call *c);
} op;

static const op ops[] = {
#define OP(signature, name, kinds, law)                                                  \
  {#name, kinds, is_##signature, {.signature = name}, law},
#include "ops.def"
#undef OP
};
enum { N = sizeof ops / sizeof *ops };

static mt_status perform (const op *o, call *c, mt_err *err) {
  int64_t i = 0;
  bool yes = false;
  switch (o->signature) {
#define SIGNATURE(name, args)                                                            \
  case is_##name: return o->f.name args;
    SIGNATURES(SIGNATURE)
#undef SIGNATURE
  }
  return MT_OK;
}

/* ---- operands */

static bool is_tuple (const mt_node *t, bool wild) {
  for (const mt_node *p = t; p < mt_next(t); p++) {
    if (p->tag == MT_WILD && wild) continue;
    if ((p->tag != MT_INT || p->ring != MT_Z) && p->tag != MT_TUPLE) return false;
  }
  return true;
}

static bool is_tiler (const mt_node *t) {
  return t->tag == MT_TILER || is_layout(t) || is_tuple(t, true);
}

static bool fits (char kind, const mt_node *t) {
  switch (kind) {
    case 'L': return is_layout(t);
    case 'S':
    case 'A': return is_layout(t) || is_tuple(t, false);
    case 'T': return is_tuple(t, false);
    case 'C': return is_tuple(t, true);
    case 'R': return is_tiler(t);
    case 'X': return t->tag == MT_SWIZZLE;
    case 'W': return t->tag == MT_SWIZZLE && t->arity == 0;
    default: return t->tag == MT_SWIZZLE || is_layout(t);
  }
}

/* A value of this kind, from the slot that the next byte names on; NULL if there is none. */
static const mt_node *operand (bytes *b, char kind, const mt_layout *pool) {
  unsigned at = take(b);
  for (unsigned k = 0; k < SLOTS; k++) {
    const mt_node *t = pool[(at + k) % SLOTS].node;
    if (fits(kind, t)) return t;
  }
  return NULL;
}

/* With -DTRACE: what is called. */
static void trace (const op *o, const mt_node *const *t) {
#ifdef TRACE
  static char text[TEXT];
  fprintf(stderr, "%s", o->name);
  for (int k = 0; o->kinds[k]; k++) {
    mt_format(text, sizeof text, t[k]);
    fprintf(stderr, "%s %s", k ? "," : "", text);
  }
  fprintf(stderr, "\n");
#else
  (void)o;
  (void)t;
#endif
}

static void step (bytes *b, mt_layout *pool) {
  static call c;
  mt_err err = MT_NOERR;
  unsigned which = take(b), slot = take(b) % SLOTS;
  const mt_node *t[3] = {pool->node, pool->node, pool->node};
  mt_status s;
  const op *o = which < 32 ? NULL : &ops[(which - 32) % N];
  if (o) {
    for (int k = 0; o->kinds[k]; k++)
      if ((t[k] = operand(b, o->kinds[k], pool)) == NULL) return;
    c.a = t[0], c.b = t[1], c.c = t[2];
    c.n = number(b);
    c.m = number(b);
    trace(o, t);
    s = perform(o, &c, &err);
    MUST(s == MT_OK || (err.status == s && err.text[0]));
    if (s != MT_OK || o->signature >= is_number) return;
    whole(c.out.node);
    o->law(&c);
  } else {
    s = make(&c.out, b, pool, &err);
    MUST(s == MT_OK || (err.status == s && err.text[0]));
    if (s != MT_OK) return;
    whole(c.out.node);
  }
  pool[slot] = c.out;
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size) {
  static mt_layout pool[SLOTS];
  bytes b = {data, data + size};
  for (int k = 0; k < SLOTS; k++) mt_int(&pool[k], k);
  for (int k = 0; k < STEPS && b.p < b.end; k++) step(&b, pool);
  return 0;
}
