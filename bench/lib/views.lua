-- views.lua: the copies that ../views.lua measures: views that people write, and random ones.
-- SPDX-License-Identifier: MIT
--
-- A view is { family =, name =, dtype =, extents =, src =, dst = }: axes with strides of both
-- sides in elements, the first fastest in the destination. No dst: it is compact. `least` is
-- about how many bytes are written.

local views = {}
local SIZES = { u8 = 1, i8 = 1, f16 = 2, u16 = 2, f32 = 4, i32 = 4, f64 = 8, i64 = 8 }
local SECTOR = 32

function views.product(list)
  local n = 1
  for _, e in ipairs(list) do n = n * e end
  return n
end

function views.compact(extents)
  local strides, at = {}, 1
  for i, e in ipairs(extents) do strides[i], at = at, at * e end
  return strides
end

-- The element with the lowest offset is element 0: where index 0 is, and how many there are.
function views.span(extents, strides)
  local first, last = 0, 0
  for i, e in ipairs(extents) do
    local reach = (e - 1) * strides[i]
    if reach < 0 then first = first - reach else last = last + reach end
  end
  return first, first + last + 1
end

-- Bytes of the sectors of a side, each once; a CPU's are its lines. Axes of one stride reach
-- along the same elements.
function views.bytes(extents, strides, size, sector)
  sector = sector or SECTOR
  local reach, order = {}, {}
  for i, e in ipairs(extents) do
    local s = math.abs(strides[i]) * size
    if s > 0 and not reach[s] then order[#order + 1] = s end
    reach[s] = (reach[s] or 1) + e - 1
  end
  table.sort(order)
  local piece, pieces = size, 1
  for _, s in ipairs(order) do
    if s <= math.max(piece, sector) then piece = piece + s * (reach[s] - 1)
    else pieces = pieces * reach[s] end
  end
  return pieces * ((piece + sector - 1) // sector * sector)
end

-- ---- the families

local function morton(bits)
  local extents, strides = {}, {}
  for i = 0, bits - 1 do
    extents[#extents + 1], strides[#strides + 1] = 2, 1 << i
    extents[#extents + 1], strides[#strides + 1] = 2, 1 << i + bits
  end
  return extents, strides
end

-- What is read along the axes of another, and the other way round.
local function inverse(extents, strides)
  local order, moved, compact = {}, {}, views.compact(extents)
  for i = 1, #extents do order[i] = i end
  table.sort(order, function(a, b) return strides[a] < strides[b] end)
  local src = {}
  for k, i in ipairs(order) do moved[k], src[k] = extents[i], compact[i] end
  return moved, src
end

-- What the functions below write: a list of views of one family after another.
local List = {}
List.__index = List

function List:add(name, dtype, extents, src, dst)
  self[#self + 1] = { family = self.family, name = name, dtype = dtype, extents = extents,
                      src = src, dst = dst }
end

-- How many things of n elements make the bytes.
function List:of(dtype, n) return math.max(1, self.least // (SIZES[dtype] * n)) end

local function reversed(list)
  local function rows(name, dtype, n, turn)
    local m = list:of(dtype, n)
    list:add(("%s %s %dx%d"):format(name, dtype, m, n), dtype, { n, m }, turn(n, m))
  end
  local function flipped(n) return { -1, n } end
  rows("rows", "f32", 4096, flipped)
  rows("rows", "f16", 4096, flipped)
  rows("rows", "u8", 8192, flipped)
  rows("rows", "f64", 2048, flipped)
  rows("rows", "f32", 4099, flipped)
  rows("rows", "f16", 4099, flipped)
  rows("rows", "u8", 8191, flipped)
  rows("rows", "u8", 225, flipped)
  rows("upside down", "f32", 4096, function(n) return { 1, -n } end)
  list:add("vector f32", "f32", { list:of("f32", 1) }, { -1 })
  list:add("vector u8", "u8", { list:of("u8", 1) - 5 }, { -1 })
end

local function pixels(list)
  for _, d in ipairs { "u8", "f16" } do
    list:add("rgb to bgr " .. d, d, { 3, list:of(d, 3) }, { -1, 3 })
    list:add("rgba to rgb " .. d, d, { 3, list:of(d, 3) }, { 1, 4 })
    list:add("rgb into rgba " .. d, d, { 3, list:of(d, 4) }, { 1, 3 }, { 1, 4 })
    list:add("rgba to abgr " .. d, d, { 4, list:of(d, 4) }, { -1, 4 })
    list:add("bgra to rgb " .. d, d, { 3, list:of(d, 3) }, { -1, 4 })
  end
end

local HW = 1081 * 1923

local function planes(list)
  for _, d in ipairs { "u8", "f16" } do
    local n = list:of(d, 3 * HW)
    list:add("interleaved to planes 1081x1923 " .. d, d, { HW, 3, n }, { 3, 1, 3 * HW })
    list:add("planes to interleaved 1081x1923 " .. d, d, { 3, HW, n }, { HW, 1, 3 * HW })
  end
  local n = list:of("u8", 3 * 223 * 225)
  list:add("interleaved to planes 223x225 u8", "u8", { 223 * 225, 3, n }, { 3, 1, 3 * 223 * 225 })
  n = list:of("u8", 3 * 801 * 601)
  list:add("cut out of interleaved, to planes u8", "u8", { 801, 601, 3, n },
           { 3, 3 * 1923, 1, 3 * HW })
  n = list:of("u8", 7)
  list:add("seven rows of bytes interleaved", "u8", { 7, n }, { n, 1 })
  list:add("seven interleaved into rows", "u8", { n, 7 }, { 7, 1 })
end

local function small_matrices(list)
  for _, row in ipairs { { "f32", 17, 19 }, { "u8", 3, 5 }, { "f16", 7, 9 }, { "f64", 5, 5 },
                         { "u8", 31, 33 }, { "f32", 3, 3 }, { "f32", 4, 4 } } do
    local d, M, N = table.unpack(row)
    list:add(("%dx%d %s"):format(M, N, d), d, { M, N, list:of(d, M * N) }, { N, 1, M * N })
  end
end

local function bits(list)
  for _, d in ipairs { "f32", "f16", "u8" } do
    local extents, src = morton(12)
    list:add("to Morton order 4096^2 " .. d, d, extents, src)
    list:add("from Morton order 4096^2 " .. d, d, inverse(extents, src))
    local back = {}
    for i = 1, 24 do back[i] = 1 << 24 - i end
    list:add("bit reversal 2^24 " .. d, d, extents, back)
  end
end

local function windows(list)
  list:add("sliding, 64 f32", "f32", { 64, list:of("f32", 64) }, { 1, 1 })
  list:add("sliding, 15 u8", "u8", { 15, list:of("u8", 15) }, { 1, 1 })
  list:add("sliding, by columns, 9 f16", "f16", { list:of("f16", 9), 9 }, { 1, 1 })
  list:add("frames, 512 by 128 f16", "f16", { 512, list:of("f16", 512) }, { 1, 128 })
  list:add("frames, 400 by 160 f32", "f32", { 400, list:of("f32", 400) }, { 1, 160 })
  for _, row in ipairs { { "f32", 3, 58 }, { "f16", 5, 60 }, { "u8", 3, 57 } } do
    local d, k, W = table.unpack(row)
    local O, C = W - k + 1, 16
    local m = list:of(d, O * O * k * k * C)
    list:add(("im2col to columns %dx%d %s"):format(k, k, d), d, { O, O, k, k, C, m },
        { 1, W, 1, W, W * W, C * W * W })
    list:add(("im2col NHWC %dx%d %s"):format(k, k, d), d, { C, k, k, O, O, m },
        { 1, C, W * C, C, W * C, C * W * W })
  end
end

local function blocks(list)
  local function to_depth(d, C, B, W)
    local w, row = W // B, C * W
    local m = list:of(d, C * B * B * w * w)
    list:add(("space to depth %d, %d of %s"):format(B, C, d), d, { C, B, B, w, w, m },
        { 1, C, row, C * B, row * B, row * W })
    list:add(("depth to space %d, %d of %s"):format(B, C, d), d, { C, B, w, B, w, m },
        { 1, C, C * B * B, C * B, C * B * B * w, row * W })
  end
  to_depth("u8", 3, 2, 512)
  to_depth("f16", 8, 2, 256)
  to_depth("f32", 1, 4, 512)
end

local function repeated(list)
  for _, row in ipairs { { "f32", 8 }, { "u8", 2 }, { "u8", 3 }, { "f16", 5 } } do
    local d, k = table.unpack(row)
    list:add(("each %s %d times"):format(d, k), d, { k, list:of(d, k) }, { 0, 1 })
  end
  list:add("each column of f32 over rows", "f32", { 4096, list:of("f32", 4096) }, { 0, 1 })
end

local function broadcast(list)
  list:add("row over rows f32", "f32", { 4096, list:of("f32", 4096) }, { 1, 0 })
  list:add("row over rows u8, odd", "u8", { 4099, list:of("u8", 4099) }, { 1, 0 })
  list:add("groups of heads f16", "f16", { 128, 2048, 4, list:of("f16", 128 * 2048 * 4) },
      { 1, 128, 0, 128 * 2048 })
end

local function strided(list)
  list:add("every second f32", "f32", { list:of("f32", 1) }, { 2 })
  list:add("every third u8", "u8", { list:of("u8", 1) }, { 3 })
  list:add("into every second f32", "f32", { list:of("f32", 2) }, { 1 }, { 2 })
  list:add("rope pairs f16", "f16", { 64, 2, list:of("f16", 128) }, { 2, 1, 128 })
  list:add("rope pairs back f16", "f16", { 2, 64, list:of("f16", 128) }, { 64, 1, 128 })
  list:add("rows of 1000 into 1024 u8", "u8", { 1000, list:of("u8", 1024) }, { 1, 1000 },
           { 1, 1024 })
  list:add("rows of 37 out of 61 u8", "u8", { 37, list:of("u8", 37) }, { 1, 61 })
end

local function high_rank(list)
  list:add("7-D u8, odd", "u8", { 11, 7, 13, 5, 9, 15, list:of("u8", 675675) },
      { 9 * 5, 15 * 45 * 11, 7 * 15 * 45 * 11, 1, 5, 45 * 11, 675675 })
  list:add("8-D f32, small", "f32", { 4, 6, 4, 6, 4, 6, 4, list:of("f32", 55296) },
      { 6, 96, 576, 1, 24, 2304, 13824, 55296 })
end

local FAMILIES = {
  { "reversed", reversed },
  { "pixels", pixels },
  { "planes", planes },
  { "small matrices", small_matrices },
  { "bits", bits },
  { "windows", windows },
  { "blocks", blocks },
  { "repeated", repeated },
  { "broadcast", broadcast },
  { "strided", strided },
  { "rank", high_rank },
}

function views.families(least)
  local list = setmetatable({ least = least }, List)
  for _, row in ipairs(FAMILIES) do
    list.family = row[1]
    row[2](list)
  end
  return list
end

-- ---- families for a CPU

local function transposes(list)
  for _, row in ipairs { { "u8", 8192, 8192 }, { "u8", 8191, 4099 }, { "f16", 4096, 4096 },
                         { "f16", 4099, 4001 }, { "f32", 4096, 4096 }, { "f32", 3001, 4099 },
                         { "f64", 2048, 4096 }, { "f64", 2049, 3001 }, { "u8", 100003, 6 },
                         { "f32", 12, 100001 }, { "f16", 40, 30011 } } do
    local d, M, N = table.unpack(row)
    list:add(("%dx%d %s"):format(M, N, d), d, { M, N, list:of(d, M * N) }, { N, 1, M * N })
  end
  local n = list:of("f16", 56 * 56 * 64)
  list:add("NCHW to NHWC f16", "f16", { 64, 56 * 56, n }, { 56 * 56, 1, 56 * 56 * 64 })
  list:add("pairs of f64", "f64", { 2, 2048, 1024 }, { 1, 2048, 2 })
  n = list:of("f32", 33 * 47 * 21)
  list:add("three modes reversed f32", "f32", { 33, 47, 21, n }, { 47 * 21, 21, 1, 33 * 47 * 21 })
  list:add("strided on both sides, transposed f32", "f32", { 2000, 1500, 4 }, { 6000, 2, 12000000 },
           { 2, 4000, 6000000 })
end

-- The pairs of types that people convert, and some others.
local PAIRS = { { "f32", "f16" }, { "f16", "f32" }, { "f32", "f64" }, { "f64", "f32" },
                { "u8", "f32" }, { "f32", "u8" }, { "i32", "f32" }, { "f32", "i32" },
                { "i64", "f64" }, { "u8", "f16" }, { "u16", "i32" }, { "i8", "i64" },
                { "i64", "i32" }, { "f16", "u8" } }

local function conversions(list)
  for _, pair in ipairs(PAIRS) do
    local d, to = table.unpack(pair)
    local wide = SIZES[d] > SIZES[to] and d or to
    local n = list:of(wide, 1)
    list:add(d .. " to " .. to, d, { n }, { 1 })
    list[#list].to = to
    list:add(("%s to %s, transposed"):format(d, to), d, { 2048, n // 2048 }, { n // 2048, 1 })
    list[#list].to = to
  end
end

function views.more(least)
  local list = setmetatable({ least = least }, List)
  list.family = "transposes"
  transposes(list)
  list.family = "conversions"
  conversions(list)
  return list
end

-- ---- random views

local function pick(list) return list[math.random(#list)] end
local function chance(percent) return math.random(100) <= percent end

local function extents_of(n, rank)
  local extents, left = {}, n
  for i = 1, rank - 1 do
    local share = left ^ (1 / (rank - i + 1))
    extents[i] = math.max(2, math.floor(share * 2 ^ (math.random() * 3 - 1.5)))
    if chance(25) then extents[i] = pick { 2, 3, 4, 5, 7, 8 } end
    left = math.max(2, left / extents[i])
  end
  extents[rank] = math.max(2, math.ceil(left))
  for i = rank, 2, -1 do
    local j = math.random(i)
    extents[i], extents[j] = extents[j], extents[i]
  end
  return extents
end

local function source_of(extents, what)
  local order, src, at = {}, {}, 1
  for i = 1, #extents do order[i] = i end
  for i = #extents, 2, -1 do
    local j = chance(70) and math.random(i) or i
    order[i], order[j] = order[j], order[i]
  end
  for k, i in ipairs(order) do
    src[i] = at
    if chance(6) and k < #order and extents[i] < 600 then
      src[i], what.broadcast = 0, true
    elseif chance(6) and k < #order and extents[i] < 600 then
      what.windowed = true               -- the next axis goes along the same elements
    else
      if chance(8) then src[i], at, what.strided = 2 * at, 2 * at, true end
      at = at * extents[i]
      if chance(10) then at, what.padded = at + math.random(16), true end
    end
    if chance(15) then src[i], what.reversed = -src[i], true end
  end
  return src
end

function views.random(least)
  local dtype, rank = pick { "u8", "f16", "f32", "f64" }, math.random(8)
  local extents = extents_of(least // SIZES[dtype], rank)
  local what, src
  repeat
    what = {}
    src = source_of(extents, what)
    local _, n = views.span(extents, src)
  until n * SIZES[dtype] <= 6 * least
  local dst
  if chance(15) and rank > 1 then
    dst = views.compact(extents)
    local more = math.random(16)
    for i = 2, rank do dst[i] = dst[i] // extents[1] * (extents[1] + more) end
  end
  local words = {}
  for word in pairs(what) do words[#words + 1] = word end
  table.sort(words)
  return { family = "random", dtype = dtype, extents = extents, src = src, dst = dst,
           name = ("%s %s:%s%s %s"):format(dtype, table.concat(extents, ","),
                                           table.concat(src, ","), dst and " padded" or "",
                                           table.concat(words, " ")) }
end

-- ---- random pitches

local PITCHES = { 0, 0, 1, 2, 3, 4, 8, 12, 16, 32 }      -- elements more than lie together

-- Extents, strides of the source and of the destination, of about n elements.
local PITCHED = {
  interleave = function(n)
    local k = math.random(2, 40)
    local rows = n // k
    return { k, rows }, { rows + pick(PITCHES), 1 }, { 1, k + pick(PITCHES) }
  end,
  deinterleave = function(n)
    local k = math.random(2, 40)
    local rows = n // k
    return { rows, k }, { k + pick(PITCHES), 1 }, { 1, rows + pick(PITCHES) }
  end,
  inner = function(n)
    local k, a = math.random(2, 16), math.random(3, 3000)
    local b = n // k // a
    return { k, a, b }, { 1, k * b + pick(PITCHES), k }, { 1, k, k * a + pick(PITCHES) }
  end,
  flip = function(n)
    local k, a = math.random(2, 64), math.random(3, 3000)
    return { k, a, n // k // a }, { -1, k + pick(PITCHES), (k + 32) * a }, { 1, k, k * a }
  end,
  batch = function(n)
    local a, b = math.random(3, 200), math.random(3, 200)
    return { a, b, n // a // b }, { b, 1, a * b + pick(PITCHES) }, { 1, a, a * b + pick(PITCHES) }
  end,
  mid = function(n)
    local a, c = math.random(2, 300), math.random(2, 300)
    local b = n // a // c
    return { a, b, c }, { 1, a * c, a }, { 1, a, a * b }
  end,
  blocks = function(n)
    local a, b, c = math.random(2, 12), math.random(2, 12), math.random(10, 800)
    return { a, b, c, n // a // b // c }, { 1, a * c, a, a * b * c }, { b, 1, a * b, a * b * c }
  end,
}
local KINDS = { "batch", "blocks", "deinterleave", "flip", "inner", "interleave", "mid" }

-- One of these.
function views.pitched(least)
  local kind, dtype = pick(KINDS), pick { "u8", "f16", "f32", "f64" }
  local extents, src, dst = PITCHED[kind](least // SIZES[dtype])
  return { family = "pitched", dtype = dtype, extents = extents, src = src, dst = dst,
           name = ("%s %s %s:%s to %s"):format(kind, dtype, table.concat(extents, ","),
                                               table.concat(src, ","), table.concat(dst, ",")) }
end

-- Bytes of an element; "to": of the destination.
function views.size(view, side) return SIZES[side and view.to or view.dtype] end

return views
