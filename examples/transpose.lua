-- transpose.lua [in.npy [out.npy [device]]]: a transpose described by its partition.
-- SPDX-License-Identifier: MIT
--
-- The order of the modes is reversed, as by NumPy's a.T. Nothing says how to loop: there
-- is a destination, seen with the shape of the source, and a partition of both among
-- threads. Without arguments the script makes its own input; without a device it takes
-- the first GPU, or the CPU.

local tile = require "moontile"

-- A row-major f32 matrix whose element (i, j) is 1000 i + j.
local function own_input()
  local M, N = 1024, 768
  local values = {}
  for j = 0, N - 1 do
    for i = 0, M - 1 do values[#values + 1] = 1000 * i + j end
  end
  return tile.tensor("f32", tile.layout({ M, N }, "right")):fill(values)
end

-- n, n-1, ..., 1
local function reversed(n)
  local modes = {}
  for i = n, 1, -1 do modes[#modes + 1] = i end
  return modes
end

-- 32 threads along the first mode, where the destination is contiguous, 8 along the last
-- one, where the source is; a thread has 16 bytes in a row of the source and moves them
-- one by one.
local function partition(rank, dtype, itemsize)
  local thr, stride, val = {}, {}, {}
  for i = 1, rank do thr[i], stride[i], val[i] = 1, 0, 1 end
  thr[rank], stride[rank], val[rank] = 8, 32, 16 // itemsize
  thr[1], stride[1] = 32, 1
  local atom = ("UniversalCopy<uint%d_t>"):format(8 * itemsize)
  return tile.tiled_copy{ atom = atom, dtype = dtype,
                          thr = tile.layout(thr, stride), val = tile.layout(val) }
end

-- Every element of `view` is the one of `src` at the same coordinate; both are read one
-- by one.
local function verify(src, view)
  local all, last = {}, src:shape()[#src]
  for i = 1, #src do all[i] = tile._ end
  for j = 0, last - 1 do
    all[#src] = j
    local a, b = src:slice(all):totable(), view:slice(all):totable()
    for i = 1, #a do
      if a[i] ~= b[i] and a[i] == a[i] then
        error(("element %d of slice %d is %s, not %s"):format(i - 1, j, b[i], a[i]))
      end
    end
  end
end

local input = arg[1] and assert(tile.load(arg[1])) or own_input()
local device = assert(tile.device(arg[3]))
local rank = #input
assert(rank >= 2, "transpose: an array with at least two modes expected")

local src = assert(input:to(device))
local shape = {}
for i, mode in ipairs(reversed(rank)) do shape[i] = src:shape()[mode] end
local dst = assert(tile.tensor(src:dtype(), tile.layout(shape, "right"), device))
local view = dst:select(reversed(rank))         -- the shape of src: (M,N):(1,M)

local copy = partition(rank, src:dtype(), src:itemsize())
local plan = assert(tile.plan(copy, src, view))
print(plan)
print()
plan()
device:synchronize()

local result = assert(dst:to "cpu")
verify(input, result:select(reversed(rank)))
if arg[2] then assert(result:save(arg[2])) end
print(("transposed %s %s to %s on %s: all %d elements are right"):format(
      src:dtype(), src:shape(), dst:shape(), device, src:size()))
