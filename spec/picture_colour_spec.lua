-- picture_colour_spec.lua: the colours of pictures are legible, in grey and for all eyes.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

-- What a screen emits of a channel.
local function linear(v) return v <= 0.04045 and v / 12.92 or ((v + 0.055) / 1.055) ^ 2.4 end

local function channels(colour)
  local list = {}
  for hex in colour:gmatch "%x%x" do list[#list + 1] = linear(tonumber(hex, 16) / 255) end
  return list
end

local function luminance(c) return 0.2126 * c[1] + 0.7152 * c[2] + 0.0722 * c[3] end

-- Vienot's simulation of eyes that lack green cones, and of those that lack red ones.
local EYES = {
  all = function(c) return c end,
  deuteranope = function(c)
    local yellow = 0.29275 * c[1] + 0.70725 * c[2]
    return { yellow, yellow, -0.02234 * c[1] + 0.02234 * c[2] + c[3] }
  end,
  protanope = function(c)
    local yellow = 0.11238 * c[1] + 0.88762 * c[2]
    return { yellow, yellow, 0.00401 * c[1] - 0.00401 * c[2] + c[3] }
  end,
}

local function lab(c)
  local function f(t) return t > 0.008856 and t ^ (1 / 3) or 7.787 * t + 16 / 116 end
  local x = f((0.4124 * c[1] + 0.3576 * c[2] + 0.1805 * c[3]) / 0.9505)
  local y = f(luminance(c))
  local z = f((0.0193 * c[1] + 0.1192 * c[2] + 0.9505 * c[3]) / 1.089)
  return { 116 * y - 16, 500 * (x - y), 200 * (y - z) }
end

local function apart(a, b)
  return ((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2) ^ 0.5
end

describe("the colours", function()
  local text = tile.svg(layout { 4, 8 })
  local many, ramp = {}, {}
  for i = 0, 7 do
    many[i] = channels(text:match("%.m" .. i .. "{fill:#(%x+)}"))
    ramp[i] = channels(text:match("%.r" .. i .. "{fill:#(%x+)}"))
  end

  it("have legible text on them", function()
    for i = 0, 7 do
      for _, c in ipairs { many[i], ramp[i] } do
        assert.is_true((luminance(c) + 0.05) / 0.05 > 4.5)
      end
    end
  end)

  it("of threads side by side differ in grey, and in hue for all eyes", function()
    for i = 0, 7 do
      local a, b = many[i], many[(i + 1) % 8]
      assert.is_true(math.abs(lab(a)[1] - lab(b)[1]) > 9)
      for _, eye in pairs(EYES) do assert.is_true(apart(lab(eye(a)), lab(eye(b))) > 30) end
    end
  end)

  it("of offsets get darker step by step", function()
    for i = 0, 6 do assert.is_true(lab(ramp[i])[1] - lab(ramp[i + 1])[1] > 3) end
  end)
end)
