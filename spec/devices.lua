-- devices.lua: the devices that specs run on: the CPU, its checked mode, and a GPU: of the driver
-- named by MOONTILE_TEST_LIBCUDA (the fake one, in ctest), else a real one where there is one.
-- what: what tile.device was told; fake: its driver is that of the tests.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

local found = {}
local function add(label, what, fake)
  local device = tile.device(what)
  if device then
    found[#found + 1] = { label = label, device = device, what = what, fake = fake }
  end
end

add("cpu", "cpu")
add("cpu:checked", "cpu:checked")
local fake = os.getenv "MOONTILE_TEST_LIBCUDA"
if fake then
  add("cuda of MOONTILE_TEST_LIBCUDA", { "cuda", libcuda = fake }, true)
else
  add("cuda", "cuda")
end

return found
