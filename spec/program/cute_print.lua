-- cute_print.lua DECLARED SEED, or DECLARED SEED "want": C++ that prints random tiled MMAs and
-- tiled copies by CuTe; what tile.cute(x, "print") says of the same. Of atoms those whose names are
-- in the file DECLARED.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, random = tile.layout, math.random
local declared = dofile(arg[0]:match "^(.*/)" .. "cute_declared.lua")
math.randomseed(tonumber(arg[2]) or 1)

local MMAS, COPIES = {}, {}
for _, name in ipairs(declared(arg[1], "mma")) do -- of U1 CuTe prints ((_16,_8)) for (_16,_8)
  if name:find "^SM[78]" and not name:find "U1U1" or name:find "^SM90_64x[136][264]x"
     or name:find "^UniversalFMA<float,f" then
    MMAS[#MMAS + 1] = name
  end
end
for _, name in ipairs(declared(arg[1], "copy")) do
  if name:find "^UniversalCopy<u?int" or name:find "^SM75_U.*LDSM" or name:find "STSM"
     or name:find "CACHEALWAYS<" then
    COPIES[#COPIES + 1] = name
  end
end

local function order() return random(2) == 1 and "left" or "right" end

local function mma()
  local atom = MMAS[random(#MMAS)]
  local atoms = layout({ 1 << random(0, 1), 1 << random(0, 1), 1 }, order())
  local one, items = tile.tiled_mma { atom = atom, atoms = atoms }, {}
  for i, n in ipairs(one:tile_shape()) do
    items[i] = ({ tile._, n, 2 * n, n % 4 == 0 and layout({ 2, n // 4, 2 }, { 1, 4, 2 }) or n })
               [random(4)]
  end
  return tile.tiled_mma { atom = atom, atoms = atoms,
                          permutation = random(2) == 1 and items or nil }
end

local function copy()
  local name = COPIES[random(#COPIES)]
  if random(2) == 1 then
    local atom = tile.copy_atom(name, 8 << random(0, 2))
    return tile.tiled_copy { atom = atom, bits = atom.bits,
                             thr = layout({ 4 << random(0, 2), 2 << random(0, 3) }, order()),
                             val = layout { 1 << random(0, 2), 1 << random(0, 4) } }
  end
  local makers = { tile.make_tiled_copy_A, tile.make_tiled_copy_B, tile.make_tiled_copy_C }
  return makers[random(3)](name, mma(), 16)
end

local values = {}
while #values < 80 do
  local ok, x = pcall(random(2) == 1 and mma or copy)
  if ok then values[#values + 1] = x end
end

if arg[3] == "want" then
  for _, x in ipairs(values) do print(tile.cute(x, "print") .. "\n====") end
  return
end
print [[
#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cstdio>
int main () {
  using namespace cute;]]
for _, x in ipairs(values) do
  print(("  print(%s{});\n  puts(\"====\");"):format(tile.cute(x, "type")))
end
print "}"
