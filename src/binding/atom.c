/*
** atom.c - MMA and copy atoms in Lua: found by name, searched, shown.
** SPDX-License-Identifier: MIT
**
** An atom has fields; it cannot be changed. Those that are layouts are methods, too: a
** layout that is called with an atom is itself (binding/layout.c).
*/
#include <ctype.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/atom.h"

mt_mma_atom *lmt_tommaatom (lua_State *L, int i) {
  return luaL_checkudata(L, i, LMT_MMAATOM);
}
mt_copy_atom *lmt_tocopyatom (lua_State *L, int i) {
  return luaL_checkudata(L, i, LMT_COPYATOM);
}

/* ---------------------------------------------------------------- MMA atoms */

/* mma_atom(name | description) */
static int l_mma_atom (lua_State *L) {
  mt_err err = MT_NOERR;
  if (lmt_istable(L, 1)) return lmt_ownmma(L);
  const char *name = luaL_checkstring(L, 1);
  if (lmt_pushhostatom(L, name, LMT_MMAATOM)) return 1;
  mt_mma_atom *a = lua_newuserdatauv(L, sizeof *a, 0);
  if (mt_mma_atom_find(a, name, &err)) return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_MMAATOM);
  return 1;
}

/* mma_bound(atom, k, sum): of |C - exact| for k products whose |a b| sum to `sum` */
static int l_mma_bound (lua_State *L) {
  const mt_mma_op *op = &lmt_tommaatom(L, 1)->op;
  lua_Integer k = luaL_checkinteger(L, 2);
  luaL_argcheck(L, k >= 0, 2, "a number of products expected");
  lua_pushnumber(L, mt_mma_op_bound(op, k, luaL_checknumber(L, 3)));
  return 1;
}

/* "f16"; "sparse2.f16": of two values one is stored. */
static const char *push_type (lua_State *L, const mt_operand *o) {
  const char *name = mt_element_name(o->element);
  return o->sparse > 1 ? lua_pushfstring(L, "sparse%d.%s", o->sparse, name) :
                         lua_pushstring(L, name);
}

static const char *push_source (lua_State *L, const mt_operand *o) {
  return lua_pushstring(L, mt_source_name(o->source));
}

static const char *const operand_names[] = {"D", "A", "B", "C", NULL};

/* { D = , A = , B = , C = } */
static int by_operand (lua_State *L,
                       const char *(*push)(lua_State *L, const mt_operand *o)) {
  const mt_mma_op *op = &lmt_tommaatom(L, 1)->op;
  lua_createtable(L, 0, MT_OPERANDS);
  for (int i = 0; i < MT_OPERANDS; i++) {
    push(L, &op->operand[i]);
    lua_setfield(L, -2, operand_names[i]);
  }
  return 1;
}

static int mma_name (lua_State *L) {
  char name[MT_ATOM_NAME];
  lua_pushstring(L, mt_mma_op_name(name, &lmt_tommaatom(L, 1)->op));
  return 1;
}
static int mma_arch (lua_State *L) {
  lua_pushstring(L, lmt_tommaatom(L, 1)->op.arch);
  return 1;
}
static int mma_shape (lua_State *L) {
  mt_layout shape;
  mt_err err = MT_NOERR;
  const mt_mma_op *op = &lmt_tommaatom(L, 1)->op;
  const int64_t mnk[] = {op->m, op->n, op->k};
  if (mt_ints(&shape, 3, mnk, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, shape.node);
}
static int mma_dtype (lua_State *L) { return by_operand(L, push_type); }
static int mma_src (lua_State *L) { return by_operand(L, push_source); }

static int mma_thr_id (lua_State *L) {
  return lmt_pushvalue(L, lmt_tommaatom(L, 1)->thr_id.node);
}
static int mma_layout_a (lua_State *L) {
  return lmt_pushvalue(L, lmt_tommaatom(L, 1)->a.node);
}
static int mma_layout_b (lua_State *L) {
  return lmt_pushvalue(L, lmt_tommaatom(L, 1)->b.node);
}
static int mma_layout_c (lua_State *L) {
  return lmt_pushvalue(L, lmt_tommaatom(L, 1)->c.node);
}

/* atom:summary() is atom_summary(atom). */
static int push_summary (lua_State *L) {
  lmt_pushinner(L);
  lua_getfield(L, -1, "atom_summary");
  return 1;
}

static void add_operand (lua_State *L, luaL_Buffer *b, const char *name,
                         const mt_operand *o, const mt_node *layout) {
  const char *type = push_type(L, o);
  lmt_pushtext(L, layout);
  lua_pushfstring(L, "\n  %s  %s, %s: %s", name, type, mt_source_name(o->source),
                  lua_tostring(L, -1));
  lua_replace(L, -3);
  lua_pop(L, 1);
  luaL_addvalue(b);
}

static int mma_tostring (lua_State *L) {
  luaL_Buffer b;
  char name[MT_ATOM_NAME];
  const mt_mma_atom *a = lmt_tommaatom(L, 1);
  const mt_mma_op *op = &a->op;
  lmt_pushtext(L, a->thr_id.node);
  luaL_buffinit(L, &b);
  lua_pushfstring(L, "%s: %s, %I x %I x %I, threads %s", mt_mma_op_name(name, op),
                  op->arch, (LUAI_UACINT)op->m, (LUAI_UACINT)op->n, (LUAI_UACINT)op->k,
                  lua_tostring(L, 2));
  luaL_addvalue(&b);
  add_operand(L, &b, "A", &op->operand[MT_OPERAND_A], a->a.node);
  add_operand(L, &b, "B", &op->operand[MT_OPERAND_B], a->b.node);
  add_operand(L, &b, "C", &op->operand[MT_OPERAND_C], a->c.node);
  luaL_pushresult(&b);
  return 1;
}

/* ---------------------------------------------------------------- copy atoms */

/* The bits of a value at `i`: a number, the name of a dtype, or 1 if absent. */
static int opt_bits (lua_State *L, int i) {
  if (lmt_isstring(L, i)) return 8 * (int)mt_dtype_size(lmt_todtype(L, i));
  lua_Integer bits = luaL_optinteger(L, i, 1);
  luaL_argcheck(L, bits >= 1 && bits <= 1024, i, "1 to 1024 bits");
  return (int)bits;
}

/* copy_atom(atom [, bits | dtype]): the same in values of so many bits */
static int in_bits (lua_State *L) {
  LMT_NOERR(err);
  int bits = lua_isnoneornil(L, 2) ? lmt_tocopyatom(L, 1)->bits : opt_bits(L, 2);
  mt_copy_atom *a = lua_newuserdatauv(L, sizeof *a, 0);
  *a = *lmt_tocopyatom(L, 1);
  if (mt_copy_atom_recast(a, bits, &err)) return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_COPYATOM);
  return 1;
}

/* copy_atom(name [, bits | dtype]): its layouts in values of so many bits; in bits;
** copy_atom(description) */
static int l_copy_atom (lua_State *L) {
  mt_err err = MT_NOERR;
  if (lmt_istable(L, 1) && lua_isnoneornil(L, 2)) return lmt_owncopy(L);
  if (lmt_isclass(L, 1, LMT_COPYATOM)) return in_bits(L);
  const char *name = luaL_checkstring(L, 1);
  if (lmt_pushhostatom(L, name, LMT_COPYATOM)) {
    lua_replace(L, 1);
    return lua_isnoneornil(L, 2) ? (lua_settop(L, 1), 1) : in_bits(L);
  }
  int bits = opt_bits(L, 2);
  mt_copy_atom *a = lua_newuserdatauv(L, sizeof *a, 0);
  if (mt_copy_atom_find(a, name, bits, &err)) return lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_COPYATOM);
  return 1;
}

static int copy_name (lua_State *L) {
  lua_pushstring(L, lmt_tocopyatom(L, 1)->name);
  return 1;
}
static int copy_arch (lua_State *L) {
  lua_pushstring(L, lmt_tocopyatom(L, 1)->arch);
  return 1;
}
static int copy_bits (lua_State *L) {
  lua_pushinteger(L, lmt_tocopyatom(L, 1)->bits);
  return 1;
}
static int copy_thr_id (lua_State *L) {
  return lmt_pushvalue(L, lmt_tocopyatom(L, 1)->thr_id.node);
}
static int copy_layout_src (lua_State *L) {
  return lmt_pushvalue(L, lmt_tocopyatom(L, 1)->src.node);
}
static int copy_layout_dst (lua_State *L) {
  return lmt_pushvalue(L, lmt_tocopyatom(L, 1)->dst.node);
}
static int copy_layout_ref (lua_State *L) {
  return lmt_pushvalue(L, lmt_tocopyatom(L, 1)->ref.node);
}

static int copy_tostring (lua_State *L) {
  const mt_copy_atom *a = lmt_tocopyatom(L, 1);
  lmt_pushtext(L, a->thr_id.node);
  lmt_pushtext(L, a->src.node);
  lmt_pushtext(L, a->dst.node);
  lmt_pushtext(L, a->ref.node);
  lua_pushfstring(L,
                  "%s: %s, values of %d bit%s, threads %s\n"
                  "  source       %s\n  destination  %s\n  reference    %s",
                  a->name, a->arch, a->bits, a->bits == 1 ? "" : "s", lua_tostring(L, -4),
                  lua_tostring(L, -3), lua_tostring(L, -2), lua_tostring(L, -1));
  return 1;
}

/* ---------------------------------------------------------------- search */

typedef struct query {
  const char *arch;                /* NULL: any */
  int runs_on;                     /* a device on the stack; 0: any */
  lua_Integer mnk[3];              /* 0: any */
  mt_element operand[MT_OPERANDS]; /* MT_NELEMENT: any */
} query;

/* "sm_90", "SM90" and "sm90" mean sm90 and sm90a; "sm_90a" means sm90a. */
static bool is_arch (const char *arch, const char *asked) {
  for (; *asked; asked++) {
    if (*asked == '_') continue;
    if (*arch++ != tolower((unsigned char)*asked)) return false;
  }
  return *arch == 0 || (*arch == 'a' && arch[1] == 0);
}

static bool fits (lua_State *L, const mt_mma_op *op, const query *q) {
  const lua_Integer mnk[] = {op->m, op->n, op->k};
  if (q->arch && !is_arch(op->arch, q->arch)) return false;
  if (q->runs_on && !mt_device_runs_mma(lmt_todevice(L, q->runs_on)->d, op)) return false;
  for (int i = 0; i < 3; i++)
    if (q->mnk[i] != 0 && q->mnk[i] != mnk[i]) return false;
  for (int i = 0; i < MT_OPERANDS; i++)
    if (q->operand[i] != MT_NELEMENT && q->operand[i] != op->operand[i].element)
      return false;
  return true;
}

static const char *text_option (lua_State *L, const char *key) {
  lua_getfield(L, 1, key); /* stays on the stack */
  if (lua_isnil(L, -1)) return NULL;
  if (!lmt_isstring(L, -1)) luaL_error(L, "atoms: %s: string expected", key);
  return lua_tostring(L, -1);
}

/* "sm_90"; 90 is the same. */
static const char *arch_option (lua_State *L) {
  lua_getfield(L, 1, "arch");
  bool number = lua_isinteger(L, -1);
  if (number) lua_pushfstring(L, "sm_%I", (LUAI_UACINT)lua_tointeger(L, -1));
  return number ? lua_tostring(L, -1) : text_option(L, "arch");
}

/* Where the device of `runs_on` is on the stack; 0: there is none. */
static int device_option (lua_State *L) {
  LMT_NOERR(err);
  lua_getfield(L, 1, "runs_on");
  if (lua_isnil(L, -1)) return 0;
  if (!lmt_isstring(L, -1) && !lmt_isclass(L, -1, LMT_DEVICE))
    luaL_error(L, "atoms: runs_on: a device or its name expected, got %s",
               lmt_kindname(L, -1));
  if (lmt_optdevice(L, lua_gettop(L), &err) == NULL) lmt_raise(L, &err);
  return lua_gettop(L);
}

static void read_query (lua_State *L, query *q) {
  static const char *const extents[] = {"M", "N", "K"};
  mt_err err = MT_NOERR;
  q->arch = arch_option(L);
  q->runs_on = device_option(L);
  for (int i = 0; i < 3; i++) {
    int isint;
    lua_getfield(L, 1, extents[i]);
    q->mnk[i] = lua_tointegerx(L, -1, &isint);
    if (!lua_isnil(L, -1) && (!isint || lmt_isstring(L, -1)))
      luaL_error(L, "atoms: %s: integer expected", extents[i]);
  }
  for (int i = 0; i < MT_OPERANDS; i++) {
    const char *name = text_option(L, operand_names[i]);
    q->operand[i] = MT_NELEMENT;
    if (name && mt_element_find(&q->operand[i], name, &err)) lmt_raise(L, &err);
  }
}

/* Appends to the sequence on the top. */
static void append (lua_State *L, lua_Integer *n, const char *name) {
  lua_pushstring(L, name);
  lua_rawseti(L, -2, ++*n);
}

/* Appends the name to the text on the top, unless that has it. */
static void add_arch (lua_State *L, const char *arch) {
  const char *text = lua_tostring(L, -1);
  size_t n = strlen(arch);
  for (const char *p = text; (p = strstr(p, arch)) != NULL; p += n)
    if (p[n] == ',' || p[n] == '\0') return;
  lua_pushfstring(L, *text ? "%s, %s" : "%s%s", text, arch);
  lua_remove(L, -2);
}

/* Raises that no atom is of this architecture. */
static void refuse_arch (lua_State *L, const char *asked, bool copies) {
  mt_atom_cursor c = {0};
  mt_mma_op op;
  char name[MT_ATOM_NAME];
  const char *arch;
  lua_pushliteral(L, "");
  while (copies && mt_copy_atom_next(name, &arch, &c)) add_arch(L, arch);
  while (!copies && mt_mma_atom_next(&op, &c)) add_arch(L, op.arch);
  luaL_error(L, "atoms: arch: none is of \"%s\"; there are: %s", asked,
             lua_tostring(L, -1));
}

static bool is_known (const char *asked, bool copies) {
  mt_atom_cursor c = {0};
  mt_mma_op op;
  char name[MT_ATOM_NAME];
  const char *arch;
  while (copies && mt_copy_atom_next(name, &arch, &c))
    if (is_arch(arch, asked)) return true;
  while (!copies && mt_mma_atom_next(&op, &c))
    if (is_arch(op.arch, asked)) return true;
  return false;
}

static void find_mma (lua_State *L, const query *q) {
  lua_Integer n = 0;
  mt_mma_op op;
  mt_atom_cursor c = {0};
  while (mt_mma_atom_next(&op, &c))
    if (fits(L, &op, q)) append(L, &n, op.name);
}

static bool runs (lua_State *L, const query *q, const char *name) {
  mt_copy_atom a;
  mt_err err = MT_NOERR;
  if (q->runs_on == 0) return true;
  return mt_copy_atom_find(&a, name, 1, &err) == MT_OK &&
         mt_device_runs_copy(lmt_todevice(L, q->runs_on)->d, &a);
}

static void find_copies (lua_State *L, const query *q) {
  lua_Integer n = 0;
  char name[MT_ATOM_NAME];
  const char *arch;
  mt_atom_cursor c = {0};
  while (mt_copy_atom_next(name, &arch, &c))
    if ((q->arch == NULL || is_arch(arch, q->arch)) && runs(L, q, name))
      append(L, &n, name);
}

/* atoms{ [kind = "mma" | "copy"], [arch = "sm_90"], [runs_on = device], [M = , N = ,
** K = , A = "bf16", B = , C = , D = ] } -> the names of those that fit, oldest first.
** arch: what brought them. */
static int l_atoms (lua_State *L) {
  static const char *const keys[] = {"kind", "arch", "runs_on", "M", "N", "K",
                                     "A",    "B",    "C",       "D", NULL};
  static const char *const copy_keys[] = {"kind", "arch", "runs_on", NULL};
  query q;
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    lua_newtable(L);
    lua_replace(L, 1);
  }
  lmt_checkkeys(L, 1, "atoms", keys);
  const char *kind = text_option(L, "kind");
  if (kind && strcmp(kind, "copy") == 0)
    lmt_checkkeys(L, 1, "atoms of kind \"copy\"", copy_keys);
  if (kind && strcmp(kind, "mma") != 0 && strcmp(kind, "copy") != 0)
    return luaL_error(L, "atoms: kind: \"mma\" or \"copy\" expected, got \"%s\"", kind);
  bool copies = kind && *kind == 'c';
  read_query(L, &q);
  if (q.arch && !is_known(q.arch, copies)) refuse_arch(L, q.arch, copies);
  lua_newtable(L);
  if (copies) find_copies(L, &q);
  else find_mma(L, &q);
  return 1;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_ATOM
#include "binding/rows.h"

static const luaL_Reg mma_meta[] = {{"__tostring", mma_tostring}, {NULL, NULL}};
static const luaL_Reg mma_fields[] = {{"name", mma_name},
                                      {"arch", mma_arch},
                                      {"shape_MNK", mma_shape},
                                      {"dtype", mma_dtype},
                                      {"src", mma_src},
                                      {"thr_id", mma_thr_id},
                                      {"layout_A", mma_layout_a},
                                      {"layout_B", mma_layout_b},
                                      {"layout_C", mma_layout_c},
                                      {"layout_A_TV", mma_layout_a},
                                      {"layout_B_TV", mma_layout_b},
                                      {"layout_C_TV", mma_layout_c},
                                      {"summary", push_summary},
                                      {NULL, NULL}};

static const luaL_Reg copy_meta[] = {{"__tostring", copy_tostring}, {NULL, NULL}};
static const luaL_Reg copy_fields[] = {{"name", copy_name},
                                       {"arch", copy_arch},
                                       {"bits", copy_bits},
                                       {"thr_id", copy_thr_id},
                                       {"layout_src", copy_layout_src},
                                       {"layout_dst", copy_layout_dst},
                                       {"layout_ref", copy_layout_ref},
                                       {"layout_S_TV", copy_layout_src},
                                       {"layout_D_TV", copy_layout_dst},
                                       {"summary", push_summary},
                                       {NULL, NULL}};

/* Upvalues: the functions that push a field, by its name; the name of the class. */
static int l_field (lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TNIL)
    return lmt_nosuch(L, "field", lua_upvalueindex(1),
                      lua_tostring(L, lua_upvalueindex(2)));
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

static void new_class (lua_State *L, const char *name, const luaL_Reg *meta,
                       const luaL_Reg *fields) {
  lmt_setmeta(L, name, meta);
  luaL_getmetatable(L, name);
  lua_newtable(L);
  luaL_setfuncs(L, fields, 0);
  lua_pushstring(L, strchr(name, '.') + 1);
  lua_pushcclosure(L, l_field, 2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void lmt_open_atom (lua_State *L) {
  new_class(L, LMT_MMAATOM, mma_meta, mma_fields);
  new_class(L, LMT_COPYATOM, copy_meta, copy_fields);
  lmt_addrows(L, rows);
}
