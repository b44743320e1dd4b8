-- CuTe's tutorial tiled_copy_if: a tensor of 528 x 300, which tiles of 128 x 64 overhang, copied by
-- a tiled copy whose predicate comes from coordinates:
--   moontile examples/cute/tiled_copy_if.lua [M N]
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local M, N = tonumber(arg and arg[1]) or 528, tonumber(arg and arg[2]) or 300

local numbers = {}
for i = 1, M * N do numbers[i] = i end
local S = tile.tensor("f32", layout { M, N }):fill(numbers)
local D = tile.tensor("f32", layout { M, N })

-- 32 x 8 threads, each with 4 x 1 values
local thr, val = layout { 32, 8 }, layout { 4, 1 }
local copy = tile.make_tiled_copy("UniversalCopy<uint32_t>", thr, val, "f32")
print(copy)

-- Beside the data lie the coordinates: the identity tensor is cut as the data are.
local I = tile.make_identity_layout { M, N }
local block = { 128, 64 }
local blocks = tile.ceil_div({ M, N }, block)
local moved = 0
for m = 0, blocks[1] - 1 do
  for n = 0, blocks[2] - 1 do
    local gS, gD = S:local_tile(block, { m, n }), D:local_tile(block, { m, n })
    local cD, corner = I:local_tile(block, { m, n })
    local real = gD:predicate()
    tile.copy {
      copy = copy, src = gS, dst = gD,
      pred = function(i)
        local inside = corner + cD(i) < { M, N }
        assert(inside == (real(i) == 1))
        if inside then moved = moved + 1 end
        return inside
      end,
    }
  end
end

local values = D:totable()
for i = 1, M * N do assert(values[i] == i) end
assert(moved == M * N)
print(("%d x %d in %s blocks: %d elements moved, each once"):format(M, N, blocks, moved))
