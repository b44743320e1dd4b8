-- function_layout.lua: the layout that a function of coordinates is: steps of one size in each
-- mode, under a swizzle or not, a map of bits (xor), or one that turns round in a period
-- ((i + j) % n).
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"

local MOST <const> = 1 << 16

local function written(i, shape)
  return (tostring(tile.idx2crd(i, shape)):gsub("^(%d+)$", "(%1)"))
end

-- ---------------------------------------------------------------- values

-- The coordinate number i as arguments, one for each mode.
local function arguments(i, shape, rank)
  local c = tile.idx2crd(i, shape)
  if math.type(c) then return c end
  local modes = {}
  for k = 1, rank do modes[k] = c[k] end
  return table.unpack(modes, 1, rank)
end

-- v[i] = f(coordinate i), 0 <= i < n
local function values(f, shape, rank, n)
  local v = {}
  for i = 0, n - 1 do
    local ok, x = pcall(f, arguments(i, shape, rank))
    if not ok and type(x) ~= "string" then error(x, 0) end
    check(ok, "function_layout: f%s: %s", written(i, shape), x)
    v[i] = math.tointeger(x)
    check(math.type(x) and v[i], "function_layout: f%s is %s, an integer was expected",
          written(i, shape), type(x) == "number" and x or "a " .. type(x))
  end
  return v
end

-- ---------------------------------------------------------------- steps of one size

-- The modes of a leaf of n values, whose indices are `step` apart: runs of equal steps.
local function runs(v, n, step)
  local s, d = {}, {}
  while n > 1 do
    local c, by = 2, v[step] - v[0]
    while c < n and v[step * c] - v[0] == c * by do c = c + 1 end
    if n % c ~= 0 then return nil, step * c, by * c + v[0] end
    s[#s + 1], d[#d + 1] = c, by
    step, n = step * c, n // c
  end
  return s, d
end

local function tuple(t)
  if #t == 0 then return nil end
  return #t == 1 and tostring(t[1]) or "(" .. table.concat(t, ",") .. ")"
end

-- A layout of the tree of `shape`, as text, whose leaf k is (s[k]):(d[k]).
local function tree(shape, s, d)
  local k, l = 0, 0
  local extents = shape:gsub("%d+", function(n) k = k + 1 return tuple(s[k]) or n end)
  local strides = shape:gsub("%d+", function() l = l + 1 return tuple(d[l]) or "0" end)
  return tile.layout(extents .. ":" .. strides)
end

-- The first i where A is not v.
local function differs(A, v, n)
  for i = 0, n - 1 do
    if A(i) ~= v[i] then return i, A(i) end
  end
end

-- nil, and the index and the value that steps would give there.
local function by_steps(v, n, shape, extents)
  local s, d, step = {}, {}, 1
  for k, e in ipairs(extents) do
    s[k], d[k] = runs(v, e, step)
    if s[k] == nil then return nil, d[k], select(3, runs(v, e, step)) end
    step = step * e
  end
  local A = tree(shape, s, d)
  if v[0] ~= 0 then A = tile.with_offset(A, v[0]) end
  local at, would = differs(A, v, n)
  if at then return nil, at, would end
  return A
end

-- ---------------------------------------------------------------- bits

local function is_bits(v, n, extents)
  for _, e in ipairs(extents) do if e & (e - 1) ~= 0 then return false end end
  for i = 0, n - 1 do if v[i] < 0 then return false end end
  return true
end

-- v[i] = v[0] xor the images of the bits of i; nil, and where that is not so.
local function by_bits(v, n, extents, shape)
  if not is_bits(v, n, extents) then return nil end
  local columns, all = {}, 0
  for i = 1, n - 1 do
    local rest = i & (i - 1) -- without its lowest bit
    if rest == 0 then columns[#columns + 1] = v[i] ~ v[0]
    elseif v[i] ~= v[rest] ~ v[i - rest] ~ v[0] then return nil, i, v[rest] ~ v[i - rest] ~ v[0] end
    all = all | v[i]
  end
  local M = {}
  for r = 0, 61 do
    if all | v[0] < 1 << r then break end
    M[r + 1] = {}
    for j, x in ipairs(columns) do M[r + 1][j] = x >> r & 1 end
  end
  local ok, A = pcall(tile.from_f2_matrix, M, shape, v[0])
  if not ok then return nil end
  if not math.type(A(0)) then A = tile.make_composed_layout(tile.layout(1 << #M), 0, A) end
  return not differs(A, v, n) and A or nil
end

-- ---------------------------------------------------------------- swizzles

-- What the swizzle makes of the values that are asked; a swizzle undoes itself.
local function swizzled(v, b, m, s)
  local mask = (1 << b) - 1
  return setmetatable({}, { __index = function(_, i)
    local x = v[i]
    if s > 0 then return x ~ (x >> m + s & mask) << m end
    return x ~ (x >> m & mask) << m - s
  end })
end

-- w o offset o L with steps of one size, for any swizzle w of the bits that there are.
local function by_swizzle(v, n, shape, extents)
  local bits, all = 0, 0
  for i = 0, n - 1 do all = all | v[i] end
  if all < 0 then return nil end
  while bits < 62 and all >> bits ~= 0 do bits = bits + 1 end
  for b = 1, math.min(bits // 2, 5) do
    for s = b, bits - b do
      for m = 0, bits - b - s do
        for sign = 1, -1, -2 do
          local L = by_steps(swizzled(v, b, m, sign * s), n, shape, extents)
          local A = L and tile.make_composed_layout(tile.swizzle(b, m, sign * s), 0, L)
          if A and not differs(A, v, n) then return A end
        end
      end
    end
  end
end

-- ---------------------------------------------------------------- periods

-- What c adds by itself, in each leaf: to the part in the period m, and to how many periods.
local function steps_in(v, extents, m)
  local d, e, step = {}, {}, 1
  for k, x in ipairs(extents) do
    d[k] = x > 1 and (v[step] - v[0]) % m or 0
    e[k] = x > 1 and v[step] // m - v[0] // m or 0
    if e[k] < 0 then return nil end
    step = step * x
  end
  return d, e
end

-- v = m * (q + e . c) + (v0 + d . c) % m of all coordinates c.
local function turns(v, n, extents, m, d, e)
  for i = 0, n - 1 do
    local rest, low, high = i, v[0] % m, v[0] // m
    for k, x in ipairs(extents) do
      local c = rest % x
      rest = rest // x
      low, high = low + c * d[k], high + c * e[k]
    end
    if v[i] ~= m * high + low % m then return false end
  end
  return true
end

-- f o offset o A: A numbers the place in the period, and the periods above it.
local function by_period(v, n, extents, shape)
  local most = 0
  for i = 0, n - 1 do
    if v[i] < 0 then return nil end
    most = math.max(most, v[i])
  end
  for m = 2, math.min(most, n) + 1 do
    local d, e = steps_in(v, extents, m)
    if d and turns(v, n, extents, m, d, e) then
      local reach, s, t = v[0] % m + 1, {}, {}
      for k, x in ipairs(extents) do reach = reach + (x - 1) * d[k] end
      local laps = (reach + m - 1) // m
      for k, x in ipairs(extents) do s[k], t[k] = { x }, { d[k] + laps * m * e[k] } end
      local f = tile.layout({ m, laps, most // m + 1 }, { 1, 0, m })
      local A = tile.make_composed_layout(f, v[0] % m + laps * m * (v[0] // m), tree(shape, s, t))
      return not differs(A, v, n) and A or nil
    end
  end
end

-- ---------------------------------------------------------------- all of it

-- function_layout(shape, f): the layout with the values f(coordinate...)
return function(shape, f)
  local S = type(shape) == "userdata" and shape or tile.layout(shape)
  local n, rank = tile.size(S), tile.rank(S)
  local whole = tile.shape(S)
  check(type(f) == "function" or type(f) == "userdata",
        "function_layout: a function of coordinates expected, got %s", type(f))
  check(n <= MOST, "function_layout: %s has %d elements, at most %d are asked: a part of it shows"
        .. " its steps, too", whole, n, MOST)
  if n == 0 then return tile.layout(whole) end
  local v = values(f, whole, rank, n)
  local text, extents = tostring(whole), {}
  for e in text:gmatch "%d+" do extents[#extents + 1] = math.tointeger(e) end
  local A = by_steps(v, n, text, extents)
  if A then return A end
  A = by_bits(v, n, extents, whole) or by_swizzle(v, n, text, extents)
      or by_period(v, n, extents, text)
  if A then return A end
  table.move(v, 0, n - 1, 1)
  return tile.listed(whole, v)
end
