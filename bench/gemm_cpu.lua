-- gemm_cpu.lua [path of a BLAS]: products on the CPU: ours by 1 and by all threads, the
-- system's BLAS, NumPy.
-- SPDX-License-Identifier: MIT
--
-- Contestants take turns in one run; medians are shown, in operations a second (2 M N K).
-- The BLAS is called through a device that was opened with it, whatever its speed; NumPy
-- runs in a process of its own where a Python with NumPy is found.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"

local ROUNDS, BATCH = 9, 30e-3
local library = arg[1] or "libblas.so.3"
local threads = measure.bench.processors()
local devices = {
  assert(tile.device { "cpu", threads = 1, libblas = "" }),
  assert(tile.device { "cpu", threads = threads, libblas = "" }),
  assert(tile.device { "cpu", threads = threads, libblas = library }),
}

local function layouts(form, m, n, k)
  local right, left = "right", "left"
  if form == "row" then return { { m, k }, right }, { { n, k }, left }, { { m, n }, right } end
  if form == "column" then return { { m, k }, left }, { { n, k }, right }, { { m, n }, left } end
  return { { m, k }, right }, { { n, k }, right }, { { m, n }, right }      -- TN of a BLAS
end

local function product(device, dtype, form, m, n, k, result)
  local function tensor(dt, what)
    return measure.tensor(dt, tile.layout(table.unpack(what)), device)
  end
  local a, b, c = layouts(form, m, n, k)
  local plan = assert(tile.plan_gemm(tensor(dtype, a), tensor(dtype, b),
                                     tensor(result or dtype, c)))
  return { plan = plan, start = plan, finish = function() end }
end

-- By blocks of 4 and 8: what no BLAS takes.
local function blocked(device, dtype, n)
  local A = ("((4,%d),(8,%d)):((8,%d),(1,32))"):format(n // 4, n // 8, n * 4)
  local function tensor(text) return measure.tensor(dtype, tile.layout(text), device) end
  local plan = assert(tile.plan_gemm(tensor(A), tensor(A), tensor(A)))
  return { plan = plan, start = plan, finish = function() end }
end

-- ---- NumPy

local PROGRAM = [[
import numpy, sys, time
for line in sys.stdin:
    dtype, m, n, k = line.split()
    m, n, k = int(m), int(n), int(k)
    a = numpy.random.rand(m, k).astype(dtype)
    b = numpy.random.rand(k, n).astype(dtype)
    c = a @ b
    times = []
    for _ in range(9):
        t = time.perf_counter()
        numpy.matmul(a, b, out=c)
        times.append(time.perf_counter() - t)
    print(sorted(times)[4])
]]

local function find_numpy()
  for _, python in ipairs { os.getenv "PYTHON" or "/usr/bin/python3", "python3" } do
    if os.execute(python .. " -c 'import numpy' 2>/dev/null") then return python end
  end
end

local python = find_numpy()
local function numpy_time(dtype, m, n, k)
  local name = ({ f32 = "float32", f64 = "float64" })[dtype]
  if not python or not name then return nil end
  local pipe = assert(io.popen(("echo %s %d %d %d | %s -c '%s'"):format(name, m, n, k, python,
                                                                       PROGRAM)))
  local seconds = tonumber(pipe:read "l")
  pipe:close()
  return seconds
end

-- ---- the table

local rows = { { "product", "kernel", "1 thread", threads .. " threads", "BLAS", "NumPy" } }

local function kernel(plan) return tostring(plan):match "kernel: (%S+)" end

local function row(name, work, contestants, numpy)
  local rates = {}
  measure.run(contestants, ROUNDS, BATCH)
  for i = 1, 3 do
    local c = contestants[i]
    rates[i] = c and ("%.1f"):format(work / c.time / 1e9) or "-"
  end
  rows[#rows + 1] = { name, kernel(contestants[1].plan), rates[1], rates[2], rates[3],
                      numpy and ("%.1f"):format(work / numpy / 1e9) or "-" }
end

local function compare(dtype, form, m, n, k, result)
  local list = {}
  for i, device in ipairs(devices) do
    local c = product(device, dtype, form, m, n, k, result)
    if i < 3 or kernel(c.plan) == "gemm_blas" then list[i] = c end
  end
  row(("%s %s %dx%dx%d"):format(result and dtype .. "->" .. result or dtype, form, m, n, k),
      2 * m * n * k, list, form == "row" and numpy_time(dtype, m, n, k) or nil)
end

print(("moontile %s on %s; GFLOP/s; BLAS: %s\n"):format(tile._VERSION, devices[2]:about(),
                                                        library))
for _, n in ipairs { 64, 256, 1024, 2048 } do compare("f32", "row", n, n, n) end
for _, n in ipairs { 64, 256, 1024 } do compare("f64", "row", n, n, n) end
compare("f32", "column", 1024, 1024, 1024)
compare("f32", "TN", 1024, 1024, 1024)
compare("f32", "row", 1000, 999, 1001)
compare("f32", "row", 4096, 16, 4096)
compare("f32", "row", 64, 64, 65536)
compare("f32", "row", 16, 4096, 4096)
compare("f32", "row", 4096, 1, 4096)
compare("f32", "row", 4096, 8, 4096)
compare("f32", "row", 1, 4096, 4096)
compare("f32", "row", 16, 1000, 10007)
compare("f32", "row", 7, 5, 100000)
compare("bf16", "row", 1024, 1024, 1024, "f32")
compare("f16", "row", 1024, 1024, 1024)
compare("i8", "row", 1024, 1024, 1024, "i32")
row("f32 blocked 1024^3", 2 * 1024 ^ 3,
    { blocked(devices[1], "f32", 1024), blocked(devices[2], "f32", 1024) })
measure.print(rows)
