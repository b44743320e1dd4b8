-- live_planted.lua: functions that hold what a script may free, and functions that do not.
-- SPDX-License-Identifier: MIT
--
-- { name =, found = how many places live.lua has to find, text = of C }.

return {
  around = [[
    lmt_tensor *lmt_totensor (lua_State *L, int i) { return luaL_checkudata(L, i, 0); }
    void *lmt_address (const lmt_tensor *t, int64_t e) { return t->buffer->data; }
    mt_tensor lmt_ctensor (const lmt_tensor *t) { return f(t->buffer->data); }
    mt_plan *lmt_toplan (lua_State *L, int i) { plan *b = luaL_checkudata(L, i, 0); return b->p; }
    mt_stream *lmt_optstream (lua_State *L, int i) { return luaL_checkudata(L, i, 0); }
    int lmt_raise (lua_State *L, const mt_err *err) { lua_pushstring(L, err->text);
                                                     return lua_error(L); }
    static void pushes (lua_State *L) { lua_newtable(L); }
    static void complains (lua_State *L) { lua_newtable(L); luaL_error(L, "x"); }
    static int quiet (lua_State *L) { if (lua_isnil(L, 1)) complains(L); return 1; }
  ]],
  { name = "an address across an allocation", found = 1, text = [[
    static int bad (lua_State *L) {
      const lmt_tensor *t = lmt_totensor(L, 1);
      char *base = lmt_address(t, 0);
      lua_createtable(L, 1, 0);
      base[0] = 1;
      return 1;
    }]] },
  { name = "an address taken again", found = 0, text = [[
    static int good (lua_State *L) {
      const lmt_tensor *t = lmt_totensor(L, 1);
      lua_createtable(L, 1, 0);
      t = lmt_totensor(L, 1);
      char *base = lmt_address(t, 0);
      base[0] = 1;
      return 1;
    }]] },
  { name = "a tensor that nobody looked at again", found = 1, text = [[
    static int bad (lua_State *L) {
      const lmt_tensor *t = lmt_totensor(L, 1);
      pushes(L);
      memset(lmt_address(t, 0), 0, 4);
      return 1;
    }]] },
  { name = "what a tensor always has", found = 0, text = [[
    static int good (lua_State *L) {
      const lmt_tensor *t = lmt_totensor(L, 1);
      pushes(L);
      lua_pushinteger(L, t->offset + t->layout->span);
      return 1;
    }]] },
  { name = "a plan across a conversion of an argument", found = 1, text = [[
    static int bad (lua_State *L) {
      mt_plan *p = lmt_toplan(L, 1);
      return mt_plan_take(p, luaL_checkstring(L, 2), 1);
    }]] },
  { name = "a plan and a conversion in one call", found = 1, text = [[
    static int bad (lua_State *L) {
      mt_plan *p = lmt_toplan(L, 1);
      if (p) mt_plan_take(1, p, luaL_checkstring(L, 2));
      return 1;
    }]] },
  { name = "across a turn of a loop", found = 1, text = [[
    static int bad (lua_State *L) {
      char *base = lmt_address(lmt_totensor(L, 1), 0);
      for (int i = 0; i < 2; i++) {
        base[i] = 1;
        lua_geti(L, 2, i);
      }
      return 1;
    }]] },
  { name = "only where an error is raised", found = 0, text = [[
    static int good (lua_State *L) {
      LMT_NOERR(err);
      char *base = lmt_address(lmt_totensor(L, 1), 0);
      if (base == NULL) {
        lua_pushstring(L, "no");
        return lmt_raise(L, &err);
      }
      quiet(L);
      base[0] = 1;
      return 1;
    }]] },
  { name = "a stream in an argument", found = 1, text = [[
    static int bad (lua_State *L, mt_stream *s, mt_plan *p) {
      lua_pushfstring(L, "x");
      return mt_plan_launch(1, s);
    }]] },
  { name = "one branch of two", found = 1, text = [[
    static int bad (lua_State *L) {
      mt_tensor t = lmt_ctensor(lmt_totensor(L, 1));
      if (quiet(L)) pushes(L);
      else quiet(L);
      return mt_plan_copy(&t);
    }]] },
  { name = "tensors again after a collection", found = 1, text = [[
    static int bad (lua_State *L, int first) {
      mt_tensor t[3];
      int s;
      for (int i = 0; i < 3; i++) t[i] = lmt_ctensor(lmt_totensor(L, first + i));
      do {
        s = mt_plan_copy(t);
      } while (s && lua_gc(L, LUA_GCCOLLECT));
      return s;
    }]] },
  { name = "a box that nobody looked at", found = 1, text = [[
    static int bad (lua_State *L) {
      plan *box = lua_touserdata(L, 1);
      return mt_plan_launch(box->p);
    }]] },
  { name = "a box across a buffer", found = 1, text = [[
    static int bad (lua_State *L) {
      luaL_Buffer b;
      const plan *box = luaL_checkudata(L, 1, LMT_PLAN);
      if (box->p == NULL) return 0;
      size_t n = mt_plan_format(NULL, 0, box->p);
      char *text = luaL_buffinitsize(L, &b, n + 1);
      mt_plan_format(text, n + 1, box->p);
      return 1;
    }]] },
  { name = "an alias", found = 1, text = [[
    static int bad (lua_State *L) {
      char *base = lmt_address(lmt_totensor(L, 1), 0), *p = base + 4;
      lua_newuserdatauv(L, 1, 0);
      *p = 1;
      return 1;
    }]] },
}
