-- texts.lua [VALUES [SEED]]: random layouts, swizzles and tuples through every text form and back.
-- SPDX-License-Identifier: MIT
--
-- tile.cute writes a value as a type of C++, for CuTe's DSL, for pycute; tile.parse reads it again:
-- it has to be the same. What pycute makes of its texts is asked of it, where it is installed
-- (PYTHON, or python3). Exit status 1 if anything differs.

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

-- A plain layout; with strides that are basis elements; swizzled; a swizzle; a tuple.
local KINDS = {
  function() local s = tree(0) return layout(s, like(s, any)) end,
  function() return tile.make_identity_layout(tree(0)) end,
  function()
    local s = { 1 << random(0, 3), { 1 << random(0, 2), 1 << random(0, 3) } }
    return swizzle() * layout(s, random(2) == 1 and "left" or "right")
  end,
  swizzle,
  function() local s = tree(0) return type(s) == "table" and tile.shape(layout(s)) or s end,
}

local FORMS = { "type", "dsl", "pycute" }
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
      local read, y = pcall(tile.parse, text)
      if read and tostring(y) == tostring(x) then back[form] = back[form] + 1
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
