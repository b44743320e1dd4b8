/*
** kernel.c - kernels as values in Lua: described, completed.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/kernel.h"
#include "binding/plan.h"

static const char *const side[] = {"A", "B"};

const mt_gemm_spec *lmt_tokernel (lua_State *L, int i) {
  return luaL_checkudata(L, i, LMT_KERNEL);
}
bool lmt_iskernel (lua_State *L, int i) { return lmt_isclass(L, i, LMT_KERNEL); }

/* ---------------------------------------------------------------- numbers */

/* The integer at -1, which is popped. */
static lua_Integer to_int (lua_State *L, const char *key) {
  int isint;
  lua_Integer n = lua_tointegerx(L, -1, &isint);
  if (!isint || lmt_isstring(L, -1))
    luaL_error(L, "kernel: %s: integer expected, got %s", key, lmt_kindname(L, -1));
  lua_pop(L, 1);
  return n;
}

/* The option `key` of the table at 1, if it is there. */
static bool int_option (lua_State *L, const char *key, int64_t *out) {
  if (lua_getfield(L, 1, key) == LUA_TNIL) return lua_pop(L, 1), false;
  *out = to_int(L, key);
  return true;
}

/* n integers in the table `key` of the table at 1. */
static bool ints_option (lua_State *L, const char *key, int n, int64_t *out) {
  if (lua_getfield(L, 1, key) == LUA_TNIL) return lua_pop(L, 1), false;
  if (!lmt_istable(L, -1) || luaL_len(L, -1) != n)
    luaL_error(L, "kernel: %s: a table of %d integers expected", key, n);
  for (int i = 0; i < n; i++) {
    lua_geti(L, -1, i + 1);
    out[i] = to_int(L, key);
  }
  lua_pop(L, 1);
  return true;
}

/* Which of the names is the string at `i`; `none` if it is nil. */
static int choose_name (lua_State *L, int i, const char *what, const char *const *names,
                        int n, int none) {
  lmt_near near = {NULL, 0};
  if (lua_isnil(L, i)) return none;
  const char *s = lmt_isstring(L, i) ? lua_tostring(L, i) : "";
  for (int k = 0; k < n; k++) {
    if (strcmp(s, names[k]) == 0) return k;
    lmt_nearer(&near, s, names[k]);
  }
  luaL_tolstring(L, i, NULL);
  lua_pushstring(L, names[0]);
  for (int k = 1; k < n; k++)
    lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), names[k]), lua_remove(L, -2);
  return luaL_error(L, "kernel: %s: '%s' is none%s%s; there are: %s", what,
                    lua_tostring(L, -2), near.name ? "; did you mean " : "",
                    near.name ? near.name : "", lua_tostring(L, -1));
}

/* ---------------------------------------------------------------- operands */

/* Pushes part `key` of the option `option` of the table at 1; nil if there is none. */
static void push_part (lua_State *L, const char *option, const char *const *keys,
                       const char *key) {
  lua_getfield(L, 1, option);
  if (lua_isnil(L, -1)) return;
  const char *what = lua_pushfstring(L, "kernel: %s", option);
  lmt_checkkeys(L, -2, what, keys);
  lua_pop(L, 1);
  lua_getfield(L, -1, key);
  lua_remove(L, -2);
}

/* The text that makes the tiled copy on the top is kept in the kernel's user value. */
static void keep_text (lua_State *L, const char *key) {
  lua_getiuservalue(L, 2, 1);
  lua_getiuservalue(L, -2, 1);
  lua_setfield(L, -2, key);
  lua_pop(L, 1);
}

/* { tma = true, multicast = "m" | "n" } */
static void fill_table (lua_State *L, mt_gemm_spec *k, int x) {
  static const char *const keys[] = {"tma", "multicast", NULL}, *const along[] = {"m",
                                                                                  "n"};
  lmt_checkkeys(L, -1, "kernel: g2s", keys);
  lua_getfield(L, -1, "tma");
  if (!lua_toboolean(L, -1))
    luaL_error(L, "kernel: g2s.%s: tma = true expected", side[x]);
  lua_getfield(L, -2, "multicast");
  int mode = choose_name(L, -1, "multicast", along, 2, -1);
  if (mode == x)
    luaL_error(L, "kernel: g2s.%s: CTAs along %s share %s: multicast = \"%s\"", side[x],
               along[1 - x], side[x], along[1 - x]);
  k->way[x].fill = MT_FILL_TMA;
  k->way[x].given |= MT_GIVEN_FILL;
  k->way[x].multicast = mode < 0 ? 1 : k->cluster[mode];
  lua_pop(L, 2);
}

static void to_fill (lua_State *L, mt_gemm_spec *k, int x) {
  static const char *const keys[] = {"A", "B", NULL};
  static const char *const keep[] = {"g2s.A", "g2s.B"};
  const char *names[MT_NFILL];
  for (int i = 0; i < MT_NFILL; i++) names[i] = mt_fill_name((mt_fill)i);
  mt_operand_way *w = &k->way[x];
  push_part(L, "g2s", keys, side[x]);
  if (lmt_istiledcopy(L, -1)) {
    w->copy = *lmt_totiledcopy(L, -1);
    w->given |= MT_GIVEN_COPY | MT_GIVEN_FILL;
    keep_text(L, keep[x]);
  } else if (lmt_istable(L, -1)) {
    fill_table(L, k, x);
  } else if (!lua_isnil(L, -1)) {
    w->fill = (mt_fill)choose_name(L, -1, keep[x], names, MT_NFILL, 0);
    w->given |= MT_GIVEN_FILL;
  }
  lua_pop(L, 1);
}

/* A tiled copy, the name of an atom, an atom. */
static void to_s2r (lua_State *L, mt_gemm_spec *k, int x) {
  static const char *const keys[] = {"A", "B", NULL};
  static const char *const keep[] = {"s2r.A", "s2r.B"};
  mt_operand_way *w = &k->way[x];
  const mt_operand *o = &k->mma.atom.op.operand[x ? MT_OPERAND_B : MT_OPERAND_A];
  LMT_NOERR(err);
  push_part(L, "s2r", keys, side[x]);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    return;
  }
  if (o->source == MT_SMEM_DESC)
    luaL_error(L,
               "kernel: s2r.%s: %s reads %s from shared memory: nothing brings it to "
               "registers",
               side[x], k->mma.atom.op.name, side[x]);
  w->given |= MT_GIVEN_S2R;
  if (lmt_istiledcopy(L, -1)) {
    w->s2r = *lmt_totiledcopy(L, -1);
    keep_text(L, keep[x]);
  } else {
    if (!lmt_isstring(L, -1) && !lmt_isclass(L, -1, LMT_COPYATOM))
      luaL_error(L,
                 "kernel: s2r.%s: a tiled copy, a copy atom or the name of one expected",
                 side[x]);
    const mt_copy_atom *a = lmt_isstring(L, -1) ? NULL : lmt_tocopyatom(L, -1);
    bool own = a && a->own;
    const char *name = own ? "DefaultCopy" : a ? a->name : lua_tostring(L, -1);
    int bits = mt_element_bits(o->element);
    if (mt_make_tiled_copy_mma(&w->s2r, name, bits, &k->mma, x ? MT_PART_B : MT_PART_A,
                               &err) ||
        (own && mt_tiled_copy_by(&w->s2r, a, bits, &err)))
      lmt_raiseas(L, "make_tiled_copy", "kernel", &err);
  }
  lua_pop(L, 1);
}

static void to_smem (lua_State *L, mt_gemm_spec *k) {
  static const char *const keys[] = {"A", "B", "D", NULL};
  mt_layout *const room[] = {&k->way[0].smem, &k->way[1].smem, &k->d};
  for (int i = 0; i < 3; i++) {
    push_part(L, "smem", keys, keys[i]);
    if (!lua_isnil(L, -1)) {
      const char *what = lua_pushfstring(L, "kernel: smem.%s", keys[i]);
      const mt_node *a = lmt_tovalue(L, -2, LMT_LAYOUTS, what, room[i]);
      if (a != room[i]->node) mt_copy_value(room[i], a);
      if (i < 2) k->way[i].given |= MT_GIVEN_SMEM;
      else k->staged = true;
    }
    lua_settop(L, 2);
  }
}

/* ---------------------------------------------------------------- the epilogue */

static double number_option (lua_State *L, const char *key, double none) {
  lua_getfield(L, -1, key);
  bool isnumber = lua_isnumber(L, -1) && !lmt_isstring(L, -1);
  if (!lua_isnil(L, -1) && !isnumber)
    luaL_error(L, "kernel: epilogue: %s: a number expected", key);
  double v = isnumber ? lua_tonumber(L, -1) : none;
  lua_pop(L, 1);
  return v;
}

static mt_activation activation_option (lua_State *L) {
  const char *names[MT_NACTIVATION];
  for (int a = 0; a < MT_NACTIVATION; a++)
    names[a] = mt_activation_name((mt_activation)a);
  lua_getfield(L, -1, "activation");
  const int a = choose_name(L, -1, "epilogue: activation", names, MT_NACTIVATION, 0);
  lua_pop(L, 1);
  return (mt_activation)a;
}

/* Which of a kernel's epilogue are tensors is said; they are given to the product. */
static void beside_options (lua_State *L, mt_gemm_ending *e) {
  static const char *const along[] = {"row", "column"}; /* by mt_along, behind AUTO */
  lua_getfield(L, -1, "bias");
  if (lmt_isclass(L, -1, LMT_TENSOR))
    luaL_error(L, "kernel: epilogue: bias: \"row\" or \"column\" expected; the tensor is "
                  "given to the product: tile.gemm(kernel, A, B, C, { bias = T })");
  e->bias = (mt_along)(choose_name(L, -1, "epilogue: bias", along, 2, -1) + 1);
  lua_getfield(L, -2, "residual");
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    luaL_error(L, "kernel: epilogue: residual: true expected; the tensor is given to the "
                  "product: tile.gemm(kernel, A, B, C, { residual = T })");
  e->residual = lua_toboolean(L, -1);
  lua_pop(L, 2);
}

void lmt_kernelepilogue (lua_State *L, mt_gemm_spec *k) {
  static const char *const keys[] = {"alpha",   "beta", "bias",  "residual",   "scale_a",
                                     "scale_b", "amax", "dtype", "activation", NULL};
  mt_gemm_ending *e = &k->ending;
  e->alpha = 1;
  if (lua_getfield(L, 1, "epilogue") != LUA_TNIL) {
    lmt_checkkeys(L, -1, "kernel: epilogue", keys);
    e->alpha = number_option(L, "alpha", 1) * number_option(L, "scale_a", 1) *
               number_option(L, "scale_b", 1);
    e->beta = number_option(L, "beta", 0);
    e->activation = activation_option(L);
    beside_options(L, e);
    if (lua_getfield(L, -1, "dtype") != LUA_TNIL) {
      e->type = lmt_todtype(L, -1);
      k->given |= MT_GIVEN_C;
    }
    if (lua_getfield(L, -2, "amax") != LUA_TNIL)
      luaL_error(L, "kernel: epilogue: amax: no kernel finds the largest magnitude\n"
                    "take it of what is stored: a C of f32, and C:totable()");
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- the whole */

static void to_order (lua_State *L, mt_gemm_spec *k) {
  static const char *const rasters[] = {"m", "n"};
  const char *names[MT_NSCHEDULE];
  int64_t split = 1;
  for (int i = 0; i < MT_NSCHEDULE; i++) names[i] = mt_schedule_name((mt_schedule)i);
  lua_getfield(L, 1, "schedule");
  k->schedule = (mt_schedule)choose_name(L, -1, "schedule", names, MT_NSCHEDULE, 0);
  lua_getfield(L, 1, "raster");
  k->raster = choose_name(L, -1, "raster", rasters, 2, 0);
  lua_pop(L, 2);
  k->cluster[0] = k->cluster[1] = 1;
  ints_option(L, "cluster", 2, k->cluster);
  if (k->cluster[0] < 1 || k->cluster[1] < 1 || k->cluster[0] > 64 || k->cluster[1] > 64)
    luaL_error(L, "kernel: cluster: %I by %I CTAs", (LUAI_UACINT)k->cluster[0],
               (LUAI_UACINT)k->cluster[1]);
  int_option(L, "split", &split);
  if (split != 1) luaL_error(L, "kernel: split: parts of K are not executed yet: 1");
}

static void to_numbers (lua_State *L, mt_gemm_spec *k) {
  int64_t arch = 0;
  if (ints_option(L, "tile", 3, k->tile)) k->given |= MT_GIVEN_TILE;
  if (int_option(L, "stages", &k->stages)) k->given |= MT_GIVEN_STAGES;
  if (int_option(L, "ahead", &k->ahead)) k->given |= MT_GIVEN_AHEAD;
  if (int_option(L, "arch", &arch)) k->given |= MT_GIVEN_ARCH;
  if ((k->given & MT_GIVEN_ARCH) && (arch < 50 || arch > 999))
    luaL_error(L, "kernel: arch: 80, 90, ... expected, got %I", (LUAI_UACINT)arch);
  k->arch = (int)arch;
}

/* The kernel at 2 keeps the lists of the copies and the MMA that it has been made of. */
static void keep_lists (lua_State *L, const mt_gemm_spec *k) {
  const mt_node *t[] = {k->mma.atoms.node,
                        k->mma.permutation.node,
                        k->mma.thr_vmnk.node,
                        k->mma.thr_index.node,
                        k->way[0].copy.thr.node,
                        k->way[0].copy.val.node,
                        k->way[1].copy.thr.node,
                        k->way[1].copy.val.node,
                        k->way[0].s2r.thr.node,
                        k->way[0].s2r.val.node,
                        k->way[1].s2r.thr.node,
                        k->way[1].s2r.val.node,
                        k->way[0].copy.layout_tv.node,
                        k->way[1].copy.layout_tv.node,
                        k->way[0].s2r.layout_tv.node,
                        k->way[1].s2r.layout_tv.node};
  lmt_keepall(L, 2, (int)(sizeof t / sizeof t[0]), t);
}

/* kernel{ mma = tiled MMA [, tile =] [, stages =] ... } */
static int l_kernel (lua_State *L) {
  static const char *const keys[] = {"mma",   "tile", "stages",   "ahead",    "smem",
                                     "g2s",   "s2r",  "cluster",  "schedule", "raster",
                                     "split", "arch", "epilogue", NULL};
  LMT_NOERR(err);
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "kernel", keys);
  mt_gemm_spec *k = lua_newuserdatauv(L, sizeof *k, 1);
  memset(k, 0, sizeof *k);
  lua_newtable(L);
  lua_setiuservalue(L, 2, 1);
  lua_getfield(L, 1, "mma");
  if (!lmt_istiledmma(L, -1))
    luaL_error(L, "kernel: mma: a tiled MMA expected, got %s", lmt_kindname(L, -1));
  k->mma = *lmt_totiledmma(L, -1);
  lua_pop(L, 1);
  to_numbers(L, k);
  to_order(L, k);
  to_smem(L, k);
  for (int x = 0; x < 2; x++) {
    to_fill(L, k, x);
    to_s2r(L, k, x);
  }
  lmt_kernelepilogue(L, k);
  mt_candidate *list = lua_newuserdatauv(L, MT_MAXCANDIDATES * sizeof *list, 0);
  if (mt_complete_gemm(k, list, &err)) return lmt_raise(L, &err);
  keep_lists(L, k);
  lua_settop(L, 2);
  luaL_setmetatable(L, LMT_KERNEL);
  return 1;
}

/* ---------------------------------------------------------------- rows */

/* Whether row i is one of this architecture, asked for by the table at 1, which ends as k
** does. */
static bool is_wanted (lua_State *L, int i, lua_Integer arch, const mt_gemm_spec *k) {
  if (mt_gemm_row_arch(i) != arch || !mt_gemm_row_ends(i, k) || mt_gemm_row_is_twin(i))
    return false;
  lua_getfield(L, 1, "A");
  bool wanted = lua_isnil(L, -1) || lmt_todtype(L, -1) == mt_gemm_row_type(i, 0);
  lua_pop(L, 1);
  return wanted;
}

mt_gemm_spec *lmt_pushrow (lua_State *L, int i, mt_candidate *list) {
  LMT_NOERR(err);
  mt_gemm_spec *k = lua_newuserdatauv(L, sizeof *k, 1);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  if (mt_gemm_row(k, i, list, &err)) lmt_raise(L, &err);
  luaL_setmetatable(L, LMT_KERNEL);
  return k;
}

/* Pushes row i that ends as k does. */
static void push_ending (lua_State *L, int i, const mt_gemm_spec *k, mt_candidate *list) {
  mt_gemm_spec *row = lmt_pushrow(L, i, list);
  row->ending = k->ending;
  row->given |= k->given & MT_GIVEN_C;
}

int lmt_gemmrows (lua_State *L) {
  static const char *const keys[] = {"arch", "A", "epilogue", NULL};
  const char *name;
  int isint, n = 0;
  lua_settop(L, 1);
  lmt_checkkeys(L, 1, "kernels", keys);
  lua_getfield(L, 1, "arch");
  lua_Integer arch = lua_tointegerx(L, -1, &isint);
  if (!isint || lmt_isstring(L, -1)) luaL_error(L, "kernels: arch: 80 or 90 expected");
  lua_settop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  mt_gemm_spec *end = lua_newuserdatauv(L, sizeof *end, 0);
  memset(end, 0, sizeof *end);
  lmt_kernelepilogue(L, end);
  mt_candidate *list = lua_newuserdatauv(L, MT_MAXCANDIDATES * sizeof *list, 0);
  for (int i = 0; (name = mt_gemm_row_name(i)) != NULL; i++) {
    if (!is_wanted(L, i, arch, end)) continue;
    push_ending(L, i, end, list);
    lua_rawseti(L, 2, ++n);
    lua_pushstring(L, name);
    lua_rawseti(L, 3, n);
  }
  lua_settop(L, 3);
  return 2;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_KERNEL
#include "binding/rows.h"

void lmt_open_kernel (lua_State *L) { lmt_addrows(L, rows); }
