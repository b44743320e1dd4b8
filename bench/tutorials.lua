-- tutorials.lua FOLDER [M N K]: CuTe's tutorials of matrix products beside `tile.gemm`.
-- SPDX-License-Identifier: MIT
--
-- FOLDER holds the originals, compiled: nvcc -std=c++17 -O3 -arch=sm_90a
-- --expt-relaxed-constexpr -I CUTLASS/include -I CUTLASS/tools/util/include -o FOLDER/NAME
-- NAME.cu -lcuda. Each says itself how long a product takes, the mean of 100 calls in a row. So do
-- we: the same sizes, types and majors, random numbers, medians of ROUNDS batches of 100 calls.
-- The ratio is their time by ours. What the scripts of examples/ describe is compared with these
-- kernels there; here the library chooses.

local here = arg[0]:match "^(.*/)" or ""
local folder = table.remove(arg, 1)
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local layout = tile.layout

local M, N, K = tonumber(arg[1]) or 5120, tonumber(arg[2]) or 5120, tonumber(arg[3]) or 4096
local ROUNDS, CALLS, MAJORS = 5, 100, { { "T", "N" }, { "N", "T" } }
local TUTORIALS = {
  { "sgemm_1", "f32" }, { "sgemm_2", "f32" }, { "sgemm_sm70", "f32" }, { "sgemm_sm80", "f16" },
  { "wgmma_sm90", "f16" }, { "wgmma_tma_sm90", "f16" },
}

local device, why = tile.device "cuda"
if not device or not folder then
  print("tutorials: not measured: " .. (folder and tostring(why) or "no folder of originals"))
  os.exit(0)
end

-- Microseconds of the original; nil: it is not there, failed, or does not do these majors.
local function original(name, a, b)
  local command = ("%s/%s %d %d %d %s %s 2>&1"):format(folder, name, M, N, K, a, b)
  local pipe <close> = assert(io.popen(command))
  local ms = pipe:read "a":match "CUTE_GEMM:.-GFlop/s%s*%(%s*([%d.]+)%)ms"
  local us = ms and tonumber(ms) * 1000
  return us and us > 0 and us or nil
end

-- A (rows, K): "T" has K contiguous for A, "N" for B, as in the library of linear algebra.
local function operand(dtype, rows, by_rows)
  return measure.tensor(dtype, layout({ rows, K }, by_rows and { K, 1 } or { 1, rows }), device)
end

local function ours(dtype, a, b)
  local A, B = operand(dtype, M, a == "T"), operand(dtype, N, b == "N")
  local C = assert(tile.tensor(dtype, layout { M, N }, device))
  local plan = tile.plan_gemm(A, B, C)
  local one = { start = plan, finish = function() device:synchronize() end, calls = CALLS }
  measure.run({ one }, ROUNDS)
  return one.time * 1e6, tostring(plan):match "kernel: (%S+)"
end

print(("%d x %d x %d, 2 M N K / time"):format(M, N, K))
print("| tutorial       | type | A B | its us | TFLOP/s | ours us | TFLOP/s | ratio | by |")
print("|----------------|------|-----|-------:|--------:|--------:|--------:|------:|----|")
local work = 2 * M * N * K / 1e6
for _, t in ipairs(TUTORIALS) do
  for _, m in ipairs(MAJORS) do
    local theirs = original(t[1], m[1], m[2])
    local time, kernel = ours(t[2], m[1], m[2])
    local function rate(us) return us and ("%.1f"):format(work / us) or "-" end
    print(("| %-14s | %s  | %s %s | %6s | %7s | %7.1f | %7s | %5s | %s |"):format(
      t[1], t[2], m[1], m[2], theirs and ("%.1f"):format(theirs) or "-", rate(theirs), time,
      rate(time), theirs and ("%.2f"):format(theirs / time) or "-", kernel))
    collectgarbage()
  end
end
