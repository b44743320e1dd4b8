-- wgmma_tma_sm90.lua: CuTe's tutorial of TMA and wgmma as a kernel, and the same with a warp that
-- fills.
-- SPDX-License-Identifier: MIT
--
-- One thread orders the boxes, barriers in shared memory count the bytes. With a producer of its
-- own two groups multiply one tile together, or two in turn. Which boxes, that follows from the
-- layouts.

local tile = require "moontile"
local layout = tile.layout

local M, N, K = 200, 136, 136

-- ---- the description

local mma = tile.tiled_mma { atom = "SM90_64x64x16_F16F16F16_SS" }
local two = tile.tiled_mma { atom = "SM90_64x128x16_F16F16F16_SS", atoms = layout { 2, 1 } }

-- layouts of the stages and boxes are found: rows of 128 bytes, as wgmma and TMA have them
local plain = tile.kernel { mma = mma, tile = { 128, 128, 64 }, stages = 3,
                            g2s = { A = "tma", B = "tma" } }
print(plain)
local shared = tile.kernel { mma = two, tile = { 128, 128, 64 }, stages = 4,
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
  local C, D = tile.tensor("f16", layout { M, N }), tile.tensor("f16", layout { M, N })
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

local function rows(_, depth) return { depth, 1 } end

prove_and_run("one thread orders the boxes", plain, rows)
prove_and_run("a producer, two groups share a tile and B with another CTA", shared, rows)
prove_and_run("a producer, two groups in turn", turns, rows)
