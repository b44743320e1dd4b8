-- moontile.console.tables - tables as Lua writes them: in one line if it fits, else in several; the
-- end of long ones is left out.
-- SPDX-License-Identifier: MIT

local need = ...
local paint = need "console.paint"

local tables = {}

local MOST, DEPTH = 100, 4
local IDENTIFIER = "^[%a_][%w_]*$"

local function quote(s)
  local text = ("%q"):format(s):gsub("\\\n", "\\n"):gsub("\r", "\\r"):gsub("\0", "\\0")
  return text
end

-- What has __tostring writes itself; of several lines the first.
local function written(v)
  local text = tostring(v)
  local line = text:match "^[^\n]*"
  return line == text and text or line .. " ..."
end

function tables.is_plain(v)
  local meta = debug.getmetatable(v)
  return type(v) == "table" and not (meta and meta.__tostring)
end

local value

-- The keys in an order that people expect: of the sequence, then by name.
local function rest_of(t, n)
  local keys = {}
  for k in next, t do
    local in_sequence = math.type(k) == "integer" and k >= 1 and k <= n
    if not in_sequence then keys[#keys + 1] = k end
  end
  table.sort(keys, function(a, b)
    if type(a) == type(b) and (type(a) == "number" or type(a) == "string") then return a < b end
    return type(a) < type(b)
  end)
  return keys
end

local function key_text(k, s)
  if type(k) == "string" and k:match(IDENTIFIER) then return k end
  return "[" .. (type(k) == "string" and quote(k) or value(k, s, "")) .. "]"
end

-- The items of a table as texts; the last says how many there are besides.
local function items_of(t, s, indent)
  local items, n = {}, rawlen(t)
  local keys = rest_of(t, n)
  for i = 1, math.min(n, MOST) do items[i] = value(rawget(t, i), s, indent) end
  for i = 1, math.min(#keys, MOST - #items) do
    local k = keys[i]
    items[#items + 1] = key_text(k, s) .. " = " .. value(rawget(t, k), s, indent)
  end
  local more = n + #keys - MOST
  if more > 0 then items[#items + 1] = paint.dim(("... %d more"):format(more)) end
  return items
end

-- Lines of items, as many in each as fit.
local function fill(items, width)
  local lines, line = {}, nil
  for i, item in ipairs(items) do
    item = i < #items and item .. "," or item
    local longer = line and line .. " " .. item
    if longer and not item:find "\n" and paint.width(longer) <= width then
      line = longer
    else
      lines[#lines + 1] = line
      line = item
    end
  end
  lines[#lines + 1] = line
  return lines
end

local function table_text(t, s, indent)
  if s.seen[t] then return paint.dim "{ itself }" end
  if s.depth >= DEPTH then return paint.dim "{...}" end
  s.seen[t], s.depth = true, s.depth + 1
  local items = items_of(t, s, indent .. "  ")
  s.seen[t], s.depth = nil, s.depth - 1
  if #items == 0 then return "{}" end
  local one = "{" .. table.concat(items, ", ") .. "}"
  if not one:find "\n" and #indent + paint.width(one) <= s.width then return one end
  local inner = "\n" .. indent .. "  "
  local lines = fill(items, s.width - #indent - 2)
  return "{" .. inner .. table.concat(lines, inner) .. "\n" .. indent .. "}"
end

function value(v, s, indent)
  local kind = type(v)
  if tables.is_plain(v) then return table_text(v, s, indent) end
  if kind == "string" then return paint.text(quote(v)) end
  if kind == "function" then return paint.dim "function" end
  return written(v)
end

-- A table as text that is no wider than `width`, where what is in it allows that.
function tables.text(t, width) return value(t, { width = width, seen = {}, depth = 0 }, "") end

return tables
