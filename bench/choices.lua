-- choices.lua [COUNT [PATTERN [SEED]]]: kernels chosen unmeasured, against all that could do it.
-- SPDX-License-Identifier: MIT
--
-- The copies of copy.lua whose names contain PATTERN, and COUNT random permutations. Each is
-- planned; then its ways take turns, between the same buffers: batches of launches and one
-- synchronization, buffers in turn as in copy.lua, medians. "tuned" is what tile.tune finds.
-- Copies that have one way only are left out.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local copies = dofile(here .. "lib/copies.lua")
local measured = dofile(here .. "lib/measured.lua")
local tile = require "moontile"
local bench = measure.bench

local COUNT, PATTERN = tonumber(arg[1]) or 0, arg[2] or ""
local SEED, LEAST = tonumber(arg[3]) or 20261121, 128 << 20
local ROUNDS, BATCH, NEAR = 9, 2e-3, 1.05

local device, why = tile.device "cuda"
if not device then
  print("choices: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

local function turns(bytes) return math.max(1, (512 << 20) // (2 * bytes)) end

local forget = tile.forget_tuning

-- ---- measuring

-- Seconds of one of n launches.
local function sample(plans, way, n)
  for _, plan in ipairs(plans) do plan:take(way.kernel, way.vector) end
  plans[1]()
  device:synchronize()
  local t = bench.now()
  for i = 1, n do plans[i % #plans + 1]() end
  device:synchronize()
  return (bench.now() - t) / n
end

local function median(samples)
  table.sort(samples)
  return samples[(#samples + 1) // 2]
end

-- Sets way.time.
local function measure_ways(plans, ways)
  local samples, calls = {}, {}
  for k, way in ipairs(ways) do
    samples[k], calls[k] = {}, math.max(1, math.ceil(BATCH / sample(plans, way, 3)))
  end
  for round = 1, ROUNDS do
    for k, way in ipairs(ways) do samples[k][round] = sample(plans, way, calls[k]) end
  end
  for k, way in ipairs(ways) do way.time = median(samples[k]) end
end

-- Those that are possible, and which of them was chosen.
local function ways_of(plan)
  local found, chosen = {}, nil
  for _, way in ipairs(plan:why()) do
    if way.possible then found[#found + 1] = way end
    if way.chosen then chosen = way end
  end
  return found, chosen
end

local function fastest(ways)
  local best = ways[1]
  for _, way in ipairs(ways) do if way.time < best.time then best = way end end
  return best
end

-- What tile.tune takes, among the ways.
local function tuned(plan, ways)
  local _, all = assert(tile.tune(plan))
  for _, found in ipairs(all) do
    for _, way in ipairs(found.chosen and ways or {}) do
      if way.kernel == found.kernel and way.vector == found.vector then return way end
    end
  end
end

-- ---- tables

local function micro(seconds) return ("%.1f"):format(seconds * 1e6) end
local function name_of(way) return ("%s %d"):format(way.kernel, way.vector) end

local planner = bench.planner "cpu:checked"      -- it knows the tiles of ways

local function say(case, chosen, others)
  local tiles = measured.tiles(planner, case)
  print(case[1])
  for _, way in ipairs(others) do
    local shape = tiles[way.algorithm .. way.vector]
    print(("  %-22s predicted %8.1f us, measured %8.1f us%s%s"):format(
      name_of(way), way.predicted, way.time * 1e6, shape and " of " .. shape or "",
      way == chosen and "  chosen" or ""))
  end
end

local head = { "copy", "chosen", "predicted us", "us", "fastest", "us", "chosen / fastest",
               "tuned / fastest" }
local rows, near, near_tuned = { head }, 0, 0

local function measure_case(case)
  local name, bytes, make = table.unpack(case)
  local plans = {}
  forget()
  plans[1] = assert(make(new))
  local ways, chosen = ways_of(plans[1])
  if #ways < 2 then return end
  for k = 2, turns(bytes) do plans[k] = assert(make(new)) end
  measure_ways(plans, ways)
  local best, found = fastest(ways), tuned(plans[1], ways)
  local ratio, late = chosen.time / best.time, found.time / best.time
  near, near_tuned = near + (ratio <= NEAR and 1 or 0), near_tuned + (late <= NEAR and 1 or 0)
  rows[#rows + 1] = { name, name_of(chosen), ("%.1f"):format(chosen.predicted),
                      micro(chosen.time), name_of(best), micro(best.time),
                      ("%.3f"):format(ratio), ("%.3f"):format(late) }
  say(case, chosen, ways)
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
for _, case in ipairs(copies.cases) do
  if case[1]:find(PATTERN, 1, true) then measure_case(case) end
  collectgarbage()
end
math.randomseed(SEED)
for _ = 1, COUNT do
  measure_case(copies.random(LEAST))
  collectgarbage()
end
print()
measure.print(rows)
print(("\nwithin 5 %% on %d of %d; tuned: on %d of %d"):format(near, #rows - 1, near_tuned,
                                                               #rows - 1))
