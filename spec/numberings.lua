-- numberings.lua: random bijections of a shape onto 0 .. n-1, by strides and by functions, for the
-- specs of partitions by functions.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, random = tile.layout, math.random

local function number(x)
  return math.type(x) and x or math.tointeger(tostring(x):match "%d+")
end

local function size(shape)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  return n
end

local function bits_of(n)
  local bits = 0
  while 1 << bits < n do bits = bits + 1 end
  return 1 << bits == n and bits
end

local function swizzled(L, bits)
  local b = random(1, bits // 2)
  local s = random(b, bits - b)
  return tile.make_composed_layout(
    tile.swizzle(b, random(0, bits - b - s), random(2) == 1 and s or -s), 0, L)
end

local function over_f2(shape, bits)
  local A
  repeat
    local M = {}
    for i = 1, bits do
      M[i] = {}
      for j = 1, bits do M[i][j] = random(0, 1) end
    end
    A = tile.from_f2_matrix(M, shape)
  until tile.is_injective(A)
  return A
end

local function listed(shape)
  local p, at = {}, 0
  for i = 1, size(shape) do p[i] = i - 1 end
  for i = #p, 2, -1 do
    local j = random(i)
    p[i], p[j] = p[j], p[i]
  end
  return tile.function_layout(shape, function()
    at = at + 1
    return p[at]
  end)
end

-- A bijection of the shape onto 0 .. n-1.
local function numbering(shape)
  local kind, bits = random(4), bits_of(size(shape))
  local L = layout(shape, random(2) == 1 and "left" or "right")
  if kind == 1 then return L end
  if kind == 2 and bits and bits >= 2 then return swizzled(L, bits) end
  if kind == 3 and bits and bits >= 1 then return over_f2(shape, bits) end
  return listed(shape)
end

-- Ordinate k of a coordinate whose last zeros may be left out.
local function ordinate(c, k)
  if math.type(c) then return k == 1 and c or 0 end
  return c[k] or 0
end

-- Two tensors of two modes.
local function same_values(want, got, name)
  got = got:to "cpu"
  for i = 0, tile.size(want, 1) - 1 do
    for j = 0, tile.size(want, 2) - 1 do
      if want(i, j) ~= got(i, j) then assert.equal(want(i, j), got(i, j), name) end
    end
  end
end

return { number = number, size = size, listed = listed, numbering = numbering,
         ordinate = ordinate, same_values = same_values }
