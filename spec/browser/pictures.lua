-- pictures.lua: writes the pages that spec/browser/pictures.js looks at into a folder; or, with
-- "latex" behind it, the documents that spec/browser/latex.sh compiles.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._
local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                             permutation = { _, 32 } }

local PICTURES = {
  sm80 = { "SM80_16x8x16_F32F16F16F32_TN" },
  sm90 = { "SM90_64x64x16_F32F16F16_SS" },
  swizzled = { tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f16") },
  copy = { tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                             thr = layout({ 32, 8 }, "right"), val = layout { 1, 8 } } },
  ldmatrix = { "SM75_U32x4_LDSM_N" },
  hierarchy = { layout { { 2, 2, 2 }, { 2, 2, 2 } } },
  coordinates = { layout { 4, { 2, 2, 2 } }, { by = "coordinate" } },
  slice = { layout { 8, 8 }, { slice = { 2, _ }, tile = { 4, 2 } } },
  banks = { layout(32, 32), { banks = "f32" } },
  stages = { tile.kernel { mma = mma, tile = { 128, 128, 64 }, stages = 3 } },
  costs = { tile.plan(tile.tensor("f32", layout { 64, 64 }),
                      tile.tensor("f32", layout({ 64, 64 }, "right"))) },
  thread = { mma, { thread = 14, part = "C" } },
  far = { layout({ 4, 4 }, { 123456789012, 7 }) },
}

local way, ending = arg[2] or "html", arg[2] == "latex" and ".tex" or ".html"
if way == "latex" then         -- they take a second each
  for _, name in ipairs { "copy", "ldmatrix", "coordinates", "thread", "stages", "far" } do
    PICTURES[name] = nil
  end
end
for name, p in pairs(PICTURES) do
  local file = assert(io.open(arg[1] .. "/" .. name .. ending, "w"))
  file:write(tile[way](p[1], p[2]))
  file:close()
end
