-- sgemm_1.lua: CuTe's first tutorial of a matrix product as a kernel: one stage of shared
-- memory, filled and read by all threads, one element at a time.
-- SPDX-License-Identifier: MIT
--
-- A block of 256 threads has a tile of 128 x 128 of C and walks along K in steps of 8: all fill
-- the stage, wait, multiply, wait. The description says just that; the barriers are the schedule's.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 200, 136, 20

-- ---- the description

local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 16, 16, 1 } }

local function element(thr)
  return tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(thr) }
end

-- both operands with M, N contiguous ("nt"): so is the stage
local nt = tile.kernel {
  mma = mma, tile = { 128, 128, 8 }, stages = 1,
  smem = { A = layout { 128, 8 }, B = layout { 128, 8 } },
  g2s = { A = element "(32,8):(1,32)", B = element "(32,8):(1,32)" },
}
-- both with K contiguous ("tn")
local tn = tile.kernel {
  mma = mma, tile = { 128, 128, 8 }, stages = 1,
  smem = { A = layout({ 128, 8 }, "right"), B = layout({ 128, 8 }, "right") },
  g2s = { A = element "(32,8):(8,1)", B = element "(32,8):(8,1)" },
}
print(nt)

-- ---- data: small integers, whose sums are exact

local function numbers(dtype, A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 5 - 2 end
  return assert(tile.tensor(dtype, A)):fill(values)
end

-- Proven for these tensors, executed in two orders of its roles, compared with a product that
-- nobody described.
local function prove_and_run(name, described, strides)
  local A = numbers("f32", layout({ M, K }, strides(M, K)), 3)
  local B = numbers("f32", layout({ N, K }, strides(N, K)), 7)
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

prove_and_run("nt: A and B by columns", nt, columns)
prove_and_run("tn: A and B by rows", tn, rows)
