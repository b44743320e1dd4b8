-- main.lua: random ragged tiles on a device.
--   moontile spec/ragged/main.lua [device] [cases] [seed]
-- SPDX-License-Identifier: MIT

local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/?.lua;" .. package.path
local tile = require "moontile"
local run = require "random"

local name, cases = arg[1] or "cpu", tonumber(arg[2] or os.getenv "MOONTILE_RAGGED" or 2000)
local seed = tonumber(arg[3] or os.time() * 1000)
local library = os.getenv "MOONTILE_TEST_LIBCUDA"
local fake = name == "cuda" and library and { "cuda", libcuda = library }
local device = assert(tile.device(fake or name))
local host = name:match "^cuda" and assert(tile.device "cpu") or nil
print(("%s: %d cases from seed %d"):format(device:name(), cases, seed))
local x = run { device = device, host = host, cases = cases, seed = seed }
print(("%d ragged views, %d filled, %d copies, %d products, %d refused"):format(x.ragged, x.filled,
      x.copied, x.products, x.refused))
