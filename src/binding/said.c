/*
** said.c - where a layout, a tuple or a tiler is taken, a text that says one is, too.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/said.h"

/* It allocates nothing: it is a string already. */
const char *lmt_stringat (lua_State *L, int i, size_t *n) {
  return lua_tolstring(L, i, n);
}

int lmt_unread (lua_State *L, const char *text, mt_err *err) {
  size_t n = strlen(err->text);
  if (strchr(text, '?'))
    snprintf(err->text + n, sizeof err->text - n,
             "\n  tile.parse(text, n, ...) puts numbers there");
  return lmt_raise(L, err);
}

void lmt_fillmarks (lua_State *L) {
  luaL_Buffer b;
  int next = 2, top = lua_gettop(L);
  if (top < 2 || !lua_isinteger(L, 2) || !strchr(lua_tostring(L, 1), '?')) return;
  luaL_buffinit(L, &b);
  for (const char *p = lua_tostring(L, 1); *p; p++) {
    if (*p != '?') {
      luaL_addchar(&b, *p);
      continue;
    }
    if (next > top)
      luaL_error(L, "parse: the text has more `?` than the %d given", top - 1);
    lua_pushfstring(L, "%I", (LUAI_UACINT)luaL_checkinteger(L, next++));
    luaL_addvalue(&b);
    if (p[1] == '{') p += 1 + strcspn(p + 1, "}"); /* ?{div=8} */
    if (*p == '\0') break;
  }
  if (next <= top)
    luaL_error(L, "parse: the text has %d `?`, not the %d given", next - 2, top - 1);
  luaL_pushresult(&b);
  lua_replace(L, 1);
  lua_settop(L, 1);
}

/* CuTe prints (shape:stride) for shape:stride. */
static const mt_node *bare (const mt_node *t) {
  const mt_node *one = mt_child(t);
  return t->tag == MT_TILER && t->arity == 1 && lmt_islayout(one) ? one : t;
}

/* Whether an argument of these kinds may be t, which was read from a text. */
static bool fits (const mt_node *t, int kinds) {
  bool members = t->tag == MT_TUPLE || t->tag == MT_TILER;
  if (t->tag == MT_INT && t->ring == MT_Z) return kinds & LMT_INT;
  if (!members) return lmt_kindof(t) & kinds;
  if (!(kinds & LMT_TABLE) || (t->tag == MT_TILER && !(kinds & LMT_LAYOUTS)))
    return false;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (!fits(c, kinds)) return false;
  return true;
}

const mt_node *lmt_said (lua_State *L, int i, int kinds, mt_layout *buf) {
  size_t n;
  LMT_NOERR(err);
  const char *text = lmt_stringat(L, i, &n);
  if (mt_parse(buf, text, n, &err)) {
    if (strpbrk(text, ":(<")) lmt_unread(L, text, &err);
    return NULL;
  }
  const mt_node *t = bare(buf->node);
  return t->tag != MT_INT && fits(t, kinds) ? t : NULL;
}

const mt_node *lmt_saidlayout (lua_State *L, int i, int kinds) {
  mt_layout buf;
  const mt_node *t = lmt_said(L, i, kinds, &buf);
  if (t == NULL) return NULL;
  i = lua_absindex(L, i);
  lmt_pushvalue(L, t);
  lua_replace(L, i);
  return lmt_nodeat(L, i);
}

const mt_node *lmt_toshape (lua_State *L, int i, mt_layout *buf) {
  size_t n;
  LMT_NOERR(err);
  if (lua_type(L, i) != LUA_TSTRING) return lmt_tovalue(L, i, LMT_SHAPE, "shape", buf);
  const char *text = lmt_stringat(L, i, &n);
  if (mt_parse(buf, text, n, &err)) lmt_unread(L, text, &err);
  const mt_node *t = bare(buf->node);
  if (!lmt_islayout(t) && t->tag != MT_TUPLE && t->tag != MT_INT)
    luaL_error(L, "layout expected, got \"%s\"", text);
  return t;
}

static const struct {
  const char *name;
  lmt_order order;
} orders[] = {{"left", LMT_LEFT},         {"LayoutLeft", LMT_LEFT},
              {"GenColMajor", LMT_LEFT},  {"right", LMT_RIGHT},
              {"LayoutRight", LMT_RIGHT}, {"GenRowMajor", LMT_RIGHT}};

void lmt_openorders (lua_State *L) {
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
    if (orders[k].name[0] == 'l' || orders[k].name[0] == 'r') continue;
    lua_pushstring(L, orders[k].name);
    lua_setfield(L, -2, orders[k].name);
  }
}

lmt_order lmt_toorder (lua_State *L, int i, mt_layout *buf, const mt_node **stride) {
  if (lua_isnoneornil(L, i)) return LMT_LEFT;
  if (lua_type(L, i) == LUA_TSTRING) {
    const char *s = lua_tostring(L, i);
    size_t n = strcspn(s, "{");
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
      if (strncmp(s, orders[k].name, n) == 0 && orders[k].name[n] == '\0')
        return orders[k].order;
    if ((*stride = lmt_said(L, i, LMT_STRIDE, buf))) return LMT_GIVEN;
    luaL_error(L, "stride: \"left\" or, row-major, \"right\" expected, got \"%s\"", s);
  }
  *stride = lmt_tovalue(L, i, LMT_STRIDE, "stride", buf);
  return LMT_GIVEN;
}
