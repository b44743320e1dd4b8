-- sgemm.lua [device [M N K]]: CuTe's tutorial of a matrix product: tiles, copies, MMA
-- partitions.
-- SPDX-License-Identifier: MIT
--
-- C = A B of f32: A is (M,K), B is (N,K), both with their first mode contiguous. A block of
-- 256 threads has a tile of 128 x 128 of C and walks along K in steps of 8: two tiled copies
-- stage the tiles of A and B, a tiled MMA multiplies them. Here the description is proven,
-- shown as one thread sees it, run stage by stage as it is written, run as one plan, and
-- compared with a product that nobody described. The sizes need not be multiples of the
-- tile: the last tiles know which of their elements are real.

local tile = require "moontile"
local layout, _ = tile.layout, tile._

local M, N, K = math.tointeger(arg[2] or 250), math.tointeger(arg[3] or 130),
                math.tointeger(arg[4] or 27)
local bM, bN, bK = 128, 128, 8

-- ---- the description

local vectors = { atom = "AutoVectorizingCopy", dtype = "f32",
                  thr = layout { 32, 8 }, val = layout { 4, 1 } }
local copyA, copyB = tile.tiled_copy(vectors), tile.tiled_copy(vectors)
local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 16, 16, 1 } }
local sA, sB = layout { bM, bK }, layout { bN, bK }        -- as they lie in shared memory

print(("a block: %d threads, %dx%d of C, %d of K at a time"):format(mma:size(), bM, bN, bK))

-- ---- the proofs: each element is copied once, multiplied in one place, without conflicts

local gA, gB, gC = layout { M, K }, layout { N, K }, layout { M, N }
for _, proof in ipairs { tile.verify(copyA, gA, "S"), tile.verify(copyB, gB, "S"),
                         tile.verify(mma, gA, "A"), tile.verify(mma, gB, "B"),
                         tile.verify(mma, gC, "C") } do
  print("  " .. tostring(proof):match "^[^\n]*")
  assert(proof.ok)
end
local banks = tile.bank_conflicts(copyA, sA, "D")
print(("  the copy of A writes shared memory: %d conflicts"):format(banks.conflicts))
assert(banks.conflicts == 0)

-- ---- what thread 37 has: CuTe's names, CuTe's shapes

local thread = 37
local tAgA = copyA:get_slice(thread):partition_S(sA)                   -- (CPY,CPY_M,CPY_K)
local tCsA = mma:get_slice(thread):partition_A(sA)                     -- (MMA,MMA_M,MMA_K)
local tCsB = mma:get_slice(thread):partition_B(sB)                     -- (MMA,MMA_N,MMA_K)
local tCgC, at = mma:get_slice(thread):partition_C(layout { bM, bN })  -- (MMA,MMA_M,MMA_N)
print(("\nthread %d\n  copies     %s\n  reads of A %s\n  reads of B %s"):format(thread, tAgA,
      tCsA, tCsB))
print(("  has of C   %s at %d"):format(tCgC, at))

-- ---- data: small integers, whose sums f32 holds exactly

local device = assert(tile.device(arg[1]))
local function numbers(shape, step)
  local values = {}
  for i = 1, tile.size(shape) do values[i] = i * step % 11 - 5 end
  return assert(tile.tensor("f32", layout(shape), device)):fill(values)
end
local A, B = numbers({ M, K }, 7), numbers({ N, K }, 3)

-- ---- stage by stage: a loop over the blocks, a loop along K. No script has shared
-- memory: tensors in the device's memory stand for it.

local tiler = { bM, bN, bK }
local staged = assert(tile.tensor("f32", layout { M, N }, device))
local tA, tB = tile.tensor("f32", sA, device), tile.tensor("f32", sB, device)
for m = 0, tile.ceil_div(M, bM) - 1 do
  for n = 0, tile.ceil_div(N, bN) - 1 do
    local blockA = tile.local_tile(A, tiler, { m, n, _ }, { 1, _, 1 })       -- (bM,bK,k)
    local blockB = tile.local_tile(B, tiler, { m, n, _ }, { _, 1, 1 })       -- (bN,bK,k)
    local blockC = tile.local_tile(staged, tiler, { m, n, _ }, { 1, 1, _ })  -- (bM,bN)
    for k = 0, blockA:size(3) - 1 do
      tile.copy(copyA, blockA(_, _, k), tA:fill(0))          -- what is not real stays 0
      tile.copy(copyB, blockB(_, _, k), tB:fill(0))
      tile.gemm(mma, tA, tB, blockC, { beta = 1 })
    end
  end
end

-- ---- the same as one plan, and without a description

local described = assert(tile.tensor("f32", layout { M, N }, device))
local plan = assert(tile.plan(mma, A, B, described))
print("\n" .. tostring(plan))
plan()
local chosen = tile.tensor("f32", layout { M, N }, device)
tile.gemm(A, B, chosen)
device:synchronize()

local x, y, z = staged:totable(), described:totable(), chosen:totable()
for i = 1, M * N do assert(x[i] == z[i] and y[i] == z[i], "element " .. i - 1) end
local a, b, sum = A:totable(), B:totable(), 0
for k = 0, K - 1 do sum = sum + a[M + k * M] * b[N + k * N] end
assert(chosen(M - 1, N - 1) == sum)
print(("\n%dx%dx%d on %s: staged, planned and chosen agree in all %d elements"):format(M, N, K,
      device, M * N))
