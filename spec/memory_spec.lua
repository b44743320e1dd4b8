-- memory_spec.lua: buffers press on the collector; memory that is not there is a result.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

for _, d in ipairs(devices) do
  describe("memory of " .. d.label, function()
    it("comes back without a call of the collector", function()
      collectgarbage()
      local before, most = tile.held(), 0
      for _ = 1, 200 do
        tile.tensor("u8", layout(4 << 20), d.device)
        most = math.max(most, tile.held() - before)
      end
      assert.is_true(most <= 200 << 20 >> 2, most)
      collectgarbage()
      assert.is_true(tile.held() <= before)
    end)

    it("that is not there is nil, a message and ENOMEM, 100 times in a row", function()
      collectgarbage()
      local before = tile.held()
      for _ = 1, 100 do
        local T, message, code = tile.tensor("u8", layout(1 << 50), d.device)
        assert.is_nil(T)
        assert.is_string(message)
        assert.equal("ENOMEM", code)
      end
      assert.equal(before, tile.held())
      assert.equal(7, tile.tensor("u8", layout(16), d.device):fill(7)(3))
    end)
  end)
end

-- KiB of this process for which large pages were asked, in regions of so many KiB and more; nil:
-- the system does not say.
local function asked_large(least)
  local maps = io.open "/proc/self/smaps"
  local text = maps and maps:read "a" or ""
  if maps then maps:close() end
  if not text:find "VmFlags" or not io.open "/sys/kernel/mm/transparent_hugepage/enabled" then
    return nil
  end
  local sum, size = 0, 0
  for key, value in text:gmatch "(%w+):([^\n]*)" do
    if key == "Size" then size = tonumber(value:match "%d+") end
    local asked = key == "VmFlags" and (value .. " "):find(" hg ", 1, true)
    if asked and size >= least then sum = sum + size end
  end
  return sum
end

describe("large memory of the host", function()
  -- More than 32 MiB are never what was freed before; what is smaller comes and goes.
  it("is asked for in large pages", function()
    collectgarbage()
    collectgarbage()
    local least = 63 << 10
    local before = asked_large(least)
    local T = tile.tensor("u8", layout(65 << 20), tile.device "cpu")
    if before then assert.is_true(asked_large(least) >= before + least) end
    assert.equal(65 << 20, T:size())
  end)
end)

describe("devices", function()
  it("are one object for each name", function()
    assert.equal(tile.device "cpu", tile.device "cpu")
    assert.equal(tile.device(), tile.device(tile.device():name()))
    assert.equal(tile.device "cpu", tile.tensor("f32", layout(4)):device())
    assert.not_equal(tile.device "cpu", tile.device { "cpu", threads = 1 })
    assert.equal(tile.device { "cpu", threads = 1 }, tile.device { "cpu", threads = 1 })
  end)

  it("that are not there are nil, a message and a code", function()
    local D, message, code = tile.device { "cuda", libcuda = "/nonexistent/libcuda.so.1" }
    assert.is_nil(D)
    assert.is_string(message)
    assert.equal("ENODEV", code)
    local T = tile.tensor("f32", layout(4))
    local moved, why, how = T:to "cuda:999"
    assert.is_nil(moved)
    assert.is_string(why)
    assert.equal("ENODEV", how)
  end)

  it("are listed with what the library carries", function()
    local info = tile.info()
    assert.equal(tile._VERSION, info.version)
    assert.equal("cpu", info.devices[1].name)
    assert.is_true(#info.devices[1].about > 0)
    assert.is_true(#info.kernels.cpu > 0)
    assert.same(info.kernels.cpu, tile.kernels "cpu")
    assert.same(info.kernels.cuda, tile.kernels "cuda:1")
    assert.has_error(function() tile.kernels "gpu" end, 'there is no device "gpu": "cpu", '
                     .. '"cpu:checked", "cuda" and "cuda:N" are names of devices')
    assert.is_true(#info.devices > 1 or #info.cuda > 0)
  end)

  it("do not mix", function()
    local one = tile.tensor("f32", layout(4), tile.device { "cpu", threads = 1 })
    local two = tile.tensor("f32", layout(4))
    assert.has_error(function() tile.copy(one, two) end,
      "copy: src is on cpu, dst is on cpu; T:to(device) moves a tensor")
  end)
end)
