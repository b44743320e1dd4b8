-- copy_shuffles_spec.lua: copies on the CPU whose vectors are put together from anywhere.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local random = math.random

local EXTENTS = { 2, 3, 4, 5, 7, 8, 11, 16, 17 }

-- Extents, and strides of them in a random order, some backwards: of these the offset.
local function random_view()
  local rank, e, order, stride = random(2, 4), {}, {}, {}
  for k = 1, rank do e[k], order[k] = EXTENTS[random(#EXTENTS)], k end
  for k = rank, 2, -1 do
    local j = random(k)
    order[k], order[j] = order[j], order[k]
  end
  local size, offset = 1, 0
  for _, k in ipairs(order) do stride[k], size = size, size * e[k] end
  for k = 1, rank do
    if random() < 0.3 then
      offset, stride[k] = offset + stride[k] * (e[k] - 1), -stride[k]
    end
  end
  return e, stride, size, offset
end

describe("shuffles of bytes on the CPU", function()
  it("bring each unit where it belongs, forwards and backwards", function()
    local cpu = tile.device { "cpu", threads = 1 }
    local shuffled = 0
    for _ = 1, 300 do
      local e, stride, size, offset = random_view()
      if size <= 8000 then
        local dtype = ({ "u8", "u16", "u32", "f64" })[random(4)]
        local A = tile.tensor(dtype, tile.layout(size), cpu)
        local B = tile.tensor(dtype, tile.layout(size), cpu)
        for k = 0, size - 1 do A:set((k * 37 + k // 256) % 251, k) end
        local plan = tile.plan(A:view(tile.layout(e, stride), offset), B:view(tile.layout(e)))
        plan()
        local L = tile.layout(e, stride)
        for k = 0, size - 1 do
          if B(k) ~= A(L(k) + offset) then error(("at %d\n%s"):format(k, plan)) end
        end
        shuffled = shuffled + (tostring(plan):find "cpu_gather" and 1 or 0)
        plan:free()
      end
    end
    assert.is_true(shuffled > 100)
  end)
end)
