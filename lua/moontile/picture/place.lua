-- moontile.picture.place - where the cells, labels and boxes of a picture stand: for what draws it
-- with coordinates. Units are pixels, from the upper left corner.
-- SPDX-License-Identifier: MIT
--
-- Labels never overflow: a cell is as wide as the longest label of its picture; where that would
-- be too wide the letters get smaller.

local format, sub = string.format, string.sub
local max, min = math.max, math.min

local place = {}

local FONT = 10                -- of the labels of cells, and what a letter of it takes
local LETTER = 0.62
place.LETTER, place.FONT = LETTER, FONT

local ROOM = 6                 -- left and right of a label together
local WIDEST = 84
local LINE = 14                -- of titles, notes, numbers of rows and columns
local GAP = 24                 -- between panels
local MARGIN = 10
local CUTS = { 5, 9, 13 }      -- what borders of the levels push apart

local function longest_label(panels)
  local n, lines = 1, 1
  for _, p in ipairs(panels) do
    n = max(n, #format("%d", max(0, p.columns - 1)))
    for k = 1, p.rows * p.columns do
      local cell = p[k]
      n = max(n, #cell[1])
      if cell[2] then n, lines = max(n, #cell[2]), 2 end
    end
  end
  return n, lines
end

-- Cells of all panels have one size.
local function size_cells(s, panels)
  local n, lines = longest_label(panels)
  s.lines, s.cell_height = lines, lines == 1 and 20 or 28
  s.cell_width = min(WIDEST, max(s.cell_height, n * FONT * LETTER + ROOM)) // 1
  s.font = min(FONT, (s.cell_width - ROOM + 1) / (n * LETTER))
end

-- Where n cells begin, and where the last one ends.
local function positions(n, size, levels)
  local at, x = {}, 0
  for i = 0, n - 1 do
    x = x + (levels and levels[i] and CUTS[levels[i]] or 0)
    at[i] = x
    x = x + size
  end
  return at, x
end

-- ---------------------------------------------------------------- boxes

-- The runs of cells that no border of this level parts: { first, last }.
local function runs(n, levels, level)
  local list, first = {}, 0
  for i = 1, n do
    if i == n or (levels and (levels[i] or 0) >= level) then
      list[#list + 1] = { first, i - 1 }
      first = i
    end
  end
  return list
end

local function has_level(levels, level)
  for _, l in pairs(levels or {}) do if l >= level then return true end end
  return false
end

-- A box around each block of each level: weak ones lie in strong ones.
local function add_boxes(s, p)
  p.boxes = {}
  for level = 1, 3 do
    if not (has_level(p.row_levels, level) or has_level(p.column_levels, level)) then break end
    local out = 0.5 + 1.5 * level
    local columns = runs(p.columns, p.column_levels, level)
    for _, r in ipairs(runs(p.rows, p.row_levels, level)) do
      for _, c in ipairs(columns) do
        local x, y = p.xs[c[1]] - out, p.ys[r[1]] - out
        p.boxes[#p.boxes + 1] = {
          x = x, y = y, level = level,
          width = p.xs[c[2]] + s.cell_width + out - x,
          height = p.ys[r[2]] + s.cell_height + out - y,
        }
      end
    end
  end
end

-- ---------------------------------------------------------------- panels

local function measure(s, p)
  p.xs, p.inner_width = positions(p.columns, s.cell_width, p.column_levels)
  p.ys, p.inner_height = positions(p.rows, s.cell_height, p.row_levels)
  local label = #format("%d", max(0, p.rows - 1))
  p.left, p.top = label * FONT * LETTER + 8, (p.title and LINE or 0) + LINE
  local cut = {}
  if p.rows < p.all_rows then cut[1] = format("%d of %d rows", p.rows, p.all_rows) end
  if p.columns < p.all_columns then
    cut[#cut + 1] = format("%d of %d columns", p.columns, p.all_columns)
  end
  if p.all_rows * p.all_columns == 0 then cut = { "no elements" } end
  p.cut = #cut > 0 and table.concat(cut, ", ") or nil
  p.bottom = p.cut and LINE + 4 or 0
  local title = max(p.title and #p.title or 0, p.cut and #p.cut or 0) * FONT * LETTER
  p.outer_width = p.left + max(p.inner_width, title)
  p.outer_height = p.top + p.inner_height + p.bottom
  add_boxes(s, p)
end

-- Tracks of the arrangement: how much each row (column) of panels takes, and its margin.
local function tracks(panels, axis, margin, outer)
  local list, n = {}, 0
  for _, p in ipairs(panels) do
    local k = p.at[axis]
    n = max(n, k)
    local t = list[k] or { margin = 0, inner = 0 }
    t.margin = max(t.margin, p[margin])
    t.inner = max(t.inner, p[outer] - p[margin])
    list[k] = t
  end
  return list, n
end

local function begin_of(list, n, from)
  local at = from
  for k = 1, n do
    if list[k] then
      list[k].at = at + list[k].margin
      at = list[k].at + list[k].inner + GAP
    end
  end
  return n > 0 and at - GAP or from
end

-- The origin of each panel: the corner of its first cell.
local function arrange(s, panels, y)
  for _, p in ipairs(panels) do measure(s, p) end
  local columns, n = tracks(panels, 2, "left", "outer_width")
  local rows, m = tracks(panels, 1, "top", "outer_height")
  s.right = begin_of(columns, n, MARGIN)
  local bottom = begin_of(rows, m, y)
  for _, p in ipairs(panels) do
    p.x, p.y = columns[p.at[2]].at, rows[p.at[1]].at
    -- What stands beside something taller ends where that ends: B stands on C.
    if m > 1 and p.at[1] < m then
      p.y = p.y + rows[p.at[1]].inner - (p.outer_height - p.top)
    end
  end
  return bottom
end

-- ---------------------------------------------------------------- bars

local BAR = 220

local function place_bars(s, bars, y)
  local label, most, text = 0, 0, 0
  for _, bar in ipairs(bars) do
    label, most = max(label, #bar.label), max(most, bar.value or 0)
    text = max(text, #bar.text)
  end
  local x = MARGIN + label * FONT * LETTER + 8
  local room = most > 0 and BAR or 0
  for _, bar in ipairs(bars) do
    bar.x, bar.y, bar.height = x, y, 14
    bar.width = bar.value and most > 0 and max(1, bar.value / most * BAR) or 0
    bar.text_x, bar.text_y = x + room + 8, y + 11
    y = y + 20
  end
  s.right = max(s.right, x + room + 8 + text * FONT * LETTER)
  return y
end

-- ---------------------------------------------------------------- texts

-- A text in lines that fit into the picture.
local function wrapped(text, width)
  local n, lines = max(20, width // (FONT * LETTER) // 1 | 0), {}
  while #text > n do
    local at = n
    for k = n, n // 2, -1 do
      if sub(text, k, k) == " " then at = k break end
    end
    lines[#lines + 1], text = sub(text, 1, at), sub(text, at + 1)
  end
  lines[#lines + 1] = text
  return lines
end

local function place_texts(list, texts, width, y)
  for _, text in ipairs(texts) do
    for _, line in ipairs(wrapped(text, width)) do
      list[#list + 1] = { text = line, x = MARGIN, y = y + 10 }
      y = y + LINE
    end
  end
  return y
end

-- of(picture): what stands where. s: width, height, font, cell_width, cell_height, lines; texts
-- { text =, x =, y = }, the first `titles` of which are the title. Panels get x, y, xs, ys, boxes,
-- bars x, y, width, height.
function place.of(picture)
  local s, panels = { right = 0, texts = {} }, picture.panels
  size_cells(s, panels)
  arrange(s, panels, 0)
  if picture.bars then place_bars(s, picture.bars, 0) end
  local width = max(s.right - MARGIN, 240)
  local y = place_texts(s.texts, { picture.title }, width, MARGIN) + 4
  s.titles = #s.texts
  if #panels > 0 then y = arrange(s, panels, y) end
  if picture.bars then y = place_bars(s, picture.bars, y) end
  if picture.notes and #picture.notes > 0 then
    y = place_texts(s.texts, picture.notes, width, y + 6)
  end
  s.width, s.height = (width + 2 * MARGIN) // 1 | 0, (y + MARGIN) // 1 | 0
  return s
end

return place
