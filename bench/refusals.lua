-- refusals.lua [CASES [SEED [LEAVES [EXTENT]]]]: over Z, what is refused has no answer.
-- SPDX-License-Identifier: MIT
--
-- CASES random operands for each operation, of at most LEAVES leaves of at most EXTENT. Where
-- it is refused, all layouts are searched for what it asks for (spec/answers.lua): the exit
-- status is 1 if one is found.

local tile = require "moontile"
local here = arg[0]:match "^(.*/)" or ""
local answers = dofile(here .. "../spec/answers.lua")
local refusals = dofile(here .. "../spec/refusals.lua")

local cases, seed = tonumber(arg[1]) or 20000, tonumber(arg[2]) or os.time()
math.randomseed(seed)
answers.LEAVES = tonumber(arg[3]) or answers.LEAVES
answers.EXTENT = tonumber(arg[4]) or answers.EXTENT
print(("%d cases of each operation, seed %d, %d leaves of at most %d")
      :format(cases, seed, answers.LEAVES, answers.EXTENT))
print(("%-16s %8s %8s %8s"):format("", "cases", "refused", "found"))
local found = 0
for _, row in ipairs(refusals.rows) do
  local reasons, count = {}, { refused = 0, found = 0 }
  for _ = 1, cases do
    local reason, answer, operands = refusals.try(tile, answers, row)
    if reason then
      count.refused = count.refused + 1
      reasons[reason] = (reasons[reason] or 0) + 1
    end
    if answer then
      count.found = count.found + 1
      if count.found <= 5 then io.stderr:write("found: ", row[1], " ", operands, "\n") end
    end
  end
  found = found + count.found
  print(("%-16s %8d %8d %8d"):format(row[1], cases, count.refused, count.found))
  local names = {}
  for name in pairs(reasons) do names[#names + 1] = name end
  table.sort(names, function(a, b)
    if reasons[a] ~= reasons[b] then return reasons[a] > reasons[b] end
    return a < b
  end)
  for _, name in ipairs(names) do print(("  %8d  %s"):format(reasons[name], name)) end
end
os.exit(found == 0)
