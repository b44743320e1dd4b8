-- CuTe's documentation, page 0t: atoms of Volta and Hopper, and what is tiled of them, every stated
-- result checked:
--   moontile examples/cute/mma_atoms.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- Volta: a quadpair

local NAME = "SM70_8x8x4_F32F16F16F32_NT"
local nt, tn = tile.mma_atom(NAME), tile.mma_atom "SM70_8x8x4_F32F16F16F32_TN"
check("shape of " .. NAME, "(8,8,4)", nt.shape_MNK)
check("its types D, A, B, C", "f32 + f16 + f16 + f32",
      nt.dtype.D, nt.dtype.A, nt.dtype.B, nt.dtype.C)
check("its threads", "(4,2):(1,16)", nt.thr_id)
check("C", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", nt.layout_C)
for thread, place in ipairs { 0, 1, 16, 17, 4, 5, 20, 21 } do
  check(("where value 0 of thread %d is"):format(thread - 1), tostring(place),
        nt.layout_C(thread - 1, 0))
end
for value, place in ipairs { 0, 8, 2, 10, 32, 40, 34, 42 } do
  check(("where value %d of thread 0 is"):format(value - 1), tostring(place),
        nt.layout_C(0, value - 1))
end
check("C in f16", "(8,8):(1,8)", tile.mma_atom "SM70_8x8x4_F16F16F16F16_NT".layout_C)
check("A of TN", "(8,4):(1,8)", tn.layout_A)
check("B of TN", "(8,4):(1,8)", tn.layout_B)
check("A of NT", "((4,2),4):((8,4),1)", nt.layout_A)
check("B of NT", "((4,2),4):((8,4),1)", nt.layout_B)

-- ---------------------------------------------------------------- Hopper: a warpgroup

local wgmma = tile.mma_atom "SM90_64x128x16_F16F16F16_SS"
check("threads of wgmma", "128:1", wgmma.thr_id)
check("C of 64 x 128", "((4,8,4),(2,2,16)):((128,1,16),(64,8,512))", wgmma.layout_C)
check("A in shared memory", "(128,(64,16)):(0,(1,64))", wgmma.layout_A)

-- ---------------------------------------------------------------- tiled

local single = tile.make_tiled_mma(NAME, layout { 1, 1, 1 }, { 8, 8, 4 })
check("one atom", "(8,8,4) + 8", single:tile_shape(), single:size())
local atoms = layout({ 2, 2 }, { 2, 1 })
local wmma = tile.make_tiled_mma(NAME, atoms)
check("four of them", "(16,16,4) + 32", wmma:tile_shape(), wmma:size())
local large = tile.make_tiled_mma(NAME, atoms, { 32, 32, 4 })
check("and four times the values", "(32,32,4) + 32", large:tile_shape(), large:size())

-- The rows and columns of A that thread 0 reads, value by value.
local function reads(mma)
  local part, corner = mma:get_slice(0):partition_A(tile.make_identity_layout { 32, 4 })
  local list = {}
  for i = 0, part:size() - 1 do list[i + 1] = tostring(corner + part(i)) end
  return table.concat(list, " ")
end
check("what thread 0 reads of A", "(0,0) (1,0) (2,0) (3,0) (16,0) (17,0) (18,0) (19,0)",
      reads(large))
local permutation = layout({ 4, 4, 2 }, { 1, 8, 4 })
local near = tile.make_tiled_mma(NAME, atoms, { permutation, 32, 4 })
check("with M permuted", "(0,0) (1,0) (2,0) (3,0) (4,0) (5,0) (6,0) (7,0)", reads(near))
local new = {}
for m = 0, 31 do new[m + 1] = permutation(m) end
check("where rows go", "0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 4 5 6 7 12 13 14 15 20 21 22 23 "
      .. "28 29 30 31", table.concat(new, " "))
for thread = 0, near:size() - 1 do                -- of all threads rows that lie together
  local part = near:get_slice(thread):partition_A(layout { 32, 4 })
  assert(tile.size(part:coalesce()) == 8 and part:contiguity() == 8)
end
print(check.count .. " results, all as the documentation says")
