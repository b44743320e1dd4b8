/*
** class.c - the classes of values that scripts hold: their metatables, their methods,
** and what is said of a name that they do not have.
** SPDX-License-Identifier: MIT
*/
#include <ctype.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/listed.h"

/* The metatable of a class has its methods at this index; 1 is the mark of a value. */
enum { METHODS = 2 };

static const struct class {
  int of;         /* as in binding/operations.def */
  lmt_class mark; /* LMT_UNMARKED: none */
  const char *name;
} classes[] = {{OF_LAYOUT, LMT_FUNCTIONS, LMT_LAYOUT},
               {OF_VALUE, LMT_VALUES, LMT_VALUE},
               {OF_TENSOR, LMT_TENSORS, LMT_TENSOR},
               {OF_DEVICE, LMT_UNMARKED, LMT_DEVICE},
               {OF_STREAM, LMT_STREAMS, LMT_STREAM},
               {OF_PLAN, LMT_PLANS, LMT_PLAN},
               {OF_GRAPH, LMT_GRAPHS, LMT_GRAPH},
               {OF_TILEDCOPY, LMT_COPIES, LMT_TILEDCOPY},
               {OF_THRCOPY, LMT_UNMARKED, LMT_THRCOPY},
               {OF_TILEDMMA, LMT_UNMARKED, LMT_TILEDMMA},
               {OF_THRMMA, LMT_UNMARKED, LMT_THRMMA},
               {OF_KERNEL, LMT_UNMARKED, LMT_KERNEL},
               {0, LMT_UNMARKED, NULL}};

/* ---------------------------------------------------------------- near names */

static int least (int a, int b) { return a < b ? a : b; }

/* How many letters are left out, put in, changed, or exchanged with the next; long names
** are far from each other. */
static int distance (const char *a, const char *b) {
  enum { LONGEST = 31 };
  int rows[3][LONGEST + 1], n = (int)strlen(b), i = 0;
  if (n > LONGEST || strlen(a) > LONGEST) return LONGEST;
  for (int j = 0; j <= n; j++) rows[0][j] = j;
  for (; a[i]; i++) {
    const int *up = rows[i % 3], *upper = rows[(i + 2) % 3];
    int *row = rows[(i + 1) % 3];
    row[0] = i + 1;
    for (int j = 0; j < n; j++) {
      row[j + 1] = least(up[j] + (a[i] != b[j]), 1 + least(up[j + 1], row[j]));
      if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = least(row[j + 1], upper[j - 1] + 1);
    }
  }
  return rows[i % 3][n];
}

/* But for capitals and underscores: MMA_Atom, mmaAtom and mma_atom. */
static bool is_same (const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a == '_') a++;
    while (*b == '_') b++;
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
    if (*a == '\0') return true;
  }
}

void lmt_nearer (lmt_near *near, const char *key, const char *name) {
  size_t n = strlen(key);
  int within = near->name ? near->distance : n > 3 ? 2 : n > 1;
  int d = n > 1 && is_same(key, name) ? 0 : distance(key, name);
  if (d > within || (near->name && d == within && strcmp(name, near->name) > 0)) return;
  *near = (lmt_near){name, d};
}

/* Whether a value of a class, not layouts, may have been meant for this operation: not if
** it is that of another class. */
static bool is_free (const lmt_operation *row) {
  return !(row->of & OF_LAYOUT) && (!(row->of & OF_TILE) || row->of == OF_TILE);
}

/* Where else there is such an operation: "tile", a class, or NULL. One of layouts is no
** answer where there are none. */
static const char *found_elsewhere (const char *key, bool layouts) {
  for (const lmt_operation *row = lmt_operations; row->name; row++)
    for (int of = OF_TILE; of < OF_INNER; of <<= 1)
      if (row->of & of && strncmp(key, "__", 2) != 0 && strcmp(row->name, key) == 0 &&
          (layouts || is_free(row)))
        return lmt_where(of);
  return NULL;
}

const char *lmt_calledas (lua_State *L, const char *alias, const char *name) {
  lua_Debug ar;
  if (!lua_getstack(L, 0, &ar) || !lua_getinfo(L, "n", &ar) || ar.name == NULL)
    return name;
  return strcmp(ar.name, alias) == 0 ? alias : name;
}

/* What other libraries call it; what does it here, or why there is none. */
static const struct {
  const char *name, *here, *none;
} others[] = {
#define LMT_HERE(name, here) {#name, here, NULL},
#define LMT_NONE(name, why) {#name, NULL, why},
#include "binding/others.def"
#undef LMT_HERE
#undef LMT_NONE
};

/* Raises what is said of such a name; returns if nothing is. */
static void refuse_other (lua_State *L, const char *what, const char *class,
                          const char *key) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(key, others[i].name) == 0)
      luaL_error(L, "%s.%s: no such %s; %s%s", class, key, what,
                 others[i].here ? "here it is " : "",
                 others[i].here ? others[i].here : others[i].none);
}

/* Names that have a key in them, or are in it: of "inverse" left_inverse. */
enum { RELATED = 3, WORD = 4 };

static bool is_related (const char *key, const char *name) {
  return (strlen(key) >= WORD && strstr(name, key)) ||
         (strlen(name) >= WORD && strstr(key, name));
}

/* The first of them by the alphabet. */
static void add_related (const char *found[RELATED], const char *name) {
  for (int i = 0; i < RELATED; i++) {
    if (found[i] && strcmp(name, found[i]) > 0) continue;
    const char *other = found[i];
    found[i] = name;
    if (other == NULL) return;
    name = other;
  }
}

static LMT_APART int mean_related (lua_State *L, const char *what, const char *class,
                                   const char *key, const char *const *found) {
  lua_pushfstring(L, "%s.%s: no such %s; did you mean %s", class, key, what, found[0]);
  for (int i = 1; i < RELATED && found[i]; i++)
    lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1),
                    i + 1 < RELATED && found[i + 1] ? ", " : " or ", found[i]);
  return luaL_error(L, "%s?", lua_tostring(L, -1));
}

/* A name but for one letter is that name; else one that is elsewhere is rather meant. */
int lmt_nosuch (lua_State *L, const char *what, int names, const char *class) {
  lmt_near near = {NULL, 0};
  const char *related[RELATED] = {NULL};
  const char *has = lmt_instead(L, 1, false);
  const char *key = luaL_tolstring(L, 2, NULL);
  const char *where = strcmp(what, "field") ? found_elsewhere(key, !has) : NULL;
  if (!where) refuse_other(L, what, class, key);
  if (!where && has && found_elsewhere(key, true))
    return luaL_error(L, "%s.%s: no such %s; %s", class, key, what, has);
  for (lua_pushnil(L); lua_next(L, names); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    lmt_nearer(&near, key, lua_tostring(L, -2));
    if (is_related(key, lua_tostring(L, -2))) add_related(related, lua_tostring(L, -2));
  }
  if (related[0] && !where && (near.name == NULL || near.distance > 1))
    return mean_related(L, what, class, key, related);
  if (where && (near.name == NULL || near.distance > 1))
    return luaL_error(L, "%s.%s: no such %s; %s has one: %s%s%s", class, key, what, where,
                      where, strcmp(where, "tile") == 0 ? "." : ":", key);
  return luaL_error(L, "%s.%s: no such %s%s%s%s", class, key, what,
                    near.name ? "; did you mean " : "", near.name ? near.name : "",
                    near.name ? "?" : "");
}

/* A[i]: from 1 on. A coordinate is taken by A(c). */
static lua_Integer mode_number (lua_State *L) {
  if (lmt_istable(L, 2))
    luaL_error(L, "A[i]: a mode number expected, got a table; A(i, j) and A{i, j} are "
                  "offsets");
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 1) luaL_error(L, "A[%I]: modes are counted from 1", (LUAI_UACINT)i);
  return i;
}

/* Upvalues: the table of methods, the name of the class. Integer keys are modes of
** layouts. */
static int l_index (lua_State *L) {
  if (lmt_isstring(L, 2)) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    return lmt_nosuch(L, "method", lua_upvalueindex(1),
                      lua_tostring(L, lua_upvalueindex(2)));
  }
  if (lmt_isclass(L, 1, LMT_LAYOUT)) {
    mt_layout out;
    LMT_NOERR(err);
    const mt_node *a = lmt_tocomposed(L, 1);
    lua_Integer i = mode_number(L);
    if (i > mt_rank(a)) return lua_pushnil(L), 1; /* where ipairs ends */
    if (mt_get(&out, a, 1, &(int){(int)i - 1}, &err)) return lmt_raise(L, &err);
    return lmt_pushvalue(L, out.node);
  }
  if (lmt_isclass(L, 1, LMT_TENSOR)) {
    if (lmt_istable(L, 2)) return lmt_element(L);
    return luaL_error(L, "tensor[i]: elements are read by T(i, j) or T[{i, j}], modes by "
                         "T:get(i)");
  }
  return luaL_error(L, "%s has no element [%s]", lua_tostring(L, lua_upvalueindex(2)),
                    luaL_tolstring(L, 2, NULL));
}

/* Upvalue: the name of the class. What can be written to has its own. */
static int l_fixed (lua_State *L) {
  const char *class = lua_tostring(L, lua_upvalueindex(1));
  const char *key = luaL_tolstring(L, 2, NULL);
  bool dot = lmt_isstring(L, 2);
  bool layout = lmt_isclass(L, 1, LMT_LAYOUT);
  return luaL_error(L, "%s%s%s%s = ...: a %s has no fields to be set%s", class,
                    dot ? "." : "[", key, dot ? "" : "]", class,
                    layout ? "; layout(shape, stride) makes another" : "");
}

/* ---------------------------------------------------------------- making */

static void new_class (lua_State *L, const struct class *c) {
  if (c->mark != LMT_UNMARKED) lmt_mark(L, c->mark, c->name);
  luaL_newmetatable(L, c->name);
  if (lua_rawgeti(L, -1, METHODS) == LUA_TNIL) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -4, METHODS);
    lua_pushstring(L, strchr(c->name, '.') + 1);
    lua_pushcclosure(L, l_index, 2);
    lua_setfield(L, -3, "__index");
    lua_pushstring(L, strchr(c->name, '.') + 1);
    lua_pushcclosure(L, l_fixed, 1);
    lua_setfield(L, -3, "__newindex");
  }
  lua_pop(L, 2);
}

/* ---------------------------------------------------------------- operators */

/* Those that a class may lack: by the names of metamethods, and what there is instead, of
** layouts. */
static const struct {
  const char *event, *symbol, *meant;
  bool alone; /* it has one operand */
} operators[] = {{"__add", "+", "make_layout{A, B} has the modes of both", false},
                 {"__sub", "-", "A:with_offset(n) begins elsewhere", false},
                 {"__mul", "*", NULL, false},
                 {"__div", "/", NULL, false},
                 {"__mod", "%", "A / T divides, its second mode counts the tiles", false},
                 {"__pow", "^", "A:logical_product(B) repeats A", false},
                 {"__idiv", "//", "A / T is logical_divide", false},
                 {"__unm", "-", "a reversed mode has a stride below 0", true},
                 {"__concat", "..", NULL, false},
                 {"__len", "#", NULL, true},
                 {"__lt", "<", "sizes are compared: A:size() < B:size()", false},
                 {"__le", "<=", "sizes are compared: A:size() <= B:size()", false},
                 {"__band", "&", "A * B composes", false},
                 {"__bor", "|", "A * B composes", false},
                 {"__bxor", "~", "tile.swizzle(b, m, s) * A swizzles", false},
                 {"__shl", "<<", "A * B composes", false},
                 {"__shr", ">>", "A * B composes", false},
                 {"__bnot", "~", "A:complement(n) is what A leaves out", true},
                 {"__call", "()", NULL, true}};

/* The class or type at i, without the library. Pushes what it depends on. */
static const char *class_at (lua_State *L, int i) {
  const char *name = lmt_kindname(L, i), *dot = strchr(name, '.');
  return dot ? dot + 1 : name;
}

/* Calls the other operand's, if that is none of ours and has it. Texts have some. */
static bool call_other (lua_State *L, const char *event) {
  if (!lua_istable(L, 2) && !lua_isuserdata(L, 2)) return false;
  if (strncmp(lmt_kindname(L, 2), "moontile.", 9) == 0) return false;
  if (luaL_getmetafield(L, 2, event) == LUA_TNIL) return false;
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return true;
}

/* What may be meant by the operator i of the values at 1 and 2, or NULL. */
static const char *meant_by (lua_State *L, lua_Integer i) {
  const char *symbol = operators[i].symbol, *has = NULL;
  if (strcmp(symbol, "..") == 0) return "tostring(x) is the text of a value";
  for (int k = 1; k <= 2 && !has; k++) has = lmt_instead(L, k, strcmp(symbol, "()") == 0);
  if (has) return has;
  return lmt_isclass(L, 1, LMT_LAYOUT) || lmt_isclass(L, 2, LMT_LAYOUT) ?
             operators[i].meant :
             NULL;
}

/* Upvalue: the row of `operators`. */
static int l_refused (lua_State *L) {
  const lua_Integer i = lua_tointeger(L, lua_upvalueindex(1));
  const char *symbol = operators[i].symbol;
  lua_settop(L, 2);
  if (!operators[i].alone && call_other(L, operators[i].event)) return 1;
  const char *meant = meant_by(L, i), *a = class_at(L, 1), *b = class_at(L, 2);
  if (strcmp(symbol, "()") == 0) lua_pushfstring(L, "%s(...)", a);
  else if (operators[i].alone) lua_pushfstring(L, "%s%s", symbol, a);
  else lua_pushfstring(L, "%s %s %s", a, symbol, b);
  lmt_pushwhere(L);
  lua_pushfstring(L, "%s%s: there is no such operator%s%s", lua_tostring(L, -1),
                  lua_tostring(L, -2), meant ? "; " : "", meant ? meant : "");
  return lua_error(L);
}

/* The function on the top, as the operator i of a class. */
static void set_refused (lua_State *L, const char *class, size_t i) {
  luaL_newmetatable(L, class);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, operators[i].event);
  lua_pop(L, 1);
}

/* Each once, for all classes. */
static void refuse_operators (lua_State *L) {
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    lua_pushinteger(L, (lua_Integer)i);
    lua_pushcclosure(L, l_refused, 1);
    for (const struct class *c = classes; c->name; c++) set_refused(L, c->name, i);
    set_refused(L, LMT_MMAATOM, i);
    set_refused(L, LMT_COPYATOM, i);
    lua_pop(L, 1);
  }
}

const char *lmt_where (int of) {
  for (const struct class *c = classes; c->name; c++)
    if (c->of == of) return strchr(c->name, '.') + 1;
  return of == OF_TILE ? "tile" : NULL;
}

void lmt_openclasses (lua_State *L) {
  for (const struct class *c = classes; c->name; c++) new_class(L, c);
  refuse_operators(L);
}

/* Upvalues: a table of names, the name of the class. */
static int l_field (lua_State *L) {
  lua_settop(L, 2);
  if (!lmt_isstring(L, 2)) return lua_pushnil(L), 1;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return lua_pushnil(L), 1;
  return lmt_nosuch(L, "field", lua_upvalueindex(1),
                    lua_tostring(L, lua_upvalueindex(2)));
}

void lmt_setfields (lua_State *L, const char *name, const char *const *fields) {
  luaL_newmetatable(L, name);
  lua_newtable(L);
  for (; *fields; fields++) {
    lua_pushboolean(L, true);
    lua_setfield(L, -2, *fields);
  }
  lua_pushstring(L, strchr(name, '.') + 1);
  lua_pushcclosure(L, l_field, 2);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

void lmt_setmeta (lua_State *L, const char *name, const luaL_Reg *meta) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, meta, 0);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}

/* Sets a copy of the value on the top in the class. */
static void set_method (lua_State *L, const char *class, const char *name) {
  luaL_getmetatable(L, class);
  if (strncmp(name, "__", 2) != 0) {
    lua_rawgeti(L, -1, METHODS);
    lua_replace(L, -2);
  }
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

void lmt_addmethod (lua_State *L, int of, const char *name) {
  for (const struct class *c = classes; c->name; c++)
    if (c->of & of) set_method(L, c->name, name);
}
