-- moontile.console.paint - colours, if the terminal has them.
-- SPDX-License-Identifier: MIT

local paint = { on = false }

-- What is painted, and how: ANSI's numbers.
local COLOURS = { error = "31", note = "33", dim = "2", bold = "1", text = "32", name = "36" }

for name, code in pairs(COLOURS) do
  paint[name] = function(text)
    if not paint.on or text == "" then return text end
    return "\27[" .. code .. "m" .. text .. "\27[0m"
  end
end

-- How many columns a text takes: letters, without their colours.
function paint.width(text)
  local plain = text:gsub("\27%[[%d;]*m", "")
  return utf8.len(plain) or #plain
end

return paint
