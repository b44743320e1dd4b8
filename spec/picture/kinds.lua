-- kinds.lua: a picture of each kind, for specs: { name, what is drawn, options }.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

local ATOM = "SM80_16x8x16_F32F16F16F32_TN"
local smem = tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f16")
local mma = tile.tiled_mma { atom = ATOM, atoms = layout { 2, 2 }, permutation = { _, 32 } }
local copy = tile.tiled_copy {
  atom = "UniversalCopy<uint128_t>", dtype = "f32", thr = layout { 32, 8 }, val = layout { 4, 1 },
}
local load = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
local T = tile.tensor("i32", layout { 3, 1 }):fill { 5, 6, 7 }

return {
  { "a layout", layout { 4, 8 } },
  { "a row", layout(8) },
  { "a layout as text", "(4,(2,4)):(2,(1,8))" },
  { "a layout by coordinate", layout { { 2, 2 }, 8 }, { by = "coordinate" } },
  { "a layout by index", layout({ 4, 8 }, "right"), { by = "index" } },
  { "a layout by bank", layout({ 16, 32 }, "right"), { by = "bank", bits = "f16" } },
  { "a slice", layout { 8, 8 }, { slice = { _, 3 }, tile = { 4, 4 } } },
  { "an 8x8 hierarchy", layout { { 2, 2, 2 }, { 2, 2, 2 } } },
  { "coordinates", tile.make_identity_layout { 3, 4 } },
  { "nothing", layout { 0, 3 } },
  { "a tensor", T }, { "its elements", T, { by = "value" } },
  { "a 128-byte-swizzled K-major tile", smem },
  { "a swizzle", tile.swizzle(3, 4, 3) }, { "another", tile.swizzle(2, 0, -3) },
  { "the SM80 16x8x16 atom", ATOM }, { "one thread of it", ATOM, { thread = 14, value = 1 } },
  { "its C", ATOM, { part = "C", tile = { 8, 8 } } },
  { "the SM90 64x64x16 atom", "SM90_64x64x16_F32F16F16_SS", { rows = 32, columns = 32 } },
  { "a tiled MMA", mma }, { "a copy atom", "SM75_U32x4_LDSM_N" },
  { "a 32x8 tiled copy", copy }, { "ldmatrix for an MMA", load },
  { "a partition by hand", { tv = layout({ 8, 4 }, { 4, 1 }), tiler = { 4, 8 } } },
  { "a broadcast", { tv = layout({ 4, 2 }, { 1, 0 }), tiler = { 4 } } },
  { "bank conflicts", layout(32, 32), { banks = "f32" } },
  { "bank conflicts of a copy", load, { banks = layout({ 64, 64 }, "right"), part = "S" } },
  { "a kernel", tile.kernel { mma = mma, tile = { 64, 64, 32 }, stages = 3 } },
  { "a kernel that is wrong",
    tile.kernel { mma = mma, tile = { 64, 64, 32 }, stages = 3, ahead = 3 } },
  { "a plan", tile.plan(tile.tensor("f32", layout { 64, 64 }),
                        tile.tensor("f32", layout({ 64, 64 }, "right"))) },
}
