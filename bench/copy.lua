-- copy.lua: copies on the GPU against cuMemcpyDtoDAsync, and the cost of a launch.
-- SPDX-License-Identifier: MIT
--
-- Random data; buffers take turns so that no cache holds them; contestants take turns;
-- each sample is a batch of launches and one synchronization, for both alike; medians are
-- shown. GB/s count what is read and what is written.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BATCH = 15, 4e-3
local MiB, GiB = 1 << 20, 1 << 30

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("copy: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

-- How many pairs of buffers it takes to be far beyond any cache.
local function turns(bytes) return math.max(1, (512 * MiB) // (2 * bytes)) end

-- A contestant that calls its plans in turn.
local function planned(plans)
  local k = 0
  return { start = function() k = k % #plans + 1; plans[k]() end,
           finish = function() device:synchronize() end }
end

local function right(...) return tile.layout({ ... }, "right") end
local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

-- A case makes one plan; it is asked for as many as there are turns.
local function flat(dtype, n)
  local A = tile.layout(n)
  return function() return tile.plan(new(dtype, A), new(dtype, A)) end
end

local function described(dtype, M, N, atom, thr, val)
  return function()
    local copy = tile.tiled_copy{ atom = atom, dtype = dtype, thr = thr, val = val }
    return tile.plan(copy, new(dtype, right(M, N)), new(dtype, right(M, N)))
  end
end

local function transposed(dtype, bits, M, N)
  return function()
    local copy = bits and tile.tiled_copy{
      atom = ("UniversalCopy<uint%d_t>"):format(bits), dtype = dtype,
      thr = tile.layout({ 32, 8 }, { 1, 32 }), val = tile.layout{ 1, 128 // bits } }
    local src, dst = new(dtype, right(M, N)), new(dtype, right(N, M)):select(2, 1)
    if copy then return tile.plan(copy, src, dst) end
    return tile.plan(src, dst)
  end
end

local vector = "UniversalCopy<uint128_t>"
local rows8 = tile.layout({ 32, 8 }, { 8, 1 })
local T = transposed
local cases = {
  { "contiguous 1 GiB",                    GiB,             flat("f32", GiB // 4) },
  { "contiguous 64 MiB",                   64 * MiB,        flat("f32", 16 * MiB) },
  { "row-major f32 8192^2, described",     256 * MiB,
    described("f32", 8192, 8192, vector, rows8, tile.layout{ 1, 4 }) },
  { "row-major f16 8192^2, described",     128 * MiB,
    described("f16", 8192, 8192, vector, rows8, tile.layout{ 1, 8 }) },
  { "transpose f32 8192^2, described",     256 * MiB,       T("f32", 32, 8192, 8192) },
  { "transpose f32 8192^2, chosen",        256 * MiB,       T("f32", nil, 8192, 8192) },
  { "transpose f32 8191x4099, described",  4 * 8191 * 4099, T("f32", 32, 8191, 4099) },
  { "transpose f16 8192^2, described",     128 * MiB,       T("f16", 16, 8192, 8192) },
  { "transpose u8 8191x4099, described",   8191 * 4099,     T("u8", 8, 8191, 4099) },
}

local function measure_case(name, bytes, make)
  local plans = {}
  for k = 1, turns(bytes) do plans[k] = assert(make()) end
  local pairs_of_buffers <close> = cuda:pairs(bytes, turns(bytes))
  local ours = planned(plans)
  local peer = { start = pairs_of_buffers, finish = function() cuda:synchronize() end }
  measure.run({ ours, peer }, ROUNDS, BATCH)
  return { name, measure.kernel(plans[1]), ("%.1f"):format(ours.time * 1e6),
           measure.gigabytes(bytes, ours.time), ("%.1f"):format(peer.time * 1e6),
           measure.gigabytes(bytes, peer.time), ("%.3f"):format(peer.time / ours.time),
           ("%.1f %%"):format(100 * math.max(ours.spread, peer.spread)) }
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
local head = { "copy", "kernel", "us", "GB/s", "memcpy us", "GB/s", "ratio", "spread" }
local rows = { head }
for _, case in ipairs(cases) do
  rows[#rows + 1] = measure_case(table.unpack(case))
  collectgarbage()
end
measure.print(rows)

-- Launches of a copy of 4 KiB by a plan in a loop, and of an empty kernel with a
-- parameter of the same size by cuLaunchKernel in a loop of C: until they are queued, not
-- until they are done.
local LAUNCHES = 200
local small = described("f32", 32, 32, vector, rows8, tile.layout{ 1, 4 })
local plan = assert(small())
local from_lua, bare = {}, {}
for _ = 1, 101 do
  local t = bench.now()
  for _ = 1, LAUNCHES do plan() end
  from_lua[#from_lua + 1] = (bench.now() - t) / LAUNCHES
  device:synchronize()
  bare[#bare + 1] = cuda:launch(LAUNCHES) / LAUNCHES
  cuda:synchronize()
end
table.sort(from_lua)
table.sort(bare)
local a, b = from_lua[51] * 1e6, bare[51] * 1e6
print(("\na launch: plan() %.2f us, cuLaunchKernel alone %.2f us, difference %.2f us")
      :format(a, b, a - b))
