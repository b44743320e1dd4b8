-- views_cpu.lua [key=value ...]: views that people write, and random ones, on the CPU.
-- SPDX-License-Identifier: MIT
--
--   threads=N     of ours and of memcpy: all processors. NumPy has one
--   random=20     random views behind the families; seed=1 (or MOONTILE_SEED): which
--   only=TEXT     families and names that contain it
--   size=64       about so many MiB are written: beyond the caches
--   numpy=1       NumPy's copyto of the same views, in a process of its own (peers/views.py)
--   rounds=25     contestants take turns so many times; the shortest call counts, NumPy's too
--
-- A memcpy by as many threads moves what the view must move, counted in lines of 64 bytes: what
-- is read, once, and what is written. The last table has, for each family, geometric means and
-- the worst of both ratios; above 1 is ahead.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local views = dofile(here .. "lib/views.lua")
local tile = require "moontile"
local bench = measure.bench

local LINE, BATCH = 64, 0        -- a sample is one call
local options = { threads = tostring(bench.processors()), random = "20", only = "", size = "64",
                  seed = os.getenv "MOONTILE_SEED" or "1", numpy = "1", rounds = "25" }
for _, text in ipairs(arg) do
  local key, value = text:match "^(%w+)=(.*)$"
  if not key or not options[key] then
    io.stderr:write("views_cpu: ", text,
                    ": one of threads=, random=, seed=, only=, size=, numpy=, rounds=\n")
    os.exit(1)
  end
  options[key] = value
end
local threads, rounds = tonumber(options.threads), tonumber(options.rounds)
local LEAST = math.floor(tonumber(options.size) * (1 << 20))
local device = assert(tile.device { "cpu", threads = threads })

-- ---- contestants

local function seen(dtype, extents, strides)
  local first, n = views.span(extents, strides)
  local buffer = measure.fill(tile.tensor(dtype, tile.layout(n), device))
  return buffer:view(tile.layout(extents, strides), first)
end

local function ours_of(view)
  local plan = assert(tile.plan(seen(view.dtype, view.extents, view.src),
                                seen(view.to or view.dtype, view.extents, view.dst)))
  return { plan = plan, start = plan, finish = function() end }
end

local python = nil
if options.numpy ~= "0" then
  for _, name in ipairs { os.getenv "PYTHON" or "/usr/bin/python3", "python3" } do
    if not python and os.execute(name .. " -c 'import numpy' 2>/dev/null") then python = name end
  end
end

-- The shortest of NumPy's; nil: it is not here.
local function numpy_time(view)
  if not python then return nil end
  local words = { view.dtype, view.to or view.dtype, table.concat(view.extents, ","),
                  table.concat(view.src, ","), table.concat(view.dst, ",") }
  local pipe = assert(io.popen(("%s '%speers/views.py' %s"):format(python, here,
                                                                  table.concat(words, " "))))
  local seconds = tonumber(pipe:read "l")
  pipe:close()
  return seconds
end

-- ---- the tables

local rows = { { "family", "view", "kernel", "ms", "memcpy ms", "ratio", "NumPy ms", "times" } }
local families = {}

local function note(view, name, ratio)
  local f = families[view.family]
  if not f then
    f = { name = view.family }
    families[view.family], families[#families + 1] = f, f
  end
  local sum = f[name] or { log = 0, n = 0, worst = math.huge }
  f[name] = sum
  sum.log, sum.n, sum.worst = sum.log + math.log(ratio), sum.n + 1, math.min(sum.worst, ratio)
end

local function milliseconds(t) return ("%.2f"):format(t * 1e3) end

local function measure_case(view)
  view.dst = view.dst or views.compact(view.extents)
  local bytes = views.bytes(view.extents, view.src, views.size(view), LINE) +
                views.bytes(view.extents, view.dst, views.size(view, "to"), LINE)
  local ours = ours_of(view)
  local peer = { start = bench.memcpy(bytes // 2, threads), finish = function() end }
  measure.run({ ours, peer }, rounds, BATCH)
  local a, b, c = ours.samples[1], peer.samples[1], numpy_time(view)
  note(view, "memcpy", b / a)
  if c then note(view, "NumPy", c / a) end
  rows[#rows + 1] = { view.family, view.name, measure.kernel(ours.plan), milliseconds(a),
                      milliseconds(b), ("%.2f"):format(b / a), c and milliseconds(c) or "-",
                      c and ("%.1f"):format(c / a) or "-" }
  ours.plan:free()
end

local list = views.families(LEAST)
table.move(views.more(LEAST), 1, #views.more(LEAST), #list + 1, list)
math.randomseed(tonumber(options.seed))
for _ = 1, tonumber(options.random) do list[#list + 1] = views.random(LEAST) end

print(("moontile %s on %s, %d threads; random views of seed %s\n"):format(
  tile._VERSION, device:about(), threads, options.seed))
for _, view in ipairs(list) do
  if (view.family .. " " .. view.name):find(options.only, 1, true) then measure_case(view) end
  collectgarbage()
end
measure.print(rows)
print()

local function cell(sum)
  return sum and ("%.2f, %.2f"):format(math.exp(sum.log / sum.n), sum.worst) or "-"
end

local sums = { { "family", "views", "of memcpy: mean, worst", "times NumPy: mean, worst" } }
for _, f in ipairs(families) do
  sums[#sums + 1] = { f.name, tostring(f.memcpy.n), cell(f.memcpy), cell(f.NumPy) }
end
measure.print(sums)
