-- The layouts by which FlashAttention turns registers and shared memory, as a script:
-- an accumulator by rows and columns, registers of C as those of A, V transposed:
--   moontile examples/cute/flash_attention.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

-- S = Q K^T and O = P V by m16n8k16; four warps along M.
local mma = tile.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", layout { 4, 1, 1 }, { 64, 16, 16 })
local rows, keys, dim = 64, 32, 64
local I = tile.make_identity_layout { rows, keys }

-- (MMA=4,MMA_M,MMA_N) -> ((2,MMA_M),(2,MMA_N)): the rows of a thread and their columns
local function rowcol(acc)
  local l = tile.logical_divide(acc, tile.make_tile(2))       -- ((2,2),MMA_M,MMA_N)
  return tile.make_layout(tile.make_layout(tile.get(l, 1, 2), tile.get(l, 2)),
                          tile.make_layout(tile.get(l, 1, 1), tile.get(l, 3)))
end

-- (MMA=4,MMA_M,MMA_N) -> ((4,2),MMA_M,MMA_N/2): what an A of the next product has
local function as_A(acc)
  local l = tile.logical_divide(acc, tile.make_tile(_, _, 2)) -- (4,MMA_M,(2,MMA_N/2))
  return tile.make_layout(tile.make_layout(tile.get(l, 1), tile.get(l, 3, 1)), tile.get(l, 2),
                          tile.get(l, 3, 2))
end

local acc = mma:get_slice(0):partition_fragment_C(layout { rows, keys })
print("accumulator    ", acc)
print("by row, column ", rowcol(acc))
print("as registers A ", as_A(acc))

for thread = 0, mma:size() - 1 do
  local slice = mma:get_slice(thread)
  local C, corner = slice:partition_C(I)
  -- one row of the view is one row of S
  local view = rowcol(C)
  local nrow, ncol = tile.size(view, 1), tile.size(view, 2)
  for r = 0, nrow - 1 do
    for c = 0, ncol - 1 do
      local here, first = corner + view(r, c), corner + view(r, 0)
      assert(here[1] == first[1])
    end
  end
  -- P stays where it is: value i of the turned accumulator is value i of A, at the same (row, key)
  local A, base = slice:partition_A(I)
  local turned = as_A(C)
  assert(tile.size(turned) == tile.size(A))
  for i = 0, tile.size(A) - 1 do assert(corner + turned(i) == base + A(i)) end
end

-- V lies as (keys, dim) under a swizzle; the product wants (dim, keys): the same memory, turned
local sV = tile.tile_to_shape(tile.swizzle(3, 3, 3) * layout({ 8, 64 }, { 64, 1 }), { keys, dim })
local sVt = sV * layout({ dim, keys }, { keys, 1 })
print("V              ", sV)
print("V transposed   ", sVt)
for k = 0, keys - 1 do
  for d = 0, dim - 1 do assert(sVt(d, k) == sV(k, d)) end
end
print(tile.verify(mma, sVt, "B"))
print "rows stay rows, C is A, V is turned where it lies"
