-- functions.lua: random functions: layouts, swizzled, over F2, composed, and their values, for the
-- specs of composed layouts.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local random = math.random

local function pick(t) return t[random(#t)] end

local function extents(powers)
  local s = {}
  for i = 1, random(3) do
    s[i] = powers and 1 << random(0, 3) or pick { 1, 2, 3, 4, 5, 6, 8 }
    if random(5) == 1 then s[i] = { s[i], pick { 1, 2, 4 } } end
  end
  return s
end

local function each(s, f)
  if type(s) ~= "table" then return f(s) end
  local d = {}
  for i, x in ipairs(s) do d[i] = each(x, f) end
  return d
end

local function written(t)
  if type(t) ~= "table" then return tostring(t) end
  local parts = {}
  for i, x in ipairs(t) do parts[i] = written(x) end
  return "(" .. table.concat(parts, ",") .. ")"
end

local function over_z(powers)
  local s, kind, run = extents(powers), random(3), 1
  return layout(s, each(s, function(n)
    if kind == 3 then return random(0, 16) end
    local d = run
    run = run * n * (kind == 2 and random(4) == 1 and 2 or 1)
    return d
  end))
end

local function over_f2()
  local s = extents(true)
  return layout(written(s) .. ":" .. written(each(s, function() return "F" .. random(0, 31) end)))
end

local function swizzle()
  local b = random(3)
  local s = b + random(0, 2)
  return tile.swizzle(b, random(0, 2), random(3) == 1 and -s or s)
end

local function offset() return random(2) == 1 and 0 or pick { 1, 2, 3, 4, 5, 8, 16, 32 } end

local function swizzled(powers)
  return tile.make_composed_layout(swizzle(), offset(), over_z(powers))
end

local function any() return pick { over_z, swizzled, over_f2 }(random(2) == 1) end

local function chain()
  local A = any()
  for _ = 1, random(3) do
    local f = random(4) == 1 and swizzle() or any()
    local ok, R
    if random(3) == 1 then ok, R = pcall(tile.make_composed_layout, f, offset(), A)
    else ok, R = pcall(tile.composition, f, A) end
    if ok then A = R end
  end
  return A
end

-- A value over F2 as the number of its bits.
local function number(v)
  return type(v) == "number" and v or tonumber((tostring(v):gsub("F", "")))
end

local function values(A)
  local v = {}
  for i = 0, tile.size(A) - 1 do v[i] = number(A(i)) end
  return v
end

return { pick = pick, extents = extents, written = written, over_z = over_z, swizzle = swizzle,
         any = any, chain = chain, number = number, values = values }
