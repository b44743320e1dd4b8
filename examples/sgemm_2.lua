-- sgemm_2.lua: CuTe's second tutorial of a matrix product as a kernel: tiled copies of 16 bytes
-- a thread, and a stage whose columns are padded where rows are copied.
-- SPDX-License-Identifier: MIT
--
-- Rows of K are read from memory 8 elements wide and would all be written to one bank; a stage
-- padded by one element has none of these conflicts. The proof counts them.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 200, 136, 20

-- ---- the description

local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 16, 16, 1 } }

local wide = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                               thr = layout { 32, 8 }, val = layout { 4, 1 } }
local nt = tile.kernel {
  mma = mma, tile = { 128, 128, 8 }, stages = 1,
  smem = { A = layout { 128, 8 }, B = layout { 128, 8 } }, g2s = { A = wide, B = wide },
}

local narrow = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                 thr = layout "(32,8):(8,1)" }
local function by_rows(smem)
  return tile.kernel { mma = mma, tile = { 128, 128, 8 }, stages = 1,
                       smem = { A = smem, B = smem }, g2s = { A = narrow, B = narrow } }
end
local plain, tn = by_rows(layout { 128, 8 }), by_rows(layout({ 128, 8 }, { 1, 129 }))
local costs = { tile.verify(plain).writes, tile.verify(tn).writes }
print(("wavefronts that fill a stage of A: %d, padded %d"):format(costs[1].A, costs[2].A))
assert(costs[1].A > costs[2].A)

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
prove_and_run("tn: A and B by rows, the stage padded", tn, rows)
