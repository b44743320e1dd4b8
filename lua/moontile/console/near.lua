-- moontile.console.near - the name that was meant: the nearest by letters left out, put in, changed
-- or exchanged.
-- SPDX-License-Identifier: MIT

local function distance(a, b)
  local before, last
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    before, last, row = last, row, { [0] = i }
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j - 1] + (same and 0 or 1), last[j] + 1, row[j - 1] + 1)
      if before and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
  end
  return row[#b]
end

-- But for capitals and underscores: MMA_Atom, mmaAtom and mma_atom.
local function letters(name) return (name:gsub("_", ""):lower()) end

-- near(name, names) -> the nearest of the names, or nil: none is near.
return function(name, names)
  local best, within = nil, #name > 5 and 2 or #name > 2 and 1 or 0
  local same = letters(name)
  for _, other in ipairs(names) do
    if #same > 1 and letters(other) == same and other ~= name then return other end
    if math.abs(#other - #name) <= within and other ~= name then
      local d = distance(name, other)
      if d < within or d == within and (not best or other < best) then best, within = other, d end
    end
  end
  return best
end
