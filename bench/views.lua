-- views.lua [key=value ...]: views that people write, and random ones, against cuMemcpyDtoDAsync.
-- SPDX-License-Identifier: MIT
--
--   random=20     random views behind the families; seed=1 (or MOONTILE_SEED): which
--   pitched=0     views of random pitches behind these: rows interleaved, apart, turned, in blocks
--   only=TEXT     families and names that contain it; A|B: one of these
--   size=64       about so many MiB are written
--   ways=1        all ways of each copy are measured, not only the one that is chosen; what is
--                 printed of them bench/costs.lua and bench/fit.lua read
--   check=0       results are not compared; check=2: those of all ways are
--   time=0        results are compared, nothing is measured
--   list=PATH     the views are written there, for peers/views_torch.py, and nothing is measured
--
-- A memcpy moves what the view must move, counted in sectors of 32 bytes: what is read, once, and
-- what is written. Buffers take turns, contestants too; medians. The result of the chosen way, and
-- of the ways "gather" and "staged", is compared, bit by bit, with the copy on the CPU: all of the
-- destination's buffer. With ways=1 a last table has, for each family and algorithm, the ratio of
-- those views that it can do: geometric mean, the worst, how many.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local views = dofile(here .. "lib/views.lua")
local contents = dofile(here .. "lib/contents.lua")
local measured = dofile(here .. "lib/measured.lua")
local tile = require "moontile"
local bench = measure.bench

local options = { random = "20", pitched = "0", seed = os.getenv "MOONTILE_SEED" or "1", only = "",
                  size = "64", ways = "0", check = "1", time = "1", list = "" }
for _, text in ipairs(arg) do
  local key, value = text:match "^(%w+)=(.*)$"
  if not key or not options[key] then
    io.stderr:write("views: ", text,
                    ": one of random=, pitched=, seed=, only=, size=, ways=, check=, time=, ",
                    "list=\n")
    os.exit(1)
  end
  options[key] = value
end
local LEAST = math.floor(tonumber(options.size) * (1 << 20))
local timed = options.time ~= "0"
local ROUNDS, BATCH, BEYOND = 7, timed and 2e-3 or 0, 384 << 20

-- With the fake driver of the tests there is no memcpy, either: copies are only compared.
local fake = os.getenv "MOONTILE_TEST_LIBCUDA"
local cuda, device, why
if fake then
  device, why = tile.device { "cuda", libcuda = fake }
else
  cuda, why = bench.cuda()
  if cuda then device, why = tile.device "cuda" end
  if not timed then cuda = nil end
end
if not device then
  print("views: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

-- ---- tensors

-- The whole buffer of a side of a view.
local function buffer(view, side, where)
  local _, n = views.span(view.extents, side)
  return tile.tensor(view.dtype, tile.layout(n), where)
end

local function seen(view, side, T)
  return T:view(tile.layout(view.extents, side), (views.span(view.extents, side)))
end

-- ---- checking

-- "" where the plan, made anew, writes what the CPU does.
local function compare(view, plan, kept)
  if options.check == "0" then return "" end
  if not kept.want then
    local want = buffer(view, view.dst, "cpu")
    tile.copy(seen(view, view.src, kept.src:to "cpu"), seen(view, view.dst, want))
    kept.want = contents(want)
  end
  kept.dst:fill(0)
  plan()
  device:synchronize()
  return contents(kept.dst) == kept.want and "" or "WRONG"
end

-- ---- measuring

local function turns(bytes) return cuda and math.max(1, math.ceil(BEYOND / bytes)) or 1 end

-- Plans between buffers of their own, enough of them that no cache holds all.
local function plans_of(view, bytes)
  local plans, kept = {}, nil
  for k = 1, turns(bytes) do
    local src, dst = measure.fill(buffer(view, view.src, device)), buffer(view, view.dst, device)
    plans[k] = assert(tile.plan(seen(view, view.src, src), seen(view, view.dst, dst)))
    kept = kept or { src = src, dst = dst }
  end
  return plans, kept
end

local function contestant(plans)
  local k = 0
  return { start = function() k = k % #plans + 1; plans[k]() end,
           finish = function() device:synchronize() end }
end

local function possible(plan)
  local found = {}
  for _, way in ipairs(plan:why()) do
    if way.possible then found[#found + 1] = way end
  end
  return found
end

local planner = bench.planner "cpu:checked"      -- it knows the tiles of ways

-- Seconds of each way, which is printed, the fastest, what was wrong; all of them.
local function measure_ways(view, plans, kept)
  local best, verdict, tiles = nil, "", measured.tiles(planner, view)
  print(("%s: %s"):format(view.family, view.name))
  local ways = possible(plans[1])
  for _, way in ipairs(ways) do
    for _, plan in ipairs(plans) do plan:take(way.kernel, way.vector) end
    local c = contestant(plans)
    measure.run({ c }, timed and 3 or 1, BATCH)
    way.time = c.time
    if not best or way.time < best.time then best = way end
    if options.check == "2" or way.algorithm == "gather" or way.algorithm == "staged" then
      local told = compare(view, plans[1], kept)
      if told ~= "" then verdict = told .. " " .. way.kernel end
    end
    local shape = tiles[way.algorithm .. way.vector]
    print(("  %s %d predicted %.1f us, measured %.1f us in %s blocks%s%s"):format(
      way.kernel, way.vector, way.predicted, way.time * 1e6,
      tostring(plans[1]):match "\ngrid: (%d+) " or "?", shape and " of " .. shape or "",
      way.chosen and " chosen" or ""))
  end
  return best, verdict, ways
end

-- algorithm -> sums of a family.
local reached, algorithms = {}, {}

local function note_way(view, way, ratio)
  if not reached[way.algorithm] then
    reached[way.algorithm] = {}
    algorithms[#algorithms + 1] = way.algorithm
  end
  local of = reached[way.algorithm]
  local f = of[view.family] or { sum = 0, n = 0, worst = math.huge }
  of[view.family] = f
  f.sum, f.n, f.worst = f.sum + math.log(ratio), f.n + 1, math.min(f.worst, ratio)
end

-- The fastest way of each algorithm; `time` is that of memcpy.
local function note_ways(view, ways, time)
  local best = {}
  for _, way in ipairs(ways) do
    local b = best[way.algorithm]
    if not b or way.time < b.time then best[way.algorithm] = way end
  end
  for _, way in pairs(best) do note_way(view, way, time / way.time) end
end

local head = { "family", "view", "kernel", "us", "memcpy us", "ratio", "predicted us", "" }
if options.ways ~= "0" then
  table.move({ "best", "us", "chosen / best" }, 1, 3, #head, head)
  head[#head + 1] = ""
end
local rows, families = { head }, {}

local function note(view, ratio)
  local f = families[view.family]
  if not f then
    f = { name = view.family, sum = 0, n = 0, worst = math.huge }
    families[view.family], families[#families + 1] = f, f
  end
  f.sum, f.n, f.worst = f.sum + math.log(ratio), f.n + 1, math.min(f.worst, ratio)
end

-- Measures both.
local function memcpy_beside(ours, bytes)
  if not cuda then
    measure.run({ ours }, 1, 0)
    return ours
  end
  local half = math.max(16, bytes // 2 // 16 * 16)
  local buffers <close> = cuda:pairs(half, turns(bytes))
  local peer = { start = buffers, finish = function() cuda:synchronize() end }
  measure.run({ ours, peer }, ROUNDS, BATCH)
  return peer
end

local function measure_case(view)
  view.dst = view.dst or views.compact(view.extents)
  local size = views.size(view)
  local read = views.bytes(view.extents, view.src, size)
  local bytes = read + views.bytes(view.extents, view.dst, size)
  tile.forget_tuning()
  local plans, kept = plans_of(view, bytes)
  local verdict, chosen = compare(view, plans[1], kept), nil
  for _, way in ipairs(plans[1]:why()) do if way.chosen then chosen = way end end
  local ours = contestant(plans)
  local peer = memcpy_beside(ours, bytes)
  local ratio = peer.time / ours.time
  note(view, ratio)
  local row = { view.family, view.name, chosen.kernel, ("%.1f"):format(ours.time * 1e6),
                ("%.1f"):format(peer.time * 1e6), ("%.3f"):format(ratio),
                ("%.1f"):format(chosen.predicted), verdict }
  if options.ways ~= "0" then
    local best, told, ways = measure_ways(view, plans, kept)
    note_ways(view, ways, peer.time)
    verdict = verdict .. told
    row[8], row[9] = best.kernel, ("%.1f"):format(best.time * 1e6)
    row[10], row[11] = ("%.2f"):format(ours.time / best.time), verdict
  end
  rows[#rows + 1] = row
  for _, plan in ipairs(plans) do plan:free() end
end

local function is_wanted(name)
  for text in (options.only .. "|"):gmatch "(.-)|" do
    if name:find(text, 1, true) then return true end
  end
  return false
end

local list = views.families(LEAST)
math.randomseed(tonumber(options.seed))
for _ = 1, tonumber(options.random) do list[#list + 1] = views.random(LEAST) end
for _ = 1, tonumber(options.pitched) do list[#list + 1] = views.pitched(LEAST) end

local function write_list()
  local file <close> = assert(io.open(options.list, "w"))
  for _, view in ipairs(list) do
    local name = view.family .. " " .. view.name
    local dst = view.dst or views.compact(view.extents)
    local sides = { view.extents, view.src, dst }
    for k = 1, 3 do sides[k] = table.concat(sides[k], ",") end
    if is_wanted(name) then
      file:write(name, "\t", view.dtype, "\t", table.concat(sides, "\t"), "\n")
    end
  end
end

if options.list ~= "" then
  write_list()
  os.exit(0)
end
print(("moontile %s on %s; random views of seed %s\n"):format(tile._VERSION, device:about(),
                                                             options.seed))
for _, view in ipairs(list) do
  if is_wanted(view.family .. " " .. view.name) then measure_case(view) end
  collectgarbage()
end
print()
measure.print(rows)
print()
local sums = { { "family", "views", "geometric mean", "worst" } }
for _, f in ipairs(families) do
  sums[#sums + 1] = { f.name, tostring(f.n), ("%.3f"):format(math.exp(f.sum / f.n)),
                      ("%.3f"):format(f.worst) }
end
measure.print(sums)

-- ---- algorithms

local function cell(f)
  return f and ("%.3f %.3f %d"):format(math.exp(f.sum / f.n), f.worst, f.n) or "-"
end

if options.ways ~= "0" then
  table.sort(algorithms)
  local by = { table.pack("family", table.unpack(algorithms)) }
  for _, f in ipairs(families) do
    local row = { f.name }
    for _, name in ipairs(algorithms) do row[#row + 1] = cell(reached[name][f.name]) end
    by[#by + 1] = row
  end
  print()
  measure.print(by)
end
