-- texts.lua [VALUES [SEED]]: random layouts, swizzles, tuples, atoms, tiled copies and tiled MMAs
-- through every text form and back.
-- SPDX-License-Identifier: MIT
--
-- tile.cute writes a value as a type of C++, as CuTe prints it, for its DSL, for pycute; tile.parse
-- reads it again: it has to be the same. What pycute makes of its texts is asked of it, where it is
-- installed (PYTHON, or python3). Exit status 1 if anything differs.

local tile = require "moontile"
local layout = tile.layout
local random = math.random

local here = arg[0]:match "^(.*/)" or ""
local count, seed = tonumber(arg[1]) or 10000, tonumber(arg[2]) or os.time()
local python = os.getenv "PYTHON" or "python3"
math.randomseed(seed)

local EXTENTS, STRIDES = { 1, 2, 3, 4, 5, 7, 8, 16 }, { 0, 1, 2, 3, 4, 8, 17, 64, 1000, -1, -8 }

local function tree(depth)
  if depth > 2 or random(3) > 1 then return EXTENTS[random(#EXTENTS)] end
  local t = {}
  for i = 1, random(3) do t[i] = tree(depth + 1) end
  return t
end
local function like(t, stride)
  if type(t) ~= "table" then return stride() end
  local d = {}
  for i = 1, #t do d[i] = like(t[i], stride) end
  return d
end
local function any() return STRIDES[random(#STRIDES)] end

local function swizzle()
  local b = random(0, 3)
  local shift = b + random(0, 3)
  return tile.swizzle(b, random(0, 4), random(3) == 1 and -shift or shift)
end

local MMAS, COPIES = tile.atoms(), tile.atoms { kind = "copy" }
local function mma_atom() return tile.mma_atom(MMAS[random(#MMAS)]) end
local function copy_atom() return tile.copy_atom(COPIES[random(#COPIES)], 8 << random(0, 3)) end

-- The first of some tries that is a value: not everything can be tiled.
local function tried(make)
  while true do
    local ok, x = pcall(make)
    if ok then return x end
  end
end

local function order() return random(2) == 1 and "left" or "right" end

local function tiled_mma()
  local atom = mma_atom()
  local atoms = layout({ 1 << random(0, 1), 1 << random(0, 1), random(4) == 1 and 2 or 1 }, order())
  local mma = tile.tiled_mma { atom = atom, atoms = atoms }
  if random(2) == 1 then return mma end
  local items = {}
  for i = 1, 3 do
    local n = mma:tile_shape()[i]
    items[i] = ({ tile._, n, 2 * n, n % 4 == 0 and layout({ 2, n // 4, 2 }, { 1, 4, 2 }) or n })
               [random(4)]
  end
  return tile.tiled_mma { atom = atom, atoms = atoms, permutation = items }
end

local function tiled_copy()
  if random(3) > 1 then
    local atom = copy_atom()
    return tile.tiled_copy { atom = atom, bits = atom.bits,
                             thr = layout({ 4 << random(0, 3), 2 << random(0, 4) }, order()),
                             val = layout({ 1 << random(0, 2), 1 << random(0, 4) }, order()) }
  end
  local make = ({ tile.make_tiled_copy_A, tile.make_tiled_copy_B, tile.make_tiled_copy_C })
  return make[random(3)](copy_atom(), tiled_mma())
end

-- The names of atoms whose texts are those of others: types of the same bits.
local function like_another(x)
  return tostring(x):find "UniversalCopy<" or tostring(x):find "CP_ASYNC"
end

-- A layout after a layout at an offset, a swizzle after a swizzle; what is simpler is made so.
local function composed()
  local A = layout({ 1 << random(0, 3), 1 << random(0, 3) }, random(2) == 1 and "left" or "right")
  if random(2) == 1 then return tile.swizzle(1, 0, 2) * (swizzle() * A) end
  local s = tree(0)
  local f = layout(s, like(s, function() return random(0, 9) end))
  return tile.make_composed_layout(f, random(0, 20), A)
end

local function tiler()
  local t = {}
  for i = 1, random(3) do
    t[i] = random(2) == 1 and EXTENTS[random(#EXTENTS)] or layout(random(8), random(0, 9))
  end
  t[#t + 1] = layout(random(8), random(0, 9))
  return t
end

-- A plain layout; with strides that are basis elements; swizzled; a swizzle; a tuple; composed; a
-- layout that begins at an offset, at a coordinate; a tiler; atoms and what they tile.
local KINDS = {
  function() local s = tree(0) return layout(s, like(s, any)) end,
  function() return tile.make_identity_layout(tree(0)) end,
  function()
    local s = { 1 << random(0, 3), { 1 << random(0, 2), 1 << random(0, 3) } }
    return swizzle() * layout(s, random(2) == 1 and "left" or "right")
  end,
  swizzle,
  function() local s = tree(0) return type(s) == "table" and tile.shape(layout(s)) or s end,
  function() return tried(composed) end,
  function() local s = tree(0) return layout(s, like(s, any)):with_offset(random(0, 99)) end,
  function()
    local s = { EXTENTS[random(#EXTENTS)], EXTENTS[random(#EXTENTS)] }
    return tile.make_identity_layout(s):with_offset { random(0, 9), random(0, 9) }
  end,
  tiler,
  mma_atom,
  function() return tried(copy_atom) end,
  function() return tried(tiled_mma) end,
  function() return tried(tiled_copy) end,
}

-- Which atom is meant where CuTe prints no name.
local function atom_of(x)
  local kind = getmetatable(x)
  if kind == "moontile.MmaAtom" or kind == "moontile.CopyAtom" then return x.name end
  return (kind == "moontile.TiledMMA" or kind == "moontile.TiledCopy") and x:atom().name or nil
end

-- A tiler's text: its extents n are n:1.
local function text_of(x)
  if type(x) ~= "table" then return tostring(x) end
  local t = {}
  for i = 1, #x do t[i] = math.type(x[i]) and x[i] .. ":1" or tostring(x[i]) end
  return table.concat(t, ",")
end

-- Read again, the same; the DSL says how many bits a copy moves, not of what type.
local function same(x, y, form)
  if form == "dsl" and like_another(x) then
    return tile.cute(x, "print") == tile.cute(y, "print")
  end
  if getmetatable(x) == "moontile.TiledCopy" or tostring(x):find "SM90_64x" then
    return tile.cute(x, "type") == tile.cute(y, "type") -- which says the majors of wgmma, too
  end
  if type(x) == "table" and tile.cute(x, "type"):find "Layout" then
    return text_of(x) == text_of(y)
  end
  return tostring(y) == tostring(x)
end

local FORMS = { "type", "print", "dsl", "pycute" }
local name = os.tmpname()
local file = assert(io.open(name, "w"))
local made, back, none, wrong = {}, {}, {}, 0
for _, form in ipairs(FORMS) do made[form], back[form], none[form] = 0, 0, 0 end

-- What pycute is asked for: the values of a layout.
local function ask(x, text)
  if getmetatable(x) ~= "moontile.Layout" or x:size() > 4096 then return end
  local values = {}
  for i = 0, x:size() - 1 do values[i + 1] = x(i) end
  file:write(text, "\t", table.concat(values, " "), "\n")
end

for _ = 1, count do
  local x = KINDS[random(#KINDS)]()
  for _, form in ipairs(FORMS) do
    local ok, text = pcall(tile.cute, x, form)
    if not ok then none[form] = none[form] + 1
    else
      made[form] = made[form] + 1
      local read, y = pcall(tile.parse, text, form == "print" and atom_of(x) or nil)
      if read and same(x, y, form) then back[form] = back[form] + 1
      else
        wrong = wrong + 1
        io.stderr:write(("%s: %s as %s is %s\n"):format(form, x, text, y))
      end
      if form == "pycute" then ask(x, text) end
    end
  end
end
file:close()
print(("%d values, seed %d"):format(count, seed))
for _, form in ipairs(FORMS) do
  print(("%-7s %6d written, %6d read back the same, %5d that it has not")
        :format(form, made[form], back[form], none[form]))
end
local good, _, code = os.execute(("%s %speers/texts.py %s"):format(python, here, name))
if not good and code ~= 1 then print "pycute: not compared, it is not installed" end
os.remove(name)
os.exit(wrong == 0 and (good or code ~= 1) and true or false)
