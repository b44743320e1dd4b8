-- sgemm_2.lua: CuTe's second tutorial of a matrix product as a kernel: tiled copies of 16 bytes
-- a thread, and a stage whose columns are padded where rows are copied.
-- SPDX-License-Identifier: MIT
--
-- Rows of K are read from memory 8 elements wide and would all be written to one bank; a stage
-- padded by one element has none of these conflicts. The proof counts them.

local tile = require "moontile"
local layout = tile.layout

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

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 200, 136, 20 }, { "f32", "f32" }

prove.run{ "nt: A and B by columns", nt, size = size, types = types, major = "columns" }
prove.run{ "tn: A and B by rows, the stage padded", tn, size = size, types = types,
           major = "rows" }
