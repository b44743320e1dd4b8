-- cpu.lua [threads]: copies on the CPU against memcpy by as many threads, and NumPy.
-- SPDX-License-Identifier: MIT
--
-- Contestants take turns in one run; medians are shown. NumPy runs in a process of its
-- own in between, where a Python with NumPy is found. GB/s count what is read and what is
-- written.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BATCH = 21, 30e-3
local MiB = 1 << 20
local threads = tonumber(arg[1]) or bench.processors()
local device = assert(tile.device{ "cpu", threads = threads })

local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

local function planned(src, dst)
  local plan = assert(tile.plan(src, dst))
  return { plan = plan, start = plan, finish = function() device:synchronize() end }
end

local function flat(n)
  return planned(new("f32", tile.layout(n)), new("f32", tile.layout(n)))
end

local function memcpy(bytes)
  return { start = bench.memcpy(bytes, threads), finish = function() end }
end

-- ---- NumPy

local PROGRAM = [[
import numpy, time
a = numpy.random.rand(4096, 4096).astype(numpy.float32)
old = numpy.zeros_like(a)
for i in range(6):
    t = time.perf_counter()
    b = numpy.ascontiguousarray(a.T)
    u = time.perf_counter()
    numpy.copyto(old, a.T)
    v = time.perf_counter()
    if i: print(u - t, v - u)
    del b
]]

local function find_numpy()
  for _, python in ipairs{ os.getenv "PYTHON" or "/usr/bin/python3", "python3" } do
    if os.execute(python .. " -c 'import numpy' 2>/dev/null") then return python end
  end
end

local copyto = {}        -- samples of the copy to an array that is there already

local function numpy_samples(python, samples)
  local pipe = assert(io.popen(("%s -c '%s'"):format(python, PROGRAM)))
  for a, b in pipe:read "a":gmatch "(%S+) (%S+)\n" do
    samples[#samples + 1], copyto[#copyto + 1] = tonumber(a), tonumber(b)
  end
  pipe:close()
end

-- ---- the table

local head = { "copy", "kernel", "ms", "GB/s", "memcpy ms", "ratio", "NumPy ms", "times" }
local rows = { head }

local function measure_case(name, bytes, ours, python)
  local peer, samples = memcpy(bytes), {}
  for _ = 1, python and 3 or 1 do
    measure.run({ ours, peer }, python and ROUNDS // 3 or ROUNDS, BATCH)
    ours.all, peer.all = ours.all or {}, peer.all or {}
    table.move(ours.samples, 1, #ours.samples, #ours.all + 1, ours.all)
    table.move(peer.samples, 1, #peer.samples, #peer.all + 1, peer.all)
    if python then numpy_samples(python, samples) end
  end
  for _, all in ipairs{ ours.all, peer.all, samples } do table.sort(all) end
  local a, b = ours.all[#ours.all // 2 + 1], peer.all[#peer.all // 2 + 1]
  local c = samples[#samples // 2 + 1]
  rows[#rows + 1] = { name, measure.kernel(ours.plan), ("%.2f"):format(a * 1e3),
                      measure.gigabytes(bytes, a), ("%.2f"):format(b * 1e3),
                      ("%.2f"):format(b / a), c and ("%.2f"):format(c * 1e3) or "-",
                      c and ("%.1f"):format(c / a) or "-" }
end

print(("moontile %s on %s, %d threads\n"):format(tile._VERSION, device:about(), threads))
local n, right = 4096, tile.layout({ 4096, 4096 }, "right")
measure_case("contiguous 256 MiB", 256 * MiB, flat(64 * MiB))
measure_case("contiguous 64 MiB", 64 * MiB, flat(16 * MiB))
measure_case("contiguous 4 MiB", 4 * MiB, flat(MiB))
measure_case("transpose f32 4096^2", 4 * n * n,
             planned(new("f32", right), new("f32", right):select(2, 1)), find_numpy())
measure_case("transpose u8 8191x4099", 8191 * 4099,
             planned(new("u8", tile.layout({ 8191, 4099 }, "right")),
                     new("u8", tile.layout({ 4099, 8191 }, "right")):select(2, 1)))
measure.print(rows)

if #copyto > 0 then
  table.sort(copyto)
  print(("\nNumPy is ascontiguousarray(a.T); copyto an array that is there: %.2f ms")
        :format(copyto[#copyto // 2 + 1] * 1e3))
end
