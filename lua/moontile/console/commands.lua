-- moontile.console.commands - lines that begin with a colon.
-- SPDX-License-Identifier: MIT
--
-- Each is a function of the session and of what stands behind the name.

local need = ...
local tile = need "tile"
local help = need "console.help"
local paint = need "console.paint"
local tokens_of = need "console.tokens"
local tour = need "console.tour"

local known = {}       -- by name

-- ---------------------------------------------------------------- pictures

-- :draw x, or :draw x, options: in the width and the colours of the terminal.
function known.draw(session, text)
  local values = session:values_of(text)
  if not values then return end
  if values.n == 0 then
    return session:blame(":draw wants what to draw, as :draw layout{4, 8}; ?draw says more")
  end
  local x, given = values[1], values[2]
  if x == nil and text:find "^SM%d+_[%w_]+$" then x = text end     -- an atom without its quotes
  local options = { width = session.columns(), colour = paint.on or nil }
  if type(given) == "table" then for key, value in next, given do options[key] = value end end
  local ok, picture = pcall(tile.draw, x, options)
  if ok then session:say(picture) else session:blame(tostring(picture)) end
end

-- ---------------------------------------------------------------- times

local function duration(seconds)
  for _, unit in ipairs { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } } do
    if seconds >= unit[1] then return ("%.3g %s"):format(seconds / unit[1], unit[2]) end
  end
  return ("%.3g ns"):format(seconds * 1e9)
end

function known.time(session, text)
  local begin = session.now()
  local values = session:values_of(text)
  local seconds = session.now() - begin
  if not values then return end
  session:print({ returns = true }, values)
  session:say(paint.dim(duration(seconds)))
end

-- ---------------------------------------------------------------- derivations

local OPERATORS = { ["*"] = "composition", ["/"] = "logical_divide" }
local OPEN = { ["("] = 1, ["["] = 1, ["{"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1 }

-- A * B, A / B outside of brackets: the last one, which is done last; else f(A, B), A:f(B).
-- Returns the operation and the code of its operands.
local function operation_of(text)
  local tokens, depth, at = tokens_of(text), 0, nil
  for i, t in ipairs(tokens) do
    if t.kind == "symbol" then depth = depth + (OPEN[t.text] or 0) end
    if depth == 0 and t.kind == "symbol" and OPERATORS[t.text] then at = i end
  end
  if at then
    local t = tokens[at]
    return OPERATORS[t.text], text:sub(1, t.from - 1) .. ", " .. text:sub(t.to + 1)
  end
  local f, arguments = text:match "^%s*tile%.([%w_]+)%s*(%b())%s*$"
  if not f then f, arguments = text:match "^%s*([%w_]+)%s*(%b())%s*$" end
  if f then return f, arguments:sub(2, -2) end
  local self
  self, f, arguments = text:match "^%s*(.-):([%w_]+)%s*(%b())%s*$"
  if not f then self, f, arguments = text:match "^%s*(.-):([%w_]+)%s*(%b{})%s*$" end
  if not f then return nil end
  if arguments:sub(1, 1) == "(" then arguments = arguments:sub(2, -2) end
  return f, arguments:match "^%s*$" and self or self .. ", " .. arguments
end

function known.explain(session, text)
  local operation, operands = operation_of(text)
  if not operation then return session:blame(":explain wants A * B, A / B, f(A, B) or A:f(B)") end
  local values = session:values_of(operands)
  if not values then return end
  local ok, derivation = pcall(tile.explain, operation, table.unpack(values, 1, values.n))
  if ok then session:say(derivation) else session:blame(tostring(derivation)) end
end

-- ---------------------------------------------------------------- devices

local function describe(session, name)
  local device, why = tile.device(name)
  session:say(("%-12s %s"):format(name, device and device:about() or why))
end

function known.device(session, text)
  if text ~= "" then return describe(session, text) end
  local names, why = tile.devices()
  for _, name in ipairs(names) do describe(session, name) end
  if why then session:say(("%-12s %s"):format("no GPU:", why:match "^[^\n]*")) end
end

-- ---------------------------------------------------------------- help, tour

function known.help(session, text) session:say(help.asked(session, text)) end

-- The next part of the tour, or number n.
function known.tour(session, text)
  local n = tonumber(text) or (session.toured or 0) + 1
  local part = tour[n] or tour[1]
  session.toured = part == tour[n] and n or 1
  session:say(paint.bold(("%d of %d"):format(session.toured, #tour)) .. "  " .. part[1])
  for i = 2, #part do
    session:say(paint.dim "> " .. part[i])
    session:feed(part[i])
  end
  if session.toured < #tour then session:say(paint.dim "  :tour goes on")
  else session.toured = nil end
end

-- ---------------------------------------------------------------- all

local commands = { names = {} }
for name in pairs(known) do commands.names[#commands.names + 1] = name end
table.sort(commands.names)

-- Runs a line if it is a command or asks for help; whether it was.
function commands.run(session, line)
  local asked = line:match "^%s*%?%s*(.-)%s*$" or line:match "^%s*([%a_][%w_.:]*)%?%s*$"
  local name, rest = line:match "^%s*:(%a+)%s*(.-)%s*$"
  if asked then name, rest = "help", asked end
  if not name then return false end
  if known[name] then
    known[name](session, rest)
  else
    session:blame((":%s is no command; there are :%s"):format(name,
                  table.concat(commands.names, ", :")))
  end
  return true
end

return commands
