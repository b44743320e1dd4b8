-- fit.lua [key=value ...] [FILE ...]: how well the model of what copies cost tells the fastest way,
-- and the constants that would tell it better.
-- SPDX-License-Identifier: MIT
--
-- FILE is what views.lua printed with ways=1 on a GPU, or choices.lua: all of bench/views_*.txt and
-- bench/choices_*.txt if there is none. The copies are planned anew, without a GPU, as the model of
-- src/copy/cost_h200.def says now; where a way looks for its tile, it is that which was measured.
--
--   rounds=0      rounds of descent. Each goes through all constants that a prediction hangs on,
--                 and takes what lowers the loss: 8 are enough
--   parts=4       the views in so many parts: constants are fitted to all but one of them, which is
--                 then chosen for, each part in turn; at last to all. 0: only to all
--   only=TEXT,..  constants whose names contain one of these (staged, bits, GATHER, ...)
--   worst=10      so many of the views whose choice is worst are listed
--   errors=0.5    what errors of predictions weigh beside the choice
--   far=0.0005    what a constant e times as large costs
--
-- The loss of a view is the logarithm of chosen / fastest, with predictions about 4 % wrong by
-- chance so that it has a slope; and, less, that of predicted / measured of each way, of which slow
-- ones count less. Constants that go far from what they are cost too.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local measured = dofile(here .. "lib/measured.lua")
local bench = measure.bench

local NEAR, BEYOND, SHARP = 1.05, 1.3, 1 / 0.04

local options = { rounds = "0", parts = "4", only = "", worst = "10", errors = "0.5",
                  far = "0.0005" }
local files = {}
for _, text in ipairs(arg) do
  local key, value = text:match "^(%w+)=(.*)$"
  if not key then files[#files + 1] = text
  elseif options[key] then options[key] = value
  else
    io.stderr:write("fit: ", text,
                    ": one of rounds=, parts=, only=, worst=, errors=, far=, or a file\n")
    os.exit(1)
  end
end
local ERRORS, FAR = tonumber(options.errors), tonumber(options.far)
if not files[1] then
  local list <close> = assert(io.popen(("ls '%s'views_*.txt '%s'choices_*.txt"):format(here, here)))
  for path in list:lines() do files[#files + 1] = path end
end

-- ---- what was measured

local planner = bench.planner "cpu:checked"

local function plan(v) return planner:ways(measured.sides(v.copy)) end

-- The model searches their tiles: it may find others than were measured.
local SEARCHED = { gather = true, staged = true }

-- Whether way i had another tile than it has: if that is known, it has it from now on.
local function is_other(v, i, key)
  local way, blocks = v.list[i], v.blocks[key]
  if not SEARCHED[way.algorithm] then return false end
  if v.tiles[key] then return not v.ways:take(i, v.tiles[key]) end
  return blocks ~= nil and blocks ~= way.blocks
end

-- Microseconds of each way, false: it was not measured; whether its tiles are others now, so that
-- its prediction is none of what was measured. Of accesses one by one only the widest are looked at
-- when a way is chosen.
local function prepare(v)
  v.ways, v.list = plan(v)
  v.us, v.measured, v.may, v.other = {}, {}, {}, {}
  local strided = false
  for i, way in ipairs(v.list) do
    local key = way.algorithm .. " " .. way.bytes
    v.measured[i] = v.times[key] or false
    v.other[i] = v.measured[i] and is_other(v, i, key)
    v.may[i] = way.algorithm ~= "strided" or not strided
    strided = strided or way.algorithm == "strided"
  end
end

local list = {}
for _, path in ipairs(files) do
  for _, v in ipairs(measured.read(path)) do
    prepare(v)
    list[#list + 1] = v
  end
end

-- ---- loss

local log, exp = math.log, math.exp

-- The way that would be chosen: its number.
local function chosen_of(v)
  v.ways(v.us)
  local best
  for i, us in ipairs(v.us) do
    if v.may[i] and v.measured[i] and (not best or us < v.us[best]) then best = i end
  end
  return best
end

-- Of one view: the mean of log(way / fastest), of ways as likely as they are chosen; errors.
local function loss_of(v)
  local least = v.us[chosen_of(v)]
  local sum, likely, wrong, weights = 0, 0, 0, 0
  for i, us in ipairs(v.us) do
    local real = v.measured[i]
    if real then
      local slow, off = log(real / v.best), math.abs(log(us / real))
      local w = (v.best / real) ^ 2
      if not v.other[i] then
        wrong, weights = wrong + w * math.min(off, 2 * off * off + 0.05), weights + w
      end
      if v.may[i] then
        local p = exp(-SHARP * log(us / least))
        sum, likely = sum + p * slow, likely + p
      end
    end
  end
  return sum / likely + (weights > 0 and ERRORS * wrong / weights or 0)
end

local function loss(views)
  local sum = 0
  for _, v in ipairs(views) do sum = sum + loss_of(v) end
  return sum / #views
end

-- ---- constants

local function is_asked(name)
  for part in options.only:gmatch "[^,]+" do
    if name:lower():find(part:lower(), 1, true) then return true end
  end
  return options.only == ""
end

-- Those that a prediction hangs on.
local function find_constants()
  local found, before = {}, loss(list)
  for k, c in ipairs(bench.constants()) do
    c.k, c.first = k, bench.constant(k)
    if c.first ~= 0 and is_asked(c.name) then
      bench.constant(k, c.first * 1.1)
      if math.abs(loss(list) - before) > 1e-9 then found[#found + 1] = c end
      bench.constant(k, c.first)
    end
  end
  return found
end

-- The loss with a constant so many times as large as it was in the beginning (a logarithm).
local function at(views, c, x)
  bench.constant(c.k, c.first * exp(x))
  return loss(views) + FAR * x * x
end

-- Steps up or down as long as they help, longer and longer; then shorter ones.
local function descend(views, c, from)
  local x = log(c.value / c.first)
  local best = from + FAR * x * x
  local step = c.step or 0.1
  local moved = false
  for _ = 1, 8 do
    local found = false
    for _, by in ipairs { step, -step } do
      local now = at(views, c, x + by)
      if now < best - 1e-7 then best, x, found = now, x + by, true break end
    end
    moved = moved or found
    step = found and step * 1.5 or step / 2
  end
  c.step = moved and math.min(0.3, math.abs(step) * 2) or 0.05
  c.value = c.first * exp(x)
  bench.constant(c.k, c.value)
  return best - FAR * x * x
end

-- ---- what is printed

local function geometric(numbers)
  local sum = 0
  for _, x in ipairs(numbers) do sum = sum + log(x) end
  return exp(sum / #numbers)
end

-- chosen / fastest of each of these views; by algorithm the errors of predictions.
local function judge(views)
  local r = { ratios = {}, by = {}, order = {} }
  for _, v in ipairs(views) do
    v.ratio = v.measured[chosen_of(v)] / v.best
    r.ratios[#r.ratios + 1] = v.ratio
    for i, us in ipairs(v.us) do
      local name = v.list[i].algorithm
      if v.measured[i] and not v.other[i] then
        if not r.by[name] then r.by[name], r.order[#r.order + 1] = {}, name end
        table.insert(r.by[name], us / v.measured[i])
      end
    end
  end
  return r
end

local function print_ratios(what, ratios)
  local near, beyond, worst = 0, 0, 0
  for _, r in ipairs(ratios) do
    near, beyond = near + (r <= NEAR and 1 or 0), beyond + (r > BEYOND and 1 or 0)
    worst = math.max(worst, r)
  end
  print(("%s: within 5 %% of the fastest %d of %d (%.1f %%), beyond 1.3 times %d; mean %.4f, " ..
         "worst %.2f"):format(what, near, #ratios, 100 * near / #ratios, beyond, geometric(ratios),
                              worst))
end

local function print_choice(what, views) print_ratios(what, judge(views).ratios) end

local function print_errors(views)
  local r = judge(views)
  local rows = { { "algorithm", "ways", "predicted / measured", "error", "least", "most",
                   "within 10 %" } }
  table.sort(r.order)
  for _, name in ipairs(r.order) do
    local ratios, sum, within = r.by[name], 0, 0
    table.sort(ratios)
    for _, x in ipairs(ratios) do
      sum, within = sum + math.abs(log(x)), within + (math.abs(x - 1) <= 0.1 and 1 or 0)
    end
    rows[#rows + 1] = { name, #ratios, ("%.3f"):format(geometric(ratios)),
                        ("%.1f %%"):format(100 * (exp(sum / #ratios) - 1)),
                        ("%.2f"):format(ratios[1]), ("%.2f"):format(ratios[#ratios]), within }
  end
  measure.print(rows)
end

local function print_worst(views)
  local worst, rows = table.move(views, 1, #views, 1, {}), {}
  judge(views)
  table.sort(worst, function(a, b) return a.ratio > b.ratio end)
  for k = 1, math.min(#worst, tonumber(options.worst)) do
    local v = worst[k]
    if v.ratio <= NEAR then break end
    local best = 1
    for i, us in ipairs(v.measured) do
      if us and us < (v.measured[best] or math.huge) then best = i end
    end
    local function cell(i)
      return ("%s %d: %.1f, predicted %.1f"):format(v.list[i].algorithm, v.list[i].bytes,
                                                    v.measured[i], v.us[i])
    end
    rows[#rows + 1] = { v.name, cell(chosen_of(v)), cell(best), ("%.2f"):format(v.ratio) }
  end
  if not rows[1] then return end
  table.insert(rows, 1, { "view", "chosen", "fastest", "chosen / fastest" })
  print()
  measure.print(rows)
end

-- As people write them: three digits.
local function number(x)
  if x >= 1000 and x < 1e6 then return ("%d"):format(math.floor(x / 10 + 0.5) * 10) end
  return (("%.3g"):format(x):gsub("e([+-])0*", "e%1"):gsub("e%+", "e"))
end

-- The line of a constant, of one by width or of a speed, with the values of `new`, by name.
local function renewed(line, new)
  local name = line:match "^MT_[%u_]+%(([%w_]+),"
  local words = { "1", "2", "4", "8", "16" }
  if line:match "^MT_SPEED" then words = { "speed", "cast", "any", "again", "gap" } end
  local k = 0
  if line:match "^MT_COST%(" and new[name] then
    return (line:gsub("^(MT_COST%([%w_]+, *)([^,]+, *)", function(head, value)
      local now = new[name] .. ","
      return head .. now .. (" "):rep(math.max(1, #value - #now))
    end))
  end
  local head, tail = line:match "^(MT_COST_BY%([%w_]+, +\"[^\"]*\")(.*)$"
  if not head then head, tail = line:match "^(MT_SPEED%([%w_]+)(.*)$" end
  if not head then return line end
  return head .. tail:gsub("%f[%d][%d.e-]+", function(value)
    k = k + 1
    return new[name .. " " .. (words[k] or "")] or value
  end)
end

-- The lines of the model that are others now.
local function print_model(found)
  local new = {}
  for _, c in ipairs(found) do
    if math.abs(c.value / c.first - 1) > 0.005 then new[c.name] = number(c.value) end
  end
  print("\nsrc/copy/cost_h200.def:")
  for line in io.lines(here .. "../src/copy/cost_h200.def") do
    local now = renewed(line, new)
    if now ~= line then print(now) end
  end
end

-- ---- all of it

-- What is chosen may have other tiles than were measured: that it takes no longer is a guess.
local function print_others()
  local others, all = 0, 0
  for _, v in ipairs(list) do
    for _, other in ipairs(v.other) do others, all = others + (other and 1 or 0), all + 1 end
  end
  print(("%d of %d ways have other tiles than were measured: their errors are left out"):format(
    others, all))
end

print_choice("chosen", list)
print_others()
print()
print_errors(list)
if tonumber(options.rounds) == 0 then
  print_worst(list)
  return
end

-- Constants as they were, then fitted to these views.
local function fit(found, views)
  for _, c in ipairs(found) do
    c.value, c.step = c.first, 0.1
    bench.constant(c.k, c.first)
  end
  local now = loss(views)
  for _ = 1, tonumber(options.rounds) do
    for _, c in ipairs(found) do now = descend(views, c, now) end
  end
end

-- Each part is chosen for by constants that were fitted to the others.
local function hold_back(found, parts)
  local ratios = {}
  for part = 1, parts do
    local others, held = {}, {}
    for k, v in ipairs(list) do
      local to = k % parts + 1 == part and held or others
      to[#to + 1] = v
    end
    fit(found, others)
    table.move(judge(held).ratios, 1, #held, #ratios + 1, ratios)
  end
  return ratios
end

local found, parts = find_constants(), tonumber(options.parts)
if parts > 1 then
  print()
  print_ratios("views that were held back", hold_back(found, parts))
end
fit(found, list)
print()
print_choice("fitted to all", list)

print "\nwith the new constants:"
print_errors(list)
print_worst(list)

-- Tiles are searched with the same constants: where they are others now, times are of the old ones.
local others, all = 0, 0
for _, v in ipairs(list) do
  for _, same in ipairs(v.ways:same((plan(v)))) do
    others, all = others + (same and 0 or 1), all + 1
  end
end
print(("\n%d of %d ways have other tiles with them, which were not measured"):format(others, all))
print_model(found)
