-- convolution.lua [device]: a 3x3 convolution is a product over a layout that overlaps itself.
-- SPDX-License-Identifier: MIT
--
-- The matrix that im2col is known for has a row for each position and a column for each tap
-- and channel: nine times the image. As a layout it takes no memory: the steps of the
-- positions and of the taps are the same strides twice.

local tile = require "moontile"
local layout = tile.layout

local N, H, W, C, K = 2, 10, 12, 8, 16          -- images, rows, columns, channels, filters
local device = assert(tile.device(arg[1]))

-- Small integers, so that sums are exact.
local function numbers(A, step)
  local values = {}
  for i = 1, A:size() do values[i] = i * step % 7 - 3 end
  return assert(tile.tensor("f32", A, device)):fill(values)
end

-- ---- padding is memory: the image lies in the middle of zeros

local padded = assert(tile.tensor("f32", layout({ N, H + 2, W + 2, C }, "right"), device))
local image = numbers(layout({ N, H, W, C }, "right"), 5)
local inner = padded:view(layout({ N, H, W, C }, padded:stride()), padded:layout()(0, 1, 1, 0))
tile.copy(image, inner)

-- ---- the matrix that is not there

local columns = tile.im2col(padded, { 3, 3 })                    -- ((N,(P,Q)),((R,S),C))
local filters = numbers(layout({ K, { { 3, 3 }, C } }, { 1, { { K, 3 * K }, 9 * K } }), 3)
print("image    " .. tostring(padded))
print("im2col   " .. tostring(columns))
print(("         %d elements seen in the place of %d"):format(columns:size(), padded:size()))
print("filters  " .. tostring(filters))

-- ---- the convolution: positions by filters

local rows = columns:shape()[1]                                  -- (N,(P,Q))
local out = assert(tile.tensor("f32",                            -- NHWC again, rows first
                   layout({ rows, K }, { { H * W * K, { W * K, K } }, 1 }), device))
local plan = assert(tile.plan_gemm(columns, filters, out))
print("\n" .. tostring(plan))
plan()

-- The same by a described product: 16x16 threads.
local described = assert(tile.tensor("f32", out:layout(), device))
tile.gemm(tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 16, 16 } },
          columns, filters, described)
device:synchronize()

-- Each second position, by stride; taps two apart, by dilation: other strides, nothing else.
print("\nstride 2    " .. tostring(tile.im2col(padded, 3, 0, 0, 2):layout()))
print("dilation 2  " .. tostring(tile.im2col(padded, 3, 0, 0, 1, 2):layout()))

-- ---- the definition

local x, f, y, z = padded:to "cpu", filters:to "cpu", out:to "cpu", described:to "cpu"
local checked = 0
for k = 0, K - 1, 5 do for q = 0, W - 1 do for p = 0, H - 1, 3 do for n = 0, N - 1 do
  local sum = 0
  for c = 0, C - 1 do
    for s = 0, 2 do for r = 0, 2 do
      sum = sum + x(n, p + r, q + s, c) * f(k, { { r, s }, c })
    end end
  end
  assert(y({ n, { p, q } }, k) == sum and z({ n, { p, q } }, k) == sum)
  checked = checked + 1
end end end end
print(("\n3x3 on %s: %d of %d elements compared, all right"):format(device, checked, out:size()))
