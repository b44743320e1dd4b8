-- copy.lua: copies on the GPU against cuMemcpyDtoDAsync; launch.lua has the cost of a launch.
-- SPDX-License-Identifier: MIT
--
-- Random data; buffers take turns so that no cache holds them; contestants take turns;
-- each sample is a batch of launches and one synchronization, for both alike; medians are
-- shown. GB/s count what is read and what is written. The ratio is memcpy's time by ours,
-- for the same number of bytes moved: beside a copy that converts, which reads r bytes and
-- writes w, stands a memcpy of (r + w) / 2 bytes, so that it reads and writes r + w in all.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local copies = dofile(here .. "lib/copies.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BATCH = 15, 4e-3
local MiB = 1 << 20

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

local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

local function measure_case(name, bytes, make)
  local plans = {}
  for k = 1, turns(bytes) do plans[k] = assert(make(new)) end
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
for _, case in ipairs(copies.cases) do
  rows[#rows + 1] = measure_case(table.unpack(case))
  collectgarbage()
end
measure.print(rows)
