-- staging.lua [threads]: copies between the host and a GPU, against the driver's own of the bytes.
-- SPDX-License-Identifier: MIT
--
-- The peers are cuMemcpyHtoDAsync and cuMemcpyDtoHAsync of as many bytes in one run, from
-- page-locked memory and from any memory of the host's; moontile's tensors are in any
-- memory. Contestants take turns, each call waits for its end; medians are shown. GB/s
-- count a byte once.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BATCH = 11, 100e-3
local MiB = 1 << 20
local threads = tonumber(arg[1]) or bench.processors()

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("staging: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end
local host = assert(tile.device{ "cpu", threads = threads })

local function right(...) return tile.layout({ ... }, "right") end
local function left(...) return tile.layout{ ... } end

-- Name, dtype, layouts on the host and on the device.
local CASES = {
  { "contiguous 256 MiB", "f32", tile.layout(64 * MiB), tile.layout(64 * MiB) },
  { "contiguous 16 MiB", "f32", tile.layout(4 * MiB), tile.layout(4 * MiB) },
  { "contiguous 4 MiB", "f32", tile.layout(MiB), tile.layout(MiB) },
  { "contiguous 1 MiB", "f32", tile.layout(MiB // 4), tile.layout(MiB // 4) },
  { "transposed f32 8192x8192", "f32", right(8192, 8192), left(8192, 8192) },
  { "transposed u8 8191x4099", "u8", right(8191, 4099), left(8191, 4099) },
  { "pitch f32 8192x8000 of 8192", "f32", tile.layout({ 8192, 8000 }, { 8192, 1 }),
    right(8192, 8000) },
  { "rows of 125 f32 of 128", "f32", tile.layout({ 512 * 1024, 125 }, { 128, 1 }),
    right(512 * 1024, 125) },
  { "every other f32 of 512 MiB", "f32", tile.layout(64 * MiB, 2), tile.layout(64 * MiB) },
  { "every other f32 of 128 MiB", "f32", tile.layout(16 * MiB, 2), tile.layout(16 * MiB) },
  { "pitch on both sides, transposed", "f32", tile.layout({ 4096, 4000 }, { 4096, 1 }),
    tile.layout({ 4096, 4000 }, { 1, 4160 }) },
}

local function contestant(f) return { start = f, finish = function() end } end
local function gigabytes(bytes, t) return ("%.1f"):format(bytes / t * 1e-9) end

local head = { "copy", "way", "kernels", "ms", "GB/s", "locked GB/s", "ratio",
               "driver, any memory, GB/s", "times" }
local rows = { head }

local function measure_way(name, way, plan, bytes, locked, any)
  local all = { contestant(plan), contestant(function() locked[way](locked) end),
                contestant(function() any[way](any) end) }
  measure.run(all, ROUNDS, BATCH)
  local ours, a, b = all[1].time, all[2].time, all[3].time
  rows[#rows + 1] = { name, way, tostring(plan):match "kernel: ([^\n]*)" or "?",
                      ("%.3f"):format(ours * 1e3), gigabytes(bytes, ours), gigabytes(bytes, a),
                      ("%.3f"):format(a / ours), gigabytes(bytes, b), ("%.2f"):format(b / ours) }
end

for _, case in ipairs(CASES) do
  local name, dtype, A, B = table.unpack(case)
  local here_, there = tile.tensor(dtype, A, host):fill(1), tile.tensor(dtype, B, device)
  local bytes = A:size() * here_:itemsize()
  local locked <close> = cuda:run(bytes, true)
  local any <close> = cuda:run(bytes, false)
  measure_way(name, "up", assert(tile.plan(here_, there)), bytes, locked, any)
  measure_way(name, "down", assert(tile.plan(there, here_)), bytes, locked, any)
  here_:free()
  there:free()
end

print(("moontile %s\n%s\n%s\n"):format(tile._VERSION, device:about(), host:about()))
measure.print(rows)
