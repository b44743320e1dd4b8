-- gemm.lua [part of a name ...]: products on the GPU beside cuBLASLt, its best heuristic.
-- gemm.lua random [N [SEED [A>C]]]: of types A and C, bf16>bf16, of N random sizes.
-- SPDX-License-Identifier: MIT
--
-- Both run in this process, in turn, rested: 20 ms of idling, one launch that does not count,
-- then a batch of about 2 ms, and one synchronization. Tensors are random and take turns, so
-- that the L2 holds none of them, but the smallest, of which there are MOST at most. The median
-- of ROUNDS samples is shown; the ratio is the library's time by ours. Names are those of BLAS:
-- T, K is contiguous; N, it is not, of A; of B the other way round.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local rested = assert(loadfile(here .. "lib/rested.lua"))(measure)
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BEYOND, MOST = 9, 400 << 20, 200
local MOST_WORK = 6e11 -- of a random product of 8, 32 or 64 bits

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("gemm: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

-- Sizes by name: M, N, K, batch.
local SIZES = {
  cubes = { { 8192, 8192, 8192, 1 }, { 4096, 4096, 4096, 1 }, { 2048, 2048, 2048, 1 },
            { 1024, 1024, 1024, 1 } },
  flat = { { 512, 4096, 4096, 1 }, { 128, 8192, 8192, 1 } },
  few = { { 16, 8192, 8192, 1 }, { 8, 8192, 8192, 1 }, { 1, 8192, 8192, 1 } },
  batch = { { 1024, 1024, 1024, 64 } },
  edges = { { 4000, 3000, 5000, 1 } },
  odd = { { 4001, 3001, 5003, 1 } },
  large = { { 8192, 8192, 8192, 1 } },
  middle = { { 4096, 4096, 4096, 1 } },
}

-- Types of A and B, of C; sizes; majors. tf32 and 3xtf32 are ways to read f32.
local TABLE = {
  { "bf16", "bf16", "cubes flat few batch edges odd", "TN" },
  { "bf16", "bf16", "large", "NN NT TT" },
  { "bf16", "bf16", "odd", "NT" },
  { "bf16", "f32", "middle", "TN" },
  { "f16", "f16", "cubes flat few batch edges odd", "TN" },
  { "e4m3", "bf16", "cubes flat few batch edges", "TN" },
  { "i8", "i32", "cubes flat few batch edges", "TN" },
  { "i8", "i32", "large middle", "NN" },
  { "f32", "f32", "cubes flat few batch edges odd", "TN" },
  { "f32", "f32", "middle", "NN NT TT" },
  { "f64", "f64", "cubes flat few batch edges odd", "TN" },
  { "f64", "f64", "middle", "NN NT TT" },
  { "tf32", "f32", "cubes flat few batch edges odd", "TN" },
  { "tf32", "f32", "large middle", "NT" },
  { "3xtf32", "f32", "large middle", "TN" },
}

local CASES = {}
for _, row in ipairs(TABLE) do
  for majors in row[4]:gmatch "%S+" do
    for name in row[3]:gmatch "%S+" do
      for _, s in ipairs(SIZES[name]) do
        CASES[#CASES + 1] = { row[1], row[2], s[1], s[2], s[3], s[4], majors }
      end
    end
  end
end

local BYTES = { bf16 = 2, f16 = 2, f32 = 4, f64 = 8, tf32 = 4, ["3xtf32"] = 4, e4m3 = 1, i8 = 1,
                i32 = 4 }

-- A matrix (x,y), or a batch of them, of which mode 2 is contiguous, or mode 1.
local function matrix(dtype, x, y, l, second)
  local stride = second and { y, 1 } or { 1, x }
  local A = l == 1 and tile.layout({ x, y }, stride)
            or tile.layout({ x, y, l }, { stride[1], stride[2], x * y })
  return measure.tensor(dtype, A, device)
end

local function best_of_two(c)
  rested.prepare(c)
  return math.min(rested.sample(c), rested.sample(c))
end

-- The heuristic of the library that is the fastest: the best of two samples of each.
local function choose(peers, peer)
  local best, chosen = math.huge, 1
  if peers[1]:n() == 0 then return false end
  for i = 1, math.min(5, peers[1]:n()) do
    for _, p in ipairs(peers) do p:choose(i) end
    local ok, t = pcall(best_of_two, peer)
    if ok and t < best then best, chosen = t, i end
  end
  for _, p in ipairs(peers) do p:choose(chosen) end
  return true
end

local function measure_case(t, out, m, n, k, l, majors)
  local options = { precision = t:find "tf32" and t or nil }
  local dtype = options.precision and "f32" or t
  local bytes = l * (BYTES[t] * (m + n) * k + BYTES[out] * m * n)
  local plans, peers = {}, {}
  for i = 1, math.min(BEYOND // bytes + 1, MOST) do
    local A = matrix(dtype, m, k, l, majors:sub(1, 1) == "T")
    local B = matrix(dtype, n, k, l, majors:sub(2, 2) == "N")
    local C = matrix(out, m, n, l, true)
    plans[i] = assert(tile.plan_gemm(A, B, C, options))
    peers[i] = cuda:gemm(A, B, C, options.precision ~= nil)
  end
  local ours = rested.in_turn(plans, function() device:synchronize() end)
  local peer = rested.in_turn(peers, function() cuda:synchronize() end)
  local known = choose(peers, peer)
  rested.run(known and { ours, peer } or { ours }, ROUNDS)
  local x, y = rested.median(ours.samples), known and rested.median(peer.samples) or 0 / 0
  local spread = (ours.samples[#ours.samples - 1] - ours.samples[2]) / x
  local work = 2 * m * n * k * l * 1e-12
  return { ("%s>%s %dx%dx%d%s %s"):format(t, out, m, n, k, l > 1 and " b" .. l or "", majors),
           measure.kernel(plans[1]), ("%.1f"):format(x * 1e6), ("%.0f"):format(work / x),
           ("%.1f"):format(y * 1e6), ("%.0f"):format(work / y), ("%.3f"):format(y / x),
           ("%.1f %%"):format(100 * spread) }
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
local rows = { { "product", "kernel", "us", "TFLOP/s", "cuBLASLt us", "TFLOP/s", "ratio",
                 "spread" } }

-- Sizes from 64 to 16384; of 8 bits multiples of 16, as the library wants them.
local function random_cases(count, seed, types)
  local list, t, out = {}, (types or "bf16>bf16"):match "^(%w+)>(%w+)$"
  math.randomseed(seed)
  local unit = BYTES[t] == 1 and 16 or 1
  local function size() return math.floor(64 // unit * 2 ^ (8 * math.random())) * unit end
  while #list < count do
    local m, n, k = size(), size(), size()
    if t:find "16" or 2 * m * n * k < MOST_WORK then
      list[#list + 1] = { t, out, m, n, k, 1, "TN" }
    end
  end
  return list
end

local random = arg[1] == "random"
local product, worst, n = 1, math.huge, 0
if random then CASES = random_cases(tonumber(arg[2]) or 40, tonumber(arg[3]) or 1, arg[4]) end
for _, case in ipairs(CASES) do
  if random or measure.is_asked(table.concat(case, " ")) then
    local row = measure_case(table.unpack(case))
    rows[#rows + 1] = row
    if random then io.stderr:write(table.concat(row, "  "), "\n") end
    local ratio = tonumber(row[7])
    if ratio == ratio then product, worst, n = product * ratio, math.min(worst, ratio), n + 1 end
    collectgarbage()
  end
end
measure.print(rows)
if random then print(("geometric mean %.3f, worst %.3f"):format(product ^ (1 / n), worst)) end
