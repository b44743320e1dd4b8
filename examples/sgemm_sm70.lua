-- sgemm_sm70.lua: CuTe's tutorial for Volta as a kernel: half precision on quadpairs, filled
-- through registers.
-- SPDX-License-Identifier: MIT
--
-- The tutorial brings the next tile to registers while it multiplies this one; then all wait, and
-- it is stored. In the description that is a fill "by threads", no step ahead: one stage.

local tile = require "moontile"
local layout = tile.layout

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

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 104, 72, 40 }, { "f16", "f32" }

prove.run{ "tn: A and B by rows", tn, size = size, types = types, major = "rows" }
prove.run{ "nt: A and B by columns", nt, size = size, types = types, major = "columns" }
