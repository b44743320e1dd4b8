-- close.lua: finalizers that use everything while the state is closed, whatever is older than they.
-- usage: close.lua SCRATCH LIBCUDA [DEVICE WHEN]
-- SPDX-License-Identifier: MIT
--
-- Lua calls finalizers in reverse order. WHEN has a letter for each moment at which an object with
-- such a finalizer is made: a before the module, b after it, c after the device, d after tensors,
-- e after all; and how the program ends: G in the middle of a recording, F of a fill, H in a
-- finalizer inside a call, K and L in a count hook while threads multiply and copy, else at the
-- end. Without WHEN the program calls itself for each device and some moments.

local scratch, libcuda, which, when = table.unpack(arg)

if not which then
  local MOMENTS = { "a", "b", "c", "d", "e", "abcde", "aeG", "aeF", "aeH", "K", "L", "aeK", "aeL" }
  local least = 0
  repeat least = least - 1 until not arg[least - 1]
  for _, device in ipairs { "cpu", "cpu:checked", "cuda" } do
    for _, moments in ipairs(MOMENTS) do
      local command = ("'%s' '%s' '%s' '%s' %s %s"):format(arg[least], arg[0], scratch, libcuda,
                                                         device, moments)
      local ok, why, status = os.execute(command)
      assert(ok, ("%s %s: %s %s"):format(device, moments, why, status))
    end
  end
  print "live: nothing happens after the end"
  return
end

local tile
local o = {}
local path = scratch .. "/close.npy"

local calls = {
  function() return o.T:totable(), o.T(1), tostring(o.T), o.T:view(tile.layout(4)) end,
  function() o.T:fill(1) end, function() o.T:fill { 1, 2, 3, 4, 5, 6, 7, 8 } end,
  function() o.T[{ 1 }] = 2 end, function() tile.copy(o.T, o.U) end,
  function() tile.copy(o.T, o.U, o.stream) end, function() o.plan() end,
  function() o.plan(o.stream) end, function() return tostring(o.plan) end,
  function() return o.plan:why() end, function() return o.plan:key() end,
  function() o.plan:measure(1) end, function() o.graph() end,
  function() return tostring(o.graph), o.graph:size() end, function() o.stream:synchronize() end,
  function() return tostring(o.stream) end, function() return o.device:about() end,
  function() return o.device:name(), tostring(o.device) end, function() return o.device:plans() end,
  function() o.device:synchronize() end, function() return o.device:stream() end,
  function() return o.device:graph(function() o.plan() end) end,
  function() return tile.tensor("f32", tile.layout(8), o.device) end,
  function() return tile.tensor("f32", tile.layout(8)) end, function() return tile.device "cpu" end,
  function() return tile.device { "cpu", threads = 1 } end, function() return o.T:to "cpu" end,
  function() return o.T:to(o.device) end, function() o.T:save(path) end,
  function() return tile.load(path, o.device) end, function() tile.gemm(o.T, o.T, o.T) end,
  function() tile.einsum("i,i->", o.T, o.U) end, function() return tile.tune(o.plan) end,
  function() tile.forget_tuning() end, function() return tile.layout(4, 2) * 2 end,
  function() return tile.info() end,
  function()
    local d = tile.device { "cpu", threads = 2 }
    o.T, o.U = tile.tensor("f32", tile.layout(8), d), tile.tensor("f32", tile.layout(8), d)
    o.plan, o.stream, o.device = tile.plan(o.T, o.U), d:stream(), d
    o.graph = d:graph(function() o.plan() end)
  end,
  function() o.T:free() end, function() o.plan:free() end, function() o.graph:free() end,
  function() o.stream:close() end,
}

-- Twice where several finalizers are: the second finds what the first has made.
local function use() for _, f in ipairs(calls) do pcall(f) end end

local kept = { o }
local function moment(letter)
  if when:find(letter) then kept[#kept + 1] = setmetatable({}, { __gc = use }) end
end

moment "a"
tile = require "moontile"
moment "b"
o.device = assert(tile.device(which == "cuda" and { "cuda", libcuda = libcuda } or which))
moment "c"
o.T = tile.tensor("f32", tile.layout(8), o.device)
o.U = tile.tensor("f32", tile.layout(8), o.device)
moment "d"
o.stream, o.plan = o.device:stream(), tile.plan(o.T, o.U)
o.graph = o.device:graph(function() o.plan() end)
moment "e"
_G.kept = kept                           -- until the state is closed

local function leave() os.exit(0, true) end
if when:find "[KL]" then
  local d = which == "cpu" and tile.device { "cpu", threads = 4 } or tile.device "cpu:checked"
  local A = tile.tensor("f32", tile.layout({ 512, 1 << 27 }, { 1, 0 }), d)
  local B = A:view(tile.layout({ 8192, 8192 }, { 0, 0 }))
  local C = tile.tensor("f32", tile.layout { 512, 512 }, d)
  local D = tile.tensor("u8", tile.layout({ 8192, 8192 }, "right"), d)
  debug.sethook(leave, "", 1000)
  if when:find "K" then tile.gemm(A, A, C) else tile.copy(B, D) end
end
if when:find "G" then o.device:graph(function() o.plan() leave() end) end
if when:find "F" then
  o.T:fill(setmetatable({}, { __len = function() return 8 end, __index = leave }))
end
if when:find "H" then
  setmetatable({}, { __gc = leave })
  collectgarbage("incremental", 1, 1000, 40)
  for _ = 1, 100 do o.T:totable() end
end
