-- picture_pipeline_spec.lua: the picture of a kernel's stages says what the proof of their order
-- says.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local read = dofile "spec/picture/read.lua"
local layout, _ = tile.layout, tile._

local warps = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                               permutation = { _, 32 } }
local function kernel_of(stages, ahead)
  return tile.kernel { mma = warps, tile = { 64, 64, 32 }, stages = stages, ahead = ahead }
end
local group = tile.tiled_mma { atom = "SM90_64x64x16_F32BF16BF16_SS" }

-- What each step does: { used = { tile = stage }, filled = { [tile] = stage } }, and the cells in
-- which both happen.
local function steps_of(kernel)
  local steps, both = {}, 0
  for _, cell in ipairs(read.panels(tile.svg(kernel))[1]) do
    local step = cell.column - 1
    steps[step] = steps[step] or { used = {}, filled = {} }
    for _, label in ipairs(cell.labels) do
      local what, n = label:match "^(%a+) (%d+)$"
      steps[step][what == "fill" and "filled" or "used"][tonumber(n)] = cell.row
    end
    if #cell.labels == 2 then both = both + 1 end
  end
  return steps, both
end

local function count(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- A k-tile lies in one stage, is filled in all steps between its beginning and its use, and used in
-- its own.
local function check(kernel, stages, begin_of)
  local steps = steps_of(kernel)
  for step = 0, #steps do
    assert.equal(1, count(steps[step].used))
    assert.equal(step % stages, steps[step].used[step])
    for t = step + 1, #steps do
      local is_filled = steps[step].filled[t] ~= nil
      assert.equal(begin_of(t) <= step, is_filled)
      if is_filled then assert.equal(t % stages, steps[step].filled[t]) end
    end
  end
end

describe("the stages of a kernel", function()
  for stages = 2, 5 do
    it(("by all threads, %d of them, are filled ahead"):format(stages), function()
      for ahead = 1, stages - 1 do
        check(kernel_of(stages, ahead), stages,
              function(t) return t < ahead and -1 or t - ahead end)
      end
    end)

    for _, schedule in ipairs { "cooperative", "pingpong" } do
      it(("by a producer, %s, %d of them, are filled when they are free"):format(schedule, stages),
         function()
        local kernel = tile.kernel { mma = group, tile = { 64, 64, 64 }, stages = stages,
                                     schedule = schedule }
        check(kernel, stages, function(t) return t < stages and -1 or t - stages + 1 end)
      end)
    end
  end

  it("hold two k-tiles at once where the proof says so", function()
    for stages = 2, 4 do
      for ahead = 1, stages do
        local kernel = kernel_of(stages, ahead)
        local _, both = steps_of(kernel)
        assert.equal(tile.verify(kernel).problem == "order", both > 0)
      end
    end
  end)
end)
