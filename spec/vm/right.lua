-- right.lua: a script for the smallest host.
-- SPDX-License-Identifier: MIT
-- luacheck: globals tile main

function main(n)
  print("asked for", n)
  return n * tile.layout({ 4, 8 }, { 8, 1 })(3, 5)
end
