-- steps.lua: random ways to make a view of a tensor: what is done, to a tensor or a layout, and
-- what comes out by hand. Each returns a text, apply(T) and the model of the result; nil: not for
-- this one.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local model = require "model"
local _ = tile._

local steps = {}
local random = math.random

local function list(t)
  local s = {}
  for i = 1, #t do s[i] = t[i] == _ and "_" or tostring(t[i]) end
  return "{" .. table.concat(s, ",") .. "}"
end

local function ceil(n, t) return (n - 1) // t + 1 end

-- An integer, or a layout that cuts n elements with gaps.
local function random_tile(n)
  local t = random(1, n + 2)
  if random(4) > 1 then return t end
  local gap = random(2, 3)
  t = random(1, math.max(1, ceil(n, gap)))
  return tile.layout(t, gap)
end

local function random_tiler(m)
  local tiler = {}
  for k = 1, #m.n do tiler[k] = random_tile(m.n[k]) end
  if #tiler > 1 and random(5) == 1 then tiler[#tiler] = nil end
  return tiler
end

-- ---------------------------------------------------------------- tiles

function steps.local_tile(m)
  local tiler, coordinate = {}, {}
  for k = 1, #m.n do tiler[k] = random_tile(m.n[k]) end
  local all, _, r = model.divided(m, tiler)
  local fixed, rank = {}, #m.n
  for k = 1, rank do
    coordinate[k] = random(3) == 1 and tile._ or random(0, r[k] - 1)
    if random(3) == 1 then coordinate[k] = r[k] - 1 end
    if coordinate[k] ~= tile._ then fixed[rank + k] = coordinate[k] end
  end
  return "local_tile(" .. list(tiler) .. "," .. list(coordinate) .. ")",
         function(T) return (tile.local_tile(T, tiler, coordinate)) end, model.slice(all, fixed)
end

local orders = {}
function orders.zipped_divide(t, r) return { t, r } end
function orders.tiled_divide(t, r) return { t, table.unpack(r) } end
function orders.flat_divide(t, r)
  local modes = {}
  for k = 1, #t do modes[k] = t[k] end
  return table.move(r, 1, #r, #modes + 1, modes)
end
function orders.logical_divide(t, r)
  local modes = {}
  for k = 1, #t do modes[k] = { t[k], r[k] } end
  return modes
end

-- The modes of `all` (with sizes) grouped: each entry a mode or a list of them.
local function regrouped(all, groups)
  local n, flat = {}, {}
  for g, group in ipairs(groups) do
    n[g] = 1
    for _, k in ipairs(type(group) == "table" and group or { group }) do
      n[g] = n[g] * all.n[k]
      flat[#flat + 1] = k
    end
  end
  local sizes = {}
  for i, k in ipairs(flat) do sizes[i] = all.n[k] end
  local picked = model.pick(all, sizes, function(index)
    local at = {}
    for i, k in ipairs(flat) do at[k] = index[i] end
    return model.number(all.n, at)
  end)
  return { n = n, at = picked.at }
end

function steps.divide(m)
  local name = ({ "zipped_divide", "tiled_divide", "flat_divide", "logical_divide" })[random(4)]
  local tiler = {}
  for k = 1, #m.n do tiler[k] = random_tile(m.n[k]) end
  local all = model.divided(m, tiler)
  local t, r = {}, {}
  for k = 1, #m.n do t[k], r[k] = k, #m.n + k end
  return name .. list(tiler), function(T) return tile[name](T, tiler) end,
         regrouped(all, orders[name](t, r))
end

-- As one function.
function steps.divide_whole(m)
  local t = random(1, #m.at + 2)
  local n = { t, ceil(#m.at, t) }
  return "logical_divide(" .. t .. ")", function(T) return tile.logical_divide(T, t) end,
         model.pick(m, n, function(i)
           local j = i[1] + t * i[2]
           return j < #m.at and j or nil
         end)
end

function steps.inner_partition(m)
  local tiler, fixed, c = random_tiler(m), {}, {}
  local all, _, r = model.divided(m, tiler)
  for k = 1, #tiler do
    c[k] = random(0, r[k] - 1)
    fixed[#m.n + k] = c[k]
  end
  for k = #tiler + 1, #m.n do fixed[k] = 0 end
  return "inner_partition(" .. list(tiler) .. "," .. list(c) .. ")",
         function(T) return (tile.inner_partition(T, tiler, c)) end, model.slice(all, fixed)
end

function steps.outer_partition(m)
  local tiler, fixed, c = {}, {}, {}
  for k = 1, #m.n do tiler[k] = random_tile(m.n[k]) end
  local all, t = model.divided(m, tiler)
  for k = 1, #m.n do
    c[k] = random(0, t[k] - 1)
    fixed[k] = c[k]
  end
  return "outer_partition(" .. list(tiler) .. "," .. list(c) .. ")",
         function(T) return (tile.outer_partition(T, tiler, c)) end, model.slice(all, fixed)
end

function steps.local_partition(m)
  local tiler, fixed, count = {}, {}, 1
  for k = 1, #m.n do
    tiler[k] = random(1, math.min(m.n[k] + 1, 4))
    count = count * tiler[k]
  end
  local thr, index = tile.layout(tiler), random(0, count - 1)
  local all, rest = model.divided(m, tiler), index
  for k = 1, #m.n do
    fixed[k] = rest % tiler[k]
    rest = rest // tiler[k]
  end
  return "local_partition(" .. tostring(thr) .. "," .. index .. ")",
         function(T) return (tile.local_partition(T, thr, index)) end, model.slice(all, fixed)
end

-- ---------------------------------------------------------------- threads

local function compact(rank, most)
  local s, size = {}, 1
  for k = 1, rank do
    s[k] = random(1, most)
    size = size * s[k]
  end
  return tile.layout(s, random(2) == 1 and "left" or "right"), s, size
end

-- What thread `thr` has by (thread, value) -> index of a tile with these extents.
local function of_thread(m, tv, extents, thr, values)
  local r, n = {}, { values }
  for k = 1, #m.n do
    r[k] = extents[k] and ceil(m.n[k], extents[k]) or m.n[k]
    n[k + 1] = r[k]
  end
  return model.pick(m, n, function(i)
    local at, x = {}, tv(thr, i[1])
    for k = 1, #m.n do
      if extents[k] then
        at[k] = x % extents[k] + extents[k] * i[k + 1]
        x = x // extents[k]
      else at[k] = i[k + 1] end
    end
    return model.number(m.n, at)
  end)
end

function steps.tiled_copy(m)
  if #m.n > 3 then return end
  local thr, a, threads = compact(#m.n, 3)
  local val, b = compact(#m.n, 2)
  local copy = tile.tiled_copy { atom = "AutoVectorizingCopy", bits = 32, thr = thr, val = val }
  local extents, who = {}, random(0, threads - 1)
  for k = 1, #m.n do extents[k] = a[k] * b[k] end
  local side = random(2) == 1 and "partition_S" or "partition_D"
  return ("thread %d of thr %s, val %s: %s"):format(who, thr, val, side),
         function(T)
           local slice = copy:get_slice(who)
           return (slice[side](slice, T))
         end, of_thread(m, copy:tiled_layout_TV(), extents, who, tile.size(val))
end

function steps.tiled_mma(m)
  if #m.n ~= 2 then return end
  local atoms = tile.layout { random(1, 3), random(1, 2), 1 }
  local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = atoms }
  local part = ({ "A", "B", "C" })[random(3)]
  local shape = mma:tile_shape()
  local extents = { A = { shape[1], shape[3] }, B = { shape[2], shape[3] },
                    C = { shape[1], shape[2] } }
  local who, tv = random(0, mma:size() - 1), mma["layout_" .. part .. "_TV"](mma)
  return ("thread %d of %s: partition_%s"):format(who, atoms, part),
         function(T)
           local slice = mma:get_slice(who)
           return (slice["partition_" .. part](slice, T))
         end, of_thread(m, tv, extents[part], who, tile.size(tile.get(tv, 2)))
end

-- ---------------------------------------------------------------- others

function steps.slice(m)
  if #m.n == 1 then return end
  local c, fixed = {}, {}
  for k = 1, #m.n do c[k] = random(2) == 1 and _ or random(0, m.n[k] - 1) end
  c[random(#c)] = _
  for k = 1, #m.n do fixed[k] = c[k] ~= _ and c[k] or nil end
  return "(" .. list(c) .. ")", function(T) return (tile.slice(c, T)) end, model.slice(m, fixed)
end

function steps.select(m)
  local order = {}
  for k = 1, #m.n do table.insert(order, random(k), k) end
  if #order > 1 and random(4) == 1 then table.remove(order) end
  local n = {}
  for i, k in ipairs(order) do n[i] = m.n[k] end
  return "select" .. list(order), function(T) return tile.select(T, order) end,
         model.pick(m, n, function(index)
           local at = {}
           for k = 1, #m.n do at[k] = 0 end
           for i, k in ipairs(order) do at[k] = index[i] end
           return model.number(m.n, at)
         end)
end

function steps.same(m)
  local name = ({ "flatten", "coalesce", "group" })[random(3)]
  local first = random(#m.n)
  local last = random(first, #m.n)
  return name == "group" and ("group(%d,%d)"):format(first, last) or name, function(T)
    if name == "group" then return tile.group(T, first, last) end
    return tile[name](T)
  end, m, true                                  -- the sizes of the modes are those of the result
end

function steps.composition(m)
  local n, d = { random(1, 4), random(1, 4) }, { random(1, 3), random(1, 9) }
  local B = tile.layout(n, d)
  return "* " .. tostring(B), function(T) return tile.composition(T, B) end,
         model.pick(m, n, function(i)
           local j = i[1] * d[1] + i[2] * d[2]
           return j < #m.at and j or nil
         end)
end

function steps.domain_offset(m, T)
  if tile.depth(T:layout()) > 1 or tostring(T:layout()):find "Sw" then return end
  local c = {}
  for k = 1, #m.n do c[k] = random(0, m.n[k] - 1) end
  return "domain_offset" .. list(c), function(X) return (tile.domain_offset(X, c)) end,
         model.pick(m, m.n, function(index)
           local at = {}
           for k = 1, #m.n do at[k] = index[k] + c[k] end
           return model.number(m.n, at)
         end)
end

return steps
