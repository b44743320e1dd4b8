-- conversions.lua [key=value ...]: every pair of types, contiguous and transposed, against memcpy.
-- SPDX-License-Identifier: MIT
--
--   only=TEXT     pairs whose "src dst" contains it ("u8 f16"), or their sizes ("1 -> 2")
--   size=64       about so many MiB are read and written
--   way=TEXT      contiguous, transposed; both without it
--   check=0       results are not compared
--   pairs=1       a line for each pair, not only for each pair of sizes
--
-- A memcpy moves the same number of bytes, read and written. Buffers take turns, contestants too;
-- medians. Results are compared, bit by bit, with the conversion on the CPU.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local contents = dofile(here .. "lib/contents.lua")
local tile = require "moontile"
local bench = measure.bench

local options = { only = "", size = "64", way = "", check = "1", pairs = "0" }
for _, text in ipairs(arg) do
  local key, value = text:match "^(%w+)=(.*)$"
  if not key or not options[key] then
    io.stderr:write("conversions: ", text, ": one of only=, size=, way=, check=, pairs=\n")
    os.exit(1)
  end
  options[key] = value
end
local TYPES = { "bool", "i8", "u8", "e4m3", "e5m2", "i16", "u16", "f16", "bf16", "i32", "u32",
                "f32", "i64", "u64", "f64" }
local MOVED = math.floor(tonumber(options.size) * (1 << 20))
local ROUNDS, BATCH, BEYOND = 5, 5e-4, 256 << 20
local ROWS = 1024 * 128               -- elements: rows and columns are whole vectors

local fake = os.getenv "MOONTILE_TEST_LIBCUDA"
local cuda, device, why
if fake then
  device, why = tile.device { "cuda", libcuda = fake }
else
  cuda, why = bench.cuda()
  if cuda then device, why = tile.device "cuda" end
end
if not device then
  print("conversions: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

local function itemsize(dtype) return tile.tensor(dtype, tile.layout(1)):itemsize() end

-- Rows of 1024, or as many columns.
local function layouts(n, way)
  local rows = n // 1024
  local src = tile.layout({ rows, 1024 }, "right")
  return src, way == "transposed" and tile.layout { rows, 1024 } or src
end

-- Random numbers; of bool, whether a byte is 0.
local function numbers(dtype, layout)
  local T = tile.tensor(dtype, layout, device)
  if dtype ~= "bool" then return measure.fill(T) end
  local bytes = measure.fill(tile.tensor("i8", layout, device))
  tile.copy(bytes, T)
  return T
end

-- Sources that all conversions of a type share.
local filled = {}
local function source(dtype, layout)
  local key = dtype .. tostring(layout)
  if filled.key ~= key then
    filled.key, filled.list = key, {}
    collectgarbage()
  end
  return filled.list
end

local function make(from, to, way, n, turns)
  local S, D = layouts(n, way)
  local list, plans, kept = source(from, S), {}, nil
  for k = 1, turns do
    list[k] = list[k] or numbers(from, tile.layout(S:size()))
    local src = list[k]:view(S)
    local dst = tile.tensor(to, D, device)
    plans[k] = assert(tile.plan(src, dst))
    kept = kept or { src = src, dst = dst }
  end
  return plans, kept
end

local function compare(kept)
  if options.check == "0" then return "" end
  local want = tile.tensor(kept.dst:dtype(), kept.dst:layout(), "cpu")
  tile.copy(kept.src:to "cpu", want)
  return contents(want) == contents(kept.dst) and "" or "WRONG"
end

-- Seconds of ours and of memcpy, the kernel, what is wrong.
local function measure_pair(from, to, way)
  local n = MOVED // (itemsize(from) + itemsize(to)) // ROWS * ROWS
  n = math.max(n, ROWS)
  local bytes = n * (itemsize(from) + itemsize(to))
  local turns = cuda and math.max(1, math.ceil(BEYOND / bytes)) or 1
  local plans, kept = make(from, to, way, n, turns)
  local k = 0
  local ours = { start = function() k = k % #plans + 1; plans[k]() end,
                 finish = function() device:synchronize() end }
  local kernel = measure.kernel(plans[1])
  local peer = ours
  if cuda then
    local buffers <close> = cuda:pairs(bytes // 32 * 16, turns)
    peer = { start = buffers, finish = function() cuda:synchronize() end }
    measure.run({ ours, peer }, ROUNDS, BATCH)
  else
    measure.run({ ours }, 1, 0)
  end
  local verdict = compare(kept)
  for _, plan in ipairs(plans) do plan:free() end
  return ours.time, peer.time, kernel, verdict
end

local rows, groups, order = { { "way", "pair", "kernel", "us", "memcpy us", "ratio", "" } }, {}, {}

local function note(way, sizes, pair, ratio, verdict)
  local key = way .. " " .. sizes
  local g = groups[key]
  if not g then
    g = { way = way, sizes = sizes, sum = 0, n = 0, worst = math.huge, wrong = 0 }
    groups[key], order[#order + 1] = g, g
  end
  g.sum, g.n = g.sum + math.log(ratio), g.n + 1
  g.wrong = g.wrong + (verdict == "" and 0 or 1)
  if ratio < g.worst then g.worst, g.pair = ratio, pair end
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
for _, way in ipairs { "contiguous", "transposed" } do
  for _, from in ipairs(TYPES) do
    for _, to in ipairs(TYPES) do
      local pair = from .. " " .. to
      local sizes = ("%d -> %d"):format(itemsize(from), itemsize(to))
      local asked = (pair .. " " .. sizes):find(options.only, 1, true)
      if from ~= to and asked and way:find(options.way, 1, true) then
        local ours, peer, kernel, verdict = measure_pair(from, to, way)
        note(way, sizes, pair, peer / ours, verdict)
        rows[#rows + 1] = { way, pair, kernel, ("%.1f"):format(ours * 1e6),
                            ("%.1f"):format(peer * 1e6), ("%.3f"):format(peer / ours), verdict }
      end
    end
    collectgarbage()
  end
end
if options.pairs ~= "0" then measure.print(rows) print() end
local sums = { { "way", "bytes", "pairs", "geometric mean", "worst", "of", "wrong" } }
for _, g in ipairs(order) do
  sums[#sums + 1] = { g.way, g.sizes, tostring(g.n), ("%.3f"):format(math.exp(g.sum / g.n)),
                      ("%.3f"):format(g.worst), g.pair, tostring(g.wrong) }
end
measure.print(sums)
