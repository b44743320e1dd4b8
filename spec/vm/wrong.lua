-- wrong.lua: a script with a slip, for a host that shows what is wrong.
-- SPDX-License-Identifier: MIT
-- luacheck: globals tile main

local function area(x)
  return x * tile.layuot(4)(1)
end

function main(n)
  return area(n)
end
