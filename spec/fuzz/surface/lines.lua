-- lines.lua: writes the next line of a case: a call that keeps its results, often with something
-- that happens in the middle of it.
-- SPDX-License-Identifier: MIT

local kinds = require "surface.arguments"
local recipes = require "surface.recipes"
local signatures = require "surface.signatures"
local text = require "surface.text"
local chance, pick, fill = text.chance, text.pick, text.fill

local lines = {}

signatures.list(arg[-1])
local CLASSES, NAMES = signatures.classes, {}
for name in pairs(CLASSES) do NAMES[name] = true end

-- What is called by recipes only.
local APART = { device = true, tune = true, atoms = true, tiled_copy = true, tiled_mma = true,
                find_swizzle = true }
-- What costs much is called less often.
local RARE = { info = 0.1, devices = 0.1, kernels = 0.1, dtypes = 0.1, smem_atoms = 0.1,
               measure = 0.3, nullspace = 0.5 }

-- A line that is being written.
local function new(room, depth) return { room = room, depth = depth or 0 } end

-- ---------------------------------------------------------------- actions

local action

local function object(line, classes) return kinds.slot(line, classes or NAMES) or "v[1]" end
local function some_slot(line) return math.random(line.room.SLOTS) end
local function call(line) return "law.act() " .. lines.call(line.room, line.depth + 1) end

local TENSOR, STREAM = { Tensor = true }, { Stream = true }
local FREED = { Tensor = true, Plan = true, Graph = true }

local function burn(line) return ("law.burn(%s)"):format(object(line, TENSOR)) end

local ACTIONS = {
  burn, burn,
  function(line) return ("(%s):free()"):format(object(line)) end,
  function(line) return ("(%s):free()"):format(object(line, FREED)) end,
  function(line) return ("(%s):close()"):format(object(line, STREAM)) end,
  function(line) return ("v[%d] = nil collectgarbage()"):format(some_slot(line)) end,
  function() return "collectgarbage()" end,
  function() return "for i = 1, 16 do v[i] = nil end" end,
  function()
    return pick { "error {}", "error()", "error 'x'", "coroutine.yield(1)",
                  "error(fault(function() collectgarbage() end))" }
  end,
  call, call,
  function(line) return "collectgarbage() " .. call(line) end,
  function(line)
    return fill("v[$i] = $d:graph(function() $call end)",
                { i = some_slot(line), d = kinds.D(line), call = call(line) })
  end,
}

function action(line)
  if line.depth > 1 then return "function() collectgarbage() end" end
  return ("function() %s end"):format(pick(ACTIONS)(line))
end

-- ---------------------------------------------------------------- arguments

-- A table that acts when it is looked at, for the one that is said.
local function spy(line, said)
  line.pure, line.hostile = false, true
  return fill("spy($t, $k, $f, $full)", {
    t = said:match "^{.*}$" or "{ 4, 8, atom = 1 }", k = math.random(1, 4), f = action(line),
    full = chance(0.5) })
end

-- The text of an argument of a kind, sometimes of none.
local function argument(line, kind)
  if chance(0.03) then
    line.pure = false
    return kinds.strange(line)
  end
  local said = kinds[kind](line)
  return chance(0.04) and line.depth < 2 and spy(line, said) or said
end

local function arguments(line, s)
  local list = {}
  for _, kind in ipairs(s) do
    local name, mark = kind:match "^([%w_]+)([?*]?)$"
    local times = mark == "*" and math.random(0, 3) or 1
    if mark == "?" and chance(0.45) then break end
    for _ = 1, times do list[#list + 1] = argument(line, name) end
  end
  if chance(0.015) then list[#list + 1], line.pure = kinds.V(line), false end
  if chance(0.01) then list[#list], line.pure = nil, false end
  return list
end

-- ---------------------------------------------------------------- calls

local function take(list)
  for _ = 1, 20 do
    local name = pick(list)
    if not APART[name] and (not RARE[name] or chance(RARE[name])) then return name end
  end
  return list[1]
end

-- The text of a call, its law, the texts of its operands.
local function of_module(line)
  local name = take(signatures.module)
  local s = pick(signatures.call(name))
  local list = arguments(line, s)
  local f = name == "repeat" and "tile['repeat']" or "tile." .. name
  return ("%s(%s)"):format(f, table.concat(list, ", ")), s.law, list
end

-- An object whose method is called; every element of it may be looked at.
local function self_of(line)
  return kinds.slot(line, NAMES, function(x)
    local class = kinds.laws.class(x)
    return (class ~= "Tensor" and class ~= "Layout") or kinds.is_small(x)
  end)
end

local function of_class(line)
  local said, x = self_of(line)
  if not said then return of_module(line) end
  local class = kinds.laws.class(x)
  local name = take(CLASSES[class])
  if class:find "Atom" then return said .. "." .. name end
  kinds.about(line, x)
  local s = pick(signatures.method(class, name))
  local list = arguments(line, s)
  local f = ("%s:%s(%s)"):format(said, name, table.concat(list, ", "))
  if class == "Tensor" and name ~= "to" then f = ("law.of(%s, %s)"):format(said, f) end
  return f, s.self and s.law, { said, list[1] }
end

local OPERATORS = { "$L * $L", "$W * $L", "$L / $T", "$V == $V", "#($L)", "($L)[$M]", "($L)($C)",
                    "($X)($C)", "($L)($C, $C)", "$E + $E", "($W)($N)", "tostring($object)",
                    "($object)()", "($object)($stream)", "($object)($L)",
                    "(function(t, k, x) t[k] = x end)($X, $c, $value)" }
local function operator(line)
  return (pick(OPERATORS):gsub("%$(%a+)", function(kind)
    if kind == "object" then return object(line) end
    return kinds[kind](line)
  end))
end

-- The law as a call, if the operands are in other slots than the result; else nothing.
local function claim(law, to, list)
  local slot = ("v[%d]"):format(to)
  local value = { R = slot, a = list[1], b = list[2] }
  for name in law:gmatch " (%a)" do
    local said = value[name]
    if not said or not said:match "^v%[%d+%]$" or (name ~= "R" and said == slot) then return "" end
  end
  local name, operands = law:match "^(%S+) (.*)$"
  return (" law.%s(%s)"):format(name, operands:gsub("%a", value):gsub(" ", ", "))
end

-- "keep(3, tile.rank(v[2]))", and " law.same(v[3], v[2])" or nothing; depth: in how many actions it
-- stands.
function lines.call(room, depth, ends)
  local line = new(room, depth)
  line.pure, line.ends = true, ends
  local r = math.random()
  local said, law, list
  if r < 0.5 then said, law, list = of_module(line)
  elseif r < 0.88 then said, law, list = of_class(line)
  else said = operator(line) end
  local to = math.random(room.SLOTS)
  return ("keep(%d, %s)"):format(to, said), law and line.pure and claim(law, to, list) or "", line
end

-- ---------------------------------------------------------------- in the middle of it

local BROKEN = { "tile, 'rank'", "tile, 'get'", "tile, 'size'", "tile, '_'", "tile, 'make_layout'",
                 "string, 'gsub'", "table, 'sort'", "string, 'format'", "_G, 'pcall'",
                 "_G, 'getmetatable'", "_G, 'type'" }
local OPEN = { "tile.shape(layout{2, 2})", "tile.bank_conflicts(layout(4), 32)",
               "tile.verify({ tv = layout{2, 2}, tiler = {4} }, layout(4))" }
local EVENTS = { "__eq", "__gc", "__tostring", "__index", "__name", "__len", "__newindex",
                 "__close", "__mode" }

local WAYS = {
  "gc($few, $mode, $f, $body)", "gc($many, 'each', $f, $body)", "co($body, $flag)",
  "closing($object, $body)", "vandal($broken, $f, $body)", "vandal($broken, nil, $body)",
  "tamper($open, '$event', $f, $body)", "tamper($open, '$event', 'k', $body)",
  "hook($count, $f, $body)", "asked($f, $body)", "keep($slot, $device:graph($body))",
}
local PARTS = {
  few = function() return math.random(1, 12) end,
  many = function() return math.random(1, 40) end,
  count = function() return math.random(1, 300) end,
  mode = function() return pick { "'each'", "'each'", "'young'", "'steps'" } end,
  flag = function() return tostring(chance(0.3)) end,
  broken = function() return pick(BROKEN) end, open = function() return pick(OPEN) end,
  event = function() return pick(EVENTS) end, f = function(line) return action(line) end,
  object = function(line) return object(line) end, slot = some_slot, device = kinds.D,
}

-- What makes so much garbage that a full collection at each allocation takes minutes.
local LITTER = { "draw", "svg", "html", "latex", "print_tensor" }

local function is_litter(said)
  for _, name in ipairs(LITTER) do if said:find(name .. "%f[(]") then return true end end
  return false
end

-- The line with something in the middle of it.
local function wrapped(line, said)
  local way = pick(WAYS):gsub("%$(%a+)", function(part)
    if part == "body" then return "function() " .. said .. " end" end
    return tostring(PARTS[part](line))
  end)
  return is_litter(said) and way:gsub("^(gc%(%d+), 'each'", "%1, 'young'", 1) or way
end

recipes.action, recipes.wrapped = action, wrapped

-- A line, or the lines of a recipe.
function lines.next(room)
  if chance(0.22) then return recipes.next(new(room)) end
  if chance(0.04) then
    return { ("ends(function() %s end) -- HOSTILE"):format((lines.call(room, 0, true))) }
  end
  local said, law, line = lines.call(room)
  if chance(0.7) then
    said = said .. law
  else
    line.hostile = true
    said = wrapped(line, said)
    if chance(0.1) then said = wrapped(line, said) end
  end
  return { line.hostile and said .. " -- HOSTILE" or said }
end

return lines
