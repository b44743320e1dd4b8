/*
** patterns.c - what takes the place of Lua's own functions, beside these: the same script
** in a VM and in a state with Lua's libraries gives the same text.
** SPDX-License-Identifier: MIT
*/
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>

#include "vm_spec.h"

enum { PIECE = 500 };

/* Random patterns over few letters, on random subjects. */
static const char patterns[] =
    "math.randomseed(seed)\n"
    "local r, out = math.random, {}\n"
    "local items = { 'a', 'b', '.', '%a', '%d', '[ab]', '[^a]', '[a-c]', '[]a]', '%w',\n"
    "  '(', ')', '()', '%1', '%2', '%bab', '%f[b]', '$', '^', '%%', '[%a1]', '-', '%S', 'c',\n"
    "  '[^%s]', '%.', '[a-]', '[%]]', '%', '[', '\\0', '%x', '%p' }\n"
    "local suffixes = { '', '', '', '*', '+', '-', '?' }\n"
    "local letters = { 'a', 'b', 'c', '1', ' ', 'ab', 'ba', '-', ']', '\\0', '.', '%' }\n"
    "local function some(list, n) local t = {}\n"
    "  for i = 1, n do t[i] = list[r(#list)] end return table.concat(t) end\n"
    "local function pattern() local t = { r(6) == 1 and '^' or '' }\n"
    "  for i = 1, r(5) do t[#t + 1] = items[r(#items)] .. suffixes[r(#suffixes)] end\n"
    "  if r(6) == 1 then t[#t + 1] = '$' end return table.concat(t) end\n"
    "local function note(ok, ...)\n"
    "  local t = table.pack(...)\n"
    "  for i = 1, t.n do t[i] = tostring(t[i]) end\n"
    "  out[#out + 1] = ok and table.concat(t, '|') or 'error' end\n"
    "local reps = { 'x', '%0', '<%1>', '%1%2', '%%', { a = 'A', ab = false, b = 7 },\n"
    "  function(a, b) if a == 'a' then return b or 'q' end end, '%9', '%', 5 }\n"
    "for i = 1, 500 do\n"
    "  local s, p, at = some(letters, r(0, 9)), pattern(), r(-4, 8)\n"
    "  if r(4) > 1 then at = nil end\n"
    "  note(pcall(string.find, s, p, at)) note(pcall(string.match, s, p, at))\n"
    "  note(pcall(string.find, s, p, at, true))\n"
    "  note(pcall(string.gsub, s, p, reps[r(#reps)], r(3) == 1 and r(0, 3) or nil))\n"
    "  note(pcall(function() local all = {}\n"
    "    for a, b in s:gmatch(p, at) do all[#all + 1] = tostring(a) .. ',' .. tostring(b) end\n"
    "    return table.concat(all, ';') end))\n"
    "end\n"
    "return table.concat(out, '\\n')";

/* Tables, errors, coroutines. */
static const char others[] =
    "math.randomseed(seed)\n"
    "local r, out = math.random, {}\n"
    "local function show(x) if type(x) ~= 'table' then return tostring(x) end\n"
    "  local t = {} for i = 1, 12 do t[i] = tostring(rawget(x, i)) end\n"
    "  return table.concat(t, ',') end\n"
    "local function note(ok, ...) local t = table.pack(...)\n"
    "  for i = 1, t.n do t[i] = show(t[i]) end\n"
    "  out[#out + 1] = ok and table.concat(t, '|') or 'error' end\n"
    "local function list(n) local t = {} for i = 1, n do t[i] = r(20) end return t end\n"
    "local function maybe(x) if r(3) > 1 then return x end end\n"
    "for i = 1, 100 do\n"
    "  local t, u = list(r(0, 8)), list(r(0, 4))\n"
    "  note(pcall(table.insert, t, r(-1, 9), 99)) note(true, t)\n"
    "  note(pcall(table.insert, t, 98)) note(pcall(table.remove, t, maybe(r(-1, 9))))\n"
    "  note(true, t) note(pcall(table.remove, t)) note(true, t)\n"
    "  note(pcall(table.move, t, r(-1, 5), r(-1, 6), r(-1, 6), maybe(u))) note(true, t, u)\n"
    "  note(pcall(table.concat, t, maybe ', ', maybe(r(-1, 4)), maybe(r(-1, 9))))\n"
    "  note(pcall(table.unpack, t, maybe(r(-1, 4)), maybe(r(-1, 9))))\n"
    "  local n = list(r(0, 30)) table.sort(n) note(true, table.unpack(n))\n"
    "  table.sort(n, function(a, b) return a > b end) note(true, table.unpack(n))\n"
    "  note(pcall(table.sort, { 1, 'a', {} }))\n"
    "  note(pcall(string.rep, 'ab', r(-1, 4), maybe '-')) note(pcall(string.rep, '', r(9)))\n"
    "end\n"
    "local function errs(x) error(x, 0) end\n"
    "note(true, pcall(errs, 'a')) note(true, pcall(errs)) note(true, pcall(select, '#', 1, 2))\n"
    "note(pcall(pcall)) note(pcall(pcall, 1)) note(true, xpcall(errs, tostring, 'b'))\n"
    "note(true, xpcall(errs, function(e) return e, 2 end, 'c'))\n"
    "note(true, xpcall(function(...) return ... end, print, 1, nil, 3))\n"
    "local co = coroutine.wrap(function(...)\n"
    "  note(true, 'in', ...)\n"
    "  note(true, pcall(function() note(true, coroutine.yield(1)) errs 'deep' end))\n"
    "  note(true, xpcall(function() coroutine.yield(2) errs 'x' end,\n"
    "    function(e) return e .. '!' end))\n"
    "  for k, v in pairs(setmetatable({}, { __pairs = function(t)\n"
    "    coroutine.yield(3) return next, { 5 }, nil end })) do note(true, k, v) end\n"
    "  return 'end' end)\n"
    "for i = 1, 4 do note(true, co(i, i)) end\n"
    "note(pcall(co))\n"
    "local c2 = coroutine.create(function() local x <close> = setmetatable({}, { __close =\n"
    "  function(_, e) note(true, 'closed', e) end }) coroutine.yield(1) errs 'z' end)\n"
    "note(true, coroutine.resume(c2)) note(true, coroutine.status(c2))\n"
    "note(true, coroutine.close(c2)) note(true, coroutine.status(c2))\n"
    "note(true, coroutine.resume(c2))\n"
    "local w = coroutine.wrap(function() local x <close> = setmetatable({}, { __close =\n"
    "  function(_, e) note(true, 'closed', e) error('other', 0) end }) errs 'z' end)\n"
    "note(true, pcall(w))\n"
    "note(pcall(coroutine.close, coroutine.running()))\n"
    "note(true, tonumber '0x10', tonumber('z', 36), tonumber 'x', tonumber '1e1', tonumber ' 5 ')\n"
    "note(pcall(tonumber)) note(pcall(setmetatable, 1, {})) note(pcall(setmetatable, {}))\n"
    "note(pcall(setmetatable, setmetatable({}, { __metatable = 1 }), {}))\n"
    "note(true, next {}, next { 5 }) note(pcall(next, {}, 1)) note(pcall(pairs))\n"
    "for p, c in utf8.codes 'a\\u{e9}\\u{20ac}' do note(true, p, c) end\n"
    "note(true, utf8.len 'a\\u{e9}', utf8.len '\\xff')\n"
    "note(true, ('%5.1f|%s|%q'):format(1.25, 'a', 'b\\n'), ('AbC'):lower(), ('x'):byte())\n"
    "return table.concat(out, '\\n')";

/* What the script gives in a state with all of Lua. */
static void run_lua (char *out, size_t size, const char *code, int seed) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushinteger(L, seed);
  lua_setglobal(L, "seed");
  if (luaL_dostring(L, code)) printf("Lua: %s\n", lua_tostring(L, -1)), exit(2);
  snprintf(out, size, "%s", lua_tostring(L, -1));
  lua_close(L);
}

/* The first line in which the texts differ. */
static int differing_line (const char *a, const char *b) {
  int line = 1;
  for (; *a && *a == *b; a++, b++)
    if (*a == '\n') line++;
  return *a == *b ? 0 : line;
}

static void compare (const char *what, const char *code, int seed) {
  static char want[1 << 20], got[1 << 20];
  mt_err err = MT_NOERR;
  const mt_vm_options o = {.size = sizeof o, .milliseconds = 60000};
  mt_vm *v = open_vm(&o);
  const mt_vm_value x = {.kind = MT_VM_INTEGER, .integer = seed};
  mt_vm_set(v, "seed", &x, &err);
  run_lua(want, sizeof want, code, seed);
  const char *failed = run_vm(v, code);
  mt_vm_value r = mt_vm_result(v, 0);
  snprintf(got, sizeof got, "%s", r.text ? r.text : failed);
  int line = differing_line(want, got);
  CHECK(line == 0, "%s, seed %d: line %d (case %d)", what, seed, line,
        (line - 1) / 5 + 1);
  if (line != 0 && r.text == NULL) printf("%s\n", failed);
  mt_vm_close(v);
}

void test_patterns (void) {
  const char *times = getenv("MOONTILE_TIMES");
  int n = (int)(20 * (times ? atof(times) : 1)) + 1;
  for (int seed = 1; seed <= n; seed++) compare("patterns", patterns, seed);
  for (int seed = 1; seed <= n / 4 + 1; seed++) compare("libraries", others, seed);
  printf("%d random patterns beside Lua's own\n", n * PIECE);
}
