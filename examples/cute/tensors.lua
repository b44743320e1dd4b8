-- CuTe's documentation, page 03: tensors, their slices and partitions, every stated result checked:
--   moontile examples/cute/tensors.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- made

local function tensor(...) return tile.tensor("f32", layout(...)) end
local padded = tensor({ 4, 8 }, { 32, 2 })
for _, row in ipairs {                            -- a tensor, how it is printed there
  { "tensor_8", tensor(8), "ptr[32b](0x7f42efc00000) o _8:_1" },
  { "tensor_8s", tensor(8), "ptr[32b](0x7f42efc00000) o _8:_1" },
  { "tensor_8d2", tensor(8, 2), "ptr[32b](0x7f42efc00000) o 8:2" },
  { "gmem_8s", tensor(8), "gmem_ptr[32b](0x7f42efc00000) o _8:_1" },
  { "gmem_8d", tensor(8), "gmem_ptr[32b](0x7f42efc00000) o 8:_1" },
  { "gmem_8sx16d", tensor { 8, 16 }, "gmem_ptr[32b](0x7f42efc00000) o (_8,16):(_1,_8)" },
  { "gmem_8dx16s", tensor({ 8, 16 }, { 16, 1 }),
    "gmem_ptr[32b](0x7f42efc00000) o (8,_16):(_16,_1)" },
  { "smem_4x8_col", tensor { 4, 8 }, "smem_ptr[32b](0x7f4316000000) o (_4,_8):(_1,_4)" },
  { "smem_4x8_row", tensor({ 4, 8 }, "right"), "smem_ptr[32b](0x7f4316000000) o (_4,_8):(_8,_1)" },
  { "rmem_4x8_col", tensor { 4, 8 }, "ptr[32b](0x7fff48929460) o (_4,_8):(_1,_4)" },
  { "rmem_4x8_row", tensor({ 4, 8 }, "right"), "ptr[32b](0x7fff489294e0) o (_4,_8):(_8,_1)" },
  { "rmem_4x8_pad", padded, "ptr[32b](0x7fff489295e0) o (_4,_8):(_32,_2)" },
  { "rmem_4x8_like", tile.tensor("f32", padded:layout():make_layout_like()),
    "ptr[32b](0x7fff48929560) o (_4,_8):(_8,_1)" },
} do
  check(row[1], row[3]:match(" o (.*)"):gsub("_", ""), row[2]:layout())
  assert(layout(row[3]) == row[2]:layout())       -- what is printed there is read
end
check("room for all offsets: cosize", "32 + 239", tile.cosize(layout { 4, 8 }),
      tile.cosize(padded:layout()) + 128)
check("rank, depth, size, shape, size<1>, shape<1>", "2 + 1 + 32 + (4,8) + 8 + 8",
      tile.rank(padded), tile.depth(padded), padded:size(), padded:shape(),
      tile.size(padded, 2), tile.shape(padded, 2))
check("layout<1>, and tensor<1>", "8:2 + tensor f32 8:2 cpu", padded:layout()[2], padded:get(2))

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
for m = 0, 19 do                                  -- n + 2 * m0
  for n = 0, 12 do assert(A(m, n) == n + 2 * (m % 4) and B(n, m) == A(m, n)) end
end
for i = 0, A:size() - 1 do A:set(B(i), i) end        -- as if they were arrays
for i = 0, A:size() - 1 do assert(A(i) == B(i)) end

-- ---------------------------------------------------------------- sliced

local S = tile.tensor("f32", layout({ { 3, 2 }, { 2, 5, 2 } }, { { 4, 1 }, { 2, 13, 100 } }))
check("A", "((3,2),(2,5,2)):((4,1),(2,13,100))", S:layout())
check("A(2,_)", "((2,5,2)):((2,13,100))", S(2, _):layout())
check("A(_,5)", "((3,2)):((4,1))", S(_, 5):layout())
check("A((_,_),5)", "(3,2):(4,1)", S({ _, _ }, 5):layout())
check("A((_,1),(0,_,1))", "(3,5):(4,13)", S({ _, 1 }, { 0, _, 1 }):layout())
check("A((2,_),(_,3,_))", "(2,2,2):(1,2,100)", S({ 2, _ }, { _, 3, _ }):layout())

for i = 0, S:size() - 1 do S:set(i, i) end
for i = 0, 5 do                                   -- C and D: the same elements, other ranks
  assert(S(_, 5)(i) == S({ _, _ }, 5)(i))
end
check("as many modes as there are underscores", "1 + 1 + 2 + 2 + 3", tile.rank(S(2, _)),
      tile.rank(S(_, 5)), tile.rank(S({ _, _ }, 5)), tile.rank(S({ _, 1 }, { 0, _, 1 })),
      tile.rank(S({ 2, _ }, { _, 3, _ })))

-- ---------------------------------------------------------------- tiled

local view = tensor { 12, 20, 5 }
for i, row in ipairs {                            -- of composition the first two modes
  { "composition", "(4,5)" }, { "logical_divide", "((4,3),(5,4),5)" },
  { "zipped_divide", "((4,5),(3,4,5))" }, { "tiled_divide", "((4,5),3,4,5)" },
  { "flat_divide", "(4,5,3,4,5)" },
} do
  local of = i == 1 and view(_, _, 0) or view
  check(row[1] .. " of a tensor", row[2], tile.shape(tile[row[1]](of, { 4, 5 })))
end

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
for thread, places in ipairs {                    -- where its values are, column by column
  "0 4 16 20", "8 12 24 28", "1 5 17 21", "9 13 25 29", "2 6 18 22", "10 14 26 30", "3 7 19 23",
  "11 15 27 31",
} do
  local list = {}
  for value = 0, 3 do list[value + 1] = tv(thread - 1, value) end
  check("the values of thread " .. thread - 1, places, table.concat(list, " "))
end
local inverse = tv:right_inverse()                -- from (m,n) to thread + 8 * value
for m, row in ipairs {
  "T0V0 T0V1 T1V0 T1V1 T0V2 T0V3 T1V2 T1V3", "T2V0 T2V1 T3V0 T3V1 T2V2 T2V3 T3V2 T3V3",
  "T4V0 T4V1 T5V0 T5V1 T4V2 T4V3 T5V2 T5V3", "T6V0 T6V1 T7V0 T7V1 T6V2 T6V3 T7V2 T7V3",
} do
  local list = {}
  for n = 0, 7 do
    local i = inverse(m - 1 + 4 * n)
    list[n + 1] = ("T%dV%d"):format(i % 8, i // 8)
  end
  check("row " .. m - 1 .. " of the inverse", row, table.concat(list, " "))
end
check("(thread,value) of 4 x 8", "(8,4)", tile.product_each((data * tv):shape()))
check("what thread 3 has", "((2,2)):((1,4)) + 10", (data * tv):slice_and_offset { 3, _ })
assert(tv:is_bijective())

-- ---------------------------------------------------------------- a subtile to registers

local gmem = tensor({ 24, 16 }, { 16, 1 })
for i = 0, gmem:size() - 1 do gmem:set(i, i) end
for k, tiler in ipairs { { 8, 4 }, tile.make_tile(layout(8, 3), layout(4, 2)) } do
  local gmem_tiled = tile.zipped_divide(gmem, tiler)              -- ((8,4),Rest)
  local rmem = tile.tensor("f32", gmem_tiled(_, 0):layout():make_layout_like())
  check("rmem of tile " .. k, "((8,4))", rmem:shape())
  local seen = {}
  for j = 0, tile.size(gmem_tiled, 2) - 1 do
    tile.copy(gmem_tiled(_, j), rmem)
    for i = 0, rmem:size() - 1 do seen[rmem(i)] = true end        -- do_something
  end
  for i = 0, gmem:size() - 1 do assert(seen[i + 0.0]) end
end
print(check.count .. " results, all as the documentation says")
