-- copy.lua: copies on the GPU against cuMemcpyDtoDAsync; launch.lua has the cost of a launch.
-- SPDX-License-Identifier: MIT
--
-- Random data; buffers take turns so that no cache holds them; contestants take turns;
-- each sample is a batch of launches and one synchronization, for both alike; medians are
-- shown. GB/s count what is read and what is written. The ratio is memcpy's time by ours,
-- for the same number of bytes moved: beside a copy that converts, which reads r bytes and
-- writes w, stands a memcpy of (r + w) / 2 bytes, so that it reads and writes r + w in all.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local ROUNDS, BATCH = 15, 4e-3
local MiB, GiB = 1 << 20, 1 << 30

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("copy: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end

-- How many pairs of buffers it takes to be far beyond any cache.
local function turns(bytes) return math.max(1, (512 * MiB) // (2 * bytes)) end

-- A contestant that calls its plans in turn.
local function planned(plans)
  local k = 0
  return { start = function() k = k % #plans + 1; plans[k]() end,
           finish = function() device:synchronize() end }
end

local function right(...) return tile.layout({ ... }, "right") end
local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

-- A case makes one plan; it is asked for as many as there are turns.
local function flat(dtype, n)
  local A = tile.layout(n)
  return function() return tile.plan(new(dtype, A), new(dtype, A)) end
end

local function described(dtype, M, N, atom, thr, val)
  return function()
    local copy = tile.tiled_copy{ atom = atom, dtype = dtype, thr = thr, val = val }
    return tile.plan(copy, new(dtype, right(M, N)), new(dtype, right(M, N)))
  end
end

local function transposed(dtype, bits, M, N)
  return function()
    local copy = bits and tile.tiled_copy{
      atom = ("UniversalCopy<uint%d_t>"):format(bits), dtype = dtype,
      thr = tile.layout({ 32, 8 }, { 1, 32 }), val = tile.layout{ 1, 128 // bits } }
    local src, dst = new(dtype, right(M, N)), new(dtype, right(N, M)):select(2, 1)
    if copy then return tile.plan(copy, src, dst) end
    return tile.plan(src, dst)
  end
end

-- A row-major tensor of this shape, its modes in another order (counted from 0, as
-- torch.permute does), row-major again.
local function permuted(dtype, shape, order)
  local moved, inverse = {}, {}
  for i, o in ipairs(order) do moved[i], inverse[o + 1] = shape[o + 1], i end
  return function()
    local src = new(dtype, right(table.unpack(shape)))
    local dst = new(dtype, right(table.unpack(moved))):select(table.unpack(inverse))
    return tile.plan(src, dst)
  end
end

-- Row-major, and in tiles of 8x8 blocks of 2x2 elements, each in one piece.
local function blocked(dtype, M, N, back)
  local A = right(M, N)
  local B = tile.layout(
    { { 2, 8, M // 16 }, { 2, 8, N // 16 } },
    { { 2, 32, 256 * (N // 16) }, { 1, 4, 256 } })
  return function()
    local src, dst = new(dtype, back and B or A), new(dtype, back and A or B)
    return tile.plan(src:view(back and B or A), dst:view(back and A or B))
  end
end

local vector = "UniversalCopy<uint128_t>"
local rows8 = tile.layout({ 32, 8 }, { 8, 1 })
local T, P = transposed, permuted
local function bytes_of(dtype, ...)
  local n = ({ u8 = 1, f16 = 2, f32 = 4, f64 = 8 })[dtype]
  for _, e in ipairs { ... } do n = n * e end
  return n
end
local cases = {
  { "contiguous 1 GiB",                    GiB,             flat("f32", GiB // 4) },
  { "contiguous 64 MiB",                   64 * MiB,        flat("f32", 16 * MiB) },
  { "contiguous 4 MiB",                    4 * MiB,         flat("f32", MiB) },
  { "row-major f32 8192^2, described",     256 * MiB,
    described("f32", 8192, 8192, vector, rows8, tile.layout{ 1, 4 }) },
  { "row-major f16 8192^2, described",     128 * MiB,
    described("f16", 8192, 8192, vector, rows8, tile.layout{ 1, 8 }) },
  { "transpose f32 8192^2, described",     256 * MiB,       T("f32", 32, 8192, 8192) },
}
local function add(name, dtype, shape, order)
  cases[#cases + 1] = { name, bytes_of(dtype, table.unpack(shape)), P(dtype, shape, order) }
end
for _, d in ipairs { "f32", "f16", "u8", "f64" } do
  add("T " .. d .. " 8192^2", d, { 8192, 8192 }, { 1, 0 })
end
for _, d in ipairs { "f32", "f16", "u8" } do
  add("T " .. d .. " 8191x4099", d, { 8191, 4099 }, { 1, 0 })
end
add("NCHW->NHWC f16 64,256,56,56", "f16", { 64, 256, 56, 56 }, { 0, 2, 3, 1 })
add("NHWC->NCHW f16 64,56,56,256", "f16", { 64, 56, 56, 256 }, { 0, 3, 1, 2 })
add("NCHW->NHWC u8 256,3,224,224", "u8", { 256, 3, 224, 224 }, { 0, 2, 3, 1 })
add("NHWC->NCHW f32 256,224,224,3", "f32", { 256, 224, 224, 3 }, { 0, 3, 1, 2 })
add("attention f16 32,2048,32,128", "f16", { 32, 2048, 32, 128 }, { 0, 2, 1, 3 })
add("3-D f32 512,384,256 (2,1,0)", "f32", { 512, 384, 256 }, { 2, 1, 0 })
add("3-D f16 512,768,512 (2,0,1)", "f16", { 512, 768, 512 }, { 2, 0, 1 })
add("3-D f32 511,383,257 (2,1,0)", "f32", { 511, 383, 257 }, { 2, 1, 0 })
add("4-D f32 64,96,128,80 reversed", "f32", { 64, 96, 128, 80 }, { 3, 2, 1, 0 })
add("5-D f32 24,48,32,40,36", "f32", { 24, 48, 32, 40, 36 }, { 4, 2, 0, 3, 1 })
add("5-D f16 32,64,32,48,32", "f16", { 32, 64, 32, 48, 32 }, { 1, 4, 0, 3, 2 })
add("6-D f32 16,20,24,28,12,16", "f32", { 16, 20, 24, 28, 12, 16 }, { 5, 2, 4, 0, 3, 1 })
add("6-D f16 16,24,20,16,28,24", "f16", { 16, 24, 20, 16, 28, 24 }, { 3, 1, 5, 0, 2, 4 })
cases[#cases + 1] = { "slice f16 16384x8192 of 12288", bytes_of("f16", 16384, 8192),
  function()
    local wide = new("f16", right(16384, 12288))
    local src = wide:view(tile.layout({ 16384, 8192 }, { 12288, 1 }))
    return tile.plan(src, new("f16", right(16384, 8192)))
  end }
for _, d in ipairs { "f16", "f32" } do
  for _, back in ipairs { false, true } do
    cases[#cases + 1] = { ("%s 8192^2 %s"):format(d, back and "from blocks" or "to blocks"),
                          bytes_of(d, 8192, 8192), blocked(d, 8192, 8192, back) }
  end
end
for _, n in ipairs { 512, 1024, 2048 } do
  add(("T f32 %d^2"):format(n), "f32", { n, n }, { 1, 0 })
end

-- Copies that convert; the last two have no kernel of their own.
for _, row in ipairs {
  { "f32", 4, "bf16", 2, 8192, 8192 }, { "f32", 4, "bf16", 2, 8192, 8192, true },
  { "f32", 4, "bf16", 2, 8191, 4099, true }, { "bf16", 2, "f32", 4, 8192, 8192 },
  { "bf16", 2, "f32", 4, 8192, 8192, true }, { "f32", 4, "f16", 2, 8192, 8192, true },
  { "f32", 4, "i8", 1, 8192, 8192 }, { "u8", 1, "f32", 4, 8192, 8192 },
  { "i32", 4, "f64", 8, 4096, 8192 }, { "i32", 4, "f64", 8, 4096, 8192, true },
} do
  local from, size, to, other, M, N, turned = table.unpack(row)
  cases[#cases + 1] = {
    ("%s -> %s %dx%d%s"):format(from, to, M, N, turned and " T" or ""),
    M * N * (size + other) // 2,
    function()
      local dst = new(to, turned and right(N, M) or right(M, N))
      return tile.plan(new(from, right(M, N)), turned and dst:select(2, 1) or dst)
    end }
end

local function measure_case(name, bytes, make)
  local plans = {}
  for k = 1, turns(bytes) do plans[k] = assert(make()) end
  local pairs_of_buffers <close> = cuda:pairs(bytes, turns(bytes))
  local ours = planned(plans)
  local peer = { start = pairs_of_buffers, finish = function() cuda:synchronize() end }
  measure.run({ ours, peer }, ROUNDS, BATCH)
  return { name, measure.kernel(plans[1]), ("%.1f"):format(ours.time * 1e6),
           measure.gigabytes(bytes, ours.time), ("%.1f"):format(peer.time * 1e6),
           measure.gigabytes(bytes, peer.time), ("%.3f"):format(peer.time / ours.time),
           ("%.1f %%"):format(100 * math.max(ours.spread, peer.spread)) }
end

print(("moontile %s on %s\n"):format(tile._VERSION, device:about()))
local head = { "copy", "kernel", "us", "GB/s", "memcpy us", "GB/s", "ratio", "spread" }
local rows = { head }
for _, case in ipairs(cases) do
  rows[#rows + 1] = measure_case(table.unpack(case))
  collectgarbage()
end
measure.print(rows)
