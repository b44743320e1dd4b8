-- wgmma_sm90.lua: CuTe's tutorial of wgmma as a kernel: cp.async into three stages that wgmma
-- reads through descriptors.
-- SPDX-License-Identifier: MIT
--
-- No fragments of A and B: the instruction makes the addresses itself. So the layouts of the stages
-- have to be canonical, and the proof says in which mode, or which element lies elsewhere.

local tile = require "moontile"
local layout = tile.layout

-- ---- the description

local mma = tile.tiled_mma { atom = "SM90_64x64x16_F16F16F16_SS" }

local function kernel(name, thr, val)
  local atom = tile.smem_atom(name, 16)
  local smem = tile.tile_to_shape(atom, { 128, 64, 3 })
  local async = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>", dtype = "f16",
                                  thr = layout(thr), val = layout(val) }
  print(tile.verify(mma, smem, "A").text:match "wgmma:[^\n]*")
  return tile.kernel { mma = mma, tile = { 128, 128, 64 }, stages = 3,
                       smem = { A = smem, B = smem }, g2s = { A = async, B = async } }
end
local tn = kernel("GMMA::Layout_K_SW128_Atom", "(16,8):(8,1)", { 1, 8 })
local nt = kernel("GMMA::Layout_MN_SW128_Atom", "(16,8):(1,16)", { 8, 1 })

local padded = tile.kernel { mma = mma, tile = { 128, 128, 64 },
                             smem = { A = layout({ 128, 64 }, { 72, 1 }) } }
print(("\nrows padded by 16 bytes\n%s"):format(tile.verify(padded)))
assert(tile.verify(padded).problem == "hardware")

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 200, 136, 136 }, { "f16", "f16" }

prove.run{ "tn: A and B by rows", tn, size = size, types = types, major = "rows" }
prove.run{ "nt: A and B by columns", nt, size = size, types = types, major = "columns" }
