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

  -- Larger than the caches: they go past them, in lines, whatever the rows begin with.
  local SIZES = { u8 = 1, f16 = 2, f32 = 4, f64 = 8 }
  local function large(dtype, extents, strides, offset, more)
    local cpu, n = tile.device { "cpu", threads = 1 }, 1
    for _, e in ipairs(extents) do n = n * e end
    local A, P = tile.tensor(dtype, tile.layout(n), cpu), tile.tensor(dtype, tile.layout(509), cpu)
    local times = tile.layout { 509, n // 509 }
    local B = tile.tensor(dtype, tile.layout(n + 2 * more), cpu):fill(0)
    for k = 0, 508 do P:set(1 + k % 127, k) end
    tile.copy(P:view(tile.layout({ 509, n // 509 }, { 1, 0 })), A:view(times))
    local L = tile.layout(extents, strides)
    local plan = tile.plan(A:view(L, offset), B:view(tile.layout(extents), more))
    plan()
    for k = 0, n - 1, random(3, 9) do
      if B(k + more) ~= A(L(k) + offset) then error(("at %d\n%s"):format(k, plan)) end
    end
    for k = 0, more - 1 do assert.equal(0, B(k) + B(n + more + k)) end
    return plan
  end

  it("and rows go past the caches where they are many", function()
    for _, dtype in ipairs { "u8", "f16", "f32", "f64" } do
      local least = (2 << 20) // SIZES[dtype]
      local row = random(1100, 5000) // SIZES[dtype] + 1
      local many = least // row + 2
      large(dtype, { row, many }, { -1, row }, row - 1, random(0, 70))
      large(dtype, { row, many }, { 1, -row }, row * (many - 1), random(0, 70))
      large(dtype, { 3, least // 3 + 1 }, { -1, 3 }, 2, random(0, 70))
    end
  end)
end)
