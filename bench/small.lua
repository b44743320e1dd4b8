-- small.lua [N [SEED [MOST [A>C [LEAST]]]]]: products of odd sizes, every way to do each, and
-- cuBLASLt.
-- SPDX-License-Identifier: MIT
--
-- N random products of types A and C, bf16>bf16, TN, each extent from LEAST to MOST on a scale of
-- logarithms, any multiple of 1, of 8 bits of 16, or of UNIT of the environment; of bf16 before
-- them four that were slow. SIZES of the environment, as "64x4096x4096 ...", are taken instead.
-- Ways take turns: batches of about BATCH seconds, one synchronization, medians of ROUNDS.
-- Tensors are of pools and take turns. A line for each way: predicted and measured microseconds,
-- so that costs can be fitted; then the table of the cases and measured / predicted of each
-- kernel. The library is the best of its first five heuristics.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench
local layout = tile.layout

local N, SEED, LARGEST = tonumber(arg[1]) or 40, tonumber(arg[2]) or 1, tonumber(arg[3]) or 2500
local TYPE, OUT = (arg[4] or "bf16>bf16"):match "^(%w+)>(%w+)$"
local LEAST, ROUNDS, BATCH, MOST = tonumber(arg[5]) or 16, 5, 5e-4, 24
local POOL = 64 << 20                             -- elements
local PRECISION = TYPE == "tf32" and TYPE or nil
local IN = PRECISION and "f32" or TYPE
local SIZES = os.getenv "SIZES"
local UNIT = tonumber(os.getenv "UNIT") or ((TYPE == "e4m3" or TYPE == "i8") and 16 or 1)

local cuda = bench.cuda()                         -- nil: without the library
local device, why = tile.device "cuda"
if not device then
  print("small: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

local CASES = { { 1793, 199, 68 }, { 887, 622, 73 }, { 2444, 74, 97 }, { 744, 64, 2449 } }
if TYPE ~= "bf16" or LEAST ~= 16 then CASES = {} end
math.randomseed(SEED)
local function size()
  return math.max(1, math.floor(LEAST * (LARGEST / LEAST) ^ math.random()) // UNIT) * UNIT
end
for _ = 1, N do CASES[#CASES + 1] = { size(), size(), size() } end
if SIZES then
  CASES = {}
  for m, n, k in SIZES:gmatch "(%d+)x(%d+)x(%d+)" do
    CASES[#CASES + 1] = { tonumber(m), tonumber(n), tonumber(k) }
  end
end

-- ---- tensors

local largest = 0
for _, c in ipairs(CASES) do
  largest = math.max(largest, (c[1] + c[2]) * c[3] + 2 * 128, c[1] * c[2] + 128)
end
local function new_pool(dtype)
  return measure.tensor(dtype, layout(math.max(POOL, largest)), device)
end
local operands, results = new_pool(IN), new_pool(OUT)

-- Matrices one behind the other in a pool, each at a multiple of 128 elements.
local function taker(pool)
  local at = 0
  return function(x, y)
    local t = pool:view(layout({ x, y }, { y, 1 }), at)
    at = at + (x * y + 127) // 128 * 128
    return t
  end
end

local function tensors_of(m, n, k)
  local list, take, take_result = {}, taker(operands), taker(results)
  local each = math.max((m + n) * k + 2 * 128, m * n + 128)
  for i = 1, math.min(MOST, operands:size() // each) do
    list[i] = { take(m, k), take(n, k), take_result(m, n) }
  end
  return list
end

-- ---- measuring

-- Seconds of one of n calls, which take the list in turn.
local function sample(list, wait, n)
  list[1]()
  wait()
  local t = bench.now()
  for i = 1, n do list[i % #list + 1]() end
  wait()
  return (bench.now() - t) / n
end

local function median(samples)
  table.sort(samples)
  return samples[(#samples + 1) // 2]
end

local function time_of(list, wait)
  local n = math.max(4, math.min(400, math.ceil(BATCH / sample(list, wait, 8))))
  local samples = {}
  for round = 1, ROUNDS do samples[round] = sample(list, wait, n) end
  return median(samples) * 1e6
end

local function still() device:synchronize() end

local function ways_of(plans)
  local found, chosen = {}, nil
  for _, way in ipairs(plans[1]:why()) do
    if way.possible and way.parts then
      found[#found + 1] = way
      if way.chosen then chosen = way end
    end
  end
  for _, way in ipairs(found) do
    for _, plan in ipairs(plans) do plan:take(way.kernel, way.parts) end
    way.us = time_of(plans, still)
  end
  return found, chosen
end

-- Microseconds of the library.
local function library(tensors)
  local peers, best = {}, math.huge
  if not cuda then return 0 / 0 end
  for i, t in ipairs(tensors) do peers[i] = cuda:gemm(t[1], t[2], t[3], PRECISION ~= nil) end
  if not peers[1] or peers[1]:n() == 0 then return 0 / 0 end
  for i = 1, math.min(5, peers[1]:n()) do
    for _, p in ipairs(peers) do p:choose(i) end
    local good, t = pcall(time_of, peers, function() cuda:synchronize() end)
    if good then best = math.min(best, t) end
  end
  return best
end

-- ---- tables

local head = { "m x n x k", "chosen", "predicted us", "us", "fastest", "us", "cuBLASLt us", "ratio",
               "fastest, ratio" }
local rows, fits = { head }, {}
local product, best_product, worst, count = 1, 1, math.huge, 0

local function name_of(way) return ("%s %d"):format(way.kernel, way.parts) end
local function micro(us) return ("%.2f"):format(us) end

local function note(way)
  local list = fits[way.kernel] or {}
  list[#list + 1] = way.us / way.predicted
  fits[way.kernel] = list
end

local function measure_case(m, n, k)
  local plans, tensors = {}, tensors_of(m, n, k)
  for i, t in ipairs(tensors) do
    plans[i] = assert(tile.plan_gemm(t[1], t[2], t[3], { precision = PRECISION }))
  end
  local ways, chosen = ways_of(plans)
  local fastest = ways[1]
  for _, way in ipairs(ways) do
    note(way)
    if way.us < fastest.us then fastest = way end
    print(("  %d %d %d %s predicted %.2f measured %.2f%s"):format(
      m, n, k, name_of(way), way.predicted, way.us, way == chosen and " chosen" or ""))
  end
  local theirs = library(tensors)
  local ratio, best = theirs / chosen.us, theirs / fastest.us
  if ratio == ratio then
    product, best_product, count = product * ratio, best_product * best, count + 1
    worst = math.min(worst, ratio)
  end
  rows[#rows + 1] = { ("%d x %d x %d"):format(m, n, k), name_of(chosen), micro(chosen.predicted),
                      micro(chosen.us), name_of(fastest), micro(fastest.us), micro(theirs),
                      ("%.3f"):format(ratio), ("%.3f"):format(best) }
  for _, plan in ipairs(plans) do plan:free() end
end

local function print_fits()
  local names, table_ = {}, { { "kernel", "ways", "least", "measured / predicted", "most" } }
  for name in pairs(fits) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local list = fits[name]
    local middle = median(list)
    table_[#table_ + 1] = { name, #list, ("%.2f"):format(list[1]), ("%.2f"):format(middle),
                            ("%.2f"):format(list[#list]) }
  end
  measure.print(table_)
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
for _, c in ipairs(CASES) do
  measure_case(table.unpack(c))
  collectgarbage()
end
print()
measure.print(rows)
print(("\ngeometric mean %.3f, worst %.3f; by the fastest ways %.3f\n"):format(
  product ^ (1 / count), worst, best_product ^ (1 / count)))
print_fits()
