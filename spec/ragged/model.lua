-- model.lua: what a view of a tensor is, counted by hand: a list of places in memory, nil-free;
-- `false` where an element is not real. Elements are numbered by their coordinates, the first mode
-- fastest; `n` are the sizes of the modes.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

local model = {}

local function product(n)
  local p = 1
  for i = 1, #n do p = p * n[i] end
  return p
end

-- The view with modes of sizes n whose element (i1, i2, ...) is number f(i1, i2, ...) of `from`;
-- f may answer nil: not real.
function model.pick(from, n, f)
  local at, size = {}, product(n)
  local index, rank = {}, #n
  for k = 1, rank do index[k] = 0 end
  for i = 1, size do
    local j = f(index)
    at[i] = j and from.at[j + 1] or false
    local k = 1
    while k <= rank do
      index[k] = index[k] + 1
      if index[k] < n[k] then break end
      index[k] = 0
      k = k + 1
    end
  end
  return { n = n, at = at }
end

-- The number of the element with these indices of the modes; nil: one is past its end.
local function number(n, index)
  local i, place = 0, 1
  for k = 1, #n do
    if index[k] >= n[k] or index[k] < 0 then return nil end
    i, place = i + index[k] * place, place * n[k]
  end
  return i
end
model.number = number

-- All of a tensor with this layout, `offset` elements into its memory.
function model.whole(A, offset)
  local n, at = {}, {}
  for k = 1, tile.rank(A) do n[k] = tile.size(tile.get(A, k)) end
  for i = 0, tile.size(A) - 1 do at[i + 1] = offset + A(i) end
  return { n = n, at = at }
end

-- The same elements in the same order, as the modes of a layout.
function model.reshaped(from, A)
  local n = {}
  for k = 1, tile.rank(A) do n[k] = tile.size(tile.get(A, k)) end
  return { n = n, at = from.at }
end

function model.reals(m)
  local r = 0
  for i = 1, #m.at do r = r + (m.at[i] and 1 or 0) end
  return r
end

-- ---------------------------------------------------------------- cutting

-- How a tiler of one mode of n elements cuts it: index(x, r), sizes of tile and rest. An integer or
-- a layout; nil: the mode as it is, in the tile.
local function cut_mode(t, n)
  if math.type(t) then
    return function(x, r) return x + t * r end, t, (n - 1) // t + 1
  end
  local rest = tile.complement(t, n)
  return function(x, r) return t(x) + rest(r) end, tile.size(t), tile.size(rest)
end

-- by mode: { index functions }, tile sizes, rest sizes. Modes beyond the tiler stay whole, as rest.
function model.cuts(m, tiler)
  local f, t, r = {}, {}, {}
  for k = 1, #m.n do
    if tiler[k] then f[k], t[k], r[k] = cut_mode(tiler[k], m.n[k])
    else f[k], t[k], r[k] = function(_, i) return i end, 1, m.n[k] end
  end
  return f, t, r
end

-- Modes x1, ..., xn (of the tile), then r1, ..., rn, in one list; `keep` of the tile.
function model.divided(m, tiler)
  local f, t, r = model.cuts(m, tiler)
  local n, rank = {}, #m.n
  for k = 1, rank do n[k], n[rank + k] = t[k], r[k] end
  return model.pick(m, n, function(index)
    local at = {}
    for k = 1, rank do at[k] = f[k](index[k], index[rank + k]) end
    return number(m.n, at)
  end), t, r
end

-- Element (free indices...) of m with the others fixed: `fixed[k]` or nil.
function model.slice(m, fixed)
  local n, where = {}, {}
  for k = 1, #m.n do
    if not fixed[k] then n[#n + 1], where[#where + 1] = m.n[k], k end
  end
  return model.pick(m, n, function(index)
    local at = {}
    for k = 1, #m.n do at[k] = fixed[k] or 0 end
    for k = 1, #where do at[where[k]] = index[k] end
    return number(m.n, at)
  end)
end

return model
