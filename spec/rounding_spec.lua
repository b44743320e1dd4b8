-- rounding_spec.lua: conversions that round to nearest, towards zero, down or up, on every device.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

-- All finite numbers of a float of 16 bits or less that are not negative, in order.
local function floats(e, m, top)
  local list, bias = {}, (1 << (e - 1)) - 1
  for code = 0, top do
    local exponent, fraction = code >> m, code & ((1 << m) - 1)
    list[#list + 1] = exponent == 0 and fraction * 2.0 ^ (1 - bias - m)
                      or (1 + fraction / (1 << m)) * 2.0 ^ (exponent - bias)
  end
  return list
end
local function integers(low, high)
  return { at = function(x) return math.floor(x) end, low = low, high = high }
end
local TYPES = {
  f16 = floats(5, 10, 0x7bff), bf16 = floats(8, 7, 0x7f7f), e5m2 = floats(5, 2, 0x7b),
  e4m3 = floats(4, 3, 0x7e),
  i8 = integers(-128, 127), u8 = integers(0, 255), i16 = integers(-32768, 32767),
  u16 = integers(0, 65535), i32 = integers(-(1 << 31), (1 << 31) - 1),
  u32 = integers(0, (1 << 32) - 1),
}

-- The largest of the list that is x at most: its place, 0 if there is none.
local function below(list, x)
  local low, high = 0, #list
  while low < high do
    local mid = (low + high + 1) // 2
    if list[mid] <= x then low = mid else high = mid - 1 end
  end
  return low
end

-- x rounded away from zero or towards it, of the numbers that are not negative.
local function magnitude(list, x, away, infinity)
  local i = below(list, x)
  if list[i] == x or not away then return list[i] end
  return list[i + 1] or infinity
end

local function rounded(name, x, rounding)
  local T = TYPES[name]
  local up = rounding == "up" or rounding == "zero" and x < 0
  if T.at then
    local r = up and math.ceil(x) or math.floor(x)
    return math.max(T.low, math.min(T.high, r))
  end
  local infinity = name == "e4m3" and "NaN" or math.huge
  local r = magnitude(T, math.abs(x), up == (x >= 0), infinity)
  if r == "NaN" then return r end
  return x < 0 and -r or r
end

-- Numbers about and between those of the type, and beyond.
local function draw(name)
  local T, kind = TYPES[name], math.random(6)
  local sign = math.random(2) == 1 and -1 or 1
  if kind == 1 then return sign * math.random() * 2.0 ^ math.random(-30, 40) end
  if T.at then
    local n = math.random(T.low, T.high)
    return kind == 2 and n + 0.0 or n + math.random(-4, 4) / 4 + (kind == 3 and 1e-9 or 0)
  end
  local i = math.random(1, #T)
  local x, y = T[i], T[i + 1] or T[i] * 1.5
  if kind == 2 then return sign * x end
  if kind == 3 then return sign * (x + (y - x) / 2) end
  return sign * (x + (y - x) * math.random())
end

for _, d in ipairs(dofile "spec/devices.lua") do
  describe("on " .. d.label .. " a conversion", function()
    for name in pairs(TYPES) do
      for _, rounding in ipairs { "zero", "down", "up" } do
        it(("of f64 to %s by %q is the next number there"):format(name, rounding), function()
          local x, want = {}, {}
          for i = 1, 200 do
            x[i] = draw(name)
            want[i] = rounded(name, x[i], rounding)
          end
          local S = tile.tensor("f64", layout(#x), d.device):fill(x)
          local D = tile.tensor(name, layout(#x), d.device)
          tile.copy { src = S, dst = D, rounding = rounding }
          for i, y in ipairs(D:totable()) do
            local same = y == want[i] or (y ~= y and want[i] == "NaN")
            assert(same, ("%.17g is %s, not %s"):format(x[i], y, want[i]))
          end
        end)
      end
    end

    it("to nearest is what it is without a word", function()
      local S = tile.tensor("f32", layout(6), d.device):fill { 0.5, 1.5, -2.5, 1e9, 0.1, -0.7 }
      local A, B = tile.tensor("i8", layout(6), d.device), tile.tensor("i8", layout(6), d.device)
      tile.copy(S, A)
      tile.copy { src = S, dst = B, rounding = "nearest" }
      assert.same(A:totable(), B:totable())
    end)

    it("of integers beyond 2^53 is exact before it is rounded", function()
      local n = (1 << 53) + 1
      local S = tile.tensor("i64", layout(4), d.device):fill { n, -n, math.maxinteger, 5 }
      for rounding, want in pairs {
        zero = { 2.0 ^ 53, -2.0 ^ 53, 0x1.fffffffffffffp62, 5.0 },
        down = { 2.0 ^ 53, -2.0 ^ 53 - 2, 0x1.fffffffffffffp62, 5.0 },
        up = { 2.0 ^ 53 + 2, -2.0 ^ 53, 2.0 ^ 63, 5.0 },
      } do
        local D = tile.tensor("f64", layout(4), d.device)
        tile.copy { src = S, dst = D, rounding = rounding }
        assert.same(want, D:totable())
      end
    end)

    it("keeps what is no number, and infinity", function()
      local S = tile.tensor("f32", layout(3), d.device):fill { 0 / 0, math.huge, -math.huge }
      local D = tile.tensor("f16", layout(3), d.device)
      local I = tile.tensor("i16", layout(3), d.device)
      for _, rounding in ipairs { "zero", "down", "up" } do
        tile.copy { src = S, dst = D, rounding = rounding }
        tile.copy { src = S, dst = I, rounding = rounding }
        local got = D:totable()
        assert.is_true(got[1] ~= got[1] and got[2] == math.huge and got[3] == -math.huge)
        assert.same({ 0, 32767, -32768 }, I:totable())
      end
    end)

    it("of transposes, tiles and swizzles rounds as well", function()
      local L, R = layout { 40, 24 }, layout({ 40, 24 }, "right")
      local x, want = {}, {}
      for i = 1, 960 do
        x[i] = draw "f16"
        want[i] = rounded("f16", x[i], "down")
      end
      local S = tile.tensor("f64", L, d.device):fill(x)
      local copy = tile.tiled_copy { atom = "UniversalCopy<uint64_t>", dtype = "f64",
                                     thr = layout { 8, 4 }, val = layout { 2, 1 } }
      for _, how in ipairs { { layout = R }, { layout = L, copy = copy },
                             { layout = tile.composition(tile.swizzle(2, 0, 3), L) } } do
        local D = tile.tensor("f16", how.layout, d.device)
        tile.copy { copy = how.copy, src = S, dst = D, rounding = "down" }
        assert.same(want, D:totable())
        tile.plan { copy = how.copy, src = S, dst = D, rounding = "up" }()
        assert.are_not.same(want, D:totable())
      end
    end)
  end)
end

describe("a conversion between devices", function()
  it("rounds at either end", function()
    for _, d in ipairs(dofile "spec/devices.lua") do
      if d.label == "cpu:checked" then goto continue end        -- two hosts: nothing travels
      local S = tile.tensor("f64", layout(100))
      S:fill(1.0000001)
      for _, types in ipairs { { "f64", "f32" }, { "f32", "f16" }, { "f16", "f64" } } do
        local T = tile.tensor(types[1], layout(100))
        local D = tile.tensor(types[2], layout(100), d.device)
        tile.copy { src = S, dst = T, rounding = "up" }
        local want = tile.tensor(types[2], layout(100))
        tile.copy { src = T, dst = want, rounding = "up" }
        tile.copy { src = T, dst = D, rounding = "up" }
        assert.same(want:totable(), D:totable())
        local back = tile.tensor("e5m2", layout(100))
        tile.copy { src = D, dst = back, rounding = "down" }
        assert.equal(1.0, back(99))
      end
      ::continue::
    end
  end)

  dofile "spec/refused.lua"(it, {
    { 'tile.copy{ src = A, dst = B, rounding = "floor" }',
      'copy: rounding: "nearest", "zero", "down" or "up" expected, got floor' },
    { 'tile.plan{ src = A, dst = B, rounding = 3 }',
      'plan: rounding: "nearest", "zero", "down" or "up" expected, got 3' },
    { 'tile.plan{ src = A, dst = B, pred = A }',
      "plan: unknown option 'pred'; there are: copy, src, dst, rounding" },
    { 'tile.plan{ src = A }', "plan: dst: a tensor expected, got nil" },
  }, { tile = tile, A = tile.tensor("f32", layout(4)), B = tile.tensor("f16", layout(4)) })

  it("says in its plan how it rounds", function()
    local A, B = tile.tensor("f32", layout(4)), tile.tensor("f16", layout(4))
    assert.is_truthy(tostring(tile.plan { src = A, dst = B, rounding = "zero" })
                     :find("copy f32 4:1 -> f16 4:1, rounding zero", 1, true))
    assert.is_nil(tostring(tile.plan(A, B)):find("rounding", 1, true))
  end)
end)
