/*
** kernel_text.c - kernels as text that can be typed again, and how those that are
** precompiled differ from one.
** SPDX-License-Identifier: MIT
*/
#include <math.h>
#include <stdarg.h>

#include "binding/atom.h"
#include "binding/kernel.h"
#include "binding/field.h"

static const char *const side[] = {"A", "B"};

/* ---------------------------------------------------------------- fields */

/* Appends to the text on the top. */
static void add (lua_State *L, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  lua_pushvfstring(L, format, ap);
  va_end(ap);
  lua_concat(L, 2);
}

static void push_layout (lua_State *L, const char *before, const mt_node *a) {
  lmt_pushtext(L, a);
  lua_pushfstring(L, "%s\"%s\"", before, lua_tostring(L, -1));
  lua_remove(L, -2);
}

static void append_layout (lua_State *L, const char *before, const mt_node *a) {
  push_layout(L, before, a);
  lua_concat(L, 2);
}

/* Pushes the text that was kept under the key with the kernel at i: false, nothing: there
** is none. */
static bool push_kept (lua_State *L, int i, const char *key) {
  lua_getiuservalue(L, i, 1);
  bool found = lua_getfield(L, -1, key) == LUA_TSTRING;
  lua_remove(L, -2);
  if (!found) lua_pop(L, 1);
  return found;
}

static void push_fill (lua_State *L, int i, int x) {
  static const char *const keep[] = {"g2s.A", "g2s.B"};
  const mt_operand_way *w = &lmt_tokernel(L, i)->way[x];
  if (push_kept(L, i, keep[x])) return;
  if (w->multicast > 1)
    lua_pushfstring(L, "{ tma = true, multicast = \"%s\" }", x ? "m" : "n");
  else if (w->fill == MT_FILL_TMA) lua_pushliteral(L, "\"tma\"");
  else {
    lua_pushfstring(L, "tile.tiled_copy{ atom = \"%s\", bits = %d, ", w->copy.atom.name,
                    w->copy.bits);
    append_layout(L, "thr = tile.layout ", w->copy.thr.node);
    append_layout(L, ", val = tile.layout ", w->copy.val.node);
    add(L, " }");
  }
}

static void push_s2r (lua_State *L, int i, int x) {
  static const char *const keep[] = {"s2r.A", "s2r.B"};
  const mt_operand_way *w = &lmt_tokernel(L, i)->way[x];
  if (w->s2r.bits == 0) lua_pushliteral(L, "nil");
  else if (!push_kept(L, i, keep[x])) lmt_pushcopyatom(L, &w->s2r.atom, false);
}

static void push_d (lua_State *L, const mt_gemm_spec *k) {
  if (k->staged) push_layout(L, "tile.parse ", k->d.node);
  else lua_pushliteral(L, "nil");
}

static void push_numbers (lua_State *L, int n, const int64_t *of) {
  lua_pushfstring(L, "{ %I", (LUAI_UACINT)of[0]);
  for (int i = 1; i < n; i++) add(L, ", %I", (LUAI_UACINT)of[i]);
  add(L, " }");
}

/* Pushes what tile.kernel is to be given as the field to make the kernel at i again. */
static void push_field (lua_State *L, int i, mt_kernel_field f) {
  const mt_gemm_spec *k = lmt_tokernel(L, i);
  switch (f) {
    case MT_FIELD_MMA: lmt_pushmmatext(L, &k->mma); break;
    case MT_FIELD_TILE: push_numbers(L, 3, k->tile); break;
    case MT_FIELD_STAGES: lua_pushfstring(L, "%I", (LUAI_UACINT)k->stages); break;
    case MT_FIELD_AHEAD: lua_pushfstring(L, "%I", (LUAI_UACINT)k->ahead); break;
    case MT_FIELD_SMEM_A: push_layout(L, "tile.parse ", k->way[0].smem.node); break;
    case MT_FIELD_SMEM_B: push_layout(L, "tile.parse ", k->way[1].smem.node); break;
    case MT_FIELD_SMEM_D: push_d(L, k); break;
    case MT_FIELD_G2S_A: push_fill(L, i, 0); break;
    case MT_FIELD_G2S_B: push_fill(L, i, 1); break;
    case MT_FIELD_S2R_A: push_s2r(L, i, 0); break;
    case MT_FIELD_S2R_B: push_s2r(L, i, 1); break;
    case MT_FIELD_SCHEDULE:
      lua_pushfstring(L, "\"%s\"", mt_schedule_name(k->schedule));
      break;
    case MT_FIELD_RASTER: lua_pushstring(L, k->raster ? "\"n\"" : "\"m\""); break;
    case MT_FIELD_CLUSTER: push_numbers(L, 2, k->cluster); break;
    default: lua_pushliteral(L, "?");
  }
}

/* ---------------------------------------------------------------- the whole */

/* Appends the field of the kernel at 1. */
static void add_field (lua_State *L, const char *before, mt_kernel_field f) {
  add(L, "%s", before);
  push_field(L, 1, f);
  lua_concat(L, 2);
}

static void add_s2r (lua_State *L, const mt_gemm_spec *k) {
  const char *before = ",\n  s2r = { ";
  for (int x = 0; x < 2; x++) {
    if (k->way[x].s2r.bits == 0) continue;
    add(L, "%s%s = ", before, side[x]);
    add_field(L, "", (mt_kernel_field)(MT_FIELD_S2R_A + x));
    before = ", ";
  }
  if (*before == ',' && before[1] == ' ') add(L, " }");
}

/* All digits; what is no number, as Lua computes it. */
static void add_factor (lua_State *L, const char *before, double v) {
  char text[40];
  if (isfinite(v)) snprintf(text, sizeof text, "%.17g", v);
  else snprintf(text, sizeof text, "%s", isnan(v) ? "0/0" : v < 0 ? "-1/0" : "1/0");
  add(L, "%s%s", before, text);
}

static void add_ending (lua_State *L, const mt_gemm_spec *k) {
  const mt_gemm_ending *e = &k->ending;
  const char *bias = e->bias == MT_ALONG_ROW ? "row" : "column";
  if (e->bias != MT_ALONG_AUTO) add(L, ", bias = \"%s\"", bias);
  if (e->activation) add(L, ", activation = \"%s\"", mt_activation_name(e->activation));
  if (e->residual) add(L, ", residual = true");
  if (k->given & MT_GIVEN_C) add(L, ", dtype = \"%s\"", mt_dtype_name(e->type));
}

static int kernel_tostring (lua_State *L) {
  const mt_gemm_spec *k = lmt_tokernel(L, 1);
  lua_settop(L, 1);
  lua_pushliteral(L, "tile.kernel{\n  mma = ");
  add_field(L, "", MT_FIELD_MMA);
  add_field(L, ",\n  tile = ", MT_FIELD_TILE);
  add_field(L, ", stages = ", MT_FIELD_STAGES);
  add_field(L, ", ahead = ", MT_FIELD_AHEAD);
  add_field(L, ",\n  smem = { A = ", MT_FIELD_SMEM_A);
  add_field(L, ",\n           B = ", MT_FIELD_SMEM_B);
  if (k->staged) add_field(L, ",\n           D = ", MT_FIELD_SMEM_D);
  add_field(L, " },\n  g2s = { A = ", MT_FIELD_G2S_A);
  add_field(L, ",\n          B = ", MT_FIELD_G2S_B);
  add(L, " }");
  add_s2r(L, k);
  add_field(L, ",\n  schedule = ", MT_FIELD_SCHEDULE);
  add_field(L, ", raster = ", MT_FIELD_RASTER);
  add_field(L, ", cluster = ", MT_FIELD_CLUSTER);
  add(L, ", arch = %d", k->arch);
  add_factor(L, ",\n  epilogue = { alpha = ", k->ending.alpha);
  add_factor(L, ", beta = ", k->ending.beta);
  add_ending(L, k);
  add(L, " } }");
  return 1;
}

/* ---------------------------------------------------------------- why */

enum { NEAR = 8 };

/* Pushes { field =, here =, there = }: of the kernels at 1 and at the top. */
static void push_difference (lua_State *L, mt_kernel_field f) {
  const int there = lua_gettop(L);
  lua_createtable(L, 0, 3);
  lmt_settext(L, "field", mt_kernel_field_name(f));
  push_field(L, 1, f);
  lua_setfield(L, -2, "here");
  push_field(L, there, f);
  lua_setfield(L, -2, "there");
}

/* Pushes { kernel = name, arch =, differs = { differences } }. */
static void push_near (lua_State *L, const mt_near_row *r, mt_candidate *list) {
  int n = 0;
  lua_createtable(L, 0, 3);
  lmt_settext(L, "kernel", mt_gemm_row_name(r->row));
  lmt_setint(L, "arch", mt_gemm_row_arch(r->row));
  lua_newtable(L);
  lmt_pushrow(L, r->row, list);
  for (int f = 0; f < MT_NFIELD; f++) {
    if (!(r->differs & 1u << f)) continue;
    push_difference(L, (mt_kernel_field)f);
    lua_rawseti(L, -3, ++n);
  }
  lua_pop(L, 1);
  lua_setfield(L, -2, "differs");
}

/* kernel_near(kernel) -> a sequence of { kernel =, arch =, differs = { { field =, here =,
** there = }, ... } }, the nearest first */
static int kernel_near (lua_State *L) {
  mt_near_row near[NEAR];
  lmt_tokernel(L, 1);
  lua_settop(L, 1);
  mt_gemm_spec *scratch = lua_newuserdatauv(L, sizeof *scratch, 0);
  mt_candidate *list = lua_newuserdatauv(L, MT_MAXCANDIDATES * sizeof *list, 0);
  const int n = mt_gemm_near(near, NEAR, lmt_tokernel(L, 1), scratch, list);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_near(L, &near[i], list);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

#define ROWS_KERNELTEXT
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__tostring", kernel_tostring}, {NULL, NULL}};

void lmt_open_kernel_text (lua_State *L) {
  lmt_setmeta(L, LMT_KERNEL, meta);
  lmt_addrows(L, rows);
}
