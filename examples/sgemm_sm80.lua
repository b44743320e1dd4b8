-- sgemm_sm80.lua: CuTe's tutorial for Ampere as a kernel: cp.async into three swizzled stages,
-- ldmatrix, mma.sync.
-- SPDX-License-Identifier: MIT
--
-- Two steps are under way while one is multiplied. One more, and a stage would be filled that is
-- still read: the proof says when.

local tile = require "moontile"
local layout = tile.layout

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

-- the library's own of this kind: on a GPU this is what runs
local own = tile.kernels { arch = 80, A = "f16" }[1]

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 200, 136, 136 }, { "f16", "f16" }

prove.run{ "tn: A and B by rows", tn, size = size, types = types, major = "rows" }
prove.run{ "tn, precompiled", own, size = size, types = types, major = "rows" }
