-- CuTe's documentation, page 0z: layouts whose strides are coordinates, every stated result
-- checked:
--   moontile examples/cute/tma_tensors.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- integers that are counted

local function rows(L)
  local list = {}
  for i = 0, tile.size(L, 1) - 1 do
    local row = {}
    for j = 0, tile.size(L, 2) - 1 do row[j + 1] = tostring(L(i, j)) end
    list[i + 1] = table.concat(row, " ")
  end
  return table.concat(list, " / ")
end
local A = layout { 4, 5 }:with_offset(42)
check("counting from 42", "42 46 50 54 58 / 43 47 51 55 59 / 44 48 52 56 60 / 45 49 53 57 61",
      rows(A))
check("read as it is printed there", tostring(A), layout "counting_iter(42) o (4,5):(_1,4)")

-- ---------------------------------------------------------------- coordinates that add

check("(42,2,7) + (0,5,2)", "(42,7,9)", tile.make_coord(42, 2, 7) + { 0, 5, 2 })
for _, row in ipairs {                            -- E<0>, E<1>, E<0,0>, ... and the tuples they are
  { "1@0", "(1)" }, { "1@1", "(0,1)" }, { "1@0@0", "((1))" }, { "1@1@0", "((0,1))" },
  { "1@0@1", "(0,(1))" }, { "1@1@1", "(0,(0,1))" }, { "5@1", "(0,5)" }, { "5@1@0", "((0,5))" },
} do
  check("the basis element " .. row[1], row[2], layout("2:" .. row[1])(1))
end
for _, row in ipairs {                            -- as they are said in C++
  { "E<>{}", "1" }, { "E<0>{}", "1@0" }, { "E<1>{}", "1@1" }, { "E<3>{}", "1@3" },
  { "E<0,0>{}", "1@0@0" }, { "E<0,1>{}", "1@1@0" }, { "E<1,0>{}", "1@0@1" },
  { "E<1,1>{}", "1@1@1" },
} do
  check(row[1], row[2], tile.parse(row[1]))
end
check("3 E<0> + 4 E<1>", "(3,4)", layout "(4,5):(1@0,1@1)"(3, 4))
check("an offset: the inner product with (1,100)", "403", layout({ 8, 8 }, { 1, 100 })(3, 4))
check("with (1@0,1@1), and with (1@1,1@0)", "(3,4) + (4,3)", layout "(8,8):(1@0,1@1)"(3, 4),
      layout "(8,8):(1@1,1@0)"(3, 4))
check("2 2@1@0 + 3 1@1 + 4 5@1 + 7 1@0@0", "((7,4),23)",
      layout "(3,4,5,8):(2@1@0,1@1,5@1,1@0@0)"(2, 3, 4, 7))

-- ---------------------------------------------------------------- tensors of coordinates

check("(4,5):(1@0,1@1)", "(0,0) (0,1) (0,2) (0,3) (0,4) / (1,0) (1,1) (1,2) (1,3) (1,4) / "
      .. "(2,0) (2,1) (2,2) (2,3) (2,4) / (3,0) (3,1) (3,2) (3,3) (3,4)",
      rows(layout "(4,5):(1@0,1@1)"))
check("(4,5):(1@1,1@0)", "(0,0) (1,0) (2,0) (3,0) (4,0) / (0,1) (1,1) (2,1) (3,1) (4,1) / "
      .. "(0,2) (1,2) (2,2) (3,2) (4,2) / (0,3) (1,3) (2,3) (3,3) (4,3)",
      rows(layout "(4,5):(1@1,1@0)"))
for _, strides in ipairs { "(_1@0,_1@1)", "(_1@1,_1@0)" } do
  local text = "ArithTuple(0,0) o (4,5):" .. strides
  check(text, text:match " o (.*)":gsub("_", ""), layout(text))
end
local seen = layout "ArithTuple(0,_0,_0,_0) o ((_128,_64),2,3,1):((_1@0,_1@1),_64@1,_1@2,_1@3)"
check("the tensor at the beginning of the page", "(5,71,2,0)", seen({ 5, 7 }, 1, 2, 0))

-- ---------------------------------------------------------------- tiled and sliced as any other

local T = tile.make_identity_layout { 256, 128 }
check("box (1,2) of 128 x 32", "(128,32):(1@0,1@1) + (128,64)",
      tile.local_tile(T, { 128, 32 }, { 1, 2 }))
print(check.count .. " results, all as the documentation says")
