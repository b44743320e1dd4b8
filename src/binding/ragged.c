/*
** ragged.c - views whose tiles the shape is no multiple of: which elements are real.
** SPDX-License-Identifier: MIT
**
** A function that makes a view of a tensor makes of each ordinate, which is a layout,
** what it makes of the tensor's layout: it is called again, with that layout in the
** tensor's place. What it runs past the end of becomes an ordinate too. Where all is
** real, nothing of this happens.
*/
#include "binding/lmt.h"
#include "binding/view.h"

/* A view in the making: a userdata. The layouts of the ordinates lie on the stack above
** it. */
enum { ORDINATES = MT_MAXNODES + MT_MAXORDINATES }; /* parts of a layout, and its own */
typedef struct making {
  int n;
  mt_ordinate o[ORDINATES];
  mt_layout ordinate, out, coord, base, extent;
} making;

static making *push_making (lua_State *L) {
  making *m = lua_newuserdatauv(L, sizeof *m, 0);
  m->n = 0;
  return m;
}

/* The ordinate that becomes of `from`: the layout on the top, beginning `offset` on. */
static void add_ordinate (lua_State *L, making *m, const mt_ordinate *from,
                          int64_t offset) {
  mt_ordinate o = {lmt_tocomposed(L, -1), from->at, from->extent};
  luaL_checkstack(L, 8, NULL); /* for the next */
  if (m->n == ORDINATES)
    luaL_error(L,
               "a view is made of at most %d coordinates: copy the tensor into one of "
               "its own first",
               ORDINATES);
  if (__builtin_add_overflow(from->at, offset, &o.at))
    luaL_error(L, "a coordinate of the view leaves 64 bits");
  m->o[m->n++] = o;
}

static const char *way_out (const mt_err *err) {
  if (err->status == MT_ETOOBIG)
    return "cut fewer modes at a time, or copy into a tensor of its own between";
  if (err->status == MT_EUNSUPPORTED)
    return "of a partition by a function each thread has a view: get_slice(t); or copy "
           "the tensor first into one of whole tiles";
  return "copy the tensor into one of its own first";
}

/* The view of the tensor at i that has these ordinates. */
static int push_made (lua_State *L, making *m, int i, const mt_node *t, int64_t offset) {
  int left;
  LMT_NOERR(err);
  if (mt_make_bounds(&m->out, &m->coord, &m->base, &m->extent, &left, t, m->n, m->o,
                     &err))
    return luaL_error(L, "view: %s\n%s", err.text, way_out(&err));
  const mt_bounds b = {m->coord.node, m->base.node, m->extent.node};
  lmt_pushbounded(L, i, m->out.node, offset, left > 0 ? &b : NULL);
  return 1;
}

/* How many coordinates of the tensor at i have a bound. */
static int count (lua_State *L, int i) {
  mt_tensor t = lmt_ctensor(lmt_totensor(L, i));
  return mt_ordinates(&t);
}

/* ---------------------------------------------------------------- calling again */

/* Calls f, which is on the top and is popped, with the ordinate in the place of argument
** i; what it returns is pushed: a layout; *offset: where that begins. */
static bool call_with (lua_State *L, const making *m, int i, int args, int64_t *offset) {
  luaL_checkstack(L, args + 4, NULL);
  for (int k = 1; k <= args; k++) {
    if (k == i) lmt_pushvalue(L, m->ordinate.node);
    else lua_pushvalue(L, k);
  }
  if (lua_pcall(L, args, 2, 0) != LUA_OK) return false;
  *offset = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return true;
}

/* The coordinates that the tensor has already. */
static void carry (lua_State *L, making *m, int i, int args, int f) {
  mt_ordinate o;
  int64_t offset = 0;
  LMT_NOERR(err);
  for (int k = 0; k < count(L, i); k++) {
    mt_tensor t = lmt_ctensor(lmt_totensor(L, i));
    if (mt_ordinate_of(&o, &m->ordinate, &t, k, &err)) lmt_raise(L, &err);
    lua_pushvalue(L, f);
    if (!call_with(L, m, i, args, &offset)) {
      if (!lmt_isstring(L, -1)) lua_error(L);
      luaL_error(L,
                 "%s\nthis tensor is ragged, and that is one of its coordinates: "
                 "cut it otherwise, or copy it into a tensor of its own first",
                 lua_tostring(L, -1));
    }
    add_ordinate(L, m, &o, offset);
  }
}

/* Those that the tiler runs past the end of. */
static void overhang (lua_State *L, making *m, int i, int args, int f,
                      const lmt_cut *how) {
  mt_ordinate o;
  int64_t offset = 0;
  LMT_NOERR(err);
  for (int k = 0;;) {
    if (mt_overhang(&o, &m->ordinate, &k, lmt_tocomposed(L, i), how->tiler, how->divides,
                    &err))
      lmt_raise(L, &err);
    if (k < 0) return;
    lua_pushvalue(L, f);
    if (!call_with(L, m, i, args, &offset)) lua_error(L);
    add_ordinate(L, m, &o, offset);
  }
}

static void push_running (lua_State *L) {
  lua_Debug at;
  if (!lua_getstack(L, 0, &at) || !lua_getinfo(L, "f", &at))
    luaL_error(L, "view: who makes it is not known");
}

/* Whether the function runs past the end of anything of the tensor. */
static LMT_APART bool overhangs (lua_State *L, const lmt_tensor *base,
                                 const lmt_cut *how) {
  mt_ordinate o;
  mt_layout buf;
  int k = 0;
  LMT_NOERR(err);
  if (mt_overhang(&o, &buf, &k, base->layout, how->tiler, how->divides, &err))
    lmt_raise(L, &err);
  return k >= 0;
}

/* A tiler that is larger than each mode of a. */
static const mt_node *past_all (mt_layout *out, const mt_node *a) {
  a = lmt_base(a);
  int n = mt_rank(a);
  mt_node *p = out->node;
  *p = (mt_node){.tag = MT_TILER, .arity = (uint16_t)n, .span = (uint32_t)n + 1};
  for (int i = 0; i < n; i++) {
    int64_t size = mt_size(mt_mode(a, i));
    *++p = (mt_node){.tag = MT_LEAF, .span = 1, .stride = 1};
    p->shape = size < INT64_MAX ? size + 1 : size;
  }
  return out->node;
}

static int cut_by (lua_State *L, int i, const lmt_tensor *base, const mt_node *t,
                   int64_t offset, const lmt_cut *cut) {
  int args = lua_gettop(L);
  bool ragged = base->bounded, beyond = cut->tiler && overhangs(L, base, cut);
  if (!ragged && !beyond) return lmt_pushwhole(L, i, base, t, offset), 1;
  making *m = push_making(L);
  if (cut->again) lua_pushcfunction(L, cut->again);
  else push_running(L);
  int f = lua_gettop(L);
  if (ragged) carry(L, m, i, args, f);
  if (beyond) overhang(L, m, i, args, f, cut);
  return push_made(L, m, i, t, offset);
}

/* What is larger than the tensor, whose tiler is not known. */
static LMT_APART int cut_past_all (lua_State *L, int i, const lmt_tensor *base,
                                   const mt_node *t, int64_t offset, const lmt_cut *how) {
  mt_layout buf;
  lmt_cut cut = *how;
  cut.tiler = past_all(&buf, base->layout);
  return cut_by(L, i, base, t, offset, &cut);
}

static int push_cut (lua_State *L, int i, const lmt_tensor *base, const mt_node *t,
                     int64_t offset, const lmt_cut *how) {
  bool past = how->tiler == NULL && mt_size(t) > mt_size(base->layout);
  return (past ? cut_past_all : cut_by)(L, i, base, t, offset, how);
}

int lmt_pushcut (lua_State *L, int i, const mt_node *t, int64_t offset,
                 const lmt_cut *how) {
  return push_cut(L, i, lmt_totensor(L, i), t, offset, how);
}

int lmt_pushcutpart (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                     const lmt_cut *how) {
  const lmt_tensor *base = lmt_tensorat(L, i);
  if (base) return push_cut(L, i, base, part, offset->shape, how);
  lmt_pushvalue(L, part);
  return 1 + lmt_pushvalue(L, offset);
}

int lmt_pushpart (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                  const mt_node *tiler) {
  return lmt_pushcutpart(L, i, part, offset, &(lmt_cut){.tiler = tiler, .divides = true});
}

const mt_node *lmt_tobase (lua_State *L, int i, mt_layout *buf) {
  if (lua_isnoneornil(L, i + 1)) {
    lua_settop(L, i);
    return NULL;
  }
  if (lmt_isclass(L, i, LMT_TENSOR))
    luaL_argerror(L, i, "a tensor knows where it begins: no offset beside it");
  const mt_node *base = lmt_tovalue(L, i + 1, LMT_SHAPE, "offset", buf);
  lua_settop(L, i);
  return base;
}

static LMT_APART int push_from (lua_State *L, int i, const mt_node *part,
                                const mt_node *offset, const mt_node *tiler,
                                const mt_node *base) {
  mt_layout sum;
  LMT_NOERR(err);
  if (mt_coord_add(&sum, base, offset, &err)) return lmt_raise(L, &err);
  return lmt_pushpart(L, i, part, sum.node, tiler);
}

int lmt_pushpartfrom (lua_State *L, int i, const mt_node *part, const mt_node *offset,
                      const mt_node *tiler, const mt_node *base) {
  if (base == NULL) return lmt_pushpart(L, i, part, offset, tiler);
  return push_from(L, i, part, offset, tiler, base);
}

/* `a` is what was read at `i`: no swizzle and no tiler is a tensor. */
static int push_tiled (lua_State *L, int i, const mt_node *a, const mt_node *t,
                       const lmt_cut *how) {
  const lmt_tensor *base = lmt_islayout(a) ? lmt_tensorat(L, i) : NULL;
  return base ? push_cut(L, i, base, t, 0, how) : lmt_pushvalue(L, t);
}

int lmt_pushcomposed (lua_State *L, int i, const mt_node *a, const mt_node *tiler,
                      const mt_node *t) {
  if (lmt_pushedas(L, i, a, t)) return 1;
  return push_tiled(L, i, a, t, &(lmt_cut){.tiler = tiler});
}

/* A divide overhangs exactly if it is larger than what it divides. */
int lmt_pushdivided (lua_State *L, int i, const mt_node *a, const mt_node *tiler,
                     const mt_node *t) {
  if (lmt_pushedas(L, i, a, t)) return 1;
  if (mt_size(t) == mt_size(a)) tiler = NULL;
  return push_tiled(L, i, a, t, &(lmt_cut){.tiler = tiler, .divides = true});
}

/* ---------------------------------------------------------------- slices */

int lmt_pushsliced (lua_State *L, int i, const mt_node *t, int64_t offset,
                    const mt_node *c) {
  mt_ordinate o;
  int64_t begins;
  LMT_NOERR(err);
  const lmt_tensor *whole = lmt_totensor(L, i);
  if (!whole->bounded) return lmt_pushwhole(L, i, whole, t, offset), 1;
  making *m = push_making(L);
  for (int k = 0; k < count(L, i); k++) {
    mt_tensor base = lmt_ctensor(lmt_totensor(L, i));
    if (mt_ordinate_of(&o, &m->ordinate, &base, k, &err) ||
        mt_slice(&m->out, &begins, c, m->ordinate.node, &err))
      return lmt_raise(L, &err);
    lmt_pushvalue(L, m->out.node);
    add_ordinate(L, m, &o, begins);
  }
  return push_made(L, m, i, t, offset);
}

/* ---------------------------------------------------------------- by hand */

int lmt_pushknown (lua_State *L, int i, const mt_node *t, int64_t offset,
                   const mt_bounds *b) {
  mt_ordinate o;
  LMT_NOERR(err);
  making *m = push_making(L);
  mt_tensor view = {.layout = t, .bounds = b};
  for (int k = 0; k < mt_ordinates(&view); k++) {
    if (mt_ordinate_of(&o, &m->ordinate, &view, k, &err)) return lmt_raise(L, &err);
    lmt_pushvalue(L, m->ordinate.node);
    add_ordinate(L, m, &o, 0);
  }
  return push_made(L, m, i, t, offset);
}

/* ---------------------------------------------------------------- elements */

void lmt_checkreal (lua_State *L, const lmt_tensor *t, const mt_node *c) {
  mt_ordinate o;
  mt_layout buf;
  int64_t x = 0;
  mt_tensor u = lmt_ctensor(t);
  LMT_NOERR(err);
  for (int k = 0; k < mt_ordinates(&u); k++) {
    if (mt_ordinate_of(&o, &buf, &u, k, &err) || mt_crd2idx(&x, c, o.layout, &err))
      lmt_raise(L, &err);
    if (o.at + x < o.extent) continue;
    lmt_pushtext(L, c);
    lmt_pushtext(L, t->layout);
    luaL_error(L,
               "element %s of the ragged %s is not its own: its coordinate %d is %I, "
               "the extent is %I\nT:bounds() says which elements are real",
               lua_tostring(L, -2), lua_tostring(L, -1), k, (LUAI_UACINT)(o.at + x),
               (LUAI_UACINT)o.extent);
  }
}

const lmt_real *lmt_pushreal (lua_State *L, int i) {
  LMT_NOERR(err);
  if (lmt_bounds(L, i) == NULL) return lua_pushnil(L), NULL;
  i = lua_absindex(L, i);
  lmt_real *r = lua_newuserdatauv(L, sizeof *r, 0);
  mt_tensor t = lmt_ctensor(lmt_totensor(L, i));
  r->n = mt_ordinates(&t);
  for (int k = 0; k < r->n; k++)
    if (mt_ordinate_of(&r->o[k], &r->buf[k], &t, k, &err)) lmt_raise(L, &err);
  return r;
}

bool lmt_isreal (const lmt_real *r, int64_t index) {
  int64_t x;
  mt_err err;
  err.stop = NULL;
  for (int k = 0; r && k < r->n; k++)
    if (mt_at(&x, r->o[k].layout, index, &err) != MT_OK ||
        x + r->o[k].at >= r->o[k].extent)
      return false;
  return true;
}
