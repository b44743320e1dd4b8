-- sweep.lua: frees one object in the middle of a call, at each place where a script could.
-- usage: sweep.lua SCRATCH DEVICE [LIBCUDA [ONLY]]; ONLY is a part of a scenario's name
-- SPDX-License-Identifier: MIT
--
-- The collector runs at every allocation; the finalizer that does the harm is called in its k-th
-- collection inside the call, for k = 1, 2, ... until the call ends before that: each up to 16,
-- then fewer and fewer. Where a call reads a table, a metamethod does the harm at the k-th read.
-- Under refuse.c the k-th allocation fails instead, and the finalizer waits for the collection that
-- makes room. Nothing of it may crash; that is all that is asked for.

local scratch, which, libcuda, only = table.unpack(arg)
local tile = require "moontile"

local refuse = rawget(_G, "refuse")
local EACH, MOST = refuse and 48 or 16, 1000    -- places inside one call

local names = { cpu = "cpu", checked = "cpu:checked",
                cuda = libcuda and { "cuda", libcuda = libcuda } }
local device, others = assert(tile.device(names[which])), {}
for name, what in pairs(names) do
  if name ~= which then others[#others + 1] = assert(tile.device(what)) end
end

-- ---------------------------------------------------------------- harm

local function free(victim)
  local ok, f = pcall(function() return victim.free end)
  if not ok then ok, f = pcall(function() return victim.close end) end
  return ok and f(victim)
end

-- The plans that the device remembers are others now.
local spare = {}
for i = 1, 20 do
  local T = tile.tensor("u8", tile.layout(16 * i), device)
  spare[i] = { T:view(tile.layout(8 * i)), T:view(tile.layout(8 * i), 8 * i) }
end
local function forget() for _, pair in ipairs(spare) do tile.copy(pair[1], pair[2]) end end

local function is_victim(x)
  if type(x) ~= "userdata" then return false end
  return pcall(function() return x.free end) or pcall(function() return x.close end)
end

-- ---------------------------------------------------------------- when

local left, harm                         -- places until the harm is done; nil: done

local function place()
  if harm == nil then return end
  left = left - 1
  if left > 0 then return end
  local f = harm
  harm = nil
  collectgarbage("incremental", 200, 100, 13)
  pcall(f)
end

local function arm()
  setmetatable({}, { __gc = function() if harm then place() arm() end end })
end

local function hooked(t)
  local function get(_, key) place() return t[key] end
  return setmetatable({}, { __index = get, __len = function() place() return #t end })
end
local function bare(t) return t end

-- One call; returns whether there may be a later place.
local function run(scenario, objects, k, f)
  local hook = scenario.trap and hooked or bare
  left, harm = k, f
  if not scenario.trap then
    collectgarbage("incremental", 1, 1000, 40)
    collectgarbage()
    arm()
  end
  pcall(scenario.call, objects, hook)
  local done = harm == nil
  harm = nil
  collectgarbage("incremental", 200, 100, 13)
  return done
end

-- The same with a collector that rests until there is no memory.
local function run_refused(scenario, objects, k, f)
  collectgarbage "stop"
  left, harm = 1, f
  arm()
  refuse(k)
  pcall(scenario.call, objects, bare)
  local failed = refuse(0)
  harm = nil
  collectgarbage "restart"
  return failed
end
if refuse then run = run_refused end

-- ---------------------------------------------------------------- the sweep

local places, count = 0, 0
local log = assert(io.open(scratch .. "/" .. which .. ".last", "w"))
log:setvbuf "no"

local function sweep(scenario, what, pick)
  local k = 1
  while k < MOST do
    log:seek "set"
    log:write(("%-99s\n"):format(("%s: %s, %s at %d"):format(which, scenario.name, what, k)))
    local objects = scenario.make()
    places = places + 1
    if not run(scenario, objects, k, pick(objects)) then return end
    k = k < EACH and k + 1 or k * 4 // 3
  end
end

local function try(scenario)
  local objects = scenario.make()
  scenario.call(objects, bare)         -- undisturbed it works
  device:synchronize()
  for i, object in ipairs(objects) do
    if is_victim(object) then
      sweep(scenario, "object " .. i, function(o) return function() free(o[i]) end end)
    end
  end
  sweep(scenario, "the plans", function() return forget end)
end

-- Each is let go when it was tried: what is in memory all later collections look at.
local all = dofile "spec/live/scenarios.lua" (device, others, scratch .. "/" .. which .. ".npy")
while #all > 0 do
  local scenario = table.remove(all)
  if not only or scenario.name:find(only, 1, true) then
    count = count + 1
    try(scenario)
  end
end
log:close()
print(("live: %d scenarios on %s, %d places, no crash"):format(count, which, places))
