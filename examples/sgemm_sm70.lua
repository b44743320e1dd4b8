-- sgemm_sm70.lua: CuTe's tutorial for Volta as a kernel: half precision on quadpairs, filled
-- through registers.
-- SPDX-License-Identifier: MIT
--
-- The tutorial brings the next tile to registers while it multiplies this one; then all wait, and
-- it is stored. In the description that is a fill "by threads", no step ahead: one stage.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 104, 72, 40

-- ---- the description

local mma = tile.tiled_mma { atom = "SM70_8x8x4_F32F16F16F32_TN", atoms = layout { 4, 4 } }

-- tile.kernel finds the copies, 16 bytes a thread, and shared memory with the fewest wavefronts
local tn = tile.kernel { mma = mma, tile = { 64, 64, 32 }, stages = 1,
                         g2s = { A = "threads", B = "threads" } }
print(tn)

-- columns of A and B: 8 of M, N lie together, on both sides of the copy
local nt = tile.kernel {
  mma = mma, tile = { 64, 64, 32 }, stages = 1, g2s = { A = "threads", B = "threads" },
  smem = { A = layout { 64, 32 }, B = layout { 64, 32 } },
}

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
  local C, D = tile.tensor("f32", layout { M, N }), tile.tensor("f32", layout { M, N })
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

local function columns(n) return { 1, n } end
local function rows(_, depth) return { depth, 1 } end

prove_and_run("tn: A and B by rows", tn, rows)
prove_and_run("nt: A and B by columns", nt, columns)
