-- CuTe's documentation, page 0y: what a tile has beyond a matrix, by coordinates, every stated
-- result checked:
--   moontile examples/cute/predication.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- in one dimension

local divided = tile.logical_divide(layout(1000), layout(128))
check("1000:1 / 128:1", "(128,8):(1,128)", divided)
local beyond = 0
for i = 0, divided:size() - 1 do beyond = beyond + (divided(i) < 1000 and 0 or 1) end
check("elements that are none", "24", beyond)
check("of the last tile are real", "104", 128 - beyond)
local gmem, smem = tile.tensor("f32", layout(1000)):fill(1), tile.tensor("f32", layout(128))
local gmem_tiled, id_tiled = gmem:logical_divide(layout(128)), divided
check("(value,tile)", "(128,8) + (128,8)", gmem_tiled:shape(), id_tiled:shape())
local in_bounds = {}
for i = 0, id_tiled:size() - 1 do in_bounds[i] = id_tiled(i) < 1000 end
for i = 0, 7 do                                   -- pred(value,tile): the tensor knows the same
  local real = gmem_tiled(tile._, i):predicate()
  for value = 0, 127 do assert(in_bounds[value + 128 * i] == (real(value) == 1)) end
end
smem:fill(0)
tile.copy_if(function(value) return in_bounds[value + 128 * 7] end, gmem_tiled(tile._, 7), smem)
check("the last tile in shared memory", "1.0 + 0.0", smem(103), smem(104))
check("41 / 4 and 55 / 8", "(11,7)", tile.ceil_div({ 41, 55 }, { 4, 8 }))
check("by whole tiles", "10 + 6", 41 // 4, 55 // 8)
check("what is left of both", "1 + 7", 41 % 4, 55 % 8)

-- ---------------------------------------------------------------- in two: threads of a tile

local M, K = 41, 55
local A = tile.tensor("f32", layout { M, K })
local numbers = {}
for i = 1, M * K do numbers[i] = i end
A:fill(numbers)
local identity = tile.make_identity_layout { M, K }
local threads = layout { 4, 8 }
local copied = tile.tensor("f32", layout { M, K })
local moved = 0
for m = 0, 1 do                                   -- blocks of 24 x 32: the last ones overhang
  for k = 0, 1 do
    local gA, gD = A:local_tile({ 24, 32 }, { m, k }), copied:local_tile({ 24, 32 }, { m, k })
    local cA, corner = identity:local_tile({ 24, 32 }, { m, k })
    for t = 0, threads:size() - 1 do
      local tAgA, tDgD = gA:local_partition(threads, t), gD:local_partition(threads, t)
      local tAcA, at = cA:local_partition(threads, t)
      local inside = function(i) return corner + at + tAcA(i) < { M, K } end
      local real = tAgA:predicate()
      for i = 0, tAcA:size() - 1 do               -- what is real of a view is just this
        assert(inside(i) == (real(i) == 1))
        moved = moved + real(i)
      end
      tile.copy_if(inside, tAgA, tDgD)
    end
  end
end
check("elements that were copied", tostring(M * K), moved)
for i, x in ipairs(copied:totable()) do assert(x == i) end

-- ------------------------------------------------ predicates of m, held once for all of k

local _ = tile._
local m_only, whole = tile.tensor("f32", layout { M, 64 }):fill(3), { M, 64 }
local ref = tile.make_identity_layout(whole)
for block = 0, 1 do
  local gA = m_only:local_tile({ 24, 32, 8 }, { block, 0, _ }, { 1, _, 1 })       -- (BLK_M,BLK_K,k)
  local cA, corner = ref:local_tile({ 24, 32, 8 }, { block, 0, _ }, { 1, _, 1 })
  for t = 0, threads:size() - 1 do
    local tAgA = gA:local_partition(threads, t)                                   -- (THR_M,THR_K,k)
    local tAcA, from = cA:local_partition(threads, t)
    local rows, depth = tile.size(tAcA, 1), tile.size(tAcA, 2)
    local tApA = tile.tensor("bool", layout({ rows, depth }, { 1, 0 }))
    for m = 0, rows - 1 do tApA:set((corner + from + tAcA(m, 0, 0))[1] < M, m, 0) end
    for k_tile = 0, tile.size(tAgA, 3) - 1 do
      local tAsA = tile.tensor("f32", layout { rows, depth })
      tile.copy_if(tApA, tAgA(_, _, k_tile), tAsA)
      for i = 0, tAsA:size() - 1 do
        local real = (corner + from + tAcA(i % rows, i // rows, k_tile))[1] < M
        assert(tAsA(i) == (real and 3 or 0))
      end
    end
  end
end

-- ---------------------------------------------------------------- the epilogue of a product

local mma = tile.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", layout { 2, 2, 1 }, { 32, 32, 16 })
local C, want = tile.tensor("f32", layout { M, K }), {}
local cC = tile.make_identity_layout { 64, 64 }
local tiles = C:local_tile({ 64, 64 }, { 0, 0 })
for t = 0, mma:size() - 1 do
  local thread = mma:get_slice(t)
  local tCgC = thread:partition_C(tiles)
  local tCcC, corner = thread:partition_C(cC)
  local real = tCgC:predicate()
  for i = 0, tCcC:size() - 1 do
    local at = corner + tCcC(i)
    if at < { M, K } then want[#want + 1] = at end
    assert((at < { M, K }) == (real(i) == 1))
  end
end
check("elements of C that are stored", tostring(M * K), #want)
-- axpby of what is real: alpha * tCrC + beta * tCgC
C:fill(2)
for t = 0, mma:size() - 1 do
  local thread = mma:get_slice(t)
  local tCgC = thread:partition_C(tiles)
  local tCrC = thread:make_fragment_C(tCgC):fill(5)
  local tCcC, corner = thread:partition_C(cC)
  for i = 0, tCgC:size() - 1 do
    if tile.elem_less(corner + tCcC(i), C:shape()) then tCgC:set(3 * tCrC(i) + 7 * tCgC(i), i) end
  end
end
for i = 0, C:size() - 1 do assert(C(i) == 3 * 5 + 7 * 2) end
print(check.count .. " results, all as the documentation says")
