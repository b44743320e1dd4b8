-- CuTe's documentation, page 03: tensors, their slices and partitions, every stated result checked:
--   moontile examples/cute/tensors.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- made

local function tensor(...) return tile.tensor("f32", layout(...)) end
check("of a shape", "8:1", tensor(8):layout())
check("of a shape and a stride", "8:2", tensor(8, 2):layout())
check("by rows", "(8,16):(16,1)", tensor({ 8, 16 }, { 16, 1 }):layout())
local padded = layout({ 4, 8 }, { 32, 2 })
check("like (4,8):(32,2)", "(4,8):(8,1)", padded:make_layout_like())
for _, line in ipairs {
  "ptr[32b](0x7f42efc00000) o _8:_1", "gmem_ptr[32b](0x7f42efc00000) o (_8,16):(_1,_8)",
  "smem_ptr[32b](0x7f4316000000) o (_4,_8):(_8,_1)",
} do
  check("as it is printed there", line:match(" o (.*)"):gsub("_", ""), layout(line))
end

-- ---------------------------------------------------------------- accessed

local A = tile.tensor("f32", layout({ { 4, 5 }, 13 }, { { 12, 1 }, 64 }))
local B = tensor { 13, 20 }
for m0 = 0, 3 do
  for m1 = 0, 4 do
    for n = 0, 12 do A[{ { m0, m1 }, n }] = n + 2 * m0 end
  end
end
for m = 0, tile.size(A, 1) - 1 do
  for n = 0, tile.size(A, 2) - 1 do B[{ n, m }] = A(m, n) end
end
check("an element, transposed", "11.0", B(5, { 7 }))
for i = 0, A:size() - 1 do assert(A(i) == i // 20 + 2 * (i % 4)) end

-- ---------------------------------------------------------------- sliced

local S = tile.tensor("f32", layout({ { 3, 2 }, { 2, 5, 2 } }, { { 4, 1 }, { 2, 13, 100 } }))
check("A(2,_)", "((2,5,2)):((2,13,100))", S(2, _):layout())
check("A(_,5)", "((3,2)):((4,1))", S(_, 5):layout())
check("A((_,_),5)", "(3,2):(4,1)", S({ _, _ }, 5):layout())
check("A((_,1),(0,_,1))", "(3,5):(4,13)", S({ _, 1 }, { 0, _, 1 }):layout())
check("A((2,_),(_,3,_))", "(2,2,2):(1,2,100)", S({ 2, _ }, { _, 3, _ }):layout())

-- ---------------------------------------------------------------- partitioned

local M = layout({ 8, 24 }, { 24, 1 })
local tiled = tile.zipped_divide(M, { 4, 8 })
check("zipped_divide(A, (4,8))", "((4,8),(2,3))", tiled:shape())
check("of block (1,2): inner_partition", "(4,8):(24,1) + 112",
      tile.inner_partition(M, { 4, 8 }, { 1, 2 }))
check("and local_tile", "(4,8):(24,1) + 112", tile.local_tile(M, { 4, 8 }, { 1, 2 }))
check("of thread (3,5): outer_partition", "(2,3):(96,8) + 77",
      tile.outer_partition(M, { 4, 8 }, { 3, 5 }))
check("thread 23 of (4,8) by columns", "(2,3):(96,8) + 77",
      tile.local_partition(M, layout { 4, 8 }, 23))
local tv = layout({ { 2, 4 }, { 2, 2 } }, { { 8, 1 }, { 4, 16 } })
local data = layout({ 4, 8 }, "right")
check("(thread,value) of 4 x 8", "(8,4)", tile.product_each((data * tv):shape()))
check("what thread 3 has", "((2,2)):((1,4)) + 10", (data * tv):slice_and_offset { 3, _ })
assert(tv:is_bijective())
print(check.count .. " results, all as the documentation says")
