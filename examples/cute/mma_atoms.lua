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
check("first on", "sm70", nt.arch)
check("values of a thread: float[8], uint32_t[2] of two f16, the same, float[8]", "8 + 4 + 4 + 8",
      tile.size(nt.layout_C, 2), tile.size(nt.layout_A, 2), tile.size(nt.layout_B, 2),
      tile.size(nt.layout_C, 2))
check("its threads", "(4,2):(1,16)", nt.thr_id)
local quadpair = {}
for i = 0, 7 do quadpair[i + 1] = nt.thr_id(i) end
check("as threads of a warp", "0 1 2 3 16 17 18 19", table.concat(quadpair, " "))
check("C", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", nt.layout_C)
for thread, place in ipairs {
  "(0,0) + 0", "(1,0) + 1", "(0,2) + 16", "(1,2) + 17", "(4,0) + 4", "(5,0) + 5", "(4,2) + 20",
  "(5,2) + 21",
} do
  local at = nt.layout_C(thread - 1, 0)
  check(("where value 0 of thread %d is"):format(thread - 1), place, tile.idx2crd(at, { 8, 8 }), at)
end
for value, place in ipairs {
  "(0,0) + 0", "(0,1) + 8", "(2,0) + 2", "(2,1) + 10", "(0,4) + 32", "(0,5) + 40", "(2,4) + 34",
  "(2,5) + 42",
} do
  local at = nt.layout_C(0, value - 1)
  check(("where value %d of thread 0 is"):format(value - 1), place, tile.idx2crd(at, { 8, 8 }), at)
end
check("C in f16", "(8,8):(1,8)", tile.mma_atom "SM70_8x8x4_F16F16F16F16_NT".layout_C)
check("A of TN", "(8,4):(1,8)", tn.layout_A)
check("B of TN", "(8,4):(1,8)", tn.layout_B)
check("A of NT", "((4,2),4):((8,4),1)", nt.layout_A)
check("B of NT", "((4,2),4):((8,4),1)", nt.layout_B)
for _, row in ipairs { { "NN", nt, tn }, { "TT", tn, nt } } do
  local other = tile.mma_atom("SM70_8x8x4_F32F16F16F32_" .. row[1])
  check("A of " .. row[1], tostring(row[2].layout_A), other.layout_A)
  check("B of " .. row[1], tostring(row[3].layout_B), other.layout_B)
end

-- ---------------------------------------------------------------- Hopper: a warpgroup

local wgmma = tile.mma_atom "SM90_64x128x16_F16F16F16_SS"
check("threads of wgmma", "128:1", wgmma.thr_id)
check("C of 64 x 128", "((4,8,4),(2,2,16)):((128,1,16),(64,8,512))", wgmma.layout_C)
local narrow = tile.mma_atom "SM90_64x8x16_F16F16F16_SS".layout_C
check("of 64 x 8: threads", "(4,8,4):(128,1,16)", narrow[1])
check("and values", "(2,2):(64,8)", narrow[2]:coalesce())
local C, m64 = wgmma.layout_C, layout { 64, 128 }
for _, row in ipairs {                            -- pairs of four threads, in eight rows
  { 0, 0, "(0,0)" }, { 0, 1, "(0,1)" }, { 1, 0, "(0,2)" }, { 3, 1, "(0,7)" }, { 4, 0, "(1,0)" },
  { 31, 1, "(7,7)" }, { 0, 2, "(8,0)" }, { 32, 0, "(16,0)" }, { 96, 0, "(48,0)" },
  { 0, 4, "(0,8)" },
} do
  check(("value %d of thread %d of the warpgroup"):format(row[2], row[1]), row[3],
        m64:idx2crd(C(row[1], row[2])))
end
for _, n in ipairs { 16, 32, 64, 128, 256 } do
  local atom = tile.mma_atom(("SM90_64x%dx16_F16F16F16_SS"):format(n))
  check("values of a thread of 64 x " .. n, tostring(n // 2), tile.size(atom.layout_C, 2))
end
check("A in shared memory", "(128,(64,16)):(0,(1,64))", wgmma.layout_A)

-- ---------------------------------------------------------------- tiled

local single = tile.make_tiled_mma(NAME, layout { 1, 1, 1 }, { 8, 8, 4 })
check("one atom", "(8,8,4) + 8", single:tile_shape(), single:size())
check("is the atom", "(8,8,4) + 8", tile.make_tiled_mma(NAME):tile_shape(),
      tile.make_tiled_mma(NAME):size())
local atoms = layout({ 2, 2 }, { 2, 1 })
local wmma = tile.make_tiled_mma(NAME, atoms)
check("four of them", "(16,16,4) + 32", wmma:tile_shape(), wmma:size())
-- who has the first element of each quadrant of C, and in which value
local function owner(mma, m, n)
  local shape = mma:tile_shape()
  local tv = mma:layout_C_TV()
  local i = tv:right_inverse()(m + shape[1] * n)
  return ("T%dV%d"):format(i % mma:size(), i // mma:size())
end
check("quadrants of C, as (2,2):(2,1)", "T0V0 + T4V0 + T8V0 + T12V0", owner(wmma, 0, 0),
      owner(wmma, 0, 8), owner(wmma, 8, 0), owner(wmma, 8, 8))
local large = tile.make_tiled_mma(NAME, atoms, { 32, 32, 4 })
check("and four times the values", "(32,32,4) + 32", large:tile_shape(), large:size())
check("16 rows on: other values of the same threads", "T0V0 + T0V8 + T16V8 + T8V8",
      owner(large, 0, 0), owner(large, 16, 0), owner(large, 20, 0), owner(large, 24, 0))
check("values of A that a thread has", "8", tile.size(large:layout_A_TV(), 2))

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
