/*
** tiled_mma.c - tiled MMAs in Lua: which thread computes what, and the partitions of the
** operands.
** SPDX-License-Identifier: MIT
*/
#include "binding/atom.h"
#include "binding/listed.h"
#include "binding/thread.h"
#include "binding/view.h"

bool lmt_istiledmma (lua_State *L, int i) { return lmt_isclass(L, i, LMT_TILEDMMA); }

const mt_tiled_mma *lmt_totiledmma (lua_State *L, int i) {
  return luaL_checkudata(L, i, LMT_TILEDMMA);
}

/* ---------------------------------------------------------------- making */

/* The layout in the option `atoms`; NULL if there is none. */
static const mt_node *atoms_option (lua_State *L, mt_layout *buf) {
  lua_getfield(L, 1, "atoms");
  if (lua_isnil(L, -1)) return NULL;
  return lmt_toshaped(L, -1, "tiled_mma: atoms", buf);
}

static const mt_node *permutation_option (lua_State *L, mt_layout *buf) {
  lua_getfield(L, 1, "permutation");
  return lua_isnil(L, -1) ? NULL : lmt_totiler(L, -1, buf);
}

/* tiled_mma{ atom = name | MMA atom [, atoms = layout] [, permutation = tiler] } */
static int l_tiled_mma (lua_State *L) {
  static const char *const keys[] = {"atom", "atoms", "permutation", NULL};
  mt_layout atoms, permutation, listed;
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "tiled_mma", keys);
  lua_getfield(L, 1, "atom");
  if (lmt_isstring(L, 2) && lmt_pushhostatom(L, lua_tostring(L, 2), LMT_MMAATOM))
    lua_replace(L, 2);
  bool named = lmt_isstring(L, 2);
  if (!named && !lmt_isclass(L, 2, LMT_MMAATOM))
    return luaL_error(L, "tiled_mma: atom: an MMA atom or the name of one expected");
  const mt_node *a = atoms_option(L, &atoms), *p = permutation_option(L, &permutation);
  if (a) a = lmt_tonumbering(L, a, &listed);
  mt_tiled_mma *mma = lua_newuserdatauv(L, sizeof *mma, 0);
  if (named ? mt_make_tiled_mma(mma, lua_tostring(L, 2), a, p, &err) :
              mt_make_tiled_mma_of(mma, lmt_tommaatom(L, 2), a, p, &err))
    return lmt_raiseas(L, "make_tiled_mma", "tiled_mma", &err);
  const mt_node *with[] = {mma->atoms.node, mma->permutation.node, mma->thr_vmnk.node,
                           mma->thr_index.node};
  lmt_keepall(L, -1, 4, with);
  luaL_setmetatable(L, LMT_TILEDMMA);
  return 1;
}

/* ---------------------------------------------------------------- asking */

static int tm_atom (lua_State *L) {
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  *(mt_mma_atom *)lua_newuserdatauv(L, sizeof mma->atom, 0) = mma->atom;
  luaL_setmetatable(L, LMT_MMAATOM);
  return 1;
}
static int tm_atoms (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledmma(L, 1)->atoms.node);
}
static int tm_permutation (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledmma(L, 1)->permutation.node);
}
static int tm_thr_layout_VMNK (lua_State *L) {
  return lmt_pushvalue(L, lmt_totiledmma(L, 1)->thr_vmnk.node);
}

/* All three extents, or that of one mode: 1 is M, 2 N, 3 K. */
static int tm_tile_shape (lua_State *L) {
  mt_layout shape;
  LMT_NOERR(err);
  if (!lua_isnoneornil(L, 2)) {
    const lua_Integer mode = luaL_checkinteger(L, 2);
    if (mode < 1 || mode > 3)
      return luaL_error(L, "%s: mode %I: 1 is M, 2 is N, 3 is K",
                        lmt_calledas(L, "tile_size", "tile_shape"), (LUAI_UACINT)mode);
    return lua_pushinteger(L, lmt_totiledmma(L, 1)->tile[mode - 1]), 1;
  }
  if (mt_ints(&shape, 3, lmt_totiledmma(L, 1)->tile, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, shape.node);
}

static int tm_size (lua_State *L) {
  lua_pushinteger(L, mt_tiled_mma_size(lmt_totiledmma(L, 1)));
  return 1;
}

static int layout_tv (lua_State *L, mt_mma_part x) {
  static const int axis[][2] = {{0, 2}, {1, 2}, {0, 1}};
  mt_layout shape, compact, out;
  LMT_NOERR(err);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  const int64_t tile[] = {mma->tile[axis[x][0]], mma->tile[axis[x][1]]};
  if (mt_ints(&shape, 2, tile, &err) || mt_layout_left(&compact, shape.node, &err) ||
      mt_mma_tv(&out, mma, x, compact.node, &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node); /* (thread,(FrgV,(RestX,RestY))) */
}

static int tm_layout_A_TV (lua_State *L) { return layout_tv(L, MT_PART_A); }
static int tm_layout_B_TV (lua_State *L) { return layout_tv(L, MT_PART_B); }
static int tm_layout_C_TV (lua_State *L) { return layout_tv(L, MT_PART_C); }

/* The extents of an operand's tile. */
static LMT_APART const mt_node *tile_of (mt_layout *out, const mt_tiled_mma *mma,
                                         mt_mma_part x) {
  const int64_t *n = mma->tile;
  const int64_t both[][2] = {{n[0], n[2]}, {n[1], n[2]}, {n[0], n[1]}};
  mt_err err = MT_NOERR;
  mt_ints(out, 2, both[x], &err);
  return out->node;
}

static int thrfrg (lua_State *L, mt_mma_part x) {
  static const char *const name[] = {"thrfrg_A", "thrfrg_B", "thrfrg_C"};
  mt_layout tile, out;
  LMT_NOERR(err);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_mma_thrfrg(&out, mma, x, a, &err))
    return lmt_raiseas(L, "partition", name[x], &err);
  return lmt_pushdivided(L, 2, a, tile_of(&tile, mma, x), out.node);
}

/* mma:thrfrg_A(x): ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK,...))); of a tensor a view */
static int tm_thrfrg_A (lua_State *L) { return thrfrg(L, MT_PART_A); }
static int tm_thrfrg_B (lua_State *L) { return thrfrg(L, MT_PART_B); }
static int tm_thrfrg_C (lua_State *L) { return thrfrg(L, MT_PART_C); }

static const char *const partition_name[] = {"partition_A", "partition_B", "partition_C"};
static int partition (lua_State *L, mt_mma_part x) {
  mt_layout tile, out, buf;
  LMT_NOERR(err);
  const mt_node *base = lmt_tobase(L, 2, &buf);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_mma_tvr(&out, mma, x, a, &err))
    return lmt_raiseas(L, "partition", partition_name[x], &err);
  int n = lmt_pushdivided(L, 2, a, tile_of(&tile, mma, x), out.node);
  return base ? n + lmt_pushvalue(L, base) : n;
}

/* mma:partition_A(x [, offset]): (thread,FrgV,(RestM,RestK,...)); of a tensor a view */
static int tm_partition_A (lua_State *L) { return partition(L, MT_PART_A); }
static int tm_partition_B (lua_State *L) { return partition(L, MT_PART_B); }
static int tm_partition_C (lua_State *L) { return partition(L, MT_PART_C); }

static int partition_shape (lua_State *L, mt_mma_part x) {
  static const char *const name[] = {"partition_shape_A", "partition_shape_B",
                                     "partition_shape_C"};
  mt_layout buf, compact, part, offset, out;
  LMT_NOERR(err);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  const mt_node *shape = lmt_tovalue(L, 2, LMT_SHAPE, "shape", &buf);
  if (mt_layout_left(&compact, shape, &err) ||
      mt_mma_partition(&part, &offset, mma, x, compact.node, 0, &err) ||
      mt_shape(&out, part.node, &err))
    return lmt_raiseas(L, "partition", name[x], &err);
  return lmt_pushvalue(L, out.node); /* (FrgV,RestX,RestY,...) */
}

static int tm_shape_A (lua_State *L) { return partition_shape(L, MT_PART_A); }
static int tm_shape_B (lua_State *L) { return partition_shape(L, MT_PART_B); }
static int tm_shape_C (lua_State *L) { return partition_shape(L, MT_PART_C); }

int lmt_pushmmatext (lua_State *L, const mt_tiled_mma *mma) {
  bool all = true;
  for (int i = 0; i < 3; i++)
    all = all && mt_mode(mma->permutation.node, i)->tag == MT_WILD;
  lmt_pushmmaatom(L, &mma->atom);
  lmt_pushtext(L, mma->atoms.node);
  lua_pushfstring(L, "tile.tiled_mma{ atom = %s, atoms = tile.layout \"%s\"",
                  lua_tostring(L, -2), lua_tostring(L, -1));
  lua_replace(L, -3);
  lua_pop(L, 1);
  lmt_pushtext(L, mma->permutation.node);
  lua_pushfstring(L, all ? "%s }" : "%s, permutation = tile.parse \"%s\" }",
                  lua_tostring(L, -2), lua_tostring(L, -1));
  lua_replace(L, -3);
  lua_pop(L, 1);
  return 1;
}

/* Text that makes the same tiled MMA again, and what it is. */
static int tm_tostring (lua_State *L) {
  mt_layout tile;
  LMT_NOERR(err);
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  if (mt_ints(&tile, 3, mma->tile, &err)) return lmt_raise(L, &err);
  lmt_pushmmatext(L, mma);
  lua_pushfstring(L, "%s  -- %I threads, ", lua_tostring(L, -1),
                  (LUAI_UACINT)mt_tiled_mma_size(mma));
  return lmt_endextents(L, tile.node);
}

/* ---------------------------------------------------------------- one thread of it */

/* mma:get_slice(thr), thr from 0 */
static int tm_get_slice (lua_State *L) {
  const mt_tiled_mma *mma = lmt_totiledmma(L, 1);
  return lmt_pushthread(L, LMT_THRMMA, mma, mt_tiled_mma_threads(mma));
}

static LMT_APART void part_of (lua_State *L, mt_layout *part, mt_layout *offset,
                               const lmt_thread *t, mt_mma_part x) {
  LMT_NOERR(err);
  const mt_node *a = lmt_tocomposed(L, 2);
  if (mt_mma_partition(part, offset, t->tiled, x, a, t->thr, &err))
    lmt_raiseas(L, "partition", partition_name[x], &err);
}

static int thr_partition (lua_State *L, mt_mma_part x) {
  mt_layout tile, part, offset, buf;
  const lmt_thread *t = lmt_tothread(L, LMT_THRMMA);
  const mt_node *base = lmt_tobase(L, 2, &buf);
  part_of(L, &part, &offset, t, x);
  return lmt_pushpartfrom(L, 2, part.node, offset.node, tile_of(&tile, t->tiled, x),
                          base);
}

/* slice:partition_A(x [, offset]) -> (FrgV,RestM,RestK,...), offset; of a tensor a
** view */
static int thr_partition_A (lua_State *L) { return thr_partition(L, MT_PART_A); }
static int thr_partition_B (lua_State *L) { return thr_partition(L, MT_PART_B); }
static int thr_partition_C (lua_State *L) { return thr_partition(L, MT_PART_C); }

/* ---------------------------------------------------------------- fragments */

/* The fragment of the part: of a layout a layout; of the tensor at 2 a new one of its
** type on its device, nil and why if there is no memory. */
static int push_fragment (lua_State *L, const mt_node *layout) {
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_tensorat(L, 2);
  if (t == NULL) return lmt_pushvalue(L, layout);
  mt_dtype dtype = t->dtype;
  lua_getiuservalue(L, 2, 1);
  lua_getiuservalue(L, -1, 1);
  if (lmt_newtensor(L, -1, dtype, layout, &err) == NULL) return lmt_fail(L, &err);
  return 1;
}

/* In tensor memory there are no tensors of ours: a fragment of a layout has addresses. */
static int push_addresses (lua_State *L, const char *name, mt_mma_part x,
                           const mt_node *layout) {
  mt_layout shape;
  LMT_NOERR(err);
  if (mt_shape(&shape, layout, &err)) return lmt_raise(L, &err);
  lmt_pushinner(L);
  lua_getfield(L, -1, "tmem_fragment");
  lua_pushstring(L, name);
  if (lmt_isclass(L, 1, LMT_THRMMA)) lua_getiuservalue(L, 1, 1);
  else lua_pushvalue(L, 1);
  lua_pushstring(L, x == MT_PART_A ? "A" : x == MT_PART_B ? "B" : "C");
  lmt_pushvalue(L, shape.node);
  lua_call(L, 4, 1);
  return 1;
}

static bool has_addresses (lua_State *L, const mt_tiled_mma *mma, mt_mma_part x) {
  static const int operand[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
  return mma->atom.op.operand[operand[x]].source == MT_TMEM && lmt_tensorat(L, 2) == NULL;
}

static int make_fragment (lua_State *L, mt_mma_part x) {
  static const char *const name[] = {"make_fragment_A", "make_fragment_B",
                                     "make_fragment_C"};
  mt_layout out;
  LMT_NOERR(err);
  const mt_tiled_mma *mma = lmt_isclass(L, 1, LMT_THRMMA) ?
                                lmt_tothread(L, LMT_THRMMA)->tiled :
                                lmt_totiledmma(L, 1);
  if (mt_mma_fragment(&out, mma, x, lmt_tolayout(L, 2), &err))
    return lmt_raiseas(L, "make_fragment", name[x], &err);
  if (has_addresses(L, mma, x)) return push_addresses(L, name[x], x, out.node);
  return push_fragment(L, out.node);
}

/* mma:make_fragment_A(part) */
static int tm_fragment_A (lua_State *L) { return make_fragment(L, MT_PART_A); }
static int tm_fragment_B (lua_State *L) { return make_fragment(L, MT_PART_B); }
static int tm_fragment_C (lua_State *L) { return make_fragment(L, MT_PART_C); }

/* Descriptors know nothing of the swizzle: it is in the pointer. */
static int partition_fragment (lua_State *L, mt_mma_part x) {
  static const char *const name[] = {"partition_fragment_A", "partition_fragment_B",
                                     "partition_fragment_C"};
  mt_layout buf, plain, part, offset, out;
  LMT_NOERR(err);
  const bool one = lmt_isclass(L, 1, LMT_THRMMA);
  const mt_tiled_mma *mma =
      one ? lmt_tothread(L, LMT_THRMMA)->tiled : lmt_totiledmma(L, 1);
  const int64_t thr = one ? lmt_tothread(L, LMT_THRMMA)->thr : 0;
  const mt_node *a = lmt_toshaped(L, 2, name[x], &buf);
  if (mt_mma_by_descriptor(mma, x)) {
    if (mt_get_nonswizzle_portion(&plain, a, &err)) return lmt_raise(L, &err);
    a = plain.node;
  }
  if (mt_mma_partition(&part, &offset, mma, x, a, thr, &err))
    lmt_raiseas(L, "partition", name[x], &err);
  if (mt_mma_fragment(&out, mma, x, part.node, &err))
    return lmt_raiseas(L, "make_fragment", name[x], &err);
  if (has_addresses(L, mma, x)) return push_addresses(L, name[x], x, out.node);
  return push_fragment(L, out.node);
}

/* slice:partition_fragment_A(x): make_fragment_A of partition_A(x); of a tiled MMA that
** of its thread 0. */
static int thr_fragment_A (lua_State *L) { return partition_fragment(L, MT_PART_A); }
static int thr_fragment_B (lua_State *L) { return partition_fragment(L, MT_PART_B); }
static int thr_fragment_C (lua_State *L) { return partition_fragment(L, MT_PART_C); }

static int thr_tostring (lua_State *L) {
  const lmt_thread *t = lmt_tothread(L, LMT_THRMMA);
  return lmt_pushthreadtext(L, t, "MMA", ((const mt_tiled_mma *)t->tiled)->atom.op.name);
}

/* ---------------------------------------------------------------- registration */

#define ROWS_MMA
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__tostring", tm_tostring}, {NULL, NULL}};
static const luaL_Reg thr_meta[] = {{"__tostring", thr_tostring}, {NULL, NULL}};

void lmt_open_mma (lua_State *L) {
  lmt_setmeta(L, LMT_TILEDMMA, meta);
  lmt_setmeta(L, LMT_THRMMA, thr_meta);
  lmt_addrows(L, rows);
}
