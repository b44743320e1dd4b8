-- work.lua: operations of one of many threads, each VM for itself; `lent` is memory that all of
-- them read. work(n) does n operations on the device and returns how many were right.
-- SPDX-License-Identifier: MIT
-- luacheck: globals tile device lent own work

local layout, d = tile.layout, assert(tile.device(device))
local A, B = tile.tensor("f32", layout{ 4, 8 }, d), tile.tensor("f32", layout({ 4, 8 }, "right"), d)
local C = tile.tensor("f32", layout{ 4, 4 }, d)
local plan = assert(tile.plan(A, B))
local stream = d:stream()

local operations = {
  function(i)
    return tostring(layout(20, 2) * layout{ i % 4 + 1, 5 }) ~= ""
  end,
  function(i)
    return #(layout(24 * i, 2) / layout(4, 2)) == 2
  end,
  function(i)
    A:fill(i % 100)
    plan()
    d:synchronize()
    return B(3, 7) == i % 100
  end,
  function(i)
    A:fill(i % 10)
    tile.copy(A, B, stream)
    stream:synchronize()
    return B(1, 2) == i % 10
  end,
  function(i)
    A:fill(i % 10)
    B:fill(2)
    tile.gemm(A, B, C)
    d:synchronize()
    return C(1, 2) == 16 * (i % 10)
  end,
  function(i)
    return lent(i % 8, i % 4) == i % 8 + 8 * (i % 4)
  end,
  function(i)
    local T = tile.tensor("f32", layout{ 8, 4 }, d)
    tile.copy(lent, T)
    d:synchronize()
    return T(i % 8, 3) == i % 8 + 24
  end,
  function()
    return tile.verify(tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }, layout{ 16, 8 }).ok
  end,
}

-- The rarer the longer they take: described products, plans and devices that come and go.
local function rare(i)
  local device_of_its_own = assert(tile.device{ device, piece = 1 << 16 })
  local T = tile.tensor("f32", layout(i % 50 + 1), device_of_its_own):fill(i)
  return T(i % 50) == i
end

function work(n, from)
  local right = 0
  for i = from + 1, from + n do
    local f = i % 1000 == 0 and rare or operations[i % #operations + 1]
    if f(i) then right = right + 1 end
  end
  return right
end
