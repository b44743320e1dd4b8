-- moontile.console.elements - the elements of a tensor, as NumPy prints an array: rows in brackets,
-- of a large one the first and the last three of each mode.
-- SPDX-License-Identifier: MIT
--
-- A mode with modes of its own counts through. What a ragged tensor does not have is a dot.

local need = ...
local texts_of = need "console.numbers"

-- So many elements are shown whole; of a mode that is cut so many at each end, or fewer where the
-- tensor has many modes.
local MOST, EDGE, MOST_CUT = 1000, 3, 4096

-- The coordinates of a mode that are shown; false stands for those left out.
local function axis(extent, edge)
  local list = {}
  if not edge or extent <= 2 * edge then
    for c = 0, extent - 1 do list[c + 1] = c end
    return list
  end
  for c = 0, edge - 1 do list[#list + 1] = c end
  list[#list + 1] = false
  for c = extent - edge, extent - 1 do list[#list + 1] = c end
  return list
end

local function each(axes, f, at)
  if #at == #axes then return f(at) end
  for _, c in ipairs(axes[#at + 1]) do
    if c then
      at[#at + 1] = c
      each(axes, f, at)
      at[#at] = nil
    end
  end
end

local function key(at) return table.concat(at, ",") end

-- The values of all elements by the text of their coordinate.
local function all_values(T, extents, axes)
  local list, values = T:totable(), {}
  each(axes, function(at)
    local index, step = 1, 1
    for i, c in ipairs(at) do index, step = index + c * step, step * extents[i] end
    values[key(at)] = list[index]
  end, {})
  return values
end

local function some_values(T, axes)
  local values = {}
  each(axes, function(at)
    local there, v = pcall(T, table.unpack(at))
    if there then values[key(at)] = v end
  end, {})
  return values
end

-- A row as lines that are no wider than `width`.
local function row(words, width)
  local lines, line = {}, ""
  for _, word in ipairs(words) do
    if line ~= "" and #line + #word + 1 > width then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return lines
end

-- The lines of what lies behind the coordinate `at`.
local function block(a, at, width)
  local parts, mode = {}, #at + 1
  if mode > #a.axes then return { a.texts[key(at)] or "." } end
  for _, c in ipairs(a.axes[mode]) do
    local part = { "..." }
    if c then
      at[mode] = c
      part = block(a, at, width - 1)
      at[mode] = nil
    end
    parts[#parts + 1] = part
  end
  if mode == #a.axes then
    for i, part in ipairs(parts) do parts[i] = part[1] end
    parts = { row(parts, width - 2) }
  end
  local lines = {}
  for i, part in ipairs(parts) do
    if i > 1 then for _ = 1, #a.axes - mode - 1 do lines[#lines + 1] = "" end end
    for _, line in ipairs(part) do
      lines[#lines + 1] = (#lines == 0 and "[" or line == "" and "" or " ") .. line
    end
  end
  lines[math.max(#lines, 1)] = (lines[#lines] or "[") .. "]"
  return lines
end

local function cut_to(extents)
  for edge = EDGE, 1, -1 do
    local count = 1
    for _, n in ipairs(extents) do count = count * math.min(n, 2 * edge) end
    if count <= MOST_CUT then return edge end
  end
end

-- The elements of the tensor as lines, or nil: it has too many modes.
return function(T, width)
  local extents, axes = {}, {}
  for mode = 1, T:rank() do extents[mode] = T:size(mode) end
  local edge = T:size() > MOST and cut_to(extents)
  if edge == nil then return nil end
  for mode, n in ipairs(extents) do axes[mode] = axis(n, edge) end
  local values = edge and some_values(T, axes) or all_values(T, extents, axes)
  local texts = texts_of(values, T:dtype())
  local _, some = next(texts)
  local blank = (some or "."):gsub(".", " "):gsub(" $", ".")
  setmetatable(texts, { __index = function() return blank end })
  return block({ axes = axes, texts = texts }, {}, width)
end
