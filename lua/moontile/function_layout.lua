-- function_layout.lua: the layout that a function of coordinates is: steps of one size in each
-- mode, under a swizzle or not, a map of bits (xor), or one that turns round in a period
-- ((i + j) % n).
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"

local MOST <const> = 1 << 16
local ASKED <const> = 128       -- times as many values are looked at for a swizzle, at most

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
    if n % c ~= 0 then return nil end
    s[#s + 1], d[#d + 1] = c, by
    step, n = step * c, n // c
  end
  return s, d
end

local function tuple(t)
  if #t == 0 then return nil end
  return #t == 1 and tostring(t[1]) or "(" .. table.concat(t, ",") .. ")"
end

-- What f gives; nil where that is no layout, as its offsets leave 64 bits.
local function fits(f, ...)
  local ok, A = pcall(f, ...)
  return ok and A or nil
end

-- A layout of the tree of `shape`, as text, whose leaf k is (s[k]):(d[k]).
local function tree(shape, s, d)
  local k, l = 0, 0
  local extents = shape:gsub("%d+", function(n) k = k + 1 return tuple(s[k]) or n end)
  local strides = shape:gsub("%d+", function() l = l + 1 return tuple(d[l]) or "0" end)
  return fits(tile.layout, extents .. ":" .. strides)
end

local function differs(A, v, n)
  for i = 0, n - 1 do
    if A(i) ~= v[i] then return true end
  end
  return false
end

local function by_steps(v, n, shape, extents)
  local s, d, step = {}, {}, 1
  for k, e in ipairs(extents) do
    s[k], d[k] = runs(v, e, step)
    if s[k] == nil then return nil end
    step = step * e
  end
  local A = tree(shape, s, d)
  if A and v[0] ~= 0 then A = fits(tile.with_offset, A, v[0]) end
  return A and not differs(A, v, n) and A or nil
end

-- ---------------------------------------------------------------- bits

local function is_bits(v, n, extents)
  for _, e in ipairs(extents) do if e & (e - 1) ~= 0 then return false end end
  for i = 0, n - 1 do if v[i] < 0 then return false end end
  return true
end

-- v[i] = v[0] xor the images of the bits of i
local function by_bits(v, n, extents, shape)
  if not is_bits(v, n, extents) then return nil end
  local columns, all = {}, 0
  for i = 1, n - 1 do
    local rest = i & (i - 1) -- without its lowest bit
    if rest == 0 then columns[#columns + 1] = v[i] ~ v[0]
    elseif v[i] ~= v[rest] ~ v[i - rest] ~ v[0] then return nil end
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

-- What the swizzle makes of the values that are asked; a swizzle undoes itself. left[1]: how many
-- more may be asked.
local function swizzled(v, b, m, s, left)
  local mask = (1 << b) - 1
  return setmetatable({}, { __index = function(_, i)
    local x = v[i]
    left[1] = left[1] - 1
    if s > 0 then return x ~ (x >> m + s & mask) << m end
    return x ~ (x >> m & mask) << m - s
  end })
end

-- w o offset o L with steps of one size, for any swizzle w of the bits that there are.
local function by_swizzle(v, n, shape, extents)
  local bits, all, left = 0, 0, { ASKED * n + MOST }
  for i = 0, n - 1 do all = all | v[i] end
  if all < 0 then return nil end
  while bits < 62 and all >> bits ~= 0 do bits = bits + 1 end
  for b = 1, math.min(bits // 2, 5) do
    for s = b, bits - b do
      for m = 0, bits - b - s do
        for sign = 1, -1, -2 do
          if left[1] < 0 then return nil end
          local L = by_steps(swizzled(v, b, m, sign * s, left), n, shape, extents)
          local A = L and fits(tile.make_composed_layout, tile.swizzle(b, m, sign * s), 0, L)
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

-- The only period that there can be: a step of a leaf takes one of two differences, a period apart.
local function period_of(v, n, extents)
  local step = 1
  for _, x in ipairs(extents) do
    local d = x > 1 and v[step] - v[0]
    for i = 0, d and n - 1 or -1 do
      if i // step % x < x - 1 and v[i + step] - v[i] ~= d then
        return math.abs(v[i + step] - v[i] - d)
      end
    end
    step = step * x
  end
  return 0
end

-- f o offset o A: A numbers the place in the period, and the periods above it.
local function by_period(v, n, extents, shape)
  local most = 0
  for i = 0, n - 1 do
    if v[i] < 0 then return nil end
    most = math.max(most, v[i])
  end
  local m = period_of(v, n, extents)
  if m < 2 or m > math.min(most, n) + 1 then return nil end
  local d, e = steps_in(v, extents, m)
  if not d or not turns(v, n, extents, m, d, e) then return nil end
  local reach, s, t = v[0] % m + 1, {}, {}
  for k, x in ipairs(extents) do reach = reach + (x - 1) * d[k] end
  local laps = (reach + m - 1) // m
  for k, x in ipairs(extents) do s[k], t[k] = { x }, { d[k] + laps * m * e[k] } end
  local f = tile.layout({ m, laps, most // m + 1 }, { 1, 0, m })
  local first, numbers = v[0] % m + laps * m * (v[0] // m), tree(shape, s, t)
  local A = numbers and fits(tile.make_composed_layout, f, first, numbers)
  return A and not differs(A, v, n) and A or nil
end

-- ---------------------------------------------------------------- all of it

-- A function, or an object that is called as one. What the library's objects are, they say
-- themselves.
local function is_called(f)
  if type(f) ~= "userdata" then return type(f) == "function" end
  local meta = getmetatable(f)
  return type(meta) == "string" or type(meta) == "table" and meta.__call ~= nil
end

-- function_layout(shape, f): the layout with the values f(coordinate...)
return function(shape, f)
  local S = type(shape) == "userdata" and shape or tile.layout(shape)
  local n, rank = tile.size(S), tile.rank(S)
  local whole = tile.shape(S)
  check(is_called(f), "function_layout: a function of coordinates expected, got %s",
        need "kind"(f))
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
