-- blocked.lua: a matrix repacked into 8x8 tiles of 2x2 blocks, and back.
-- SPDX-License-Identifier: MIT
--
-- The blocked storage is one layout, made by two products. The matrix is seen with the
-- same shape by composing it with the shape of a column and of a row; then it is a copy
-- like any other.

local tile = require "moontile"

local M, N = 64, 96

-- Each product puts copies of the left layout where the right one says.
local grid   = tile.layout({ M // 8, N // 8 }, "right")
local block  = tile.layout({ 2, 2 }, "right")                                -- (2,2)
local tiles  = tile.blocked_product(block, tile.layout({ 4, 4 }, "right"))   -- (8,8)
local packed = tile.blocked_product(tiles, grid)                             -- (M,N)
print("a block   " .. tostring(block))
print("a tile    " .. tostring(tiles))
print("all       " .. tostring(packed))

print "\nwhere the elements of the first tile lie:"
for i = 0, 7 do
  local row = {}
  for j = 0, 7 do row[#row + 1] = ("%3d"):format(packed(i, j)) end
  print(" " .. table.concat(row))
end

-- Element (i, j) of the matrix is 100 i + j.
local device = assert(tile.device())
local matrix = tile.tensor("i32", tile.layout({ M, N }, "right"))
for i = 0, M - 1 do
  for j = 0, N - 1 do matrix[{ i, j }] = 100 * i + j end
end

-- The matrix with its modes split as those of `packed`.
local function split(t)
  return t * { tile.layout(packed[1]:shape()), tile.layout(packed[2]:shape()) }
end

local src = assert(matrix:to(device))
local blocked = assert(tile.tensor("i32", packed, device))
local plan = assert(tile.plan(split(src), blocked))
print("\n" .. tostring(plan))
plan()

-- In plain arithmetic: number p of the storage is element p%4 of a block, which is block
-- p//4%16 of a tile, which is tile p//64, each of them counted row by row.
local flat = assert(blocked:to "cpu"):view(tile.layout(M * N))
for p, value in ipairs(flat:totable()) do
  p = p - 1
  local e, b, t = p % 4, p // 4 % 16, p // 64
  local i = e // 2 + b // 4 * 2 + t // (N // 8) * 8
  local j = e % 2 + b % 4 * 2 + t % (N // 8) * 8
  assert(value == 100 * i + j, "packed")
end

-- And back, by the same copy with its sides exchanged.
local back = assert(tile.tensor("i32", tile.layout({ M, N }, "right"), device))
tile.copy(blocked, split(back))
device:synchronize()
local a, b = matrix:totable(), back:totable()
for p = 1, #a do assert(a[p] == b[p], "unpacked") end
print(("\n%dx%d packed into 8x8 tiles of 2x2 blocks and back on %s"):format(M, N, device))
print(("all %d elements are right"):format(#a))
