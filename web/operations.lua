-- operations.lua: random operations, what they answer or why they do not: the same in a page as in
-- the program. SEED and COUNT are set in front of it.
-- SPDX-License-Identifier: MIT

-- luacheck: globals SEED COUNT
local tile = require "moontile"
local random, layout = math.random, tile.layout
math.randomseed(SEED)

local function shape(depth)
  if depth == 0 or random(3) > 1 then return random(1, 8) end
  local t = {}
  for i = 1, random(1, 3) do t[i] = shape(depth - 1) end
  return t
end

local function stride(s)
  if type(s) == "number" then return random(0, 16) end
  local t = {}
  for i, e in ipairs(s) do t[i] = stride(e) end
  return t
end

local function any()
  local s = { shape(1), shape(1) }
  if random(4) == 1 then
    return tile.swizzle(random(0, 2), random(0, 2), random(2, 3)) * layout(s)
  end
  return random(2) == 1 and layout(s, stride(s)) or layout(s, random(2) == 1 and "left" or "right")
end

local OPERATIONS = {
  function() return tile.composition(any(), any()) end,
  function() return any() / layout(1 << random(0, 3), random(1, 4)) end,
  function() return any():zipped_divide { random(1, 4), random(1, 4) } end,
  function() return tile.complement(any(), random(1, 500)) end,
  function() return any():coalesce() end,
  function() return any():right_inverse() end,
  function() return any():left_inverse() end,
  function() return any():logical_product(any()) end,
  function() return any():blocked_product(any()) end,
  function() return any()(random(0, 60)) end,
  function() return any():slice_and_offset { tile._, 0 } end,
  function() return any():upcast(2) end,
  function() return any():cosize() end,
  function() return tile.bank_conflicts(any(), "f32") end,
  function() return tile.coalescing(any(), "f16") end,
  function()
    return tile.verify({ tv = any(), tiler = { random(1, 8), random(1, 8) } }, layout { 16, 16 })
  end,
  function() return any():explain "coalesce" end,
  function() return #tile.svg(any()) end,
}

for _ = 1, COUNT do
  local n = random(#OPERATIONS)
  local results = table.pack(pcall(OPERATIONS[n]))
  for i = 1, results.n do results[i] = tostring(results[i]) end
  -- Where an error was raised is not what it says.
  if results[1] == "false" then results[2] = results[2]:gsub("^[^\n]-:%d+: ", "") end
  print(n, table.concat(results, "\t"))
end
