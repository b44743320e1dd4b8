-- ways.lua: for specs of what plans choose among: the rows of plan:why().
-- SPDX-License-Identifier: MIT

local ways = {}

-- Those of the list whose field is true.
local function those(list, field)
  local found = {}
  for _, way in ipairs(list) do if way[field] then found[#found + 1] = way end end
  return found
end

function ways.possible(list) return those(list, "possible") end

-- The one that is chosen.
function ways.the_chosen(list)
  local found = those(list, "chosen")
  assert(#found == 1, #found .. " are chosen")
  return found[1]
end

return ways
