-- chosen.lua [RUN]: how well today's costs choose among the ways of copies that were measured.
-- SPDX-License-Identifier: MIT
--
-- RUN is what views.lua printed with ways=1 (views_h200.txt: those that costs were fitted to). Its
-- first line says which random views they are. Each is planned anew, without a GPU: the device
-- "cpu:checked" predicts as a GPU does. For each algorithm: how many ways, predicted / measured
-- (geometric mean, the worst either way), how many are within 10 %. Then how often the way that is
-- chosen now is within 5 % of the fastest, and beyond 1.3 times.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local views = dofile(here .. "lib/views.lua")
local tile = require "moontile"
local run = arg[1] or here .. "views_h200.txt"

-- Views by name -> kernel of a GPU -> microseconds; the seed of the random ones.
local measured, seed, count = {}, nil, 0
for line in io.lines(run) do
  seed = seed or line:match "random views of seed (%d+)"
  local name = line:match "^(%w[%w ]*: .*)$"
  local kernel, us = line:match "^  copy_(%S+) %d+ predicted [%d.]+ us, measured ([%d.]+) us"
  if kernel then measured[count][kernel] = tonumber(us)
  elseif name then
    count = count + 1
    measured[count] = { name = name }
  end
end

-- Of each type and side one buffer, which is never written: plans are not run.
local buffers = {}
local function tensor(view, side)
  local first, n = views.span(view.extents, view[side])
  local key = view.dtype .. side
  if not buffers[key] or buffers[key]:size() < n then
    buffers[key] = tile.tensor(view.dtype, tile.layout(n), "cpu:checked")
  end
  return buffers[key]:view(tile.layout(view.extents, view[side]), first)
end

-- The kernel of a GPU that does what a way of "cpu:checked" does.
local function time_of(times, way)
  local bytes = way.vector
  local names = { way.algorithm .. "_b" .. bytes, way.algorithm .. "_x2_b" .. bytes,
                  bytes == 16 and "strided_x4" or "strided_u" .. 8 * bytes, "strided_u128" }
  for k = 1, way.algorithm == "strided" and 4 or 2 do
    if times[names[k]] and (k < 3) == (way.algorithm ~= "strided") then return times[names[k]] end
  end
end

local by, order = {}, {}
local function note(algorithm, ratio)
  local list = by[algorithm]
  if not list then
    list = {}
    by[algorithm], order[#order + 1] = list, algorithm
  end
  list[#list + 1] = ratio
end

local near, beyond, all = 0, 0, 0
local function judge(times, view)
  local plan = tile.plan(tensor(view, "src"), tensor(view, "dst"))
  local chosen, best
  for _, way in ipairs(plan:why()) do
    local us = way.possible and time_of(times, way)
    if us then
      note(way.algorithm, way.predicted / us)
      if way.chosen then chosen = us end
    end
  end
  for key, us in pairs(times) do
    if key ~= "name" and (not best or us < best) then best = us end
  end
  plan:free()
  if not chosen then return end
  all = all + 1
  near = near + (chosen <= 1.05 * best and 1 or 0)
  beyond = beyond + (chosen > 1.3 * best and 1 or 0)
end

math.randomseed(tonumber(seed))
local list = views.families(64 << 20)
for _ = #list + 1, count do list[#list + 1] = views.random(64 << 20) end
for k, view in ipairs(list) do
  view.dst = view.dst or views.compact(view.extents)
  assert(measured[k].name == view.family .. ": " .. view.name, "other views than those of today")
  judge(measured[k], view)
  collectgarbage()
end

local rows = { { "algorithm", "ways", "predicted / measured", "least", "most", "within 10 %" } }
for _, name in ipairs(order) do
  local ratios, sum, within = by[name], 0, 0
  table.sort(ratios)
  for _, r in ipairs(ratios) do
    sum, within = sum + math.log(r), within + (math.abs(r - 1) <= 0.1 and 1 or 0)
  end
  rows[#rows + 1] = { name, #ratios, ("%.3f"):format(math.exp(sum / #ratios)),
                      ("%.2f"):format(ratios[1]), ("%.2f"):format(ratios[#ratios]), within }
end
measure.print(rows)
print(("\nchosen within 5 %% of the fastest: %d of %d; beyond 1.3 times: %d")
      :format(near, all, beyond))
