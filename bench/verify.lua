-- verify.lua: what a proof of a partition costs: on small tensors, on huge ones, ragged, broken.
-- SPDX-License-Identifier: MIT
--
-- A call from Lua, the table of the verdict included. The proof looks at modes, not at elements:
-- the time is the same for 128 x 128 and for 65536 x 65536. Medians are shown.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local layout = tile.layout

local ROUNDS, BATCH = 15, 2e-3

local MMA = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout({ 4, 2, 1 }),
                             permutation = { 128, 128, 64 } }
local WGMMA = tile.tiled_mma { atom = "SM90_64x128x16_F32F16F16_SS", atoms = layout { 2, 1, 1 } }
local COPY = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                               thr = layout({ 32, 8 }, { 8, 1 }), val = layout { 1, 8 } }
local TWICE = { tv = layout "((4,2),2):((1,4),2)", tiler = { 4, 4 } }

--  partition, its name, part, extents
local CASES = {
  { MMA, "TiledMMA 128x128x64, 256 threads", "A", { 128, 64 } },
  { MMA, "TiledMMA 128x128x64, 256 threads", "C", { 128, 128 } },
  { MMA, "TiledMMA 128x128x64, 256 threads", "A", { 65536, 65536 } },
  { MMA, "TiledMMA 128x128x64, 256 threads", "B", { 65536, 65536 } },
  { MMA, "TiledMMA 128x128x64, 256 threads", "C", { 65536, 65536 } },
  { MMA, "TiledMMA 128x128x64, 256 threads", "C", { 65535, 65533 } },
  { WGMMA, "TiledMMA of wgmma, 256 threads", "C", { 65536, 65536 } },
  { COPY, "TiledCopy 32x64, 256 threads", "D", { 128, 128 } },
  { COPY, "TiledCopy 32x64, 256 threads", "D", { 65536, 65536 } },
  { COPY, "TiledCopy 32x64, 256 threads", "D", { 65535, 65528 } },
  { TWICE, "broken, by hand", "D", { 65536, 65536 } },
}

local function extents(n) return ("%d x %d"):format(n[1], n[2]) end

local rows = { { "partition", "part", "tensor", "verdict", "us" } }
for _, case in ipairs(CASES) do
  local P, name, part, n = table.unpack(case)
  local A = layout(n, "right")
  local c = { start = function() tile.verify(P, A, part) end, finish = function() end }
  measure.run({ c }, ROUNDS, BATCH)
  local v = tile.verify(P, A, part)
  local said = v.ok and "proven" or v.problem
  if v.ok and v.broadcast > 1 then said = said .. ", by " .. v.broadcast end
  if v.predicated > 0 then said = said .. ", ragged" end
  rows[#rows + 1] = { name, part, extents(n), said, ("%.1f"):format(c.time * 1e6) }
end

print "Proofs of partitions: one call of tile.verify from Lua\n"
measure.print(rows)
