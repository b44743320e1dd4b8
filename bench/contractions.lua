-- contractions.lua [device [shrink]]: contractions as products of views, everything
-- included; a sample of the elements is checked against sums in f64.
-- SPDX-License-Identifier: MIT
--
-- `device` is cuda or cpu; `shrink` divides every extent (for the CPU: 4). Each sample is
-- rested: 20 ms idle, one launch untimed, then a few ms of launches; the median is shown.
-- `floor` is what the bytes (4.2 TB/s) and the operations (800 TFLOP/s, f32: 50) need at
-- least; torch and XLA were measured on an H200 with the same shapes, permutes included.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local device = assert(tile.device(arg[1] or "cuda"))
local shrink = tonumber(arg[2]) or 1
local SAMPLES, IDLE, TIMED = 9, 20e-3, 3e-3
local PIECE = 65521                   -- random numbers, repeated: a prime, which no stride hits
local CHECKED = 2000000               -- products of a check, about

-- expression, dtype of A and B, dtype of C, extents by label, torch us, XLA us
local ROWS = {
  { "abcd,dbe->ace", "bf16", "bf16", "a64 b64 c128 d64 e8192", 876, 769 },
  { "abcd,bde->ace", "bf16", "bf16", "a64 b64 c128 d64 e8192", 788 },
  { "abcd,eafd->bcef", "bf16", "bf16", "a64 b64 c64 d64 e64 f128", 607, 419 },
  { "abcd,cebf->afde", "bf16", "bf16", "a64 b64 c64 d128 e64 f128", 1057, 884 },
  { "bqhd,bkhd->bhqk", "bf16", "bf16", "b8 q2048 h32 d128 k2048", 1287, 853 },
  { "abcd,eb->aecd", "bf16", "bf16", "a128 b256 c64 d64 e256", 920, 643 },
  { "abcd,ed->abce", "bf16", "bf16", "a128 b64 c64 d256 e256", 138, 182 },
  { "abcde,efbad->cf", "bf16", "bf16", "a48 b32 c24 d32 e48 f64", 1170, 391 },
  { "dega,gfbc->abcdef", "f32", "f32", "a24 b16 c24 d24 e16 f24 g24", 128 },
  { "aebf,dfce->abcd", "f32", "f32", "a96 b72 c96 d72 e96 f96", 19600 },
}

local function shape(word, extents)
  local s = {}
  for k = 1, #word do
    local n = tonumber(extents:match("%f[%a]" .. word:sub(k, k) .. "(%d+)"))
    s[k] = math.max(1, n // shrink)
  end
  return s
end

-- A row-major tensor of random numbers.
local function random(dtype, extents)
  local T = assert(tile.tensor(dtype, tile.layout(extents, "right"), device))
  local n, values = T:size(), {}
  for k = 1, math.min(n, PIECE) do values[k] = math.random() - 0.5 end
  local part = assert(tile.tensor(dtype, tile.layout(#values)):fill(values):to(device))
  tile.copy(part, T:view(tile.layout(#values)))
  local at = #values
  while at < n do
    local half = tile.layout(math.min(at, n - at))
    tile.copy(T:view(half), T:view(half, at))
    at = at + half:size()
  end
  device:synchronize()
  return T
end

-- ---- checking

-- What a tensor has where the labels in `at` are fixed, as a list: the labels of `along` from
-- the first, fastest, to the last.
local function fibre(T, word, at, along)
  local A, offset, modes = T:layout(), 0, {}
  for k = 1, #word do
    local label, mode = word:sub(k, k), tile.get(A, k)
    if at[label] then offset = offset + mode(at[label]) end
    local place = along:find(label, 1, true)
    if place then modes[place] = mode end
  end
  if #modes == 0 then modes[1] = tile.layout(1) end
  return T:view(tile.make_layout(modes), offset):totable()
end

-- The largest error of some elements, relative to the sum of the products' magnitudes.
local function check(words, out, sums, extents, A, B, C)
  local n = 1
  for k = 1, #sums do n = n * shape(sums:sub(k, k), extents)[1] end
  local worst = 0
  for _ = 1, math.max(1, math.min(50, CHECKED // n)) do
    local at = {}
    for k = 1, #out do
      at[out:sub(k, k)] = math.random(0, shape(out:sub(k, k), extents)[1] - 1)
    end
    local a, b = fibre(A, words[1], at, sums), fibre(B, words[2], at, sums)
    local sum, size = 0, 0
    for i = 1, #a do
      sum, size = sum + a[i] * b[i], size + math.abs(a[i] * b[i])
    end
    worst = math.max(worst, math.abs(fibre(C, out, at, "")[1] - sum) / size)
  end
  return worst
end

-- ---- measuring

local function wait(seconds)
  local t = bench.now() + seconds
  while bench.now() < t do end
end

local function batch(plan, n)
  local t = bench.now()
  for _ = 1, n do plan() end
  device:synchronize()
  return (bench.now() - t) / n
end

local function rested(plan)
  local n = math.max(1, math.floor(TIMED / batch(plan, 1)))
  local samples = {}
  for k = 1, SAMPLES do
    wait(IDLE)
    batch(plan, 1)
    samples[k] = batch(plan, n)
  end
  table.sort(samples)
  return samples[(SAMPLES + 1) // 2]
end

-- ---- the table

local function amount(T) return T:size() * T:itemsize() end

local function row(r)
  local expression, dtype, result, extents, torch, xla = table.unpack(r, 1, 6)
  local left, right, out = expression:match "(%a+),(%a+)%->(%a+)"
  local sums = ""
  for label in left:gmatch "%a" do
    if not out:find(label, 1, true) then sums = sums .. label end
  end
  local A, B = random(dtype, shape(left, extents)), random(dtype, shape(right, extents))
  local C = assert(tile.tensor(result, tile.layout(shape(out, extents), "right"), device))
  local plan = assert(tile.plan_gemm(tile.einsum_fold(expression, A, B, C)))
  local seconds = rested(plan)
  local work = 2
  for label in (out .. sums):gmatch "%a" do work = work * shape(label, extents)[1] end
  local least = math.max((amount(A) + amount(B) + amount(C)) / 4.2e12,
                         work / (dtype == "f32" and 50e12 or 800e12))
  local function published(us)
    return us and shrink == 1 and ("%d (%.2f)"):format(us, us / (seconds * 1e6)) or "-"
  end
  return { expression, dtype, measure.kernel(plan), ("%.0f"):format(seconds * 1e6),
           ("%.2f"):format(work / seconds / 1e12), ("%.0f"):format(least * 1e6),
           published(torch), published(xla),
           ("%.1e"):format(check({ left, right }, out, sums, extents, A:to "cpu", B:to "cpu",
                                 C:to "cpu")) }
end

print(("moontile %s on %s; extents divided by %d; (ratio: theirs / ours)\n")
      :format(tile._VERSION, device:about(), shrink))
local rows = { { "einsum", "type", "kernel", "us", "TFLOP/s", "floor us", "torch us", "XLA us",
                 "error" } }
for _, r in ipairs(ROWS) do
  rows[#rows + 1] = row(r)
  collectgarbage()
end
measure.print(rows)
