-- CuTe's documentation, page 0x, and its tutorial sgemm_1, thread by thread, of any sizes:
--   moontile examples/cute/sgemm_1.lua [M N K]
-- SPDX-License-Identifier: MIT
--
-- What overhangs the matrices is not copied, and is 0 in shared memory.

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")
local M, N, K = tonumber(arg[1]) or 150, tonumber(arg[2]) or 133, tonumber(arg[3]) or 19

local function matrix(A)
  local T, numbers = tile.tensor("f32", A), {}
  for i = 1, A:size() do numbers[i] = i * 7 % 5 - 2 end
  return T:fill(numbers)
end

-- name: of what fills shared memory and in which order; nt: by columns, tn: by rows
local function gemm(name, order)
  local A, B = matrix(layout({ M, K }, order)), matrix(layout({ N, K }, order))
  local C, want = tile.tensor("f32", layout { M, N }), tile.tensor("f32", layout { M, N })
  local tiler = { 128, 128, 8 }
  local tA, tB = layout({ 32, 8 }, order), layout({ 32, 8 }, order)
  local tC = layout { 16, 16 }
  local sA = tile.tensor("f32", layout({ 128, 8 }, order))
  local sB = tile.tensor("f32", layout({ 128, 8 }, order))
  local fma = tile.make_tiled_mma "UniversalFMA<float>":get_slice(0)
  local blocks = tile.ceil_div({ M, N }, { 128, 128 })

  local function block(m, n)
    local at = { m, n, _ }
    local gA = A:local_tile(tiler, at, { 1, _, 1 })         -- (BLK_M,BLK_K,k)
    local gB = B:local_tile(tiler, at, { _, 1, 1 })         -- (BLK_N,BLK_K,k)
    local gC = C:local_tile(tiler, at, { 1, 1, _ })         -- (BLK_M,BLK_N)
    local tCrC = {}                                         -- what each thread keeps
    for t = 0, tC:size() - 1 do
      tCrC[t] = tile.tensor("f32", gC:local_partition(tC, t):layout():make_layout_like())
    end
    for k = 0, tile.size(gA, 3) - 1 do
      sA:fill(0)
      sB:fill(0)
      for t = 0, tA:size() - 1 do
        tile.copy(gA(_, _, k):local_partition(tA, t), sA:local_partition(tA, t))
        tile.copy(gB(_, _, k):local_partition(tB, t), sB:local_partition(tB, t))
      end
      for t = 0, tC:size() - 1 do
        -- (THR_M,BLK_K) x (THR_N,BLK_K) => (THR_M,THR_N)
        tile.gemm(fma, sA:local_partition(tC, t, { 1, _ }), sB:local_partition(tC, t, { _, 1 }),
                  tCrC[t])
      end
    end
    for t = 0, tC:size() - 1 do tile.copy(tCrC[t], gC:local_partition(tC, t)) end
    return gA, gC, tCrC[0]
  end

  local gA, gC, rC
  for m = 0, blocks[1] - 1 do
    for n = 0, blocks[2] - 1 do gA, gC, rC = block(m, n) end
  end
  check(name .. ": gA", ("(128,8,%d)"):format((K + 7) // 8), tile.shape(gA))
  check(name .. ": tAgA of a thread", ("(4,1,%d)"):format((K + 7) // 8),
        tile.product_each(tile.shape(gA:local_partition(tA, 0))))
  check(name .. ": tCsA, by the rows of tC", "(8,8)",
        tile.product_each(tile.shape(sA:local_partition(tC, 0, { 1, _ }))))
  check(name .. ": tCgC", "(8,8)", tile.product_each(tile.shape(gC:local_partition(tC, 0))))
  check(name .. ": tCrC", "(8,8)", tile.product_each(tile.shape(rC)))
  tile.gemm(A, B, want)
  local c, d = C:totable(), want:totable()
  for i = 1, M * N do assert(c[i] == d[i], i) end
end
gemm("nt", "left")
gemm("tn", "right")

-- ------------------------------------------------ sgemm_2: tiled copies, tiled MMAs

local copy = tile.make_tiled_copy("UniversalCopy<uint128_t>", layout { 32, 8 }, layout { 4, 1 },
                                  "f32")
local thread = copy:get_slice(0)
check("CPY of partition_S", "4", tile.size(thread:partition_S(layout { 128, 8 }), 1))
local mma = tile.make_tiled_mma("UniversalFMA<float>", layout { 16, 16, 1 })
check("tile of 16 x 16 x 1 FMAs", "(16,16,1) + 256", mma:tile_shape(), mma:size())
check("MMA of partition_A", "1", tile.size(mma:get_slice(0):partition_A(layout { 128, 8 }), 1))

-- ---------------------------------------------------------------- a contraction with two modes M

local m0, m1, n, k = 70, 3, 40, 9
local A = matrix(layout({ { m0, m1 }, k }, { { 1, m0 }, m0 * m1 }))
local B, C = matrix(layout { n, k }), tile.tensor("f32", layout { { m0, m1 }, n })
check("A by tiles of ((64,2),8)", "((64,2),8)",
      tile.shape(tile.get(tile.zipped_divide(A:layout(), { { 64, 2 }, 8 }), 1)))
tile.gemm(mma, A, B, C)
local flat = tile.tensor("f32", layout { m0 * m1, n })
tile.gemm(A:view(layout { m0 * m1, k }), B, flat)
local x, y = C:totable(), flat:totable()
for i = 1, #x do assert(x[i] == y[i], i) end
print(("%d results; %d x %d x %d, thread by thread: right"):format(check.count, M, N, K))
