-- copies.lua: the copies that copy.lua and choices.lua measure, and random permutations.
-- SPDX-License-Identifier: MIT
--
-- A case is { name, bytes of a side, make }: make(new) makes a plan, of tensors of its own that
-- new(dtype, layout) gives. The bytes of a copy that converts are those of both sides, halved.

local tile = require "moontile"

local MiB, GiB = 1 << 20, 1 << 30
local SIZES = { i8 = 1, u8 = 1, f16 = 2, bf16 = 2, f32 = 4, i32 = 4, f64 = 8 }

local function right(...) return tile.layout({ ... }, "right") end

local function flat(dtype, n)
  local A = tile.layout(n)
  return function(new) return tile.plan(new(dtype, A), new(dtype, A)) end
end

local function described(dtype, M, N, atom, thr, val)
  return function(new)
    local copy = tile.tiled_copy{ atom = atom, dtype = dtype, thr = thr, val = val }
    return tile.plan(copy, new(dtype, right(M, N)), new(dtype, right(M, N)))
  end
end

local function transposed(dtype, bits, M, N)
  return function(new)
    local copy = bits and tile.tiled_copy{
      atom = ("UniversalCopy<uint%d_t>"):format(bits), dtype = dtype,
      thr = tile.layout({ 32, 8 }, { 1, 32 }), val = tile.layout{ 1, 128 // bits } }
    local src, dst = new(dtype, right(M, N)), new(dtype, right(N, M)):select(2, 1)
    if copy then return tile.plan(copy, src, dst) end
    return tile.plan(src, dst)
  end
end

-- A row-major tensor of this shape, its modes in another order (counted from 0, as
-- torch.permute does), row-major again.
local function permuted(dtype, shape, order)
  local moved, inverse = {}, {}
  for i, o in ipairs(order) do moved[i], inverse[o + 1] = shape[o + 1], i end
  return function(new)
    local src = new(dtype, right(table.unpack(shape)))
    local dst = new(dtype, right(table.unpack(moved))):select(table.unpack(inverse))
    return tile.plan(src, dst)
  end
end

-- Row-major, and in tiles of 8x8 blocks of 2x2 elements, each in one piece.
local function blocked(dtype, M, N, back)
  local A = right(M, N)
  local B = tile.layout(
    { { 2, 8, M // 16 }, { 2, 8, N // 16 } },
    { { 2, 32, 256 * (N // 16) }, { 1, 4, 256 } })
  return function(new)
    local src, dst = new(dtype, back and B or A), new(dtype, back and A or B)
    return tile.plan(src:view(back and B or A), dst:view(back and A or B))
  end
end

-- Converted; `turned`: and transposed.
local function cast(from, to, M, N, turned)
  return function(new)
    local dst = new(to, turned and right(N, M) or right(M, N))
    return tile.plan(new(from, right(M, N)), turned and dst:select(2, 1) or dst)
  end
end

local function bytes_of(dtype, ...)
  local n = SIZES[dtype]
  for _, e in ipairs { ... } do n = n * e end
  return n
end

-- ---- random permutations

local TYPES = { "u8", "f16", "f32", "f64" }

local function shuffled(list)
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- Extents whose product is at least n, each about its share of what is left.
local function extents(n, rank)
  local shape, left = {}, n
  for i = 1, rank - 1 do
    local share = left ^ (1 / (rank - i + 1))
    shape[i] = math.max(2, math.floor(share * 2 ^ (math.random() * 3 - 1.5)))
    left = left / shape[i]
  end
  shape[rank] = math.max(2, math.ceil(left))
  return shape
end

-- Not the identity.
local function order_of(rank)
  local order, sorted = {}
  repeat
    for i = 1, rank do order[i] = i - 1 end
    shuffled(order)
    sorted = true
    for i = 1, rank do sorted = sorted and order[i] == i - 1 end
  until not sorted
  return order
end

-- Of rank 3 to 6 and of 1, 2, 4 or 8 bytes, `least` bytes and more, extents of any kind.
local function random(least)
  local dtype, rank = TYPES[math.random(#TYPES)], math.random(3, 6)
  local shape = shuffled(extents(least // SIZES[dtype], rank))
  local order = order_of(rank)
  local name = ("%s %s (%s)"):format(dtype, table.concat(shape, "x"), table.concat(order, ","))
  return { name, bytes_of(dtype, table.unpack(shape)), permuted(dtype, shape, order) }
end

local function numbers(text)
  local list = {}
  for n in text:gmatch "%d+" do list[#list + 1] = math.tointeger(n) end
  return list
end

-- The random one of this name; nil: it is none.
local function named(name)
  local dtype, extents_text, order = name:match "^(%w+) ([%dx]+) %(([%d,]+)%)$"
  if not dtype then return end
  local shape = numbers(extents_text)
  return { name, bytes_of(dtype, table.unpack(shape)), permuted(dtype, shape, numbers(order)) }
end

-- ---- the table

local vector = "UniversalCopy<uint128_t>"
local rows8 = tile.layout({ 32, 8 }, { 8, 1 })
local T, P = transposed, permuted
local cases = {
  { "contiguous 1 GiB",                    GiB,             flat("f32", GiB // 4) },
  { "contiguous 64 MiB",                   64 * MiB,        flat("f32", 16 * MiB) },
  { "contiguous 4 MiB",                    4 * MiB,         flat("f32", MiB) },
  { "row-major f32 8192^2, described",     256 * MiB,
    described("f32", 8192, 8192, vector, rows8, tile.layout{ 1, 4 }) },
  { "row-major f16 8192^2, described",     128 * MiB,
    described("f16", 8192, 8192, vector, rows8, tile.layout{ 1, 8 }) },
  { "transpose f32 8192^2, described",     256 * MiB,       T("f32", 32, 8192, 8192) },
}
local function add(name, dtype, shape, order)
  cases[#cases + 1] = { name, bytes_of(dtype, table.unpack(shape)), P(dtype, shape, order) }
end
for _, d in ipairs { "f32", "f16", "u8", "f64" } do
  add("T " .. d .. " 8192^2", d, { 8192, 8192 }, { 1, 0 })
end
for _, d in ipairs { "f32", "f16", "u8" } do
  add("T " .. d .. " 8191x4099", d, { 8191, 4099 }, { 1, 0 })
end
add("NCHW->NHWC f16 64,256,56,56", "f16", { 64, 256, 56, 56 }, { 0, 2, 3, 1 })
add("NHWC->NCHW f16 64,56,56,256", "f16", { 64, 56, 56, 256 }, { 0, 3, 1, 2 })
add("NCHW->NHWC u8 256,3,224,224", "u8", { 256, 3, 224, 224 }, { 0, 2, 3, 1 })
add("NHWC->NCHW f32 256,224,224,3", "f32", { 256, 224, 224, 3 }, { 0, 3, 1, 2 })
add("NCHW->NCHW8c f16 64,32,8,56,56", "f16", { 64, 32, 8, 56, 56 }, { 0, 1, 3, 4, 2 })
add("NCHW->NCHW16c u8 64,16,16,112,112", "u8", { 64, 16, 16, 112, 112 }, { 0, 1, 3, 4, 2 })
add("attention f16 32,2048,32,128", "f16", { 32, 2048, 32, 128 }, { 0, 2, 1, 3 })
add("3-D f32 512,384,256 (2,1,0)", "f32", { 512, 384, 256 }, { 2, 1, 0 })
add("3-D f16 512,768,512 (2,0,1)", "f16", { 512, 768, 512 }, { 2, 0, 1 })
add("3-D f32 511,383,257 (2,1,0)", "f32", { 511, 383, 257 }, { 2, 1, 0 })
add("4-D f32 64,96,128,80 reversed", "f32", { 64, 96, 128, 80 }, { 3, 2, 1, 0 })
add("5-D f32 24,48,32,40,36", "f32", { 24, 48, 32, 40, 36 }, { 4, 2, 0, 3, 1 })
add("5-D f16 32,64,32,48,32", "f16", { 32, 64, 32, 48, 32 }, { 1, 4, 0, 3, 2 })
add("6-D f32 16,20,24,28,12,16", "f32", { 16, 20, 24, 28, 12, 16 }, { 5, 2, 4, 0, 3, 1 })
add("6-D f16 16,24,20,16,28,24", "f16", { 16, 24, 20, 16, 28, 24 }, { 3, 1, 5, 0, 2, 4 })
cases[#cases + 1] = { "slice f16 16384x8192 of 12288", bytes_of("f16", 16384, 8192),
  function(new)
    local wide = new("f16", right(16384, 12288))
    local src = wide:view(tile.layout({ 16384, 8192 }, { 12288, 1 }))
    return tile.plan(src, new("f16", right(16384, 8192)))
  end }
for _, d in ipairs { "f16", "f32" } do
  for _, back in ipairs { false, true } do
    cases[#cases + 1] = { ("%s 8192^2 %s"):format(d, back and "from blocks" or "to blocks"),
                          bytes_of(d, 8192, 8192), blocked(d, 8192, 8192, back) }
  end
end
for _, n in ipairs { 512, 1024, 2048 } do
  add(("T f32 %d^2"):format(n), "f32", { n, n }, { 1, 0 })
end

-- The last two have no kernel of their own.
for _, row in ipairs {
  { "f32", "bf16", 8192, 8192 }, { "f32", "bf16", 8192, 8192, true },
  { "f32", "bf16", 8191, 4099, true }, { "bf16", "f32", 8192, 8192 },
  { "bf16", "f32", 8192, 8192, true }, { "f32", "f16", 8192, 8192, true },
  { "f32", "i8", 8192, 8192 }, { "u8", "f32", 8192, 8192 },
  { "i32", "f64", 4096, 8192 }, { "i32", "f64", 4096, 8192, true },
} do
  local from, to, M, N, turned = table.unpack(row)
  cases[#cases + 1] = { ("%s -> %s %dx%d%s"):format(from, to, M, N, turned and " T" or ""),
                        (bytes_of(from, M, N) + bytes_of(to, M, N)) // 2, cast(table.unpack(row)) }
end

return { cases = cases, random = random, named = named }
