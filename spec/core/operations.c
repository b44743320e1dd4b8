/*
** operations.c - the operations of the golden tables, by name, from text to text.
** SPDX-License-Identifier: MIT
*/
#include "core_test.h"

#define A(i) (c->arg[i].node)
#define INT(i) (A(i)->shape)

static mt_status show (call *c, int i, const mt_layout *v, mt_status s) {
  if (s == MT_OK) mt_format(c->out[i], TEXT, v->node);
  return s;
}

static mt_status show_int (call *c, int i, int64_t v, mt_status s) {
  if (s == MT_OK) snprintf(c->out[i], TEXT, "%lld", (long long)v);
  return s;
}

static mt_status show_bool (call *c, bool v) {
  strcpy(c->out[0], v ? "true" : "false");
  return MT_OK;
}

/* A tuple of integers, or one, as an array. */
static int indices (int *out, const mt_node *t) {
  int n = 0;
  if (t->tag == MT_INT) out[n++] = (int)t->shape;
  else
    for (const mt_node *k = mt_child(t); k < mt_next(t); k++) out[n++] = (int)k->shape;
  return n;
}

#define UNARY(name, fn)                                                                  \
  static mt_status name(call *c) {                                                       \
    mt_layout r;                                                                         \
    mt_status s = fn(&r, A(0), &c->err);                                                 \
    return show(c, 0, &r, s);                                                            \
  }
#define BINARY(name, fn)                                                                 \
  static mt_status name(call *c) {                                                       \
    mt_layout r;                                                                         \
    mt_status s = fn(&r, A(0), A(1), &c->err);                                           \
    return show(c, 0, &r, s);                                                            \
  }

UNARY(op_make_layout_left, mt_layout_left)
UNARY(op_make_layout_right, mt_layout_right)
UNARY(op_make_layout_like, mt_make_layout_like)
UNARY(op_make_identity_layout, mt_make_identity_layout)
UNARY(op_flatten, mt_flatten)
UNARY(op_right_inverse, mt_right_inverse)
BINARY(op_coalesce_by, mt_coalesce)
BINARY(op_composition, mt_composition)
BINARY(op_logical_divide, mt_logical_divide)
BINARY(op_zipped_divide, mt_zipped_divide)
BINARY(op_tiled_divide, mt_tiled_divide)
BINARY(op_flat_divide, mt_flat_divide)
BINARY(op_logical_product, mt_logical_product)
BINARY(op_blocked_product, mt_blocked_product)
BINARY(op_raked_product, mt_raked_product)

static mt_status op_coalesce (call *c) {
  mt_layout r;
  mt_status s = mt_coalesce(&r, A(0), NULL, &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_rank (call *c) { return show_int(c, 0, mt_rank(A(0)), MT_OK); }
static mt_status op_depth (call *c) { return show_int(c, 0, mt_depth(A(0)), MT_OK); }
static mt_status op_size (call *c) { return show_int(c, 0, mt_size(A(0)), MT_OK); }
static mt_status op_congruent (call *c) { return show_bool(c, mt_congruent(A(0), A(1))); }

static mt_status op_cosize (call *c) {
  int64_t n;
  mt_status s = mt_cosize(&n, A(0), &c->err);
  return show_int(c, 0, n, s);
}

static mt_status concat (call *c) {
  mt_layout r;
  const mt_node *modes[4] = {A(0), A(1), A(2), A(3)};
  mt_status s = mt_concat(&r, c->n, modes, &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_call (call *c) {
  mt_layout r;
  mt_status s = mt_eval(&r, A(1), A(0), &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_values (call *c) {
  mt_layout i, r;
  char *p = c->out[0];
  size_t n = 0;
  for (int64_t k = 0; k < mt_size(A(0)); k++) {
    mt_int(&i, k);
    mt_status s = mt_eval(&r, i.node, A(0), &c->err);
    if (s) return s;
    if (k > 0) p[n++] = ',';
    n += mt_format(p + n, TEXT - n, r.node);
  }
  return MT_OK;
}

static mt_status op_crd2idx (call *c) {
  int64_t i;
  mt_status s = mt_crd2idx(&i, A(0), A(1), &c->err);
  return show_int(c, 0, i, s);
}

static mt_status op_crd2idx_stride (call *c) {
  int64_t i = 0;
  mt_layout a;
  mt_status s = mt_make_layout(&a, A(1), A(2), &c->err);
  if (s == MT_OK) s = mt_crd2idx(&i, A(0), a.node, &c->err);
  return show_int(c, 0, i, s);
}

static mt_status op_idx2crd (call *c) {
  mt_layout r;
  mt_status s = mt_idx2crd(&r, INT(0), A(1), &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_get (call *c) {
  mt_layout r;
  int path[MT_MAXNODES], n = indices(path, A(1));
  mt_status s = mt_get(&r, A(0), n, path, &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_select (call *c) {
  mt_layout r;
  int modes[MT_MAXNODES], n = indices(modes, A(1));
  mt_status s = mt_select(&r, A(0), n, modes, &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_take (call *c) {
  mt_layout r;
  int modes[MT_MAXNODES], n = 0;
  if (INT(1) >= INT(2)) return MT_ERANGE;
  for (int64_t i = INT(1); i < INT(2); i++) modes[n++] = (int)i;
  mt_status s = mt_select(&r, A(0), n, modes, &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_group (call *c) {
  mt_layout r;
  mt_status s = mt_group(&r, A(0), (int)INT(1), (int)INT(2), &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_slice (call *c) {
  mt_layout r;
  mt_status s = mt_slice(&r, NULL, A(0), A(1), &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_slice_and_offset (call *c) {
  mt_layout r;
  int64_t offset;
  mt_status s = mt_slice(&r, &offset, A(0), A(1), &c->err);
  show_int(c, 1, offset, s);
  return show(c, 0, &r, s);
}

static mt_status op_complement (call *c) {
  mt_layout r;
  mt_status s = mt_complement(&r, NULL, A(0), INT(1), &c->err);
  return show(c, 0, &r, s);
}

static mt_status op_complement_default (call *c) {
  mt_layout r;
  int64_t bound;
  mt_status s = mt_cosize(&bound, A(0), &c->err);
  if (s == MT_OK) s = mt_complement(&r, NULL, A(0), bound, &c->err);
  return show(c, 0, &r, s);
}

static const struct {
  const char *name;
  int args;
  operation f;
} operations[] = {
    /* name                  args  operation */
    {"blocked_product", 2, op_blocked_product},
    {"call", 2, op_call},
    {"coalesce", 1, op_coalesce},
    {"coalesce_by", 2, op_coalesce_by},
    {"complement", 2, op_complement},
    {"complement_default", 1, op_complement_default},
    {"composition", 2, op_composition},
    {"composition_tiler", 2, op_composition},
    {"congruent", 2, op_congruent},
    {"cosize", 1, op_cosize},
    {"crd2idx", 2, op_crd2idx},
    {"crd2idx_stride", 3, op_crd2idx_stride},
    {"depth", 1, op_depth},
    {"flat_divide", 2, op_flat_divide},
    {"flatten", 1, op_flatten},
    {"get", 2, op_get},
    {"get_nested", 2, op_get},
    {"group", 3, op_group},
    {"idx2crd", 2, op_idx2crd},
    {"logical_divide", 2, op_logical_divide},
    {"logical_product", 2, op_logical_product},
    {"make_identity_layout", 1, op_make_identity_layout},
    {"make_layout_concat1", 1, concat},
    {"make_layout_concat2", 2, concat},
    {"make_layout_concat3", 3, concat},
    {"make_layout_left", 1, op_make_layout_left},
    {"make_layout_like", 1, op_make_layout_like},
    {"make_layout_right", 1, op_make_layout_right},
    {"raked_product", 2, op_raked_product},
    {"rank", 1, op_rank},
    {"right_inverse", 1, op_right_inverse},
    {"select", 2, op_select},
    {"size", 1, op_size},
    {"slice", 2, op_slice},
    {"slice_and_offset", 2, op_slice_and_offset},
    {"take", 3, op_take},
    {"tiled_divide", 2, op_tiled_divide},
    {"values", 1, op_values},
    {"zipped_divide", 2, op_zipped_divide},
};

operation find_operation (const char *name, int *args) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(operations[i].name, name) != 0) continue;
    *args = operations[i].args;
    return operations[i].f;
  }
  return NULL;
}
