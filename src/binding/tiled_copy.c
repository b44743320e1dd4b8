/*
** tiled_copy.c - tiled copies in Lua: who copies what, and the partitions that follow
** from it.
** SPDX-License-Identifier: MIT
*/
#include "binding/atom.h"
#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/plan.h"
#include "binding/thread.h"
#include "binding/view.h"

bool lmt_istiledcopy (lua_State *L, int i) {
  return lmt_marked(L, i, LMT_COPIES) != NULL;
}

/* Its user value 1: the text that makes it again. */
mt_tiled_copy *lmt_totiledcopy (lua_State *L, int i) {
  return luaL_checkudata(L, i, LMT_TILEDCOPY);
}

typedef struct numbered {
  mt_tiled_copy copy;
  uint64_t number;
} numbered;

uint64_t lmt_copynumber (lua_State *L, int i) {
  return ((numbered *)luaL_checkudata(L, i, LMT_TILEDCOPY))->number;
}

/* ---------------------------------------------------------------- for MMAs too */

int lmt_endextents (lua_State *L, const mt_node *tuple) {
  const char *sep = "";
  for (const mt_node *c = mt_child(tuple); c < mt_next(tuple); c = mt_next(c)) {
    lua_pushfstring(L, "%s%s%I", lua_tostring(L, -1), sep, (LUAI_UACINT)mt_size(c));
    lua_remove(L, -2);
    sep = "x";
  }
  return 1;
}

/* ---------------------------------------------------------------- making */

/* Pushes the option `key` of the table at 1. */
static void option (lua_State *L, const char *key) { lua_getfield(L, 1, key); }

/* A layout, or a shape; it stays on the stack. */
static const mt_node *layout_option (lua_State *L, const char *key, mt_layout *buf) {
  const char *what = lua_pushfstring(L, "tiled_copy: %s", key);
  option(L, key);
  return lmt_toshaped(L, -1, what, buf);
}

/* Bits of a value: a number, the name of a dtype, else those of the copy atom at `atom`
** if it is in values, else `other`; 0: none. */
static int bits_at (lua_State *L, int i, int atom, int other) {
  int isint;
  lua_Integer bits = lua_tointegerx(L, i, &isint);
  if (lmt_isstring(L, i)) return 8 * (int)mt_dtype_size(lmt_todtype(L, i));
  if (isint) return bits < 1 || bits > 1024 ? 0 : (int)bits;
  if (!lua_isnoneornil(L, i)) return 0;
  if (lmt_isclass(L, atom, LMT_COPYATOM) && lmt_tocopyatom(L, atom)->bits > 1)
    return lmt_tocopyatom(L, atom)->bits;
  return other;
}

/* The bits of an element, from `dtype` or `bits`, else those of the atom at 2. */
static int bits_option (lua_State *L) {
  option(L, "dtype");
  option(L, "bits");
  if (!lua_isnil(L, -2) && !lua_isnil(L, -1))
    luaL_error(L, "tiled_copy: dtype or bits, not both");
  if (!lua_isnil(L, -2)) return 8 * (int)mt_dtype_size(lmt_todtype(L, -2));
  int bits = lmt_isstring(L, -1) ? 0 : bits_at(L, -1, 2, 0);
  if (bits == 0) luaL_error(L, "tiled_copy: dtype = \"f32\" or bits = 32 expected");
  return bits;
}

static bool is_own (lua_State *L, int i) {
  return lmt_isclass(L, i, LMT_COPYATOM) && lmt_tocopyatom(L, i)->own;
}

/* The name of the atom at `i`: a name or a copy atom. In the place of one's own: one that
** takes any threads and values, until by_own. */
static const char *name_at (lua_State *L, int i, const char *what) {
  if (is_own(L, i)) return "DefaultCopy";
  if (lmt_isclass(L, i, LMT_COPYATOM)) return lmt_tocopyatom(L, i)->name;
  if (!lmt_isstring(L, i))
    luaL_error(L, "%s: atom: a copy atom or the name of one expected, got %s%s", what,
               lmt_kindname(L, i), lua_isnil(L, i) ? "" : lmt_takes(L));
  return lua_tostring(L, i);
}

/* Puts one's own atom at `i`, if it is that, into its place. */
static mt_status by_own (lua_State *L, int i, mt_tiled_copy *c, mt_err *err) {
  return is_own(L, i) ? mt_tiled_copy_by(c, lmt_tocopyatom(L, i), c->bits, err) : MT_OK;
}

/* Pushes a tiled copy to be filled. */
static mt_tiled_copy *new_copy (lua_State *L) {
  numbered *c = lua_newuserdatauv(L, sizeof *c, 1);
  c->number = ++lmt_pushstate(L)->copies;
  lua_pop(L, 1);
  return &c->copy;
}

/* The copy below the text on the top is done: it makes it again. */
static int finish (lua_State *L) {
  const mt_tiled_copy *c = &((numbered *)lua_touserdata(L, -2))->copy;
  const mt_node *with[] = {c->thr.node, c->val.node, c->layout_tv.node, c->tiler.node};
  lmt_keepall(L, -2, 4, with);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, LMT_TILEDCOPY);
  return 1;
}

/* The same with the text of an atom, its bits and the two values that `format` names. */
static int finish_with (lua_State *L, const mt_tiled_copy *c, const char *format,
                        const mt_node *x, const mt_node *y) {
  lmt_pushtext(L, x);
  lmt_pushtext(L, y);
  lmt_pushcopyatom(L, &c->atom, false);
  lua_pushfstring(L, "tile.tiled_copy{ atom = %s, bits = %d, ", lua_tostring(L, -1),
                  c->bits);
  lua_replace(L, -2);
  lua_pushfstring(L, format, lua_tostring(L, -3), lua_tostring(L, -2));
  lua_concat(L, 2);
  lua_replace(L, -3);
  lua_pop(L, 1);
  return finish(L);
}

static bool has_option (lua_State *L, const char *key) {
  option(L, key);
  bool has = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return has;
}

/* The atom is at 2. */
static int tiled_copy_of_tv (lua_State *L, const char *atom) {
  mt_layout tv_buf, tiler_buf;
  LMT_NOERR(err);
  if (has_option(L, "thr") || has_option(L, "val"))
    luaL_error(L, "tiled_copy: tv and tiler, or thr and val, not both");
  const mt_node *tv = layout_option(L, "tv", &tv_buf);
  option(L, "tiler");
  const mt_node *tiler =
      lmt_tovalue(L, -1, LMT_SHAPE | LMT_LAYOUTS, "tiled_copy: tiler", &tiler_buf);
  int bits = bits_option(L);
  mt_tiled_copy *c = new_copy(L);
  if (mt_make_tiled_copy_tv(c, atom, bits, tv, tiler, &err) || by_own(L, 2, c, &err))
    return lmt_raiseas(L, "make_tiled_copy", "tiled_copy", &err);
  return finish_with(L, c, "tv = tile.layout \"%s\", tiler = tile.parse \"%s\" }", tv,
                     tiler);
}

/* tiled_copy{ atom = "UniversalCopy<uint128_t>" | copy atom, dtype = "f32" | bits = 32,
** thr = layout [, val = layout] | tv = layout, tiler = extents or layouts } */
static int l_tiled_copy (lua_State *L) {
  static const char *const keys[] = {"atom", "dtype", "bits",  "thr",
                                     "val",  "tv",    "tiler", NULL};
  mt_layout thr_buf, val_buf = {{{.tag = MT_LEAF, .span = 1, .shape = 1}}};
  mt_layout listed[2];
  const mt_node *thr, *val = val_buf.node;
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "tiled_copy", keys);
  option(L, "atom");
  const char *atom = name_at(L, 2, "tiled_copy");
  if (has_option(L, "tv") || has_option(L, "tiler")) return tiled_copy_of_tv(L, atom);
  thr = layout_option(L, "thr", &thr_buf);
  option(L, "val");
  if (!lua_isnil(L, -1)) val = layout_option(L, "val", &val_buf);
  int bits = bits_option(L);
  const mt_node *t = lmt_tonumbering(L, thr, &listed[0]);
  const mt_node *v = lmt_tonumbering(L, val, &listed[1]);
  mt_tiled_copy *c = new_copy(L);
  if (mt_make_tiled_copy(c, atom, bits, t, v, &err) || by_own(L, 2, c, &err))
    return lmt_raiseas(L, "make_tiled_copy", "tiled_copy", &err);
  return finish_with(L, c, "thr = tile.layout \"%s\", val = tile.layout \"%s\" }", thr,
                     val);
}

/* make_layout_tv(thr, val) -> the tiler, (thread,value) -> place in it */
static int l_make_layout_tv (lua_State *L) {
  mt_layout thr, val, listed[2], tv, tiler;
  LMT_NOERR(err);
  const mt_node *t = lmt_toshaped(L, 1, "make_layout_tv: thr", &thr);
  const mt_node *v = lmt_toshaped(L, 2, "make_layout_tv: val", &val);
  t = lmt_tonumbering(L, t, &listed[0]);
  v = lmt_tonumbering(L, v, &listed[1]);
  if (mt_make_layout_tv(&tv, &tiler, t, v, &err)) return lmt_raise(L, &err);
  lmt_pushvalue(L, tiler.node);
  return 1 + lmt_pushvalue(L, tv.node);
}

/* op(atom, of [, bits]): the text on the top makes `of` again. */
static int finish_as (lua_State *L, const char *op, const mt_tiled_copy *c) {
  lmt_pushcopyatom(L, &c->atom, true);
  lua_pushfstring(L, "tile.%s(%s, %s)", op, lua_tostring(L, -1), lua_tostring(L, -2));
  lua_replace(L, -3);
  lua_pop(L, 1);
  return finish(L);
}

static int copy_of_mma (lua_State *L, const char *op, mt_mma_part x) {
  static const int operand[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
  LMT_NOERR(err);
  lua_settop(L, 3);
  const char *atom = name_at(L, 1, op);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 2);
  int bits = mt_element_bits(mma->atom.op.operand[operand[x]].element);
  bits = bits_at(L, 3, 1, bits);
  luaL_argcheck(L, bits > 0, 3, "1 to 1024 bits, or the name of a dtype");
  mt_tiled_copy *c = new_copy(L);
  if (mt_make_tiled_copy_mma(c, atom, bits, mma, x, &err) || by_own(L, 1, c, &err))
    return lmt_raiseas(L, "make_tiled_copy", op, &err);
  lmt_pushmmatext(L, mma);
  return finish_as(L, op, c);
}

/* make_tiled_copy_A(atom, mma [, bits | dtype]): brings A to the threads that need it */
static int l_copy_A (lua_State *L) {
  return copy_of_mma(L, "make_tiled_copy_A", MT_PART_A);
}
static int l_copy_B (lua_State *L) {
  return copy_of_mma(L, "make_tiled_copy_B", MT_PART_B);
}
static int l_copy_C (lua_State *L) {
  return copy_of_mma(L, "make_tiled_copy_C", MT_PART_C);
}

static int copy_of_copy (lua_State *L, const char *op, mt_copy_side side) {
  LMT_NOERR(err);
  lua_settop(L, 3);
  const char *atom = name_at(L, 1, op);
  const mt_tiled_copy *of = lmt_totiledcopy(L, 2);
  int bits = bits_at(L, 3, 1, of->bits);
  luaL_argcheck(L, bits > 0, 3, "1 to 1024 bits, or the name of a dtype");
  mt_tiled_copy *c = new_copy(L);
  if (mt_make_tiled_copy_side(c, atom, bits, of, side, &err) || by_own(L, 1, c, &err))
    return lmt_raiseas(L, "make_tiled_copy", op, &err);
  lua_getiuservalue(L, 2, 1);
  return finish_as(L, op, c);
}

/* make_tiled_copy_S(atom, copy [, bits | dtype]): by another atom, what `copy` reads */
static int l_copy_S (lua_State *L) {
  return copy_of_copy(L, "make_tiled_copy_S", MT_COPY_S);
}
static int l_copy_D (lua_State *L) {
  return copy_of_copy(L, "make_tiled_copy_D", MT_COPY_D);
}

/* ---------------------------------------------------------------- asking */

static int tc_atom (lua_State *L) {
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  *(mt_copy_atom *)lua_newuserdatauv(L, sizeof c->atom, 0) = c->atom;
  luaL_setmetatable(L, LMT_COPYATOM);
  return 1;
}
static int tc_tiled_layout_TV (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledcopy(L, 1)->layout_tv.node);
}

static int tc_tiler_MN (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledcopy(L, 1)->tiler.node);
}

static lua_Integer threads_of (const mt_tiled_copy *c) { return mt_tiled_copy_size(c); }

static int tc_size (lua_State *L) {
  lua_pushinteger(L, threads_of(lmt_totiledcopy(L, 1)));
  return 1;
}

static int push_tv (lua_State *L, mt_copy_side side) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_copy_tv(&out, lmt_totiledcopy(L, 1), side, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node); /* (Thr,(FrgV,FrgX)) */
}

static int tc_layout_S_TV (lua_State *L) { return push_tv(L, MT_COPY_S); }
static int tc_layout_D_TV (lua_State *L) { return push_tv(L, MT_COPY_D); }

/* copy:partition(A): (Thr,Val,(RestM,RestN,...)) of a layout, or as a view of a tensor.
** */
static int tc_partition (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_partition(&out, c, a, &err)) return lmt_raise(L, &err);
  return lmt_pushdivided(L, 2, a, c->tiler.node, out.node);
}

static const char *const partition_name[] = {"partition_S", "partition_D"};
static int tidfrg (lua_State *L, mt_copy_side side) {
  mt_layout out, buf;
  LMT_NOERR(err);
  const mt_node *base = lmt_tobase(L, 2, &buf);
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_copy_tidfrg(&out, c, side, a, &err))
    return lmt_raiseas(L, "partition", partition_name[side], &err);
  int n = lmt_pushdivided(L, 2, a, c->tiler.node, out.node);
  return base ? n + lmt_pushvalue(L, base) : n;
}

/* copy:partition_S(A [, offset]): (Thr,(FrgV,FrgX),(RestM,RestN,...)), what each thread
** reads */
static int tc_partition_S (lua_State *L) { return tidfrg(L, MT_COPY_S); }
static int tc_partition_D (lua_State *L) { return tidfrg(L, MT_COPY_D); }

/* copy:retile_D(x): what a thread has, (V,M,N,...), in the order of this copy; of a
** tensor a view. A layout stands for a compact fragment of its shape, which begins at the
** offset 0. */
static const mt_tiled_copy *any_copy (lua_State *L);

/* Of a layout as it is, not as a fragment. */
static int retile_ordinate (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_copy_retile(&out, any_copy(L), lmt_tolayout(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

static int retile (lua_State *L, const mt_tiled_copy *c, const char *op) {
  mt_layout frg, out;
  LMT_NOERR(err);
  const mt_node *a = lmt_tolayout(L, 2);
  bool view = lmt_isclass(L, 2, LMT_TENSOR);
  if (!view && mt_layout_left(&frg, a, &err)) return lmt_raise(L, &err);
  if (mt_copy_retile(&out, c, view ? a : frg.node, &err))
    return lmt_raiseas(L, "retile", op, &err);
  if (view) return lmt_pushcut(L, 2, out.node, 0, &(lmt_cut){.again = retile_ordinate});
  lmt_pushvalue(L, out.node);
  lua_pushinteger(L, 0);
  return 2;
}

static int tc_retile_S (lua_State *L) {
  return retile(L, lmt_totiledcopy(L, 1), "retile_S");
}
static int tc_retile_D (lua_State *L) {
  return retile(L, lmt_totiledcopy(L, 1), "retile_D");
}

/* Text that makes the same tiled copy again, and what it is. */
static int tc_tostring (lua_State *L) {
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_pushfstring(L, "%s  -- %I threads, ", lua_tostring(L, -1),
                  (LUAI_UACINT)threads_of(c));
  return lmt_endextents(L, c->tiler.node);
}

/* ---------------------------------------------------------------- one thread of it */

/* copy:get_slice(thr), thr from 0 */
static int tc_get_slice (lua_State *L) {
  const mt_tiled_copy *c = lmt_totiledcopy(L, 1);
  return lmt_pushthread(L, LMT_THRCOPY, c, threads_of(c));
}

static const mt_tiled_copy *copy_of (lua_State *L) {
  return lmt_tothread(L, LMT_THRCOPY)->tiled;
}

/* A tiled copy, or that which a slice is of. */
static const mt_tiled_copy *any_copy (lua_State *L) {
  return lmt_istiledcopy(L, 1) ? lmt_totiledcopy(L, 1) : copy_of(L);
}

static LMT_APART void part_of (lua_State *L, mt_layout *part, mt_layout *offset,
                               const lmt_thread *t, mt_copy_side side) {
  LMT_NOERR(err);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_copy_partition(part, offset, t->tiled, side, a, t->thr, &err))
    lmt_raiseas(L, "partition", partition_name[side], &err);
}

static int thr_partition (lua_State *L, mt_copy_side side) {
  mt_layout part, offset, buf;
  const mt_node *base = lmt_tobase(L, 2, &buf);
  part_of(L, &part, &offset, lmt_tothread(L, LMT_THRCOPY), side);
  return lmt_pushpartfrom(L, 2, part.node, offset.node, copy_of(L)->tiler.node, base);
}

/* slice:partition_S(A [, offset]) -> ((FrgV,FrgX),RestM,RestN,...), offset; of a tensor a
** view. */
static int thr_partition_S (lua_State *L) { return thr_partition(L, MT_COPY_S); }
static int thr_partition_D (lua_State *L) { return thr_partition(L, MT_COPY_D); }

static int thr_retile_S (lua_State *L) { return retile(L, copy_of(L), "retile_S"); }
static int thr_retile_D (lua_State *L) { return retile(L, copy_of(L), "retile_D"); }

static int thr_tostring (lua_State *L) {
  const lmt_thread *t = lmt_tothread(L, LMT_THRCOPY);
  return lmt_pushthreadtext(L, t, "copy", copy_of(L)->atom.name);
}

/* ---------------------------------------------------------------- registration */

#define ROWS_TILE
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__tostring", tc_tostring}, {NULL, NULL}};
static const luaL_Reg thr_meta[] = {{"__tostring", thr_tostring}, {NULL, NULL}};

void lmt_open_tile (lua_State *L) {
  lmt_setmeta(L, LMT_TILEDCOPY, meta);
  lmt_setmeta(L, LMT_THRCOPY, thr_meta);
  lmt_addrows(L, rows);
}
