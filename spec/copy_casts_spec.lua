-- copy_casts_spec.lua: copies that convert on the CPU, large and transposed, against the reference.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local contents = dofile "bench/lib/contents.lua"
local random = math.random
local DTYPES = tile.dtypes()
local VALUES = { 0, -0.0, 1, 0.5, 2.5, -3, 100, 255, 256, -129, 65504, 65520, 1e-7, 3e-39, 2^31,
                 -2^63, 2^64, 1e300, math.huge, -math.huge, 0 / 0 }

local function some_values(dtype, n)
  local list, floats = {}, dtype:find "^b?f%d" or dtype:find "^e%d"
  for k = 1, n do
    local v = random(3) == 1 and VALUES[random(#VALUES)] or random() * 600 - 300
    list[k] = floats and v or dtype == "bool" and random(0, 1) or random(0, 127)
  end
  return list
end

-- A tensor that repeats them.
local function filled(dtype, n, device)
  local T = tile.tensor(dtype, tile.layout(n), device)
  local few = math.min(n, 509)
  local part = tile.tensor(dtype, tile.layout(few), device):fill(some_values(dtype, few))
  for at = 0, n - 1, few do
    local some = tile.layout(math.min(few, n - at))
    tile.copy(part:view(some), T:view(some, at))
  end
  return T
end

-- Strides of extents in this order; the first with this one.
local function strides_of(extents, order, first, pad)
  local stride, at = {}, first
  for _, k in ipairs(order) do stride[k], at = at, at * extents[k] + pad end
  return stride, at
end

describe("conversions on the CPU", function()
  local cpu, checked = tile.device { "cpu", threads = 2 }, tile.device "cpu:checked"

  local function compare(from, to, e, order, sparse, pad, turned)
    local src, n = strides_of(e, order, sparse, pad)
    local dst, m = strides_of(e, { 1, 2, 3 }, 1, pad)
    local offset = 0
    if turned then src[turned], offset = -src[turned], src[turned] * (e[turned] - 1) end
    local A, got = filled(from, n, cpu), filled(to, m, cpu)
    local want = got:to(checked)
    tile.copy(A:view(tile.layout(e, src), offset), got:view(tile.layout(e, dst)))
    tile.copy(A:to(checked):view(tile.layout(e, src), offset), want:view(tile.layout(e, dst)))
    if contents(got) ~= contents(want) then
      error(("%s to %s: %s, %s to %s"):format(from, to, tile.layout(e), tile.layout(e, src),
                                             tile.layout(e, dst)))
    end
  end

  it("are those of the reference, transposed, backwards and with gaps", function()
    for _ = 1, 120 do
      local from, to = DTYPES[random(#DTYPES)], DTYPES[random(#DTYPES)]
      local order = ({ { 2, 1, 3 }, { 3, 2, 1 }, { 2, 3, 1 }, { 3, 1, 2 }, { 1, 3, 2 } })[random(5)]
      compare(from, to, { random(1, 70), random(1, 70), random(1, 3) }, order,
              random(4) == 1 and 2 or 1, random(0, 3), random(3) == 1 and random(3) or nil)
    end
  end)

  it("are those of the reference where the destination fits no cache", function()
    for _, pair in ipairs { { "f32", "f16" }, { "u8", "f64" }, { "f64", "f32" } } do
      compare(pair[1], pair[2], { 1100003, 1, 1 }, { 1, 2, 3 }, 1, 0, nil)
      compare(pair[1], pair[2], { 1021, 1031, 1 }, { 2, 1, 3 }, 1, random(0, 1), nil)
    end
  end)
end)
