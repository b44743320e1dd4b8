-- ends_spec.lua: no call works for longer because a number that it was given is large, or because
-- the values of a layout were chosen against it: each ends within so many instructions.
-- SPDX-License-Identifier: MIT

local assert = require "luassert"
local tile = require "moontile"
local layout, function_layout = tile.layout, tile.function_layout
local MAX, MIN = math.maxinteger, math.mininteger

local times = tonumber(os.getenv "MOONTILE_TIMES") or 1
math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())

-- What pcall(f) gives, if it ends within so many millions of Lua's instructions.
local function within(millions, f)
  local steps = 0
  debug.sethook(function()
    steps = steps + 1
    if steps >= 100 * millions then error("it does not end", 0) end
  end, "", 10000)
  local ok, x = pcall(f)
  debug.sethook()
  assert.is_true(steps < 100 * millions, "it does not end")
  return ok, x
end

local function refused(millions, why, f)
  local ok, x = within(millions, f)
  assert.is_false(ok)
  assert.matches(why, x, 1, true)
end

describe("wider elements", function()
  local far = tile.make_composed_layout(tile.swizzle(2, 0, 3), MIN, layout "Sw<1,0,4> o 8:1")

  it("of any size", function()
    for _, n in ipairs { MAX, MAX - 1, 1 << 62, (1 << 62) + 2, 963761198400 * 3, 4294967291 } do
      within(4, function() return tile.upcast(far, n) end)
      within(4, function() return tile.recast_layout(1, n, far) end)
      within(4, function() return tile.downcast(far, n) end)
    end
  end)

  it("of a list that tears them late", function()
    local A = function_layout(4096, function(i) return i < 2048 and i * i or MAX - i % 2 * 9000 end)
    within(100, function() return tile.upcast(A, 1 << 24) end)
    within(100, function() return tile.upcast(A, 963761198400) end)
  end)

  it("of a list without elements", function()
    local A = tile.parse "(2,8):(F7,F31) o 0 o (2,0):(1,1)"
    assert.equal(0, tile.size(tile.upcast(A, 2)))
  end)

  -- The way out is the largest part of n that will do.
  it("say which would do", function()
    local torn, told = 0, 0
    for _ = 1, 300 * times do
      local wide = math.random(1, 4)
      local at = {}
      for i = 1, 8 do at[i] = i - 1 end
      for i = 8, 2, -1 do
        local k = math.random(i)
        at[i], at[k] = at[k], at[i]
      end
      local A = function_layout({ wide, 8 }, function(i, j) return i + wide * at[j + 1] end)
      local n = math.random(2, 24)
      local ok, why = pcall(tile.upcast, A, n)
      if not ok and why:find "tear elements apart" then
        local best
        for d = 2, n - 1 do
          if n % d == 0 and pcall(tile.upcast, A, d) then best = d end
        end
        torn, told = torn + 1, told + (best and 1 or 0)
        assert.equal(best, math.tointeger(why:match "elements of (%d+) would do"), why)
      end
    end
    assert.is_true(torn > 20 and told > 5)
  end)
end)

describe("functions of coordinates", function()
  for why, f in pairs {
    ["one value is another, periods are many"] = function(i) return i == 8191 and 70000 or 0 end,
    ["one value has the bits of all swizzles"] =
      function(i) return i == 8191 and 1 << 61 | 0x155555555555555 or 0 end,
    ["their sums would leave 64 bits"] = function(i) return i < 4096 and i * i or MAX end,
    ["two halves turn round at two periods"] =
      function(i) return i < 4096 and i % 4095 or i % 4094 end,
  } do
    it("are listed: " .. why, function()
      local ok, A = within(60, function() return function_layout(8192, f) end)
      assert.is_true(ok, A)
      for i = 0, 8191, 13 do assert.equal(f(i), A(i)) end
      assert.equal(f(8191), A(8191))
    end)
  end
end)

describe("layouts of 2^63 - 1", function()
  local huge = layout(("%d:0"):format(MAX))

  it("as CTAs of a mask", function()
    assert.equal(1, tile.create_tma_multicast_mask(huge, tile._))
    assert.equal(3, tile.create_tma_multicast_mask(layout(("(2,%d):(1,0)"):format(1 << 61)),
                                                   tile._))
    refused(1, "the mask has 16 bits", function()
      return tile.create_tma_multicast_mask(layout(1 << 40), tile._)
    end)
    refused(1, "the mask has 16 bits", function()
      return tile.create_tma_multicast_mask(layout "Sw<1,0,1> o 0 o (1048576,1048576):(1,0)",
                                            tile._)
    end)
  end)

  it("in a header of CuTe's", function()
    for _, n in ipairs { MAX, 1 << 62, (1 << 62) + 1 } do
      local ok, text = within(1, function() return tile.cute(layout(n), "header") end)
      assert.is_true(ok, text)
      assert.matches(("(%d) == %d"):format(n - 1, n - 1), text, 1, true)
    end
  end)
end)
