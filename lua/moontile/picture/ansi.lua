-- moontile.picture.ansi - a picture as text: for a terminal, cut to its width, with its colours if
-- it has some.
-- SPDX-License-Identifier: MIT

local need = ...
local palette = need "picture.palette"
local format, rep = string.format, string.rep
local max, min = math.max, math.min

local function plain_width(line)
  local text = string.gsub(line, "\27%[[%d;]*m", "")
  return #text
end

-- A line without colours, in the width.
local function cut(line, width)
  if plain_width(line) <= width then return line end
  return string.sub(line, 1, max(1, width - 1)) .. ">"
end

-- ---------------------------------------------------------------- columns

-- How many lines a cell has, and the room around its label: a layout's have a blank on both sides,
-- as CuTe prints them.
local function shape_of(p)
  local lines = 1
  for n = 1, p.rows * p.columns do if p[n][2] then lines = 2 end end
  return lines, p.palette == "ramp" and 2 or 0
end

-- The width of a label and how many columns fit into `width`, at least one.
local function fit(p, pad, left, width)
  local widest, fitting = 1, 0
  for j = 0, p.columns - 1 do
    local longest = max(widest, #format("%d", j + (p.first_column or 0)))
    for i = 0, p.rows - 1 do
      local cell = p[i * p.columns + j + 1]
      longest = max(longest, #cell[1], cell[2] and #cell[2] or 0)
    end
    if j > 0 and left + (longest + pad + 1) * (j + 1) + 1 > width then break end
    widest, fitting = longest, j + 1
  end
  return widest, fitting
end

-- ---------------------------------------------------------------- lines

local function right(text, width) return rep(" ", width - #text) .. text end

-- A label in its cell: one that is dimmed shows no number where there are no colours to do it.
local function painted(cell, line, p, t)
  local text = cell[line] or ""
  if cell.dim and not t.colour then text = line == 1 and text ~= "" and "." or "" end
  text = right(text, t.cell)
  if t.pad == 2 then text = " " .. text .. " " end
  if not t.colour or text == "" then return text end
  if cell.dim then return "\27[2m" .. text .. "\27[0m" end
  if not cell.colour then return text end
  return "\27[48;5;" .. palette.code(p.palette, cell.colour) .. ";30m" .. text .. "\27[0m"
end

-- The line above row i: strong between blocks.
local function rule(p, t, i)
  local strong = p.row_levels and p.row_levels[i]
  local parts = { rep(" ", t.left) }
  local dashes = rep(strong and "=" or "-", t.cell + t.pad)
  for j = 0, t.columns - 1 do
    local strong_too = p.column_levels and p.column_levels[j]
    parts[#parts + 1] = (strong_too and "#" or "+") .. dashes
  end
  return table.concat(parts) .. "+"
end

local function row(p, t, i, line)
  local parts = { right(line == 1 and format("%d", i) or "", t.left - 1), " " }
  for j = 0, t.columns - 1 do
    local cell = p[i * p.columns + j + 1]
    parts[#parts + 1] = p.column_levels and p.column_levels[j] and "#" or "|"
    parts[#parts + 1] = painted(cell, line, p, t)
  end
  return table.concat(parts) .. "|"
end

local function numbers(t, first)
  local parts = { rep(" ", t.left) }
  for j = 0, t.columns - 1 do
    local text = right(format("%d", j + first), t.cell)
    parts[#parts + 1] = " " .. (t.pad == 2 and " " .. text .. " " or text)
  end
  return table.concat(parts)
end

local function more(n, all, what)
  return n < all and format("%d of %d %s", n, all, what) or nil
end

local function cut_line(p, columns)
  local list = {}
  list[1] = more(p.rows, p.all_rows, "rows")
  list[#list + 1] = more(columns, p.all_columns, "columns")
  return #list > 0 and "  " .. table.concat(list, ", ") or nil
end

-- The lines of a panel and how wide they are without their colours.
local function panel_lines(p, colour, width)
  local lines, pad = shape_of(p)
  local left = 2
  left = max(left, #format("%d", max(0, p.rows - 1)) + 1)
  left = left + 1
  local cell, columns = fit(p, pad, left, width)
  local t = { left = left, pad = pad, cell = cell, columns = columns, colour = colour }
  local out = {}
  if p.title then out[1] = cut(rep(" ", left) .. p.title, width) end
  if p.rows * p.columns == 0 then
    out[#out + 1] = "  no elements"
    out.width, out.complete = #out[#out], true
    return out
  end
  out[#out + 1] = numbers(t, p.first_column or 0)
  for i = 0, p.rows - 1 do
    out[#out + 1] = rule(p, t, i)
    for line = 1, lines do out[#out + 1] = row(p, t, i, line) end
  end
  out[#out + 1] = rule(p, t, p.rows)
  local left_out = cut_line(p, columns)
  if left_out then out[#out + 1] = cut(left_out, width) end
  out.width = left + (t.cell + pad + 1) * columns + 1
  out.complete = columns == p.columns
  return out
end

-- ---------------------------------------------------------------- arranging

-- Panels of one row of the arrangement side by side; empty places are blank.
local function beside(row_of_panels, widths)
  local out, height = {}, 0
  for _, lines in pairs(row_of_panels) do height = max(height, #lines) end
  for n = 1, height do
    local parts = {}
    for column = 1, #widths do
      local lines = row_of_panels[column]
      -- Panels end at one height: B stands on C.
      local line = lines and lines[n - (height - #lines)] or ""
      parts[column] = line .. rep(" ", max(0, widths[column] - plain_width(line)))
    end
    out[n] = table.concat(parts, " ")
  end
  return out
end

-- By places: rows of panels, or nil: too wide, or one is not complete.
local function arranged(panels, drawn, width)
  local rows, widths = {}, {}
  for n, p in ipairs(panels) do
    local r, c = p.at[1], p.at[2]
    if not drawn[n].complete then return nil end
    rows[r] = rows[r] or {}
    rows[r][c] = drawn[n]
    for column = #widths + 1, c do widths[column] = 0 end
    widths[c] = max(widths[c], drawn[n].width)
  end
  local all = #widths - 1
  for _, w in ipairs(widths) do all = all + w end
  if all > width then return nil end
  local out = {}
  for r = 1, 8 do
    for _, line in ipairs(rows[r] and beside(rows[r], widths) or {}) do out[#out + 1] = line end
  end
  return out
end

-- ---------------------------------------------------------------- bars

local function bar_lines(bars, width, colour)
  local label, most, out = 0, 0, {}
  for _, bar in ipairs(bars) do
    label, most = max(label, #bar.label), max(most, bar.value or 0)
  end
  local room = max(8, min(40, width - label - 30))
  for n, bar in ipairs(bars) do
    local length = bar.value and most > 0 and max(1, (bar.value / most * room + 0.5) // 1 | 0) or 0
    local filled = rep("#", length)
    if colour and length > 0 then
      filled = "\27[48;5;" .. palette.code("many", bar.chosen and 1 or 4) .. ";30m"
               .. rep(" ", length) .. "\27[0m"
    end
    out[n] = bar.label .. rep(" ", label - #bar.label + 1) .. filled
             .. (most > 0 and rep(" ", room - length + 1) or " ") .. bar.text
  end
  return out
end

-- ---------------------------------------------------------------- all

local function add(out, lines) for _, line in ipairs(lines) do out[#out + 1] = line end end

-- ansi(picture, options) -> text
return function(picture, o)
  local width, out = o.width or 80, {}
  out[1] = cut(picture.title, width)
  local drawn = {}
  for n, p in ipairs(picture.panels) do drawn[n] = panel_lines(p, o.colour, width) end
  local together = arranged(picture.panels, drawn, width)
  if together then add(out, together)
  else for _, lines in ipairs(drawn) do add(out, lines) end end
  local bars = bar_lines(picture.bars or {}, width, o.colour)
  for n, line in ipairs(bars) do bars[n] = o.colour and line or cut(line, width) end
  add(out, bars)
  for _, note in ipairs(picture.notes or {}) do out[#out + 1] = cut("  " .. note, width) end
  for n, line in ipairs(out) do out[n] = string.gsub(line, " +$", "") end
  return table.concat(out, "\n")
end
