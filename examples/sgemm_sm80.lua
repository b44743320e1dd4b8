-- sgemm_sm80.lua: CuTe's tutorial for Ampere as a kernel: cp.async into three swizzled stages,
-- ldmatrix, mma.sync.
-- SPDX-License-Identifier: MIT
--
-- Two steps are under way while one is multiplied. One more, and a stage would be filled that is
-- still read: the proof says when.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 200, 136, 136

-- ---- the description

local mma = tile.tiled_mma { atom = "SM80_16x8x8_F16F16F16F16_TN", atoms = layout { 2, 2 },
                             permutation = { 32, 32, 16 } }

-- the stage as CuTe's tutorial swizzles it, three of them
local atom = tile.swizzle(3, 3, 3) * layout "(8,(8,8)):(8,(1,64))"
local smem = tile.tile_to_shape(atom, { 128, 64, 3 })
local async = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", dtype = "f16",
                                thr = layout "(16,8):(8,1)", val = layout { 1, 8 } }
local function kernel(ahead)
  return tile.kernel {
    mma = mma, tile = { 128, 128, 64 }, stages = 3, ahead = ahead,
    smem = { A = smem, B = smem }, g2s = { A = async, B = async },
    s2r = { A = "SM75_U32x4_LDSM_N", B = "SM75_U32x4_LDSM_N" },
  }
end
local tn = kernel(2)
print(tn)

local early = tile.verify(kernel(3))
print(("\none step more ahead\n%s"):format(early))
assert(early.problem == "order")

-- ---- data: small integers, whose sums are exact

local function numbers(dtype, A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 5 - 2 end
  return assert(tile.tensor(dtype, A)):fill(values)
end

-- Proven for these tensors, executed in two orders of its roles, compared with a product that
-- nobody described.
local function prove_and_run(name, described, strides)
  local A = numbers("f16", layout({ M, K }, strides(M, K)), 3)
  local B = numbers("f16", layout({ N, K }, strides(N, K)), 7)
  local C, D = tile.tensor("f16", layout { M, N }), tile.tensor("f16", layout { M, N })
  local proof = tile.verify(described, A, B, C)
  print(("\n%s\n%s"):format(name, proof))
  assert(proof.ok)
  tile.gemm(A, B, D)
  for seed = 1, 2 do
    tile.gemm(described, A, B, C:fill(0), { seed = seed })
    local c, d = C:totable(), D:totable()
    for i = 1, #d do assert(c[i] == d[i], i) end
  end
  print(("%d x %d x %d executed stage by stage: right"):format(M, N, K))
end

local function rows(_, depth) return { depth, 1 } end

prove_and_run("tn: A and B by rows", tn, rows)
