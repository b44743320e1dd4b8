-- moontile.picture - pictures of layouts, partitions, atoms, swizzles, bank conflicts, plans: as
-- text, as SVG, as a page, as LaTeX.
-- SPDX-License-Identifier: MIT
--
-- One description of cells (picture/panel.lua) is made by picture/kinds.lua from what is drawn, and
-- drawn in each way from it, so that each picture exists in each form. What is longer than can be
-- read is cut, and says so.

local need = ...
local check = need "faults"
local describe = need "picture.kinds"

-- The most rows and columns where nothing is said.
local TEXT = { rows = 32, columns = 256 }
local PICTURE = { rows = 128, columns = 128 }

local picture = {}

-- draw(x [, options]) -> text
function picture.draw(x, given)
  local p, o = describe("draw", x, given, TEXT)
  check(o.colour == nil or type(o.colour) == "boolean", "draw: colour: a boolean expected, got %s",
        type(o.colour))
  return need "picture.ansi" (p, o)
end

-- svg(x [, options]), html(x [, options]), latex(x [, options]) -> text of a file
for _, way in ipairs { "svg", "html", "latex" } do
  picture[way] = function(x, given)
    local p, o = describe(way, x, given, PICTURE)
    return need("picture." .. way)(p, o)
  end
end

function picture.print_tensor(T) return need "picture.elements" (T) end

return picture
