-- hostile.lua: what a script may do in the middle of a call: collect, finalize, free, raise, yield,
-- call again. The lines of a case use these functions by name.
-- SPDX-License-Identifier: MIT

local laws = require "surface.laws"
local watch = require "surface.clock"

local hostile = {}
local error, getmetatable, pcall, rawget, rawset, setmetatable, type =
      error, getmetatable, pcall, rawget, rawset, setmetatable, type
local pack, unpack, clock = table.pack, table.unpack, os.clock

hostile.line = 0                -- the number of the line that runs; what acts later does nothing

-- What pcall(f) returned.
local function results(r)
  if not r[1] then error(r[2], 0) end
  return unpack(r, 2, r.n)
end

-- What is done at the end of a block, also of a coroutine that is closed.
local function finally(f) return setmetatable({}, { __close = f }) end

-- ---------------------------------------------------------------- collections

-- each: a full one at each allocation.
local MODES = {
  each = function() collectgarbage("incremental", 1, 1000, 40) end,
  young = function() collectgarbage("generational", 1, 1) end,
  steps = function() collectgarbage("incremental", 1, 100, 8) end,
}
function hostile.calm() collectgarbage("incremental", 200, 100, 13) end

local pending

-- From a finalizer, where Lua takes no orders of the collector: calm at the next instruction. With
-- a collection at each allocation a call that makes 24,000 tables would take 10 s.
local function soon_calm()
  local hook, mask, count = debug.gethook()
  debug.sethook(function()
    debug.sethook(hook, mask, count)
    hostile.calm()
  end, "", 1)
end

-- A finalizer that counts the collections down and acts at the last one.
local function arm()
  setmetatable({}, { __gc = function()
    if pending == nil then return end
    pending.left = pending.left - 1
    if pending.left > 0 then return arm() end
    local action = pending.action
    pending = nil
    soon_calm()
    action()
  end })
end

-- The results of f, in which the k-th collection calls `action` from a finalizer.
function hostile.gc(k, mode, action, f)
  if pending then return f() end
  pending = { left = k, action = action }
  local _ <close> = finally(function() pending = nil hostile.calm() end)
  MODES[mode]()
  arm()
  return results(pack(pcall(f)))
end

-- ---------------------------------------------------------------- values with metamethods

-- Returns f, which acts before its k-th call.
local function after(k, action, f)
  return function(...)
    k = k - 1
    if k == 0 then action() end
    return f(...)
  end
end

-- A table that stands for t, whose metamethods act at the k-th access; `full`: the values are in
-- it.
function hostile.spy(t, k, action, full)
  local meta, own, line = {}, {}, hostile.line
  if full then for key, x in pairs(t) do own[key] = x end end
  meta.__index = after(k, action, function(_, key) return t[key] end)
  meta.__len = after(k, action, function() return #t end)
  meta.__pairs = after(k, action, function() return next, t end)
  meta.__call = after(k, action, function() return t end)
  meta.__eq = after(k, action, function() return true end)
  meta.__tostring = after(1, action, function() return "spy" end)
  meta.__name = "moontile.Layout"
  meta.__close = after(1, action, function() end)
  meta.__gc = function() if k > 0 and line == hostile.line then k = 0 action() end end
  return setmetatable(own, meta)
end

-- An error object that acts when it is shown.
function hostile.fault(action)
  local line = hostile.line
  return setmetatable({}, {
    __tostring = function() action() return "fault" end,
    __gc = function() if line == hostile.line then action() end end,
  })
end

function hostile.cycle()
  local t = { 2 }
  t[2] = t
  return t
end

function hostile.deep(n)
  local t = { 2 }
  for _ = 1, n do t = { t } end
  return t
end

function hostile.many(n)
  local t = {}
  for i = 1, n do t[i] = 1 end
  return t
end

-- Tables that are no sequences.
function hostile.holes(t)
  t[#t + 2], t.x, t[2.5], t[-1] = 3, 1, 2, 4
  return t
end

-- ---------------------------------------------------------------- places

-- f in a coroutine, resumed until it ends, but not for ever; `drop`: closed at the first yield.
function hostile.co(f, drop)
  local co = coroutine.create(f)
  local r = pack(coroutine.resume(co))
  for _ = 1, 20 do
    if coroutine.status(co) ~= "suspended" or drop then break end
    r = pack(coroutine.resume(co))
  end
  local status = coroutine.status(co)
  coroutine.close(co)
  if not r[1] and status == "dead" then error(r[2], 0) end
  return unpack(r, 2, r.n)
end

-- f with x to be closed behind it.
function hostile.closing(x, f)
  local _ <close> = x
  return f()
end

-- What vandals changed in this line, to be put back when it is over: a hook that raises may end
-- even what puts it back sooner.
local changed = {}

-- f while the field of the table is another.
function hostile.vandal(t, key, value, f)
  local old = rawget(t, key)
  changed[#changed + 1] = { t, key, old }
  local _ <close> = finally(function() t[key] = old end)
  t[key] = value
  return results(pack(pcall(f)))
end

-- f, of which no law is asked.
function hostile.quietly(f)
  laws.quiet = laws.quiet + 1
  local _ <close> = finally(function() laws.quiet = laws.quiet - 1 end)
  return results(pack(pcall(f)))
end

-- After a line: all is as it was before, and the laws are asked again. No hook is set.
function hostile.mend()
  for i = #changed, 1, -1 do
    local t, key, old = unpack(changed[i], 1, 3)
    rawset(t, key, old)
    changed[i] = nil
  end
  laws.quiet = 0
end

-- f while the metatable of x, where a script can reach it, has another field.
function hostile.tamper(x, key, value, f)
  local meta = getmetatable(x)
  if type(meta) ~= "table" then return f() end
  return hostile.quietly(function() return hostile.vandal(meta, key, value, f) end)
end

-- f with a count hook that acts whenever a call that takes long asks.
function hostile.asked(action, f)
  local hook, mask, count = debug.gethook()
  local _ <close> = finally(function() debug.sethook(hook, mask, count) end)
  debug.sethook(function(event)
    watch.acting(action)
    if hook then hook(event) end
  end, "", 1 << 24)
  return results(pack(pcall(f)))
end

-- f, however much it has to do, ends soon after a hook says so: in MOST seconds, without what acts
-- in its hooks. What is `apart` is of all processors together.
local SOON <const>, MOST <const> = 0.03, 4
function hostile.ends(f)
  local hook, mask, count = debug.gethook()
  local _ <close> = finally(function() debug.sethook(hook, mask, count) end)
  local began, first = watch.start(), clock()
  local last, asked, apart = first, 0, 0
  local function ask()
    local now = clock()
    asked, apart, last = asked + 1, math.max(apart, now - last), now
    return now - first
  end
  debug.sethook(function() if ask() > SOON then error("stopped", 0) end end, "", 1000)
  local r = pack(pcall(f))
  local took = watch.own(began)
  if took > MOST then
    ask()
    laws.broken("ends", "after %g s, it asked %d times, %g s of all processors apart at most", took,
                asked - 1, apart)
  end
  return results(r)
end

-- f with a count hook that acts once, after n instructions.
function hostile.hook(n, action, f)
  local hook, mask, count = debug.gethook()
  local function back() debug.sethook(hook, mask, count) end
  local _ <close> = finally(back)
  debug.sethook(function() back() action() end, "", n)
  return results(pack(pcall(f)))
end

return hostile
