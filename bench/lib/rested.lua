-- rested.lua: contestants that begin rested, in turn: 20 ms of idling, one call that does not
-- count, then a batch of about 2 ms, and one synchronization. Back to back products reach the
-- power limit within tens of ms, and clocks fall.
-- SPDX-License-Identifier: MIT

local measure = ...
local now = measure.bench.now
local rested = {}

local BATCH, REST = 2e-3, 20e-3

local function sleep(seconds)
  local till = now() + seconds
  while now() < till do end
end

-- Seconds of a call in a batch.
function rested.sample(c)
  sleep(REST)
  c.start()
  c.finish()
  local t = now()
  for _ = 1, c.calls do c.start() end
  c.finish()
  return (now() - t) / c.calls
end

-- How many calls make a batch.
function rested.prepare(c)
  c.calls = 4
  c.calls = math.max(1, math.min(400, math.ceil(BATCH / rested.sample(c))))
  c.samples = {}
  return c
end

function rested.median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- A contestant that takes the plans of a list in turn.
function rested.in_turn(list, finish)
  local k = 0
  return { start = function() k = k % #list + 1; list[k]() end, finish = finish }
end

-- `rounds` samples of each, in turn.
function rested.run(contestants, rounds)
  for _, c in ipairs(contestants) do rested.prepare(c) end
  for _ = 1, rounds do
    for _, c in ipairs(contestants) do c.samples[#c.samples + 1] = rested.sample(c) end
  end
  return contestants
end

return rested
