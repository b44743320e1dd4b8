-- permutations.lua [COUNT [SEED]]: random permutations against cuMemcpyDtoDAsync.
-- SPDX-License-Identifier: MIT
--
-- Row-major tensors of rank 3 to 6 and of 1, 2, 4 or 8 bytes, 128 MiB and more, extents of
-- any kind; their modes in a random order, row-major again. Buffers take turns; medians.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local tile = require "moontile"
local bench = measure.bench

local COUNT, SEED = tonumber(arg[1]) or 50, tonumber(arg[2]) or 20261121
local ROUNDS, BATCH, LEAST = 7, 2e-3, 128 << 20
local TYPES = { { "u8", 1 }, { "f16", 2 }, { "f32", 4 }, { "f64", 8 } }

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("permutations: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end
math.randomseed(SEED)

-- Extents whose product is at least n, each about its share of what is left.
local function extents(n, rank)
  local shape, left = {}, n
  for i = 1, rank - 1 do
    local share = left ^ (1 / (rank - i + 1))
    shape[i] = math.max(2, math.floor(share * 2 ^ (math.random() * 3 - 1.5)))
    left = left / shape[i]
  end
  shape[rank] = math.max(2, math.ceil(left))
  return shape
end

-- Not the identity, and not one that only moves modes of one neighbourhood.
local function order_of(rank)
  local order = {}
  repeat
    for i = 1, rank do order[i] = i end
    for i = rank, 2, -1 do
      local j = math.random(i)
      order[i], order[j] = order[j], order[i]
    end
    local sorted = true
    for i = 1, rank do sorted = sorted and order[i] == i end
  until not sorted
  return order
end

local function shuffled(list)
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

local function right(shape) return tile.layout(shape, "right") end

local function plan_of(dtype, shape, order)
  local moved, inverse = {}, {}
  for i, o in ipairs(order) do moved[i], inverse[o] = shape[o], i end
  local src = measure.tensor(dtype, right(shape), device)
  local dst = measure.tensor(dtype, right(moved), device):select(table.unpack(inverse))
  return assert(tile.plan(src, dst))
end

local function measure_one(dtype, bytes, shape, order)
  local plans = { plan_of(dtype, shape, order), plan_of(dtype, shape, order) }
  local k = 0
  local ours = { start = function() k = k % 2 + 1; plans[k]() end,
                 finish = function() device:synchronize() end }
  local buffers <close> = cuda:pairs(bytes, 2)
  local peer = { start = buffers, finish = function() cuda:synchronize() end }
  measure.run({ ours, peer }, ROUNDS, BATCH)
  return peer.time / ours.time, ours.time, measure.kernel(plans[1])
end

print(("moontile %s on %s; %d permutations, seed %d\n"):format(tile._VERSION, device:about(),
                                                              COUNT, SEED))
local rows = { { "type", "shape", "order", "kernel", "us", "ratio" } }
local sum, worst = 0, math.huge
for _ = 1, COUNT do
  local kind, rank = TYPES[math.random(#TYPES)], math.random(3, 6)
  local shape = shuffled(extents(LEAST // kind[2], rank))
  local order, bytes = order_of(rank), kind[2]
  for _, e in ipairs(shape) do bytes = bytes * e end
  local ratio, time, kernel = measure_one(kind[1], bytes, shape, order)
  rows[#rows + 1] = { kind[1], table.concat(shape, "x"), table.concat(order, ","), kernel,
                      ("%.1f"):format(time * 1e6), ("%.3f"):format(ratio) }
  sum, worst = sum + math.log(ratio), math.min(worst, ratio)
  collectgarbage()
end
measure.print(rows)
print(("\ngeometric mean %.3f, worst %.3f"):format(math.exp(sum / COUNT), worst))
