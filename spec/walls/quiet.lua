-- quiet.lua: `require` loads no driver, though there is one; the first device call does.
-- SPDX-License-Identifier: MIT

local function loaded()
  for line in io.lines "/proc/self/maps" do
    if line:find("libcuda.so", 1, true) then return true end
  end
  return false
end

local tile = require "moontile"
local a = tile.layout({ 4, { 2, 2 } }, { 2, { 1, 8 } })
assert(tostring(a / 4 * 2) ~= "", "layouts work")
tile.tensor("f32", a)
assert(not loaded(), "the driver was loaded before a device was asked for")

-- The driver made for tests is first on the library path: it must show now.
local driver = os.getenv "MOONTILE_TEST_LIBCUDA"
local file = driver and io.open(driver)
if file then
  file:close()
  local d = tile.device "cuda"
  print(d or "no device")
  assert(loaded(), "the driver was not loaded by the device")
end
