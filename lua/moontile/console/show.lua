-- moontile.console.show - values as the console prints them.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "tile"
local class_of = need "console.class"
local help = need "console.help"
local elements = need "console.elements"
local tables = need "console.tables"
local paint = need "console.paint"

local WIDTH = 80      -- of what has to be broken somewhere, where no terminal says how wide it is

-- Lines that are wider than a terminal end in ">".
local function cut(text, width)
  if not width then return text end
  return (text:gsub("[^\n]+", function(line)
    if paint.width(line) <= width then return line end
    local last = utf8.offset(line, width) or width
    return line:sub(1, last - 1) .. paint.dim ">"
  end))
end

local function tensor(T, width)
  local text = tostring(T)
  local ok, lines = pcall(elements, T, width or WIDTH)
  if not ok or not lines then return text end
  return text .. "\n" .. table.concat(lines, "\n")
end

local function written(v)
  local ok, text = pcall(tostring, v)
  return ok and text or ("(%s that has no text: %s)"):format(type(v), tostring(text))
end

-- A function of the module is shown by what it takes.
local function written_function(f)
  for name, value in next, tile do
    if value == f then
      return help.signature("tile", name) .. "  " .. paint.dim("?" .. name .. " says more")
    end
  end
  return written(f)
end

-- One value. width: of the terminal, or nil: it is none.
local function show(v, width)
  if type(v) == "function" then return written_function(v) end
  if class_of(v) == "Tensor" then return tensor(v, width) end
  if tables.is_plain(v) then return tables.text(v, width or WIDTH) end
  local text = written(v)
  return text:find("\n", 1, true) and cut(text, width) or text
end

-- The values of a line, in one line if each has one.
return function(values, width)
  local texts, long = {}, false
  if values[1] == nil then width = nil end         -- a message is shown as a whole
  for i = 1, values.n do
    texts[i] = show(values[i], width)
    long = long or texts[i]:find("\n", 1, true)
  end
  return table.concat(texts, long and "\n" or "\t")
end
