/*
** pattern.c - find, match, gmatch, gsub: Lua's patterns, in steps that are counted.
** SPDX-License-Identifier: MIT
**
** A pattern is matched by trying: some take time that is exponential in its length. The
** meaning is that of Lua 5.4's manual, 6.4.1; spec/vm compares both on random patterns.
*/
#include <ctype.h>
#include <string.h>

#include "vm/vm.h"

enum { MOST_CAPTURES = 32, MOST_DEPTH = 150, OPEN = -1, POSITION = -2 };

typedef struct matcher {
  lua_State *L;
  mt_vm *v;
  const char *s, *end; /* the subject */
  const char *pend;    /* where the pattern ends */
  int depth, captures;
  struct {
    const char *at;
    ptrdiff_t size; /* OPEN, POSITION */
  } capture[MOST_CAPTURES];
} matcher;

static const char *match (matcher *m, const char *s, const char *p);

static unsigned char byte_at (const char *s) { return *(const unsigned char *)s; }

/* ---------------------------------------------------------------- single characters */

static const char *class_end_of_set (const matcher *m, const char *p) {
  if (p < m->pend && *p == '^') p++;
  do { /* a ] that comes first is one of the set */
    if (p >= m->pend) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%') {
      if (p >= m->pend) luaL_error(m->L, "malformed pattern (missing ']')");
      p++;
    }
  } while (p >= m->pend || *p != ']');
  return p + 1;
}

/* Where the single character class at p ends. */
static const char *class_end (const matcher *m, const char *p) {
  char c = *p++;
  if (c == '%') {
    if (p >= m->pend) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 1;
  }
  return c == '[' ? class_end_of_set(m, p) : p;
}

static bool in_class (int c, int class) {
  static const struct {
    char name;
    int (*is)(int);
  } classes[] = {{'a', isalpha}, {'c', iscntrl}, {'d', isdigit}, {'g', isgraph},
                 {'l', islower}, {'p', ispunct}, {'s', isspace}, {'u', isupper},
                 {'w', isalnum}, {'x', isxdigit}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (classes[i].name == tolower(class))
      return (classes[i].is(c) != 0) == (islower(class) != 0);
  return class == c;
}

/* Whether c is in the set [p, last], from its [ to its ]. */
static bool in_set (int c, const char *p, const char *last) {
  bool is = true;
  if (*++p == '^') is = false, p++;
  for (; p < last; p++) {
    if (*p == '%') {
      if (in_class(c, byte_at(++p))) return is;
    } else if (p[1] == '-' && p + 2 < last) {
      if (byte_at(p) <= c && c <= byte_at(p + 2)) return is;
      p += 2;
    } else if (byte_at(p) == c) {
      return is;
    }
  }
  return !is;
}

/* Whether the character at s is of the class [p, after). */
static bool is_single (matcher *m, const char *s, const char *p, const char *after) {
  vm_tick(m->L, m->v, 1 + (uint64_t)(after - p) / 4);
  if (s >= m->end) return false;
  if (*p == '.') return true;
  if (*p == '%') return in_class(byte_at(s), byte_at(p + 1));
  if (*p == '[') return in_set(byte_at(s), p, after - 1);
  return *p == *s;
}

/* ---------------------------------------------------------------- items */

static const char *match_balance (matcher *m, const char *s, const char *p) {
  if (p + 1 >= m->pend)
    luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->end || *s != *p) return NULL;
  for (int open = 1; ++s < m->end;) {
    vm_tick(m->L, m->v, 1);
    if (*s == p[1]) {
      if (--open == 0) return match(m, s + 1, p + 2);
    } else if (*s == *p) {
      open++;
    }
  }
  return NULL;
}

/* %f[set], p behind the f */
static const char *match_frontier (matcher *m, const char *s, const char *p) {
  if (p >= m->pend || *p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
  const char *after = class_end(m, p);
  int before = s == m->s ? 0 : byte_at(s - 1), here = s < m->end ? byte_at(s) : 0;
  vm_tick(m->L, m->v, (uint64_t)(after - p) / 2);
  if (in_set(before, p, after - 1) || !in_set(here, p, after - 1)) return NULL;
  return match(m, s, after);
}

/* %1, p behind the digit */
static const char *match_back (matcher *m, const char *s, const char *p) {
  int i = p[-1] - '1';
  if (i < 0 || i >= m->captures || m->capture[i].size == OPEN)
    luaL_error(m->L, "invalid capture index %%%d in pattern", i + 1);
  ptrdiff_t n = m->capture[i].size;
  if (n == POSITION) n = 0;
  vm_tick(m->L, m->v, (uint64_t)n / 16);
  if (m->end - s < n || memcmp(m->capture[i].at, s, (size_t)n) != 0) return NULL;
  return match(m, s + n, p);
}

static const char *match_open (matcher *m, const char *s, const char *p) {
  if (m->captures >= MOST_CAPTURES) luaL_error(m->L, "too many captures");
  bool position = p < m->pend && *p == ')';
  m->capture[m->captures].at = s;
  m->capture[m->captures++].size = position ? POSITION : OPEN;
  const char *e = match(m, s, p + position);
  if (e == NULL) m->captures--;
  return e;
}

static const char *match_close (matcher *m, const char *s, const char *p) {
  int i = m->captures - 1;
  while (i >= 0 && m->capture[i].size != OPEN) i--;
  if (i < 0) luaL_error(m->L, "invalid pattern capture");
  m->capture[i].size = s - m->capture[i].at;
  const char *e = match(m, s, p);
  if (e == NULL) m->capture[i].size = OPEN;
  return e;
}

/* As many as there are, then fewer: the class at p, the rest behind its suffix. */
static const char *match_most (matcher *m, const char *s, const char *p,
                               const char *after) {
  ptrdiff_t n = 0;
  while (is_single(m, s + n, p, after)) n++;
  for (; n >= 0; n--) {
    const char *e = match(m, s + n, after + 1);
    if (e) return e;
  }
  return NULL;
}

static const char *match_fewest (matcher *m, const char *s, const char *p,
                                 const char *after) {
  for (;; s++) {
    const char *e = match(m, s, after + 1);
    if (e) return e;
    if (!is_single(m, s, p, after)) return NULL;
  }
}

/* A class and its suffix. *s moves on where the rest of the pattern is to be matched in
** this call: *p is then where. NULL: no match; else the end, or *s. */
static const char *match_class (matcher *m, const char **s, const char **p, bool *more) {
  const char *after = class_end(m, *p);
  char suffix = after < m->pend ? *after : '\0';
  *more = false;
  if (suffix == '*') return match_most(m, *s, *p, after);
  if (suffix == '-') return match_fewest(m, *s, *p, after);
  bool is = is_single(m, *s, *p, after);
  if (suffix == '+') return is ? match_most(m, *s + 1, *p, after) : NULL;
  if (suffix == '?') {
    const char *e = is ? match(m, *s + 1, after + 1) : NULL;
    if (e) return e;
    *p = after + 1;
    return *more = true, *s;
  }
  if (!is) return NULL;
  *p = after;
  return *more = true, ++*s;
}

static const char *match_special (matcher *m, const char *s, const char *p) {
  if (*p == '(') return match_open(m, s, p + 1);
  if (*p == ')') return match_close(m, s, p + 1);
  if (p[1] == 'b') return match_balance(m, s, p + 2);
  if (p[1] == 'f') return match_frontier(m, s, p + 2);
  return match_back(m, s, p + 2);
}

static bool is_special (const matcher *m, const char *p) {
  if (*p == '(' || *p == ')') return true;
  return *p == '%' && p + 1 < m->pend &&
         (strchr("bf", p[1]) || isdigit(byte_at(p + 1))) && p[1] != '\0';
}

/* Where the match of p at s ends, or NULL. */
static const char *match (matcher *m, const char *s, const char *p) {
  bool more = true;
  if (++m->depth > MOST_DEPTH) luaL_error(m->L, "pattern too complex");
  while (more && p < m->pend) {
    vm_tick(m->L, m->v, 1);
    if (is_special(m, p)) s = match_special(m, s, p), more = false;
    else if (*p == '$' && p + 1 == m->pend) s = s == m->end ? s : NULL, more = false;
    else s = match_class(m, &s, &p, &more);
  }
  m->depth--;
  return s;
}

/* ---------------------------------------------------------------- captures */

static void begin (matcher *m, lua_State *L, const char *s, size_t n, const char *p,
                   size_t np) {
  m->L = L;
  m->v = vm_of(L);
  m->s = s, m->end = s + n, m->pend = p + np;
}

static const char *try_at (matcher *m, const char *s, const char *p) {
  m->depth = m->captures = 0;
  return match(m, s, p);
}

/* Capture i, or the whole match [s, e) if it is the first of none. */
static void push_capture (const matcher *m, int i, const char *s, const char *e) {
  if (i >= m->captures) {
    if (i != 0) luaL_error(m->L, "invalid capture index %%%d", i + 1);
    lua_pushlstring(m->L, s, (size_t)(e - s));
  } else if (m->capture[i].size == POSITION) {
    lua_pushinteger(m->L, m->capture[i].at - m->s + 1);
  } else {
    if (m->capture[i].size == OPEN) luaL_error(m->L, "unfinished capture");
    lua_pushlstring(m->L, m->capture[i].at, (size_t)m->capture[i].size);
  }
}

/* All of them; `whole`: the match, if there are none. */
static int push_captures (const matcher *m, const char *s, const char *e, bool whole) {
  int n = m->captures == 0 && whole ? 1 : m->captures;
  luaL_checkstack(m->L, n, "too many captures");
  for (int i = 0; i < n; i++) push_capture(m, i, s, e);
  return n;
}

/* ---------------------------------------------------------------- find, match */

static const char *find_plain (lua_State *L, const char *s, size_t n, const char *p,
                               size_t np) {
  mt_vm *v = vm_of(L);
  if (np == 0) return s;
  for (const char *at = s, *end = s + n; (size_t)(end - at) >= np; at++) {
    const char *first = memchr(at, *p, (size_t)(end - at) - np + 1);
    vm_tick(L, v, 1 + (uint64_t)((first ? first : end) - at) / 16 + np / 32);
    if (first == NULL) return NULL;
    if (memcmp(first, p, np) == 0) return first;
    at = first;
  }
  return NULL;
}

static bool is_plain (const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != '\0' && strchr("^$*+?.([%-", p[i])) return false;
  return true;
}

/* Where argument i says that to begin, from 0 on; n + 1: behind the end. */
static size_t start (lua_State *L, int i, size_t n) {
  lua_Integer at = luaL_optinteger(L, i, 1);
  if (at > 0) return (lua_Unsigned)at - 1 > n ? n + 1 : (size_t)at - 1;
  if (at == 0 || at < -(lua_Integer)n) return 0;
  return n - (size_t)-at;
}

static int push_found (lua_State *L, const char *s, const char *from, const char *e) {
  lua_pushinteger(L, from - s + 1);
  lua_pushinteger(L, e - s);
  return 2;
}

static int search (lua_State *L, bool find) {
  size_t n, np;
  const char *s = luaL_checklstring(L, 1, &n), *p = luaL_checklstring(L, 2, &np);
  size_t at = start(L, 3, n);
  if (at > n) return lua_pushnil(L), 1;
  if (find && (lua_toboolean(L, 4) || is_plain(p, np))) {
    const char *e = find_plain(L, s + at, n - at, p, np);
    if (e) return push_found(L, s, e, e + np);
    return lua_pushnil(L), 1;
  }
  matcher m;
  begin(&m, L, s, n, p, np);
  bool anchor = np > 0 && *p == '^';
  for (const char *from = s + at; from <= s + n; from++) {
    const char *e = try_at(&m, from, p + anchor);
    if (e && find) return push_found(L, s, from, e) + push_captures(&m, from, e, false);
    if (e) return push_captures(&m, from, e, true);
    if (anchor) break;
  }
  return lua_pushnil(L), 1;
}

static int l_find (lua_State *L) { return search(L, true); }
static int l_match (lua_State *L) { return search(L, false); }

/* Upvalues: subject, pattern, where to go on, where the last match ended (-1: none). */
static int next_match (lua_State *L) {
  matcher m;
  size_t n, np;
  const char *s = lua_tolstring(L, lua_upvalueindex(1), &n);
  const char *p = lua_tolstring(L, lua_upvalueindex(2), &np);
  lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
  begin(&m, L, s, n, p, np);
  const char *from = s + lua_tointeger(L, lua_upvalueindex(3));
  for (; from <= s + n; from++) {
    const char *e = try_at(&m, from, p);
    if (e == NULL || e - s == last) continue;
    lua_pushinteger(L, e - s);
    lua_copy(L, -1, lua_upvalueindex(3));
    lua_replace(L, lua_upvalueindex(4));
    return push_captures(&m, from, e, true);
  }
  return 0;
}

static int l_gmatch (lua_State *L) {
  size_t n;
  luaL_checklstring(L, 1, &n);
  luaL_checkstring(L, 2);
  size_t at = start(L, 3, n);
  lua_settop(L, 2);
  lua_pushinteger(L, (lua_Integer)at);
  lua_pushinteger(L, -1);
  lua_pushcclosure(L, next_match, 4);
  return 1;
}

/* ---------------------------------------------------------------- gsub */

static void add_capture (const matcher *m, luaL_Buffer *b, int i, const char *s,
                         const char *e) {
  push_capture(m, i, s, e);
  luaL_tolstring(m->L, -1, NULL);
  lua_remove(m->L, -2);
  luaL_addvalue(b);
}

static void add_text (const matcher *m, luaL_Buffer *b, const char *s, const char *e) {
  size_t n;
  const char *r = lua_tolstring(m->L, 3, &n);
  vm_tick(m->L, m->v, n);
  for (const char *end = r + n; r < end; r++) {
    if (*r != '%') luaL_addchar(b, *r);
    else if (r + 1 < end && *++r == '%') luaL_addchar(b, '%');
    else if (r < end && *r == '0') luaL_addlstring(b, s, (size_t)(e - s));
    else if (r < end && isdigit(byte_at(r))) add_capture(m, b, *r - '1', s, e);
    else luaL_error(m->L, "invalid use of '%%' in replacement string");
  }
}

/* What takes the place of the match [s, e); false: it stays. */
static bool add_replacement (const matcher *m, luaL_Buffer *b, const char *s,
                             const char *e) {
  lua_State *L = m->L;
  int type = lua_type(L, 3);
  if (type == LUA_TSTRING || type == LUA_TNUMBER) return add_text(m, b, s, e), true;
  if (type == LUA_TFUNCTION) {
    lua_pushvalue(L, 3);
    lua_call(L, push_captures(m, s, e, true), 1);
  } else {
    push_capture(m, 0, s, e);
    lua_gettable(L, 3);
  }
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    luaL_addlstring(b, s, (size_t)(e - s));
    return false;
  }
  if (!lua_isstring(L, -1))
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  luaL_addvalue(b);
  return true;
}

static int l_gsub (lua_State *L) {
  matcher m;
  luaL_Buffer b;
  size_t n, np;
  const char *s = luaL_checklstring(L, 1, &n), *p = luaL_checklstring(L, 2, &np);
  const char *from = s, *last = NULL;
  int type = lua_type(L, 3);
  lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)n + 1), done = 0;
  luaL_argexpected(L,
                   type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE ||
                       type == LUA_TFUNCTION,
                   3, "string/function/table");
  bool anchor = np > 0 && *p == '^';
  begin(&m, L, s, n, p, np);
  luaL_buffinit(L, &b);
  while (done < most) {
    const char *e = try_at(&m, from, p + anchor);
    if (e && e != last) {
      done++;
      add_replacement(&m, &b, from, e);
      from = last = e;
    } else if (from < m.end) luaL_addchar(&b, *from++);
    else break;
    if (anchor) break;
  }
  luaL_addlstring(&b, from, (size_t)(m.end - from));
  luaL_pushresult(&b);
  lua_pushinteger(L, done);
  return 2;
}

void vm_addpatterns (lua_State *L) {
  static const luaL_Reg own[] = {{"find", l_find},
                                 {"match", l_match},
                                 {"gmatch", l_gmatch},
                                 {"gsub", l_gsub},
                                 {NULL, NULL}};
  luaL_setfuncs(L, own, 0);
}
