-- The partitions of CuTe's tutorial wgmma_sm90: tiles of shared memory, what cp.async writes of
-- them, what wgmma reads of them by descriptors, where the accumulators are:
--   moontile examples/cute/wgmma_sm90.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

local bM, bN, bK, bP = 128, 128, 64, 3
local mma = tile.make_tiled_mma "SM90_64x64x16_F16F16F16_SS"
check("a warpgroup", "(64,64,16) + 128", mma:tile_shape(), mma:size())

-- major: of both operands; thr, val: who writes them
local function partitions(major, thr, val)
  local atom = tile.smem_atom(("GMMA::Layout_%s_SW128_Atom"):format(major), "f16")
  local sA = tile.tile_to_shape(atom, { bM, bK, bP })
  local copy = tile.make_tiled_copy("SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", thr, val, "f16")
  local thread = copy:get_slice(0)
  local tAsA = thread:partition_D(sA)
  check(major .. ": tAsA: CPY, CPY_M, CPY_K, pipe", major == "K" and "(8,8,1,3)" or "(8,1,8,3)",
        tile.product_each(tile.shape(tAsA)))
  check(major .. ": tAgA, of tiles k", major == "K" and "((8,1),8,1,4)" or "((8,1),1,8,4)",
        tile.shape((thread:partition_S((tile.local_tile(layout { 256, 256 }, { bM, bK },
                                                        { 0, _ }))))))
  thread = mma:get_slice(0)
  local tCsA = thread:partition_A(tile.get_nonswizzle_portion(sA))
  check(major .. ": tCsA: values, MMA_M, MMA_K, pipe", "(1024,2,4,3)",
        tile.product_each(tile.shape(tCsA)))
  local tCrA = thread:partition_fragment_A(sA)
  check(major .. ": tCrA: a descriptor for each instruction", "(1,2,4,3)",
        tile.product_each(tile.shape(tCrA)))
  local C = thread:partition_C(layout { bM, bN })
  check(major .. ": tCgC", "((2,2,8),2,2)", tile.shape(C))
  check(major .. ": tCrC", "((2,2,8),2,2):((1,2,4),32,64)",
        thread:partition_fragment_C(layout { bM, bN }))
  for k = 0, bK // 16 - 1 do                      -- what one instruction reads is canonical
    local step = tile.local_tile(sA:slice { _, _, 0 }, { 64, 16 }, { 0, k })
    assert(tile.make_gmma_desc(step, "f16", major).mode == "B128")
  end
  assert(tile.verify(mma, sA, "A").ok and tile.verify(copy, sA, "D").ok)
  return sA, copy
end
local sK, cK = partitions("K", layout({ 16, 8 }, "right"), layout { 1, 8 })
local sMN, cMN = partitions("MN", layout { 16, 8 }, layout { 8, 1 })

-- ------------------------------------------------ written by cp.async, read by wgmma

-- One stage of both operands, by all threads; then their instructions.
local function run(smem, copy, order)
  local function matrix(rows, columns)
    local T, numbers = tile.tensor("f16", layout({ rows, columns }, order)), {}
    for i = 1, rows * columns do numbers[i] = i * 7 % 5 - 2 end
    return T:fill(numbers)
  end
  local A, B = matrix(bM, bK), matrix(bN, bK)
  local C, want = tile.tensor("f16", layout { bM, bN }), tile.tensor("f16", layout { bM, bN })
  local stage = smem:slice { _, _, 0 }
  local sA, sB = tile.tensor("f16", stage), tile.tensor("f16", stage)
  tile.copy(copy, A, sA)
  tile.copy(copy, B, sB)
  local rA, rB, rC = {}, {}, {}
  for t = 0, mma:size() - 1 do
    local thread = mma:get_slice(t)
    rA[t + 1], rB[t + 1] = thread:partition_A(sA), thread:partition_B(sB)
    rC[t + 1] = thread:partition_C(C)
  end
  tile.gemm(mma, rA, rB, rC)
  tile.gemm(A, B, want)
  local c, d = C:totable(), want:totable()
  for i = 1, #d do assert(c[i] == d[i], i) end
end
run(sK, cK, "right")
run(sMN, cMN, "left")
print(check.count .. " partitions as in the tutorial; their products are right")
