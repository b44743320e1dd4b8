-- wgmma_tma_sm90.lua: CuTe's tutorial of TMA and wgmma as a kernel, and the same with a warp that
-- fills.
-- SPDX-License-Identifier: MIT
--
-- One thread orders the boxes, barriers in shared memory count the bytes. With a producer of its
-- own two groups multiply one tile together, or two in turn. Which boxes, that follows from the
-- layouts.

local tile = require "moontile"
local layout = tile.layout

-- ---- the description

local mma = tile.tiled_mma { atom = "SM90_64x64x16_F16F16F16_SS" }
local two = tile.tiled_mma { atom = "SM90_64x128x16_F32F16F16_SS", atoms = layout { 2, 1 } }

-- layouts of the stages and boxes are found: rows of 128 bytes, as wgmma and TMA have them
local plain = tile.kernel { mma = mma, tile = { 128, 128, 64 }, stages = 3,
                            g2s = { A = "tma", B = "tma" } }
print(plain)
-- one that the library has precompiled: on a GPU this is what runs
local shared = tile.kernel { mma = two, tile = { 128, 128, 64 }, stages = 6,
                             schedule = "cooperative", cluster = { 2, 1 },
                             g2s = { B = { tma = true, multicast = "m" } } }
local turns = tile.kernel { mma = mma, tile = { 64, 128, 64 }, stages = 4,
                            schedule = "pingpong" }

-- what the driver is given for A, and a tensor whose rows TMA cannot step over
local stage = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16), { 128, 64 })
for _, depth in ipairs { 136, 137 } do
  local A = layout({ 200, depth }, "right")
  print(("\nA %s\n%s"):format(A, tile.tma { tensor = A, dtype = "f16", smem = stage }))
end

-- ---- proven, executed, compared

local prove = dofile((arg[0]:match "^(.*/)" or "") .. "lib/prove.lua")
local size, types = { 200, 136, 136 }, { "f16", "f16" }

prove.run{ "one thread orders the boxes", plain, size = size, types = types,
           major = "rows" }
prove.run{ "a producer, two groups share a tile and B with another CTA", shared,
           size = size, types = types, major = "rows" }
prove.run{ "a producer, two groups in turn", turns, size = size, types = types,
           major = "rows" }
