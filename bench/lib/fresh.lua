-- fresh.lua: views whose extents nobody has seen before, for what planning costs.
-- SPDX-License-Identifier: MIT
--
-- A view is as in views.lua: axes with strides of both sides in elements, the first fastest in
-- the destination, which is compact if there is no dst.

local fresh = {}
local SIZES = { u8 = 1, f16 = 2, f32 = 4, f64 = 8 }
local DTYPES = { "u8", "f16", "f32", "f64" }
local MOST = 1 << 24                                     -- elements that a side reaches over

local function pick(list) return list[math.random(#list)] end
local function chance(percent) return math.random(100) <= percent end

-- An extent of about 2^least to 2^most; two of three are multiples of 16, as those of models are.
local function extent(least, most)
  local n = math.floor(2 ^ (least + (most - least) * math.random()))
  return n >= 32 and chance(67) and n // 16 * 16 or n
end

-- Compact strides for the axes in this order, each pitch grown by what `more` says.
local function strides(extents, order, more)
  local list, at = {}, 1
  for _, i in ipairs(order) do
    list[i] = at
    at = at * extents[i] + (more and more() or 0)
  end
  return list
end

local function counted(n)
  local list = {}
  for i = 1, n do list[i] = i end
  return list
end

local function shuffled(n)
  local list = counted(n)
  for i = n, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

local function extents_of(rank, bits)
  local list = {}
  for i = 1, rank do list[i] = math.max(2, extent(bits / rank - 1.5, bits / rank + 1.5)) end
  return list
end

local FAMILIES = {}

function FAMILIES.contiguous() return { extent(8, 22) }, { 1 } end

function FAMILIES.rows()
  local n, m = extent(4, 12), extent(3, 11)
  return { n, m }, { 1, n + pick { 1, 3, 8, 16, 64, n } }
end

function FAMILIES.transposed()
  local n, m = extent(4, 11), extent(4, 11)
  return { n, m }, { m, 1 }
end

function FAMILIES.permuted()
  local extents = extents_of(math.random(3, 6), math.random(12, 22))
  return extents, strides(extents, shuffled(#extents))
end

function FAMILIES.reversed()
  local n, m = extent(4, 11), extent(3, 11)
  if chance(30) then return { n * m }, { -1 } end
  return { n, m }, chance(60) and { -1, n } or { 1, -n }
end

function FAMILIES.padded()
  local extents = extents_of(math.random(2, 5), math.random(12, 21))
  local function more() return chance(40) and math.random(16) or 0 end
  local order = counted(#extents)
  return extents, strides(extents, order, more), strides(extents, order, more)
end

function FAMILIES.windowed()
  local k, n = math.random(3, 64), extent(8, 16)
  return { k, n }, { 1, pick { 1, 2, k // 2 + 1 } }
end

function FAMILIES.broadcast()
  local extents = extents_of(math.random(2, 4), math.random(12, 20))
  local src = strides(extents, counted(#extents))
  src[math.random(#src)] = 0
  return extents, src
end

function FAMILIES.pixels()
  local c, n = math.random(2, 7), extent(8, 20)
  if chance(50) then return { c, n }, { -1, c + math.random(0, 1) } end
  return { n, c }, { c, 1 }
end

-- Rank 1 to 8, of all that there is.
function FAMILIES.mixed()
  local extents = extents_of(math.random(8), math.random(10, 21))
  local order, src, at = shuffled(#extents), {}, 1
  for _, i in ipairs(order) do
    src[i] = at
    if chance(8) then src[i] = 0 else at = at * extents[i] + (chance(10) and 3 or 0) end
    if chance(15) then src[i] = -src[i] end
  end
  return extents, src
end

-- A cache of keys that grows by one token: (D, T, H, B) of one with room for 8192.
function FAMILIES.cache(k)
  local D, H, T, most = 128, 8, 100 + k, 8192
  if k % 2 == 0 then return { D, T, H }, { 1, D, D * most } end
  return { D, 1, H }, { 1, D, D }, { 1, D, D * T }
end

local NAMES = {}
for name in pairs(FAMILIES) do NAMES[#NAMES + 1] = name end
table.sort(NAMES)

-- Where index 0 of a side is, and how many elements there are.
local function span(extents, list)
  local first, last = 0, 0
  for i, e in ipairs(extents) do
    local reach = (e - 1) * list[i]
    if reach < 0 then first = first - reach else last = last + reach end
  end
  return first, first + last + 1
end

local function draw(name, k)
  local v = { family = name, dtype = name == "cache" and "f16" or pick(DTYPES) }
  v.extents, v.src, v.dst = FAMILIES[name](k)
  v.dst = v.dst or strides(v.extents, counted(#v.extents))
  for _, side in ipairs { "src", "dst" } do
    v[side .. "_first"], v[side .. "_size"] = span(v.extents, v[side])
  end
  return v.src_size <= MOST and v.dst_size <= MOST and v or draw(name, k)
end

-- n of each family, or of one; every run has the same.
function fresh.views(n, seed, family)
  math.randomseed(seed)
  local list = {}
  for _, name in ipairs(NAMES) do
    for k = 1, (not family or family == name) and n or 0 do list[#list + 1] = draw(name, k) end
  end
  return list
end

fresh.names, fresh.sizes = NAMES, SIZES
return fresh
