-- planning.lua [COUNT [SEED [FAMILY]]]: what a plan of a copy costs that was never made before.
-- SPDX-License-Identifier: MIT
--
-- COUNT views of each family of lib/fresh.lua, of fresh extents, among them a cache of keys that
-- grows by one at a time. Microseconds of mt_plan_copy in C, and of tile.plan in Lua: each view's
-- least of ROUNDS rounds, in which all views take turns; of all of them the median, 90 % and 99 %,
-- and of each family the median and 90 %. MOONTILE_TEST_LIBCUDA names the tests' driver: plans
-- need no GPU, and are not run.
--
-- A clock tells little on a machine that does other things too. Instructions tell more:
--   valgrind --tool=callgrind --collect-atstart=no --toggle-collect=mt_plan_copy
--     --dump-after=mt_plan_copy --callgrind-out-file=DIR/out moontile bench/planning.lua count
-- plans each view once in C, and writes a file for each; planning.lua read DIR then prints the same
-- quantiles, thousands of instructions.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local fresh = dofile(here .. "lib/fresh.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, SEED = 9, 20261127
local action = arg[1] and not tonumber(arg[1]) and table.remove(arg, 1)
local folder = action == "read" and table.remove(arg, 1)
local views = fresh.views(tonumber(arg[1]) or 40, tonumber(arg[2]) or SEED, arg[3])

local libcuda = os.getenv "MOONTILE_TEST_LIBCUDA"
local name = libcuda and "cuda" or "cpu:checked"         -- both predict what a GPU takes

-- ---- what is planned

local function text(extents, strides)
  return ("(%s):(%s)"):format(table.concat(extents, ","), table.concat(strides, ","))
end

local function in_c(planner, v)
  return planner(v.dtype, text(v.extents, v.src), v.src_first, v.src_size,
                 text(v.extents, v.dst), v.dst_first, v.dst_size)
end

local function in_lua(device)
  local buffers = {}
  local function tensor(v, side)
    local key = v.dtype .. side
    local size, most = v[side .. "_size"], 0
    if not buffers[key] then
      for _, w in ipairs(views) do
        if w.dtype == v.dtype then most = math.max(most, w[side .. "_size"]) end
      end
      buffers[key] = tile.tensor(v.dtype, tile.layout(most), device)
    end
    return buffers[key]:view(tile.layout(size)):view(tile.layout(v.extents, v[side]),
                                                     v[side .. "_first"])
  end
  for _, v in ipairs(views) do v.tensors = { tensor(v, "src"), tensor(v, "dst") } end
  return function(v)
    local src, dst = v.tensors[1], v.tensors[2]
    local t = bench.now()
    local plan = tile.plan(src, dst)
    t = bench.now() - t
    plan:free()
    return t
  end
end

-- Seconds of each view, the least of all rounds.
local function least(plan)
  local times = {}
  for _ = 1, ROUNDS do
    for k, v in ipairs(views) do times[k] = math.min(times[k] or math.huge, plan(v)) end
    collectgarbage()
  end
  return times
end

-- ---- what is printed

local function quantile(list, p) return list[math.max(1, math.ceil(p * #list))] end

local function row_of(label, numbers, scale, wanted)
  local list, sum = {}, 0
  for k, v in ipairs(views) do
    if not wanted or v.family == wanted then list[#list + 1] = numbers[k] * scale end
  end
  table.sort(list)
  for _, x in ipairs(list) do sum = sum + x end
  return { label, #list, ("%.1f"):format(sum / #list), ("%.1f"):format(quantile(list, 0.5)),
           ("%.1f"):format(quantile(list, 0.9)), ("%.1f"):format(quantile(list, 0.99)) }
end

local function print_all(what, columns, scale)
  local rows = { { what, "views", "mean", "median", "90 %", "99 %" } }
  for _, c in ipairs(columns) do
    rows[#rows + 1] = row_of(c.name .. ", all", c.numbers, scale)
    for _, family in ipairs(arg[3] and {} or fresh.names) do
      rows[#rows + 1] = row_of(c.name .. ", " .. family, c.numbers, scale, family)
    end
  end
  measure.print(rows)
end

-- The file number k of a run of callgrind, which are written in order of the calls.
local function instructions(k)
  for line in io.lines(("%s/out.%d"):format(folder, k)) do
    local n = line:match "^summary: (%d+)" or line:match "^totals: (%d+)"
    if n then return tonumber(n) end
  end
end

if action == "read" then
  local numbers = {}
  for k in ipairs(views) do numbers[k] = instructions(k) end
  print_all("thousands of instructions", { { name = "C", numbers = numbers } }, 1e-3)
elseif action == "count" then
  local planner = bench.planner(name, libcuda)
  for _, v in ipairs(views) do in_c(planner, v) end
else
  local planner = bench.planner(name, libcuda)
  local device = assert(tile.device { name, libcuda = libcuda })
  local columns = { { name = "C", numbers = least(function(v) return in_c(planner, v) end) },
                    { name = "Lua", numbers = least(in_lua(device)) } }
  print_all("microseconds", columns, 1e6)
end
