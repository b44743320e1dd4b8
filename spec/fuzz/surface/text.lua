-- text.lua: random values of the language as Lua text: integers, shapes, strides, layouts, and
-- coordinates and tilers that fit a shape. Everything is drawn from math.random.
-- SPDX-License-Identifier: MIT

local random = math.random

local text = {}

function text.chance(p) return random() < p end
local chance = text.chance

function text.pick(list) return list[random(#list)] end
local pick = text.pick

-- A comma-separated list of n texts.
function text.list(n, f)
  local t = {}
  for i = 1, n do t[i] = f(i) end
  return table.concat(t, ", ")
end

-- A template with the value of x for each $x.
function text.fill(template, values)
  return (template:gsub("%$(%a+)", function(name) return tostring(values[name]) end))
end

-- ---------------------------------------------------------------- numbers

local SMALL = { 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 8, 12, 16, 24, 32, 64 }
local EDGES = {
  "-1", "-2", "-4", "-8", "0", "127", "128", "65536", "(1 << 20)", "((1 << 31) - 1)", "(1 << 31)",
  "(1 << 32)", "(1 << 40)", "(1 << 53)", "((1 << 53) + 1)", "(1 << 62)", "math.maxinteger",
  "math.mininteger", "(math.mininteger + 1)", "2.0", "2.5", "-0.0", "1e300", "2.0^63", "math.huge",
  "-math.huge", "(0/0)", "'4'", "'0x10'", "true", "false",
}

function text.small() return tostring(pick(SMALL)) end
function text.edge() return pick(EDGES) end
function text.integer() return chance(0.9) and text.small() or text.edge() end

-- ---------------------------------------------------------------- shapes

local EXTENTS = { 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8, 9, 16 }

-- A nested table of extents, or an integer, whose product is at most `most`.
function text.extents(most, depth)
  if depth == 0 or chance(0.55) then
    local n = pick(EXTENTS)
    return n <= most and n or 1
  end
  local t = {}
  for i = 1, pick { 1, 2, 2, 2, 3, 3, 4 } do
    t[i] = text.extents(most, depth - 1)
    most = most // math.max(1, text.product(t[i]))
  end
  return t
end

function text.product(shape)
  if type(shape) ~= "table" then return shape end
  local n = 1
  for i = 1, #shape do n = n * text.product(shape[i]) end
  return n
end

-- A shape that has modes, mostly.
function text.shape(most)
  local s = text.extents(most or 4096, 3)
  for _ = 1, 3 do
    if type(s) == "table" then break end
    s = text.extents(most or 4096, 3)
  end
  return s
end

-- A nested table as Lua text, or as the notation of the papers.
local function nested(t, open, close)
  if type(t) ~= "table" then return tostring(t) end
  local parts = {}
  for i = 1, #t do parts[i] = nested(t[i], open, close) end
  return open .. table.concat(parts, ",") .. close
end
function text.lua(t) return nested(t, "{", "}") end
function text.paper(t) return nested(t, "(", ")") end

-- ---------------------------------------------------------------- strides

-- The tree of a shape with f(extent, number) for its leaves, from left to right.
local function map(shape, f, count)
  count = count or { 0 }
  if type(shape) ~= "table" then
    count[1] = count[1] + 1
    return f(shape, count[1])
  end
  local t = {}
  for i = 1, #shape do t[i] = map(shape[i], f, count) end
  return t
end

local function leaves(shape)
  local list = {}
  map(shape, function(n) list[#list + 1] = n end)
  return list
end

-- Compact strides in a random order of the leaves, each `pad` apart from the one before it.
local function ordered(shape, pad)
  local extent, order, stride, step = leaves(shape), {}, {}, 1
  for i = 1, #extent do table.insert(order, random(#order + 1), i) end
  for _, i in ipairs(order) do
    stride[i] = step
    step = step * math.max(1, extent[i]) + pad()
  end
  return map(shape, function(_, i) return stride[i] end)
end

local function none() return 0 end

local STRIDES = {
  function(shape) return ordered(shape, none) end,
  function(shape) return ordered(shape, none) end,
  function(shape) return ordered(shape, function() return random(0, 3) end) end,
  function(shape) return map(shape, function() return pick(SMALL) end) end,
  function(shape)
    local sign = ordered(shape, none)
    return map(sign, function(d) return chance(0.3) and -d or d end)
  end,
  function(shape)
    return map(ordered(shape, none), function(d) return chance(0.3) and 0 or d end)
  end,
}
function text.strides(shape) return pick(STRIDES)(shape) end

-- Integers in the same tree, each at most that of the shape, mostly.
function text.like(shape)
  return map(shape, function(n)
    return chance(0.9) and n > 0 and random(0, n) or pick(SMALL)
  end)
end

-- ---------------------------------------------------------------- layouts

local function swizzle()
  return ("Sw<%d,%d,%d>"):format(random(0, 3), random(0, 4), pick { 1, 2, 3, 3, 4, -2, -3 })
end
text.swizzle = swizzle

local function plain(most)
  local shape = text.shape(most)
  return text.paper(shape) .. ":" .. text.paper(text.strides(shape))
end

local function swizzled(most)
  return ("%s o %d o %s"):format(swizzle(), chance(0.7) and 0 or random(0, 16), plain(most))
end

local function basis()
  local e = ("%d@%d"):format(random(1, 4), random(0, 2))
  if chance(0.2) then e = e .. "@" .. random(0, 1) end
  return chance(0.15) and e .. ("+%d@%d"):format(random(1, 3), random(0, 2)) or e
end
text.basis = basis

local function coordinates(most)
  local shape = text.shape(most)
  return text.paper(shape) .. ":" .. text.paper(map(shape, basis))
end

-- Mostly a map of words of bits: its extents are powers of two.
local function f2(most)
  local words = chance(0.6)
  local shape = map(text.shape(most), function(n)
    return (n <= 2 or not words) and n or pick { 2, 4, 8 }
  end)
  return text.paper(shape) .. ":" .. text.paper(map(shape, function()
    return "F" .. (chance(0.1) and 0 or 1 << random(0, 6) | random(0, 3))
  end))
end

-- What is over F2, at the indices that a layout gives.
local function chain(most) return f2(most) .. " o 0 o " .. plain(most) end

local ODD = { "():()", "1:0", "0:1", "8:-1", "(3,0):(1,1)", "(4,2):(1@0+2@1,1@1)", "(1,1):(0,0)",
              "9223372036854775807:1", "4:4611686018427387904", "(65536,65536):(65536,1)",
              "(3037000500,3037000500):(1,0)", "((1)):((0))", "2:-9223372036854775807",
              "(4,4):(4611686018427387904,4611686018427387904)", "1099511627776:0" }

-- The text form of a layout: of its kinds, mostly plain; `most` bounds its size.
function text.layout(most)
  local r = random()
  if r < 0.68 then return plain(most) end
  if r < 0.80 then return swizzled(most) end
  if r < 0.87 then return coordinates(most) end
  if r < 0.94 then return f2(most) end
  if r < 0.97 then return chain(most) end
  return pick(ODD)
end

-- Of elements in memory: integers, and not many.
function text.memory(most)
  local r = random()
  if r < 0.35 then return text.paper(map(text.shape(most), tostring)) end
  if r < 0.86 then return plain(most) end
  return r < 0.96 and swizzled(most) or "1:1 o 0 o " .. f2(most)
end

-- ---------------------------------------------------------------- what fits a shape

-- A coordinate of the shape (a nested table or an integer) as Lua text; p: of each part to be `_`.
function text.coordinate(shape, p)
  if chance(p) then return "_" end
  local n = text.product(shape)
  if type(shape) ~= "table" or chance(0.15) then
    if n <= 0 or chance(0.04) then return text.integer() end
    return tostring(random(0, n - 1))
  end
  return "{" .. text.list(#shape, function(i) return text.coordinate(shape[i], p) end) .. "}"
end

local function divisor(n)
  if n < 1 or chance(0.2) then return pick(EXTENTS) end
  local list = {}
  for d = 1, math.min(n, 64) do if n % d == 0 then list[#list + 1] = d end end
  return pick(list)
end

local function mode_tiler(shape)
  local r, n = random(), text.product(shape)
  if r < 0.6 or n < 1 then return tostring(divisor(n)) end
  if r < 0.7 then return "_" end
  if r < 0.85 then
    local d = divisor(n)
    return ("layout(%d, %d)"):format(d, divisor(math.max(1, n // d)))
  end
  if type(shape) == "table" then return text.tiler(shape) end
  return chance(0.3) and text.edge() or tostring(n)
end

-- By mode, for as many modes as the shape has or fewer, or one function.
function text.tiler(shape)
  if type(shape) ~= "table" or chance(0.3) then
    local n = text.product(shape)
    if chance(0.5) then return mode_tiler(n) end
    return ("layout %q"):format(text.paper { divisor(n), divisor(n) })
  end
  local n = chance(0.8) and #shape or random(0, #shape + 1)
  return "{" .. text.list(n, function(i) return mode_tiler(shape[i] or 2) end) .. "}"
end

return text
