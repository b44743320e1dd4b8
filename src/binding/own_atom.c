/*
** own_atom.c - atoms of one's own in Lua: described by a table, written as text; read out
** of CuTe's texts.
** SPDX-License-Identifier: MIT
*/
#include <ctype.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/atom.h"

/* An option by our name, by that of the atom's field, by CuTe's. */
typedef struct names {
  const char *name[3];
} names;

/* Pushes the option of the table at 1, or nil. */
static void option (lua_State *L, const char *op, const names *n) {
  lua_pushnil(L);
  const char *found = NULL;
  for (int i = 0; i < 3 && n->name[i]; i++) {
    lua_getfield(L, 1, n->name[i]);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    if (found)
      luaL_error(L, "%s: %s and %s are one: give one of them", op, found, n->name[i]);
    found = n->name[i];
    lua_remove(L, -2);
  }
}

/* The layout of an option in `buf`: a layout, a shape, a text; NULL: there is none. */
static const mt_node *layout_of (lua_State *L, const char *op, const names *n,
                                 mt_layout *buf) {
  LMT_NOERR(err);
  const char *what = lua_pushfstring(L, "%s: %s", op, n->name[0]);
  option(L, op, n);
  if (lua_isnil(L, -1)) return NULL;
  if (!lmt_isstring(L, -1)) {
    const mt_node *a = lmt_toshaped(L, -1, what, buf);
    if (a != buf->node) mt_copy_value(buf, a);
    return buf->node;
  }
  size_t length;
  const char *text = lua_tolstring(L, -1, &length);
  if (mt_parse(buf, text, length, &err)) luaL_error(L, "%s: %s", what, err.text);
  if (!lmt_islayout(buf->node)) luaL_error(L, "%s: \"%s\" is no layout", what, text);
  return buf->node;
}

static const mt_node *need_layout (lua_State *L, const char *op, const names *n,
                                   const char *example, mt_layout *buf) {
  const mt_node *a = layout_of(L, op, n, buf);
  if (a == NULL)
    luaL_error(L, "%s: %s is missing: a layout (thread,value) expected, as \"%s\"", op,
               n->name[0], example);
  return a;
}

/* The name, or NULL; it stays on the stack. */
static const char *name_option (lua_State *L, const char *op) {
  lua_getfield(L, 1, "name");
  if (lua_isnil(L, -1)) return NULL;
  if (!lmt_isstring(L, -1))
    luaL_error(L, "%s: name: string expected, got %s", op, lmt_kindname(L, -1));
  size_t length;
  const char *name = lua_tolstring(L, -1, &length);
  if (strlen(name) != length) luaL_error(L, "%s: name: a NUL in it", op);
  return name;
}

/* ---------------------------------------------------------------- MMA atoms */

static const char mma_atom[] = "mma_atom";
static const names shape_names = {{"shape", "shape_MNK", "Shape_MNK"}};
static const names thr_names = {{"thr_id", "ThrID", NULL}};
static const names dtype_names = {{"dtypes", "dtype", NULL}};
static const names operand_names[] = {{{"A", "layout_A", "ALayout"}},
                                      {{"B", "layout_B", "BLayout"}},
                                      {{"C", "layout_C", "CLayout"}}};

static void read_shape (lua_State *L, mt_mma_op *op) {
  mt_layout buf;
  int64_t *const extent[] = {&op->m, &op->n, &op->k};
  option(L, mma_atom, &shape_names);
  if (lua_isnil(L, -1))
    luaL_error(L, "mma_atom: shape is missing: {M, N, K} expected, as {16, 8, 8}");
  const mt_node *shape = lmt_tovalue(L, -1, LMT_SHAPE, "mma_atom: shape", &buf);
  bool three = shape->tag == MT_TUPLE && shape->arity == 3;
  for (int i = 0; three && i < 3; i++) {
    const mt_node *c = mt_mode(shape, i);
    three = c->tag == MT_INT;
    *extent[i] = c->shape;
  }
  if (!three) luaL_error(L, "mma_atom: shape: {M, N, K} expected, as {16, 8, 8}");
}

static void read_dtypes (lua_State *L, mt_mma_op *op) {
  static const char *const keys[] = {"A", "B", "C", "D", NULL};
  static const int operand[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C, MT_OPERAND_D};
  LMT_NOERR(err);
  option(L, mma_atom, &dtype_names);
  if (!lmt_istable(L, -1))
    luaL_error(L,
               "mma_atom: dtypes = { A = \"f16\", B = \"f16\", C = \"f32\" } expected");
  int at = lua_gettop(L);
  lmt_checkkeys(L, at, "mma_atom: dtypes", keys);
  for (int i = 0; i < MT_OPERANDS; i++) {
    mt_element *e = &op->operand[operand[i]].element;
    lua_getfield(L, at, keys[i]);
    if (lua_isnil(L, -1) && i == 3) *e = op->operand[MT_OPERAND_C].element;
    else if (!lmt_isstring(L, -1))
      luaL_error(L, "mma_atom: dtypes.%s: the name of a type expected, as \"f16\"",
                 keys[i]);
    else if (mt_element_find(e, lua_tostring(L, -1), &err))
      luaL_error(L, "mma_atom: dtypes.%s: %s", keys[i], err.text);
  }
}

static LMT_APART int make_mma (lua_State *L, const mt_mma_op *op) {
  static const char *const example[] = {"((4,8),(2,2)):((32,1),(16,8))", "(32,2):(2,1)",
                                        "((4,8),(2,2)):((32,1),(16,8))"};
  mt_layout thr, buf[3];
  const mt_node *tv[3];
  LMT_NOERR(err);
  const mt_node *thr_id = layout_of(L, mma_atom, &thr_names, &thr);
  for (int i = 0; i < 3; i++)
    tv[i] = need_layout(L, mma_atom, &operand_names[i], example[i], &buf[i]);
  mt_mma_atom *a = lua_newuserdatauv(L, sizeof *a, 0);
  lmt_listenhere(L, &err);
  if (mt_mma_atom_make(a, op, thr_id, tv[0], tv[1], tv[2], &err))
    return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_MMAATOM);
  return 1;
}

/* mma_atom{ shape = {M, N, K}, A = , B = , C = layouts, dtypes = { A = , B = , C = }
** [, thr_id = layout] [, name = text] } */
int lmt_ownmma (lua_State *L) {
  static const char *const keys[] = {"shape",    "shape_MNK", "Shape_MNK", "thr_id",
                                     "ThrID",    "A",         "B",         "C",
                                     "layout_A", "layout_B",  "layout_C",  "ALayout",
                                     "BLayout",  "CLayout",   "dtypes",    "dtype",
                                     "name",     NULL};
  mt_mma_op op = {.m = 0};
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, mma_atom, keys);
  const char *name = name_option(L, mma_atom);
  if (name && (*name == 0 || strlen(name) >= sizeof op.name))
    return luaL_error(L, "mma_atom: name: 1 to %d bytes expected",
                      (int)sizeof op.name - 1);
  if (name) strcpy(op.name, name);
  read_shape(L, &op);
  read_dtypes(L, &op);
  return make_mma(L, &op);
}

/* ---------------------------------------------------------------- copy atoms */

static const char copy_atom[] = "copy_atom";
static const names side_names[] = {{{"src", "layout_src", "SrcLayout"}},
                                   {{"dst", "layout_dst", "DstLayout"}},
                                   {{"ref", "layout_ref", "RefLayout"}}};

/* From `bits` or `dtype`; 1: the layouts are in bits, as CuTe's are. */
static int read_bits (lua_State *L) {
  lua_getfield(L, 1, "dtype");
  lua_getfield(L, 1, "bits");
  if (!lua_isnil(L, -2) && !lua_isnil(L, -1))
    luaL_error(L, "copy_atom: dtype or bits, not both");
  if (!lua_isnil(L, -2) && !lmt_isstring(L, -2))
    luaL_error(L, "copy_atom: dtype: the name of a dtype expected");
  if (!lua_isnil(L, -2)) return 8 * (int)mt_dtype_size(lmt_todtype(L, -2));
  if (lua_isnil(L, -1)) return 1;
  int isint;
  lua_Integer bits = lua_tointegerx(L, -1, &isint);
  if (!isint || lmt_isstring(L, -1) || bits < 1 || bits > 1024)
    luaL_error(L, "copy_atom: bits: of a value, 1 to 1024 expected");
  return (int)bits;
}

/* copy_atom{ src = , dst = layouts, bits = | dtype = [, ref = layout] [, thr_id = layout]
** [, name = text] } */
int lmt_owncopy (lua_State *L) {
  static const char *const keys[] = {"thr_id",     "ThrID",      "src",
                                     "dst",        "ref",        "layout_src",
                                     "layout_dst", "layout_ref", "SrcLayout",
                                     "DstLayout",  "RefLayout",  "bits",
                                     "dtype",      "name",       NULL};
  mt_layout thr, buf[3];
  const mt_node *tv[3];
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, copy_atom, keys);
  const char *name = name_option(L, copy_atom);
  int bits = read_bits(L);
  const mt_node *thr_id = layout_of(L, copy_atom, &thr_names, &thr);
  for (int i = 0; i < 2; i++)
    tv[i] = need_layout(L, copy_atom, &side_names[i], "(32,4):(4,1)", &buf[i]);
  tv[2] = layout_of(L, copy_atom, &side_names[2], &buf[2]);
  mt_copy_atom *a = lua_newuserdatauv(L, sizeof *a, 0);
  lmt_listenhere(L, &err);
  if (mt_copy_atom_make(a, name, bits, thr_id, tv[0], tv[1], tv[2], &err))
    return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_COPYATOM);
  return 1;
}

/* ---------------------------------------------------------------- text */

/* Appends `, KEY = "LAYOUT"` to the text on the top. */
static void add_layout (lua_State *L, const char *key, const mt_node *a) {
  lmt_pushtext(L, a);
  lua_pushfstring(L, "%s, %s = \"%s\"", lua_tostring(L, -2), key, lua_tostring(L, -1));
  lua_replace(L, -3);
  lua_pop(L, 1);
}

static void end_table (lua_State *L) {
  lua_pushliteral(L, " }");
  lua_concat(L, 2);
}

int lmt_pushmmaatom (lua_State *L, const mt_mma_atom *a) {
  const mt_mma_op *op = &a->op;
  const mt_operand *o = op->operand;
  char name[MT_ATOM_NAME];
  if (!op->own) {
    lua_pushfstring(L, "\"%s\"", mt_mma_op_name(name, op));
    return 1;
  }
  lua_pushfstring(L, "tile.mma_atom{ name = \"%s\", shape = {%I, %I, %I}", op->name,
                  (LUAI_UACINT)op->m, (LUAI_UACINT)op->n, (LUAI_UACINT)op->k);
  add_layout(L, "thr_id", a->thr_id.node);
  add_layout(L, "A", a->a.node);
  add_layout(L, "B", a->b.node);
  add_layout(L, "C", a->c.node);
  lua_pushfstring(L, "%s, dtypes = { A = \"%s\", B = \"%s\", C = \"%s\" }",
                  lua_tostring(L, -1), mt_element_name(o[MT_OPERAND_A].element),
                  mt_element_name(o[MT_OPERAND_B].element),
                  mt_element_name(o[MT_OPERAND_C].element));
  lua_remove(L, -2);
  end_table(L);
  return 1;
}

int lmt_pushcopyatom (lua_State *L, const mt_copy_atom *a, bool with_bits) {
  if (!a->own) {
    lua_pushfstring(L, with_bits ? "tile.copy_atom(\"%s\", %d)" : "\"%s\"", a->name,
                    a->bits);
    return 1;
  }
  lua_pushfstring(L, "tile.copy_atom{ name = \"%s\", bits = %d", a->name, a->bits);
  add_layout(L, "thr_id", a->thr_id.node);
  add_layout(L, "src", a->src.node);
  add_layout(L, "dst", a->dst.node);
  add_layout(L, "ref", a->ref.node);
  end_table(L);
  return 1;
}

/* ---------------------------------------------------------------- CuTe's texts */

/* Whether the text may be of a tiled MMA, a tiled copy or an atom: lua/moontile/read.lua
** knows those. */
static bool may_be_tiled (const char *text) {
  text += strspn(text, " \t\r\n");
  if (!isalpha((unsigned char)*text)) return false;
  return strncmp(text, "Thr", 3) == 0 || strstr(text, "tom") || strstr(text, "iled");
}

bool lmt_readtiled (lua_State *L, const char *text) {
  if (!may_be_tiled(text)) return false;
  lua_settop(L, 2);
  lmt_pushinner(L);
  lua_getfield(L, -1, "read_text");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  if (lua_pcall(L, 2, 1, 0) == LUA_OK) return !lua_isnil(L, -1);
  luaL_where(L, 1);
  lua_insert(L, -2);
  lua_concat(L, 2);
  return lua_error(L);
}
