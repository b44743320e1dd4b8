/*
** value.c - Lua values to C values and back: the only file that looks at Lua types.
** SPDX-License-Identifier: MIT
**
** Integer tuples are integers and nested sequences. A table is read by its raw contents,
** to the depth MT_MAXDEPTH and to MT_MAXNODES values in all: a cyclic or a huge table is
** an error fast.
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/said.h"
#include "binding/view.h"

/* ---------------------------------------------------------------- reading */

#define FROM_SHAPE " (tile.layout builds one from a shape)"

/* A value being read into `out`, in preorder; `path` leads to the element at hand. */
typedef struct reader {
  lua_State *L;
  mt_layout *out;
  int n; /* nodes so far */
  int kinds;
  const char *what;
  int depth;
  int path[MT_MAXDEPTH];
} reader;

static const char *type_name (lua_State *L, int i) {
  if (lua_type(L, i) == LUA_TNUMBER || lmt_isclass(L, i, LMT_VALUE))
    return luaL_tolstring(L, i, NULL);
  return lmt_kindname(L, i);
}

/* Raises "what[1][3]: text"; "#2" is the second argument of the function that runs. */
static LMT_APART void complain (reader *r, const char *text) {
  lua_State *L = r->L;
  luaL_checkstack(L, 8, NULL);
  bool argument = r->what[0] == '#';
  lua_pushstring(L, argument ? "its part " : r->what);
  for (int k = 0; k < r->depth; k++)
    lua_pushfstring(L, "%s[%d]", lua_tostring(L, -1), r->path[k]), lua_remove(L, -2);
  const char *whole = lua_pushfstring(L, "%s: %s", lua_tostring(L, -1), text);
  if (argument) luaL_argerror(L, r->what[1] - '0', r->depth ? whole : text);
  luaL_error(L, "%s", whole);
}

#define COMPOSED                                                                         \
  "a layout with strides expected, got one that is composed (get_nonswizzle_portion is " \
  "what it applies first; copied to a tensor of its shape its values have strides)"

static LMT_APART void expected (reader *r, int i) {
  static const char *const names[] = {"integer", "basis element", "_",
                                      "table",   "layout",        "swizzle"};
  lua_State *L = r->L;
  i = lua_absindex(L, i);
  int left = r->kinds & (LMT_SHAPE | LMT_WILD | LMT_LAYOUTS);
  if (!(r->kinds & LMT_INT)) left |= r->kinds & LMT_SWIZZLES;
  if (r->depth) left &= ~LMT_TABLE;
  luaL_checkstack(L, 8, NULL);
  const mt_node *t = lmt_nodeat(L, i);
  if (t && t->tag == MT_COMPOSED && (r->kinds & LMT_LAYOUTS)) complain(r, COMPOSED);
  const char *got = type_name(L, i);
  const char *hint =
      lua_isnone(L, i) ? lmt_takes(L) : lmt_hint(L, i, r->kinds & LMT_LAYOUTS);
  if (lua_istable(L, i) && !(r->kinds & LMT_TABLE))
    got = r->kinds & LMT_LAYOUTS ? "table" FROM_SHAPE : "table";
  lua_pushliteral(L, "");
  const int names_at = lua_gettop(L);
  for (int k = 0; left; k++, left >>= 1) {
    if (!(left & 1)) continue;
    const char *sep = *lua_tostring(L, -1) == '\0' ? "" : left > 1 ? ", " : " or ";
    lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1), sep, names[k]);
    lua_remove(L, -2);
  }
  complain(r, lua_pushfstring(L, "%s expected, got %s%s", lua_tostring(L, names_at), got,
                              hint));
}

static void too_many (reader *r) {
  complain(r, lua_pushfstring(r->L, "more than %d values", (int)MT_MAXNODES));
}
static void too_deep (reader *r) {
  complain(r, lua_pushfstring(r->L, "nested deeper than %d", (int)MT_MAXDEPTH));
}

static inline mt_node *add_node (reader *r, mt_tag tag) {
  if (r->n == MT_MAXNODES) too_many(r);
  mt_node *t = &r->out->node[r->n++];
  memset(t, 0, sizeof *t);
  t->tag = (uint8_t)tag;
  t->span = 1;
  return t;
}

static void add_value (reader *r, const mt_node *t) {
  if (r->n + (int)t->span > MT_MAXNODES) too_many(r);
  if (r->depth + mt_depth(t) > MT_MAXDEPTH) too_deep(r);
  memcpy(&r->out->node[r->n], t, t->span * sizeof *t);
  r->n += (int)t->span;
}

/* The metatable of a class of values has the address of its mark at [1], which no script
** can make; the registry has the metatable at this address. */
static const char marks[LMT_MARKS];

void lmt_mark (lua_State *L, lmt_class class, const char *name) {
  luaL_newmetatable(L, name);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&marks[class]);
  lua_rawseti(L, -2, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &marks[class]);
}

/* A block and its class; LMT_UNMARKED: it is none of ours. */
typedef struct marked {
  void *block;
  lmt_class class;
} marked;

static inline __attribute__((always_inline)) marked marked_at (lua_State *L, int i) {
  void *block = lua_touserdata(L, i);
  if (block == NULL || !lua_getmetatable(L, i)) return (marked){block, LMT_UNMARKED};
  lua_rawgeti(L, -1, 1);
  uintptr_t k = (uintptr_t)lua_touserdata(L, -1) - (uintptr_t)marks;
  lua_pop(L, 2);
  return (marked){block, k < LMT_MARKS ? (lmt_class)k : LMT_UNMARKED};
}

void *lmt_marked (lua_State *L, int i, lmt_class class) {
  marked m = marked_at(L, i);
  return m.class == class ? m.block : NULL;
}

void *lmt_checkmarked (lua_State *L, int i, lmt_class class, const char *name) {
  void *block = lmt_marked(L, i, class);
  return block ? block : luaL_checkudata(L, i, name);
}

static void set_class (lua_State *L, lmt_class class) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &marks[class]);
  lua_setmetatable(L, -2);
}

static inline const mt_node *node_at (lua_State *L, int i) {
  marked m = marked_at(L, i);
  if (m.class == LMT_TENSORS) return lmt_livetensor(L, m.block)->layout;
  return m.class == LMT_UNMARKED || m.class > LMT_TENSORS ? NULL : m.block;
}

const mt_node *lmt_nodeat (lua_State *L, int i) { return node_at(L, i); }

static void check_extent (lua_State *L, const char *what, const mt_node *n) {
  if (n->ring != MT_Z)
    luaL_error(L, "%s: a basis element is no mode: layout, integer or _ expected", what);
  if (n->shape < 0) luaL_error(L, "%s: negative extent %I", what, (LUAI_UACINT)n->shape);
}

/* Integers n become n:1, tuples tilers; layouts stay. */
static void become_tiler (lua_State *L, const char *what, mt_node *t) {
  for (mt_node *p = t, *end = t + t->span; p < end;) {
    if (p->tag == MT_INT) check_extent(L, what, p), p->tag = MT_LEAF, p->stride = 1;
    if (p->tag == MT_TUPLE) p->tag = MT_TILER;
    p += p->tag == MT_TILER ? 1 : p->span;
  }
}

/* Nothing but the `n` elements of a sequence. */
static void check_sequence (reader *r, int i, int n) {
  lua_State *L = r->L;
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
    lua_Integer k = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (k >= 1 && k <= n) continue;
    lua_pushvalue(L, -2);
    const char *key = lua_type(L, -1) == LUA_TSTRING || lua_isnumber(L, -1) ?
                          lua_tostring(L, -1) :
                          luaL_typename(L, -1);
    complain(r, lua_pushfstring(L, "not a sequence: it has a field [%s]", key));
  }
}

static void read_value (reader *r, int i);

/* The element k of the table being read lies on the top. Returns whether it makes the
** table a tiler. */
static bool read_element (reader *r, int k) {
  int first = r->n;
  r->path[r->depth++] = k;
  read_value(r, -1);
  r->depth--;
  const mt_node *c = &r->out->node[first];
  return c->tag == MT_TILER || lmt_islayout(c);
}

/* The fields of the table at `i`, if lua_next has them as 1, 2, ..., n: then there are no
** others. False: some other order, or fields. */
static bool read_in_turn (reader *r, int i, int n, bool *tiler) {
  lua_State *L = r->L;
  int k = 0;
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
    if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) != ++k || k > n) {
      lua_pop(L, 2);
      return false;
    }
    *tiler |= read_element(r, k);
  }
  return k == n;
}

static void read_table (reader *r, int i) {
  lua_State *L = r->L;
  size_t n = lua_rawlen(L, i);
  int at = r->n;
  bool tiler = false;
  i = lua_absindex(L, i);
  luaL_checkstack(L, 8, NULL);
  if (r->depth == MT_MAXDEPTH) too_deep(r);
  if (n >= MT_MAXNODES) too_many(r);
  add_node(r, MT_TUPLE);
  if (!read_in_turn(r, i, (int)n, &tiler)) {
    r->n = at + 1;
    for (int k = 1; k <= (int)n; k++) {
      lua_rawgeti(L, i, k);
      tiler |= read_element(r, k);
      lua_pop(L, 1);
    }
    check_sequence(r, i, (int)n);
  }
  mt_node *t = &r->out->node[at];
  t->arity = (uint16_t)n;
  t->span = (uint32_t)(r->n - at);
  if (tiler) become_tiler(L, r->what, t);
}

/* Floats with an integral value are integers, as everywhere in Lua; strings are not. */
static void read_float (reader *r, int i) {
  int integral;
  lua_Integer v = lua_tointegerx(r->L, i, &integral);
  if (integral) add_node(r, MT_INT)->shape = v;
  else expected(r, i);
}

static LMT_APART void add_text (reader *r, int i) {
  mt_layout buf;
  const mt_node *t = lmt_said(r->L, i, r->kinds, &buf);
  if (t) add_value(r, t);
  else expected(r, i);
}

static void read_other (reader *r, int i) {
  int type = lua_type(r->L, i);
  if (type == LUA_TUSERDATA) {
    const mt_node *t = lmt_nodeat(r->L, i);
    if (t == NULL || !(lmt_kindof(t) & r->kinds)) expected(r, i);
    else add_value(r, t);
  } else if (type == LUA_TTABLE && (r->kinds & LMT_TABLE)) read_table(r, i);
  else if (type == LUA_TNUMBER && (r->kinds & LMT_INT)) read_float(r, i);
  else if (type == LUA_TSTRING) add_text(r, i);
  else expected(r, i);
}

static void read_value (reader *r, int i) {
  if ((r->kinds & LMT_INT) && lua_isinteger(r->L, i))
    add_node(r, MT_INT)->shape = lua_tointeger(r->L, i);
  else read_other(r, i);
}

const mt_node *lmt_tovalue (lua_State *L, int i, int kinds, const char *what,
                            mt_layout *buf) {
  if ((kinds & LMT_INT) && lua_isinteger(L, i)) {
    mt_int(buf, lua_tointeger(L, i));
    return buf->node;
  }
  reader r;
  r.L = L;
  r.out = buf;
  r.kinds = kinds;
  r.what = what;
  r.n = r.depth = 0;
  read_other(&r, i);
  return buf->node;
}

/* ---------------------------------------------------------------- arguments */

static LMT_APART const mt_node *no_layout (lua_State *L, int i, const mt_node *t) {
  if (t && t->tag == MT_COMPOSED) luaL_argerror(L, i, COMPOSED);
  if (lua_istable(L, i)) luaL_argerror(L, i, "layout expected, got table" FROM_SHAPE);
  lmt_nolayout(L, i);
  return NULL;
}

static const mt_node *other_layout (lua_State *L, int i, const mt_node *t, int kinds) {
  const mt_node *said =
      lua_type(L, i) == LUA_TSTRING ? lmt_saidlayout(L, i, kinds) : NULL;
  return said ? said : no_layout(L, i, t);
}

const mt_node *lmt_tolayout (lua_State *L, int i) {
  const mt_node *t = node_at(L, i);
  return t && lmt_islayout(t) && t->tag != MT_COMPOSED ?
             t :
             other_layout(L, i, t, LMT_LAYOUTS);
}

const mt_node *lmt_tocomposed (lua_State *L, int i) {
  const mt_node *t = node_at(L, i);
  return t && lmt_islayout(t) ? t : other_layout(L, i, NULL, LMT_LAYOUTS | LMT_COMPOSED);
}

const mt_node *lmt_tofunction (lua_State *L, int i, mt_layout *buf) {
  const mt_node *t = node_at(L, i);
  if (t && (lmt_kindof(t) & (LMT_LAYOUTS | LMT_COMPOSED | LMT_SWIZZLES | LMT_WILD)))
    return t;
  if (t == NULL && (lua_isinteger(L, i) || lua_type(L, i) == LUA_TTABLE))
    return lmt_tovalue(L, i, LMT_COORD | LMT_LAYOUTS, "layout", buf);
  if (lua_type(L, i) == LUA_TSTRING &&
      (t = lmt_said(L, i, LMT_LAYOUTS | LMT_COMPOSED | LMT_SWIZZLES, buf)))
    return t;
  lmt_nolayout(L, i);
  return NULL;
}

const mt_node *lmt_totiler (lua_State *L, int i, mt_layout *buf) {
  marked m = marked_at(L, i);
  if (m.class == LMT_FUNCTIONS) return m.block;
  const mt_node *t =
      lmt_tovalue(L, i, LMT_COORD | LMT_LAYOUTS | LMT_COMPOSED | LMT_SWIZZLES, "tiler",
                  buf);
  if (t->tag != MT_TILER) become_tiler(L, "tiler", buf->node);
  return t;
}

const mt_node *lmt_toshaped (lua_State *L, int i, const char *what, mt_layout *buf) {
  mt_layout shape;
  LMT_NOERR(err);
  const mt_node *t = node_at(L, i);
  if (t && lmt_islayout(t)) return t;
  t = lmt_tovalue(L, i, LMT_SHAPE | LMT_LAYOUTS, what, &shape);
  if (lmt_islayout(t)) { /* of a text */
    memcpy(buf->node, t, t->span * sizeof *t);
    return buf->node;
  }
  if (mt_layout_left(buf, t, &err)) luaL_error(L, "%s: %s", what, err.text);
  return buf->node;
}

int lmt_tolayouts (lua_State *L, int first, const mt_node **modes) {
  int n = lua_gettop(L) - first + 1, at = first;
  if (n == 1 && lua_type(L, first) == LUA_TTABLE) {
    size_t len = lua_rawlen(L, first);
    if (len >= MT_MAXNODES) luaL_error(L, "more than %d layouts", (int)MT_MAXNODES);
    check_sequence(&(reader){.L = L, .what = "layouts"}, first, (int)len);
    luaL_checkstack(L, (int)len + 8, NULL);
    for (n = 0; n < (int)len; n++) lua_rawgeti(L, first, n + 1);
    at = first + 1;
  }
  if (n >= MT_MAXNODES) luaL_error(L, "more than %d layouts", (int)MT_MAXNODES);
  for (int k = 0; k < n; k++) {
    modes[k] = lua_type(L, at + k) == LUA_TSTRING ?
                   lmt_saidlayout(L, at + k, LMT_LAYOUTS | LMT_COMPOSED) :
                   lmt_nodeat(L, at + k);
    if (modes[k] == NULL || !lmt_islayout(modes[k]))
      luaL_error(L,
                 "mode %d: layout expected, got %s (tile.layout builds one from a "
                 "shape)",
                 k + 1, type_name(L, at + k));
  }
  return n;
}

const mt_node *lmt_tocoord (lua_State *L, int first, const mt_node *a, mt_layout *buf) {
  int n = lua_gettop(L) - first + 1;
  if (n == 1 && lua_isinteger(L, first)) {
    mt_int(buf, lua_tointeger(L, first));
    return buf->node;
  }
  if (n == 1) return lmt_tocoord1(L, first, a, buf);
  reader r = {.L = L,
              .out = buf,
              .kinds = LMT_COORD | LMT_F2,
              .what = "coordinate",
              .depth = 1};
  add_node(&r, MT_TUPLE);
  for (int k = 0; k < n; k++) {
    r.path[0] = k + 1;
    read_value(&r, first + k);
  }
  buf->node->arity = (uint16_t)n;
  buf->node->span = (uint32_t)r.n;
  return buf->node;
}

int lmt_tomodes (lua_State *L, int first, int *modes) {
  mt_layout buf;
  int n = 0;
  for (int i = first; i <= lua_gettop(L); i++) {
    const mt_node *t = lmt_tovalue(L, i, LMT_SHAPE, "mode", &buf);
    for (const mt_node *p = t; p < mt_next(t); p++) {
      if (p->tag != MT_INT) continue;
      if (p->shape < 1 || p->shape > MT_MAXNODES || n == MT_MAXNODES)
        luaL_error(L, "mode numbers count from 1, got %I", (LUAI_UACINT)p->shape);
      modes[n++] = (int)p->shape - 1;
    }
  }
  return n;
}

bool lmt_isclass (lua_State *L, int i, const char *name) {
  return luaL_testudata(L, i, name) != NULL;
}
bool lmt_isplain (lua_State *L, int i) {
  lmt_class class = marked_at(L, i).class;
  return class == LMT_FUNCTIONS || class == LMT_VALUES || lua_istable(L, i);
}
void lmt_checkfunction (lua_State *L, int i) { luaL_checktype(L, i, LUA_TFUNCTION); }
bool lmt_isstring (lua_State *L, int i) { return lua_type(L, i) == LUA_TSTRING; }
bool lmt_istable (lua_State *L, int i) { return lua_type(L, i) == LUA_TTABLE; }

mt_number lmt_tonumber (lua_State *L, int i) {
  if (lua_isboolean(L, i)) return (mt_number){.isint = true, .i = lua_toboolean(L, i)};
  if (lua_isinteger(L, i)) return (mt_number){.isint = true, .i = lua_tointeger(L, i)};
  if (lua_type(L, i) != LUA_TNUMBER)
    luaL_error(L, "value: number expected, got %s", type_name(L, i));
  return (mt_number){.f = lua_tonumber(L, i)};
}

/* ---------------------------------------------------------------- pushing */

static inline void push_nodes (lua_State *L, const mt_node *t) {
  if (t->tag >= MT_COMPOSED) lmt_pushkept(L, t);
  else memcpy(lua_newuserdatauv(L, t->span * sizeof *t, 0), t, t->span * sizeof *t);
}

static void push_userdata (lua_State *L, const mt_node *t, lmt_class class) {
  push_nodes(L, t);
  set_class(L, class);
}

static void push_table (lua_State *L, const mt_node *t) {
  int n = 0;
  luaL_checkstack(L, 8, NULL);
  lua_createtable(L, t->arity, 0);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    lmt_pushvalue(L, c);
    lua_rawseti(L, -2, ++n);
  }
  set_class(L, LMT_TUPLES);
}

static void push_wildcard (lua_State *L) {
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_WILDCARD);
  lua_remove(L, -2);
}

int lmt_pushvalue (lua_State *L, const mt_node *t) {
  if (lmt_islayout(t)) push_userdata(L, t, LMT_FUNCTIONS);
  else if (t->tag == MT_TUPLE || t->tag == MT_TILER) push_table(L, t);
  else if (t->tag == MT_INT && t->ring == MT_Z) lua_pushinteger(L, t->shape);
  else if (t->tag == MT_WILD) push_wildcard(L);
  else push_userdata(L, t, LMT_VALUES);
  return 1;
}

/* Takes its class from the layout at `i`: that is nearer than the registry. */
static void push_as (lua_State *L, int i, const mt_node *t) {
  push_nodes(L, t);
  lua_getmetatable(L, i);
  lua_setmetatable(L, -2);
}

int lmt_pushlike (lua_State *L, int i, const mt_node *t, int64_t offset) {
  lmt_class class = lmt_islayout(t) ? marked_at(L, i).class : LMT_UNMARKED;
  if (class == LMT_TENSORS) return lmt_pushcut(L, i, t, offset, &(lmt_cut){0});
  if (class == LMT_FUNCTIONS) push_as(L, i, t);
  else lmt_pushvalue(L, t);
  return 1;
}

/* The block of a layout begins with its node, that of a tensor does not. */
bool lmt_pushedas (lua_State *L, int i, const mt_node *a, const mt_node *t) {
  if (!lmt_islayout(t) || !lmt_islayout(a) || lua_touserdata(L, i) != (const void *)a)
    return false;
  push_as(L, i, t);
  return true;
}

int lmt_pushnew (lua_State *L, int i, const mt_node *a, const mt_node *t) {
  return lmt_pushedas(L, i, a, t) ? 1 : lmt_pushvalue(L, t);
}

int lmt_pushfrom (lua_State *L, int i, const mt_node *a, const mt_node *t) {
  return lmt_pushedas(L, i, a, t) ? 1 : lmt_pushlike(L, i, t, 0);
}
