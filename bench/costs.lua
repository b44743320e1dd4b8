-- costs.lua RUN: how well costs of copies are predicted, by algorithm, and what would fit better.
-- SPDX-License-Identifier: MIT
--
-- RUN is what choices.lua printed on a GPU: every way of every copy, predicted and measured. For
-- each algorithm: how many ways, measured / predicted (geometric mean, the worst either way), how
-- many are within 10 %, its speed in src/copy/cost_h200.def, and the speed that would make the
-- median right. The launch, which all ways have, is taken off both before.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local measured = dofile(here .. "lib/measured.lua")

local run = arg[1]
if not run then
  io.stderr:write "usage: costs.lua RUN, where RUN is what choices.lua printed\n"
  os.exit(0)       -- ./dev bench runs all of bench
end

-- The coefficients: launch, and the speeds by the names of kernels.
local function read_model()
  local model = { speed = {} }
  for line in io.lines(here .. "../src/copy/cost_h200.def") do
    local name, value = line:match "^MT_COST%((%w+), *([%d%.e]+),"
    if name == "launch" then model.launch = tonumber(value) end
    local algorithm, speed = line:match "^MT_SPEED%(([%w_]+), *([%d%.]+)"
    if algorithm then model.speed[algorithm:lower()] = tonumber(speed) end
  end
  return assert(model.launch and model)
end

-- algorithm -> list of measured / predicted.
local function read_run(model)
  local ratios = {}
  for line in io.lines(run) do
    local kernel, predicted, us =
      line:match "^  (copy_%S+) %d+ +predicted +([%d%.]+) us, measured +([%d%.]+) us"
    local algorithm = kernel and measured.algorithm(kernel)
    if algorithm then
      local list = ratios[algorithm] or {}
      list[#list + 1] = (us - model.launch) / (predicted - model.launch)
      ratios[algorithm] = list
    end
  end
  return ratios
end

local function row_of(name, list, speed)
  local sum, near = 0, 0
  table.sort(list)
  for _, r in ipairs(list) do
    sum = sum + math.log(r)
    near = near + (math.abs(r - 1) <= 0.1 and 1 or 0)
  end
  local median = list[(#list + 1) // 2]
  return { name, #list, ("%.3f"):format(math.exp(sum / #list)), ("%.2f"):format(list[1]),
           ("%.2f"):format(list[#list]), near, ("%.2f"):format(speed),
           ("%.3f"):format(speed / median) }
end

local model = read_model()
local rows = { { "algorithm", "ways", "measured / predicted", "least", "most", "within 10 %",
                 "speed", "would fit" } }
local names = {}
local ratios = read_run(model)
for name in pairs(ratios) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  rows[#rows + 1] = row_of(name, ratios[name], assert(model.speed[name], name))
end
measure.print(rows)
