-- permutations.lua [COUNT [SEED]]: random permutations against cuMemcpyDtoDAsync.
-- SPDX-License-Identifier: MIT
--
-- Row-major tensors of rank 3 to 6 and of 1, 2, 4 or 8 bytes, 128 MiB and more, extents of
-- any kind; their modes in a random order (counted from 0), row-major again. Buffers take
-- turns; medians.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local copies = dofile(here .. "lib/copies.lua")
local tile = require "moontile"
local bench = measure.bench

local COUNT, SEED = tonumber(arg[1]) or 50, tonumber(arg[2]) or 20261121
local ROUNDS, BATCH, LEAST = 7, 2e-3, 128 << 20

local cuda, why = bench.cuda()
local device
if cuda then device, why = tile.device "cuda" end
if not device then
  print("permutations: not measured, there is no GPU to use: " .. tostring(why))
  os.exit(0)
end
math.randomseed(SEED)

local function new(dtype, layout) return measure.tensor(dtype, layout, device) end

local function measure_case(name, bytes, make)
  local plans = { assert(make(new)), assert(make(new)) }
  local k = 0
  local ours = { start = function() k = k % 2 + 1; plans[k]() end,
                 finish = function() device:synchronize() end }
  local buffers <close> = cuda:pairs(bytes, 2)
  local peer = { start = buffers, finish = function() cuda:synchronize() end }
  measure.run({ ours, peer }, ROUNDS, BATCH)
  return peer.time / ours.time, { name, measure.kernel(plans[1]),
                                  ("%.1f"):format(ours.time * 1e6),
                                  ("%.3f"):format(peer.time / ours.time) }
end

print(("moontile %s on %s; %d permutations, seed %d\n"):format(tile._VERSION, device:about(),
                                                              COUNT, SEED))
local rows = { { "permutation", "kernel", "us", "ratio" } }
local sum, worst = 0, math.huge
for i = 1, COUNT do
  local ratio
  ratio, rows[i + 1] = measure_case(table.unpack(copies.random(LEAST)))
  sum, worst = sum + math.log(ratio), math.min(worst, ratio)
  collectgarbage()
end
measure.print(rows)
print(("\ngeometric mean %.3f, worst %.3f"):format(math.exp(sum / COUNT), worst))
