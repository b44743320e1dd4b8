-- launch.lua: what a launch costs: plan(), tile.copy, graphs, against the driver alone.
-- SPDX-License-Identifier: MIT
--
-- launch.lua bare: only plans, and calls that find theirs, beside their own launches bare: the same
-- kernels with the same parameters and attributes, given to the driver in a loop of C. "C API" is
-- mt_plan_launch in such a loop.
--
-- The peer of a launch is otherwise an empty kernel with a parameter of the same size, launched in
-- a loop of C. The peers of a graph are graphs that C captured with the driver alone: of that
-- kernel, of the driver's copies of 4 KiB, of moontile's own kernel with the parameter that
-- its plan has, launched plainly or early. Edges: how many are programmatic, so that a node
-- may come up before the end of the one before. "queued": until the call returns; "done":
-- until the GPU has done it, a batch and one synchronization for both alike. Contestants
-- take turns; medians of ROUNDS samples.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local layout = tile.layout
local bench = measure.bench

local ROUNDS, LAUNCHES, NODES, REPLAYS = 101, 200, 100, 20

local function median(samples)
  table.sort(samples)
  return samples[(#samples + 1) // 2]
end

-- Contestants are functions that give seconds of one launch; the medians.
local function compare(...)
  local samples, medians = {}, {}
  for round = 0, ROUNDS do                         -- the first round warms up
    for k, f in ipairs { ... } do
      samples[k] = samples[k] or {}
      local t = f()
      if round > 0 then samples[k][round] = t end
    end
  end
  for k, list in ipairs(samples) do medians[k] = median(list) end
  return table.unpack(medians)
end

-- Seconds of one of n calls: until they return; until the device is done.
local function queued(f, n, each, wait)
  return function()
    local t = bench.now()
    for _ = 1, n do f() end
    t = bench.now() - t
    wait()
    return t / (n * each)
  end
end

local function done(f, n, each, wait)
  return function()
    wait()
    local t = bench.now()
    for _ = 1, n do f() end
    wait()
    return (bench.now() - t) / (n * each)
  end
end

local function micro(seconds) return ("%.3f"):format(seconds * 1e6) end

-- ---- what a device costs in Lua alone

local function small(device)
  local A = tile.layout({ 32, 32 }, "right")
  return tile.tensor("f32", A, device), tile.tensor("f32", A, device)
end

local function in_lua(name)
  local device = tile.device(name)
  if not device then return end
  local src, dst = small(device)
  local plan = assert(tile.plan(src, dst))
  local function wait() device:synchronize() end
  local now, again = compare(
    queued(function() tile.copy(src, dst) end, LAUNCHES, 1, wait),
    queued(plan, LAUNCHES, 1, wait))
  return { name, micro(now), micro(again) }
end

-- ---- graphs

local BARE = {
  { "driver, moontile's kernel, 4 KiB, early", "early" },
  { "driver, moontile's kernel, 4 KiB", "kernel" },
  { "driver, cuMemcpyDtoDAsync, 4 KiB", "memcpy" },
  { "driver, empty kernel", "empty" },
  { "driver, empty kernel, parameter of 64 bytes", "small" },
}

local function edges_of(graph)
  local early, all = graph:edges()
  return early and ("%d of %d"):format(early, all) or "-"
end

-- Graphs of NODES launches: { name, graph, wait, edges }.
local function graphs_of(device, cuda, plans)
  local list = {}
  for _, case in ipairs(plans) do
    local plan = case[2]
    local graph = assert(device:graph(function() for _ = 1, NODES do plan() end end))
    list[#list + 1] = { case[1], graph, function() device:synchronize() end, "-" }
  end
  for _, case in ipairs(BARE) do
    local good, graph = pcall(cuda.graph, cuda, NODES, case[2])
    if good then
      list[#list + 1] = { case[1], graph, function() cuda:synchronize() end, edges_of(graph) }
    else
      print(("%s: not measured: %s"):format(case[1], graph))
    end
  end
  return list
end

local function in_graphs(device, cuda, plans)
  local rows = { { ("graph of %d launches"):format(NODES), "node, done, us", "call, queued, us",
                   "early edges" } }
  local calls, nodes = {}, {}
  local list = graphs_of(device, cuda, plans)
  for k, g in ipairs(list) do
    nodes[k] = done(g[2], REPLAYS, NODES, g[3])
    calls[k] = queued(g[2], REPLAYS, 1, g[3])
  end
  nodes = { compare(table.unpack(nodes)) }
  calls = { compare(table.unpack(calls)) }
  for k, g in ipairs(list) do rows[k + 1] = { g[1], micro(nodes[k]), micro(calls[k]), g[4] } end
  measure.print(rows)
end

-- ---- the same launches bare

-- A case's calls in Lua: the plan, and what finds its plan.
local function calls_of(device, kind, layouts)
  local t, dtype = {}, kind == "copy" and "f32" or "bf16"
  for i, text in ipairs(layouts) do
    local A = tile.parse(text)
    t[i] = tile.tensor(dtype, layout(tile.cosize(A)), device):view(A)
  end
  if kind == "copy" then
    return assert(tile.plan(t[1], t[2])), function() tile.copy(t[1], t[2]) end
  end
  local options = { family = "hopper" }
  local plan = assert(tile.plan_gemm(t[1], t[2], t[3], options))
  local A, B, C = t[1], t[2], t[3]
  return plan, function() tile.gemm(A, B, C) end
end

local function beside_bare(device)
  local rows = { { "queued, us", "launches", "bare", "C API", "plan()", "tile.copy, tile.gemm",
                   "plan() - bare" } }
  local function wait() device:synchronize() end
  for _, kind in ipairs { "copy", "gemm", "packed" } do
    local bare, a, b, c = bench.bare(kind)
    local plan, call = calls_of(device, kind, { a, b, c })
    local function looped(f)
      return function()
        local t = f(LAUNCHES) / LAUNCHES
        bare:synchronize()
        return t
      end
    end
    local t, library, ours, again = compare(
      looped(function(n) return bare(n) end), looped(function(n) return bare:library(n) end),
      queued(plan, LAUNCHES, 1, wait), queued(call, LAUNCHES, 1, wait))
    rows[#rows + 1] = { kind, bare:launches(), micro(t), micro(library), micro(ours), micro(again),
                        micro(ours - t) }
  end
  measure.print(rows)
  print()
end

-- ---- against the driver

local function on_gpu(device, cuda)
  local src, dst = small(device)
  local plan = assert(tile.plan(src, dst))
  local one = tile.layout(4)
  local least = assert(tile.plan(src:view(one), dst:view(one)))
  local function wait() device:synchronize() end
  local function still() cuda:synchronize() end
  local function bare() cuda:launch(1) end
  local function loop()
    local t = cuda:launch(LAUNCHES) / LAUNCHES
    still()
    return t
  end
  local rows = { { "launch", "moontile us", "driver us", "difference us", "ratio" } }
  local function row(name, ours, theirs)
    local a, b = compare(ours, theirs)
    rows[#rows + 1] = { name, micro(a), micro(b), micro(a - b), ("%.3f"):format(b / a) }
  end
  row("plan(), 4 KiB, queued", queued(plan, LAUNCHES, 1, wait), loop)
  row("plan(), 4 KiB, done", done(plan, LAUNCHES, 1, wait), done(bare, LAUNCHES, 1, still))
  row("plan(), 16 bytes, done", done(least, LAUNCHES, 1, wait), done(bare, LAUNCHES, 1, still))
  measure.print(rows)
  print()
  in_graphs(device, cuda, { { "moontile, 4 KiB", plan }, { "moontile, 16 bytes", least } })
end

print(("moontile %s\n"):format(tile._VERSION))
local device, why = tile.device "cuda"
if device and device:about():find "sm_90" then beside_bare(device) end
if arg[1] == "bare" then os.exit(0) end

local rows = { { "f32 32x32 to 32x32, queued", "tile.copy us", "plan() us" } }
for _, name in ipairs { "cpu", "cpu:checked", "cuda" } do rows[#rows + 1] = in_lua(name) end
measure.print(rows)
print()

local cuda, none = bench.cuda()
if device and cuda then
  print(device:about() .. "\n")
  on_gpu(device, cuda)
else
  print("launch: not measured against the driver, there is no GPU to use: "
        .. tostring(why or none))
end
