-- live.lua: nothing that a script can free is held across a call that may run a script.
-- usage: live.lua ROOT FILES OF THE BINDING...
-- SPDX-License-Identifier: MIT
--
-- A call that may allocate in Lua may run a finalizer; one that may run a metamethod runs what it
-- likes. After it (1) an address, a plan, a graph, a stream or an mt_tensor that was obtained
-- before is not used any more; (2) through a tensor, a plan, a graph, a stream or a buffer no
-- address is taken, until it was looked at again. Functions of C that only raise on such a path
-- are fine. Which functions may, which never return and which look again follows from the
-- sources, from the lists of Lua's own functions below and from the types of results.

local ROOT = arg[1]
local parse = dofile(ROOT .. "/spec/walls/parse.lua")

local function set(text)
  local s = {}
  for word in text:gmatch "%S+" do s[word] = true end
  return s
end

-- ---------------------------------------------------------------- what is known

-- They run neither the collector nor a metamethod; all others of Lua's may. lmt_stringat reads
-- what is a string already.
local QUIET = set [[
  lua_gettop lua_settop lua_pop lua_absindex lua_pushvalue lua_insert lua_rotate lua_replace
  lua_remove lua_copy lua_pushnil lua_pushboolean lua_pushinteger lua_pushnumber
  lua_pushlightuserdata lua_pushcfunction lua_type lua_typename lua_isnil lua_isnone
  lua_isnoneornil lua_isinteger lua_isnumber lua_isstring lua_istable lua_isboolean
  lua_isfunction lua_tointeger lua_tointegerx lua_tonumber lua_toboolean lua_touserdata
  lua_tothread lua_rawlen lua_rawequal lua_rawget lua_rawgeti lua_rawgetp lua_rawset lua_rawseti
  lua_getiuservalue lua_setiuservalue lua_getmetatable lua_setmetatable lua_next lua_checkstack
  lua_upvalueindex lua_getallocf lua_getstack lua_getinfo lua_gethook lua_gethookmask
  luaL_checkudata luaL_testudata luaL_checkinteger luaL_optinteger luaL_checknumber
  luaL_checktype luaL_argcheck luaL_checkstack luaL_getmetatable luaL_setmetatable luaL_typename
  luaL_buffinit luaL_pushfail luaL_checkversion
  lmt_stringat
]]
local RAISES = set "lua_error luaL_error luaL_argerror luaL_typeerror"
-- They may run a count hook, but in it nothing can be freed: lmt_checkasking.
local HOOKS = set "lmt_stop lmt_ends LMT_ENDS LMT_NOERR"

local RAW = set "mt_plan mt_graph mt_stream"             -- behind a *
local OBJECT = set "lmt_tensor lmt_buffer plan graph stream"
local ADDRESS = set "lmt_address lmt_onhost"             -- results void *, char *
-- Their results are new: no script has them yet.
local NEW = set [[ lmt_newtensor lmt_newbuffer lmt_lendbuffer lua_newuserdatauv new_plan begin
                   push_box push_buffer ]]
-- It collects only if it returns true: behind the loop that it is the test of, nothing ran.
local AGAIN = "lmt_again"
-- They raise unless an argument lives.
local LOOK = set "check_live"
local FIELD = set "data p g"                             -- through them an address is taken

-- ---------------------------------------------------------------- the state on a path

-- state[variable] = true: it may be used; a text: what ran since. state.ran: the last call that
-- may run a script.
local function copied(state)
  local new = {}
  for k, v in pairs(state) do new[k] = v end
  return new
end

local function merged(a, b)
  if not a or not b then return a or b end
  local new = copied(a)
  for k, v in pairs(b) do
    if new[k] == nil or new[k] == true then new[k] = v end
  end
  return new
end

local Walk = {}
Walk.__index = Walk

local function word(t, i) return t[i] and t[i].text or "" end

local function close(t, i)
  local depth = 0
  for k = i, #t do
    local s = t[k].text
    if s == "(" or s == "[" or s == "{" then depth = depth + 1 end
    if s == ")" or s == "]" or s == "}" then depth = depth - 1 end
    if depth == 0 then return k end
  end
end

function Walk:fail(token, format, ...)
  if not self.report then return end
  local text = ("%s:%d: %s: "):format(self.file, token.line, self.name) .. format:format(...)
  if self.report[text] then return end
  self.report[text] = true
  self.report[#self.report + 1] = text
end

-- ---------------------------------------------------------------- expressions

function Walk:ran(name)
  for variable in pairs(self.raw) do
    if self.state[variable] then self.state[variable] = name end
  end
  for variable in pairs(self.object) do
    if self.state[variable] and self.state[variable] ~= "new" then self.state[variable] = name end
  end
  self.state.ran = name
end

local function is_stale(state) return type(state) == "string" and state ~= "new" end

function Walk:use(t, i)
  local name = t[i].text
  local state = self.state[name]
  if self.raw[name] and is_stale(state) then
    self:fail(t[i], "%s is used, and %s may have run a script since", name, state)
  elseif self.object[name] and is_stale(state) then
    local k = i
    while word(t, k + 1) == "->" and not FIELD[word(t, k + 2)] do k = k + 2 end
    local after = word(t, k + 3)
    if word(t, k + 1) == "->" and after ~= "=" and after ~= "==" and after ~= "!=" then
      self:fail(t[i], "%s->%s is used, and %s may have run a script since it was looked at",
                name, word(t, k + 2), state)
    end
  end
end

-- What the call of `name` does, its arguments are behind it.
function Walk:call(t, i, arguments)
  local name, member = t[i].text, word(t, i - 1) == "->" or word(t, i - 1) == "."
  for k, a in ipairs(arguments) do
    local variable = #a == 1 and a[1].text
    local state = variable and self.object[variable] and self.state[variable]
    if state and LOOK[name] then self.state[variable] = true
    elseif is_stale(state) and (self.all.touches[name] or {})[k] then
      self:fail(t[i], "%s takes the address of %s, and %s may have run a script since", name,
                variable, state)
    end
  end
  if not member and self.all.raises[name] then self.dead = true
  elseif self.all.runs(name, member) then self:ran(name) end
end

-- The arguments of a call, evaluated in any order.
function Walk:arguments(t, i, j)
  local list, from, k = {}, i, i
  while k <= j + 1 do
    if k > j or t[k].text == "," then
      if k > from then list[#list + 1] = table.move(t, from, k - 1, 1, {}) end
      from = k + 1
    elseif t[k].text == "(" or t[k].text == "[" or t[k].text == "{" then
      k = close(t, k)
    end
    k = k + 1
  end
  for n = 1, #list > 1 and 2 or 1 do
    for _, a in ipairs(list) do self:expression(a, n == 1) end
  end
  return list
end

-- Which of the variables of the function is what it gets from t: "raw", "new", true for an object.
function Walk:kind(t)
  local kind
  local i = 1
  while i <= #t do
    local s, called = t[i].text, word(t, i + 1) == "("
    if called and (ADDRESS[s] or self.all.gives_raw[s]) then return "raw" end
    if s == "->" and word(t, i + 1) == "data" and not called then return "raw" end
    if called and NEW[s] then kind = "new"
    elseif called and (self.all.gives_object[s] or s == "luaL_checkudata") then kind = kind or true
    elseif called and s == "lua_touserdata" then kind = "lua_touserdata"
    elseif not called and self.raw[s] and self.state[s] and word(t, i - 1) ~= "->" then
      return "raw"
    elseif not called and self.object[s] and self.state[s] and word(t, i + 1) ~= "->" then
      kind = self.state[s]
    end
    if called or s == "[" then i = close(t, called and i + 1 or i) end
    i = i + 1
  end
  return kind
end

-- variable = what t says
function Walk:assign(variable, t)
  self:expression(t)
  if self.dead then return end
  local kind = self:kind(t)
  if kind == "raw" then self.raw[variable] = true end
  if self.tensor[variable] and self.loop then self.loop.filled[variable] = true end
  if self.raw[variable] then self.state[variable] = kind == "raw" or nil
  elseif self.object[variable] then self.state[variable] = kind end
end

local function end_of_value(t, i)
  while i <= #t and t[i].text ~= "," do
    if t[i].text == "(" or t[i].text == "[" or t[i].text == "{" then i = close(t, i) end
    i = i + 1
  end
  return i - 1
end

function Walk:expression(t)
  local i = 1
  while i <= #t and not self.dead do
    local s, after = t[i].text, word(t, i + 1)
    local index = after == "[" and close(t, i + 1)
    local equals = after == "=" and i + 1 or self.tensor[s] and index and
                   word(t, index + 1) == "=" and index + 1
    local before = word(t, i - 1)
    local member = before == "->" or before == "."
    local through = before == "*" and i == 2           -- *p = what p points to is set
    if s:match "^[%a_]" and equals and not member and not through then
      local last = end_of_value(t, equals + 1)
      self:assign(s, table.move(t, equals + 1, last, 1, {}))
      i = last
    elseif s:match "^[%a_]" and after == "(" then
      local j = close(t, i + 1)
      self:call(t, i, self:arguments(t, i + 2, j - 1))
      i = j
    elseif before == "&" and self.raw[s] and not self.tensor[s] then
      self.state[s] = true                         -- a result of the call
    elseif not member and (self.raw[s] or self.object[s]) then
      self:use(t, i)
    end
    i = i + 1
  end
end

-- ---------------------------------------------------------------- statements

local walkers = {}

function Walk:walk(s)
  if not s or self.dead then return end
  walkers[s.kind](self, s)
end

function walkers.block(self, s) for _, c in ipairs(s) do self:walk(c) end end
function walkers.plain(self, s) self:expression(s[1]) end
function walkers.case(_, _) end

-- From here on nothing is reached; `state` goes on at the end of the loop, if there is one.
function Walk:leave()
  if self.loop then self.loop.left = merged(self.loop.left, copied(self.state)) end
  self.dead = true
end
walkers["break"], walkers["continue"] = Walk.leave, Walk.leave

walkers["return"] = function(self, s)
  self:expression(s[1])
  if not self.dead then
    self.returns = true
    self.ran_at_return = self.ran_at_return or self.state.ran
  end
  self.dead = true
end

walkers["if"] = function(self, s)
  self:expression(s.test)
  if self.dead then return end
  local before = copied(self.state)
  self:walk(s.yes)
  local yes = not self.dead and self.state or nil
  self.state, self.dead = before, false
  self:walk(s.no)
  local no = not self.dead and self.state or nil
  self.state, self.dead = merged(yes, no) or {}, not (yes or no)
end

-- Twice: what a turn leaves is what the next finds.
walkers.loop = function(self, s)
  local outer, after = self.loop, nil
  self.loop = { filled = {} }
  if s.first then self:expression(s.first) end
  for _ = 1, 2 do
    if not s.once and s.test then self:expression(s.test) end
    local skipped = not s.once and copied(self.state) or nil
    self:walk(s.body)
    self.state = merged(not self.dead and self.state or nil, self.loop.left)
    self.dead = self.state == nil
    if self.dead then
      self.state = {}
    else
      if s.step then self:expression(s.step) end
      if s.once and word(s.test, 1) == AGAIN then after = merged(after, copied(self.state)) end
      if s.once then self:expression(s.test) end
    end
    if s.first and skipped then           -- an array that is filled has an element to be used
      for variable in pairs(self.loop.filled) do skipped[variable] = self.state[variable] end
    end
    local left = merged(skipped, not self.dead and self.state or nil)
    if word(s.test or {}, 1) ~= AGAIN then after = merged(after, left) end
    self.state, self.dead = left and copied(left) or {}, false
  end
  self.loop = outer
  self.state, self.dead = after or {}, after == nil
end

-- ---------------------------------------------------------------- functions

-- The variables of the types that matter, and where they are arguments.
local function declared(t, walk, arguments)
  local position, depth = 1, 0
  local kind
  for i = 1, #t do
    local s = t[i].text
    if s == "(" then depth = depth + 1 elseif s == ")" then depth = depth - 1 end
    if s == "," and depth == 0 and arguments then position, kind = position + 1, nil end
    if RAW[s] or OBJECT[s] or s == "mt_tensor" then
      kind = OBJECT[s] and word(t, i + 1) == "*" and "object"
             or RAW[s] and word(t, i + 1) == "*" and word(t, i + 2) ~= "*" and "raw"
             or s == "mt_tensor" and "raw" or nil
    elseif kind and s:match "^[%a_]" and s ~= "const" and
           (word(t, i - 1) == "*" or word(t, i - 1) == "mt_tensor" or word(t, i - 1) == ",") then
      walk[kind][s] = true
      if word(t, i - 1) == "mt_tensor" then walk.tensor[s] = true end
      if arguments then walk.state[s], walk.position[s] = true, position end
    end
  end
end

local function declare_all(s, walk)
  for _, c in pairs(s) do
    if type(c) == "table" then
      if c[1] and c[1].text then declared(c, walk, false) else declare_all(c, walk) end
    end
  end
end

local function walk_function(f, all, report)
  local walk = setmetatable({ name = f.name, file = f.file, all = all, report = report, raw = {},
                              tensor = {}, object = {}, state = {}, position = {} }, Walk)
  declared(f.params, walk, true)
  declare_all(f.body, walk)
  walk:walk(f.body)
  if not walk.dead then
    walk.returns, walk.ran_at_return = true, walk.ran_at_return or walk.state.ran
  end
  return walk
end

-- Which object arguments of f it takes an address of.
local function touched(f, all, walk)
  local result = {}
  local function look(t)
    for i = 1, #t do
      local at = walk.position[t[i].text]
      if at and walk.object[t[i].text] then
        local k = i
        while word(t, k + 1) == "->" and not FIELD[word(t, k + 2)] do k = k + 2 end
        local after = word(t, k + 3)
        if word(t, k + 1) == "->" and after ~= "=" and after ~= "==" and after ~= "!=" then
          result[at] = true
        end
        if word(t, i - 1) == "(" and (all.touches[word(t, i - 2)] or {})[1] then
          result[at] = true
        end
      end
    end
  end
  local function each(s)
    for _, c in pairs(s) do
      if type(c) == "table" then
        if c[1] and c[1].text then look(c) else each(c) end
      end
    end
  end
  each(f.body)
  return result
end

local function has_type(t, types)
  for i = 1, #t do if types[t[i].text] and word(t, i + 1) == "*" then return true end end
  return false
end

-- Everything that follows from all functions together.
local function knowledge(functions)
  local all = { raises = copied(RAISES), touches = {}, gives_raw = {}, gives_object = {}, may = {} }
  local own = {}
  for _, f in ipairs(functions) do
    own[f.name] = true
    if has_type(f.result, RAW) or #f.result > 0 and f.result[#f.result].text == "mt_tensor" then
      all.gives_raw[f.name] = true
    elseif has_type(f.result, OBJECT) then
      all.gives_object[f.name] = true
    end
  end
  function all.runs(name, member)
    if member then return name == "serve" end
    if own[name] then return all.may[name] or false end
    return (name:match "^lua" and not QUIET[name] or name == "SET_TEXT") and true or false
  end
  local changed
  local function note(t, name, value)
    if value and not t[name] then t[name], changed = value, true end
  end
  repeat                                 -- first what never returns, then what may run a script
    changed = false
    for _, f in ipairs(functions) do
      note(all.raises, f.name, not walk_function(f, all).returns)
    end
  until not changed
  repeat
    changed = false
    for _, f in ipairs(functions) do
      local walk = walk_function(f, all)
      note(all.may, f.name, not HOOKS[f.name] and not QUIET[f.name] and walk.ran_at_return)
      for at in pairs(touched(f, all, walk)) do
        all.touches[f.name] = all.touches[f.name] or {}
        note(all.touches[f.name], at, true)
      end
    end
  until not changed
  return all
end

local function check(functions)
  local all, report = knowledge(functions), {}
  for _, f in ipairs(functions) do walk_function(f, all, report) end
  return report, all
end

-- ---------------------------------------------------------------- the test of this test

local function functions_of(text, file)
  local list = parse(text)
  for _, f in ipairs(list) do f.file = file end
  return list
end

local planted = dofile(ROOT .. "/spec/walls/live_planted.lua")
local wrong = 0
local function complain(...) wrong = wrong + 1 print((...):format(select(2, ...))) end

for _, row in ipairs(planted) do
  local report = check(functions_of(planted.around .. row.text, row.name))
  if #report ~= row.found then
    complain("planted: %s: %d found, not %d%s", row.name, #report, row.found,
             "\n  " .. table.concat(report, "\n  "))
  end
end

-- ---------------------------------------------------------------- the binding

local functions, texts = {}, {}
for i = 2, #arg do
  local f = assert(io.open(arg[i]))
  texts[#texts + 1] = f:read "a"
  f:close()
  for _, x in ipairs(functions_of(texts[#texts], arg[i]:match "[^/]*$")) do
    functions[#functions + 1] = x
  end
end
local everything = table.concat(texts)
for _, names in ipairs { RAW, OBJECT, ADDRESS, NEW, LOOK, { [AGAIN] = true } } do
  for name in pairs(names) do
    if not everything:find("%f[%w_]" .. name .. "%f[^%w_]") then
      complain("%s: the binding has it no more; what does this test have to look for now?", name)
    end
  end
end
local report, all = check(functions)
for _, text in ipairs(report) do complain("%s", text) end
local n = 0
for _ in pairs(all.may) do n = n + 1 end
print(("live: %d functions, %d of them may run a script; %d planted; %d wrong")
      :format(#functions, n, #planted, wrong))
if os.getenv "LIVE_SHOW" then
  for name, why in pairs(all.may) do print("may", name, why) end
  for name in pairs(all.raises) do print("raises", name) end
  for name, t in pairs(all.touches) do for k in pairs(t) do print("touches", name, k) end end
end
os.exit(wrong == 0, true)
