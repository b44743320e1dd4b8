-- moontile.picture.palette - the colours of cells: eight for threads, eight steps for offsets.
-- SPDX-License-Identifier: MIT
--
-- Black text is legible on each. Neighbours differ in lightness as well as in hue: they stay apart
-- in grey, and for eyes that see red and green alike (spec/picture_colour_spec.lua computes it). No
-- picture says anything by colour alone: the labels have the numbers.

local format = string.format

local palette = {
  -- Threads: light and darker take turns.
  many = { "#fff3b0", "#8cc4ee", "#f9d2bf", "#9088d2", "#d0f0e2", "#dca04c", "#dfe6fb", "#5aa98c" },
  -- Offsets, banks: from light to dark.
  ramp = { "#f7fbff", "#e6f0f9", "#d4e4f3", "#bfd7ec", "#a7c8e4", "#8cb8db", "#74a9d2", "#6099c6" },
}

-- The nearest of a terminal's 256 colours: its cube of six levels a channel, and its greys.
local LEVELS = { 0, 95, 135, 175, 215, 255 }

local function channels(colour)
  local r, g, b = string.match(colour, "^#(%x%x)(%x%x)(%x%x)$")
  return tonumber(r, 16), tonumber(g, 16), tonumber(b, 16)
end
palette.channels = channels

local function nearest(v)
  local best = 1
  for i, level in ipairs(LEVELS) do
    if math.abs(level - v) < math.abs(LEVELS[best] - v) then best = i end
  end
  return best - 1
end

-- code(name, i): what a terminal takes for the i-th colour of a palette, from 0 on.
local codes = {}
function palette.code(name, i)
  local key = name .. i
  if not codes[key] then
    local r, g, b = channels(palette[name][i % 8 + 1])
    codes[key] = format("%d", 16 + 36 * nearest(r) + 6 * nearest(g) + nearest(b))
  end
  return codes[key]
end

return palette
