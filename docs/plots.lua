-- plots.lua: the plots of docs/performance.md, drawn from the tables of bench/RESULTS.md.
-- SPDX-License-Identifier: MIT
--
-- plots.files()      -> { [path] = text }: the SVG files and the page, by docs/generate.lua
-- plots.tables(text) -> what the tables of a Markdown text say
--
-- No number stands here: all are read. docs/charts.lua says which columns become which chart.

local RESULTS = "bench/RESULTS.md"
local PICTURES = "docs/pictures/"

local plots = {}

-- The drawing of pictures has letters, colours and escapes already.
local function need(name)
  return assert(loadfile("lua/moontile/" .. name:gsub("%.", "/") .. ".lua"))(need)
end
local svg, palette, place = need "picture.svg", need "picture.palette", need "picture.place"
local escape, format = svg.escape, string.format

local read = dofile "docs/read.lua"

-- ---------------------------------------------------------------- tables

local function cells_of(line)
  local cells = {}
  for cell in line:match "^|(.*)|%s*$":gmatch "[^|]*" do
    cells[#cells + 1] = cell:match "^%s*(.-)%s*$"
  end
  return cells
end

-- { { section =, command =, commit =, header = cells, rows = { cells } } }
function plots.tables(text)
  local list, section, open = {}, nil, nil
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:match "^## " then section, open = line:sub(4), nil end
    if line:match "^| %-" or line:match "^|%-" then
      open = open or {}
    elseif line:match "^|.*|%s*$" then
      if open then table.insert(open.rows, cells_of(line)) else
        open = { section = section, header = cells_of(line), rows = {} }
        list[#list + 1] = open
      end
    else
      open = nil
    end
  end
  return list
end

local function index_of(t)
  local index = {}
  for i, title in ipairs(t.header) do index[title] = i end
  return index
end

-- A column is a title, or { title, n }: number n of its cells.
local function title_of(column) return type(column) == "table" and column[1] or column end

-- The table of this name that has these columns.
local function table_of(tables, chart)
  for _, t in ipairs(tables) do
    local index = index_of(t)
    local name = t.header[1]:gsub(" %(.*$", "")
    local fits = name == chart.table
    for _, column in ipairs(chart.columns) do fits = fits and index[title_of(column)] end
    if fits then return t end
  end
  error(RESULTS .. " has no such table of " .. chart.table)
end

-- How a section was measured: as its heading in RESULTS.md says, or the name of its table.
local function measured(text, s, name)
  local heading
  for line in text:gmatch "\n## ([^\n]+)" do
    if line:find(s.section, 1, true) == 1 then heading = heading or line end
  end
  assert(heading, RESULTS .. " has no section " .. s.section)
  local said = name:find "`" and name or heading
  local commit = said:match "commit (%x+)"
  return format("Measured by `%s`, %s.\n", s.command or said:match "`([^`]+)`",
                commit and "commit " .. commit or "on the commits that its table names")
end

-- The number that a cell begins with, and its text; number n of several; nil: there is none.
local function number_of(cell, n)
  for _ = 2, n or 1 do cell = cell:match "^[^,]*,%s*(.*)$" or "" end
  if n then cell = cell:match "^[^,]*" end
  return tonumber(cell:match "^%-?[%d.]+"), cell
end

-- ---------------------------------------------------------------- series

local function value_of(row, index, chart, column)
  local n = type(column) == "table" and column[2] or nil
  local a, text = number_of(row[index[title_of(column)]], n)
  if not a or not chart.over then return a, text end
  local b = number_of(row[assert(index[chart.over], chart.over)])
  if b then return a / b, format(chart.form or "%.2f", a / b) end
end

local function label_of(row, chart)
  local parts = {}
  for _, k in ipairs(chart.label or { 1 }) do parts[#parts + 1] = row[k]:gsub("`", "") end
  return (chart.prefix or "") .. table.concat(parts, ", ")
end

-- What a chart shows of a table: { label =, values = { { number, text } } }.
local function points_of(t, chart)
  local index, points = index_of(t), {}
  for _, row in ipairs(t.rows) do
    local point = { label = label_of(row, chart), values = {} }
    for k, column in ipairs(chart.columns) do
      local number, text = value_of(row, index, chart, column)
      if number then point.values[k] = { number, text } end
    end
    if next(point.values) and (not chart.pick or chart.pick(point.label)) then
      points[#points + 1] = point
    end
  end
  return points
end

-- ---------------------------------------------------------------- drawing

local BAR, GAP, WIDTH, TOP, MARGIN = 11, 6, 320, 18, 10
local CAP = 2                 -- of ratios: what is above is cut, and has an arrow

local STYLE = [[<style>
svg{--page:#fff;--ink:#1a1a1a;--soft:#555;--line:#ccc;--one:#1a1a1a}
@media(prefers-color-scheme:dark){svg{--page:#15181c;--ink:#e8e8e8;--soft:#aaa;--line:#3a4048;
--one:#e8e8e8}}
text{font:%dpx ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:var(--ink)}
.h{font-weight:bold}.e{text-anchor:end}.n{text-anchor:middle;fill:var(--soft)}
.page{fill:var(--page)}.line{stroke:var(--line);stroke-width:1}
.v{paint-order:stroke;stroke:var(--page);stroke-width:2px}
.one{stroke:var(--one);stroke-width:1.5}.bar{stroke:#555;stroke-width:.5}
</style>
]]

local function text_at(class, x, y, text)
  return format('<text class="%s" x="%.1f" y="%.1f">%s</text>', class, x, y, escape(text))
end

local function width_of(text) return #text * place.FONT * place.LETTER end

-- The scale of a chart: where a value stands, and the ticks.
local function scale_of(chart, points)
  local most, least = 0, math.huge
  for _, p in ipairs(points) do
    for _, v in pairs(p.values) do most, least = math.max(most, v[1]), math.min(least, v[1]) end
  end
  local s = { ticks = {} }
  if chart.log then
    local low = math.min(1, 10 ^ math.floor(math.log(least, 10)))
    local high = 10 ^ math.ceil(math.log(most, 10))
    local decades = math.log(high / low, 10)
    function s.at(v) return math.log(v / low, 10) / decades * WIDTH end
    local tick = low
    while tick <= high * 1.001 do
      s.ticks[#s.ticks + 1], tick = tick, tick * 10
    end
  else
    local high = chart.ratio and math.min(CAP, math.max(1.25, most)) or most
    local step = 10 ^ math.floor(math.log(high / 2, 10))
    while high / step > 6 do step = step * (tostring(step):match "^[0.]*2" and 2.5 or 2) end
    if chart.ratio then step = 0.25 end
    high = math.ceil(high / step - 1e-9) * step
    s.high = high
    function s.at(v) return math.min(v, high) / high * WIDTH end
    for k = 0, high / step + 0.5 do s.ticks[#s.ticks + 1] = k * step end
  end
  return s
end

-- Classes of series differ in lightness.
local COLOURS = { palette.many[8], palette.many[1], palette.many[6], palette.many[7] }

local function add_ticks(out, chart, s, x, top, bottom)
  for _, tick in ipairs(s.ticks) do
    local at = x + s.at(tick)
    local class = chart.ratio and tick == 1 and "one" or "line"
    out[#out + 1] = format('<path class="%s" d="M%.1f %.1fV%.1f"/>', class, at, top, bottom)
    out[#out + 1] = text_at("n", at, top - 4, format("%g", tick))
  end
end

-- A bar and its number: behind it, or in a column of numbers where a row has one bar. What is too
-- long for the scale ends in an arrow.
local function add_bar(out, s, x, y, value, colour, in_column)
  local width = math.max(0.5, s.at(value[1]))
  local over = s.high and value[1] > s.high
  out[#out + 1] = format('<path class="bar" d="M%.1f %.1fh%.2f%sH%.1fz" fill="%s"/>', x, y,
                         over and width - 5 or width,
                         format(over and "l5 %g l-5 %g" or "v%g", over and BAR / 2 or BAR, BAR / 2),
                         x, colour)
  local at = x + (in_column and WIDTH + 6 or width + 4)
  out[#out + 1] = text_at("v", at, y + BAR - 2, value[2])
end

-- Returns what is below it, and where it ends.
local function add_legend(out, chart, x, y)
  if not chart.series then return y, 0 end
  for k, name in ipairs(chart.series) do
    out[#out + 1] = format('<rect class="bar" x="%.1f" y="%.1f" width="12" height="%d" fill="%s"/>',
                           x, y, BAR, COLOURS[k])
    out[#out + 1] = text_at("t", x + 16, y + BAR - 2, name)
    x = x + 16 + width_of(name) + 18
  end
  return y + BAR + GAP, x
end

-- draw(chart, points) -> text of an SVG file
function plots.draw(chart, points)
  local s, label, value = scale_of(chart, points), 0, 0
  for _, p in ipairs(points) do
    label = math.max(label, width_of(p.label))
    for _, v in pairs(p.values) do value = math.max(value, width_of(v[2]) + 16) end
  end
  local n = #(chart.series or { 1 })
  local out, x = {}, MARGIN + label + 8
  local y, right = add_legend(out, chart, MARGIN, MARGIN + TOP)
  y = y + TOP
  local row = n * BAR + GAP
  local bottom = y + #points * row
  add_ticks(out, chart, s, x, y - 2, bottom)
  for _, p in ipairs(points) do
    out[#out + 1] = format("<g><title>%s</title>", escape(p.label))
    out[#out + 1] = text_at("e", x - 8, y + (row - GAP) / 2 + 4, p.label)
    for k = 1, n do
      local v = p.values[k]
      if v then add_bar(out, s, x, y + (k - 1) * BAR, v, COLOURS[k], n == 1 or chart.ratio) end
    end
    out[#out + 1], y = "</g>", y + row
  end
  local width = math.max(x + WIDTH + value, MARGIN + width_of(chart.title), right) + MARGIN
  local size = format('width="%.0f" height="%.0f"', width, bottom + MARGIN)
  return format('<svg xmlns="http://www.w3.org/2000/svg" %s viewBox="0 0 %.0f %.0f">\n', size,
                width, bottom + MARGIN)
    .. format("<title>%s</title>\n", escape(chart.title)) .. format(STYLE, place.FONT)
    .. format('<rect class="page" %s/>\n', size)
    .. text_at("h", MARGIN, MARGIN + 10, chart.title) .. "\n"
    .. table.concat(out, "\n") .. "\n</svg>\n"
end

-- ---------------------------------------------------------------- words

-- How many rows, the mean of ratios (geometric), the median, the least and the most.
local function summary_of(points)
  local product, list = 0, {}
  for i, p in ipairs(points) do
    product, list[i] = product + math.log(p.values[1][1]), p
  end
  table.sort(list, function(a, b) return a.values[1][1] < b.values[1][1] end)
  local mean, middle = math.exp(product / #list), list[(#list + 1) // 2]
  local least, most = list[1], list[#list]
  return format("%d rows: median %s, geometric mean %s, least %s (%s), most %s (%s).", #list,
                middle.values[1][2], format(mean >= 20 and "%.0f" or "%.2f", mean),
                least.values[1][2], least.label, most.values[1][2], most.label)
end

-- A chart may be of several tables: what a part does not say the chart says.
local function part_of(chart, part)
  return part == chart and chart or setmetatable({}, {
    __index = function(_, key) return part[key] or chart[key] end,
  })
end

local function points_of_chart(tables, chart)
  local points = {}
  for _, part in ipairs(chart.parts or { chart }) do
    local whole = part_of(chart, part)
    for _, p in ipairs(points_of(table_of(tables, whole), whole)) do
      points[#points + 1] = p
    end
  end
  return points
end

local function escaped(text) return (text:gsub("[<*|]", "\\%0")) end

local function add_chart(out, files, tables, chart)
  local points = points_of_chart(tables, chart)
  local name = "plot_" .. chart.name .. ".svg"
  files[PICTURES .. name] = plots.draw(chart, points)
  out[#out + 1] = format("![%s](pictures/%s)\n", chart.title, name)
  if not chart.series then out[#out + 1] = escaped(summary_of(points)) .. "\n" end
end

-- The page: sections of docs/charts.lua.
function plots.files()
  local text = read(RESULTS)
  local tables, files = plots.tables(text), {}
  local sections, opening = table.unpack(dofile "docs/charts.lua")
  local out = { "# Performance\n",
                "<!-- Made by docs/generate.lua from bench/RESULTS.md and docs/charts.lua. -->\n",
                opening }
  for _, s in ipairs(sections) do
    out[#out + 1] = "## " .. s.title .. "\n"
    out[#out + 1] = s.words
    local first = part_of(s[1], (s[1].parts or s)[1])
    out[#out + 1] = measured(text, s, table_of(tables, first).header[1])
    for _, chart in ipairs(s) do add_chart(out, files, tables, chart) end
  end
  files["docs/performance.md"] = table.concat(out, "\n"):gsub("\n+$", "") .. "\n"
  return files
end

return plots
