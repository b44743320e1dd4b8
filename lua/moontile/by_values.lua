-- by_values.lua: operations on composed layouts that no chain of links answers: their values say
-- what the result is, and function_layout which layout that is.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"

local MOST <const> = 1 << 16

-- The values of A by index, and how many. The result has `times` as many.
local function values(op, A, times)
  local n, v = tile.size(A), {}
  times = math.max(times or 1, 1)
  check(n <= MOST // times, "%s: of %s there are %s values, at most %d are listed: take a tile of "
        .. "it", op, A, n <= math.maxinteger // times and n * times or "2^63 and more", MOST)
  for i = 0, n - 1 do
    v[i] = A(i)
    check(math.type(v[i]), "%s: %s has no integers as values", op, A)
  end
  return v, n
end

local function sum(op, a, b)
  local s = a + b
  check((a ~ s) & (b ~ s) >= 0, "%s: %d + %d leaves 64 bits", op, a, b)
  return s
end

local function extents(A)
  local list = {}
  for s in tostring(tile.shape(A)):gmatch "%d+" do list[#list + 1] = math.tointeger(s) end
  return list
end

-- The layout of A's tree, leaf k with s[k] elements, and these values.
local function listed(A, s, w)
  local k, i = 0, -1
  local text = tostring(tile.shape(A)):gsub("%d+", function() k = k + 1 return tostring(s[k]) end)
  return need "function_layout"(tile.parse(text), function() i = i + 1 return w[i] end)
end

-- ---------------------------------------------------------------- wider elements

-- For each index how many steps of a leaf, `run` apart, from it on stay in one element of n and
-- never meet.
local function reaches(v, size, s, run, n)
  local reach = {}
  for first = 0, size - 1 do
    if first // run % s == 0 then
      local to, last = s, {}      -- last: the least c from the one at hand on with this value
      for c = s - 1, 0, -1 do
        local i = first + c * run
        if c < s - 1 and v[i] // n ~= v[i + run] // n then to = c + 1 end
        to = math.min(to, last[v[i]] or to)
        last[v[i]], reach[i] = c, to - c
      end
    end
  end
  return reach
end

-- Whether m steps of a leaf from each multiple of m on lie in one element.
local function together(reach, size, s, run, m)
  for first = 0, size - 1, s * run do
    for c = 0, s - 1, m do
      for i = first + c * run, first + c * run + run - 1 do
        if reach[i] < math.min(m, s - c) then return false end
      end
    end
  end
  return true
end

-- How many steps of each leaf lie in one element.
local function steps(v, size, s, n)
  local m, run = {}, 1
  for k, extent in ipairs(s) do
    m[k] = math.max(1, math.min(extent, n))
    local reach = m[k] > 1 and reaches(v, size, extent, run, n)
    while size > 0 and m[k] > 1 and not together(reach, size, extent, run, m[k]) do
      m[k] = m[k] - 1
    end
    run = run * extent
  end
  return m
end

-- Where index i goes when leaf k has ceil(s[k] / m[k]) elements.
local function block_of(i, s, m)
  local j, run = 0, 1
  for k, extent in ipairs(s) do
    j = j + i % extent // m[k] * run
    i, run = i // extent, run * ((extent + m[k] - 1) // m[k])
  end
  return j
end

-- R(block of i) = A(i) // n; nil and two indices of one element that lie in two blocks. Blocks of
-- the same values are copies, as those of a stride 0.
local function wider(v, size, s, n)
  local m, w, all, first, owner = steps(v, size, s, n), {}, {}, {}, {}
  for i = 0, size - 1 do
    local j = block_of(i, s, m)
    if not w[j] then w[j], all[j], first[j] = v[i] // n, {}, i end
    all[j][v[i]] = true
  end
  for j = 0, size > 0 and #w or -1 do
    local o = owner[w[j]] or j
    owner[w[j]] = o
    for x in pairs(all[j]) do if not all[o][x] then return nil, first[o], first[j] end end
    for x in pairs(all[o]) do if not all[j][x] then return nil, first[o], first[j] end end
  end
  for k, extent in ipairs(s) do m[k] = (extent + m[k] - 1) // m[k] end
  return w, m
end

local FACTORS <const>, ASKED <const> = 1 << 12, 1 << 18

-- The largest part of n, less than n, in which elements stay whole, else 1: of those that have a
-- factor, or are one, up to FACTORS, and of large layouts of the largest of them.
local function less_wide(v, size, s, n)
  local left = math.max(8, ASKED // math.max(size, 1))
  local function would_do(part)
    left = left - 1
    return left >= 0 and wider(v, size, s, part)
  end
  local most = math.min(FACTORS, n - 1)
  for k = 2, most do
    if n % k == 0 and n // k > 1 and would_do(n // k) then return n // k end
  end
  for part = most, 2, -1 do
    if n % part == 0 and n // part > FACTORS and would_do(part) then return part end
  end
  return 1
end

local function upcast(op, A, n)
  check(math.type(n) == "integer" and n >= 1, "%s: a number of elements expected, got %s", op, n)
  local v, size = values(op, A)
  local s = extents(A)
  local w, m, j = wider(v, size, s, n)
  if w then return listed(A, m, w) end
  local less = less_wide(v, size, s, n)
  check(false, "%s: of %s by %d: the modes tear elements apart: A(%d) = %d and A(%d) = %d lie in "
        .. "element %d, and no mode goes from one to the other%s", op, A, n, m, v[m], j, v[j],
        v[m] // n, less > 1 and ("\n  elements of %d would do"):format(less) or "")
end

-- ---------------------------------------------------------------- narrower elements

-- The first leaf whose steps are of 1, else the first that has steps.
local function leaf_to_grow(v, size, s)
  local run, first = 1, nil
  for k, extent in ipairs(s) do
    local ones = extent > 1
    for i = 0, size - 1 do
      if not ones then break end
      ones = i // run % extent == 0 or v[i] == v[i - run] + 1
    end
    if ones then return k, run end
    if extent > 1 and not first then first = { k, run } end
    run = run * extent
  end
  if first then return first[1], first[2] end
  return 1, 1
end

local function downcast(op, A, n)
  check(math.type(n) == "integer" and n >= 1, "%s: a number of elements expected, got %s", op, n)
  local v, size = values(op, A, n)
  local s, w = extents(A), {}
  local k, run = leaf_to_grow(v, size, s)
  for i = 0, size * n - 1 do
    local low, rest = i % run, i // run
    local at = v[low + rest // n * run]
    w[i] = n * at + rest % n
    check(w[i] // n == at, "%s: %d * %d leaves 64 bits", op, at, n)
  end
  s[k] = s[k] * n
  return listed(A, s, w)
end

local function gcd(a, b) return b == 0 and a or gcd(b, a % b) end

-- ---------------------------------------------------------------- what is asked

local by_values = {}

function by_values.upcast(A, n) return upcast("upcast", A, n) end
function by_values.downcast(A, n) return downcast("downcast", A, n) end

function by_values.recast_layout(A, old, new)
  local op = "recast_layout"
  check(math.type(old) == "integer" and math.type(new) == "integer",
        "%s: bits expected, got %s, %s", op, old, new)
  check(old >= 1 and new >= 1, "%s: %d bits to %d bits: both at least 1", op, old, new)
  local g = gcd(old, new)
  local R = downcast(op, A, old // g)
  if new > g then R = upcast(op, R, new // g) end
  check(old % new == 0 or new % old == 0 or tile.size(R) * (new // g) == tile.size(A) * (old // g),
        "%s: %s of %d bits: its %d bits fill no elements of %d bits", op, A, old,
        tile.size(A) * old, new)
  return R
end

-- A as the list of its values, which has an inverse if they are 0 .. n-1.
function by_values.numbering(A)
  local v, n = values("numbering", A)
  table.move(v, 0, n - 1, 1)
  v[0] = nil
  return tile.listed(tile.shape(A), v)
end

-- R(i) = A(i) + B(i)
function by_values.layout_add(A, B)
  local v, n = values("layout_add", A)
  local w, size = values("layout_add", B)
  check(n == size, "layout_add: %s has %d elements, %s has %d", A, n, B, size)
  for i = 0, n - 1 do w[i] = sum("layout_add", v[i], w[i]) end
  return listed(A, extents(A), w)
end

-- R(a, b, ...) = A(a) + B(b) + ...
function by_values.make_layout(...)
  local list = { ... }
  if type(list[1]) == "table" then list = list[1] end
  local sums, shapes = { [0] = 0 }, {}
  local size = 1
  for k, A in ipairs(list) do
    local v, n = values("make_layout", A, size)
    local next = {}
    for j = 0, n - 1 do
      for i = 0, size - 1 do next[i + size * j] = sum("make_layout", sums[i], v[j]) end
    end
    sums, size, shapes[k] = next, size * n, tostring(tile.shape(A))
  end
  local i = -1
  local shape = #list == 1 and "(" .. shapes[1] .. ")" or "(" .. table.concat(shapes, ",") .. ")"
  return need "function_layout"(tile.parse(shape), function() i = i + 1 return sums[i] end)
end

return function(op, ...) return by_values[op](...) end
