-- cute_declared.lua: which atoms some headers of CuTe's have, by a file of the names that they
-- declare, and their version, a line each. All but a few are in each version: a file that lacks
-- more is of no such headers.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

-- What CuTe had wrong before a version: four k of B have one place there.
local WRONG <const> = { { before = 450, name = "^SM80_16x8x32_S32[SU]4[SU]4S32_TN" } }

local function right_in(version, name)
  for _, row in ipairs(WRONG) do
    if version < row.before and name:find(row.name) then return false end
  end
  return true
end

-- The names of all atoms of a kind that are there, and right.
return function(path, kind)
  local declared, names, lacking, version = {}, {}, {}, 0
  for line in io.lines(path) do
    declared[line], version = true, tonumber(line) or version
  end
  for _, name in ipairs(tile.atoms { kind = kind }) do
    local bare = name:match "^[%w_:]+":gsub(".*::", "")
    local list = declared[bare] and right_in(version, name) and names or lacking
    list[#list + 1] = name
  end
  if #lacking > 0 then
    io.stderr:write("not of CuTe ", version, ": ",
                    table.concat(lacking, " ", 1, math.min(#lacking, 20)), "\n")
  end
  assert(#lacking * 20 < #names, "too many atoms are not in these headers")
  return names
end
