-- lifetime_spec.lua: what a script frees in the middle of a call is an error, never a crash.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

-- A sequence of n times 1 that calls f when element k is read.
local function trap(n, k, f)
  return setmetatable({}, {
    __len = function() return n end,
    __index = function(_, i)
      if i == k then f() end
      return 1
    end,
  })
end

local layouts = { "8:1", "(4,2):(2,1)", "Sw<1,0,1> o 0 o (4,2):(2,1)", "8:0" }

for _, d in ipairs(devices) do
  describe("a table that runs a function, on " .. d.label .. ",", function()
    for _, text in ipairs(layouts) do
      it("may free what it fills: " .. text, function()
        for k = 1, 8 do
          local T = tile.tensor("f32", layout(text), d.device)
          assert.has_error(function() T:fill(trap(8, k, function() T:free() end)) end,
            "this tensor was freed")
        end
      end)
    end

    it("may free the tensor of a view", function()
      local T = tile.tensor("u8", layout(64), d.device)
      assert.has_error(function()
        T:view(layout(8), 3):fill(trap(8, 8, function() T:free() end))
      end, "this tensor was freed")
    end)

    it("has one length", function()
      local n, T = 7, tile.tensor("u8", layout(8), d.device)
      local growing = setmetatable({}, { __len = function() n = n + 1 return n end,
                                         __index = function(_, i) return i end })
      assert.same({ 1, 2, 3, 4, 5, 6, 7, 8 }, T:fill(growing):totable())
      assert.has_error(function() T:fill(growing) end, "fill: 8 values expected, got 9")
    end)

    it("writes nothing if a value is refused", function()
      local T = tile.tensor("u8", layout(4), d.device):fill(7)
      assert.is_false(pcall(T.fill, T, { 1, 2, 3, "x" }))
      assert.is_false(pcall(T.fill, T, { 1, 2, 3, 256 }))
      assert.same({ 7, 7, 7, 7 }, T:totable())
    end)
  end)

  describe("options that run a function, on " .. d.label .. ",", function()
    local function options(key, value, f)
      local proxy = { [key] = value }
      return setmetatable(proxy, { __index = function(_, k) if k ~= key then f() end end })
    end

    it("may free the operands of a product", function()
      for which = 1, 3 do
        local t = {}
        for i = 1, 3 do t[i] = tile.tensor("f32", layout { 4, 4 }, d.device) end
        assert.has_error(function()
          tile.gemm(t[1], t[2], t[3], options("alpha", 2, function() t[which]:free() end))
        end, "this tensor was freed")
      end
    end)

    it("may close the stream of a product", function()
      local t, stream = {}, d.device:stream()
      for i = 1, 3 do t[i] = tile.tensor("f32", layout { 4, 4 }, d.device) end
      local o = setmetatable({}, { __index = function(_, k)
        if k == "stream" then stream:close() return stream end
      end })
      assert.has_error(function() tile.gemm(t[1], t[2], t[3], o) end, "this stream is closed")
    end)
  end)
end
