-- questions.lua: what is asked of a layout's values: image, gaps, aliases, order; sorted modes.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local questions = {}
local math_type = math.type

local MOST <const>, MOST_COORDINATES <const> = 1 << 22, 1 << 18

-- The values of A in the order of its indices, as numbers; what: who asks.
local function values(A, what)
  if type(A) ~= "userdata" then A = tile.layout(A) end
  local n = tile.size(A)
  if n > MOST then
    error(("%s: %s has %d values, at most %d are looked at"):format(what, A, n, MOST), 0)
  end
  if n > 0 and type(A(0)) == "table" then
    error(("%s: the strides of %s are no integers"):format(what, A), 0)
  end
  return tile.values(A, what), A
end

local function image_of(A, what)
  local v = values(A, what)
  table.sort(v)
  local n = 0
  for i = 1, #v do
    if i == 1 or v[i] ~= v[n] then
      n = n + 1
      v[n] = v[i]
    end
  end
  for i = #v, n + 1, -1 do v[i] = nil end
  return v
end

-- The coordinates that A has, each once, in the order of its indices; { coordinate, i, j, ... } by
-- their text.
local function coordinates_of(A, what)
  local n, list, at = tile.size(A), {}, {}
  if n > MOST_COORDINATES then
    error(("%s: %s has %d coordinates, at most %d are looked at"):format(what, A, n,
          MOST_COORDINATES), 0)
  end
  for i = 0, n - 1 do
    local c = A(i)
    local key = tostring(c)
    if not at[key] then
      list[#list + 1], at[key] = c, { c }
    end
    table.insert(at[key], i)
  end
  return list, at
end

local function has_coordinates(A)
  return type(A) == "userdata" and tostring(A):find("@", 1, true) ~= nil
end

-- image(A): the offsets that A has, each once, in order; coordinates as they come
function questions.image(A)
  if has_coordinates(A) then return (coordinates_of(A, "image")) end
  return image_of(A, "image")
end

-- gaps(A): the runs { first, last } of offsets between A's least and largest that it has not; how
-- many offsets they are
function questions.gaps(A)
  local v, runs, count = image_of(A, "gaps"), {}, 0
  for i = 2, #v do
    if v[i] > v[i - 1] + 1 then
      runs[#runs + 1] = { v[i - 1] + 1, v[i] - 1 }
      count = count + v[i] - v[i - 1] - 1
    end
  end
  return runs, count
end

local function shared_coordinates(A)
  local list, at = coordinates_of(A, "aliases")
  local shared = {}
  for _, c in ipairs(list) do
    local one = at[tostring(c)]
    if #one > 2 then
      table.remove(one, 1)
      one.offset = c
      shared[#shared + 1] = one
    end
  end
  return shared
end

-- Of more values than are looked at: none meet, or an error that names two that do.
local function aliases_of_many(A, most, what)
  local decided, injective, i, j = pcall(tile.is_injective, A)
  if decided and injective then return {} end
  if not decided and not tostring(injective):find("not decided", 1, true) then
    error(injective, 0)
  end
  error(("aliases: %s has %d %s, at most %d are looked at%s; ask a tile of it, or its modes")
        :format(A, tile.size(A), what, most, i and ("; A(%d) = A(%d)"):format(i, j) or ""), 0)
end

-- aliases(A): { { offset =, i, j, ... }, ... }: what indices have one offset, or one coordinate
function questions.aliases(A)
  if type(A) ~= "userdata" then A = tile.layout(A) end
  local coordinates = has_coordinates(A)
  local most = coordinates and MOST_COORDINATES or MOST
  if tile.size(A) > most then
    return aliases_of_many(A, most, coordinates and "coordinates" or "values")
  elseif coordinates then return shared_coordinates(A) end
  local v, at, shared = values(A, "aliases"), {}, {} -- at: of an offset its index, then a list
  for i, x in ipairs(v) do
    local before = at[x]
    if not before then at[x] = i - 1
    elseif math_type(before) then at[x], shared[#shared + 1] = { before, i - 1, offset = x }, x
    else before[#before + 1] = i - 1
    end
  end
  table.sort(shared)             -- numbers: no function is called to compare them
  for k = 1, #shared do shared[k] = at[shared[k]] end
  return shared
end

local function gcd(a, b) return b == 0 and a or gcd(b, a % b) end

-- order(A): the least n > 0 for which A applied n times leaves every index where it is; the lengths
-- of its cycles
function questions.order(A)
  local v, L = values(A, "order")
  local n, seen, lengths, order = #v, {}, {}, 1
  for i = 1, n do
    if v[i] < 0 or v[i] >= n or seen[v[i]] then
      local why = (v[i] < 0 or v[i] >= n) and "is outside of" or "is not the first in"
      error(("order: %s is no permutation: A(%d) = %d %s 0 .. %d")
            :format(L, i - 1, v[i], why, n - 1), 0)
    end
    seen[v[i]] = true
  end
  for i = 1, n do
    local length, k = 0, i
    while v[k] do
      k, v[k], length = v[k] + 1, nil, length + 1
    end
    if length > 0 then lengths[#lengths + 1] = length end
    if length > 0 and order % length ~= 0 then
      local next = order // gcd(order, length)
      if next > math.maxinteger // length then
        error(("order: of %s leaves 64 bits"):format(L), 0)
      end
      order = next * length
    end
  end
  table.sort(lengths)
  return order, lengths
end

-- ---------------------------------------------------------------- tuples

-- The part of s that its first n elements fill, and what is left of n.
local function first(s, n, whole, of)
  if type(s) ~= "table" then
    local fits = n >= s and s > 0 and n % s == 0 or n < s and s % n == 0
    if not fits then
      error(("shape_mod: the first %d elements of %s are no shape: %d and %d do not divide each"
             .. " other"):format(of, whole, s, n), 0)
    end
    return math.min(s, n), n >= s and n // s or 1
  end
  local t = {}
  for i = 1, #s do t[i], n = first(s[i], n, whole, of) end
  return t, n
end

-- shape_mod(shape, n): the shape of its first n elements; what shape_div divides away
function questions.shape_mod(shape, n)
  if math.type(n) ~= "integer" or n < 1 then
    error(("shape_mod: a number of elements from 1 on expected, got %s"):format(tostring(n)), 0)
  end
  shape = tile.shape(type(shape) == "userdata" and shape or tile.layout(shape))
  local whole = shape
  local t, left = first(shape, n, whole, n)
  if left > 1 then
    error(("shape_mod: %s has %d elements, not %d"):format(whole, tile.size(shape), n), 0)
  end
  return type(t) == "table" and tile.make_shape(table.unpack(t)) or t
end

-- sort(A): the modes of a layout flattened, in the order of their strides, then extents; the
-- integers of a tuple in order
function questions.sort(A)
  local flat = tile.flatten(A)
  if type(flat) == "table" then
    local t = { table.unpack(flat) }
    for _, x in ipairs(t) do
      if not math.type(x) then error("sort: integers expected, got " .. tostring(x), 0) end
    end
    table.sort(t)
    return tile.make_shape(table.unpack(t))
  elseif type(flat) ~= "userdata" then return flat
  end
  local modes = {}
  if tile.is_composed(flat) then
    error(("sort: %s is composed: its modes have no strides to be sorted by"):format(A), 0)
  end
  for i = 1, tile.rank(flat) do
    local m = tile.get(flat, i)
    modes[i] = { m, tile.size(m), tile.get(tile.append(tile.stride(m), 0), 1), i }
    if not math.type(modes[i][3]) then
      error(("sort: the strides of %s are no integers"):format(A), 0)
    end
  end
  table.sort(modes, function(a, b)
    if a[3] ~= b[3] then return a[3] < b[3] end
    if a[2] ~= b[2] then return a[2] < b[2] end
    return a[4] < b[4]
  end)
  for i, m in ipairs(modes) do modes[i] = m[1] end
  return #modes == 1 and modes[1] or tile.make_layout(table.unpack(modes))
end

return questions
