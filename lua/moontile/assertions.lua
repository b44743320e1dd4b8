-- assertions.lua: assertions of C++ that a layout is what it is here.
-- SPDX-License-Identifier: MIT

local concat, find, format = table.concat, string.find, string.format

local MOST, SOME = 32, 8

-- Some coordinates of n: all of a few; else the first, powers of two, and the last.
local function some(n)
  local list = {}
  if n <= MOST then
    for i = 0, n - 1 do list[#list + 1] = i end
    return list
  end
  for i = 0, SOME - 1 do list[#list + 1] = i end
  local i = SOME
  while i > 0 and i < n - 1 do list[#list + 1], i = i, 2 * i end -- 2^63 is below 0
  list[#list + 1] = n - 1
  return list
end

-- Assertions of C++ that the layout of this name has the values of A.
return function(A, name)
  local lines = { format("static_assert(size(%s{}) == %d);", name, A:size()) }
  if find(tostring(A), "@", 1, true) then return lines[1] end
  local line = {}
  local function put()
    if #line > 0 then lines[#lines + 1] = "static_assert(" .. concat(line, " && ") .. ");" end
    line = {}
  end
  for _, i in ipairs(some(A:size())) do
    line[#line + 1] = format("%s{}(%d) == %d", name, i, A(i))
    if #line == 4 then put() end
  end
  put()
  return concat(lines, "\n")
end
