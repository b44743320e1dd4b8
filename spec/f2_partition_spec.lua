-- f2_partition_spec.lua: tensors over F2 partitioned by tiled copies and tiled MMAs: the part of a
-- thread has the elements that the same partition of the coordinates names.
-- SPDX-License-Identifier: MIT
-- MOONTILE_SEED makes it another run, MOONTILE_TIMES a longer one.
local tile = require "moontile"
local layout, random = tile.layout, math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

local function pick(t) return t[random(#t)] end

-- The extents of a mode of n elements: factors 2 and 4 mostly, now and then a 3.
local function extents(n)
  local list = {}
  while n > 1 do
    local f = n % 3 == 0 and random(2) == 1 and 3 or n % 4 == 0 and random(3) == 1 and 4 or
              n % 2 == 0 and 2 or n
    list[#list + 1], n = f, n // f
  end
  return #list > 0 and list or { 1 }
end

local function text(list, mark, f)
  local t = {}
  for i = 1, #list do t[i] = mark .. f(list[i]) end
  return "(" .. table.concat(t, ",") .. ")"
end

local function word() return random(0, pick{ 8, 200 }) end
local function same(n) return n end

-- (m,n) over F2; now and then its numbers as integers, under a swizzle, at every second index.
local function tensor(m, n)
  local M, N = extents(m), extents(n)
  local A = tile.parse(("(%s,%s):(%s,%s)"):format(text(M, "", same), text(N, "", same),
                                                 text(M, "F", word), text(N, "F", word)))
  local kind = random(6)
  if kind == 1 then return tile.make_composed_layout(layout(1, 1), 0, A) end
  if kind == 2 then return tile.make_composed_layout(tile.swizzle(1, 0, 2), 0, A) end
  if kind > 3 or m % 2 == 1 then return A end
  local ok, half = pcall(tile.composition, A, { layout(m // 2, 2), n })
  return ok and half or A
end

local function coordinates(A)
  local shape = {}
  for i = 1, tile.rank(A) do shape[i] = tile.size(A, i) end
  return tile.make_identity_layout(shape)
end

-- A at a coordinate whose last zeros may be left out. Of extents 1 no stride is one of F2.
local function at(A, x)
  local c = {}
  for i = 1, tile.rank(A) do c[i] = math.type(x) and (i == 1 and x or 0) or x[i] or 0 end
  return (tostring(A(c)):gsub("^F", ""))
end

-- Refusals that may be: no layout is the partition of what the tile overhangs, or it is large.
local function may_refuse(said)
  return said:find("no layout R has R(i)", 1, true) or said:find("more than 64 nodes", 1, true)
end

-- The part of A is that of its coordinates, element by element. True if both are there.
local function check(partition, A, name)
  local ok, C = pcall(partition, coordinates(A))
  if not ok then return false end
  local fine, P = pcall(partition, A)
  if not fine then
    assert.is_truthy(may_refuse(P), name .. "\n" .. tostring(A) .. "\n" .. P)
    return false
  end
  assert.equal(tile.size(C), tile.size(P), name)
  for i = 0, math.min(tile.size(P), 1500) - 1 do
    local got, wanted = (tostring(P(i)):gsub("^F", "")), at(A, C(i))
    if got ~= wanted then
      error(("%s of %s is %s: at %d %s, not %s"):format(name, A, P, i, got, wanted))
    end
  end
  return true
end

describe("tensors over F2 #seed" .. SEED, function()
  setup(function() math.randomseed(SEED) end)

  local EXTENT <const> = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 48 }

  it("are partitioned by tiled copies as their coordinates are", function()
    local shown = 0
    for _ = 1, 400 * TIMES do
      local function numbers(list)
        local a, b = pick(list), pick{ 1, 1, 2, 3 }
        return layout({ a, b }, pick{ "left", "right" })
      end
      local copy = tile.tiled_copy{ atom = "UniversalCopy<float>", dtype = "f32",
                                    thr = numbers(EXTENT), val = numbers{ 1, 2, 3, 4 } }
      local A = tensor(pick(EXTENT), pick(EXTENT))
      local function part(x) return copy:partition_S(x) end
      if check(part, A, tostring(copy)) then shown = shown + 1 end
    end
    assert.is_true(shown > 40 * TIMES, shown .. " partitions")
  end)

  it("are partitioned by tiled MMAs as their coordinates are", function()
    local shown = 0
    for _ = 1, 60 * TIMES do
      local made, mma = pcall(tile.tiled_mma, {
        atom = pick{ "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x8_F32TF32TF32F32_TN",
                     "UniversalFMA<float>" },
        atoms = layout({ pick{ 1, 2, 3 }, pick{ 1, 2, 3 } }, pick{ "left", "right" }),
        permutation = pick{ tile._, { tile._, tile._, 48 }, { layout({ 6, 8 }, { 8, 1 }) },
                            { tile._, layout({ 3, 2, 8 }, { 2, 1, 6 }) } } })
      if not made then assert.match("not a multiple of", mma) end
      for _, x in ipairs(made and { "A", "B", "C" } or {}) do
        local A = tensor(48 * random(2), pick(EXTENT) * 16)
        local function part(y) return mma["partition_" .. x](mma, y) end
        if check(part, A, tostring(mma) .. x) then shown = shown + 1 end
      end
    end
    assert.is_true(shown > 20 * TIMES, shown .. " partitions")
  end)
end)

describe("a tensor over F2", function()
  local copy = tile.tiled_copy{ atom = "UniversalCopy<float>", dtype = "f32", thr = layout{ 8, 1 },
                                val = layout{ 3, 1 } }

  it("whose tile is no layout of threads and values is partitioned as a function", function()
    local A = tile.parse "((2,2,2,3),4):((F3,F5,F9,F64),F13)"
    local P = copy:partition_S(A)
    for t = 0, 7 do
      for v = 0, 2 do
        for r = 0, 3 do assert.equal(A(3 * t + v, r), P(t, v, r)) end
      end
    end
    local S, offset = copy:get_slice(3):partition_S(A)
    assert.equal(A(10, 2), S(1, 0, 2) + offset)
  end)

  it("over the integers is refused, with what would divide", function()
    local ok, said = pcall(copy.partition_S, copy, layout "((2,2,2,3),4):((3,5,9,64),13)")
    assert.is_false(ok)
    assert.match("^partition_S: no layout R has", said)
  end)

  it("has parts by MMAs of which no layout says where they are", function()
    local list = { 0, 3, 1, 4, 2, 5 }
    local mma = tile.tiled_mma{
      atom = "SM80_16x8x16_F32F16F16F32_TN",
      atoms = tile.function_layout({ 1, 3, 2 }, function(_, n, k) return list[1 + n + 3 * k] end),
      permutation = { tile._, tile._, tile.parse "((2,2,2,2,2)):((F13,F2,F19,F18,F27))" } }
    assert.is_true(check(function(x) return mma:partition_A(x) end, layout({ 16, 32 }, { 7, 68 }),
                         "partition_A"))
  end)
end)
