-- sgemm_1.lua: CuTe's first tutorial of a matrix product as a kernel: one stage of shared
-- memory, filled and read by all threads, one element at a time.
-- SPDX-License-Identifier: MIT
--
-- A block of 256 threads has a tile of 128 x 128 of C and walks along K in steps of 8: all fill
-- the stage, wait, multiply, wait. The description says just that; the barriers are the schedule's.

local tile = require "moontile"
local layout = tile.layout

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

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 200, 136, 20 }, { "f32", "f32" }

prove.run{ "nt: A and B by columns", nt, size = size, types = types, major = "columns" }
prove.run{ "tn: A and B by rows", tn, size = size, types = types, major = "rows" }
