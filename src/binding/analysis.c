/*
** analysis.c - bank conflicts, coalescing and the search for a swizzle in Lua.
** SPDX-License-Identifier: MIT
**
** A result is a table of figures; tostring shows it, its text is in the field `text`.
*/
#include <stdlib.h>
#include <string.h>

#include "binding/field.h"
#include "binding/instead.h"
#include "binding/lmt.h"
#include "kernel/kernel.h"
#include "binding/plan.h"

/* ---------------------------------------------------------------- converting */

static lua_Integer integer_option (lua_State *L, int i, const char *op, const char *key) {
  int isint = 1;
  lua_getfield(L, i, key);
  lua_Integer v = lua_isnil(L, -1) ? 0 : lua_tointegerx(L, -1, &isint);
  if (!isint || lmt_isstring(L, -1))
    luaL_error(L, "%s: %s: integer expected, got %s", op, key, lmt_kindname(L, -1));
  lua_pop(L, 1);
  return v;
}

static int small (lua_Integer v) { return v < -1 || v > 4096 ? -1 : (int)v; }

static void to_kind (lua_State *L, int i, const char *op, mt_warp_access *how) {
  LMT_NOERR(err);
  if (!lmt_isstring(L, i)) luaL_error(L, "%s: kind: the name of an access expected", op);
  if (mt_warp_access_find(&how->kind, lua_tostring(L, i), &err))
    luaL_error(L, "%s: %s", op, err.text);
}

/* At `i`: nothing, the name of a kind, or { kind =, bytes =, matrices =, offset = }. */
static void to_request (lua_State *L, int i, const char *op, mt_warp_access *how) {
  static const char *const keys[] = {"kind", "bytes", "matrices", "offset", NULL};
  if (lua_isnoneornil(L, i)) return;
  if (lmt_isstring(L, i)) {
    to_kind(L, i, op, how);
    return;
  }
  if (!lmt_istable(L, i))
    luaL_error(L, "%s: the name of an access or a table of options expected, got %s", op,
               lmt_kindname(L, i));
  lmt_checkkeys(L, i, op, keys);
  lua_getfield(L, i, "kind");
  if (!lua_isnil(L, -1)) to_kind(L, -1, op, how);
  lua_pop(L, 1);
  lua_Integer bytes = integer_option(L, i, op, "bytes");
  lua_Integer matrices = integer_option(L, i, op, "matrices");
  lua_Integer offset = integer_option(L, i, op, "offset");
  if (matrices && how->kind != MT_LDMATRIX && how->kind != MT_STMATRIX)
    luaL_error(L, "%s: matrices: ldmatrix and stmatrix move some, a %s moves none", op,
               mt_warp_access_name(how->kind));
  if (bytes) how->bytes = small(bytes);
  if (matrices) how->matrices = small(matrices);
  how->offset += offset;
}

/* ---------------------------------------------------------------- tiled copies */

static mt_copy_side to_side (lua_State *L, int i, const char *op) {
  const char *side = lmt_isstring(L, i) ? lua_tostring(L, i) : "";
  if (strcmp(side, "S") != 0 && strcmp(side, "D") != 0)
    luaL_error(L, "%s: \"S\" or \"D\", the side of the copy, expected, got %s", op,
               lua_isnone(L, i) ? "no value" : luaL_tolstring(L, i, NULL));
  return *side == 'S' ? MT_COPY_S : MT_COPY_D;
}

/* The accesses of one side: (Thr,(FrgV,FrgX),(RestM,RestN,...)) of `a`. */
static LMT_APART const mt_node *partition_of (lua_State *L, mt_layout *out,
                                              const mt_tiled_copy *c, mt_copy_side side,
                                              const mt_node *a) {
  LMT_NOERR(err);
  if (mt_copy_tidfrg(out, c, side, a, &err)) lmt_raise(L, &err);
  return out->node;
}

/* ---------------------------------------------------------------- results */

/* Sets the field `text` of the table on the top from format(buf, size, x). */
#define SET_TEXT(L, format, ...)                                                         \
  do {                                                                                   \
    luaL_Buffer text_;                                                                   \
    size_t n_ = format(NULL, 0, __VA_ARGS__);                                            \
    char *p_ = luaL_buffinitsize(L, &text_, n_ + 1);                                     \
    format(p_, n_ + 1, __VA_ARGS__);                                                     \
    luaL_pushresultsize(&text_, n_);                                                     \
    lua_setfield(L, -2, "text");                                                         \
  } while (0)

static void set_request (lua_State *L, const mt_warp_access *how) {
  lmt_settext(L, "kind", mt_warp_access_name(how->kind));
  lmt_setint(L, "bits", how->bits);
  lmt_setint(L, "bytes", how->bytes);
  if (how->matrices) lmt_setint(L, "matrices", how->matrices);
}

static int push_banks (lua_State *L, const mt_banks *b) {
  lua_newtable(L);
  set_request(L, &b->how);
  lmt_setint(L, "warps", b->warps);
  lmt_setint(L, "accesses", b->accesses);
  lmt_setint(L, "wavefronts", b->wavefronts);
  lmt_setint(L, "ideal", b->ideal);
  lmt_setint(L, "conflicts", b->conflicts);
  lmt_setint(L, "degree", b->degree);
  lua_newtable(L);
  lmt_setint(L, "warp", b->warp);
  lmt_setint(L, "value", b->value);
  lmt_setint(L, "wavefronts", b->worst);
  lmt_setint(L, "ideal", b->worst_ideal);
  lmt_setint(L, "bank", b->bank);
  lua_newtable(L);
  lua_newtable(L);
  for (int i = 0; i < b->ways; i++) {
    lua_pushinteger(L, b->at[i]);
    lua_rawseti(L, -2, i + 1);
    lua_pushinteger(L, b->thread[i]);
    lua_rawseti(L, -3, i + 1);
  }
  lua_setfield(L, -3, "elements");
  lua_setfield(L, -2, "threads");
  lua_setfield(L, -2, "worst");
  SET_TEXT(L, mt_banks_format, b);
  luaL_setmetatable(L, LMT_ANALYSIS);
  return 1;
}

static int push_sectors (lua_State *L, const mt_sectors *s) {
  lua_newtable(L);
  set_request(L, &s->how);
  lmt_setint(L, "warps", s->warps);
  lmt_setint(L, "accesses", s->accesses);
  lmt_setint(L, "sectors", s->sectors);
  lmt_setint(L, "ideal", s->ideal);
  lmt_setint(L, "lines", s->lines);
  lmt_setint(L, "useful_bytes", s->useful);
  lmt_setnumber(L, "efficiency",
                (double)s->useful / ((double)s->sectors * MT_SECTORBYTES));
  lmt_setnumber(L, "line_efficiency",
                (double)s->useful / ((double)s->lines * MT_LINEBYTES));
  lua_newtable(L);
  lmt_setint(L, "warp", s->warp);
  lmt_setint(L, "value", s->value);
  lmt_setint(L, "sectors", s->worst);
  lmt_setint(L, "ideal", s->worst_ideal);
  lua_setfield(L, -2, "worst");
  SET_TEXT(L, mt_sectors_format, s);
  luaL_setmetatable(L, LMT_ANALYSIS);
  return 1;
}

/* ---------------------------------------------------------------- functions */

static const mt_node *accesses_at_1 (lua_State *L, const char *op) {
  if (lmt_istiledmma(L, 1))
    luaL_error(L,
               "%s: a tiled MMA has no accesses of its own: give partition_A(layout), "
               "or a tiled copy by make_tiled_copy_A",
               op);
  return lmt_tocomposed(L, 1);
}

/* bank_conflicts(layout, bits | dtype [, kind | options]);
** bank_conflicts(copy, layout, "S" | "D" [, kind | options]) */
static int l_bank_conflicts (lua_State *L) {
  mt_layout room;
  mt_banks banks;
  const mt_node *a;
  mt_warp_access how = {0};
  LMT_NOERR(err);
  if (lmt_istiledcopy(L, 1)) {
    const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
    a = lmt_tocomposed(L, 2);
    mt_copy_side side = to_side(L, 3, "bank_conflicts");
    how = mt_access_of(c, side);
    a = partition_of(L, &room, c, side, a);
  } else {
    a = accesses_at_1(L, "bank_conflicts");
    LMT_COUNT(L, 3, "bank_conflicts", "A, bits [, kind]");
    how.bits = lmt_tobits(L, 2, NULL);
  }
  to_request(L, lmt_istiledcopy(L, 1) ? 4 : 3, "bank_conflicts", &how);
  lmt_listenhere(L, &err);
  if (mt_bank_conflicts(&banks, a, &how, &err)) return lmt_raise(L, &err);
  return push_banks(L, &banks);
}

static void of_tensor (lua_State *L, int i, mt_warp_access *how) {
  const lmt_tensor *t = lmt_totensor(L, i);
  int bits = 8 * (int)mt_dtype_size(t->dtype);
  if (how->bits && how->bits != bits)
    luaL_error(L, "coalescing: the tiled copy moves elements of %d bits, %s has %d",
               how->bits, mt_dtype_name(t->dtype), bits);
  how->bits = bits;
  how->offset = t->offset;
}

/* Whether the argument at 3 is a side of the copy at 1: S if nothing is said. */
static bool says_side (lua_State *L, mt_copy_side *side) {
  const char *name = lmt_isstring(L, 3) ? lua_tostring(L, 3) : "";
  *side = strcmp(name, "D") == 0 ? MT_COPY_D : MT_COPY_S;
  return *side == MT_COPY_D || strcmp(name, "S") == 0;
}

/* coalescing(layout, bits | dtype | tensor [, kind | options]): of a layout of accesses,
** in the memory of the tensor; coalescing(copy, tensor | layout [, "S" | "D"] [, ...]):
** of its partition; coalescing(view [, ...]): of a partition of a tensor. */
static int l_coalescing (lua_State *L) {
  mt_layout room;
  mt_sectors sectors;
  const mt_node *a;
  mt_warp_access how = {0};
  int more = 3;
  LMT_NOERR(err);
  if (lmt_istiledcopy(L, 1)) {
    const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
    mt_copy_side side;
    more += says_side(L, &side);
    how = mt_access_of(c, side);
    a = partition_of(L, &room, c, side, lmt_tocomposed(L, 2));
    if (lmt_isclass(L, 2, LMT_TENSOR)) of_tensor(L, 2, &how);
  } else {
    a = accesses_at_1(L, "coalescing");
    if (lmt_isclass(L, 1, LMT_TENSOR)) of_tensor(L, 1, &how), more = 2;
    else if (lmt_isclass(L, 2, LMT_TENSOR)) of_tensor(L, 2, &how);
    else how.bits = lmt_tobits(L, 2, NULL);
  }
  LMT_COUNT(L, more, "coalescing",
            more == 2 ? "view [, kind]" :
            more == 4 ? "copy, tensor, side [, kind]" :
                        "A | copy, bits | tensor [, kind]");
  to_request(L, more, "coalescing", &how);
  lmt_listenhere(L, &err);
  if (mt_coalescing(&sectors, a, &how, &err)) return lmt_raise(L, &err);
  return push_sectors(L, &sectors);
}

/* ---------------------------------------------------------------- the best swizzle */

/* { name =, write =, read =, wavefronts =, extra_bytes =, layout = } */
static void push_candidate (lua_State *L, const mt_node *smem, const mt_candidate *c) {
  char name[64];
  mt_layout out;
  LMT_NOERR(err);
  mt_candidate_name(name, sizeof name, c);
  if (mt_candidate_layout(&out, smem, c, &err)) lmt_raise(L, &err);
  lua_createtable(L, 0, 6);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "name");
  lmt_setint(L, "write", c->write);
  lmt_setint(L, "read", c->read);
  lmt_setint(L, "wavefronts", c->write + c->read);
  lmt_setint(L, "extra_bytes", c->extra);
  lmt_pushvalue(L, out.node);
  lua_setfield(L, -2, "layout");
}

/* The indices of tv are elements of smem. */
static void check_inside (lua_State *L, const char *what, const mt_node *tv,
                          const mt_node *smem) {
  int64_t end, first;
  LMT_NOERR(err);
  if (mt_footprint(&first, &end, tv, &err)) return; /* an error there */
  if (end <= mt_size(smem)) return;
  lmt_pushtext(L, tv);
  lmt_pushtext(L, smem);
  luaL_error(L, "%s: %s reaches index %I, smem %s has %I elements", what,
             lua_tostring(L, -2), (LUAI_UACINT)(end - 1), lua_tostring(L, -1),
             (LUAI_UACINT)mt_size(smem));
}

/* The option `write` or `read`: (thread, value) -> index in smem, or a tiled copy. NULL
** if it is absent. */
static const mt_node *side_option (lua_State *L, const char *key, mt_copy_side side,
                                   const mt_node *smem, mt_layout *buf,
                                   mt_warp_access *how) {
  mt_layout index, shape;
  LMT_NOERR(err);
  lua_getfield(L, 1, key);
  if (lua_isnil(L, -1)) return NULL;
  if (!lmt_istiledcopy(L, -1)) {
    const char *what = lua_pushfstring(L, "find_swizzle: %s", key);
    const mt_node *tv = lmt_tovalue(L, -2, LMT_LAYOUTS, what, buf);
    check_inside(L, what, tv, smem);
    return tv;
  }
  const mt_tiled_copy *c = lmt_totiledcopy(L, -1);
  *how = mt_access_of(c, side);
  if (mt_shape(&shape, smem, &err) || mt_layout_left(&index, shape.node, &err))
    lmt_raise(L, &err);
  return partition_of(L, buf, c, side, index.node);
}

/* The dtype or the number of bits on the top; those of a tiled copy, where there is one,
** are the same. */
static int given_bits (lua_State *L, int of_copy) {
  if (!lmt_isstring(L, -1) && !lua_isinteger(L, -1))
    luaL_error(L, "find_swizzle: dtype = \"f16\" or bits = 16 expected");
  int bits = lmt_tobits(L, -1, NULL);
  if (of_copy && bits != of_copy)
    luaL_error(L, "find_swizzle: the tiled copy moves elements of %d bits, %s has %d",
               of_copy, luaL_tolstring(L, -1, NULL), bits);
  return bits;
}

/* The bits of an element: `dtype` or `bits`, or those of a tiled copy. */
static void bits_option (lua_State *L, mt_swizzle_query *q) {
  int bits = q->write_how.bits ? q->write_how.bits : q->read_how.bits;
  lua_getfield(L, 1, "bits");
  lua_getfield(L, 1, "dtype");
  if (!lua_isnil(L, -2) && !lua_isnil(L, -1))
    luaL_error(L, "find_swizzle: dtype or bits, not both");
  if (lua_isnil(L, -1)) lua_pop(L, 1);
  if (!lua_isnil(L, -1)) bits = given_bits(L, bits);
  else if (bits == 0)
    luaL_error(L, "find_swizzle: dtype = \"f16\" or bits = 16 expected");
  if (q->write_how.bits == 0) q->write_how.bits = bits;
  if (q->read_how.bits == 0) q->read_how.bits = bits;
}

/* The kind or the options of one side, which is to be there. */
static void how_option (lua_State *L, const char *side, const mt_node *tv,
                        mt_warp_access *how) {
  const char *key = lua_pushfstring(L, "%s_kind", side);
  lua_getfield(L, 1, key);
  to_request(L, lua_gettop(L), "find_swizzle", how);
  if (tv == NULL && !lua_isnil(L, -1))
    luaL_error(L, "find_swizzle: %s: there is no %s", key, side);
}

/* find_swizzle{ smem = layout, write = TV | copy, read = TV | copy, bits = n | dtype =
** [, write_kind = kind | options, read_kind = ...] } -> the layout, the table of all. */
static int l_find_swizzle (lua_State *L) {
  static const char *const keys[] = {"smem",  "write",      "read",      "bits",
                                     "dtype", "write_kind", "read_kind", NULL};
  enum { SMEM, WRITE, READ };
  mt_swizzle_query q = {.write_how.kind = MT_WRITE, .read_how.kind = MT_READ};
  int n;
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "find_swizzle", keys);
  mt_candidate *list = lua_newuserdatauv(L, MT_MAXCANDIDATES * sizeof *list, 0);
  mt_layout *arg = lua_newuserdatauv(L, (READ + 1) * sizeof *arg, 0);
  lua_getfield(L, 1, "smem");
  q.smem = lmt_tovalue(L, -1, LMT_LAYOUTS, "find_swizzle: smem", &arg[SMEM]);
  q.write = side_option(L, "write", MT_COPY_D, q.smem, &arg[WRITE], &q.write_how);
  q.read = side_option(L, "read", MT_COPY_S, q.smem, &arg[READ], &q.read_how);
  bits_option(L, &q);
  how_option(L, "write", q.write, &q.write_how);
  how_option(L, "read", q.read, &q.read_how);
  lmt_listenhere(L, &err);
  if (mt_find_swizzle(list, &n, &q, &err)) return lmt_raise(L, &err);
  lua_createtable(L, n, 1);
  for (int i = 0; i < n; i++) {
    push_candidate(L, q.smem, &list[i]);
    lua_rawseti(L, -2, i + 1);
  }
  SET_TEXT(L, mt_candidates_format, list, n);
  luaL_setmetatable(L, LMT_ANALYSIS);
  lua_rawgeti(L, -1, 1);
  lua_getfield(L, -1, "layout");
  lua_replace(L, -2);
  lua_insert(L, -2);
  return 2;
}

/* ---------------------------------------------------------------- registration */

static int analysis_tostring (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "text");
  return 1;
}

/* Of bank conflicts and of sectors; of descriptors and of boxes of TMA. */
static const char *const analysis_fields[] = {"text",
                                              "kind",
                                              "bits",
                                              "bytes",
                                              "matrices",
                                              "warps",
                                              "accesses",
                                              "wavefronts",
                                              "ideal",
                                              "conflicts",
                                              "degree",
                                              "worst",
                                              "sectors",
                                              "lines",
                                              "useful_bytes",
                                              "efficiency",
                                              "line_efficiency",
                                              "mode",
                                              "major",
                                              "lbo",
                                              "sbo",
                                              "ok",
                                              "why",
                                              "rank",
                                              "dims",
                                              "strides",
                                              "box",
                                              "steps",
                                              "swizzle",
                                              "boxes",
                                              "multicast",
                                              "align",
                                              "coords",
                                              "elements",
                                              NULL};

static const luaL_Reg analysis_meta[] = {{"__tostring", analysis_tostring}, {NULL, NULL}};

#define ROWS_ANALYSIS
#include "binding/rows.h"

void lmt_open_analysis (lua_State *L) {
  lmt_setmeta(L, LMT_ANALYSIS, analysis_meta);
  lmt_setfields(L, LMT_ANALYSIS, analysis_fields);
  lmt_addrows(L, rows);
}
