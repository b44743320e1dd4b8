-- moontile.picture.svg - a picture as SVG: written by hand, without anything it would depend on.
-- SPDX-License-Identifier: MIT
--
-- A cell is <g class="c">: its rectangle, its label, and a <title> that browsers show. In a page
-- (picture/html.lua) it has attributes instead, which the page's script reads.

local need = ...
local palette = need "picture.palette"
local place = need "picture.place"
local find, format, gsub = string.find, string.format, string.gsub

local svg = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text)
  if not find(text, '[&<>"]') then return text end
  return (gsub(text, '[&<>"]', ENTITIES))
end
svg.escape = escape

-- Numbers as short as they can be.
local function num(x)
  return x == x // 1 and format("%d", x // 1 | 0) or (gsub(format("%.2f", x), "0+$", ""))
end

local FONTS = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"

-- The style; colours outside of cells are variables, which a page may set.
local function style(s)
  local rules = {
    format("text{font:%dpx %s;fill:var(--ink,#1a1a1a)}", place.FONT, FONTS),
    format(".c text{font-size:%spx;text-anchor:middle;fill:#111}", num(s.font)),
    ".c rect{stroke:#8a8a8a;stroke-width:.5}.n{text-anchor:middle;fill:var(--soft,#555)}",
    ".w{text-anchor:end;fill:var(--soft,#555)}.h{font-weight:bold}",
    ".b{fill:none;stroke:var(--box,#444);stroke-width:1}.b2{stroke-width:1.5}.b3{stroke-width:2}",
    ".e{fill:var(--empty,#fff)}.d rect{fill:var(--dim,#fafafa);stroke:#ccc}",
    ".d text{fill:var(--faint,#b5b5b5)}",
  }
  for name, colours in pairs { m = palette.many, r = palette.ramp } do
    for i = 1, 8 do rules[#rules + 1] = format(".%s%d{fill:%s}", name, i - 1, colours[i]) end
  end
  table.sort(rules)
  return "<style>" .. table.concat(rules) .. "</style>"
end

-- ---------------------------------------------------------------- cells

local function list(numbers, separator) return table.concat(numbers, separator) end

-- What is known of a cell, in words: coordinates, offsets and numbers have no letter to escape.
local function told(c)
  local words = c.coordinate or ""
  if c.offset then words = words .. "; offset " .. tostring(c.offset) end
  if c.threads then
    words = words .. "; thread " .. (c.shared and "all" or list(c.threads, ", "))
  end
  if c.values then words = words .. "; value " .. list(c.values, ", ") end
  if c.bank then words = words .. "; bank " .. c.bank end
  return "<title>" .. words .. "</title>"
end

-- The same for the script of a page; thread -1: all of them.
local function attributes(c)
  local text = ""
  if c.coordinate then text = ' data-c="' .. c.coordinate .. '"' end
  if c.index then text = text .. ' data-i="' .. c.index .. '"' end
  if c.offset then text = text .. ' data-o="' .. tostring(c.offset) .. '"' end
  if c.threads then
    text = text .. ' data-t="' .. (c.shared and "-1" or list(c.threads, " ")) .. '"'
  end
  if c.values then text = text .. ' data-v="' .. list(c.values, " ") .. '"' end
  if c.bank then text = text .. ' data-b="' .. c.bank .. '"' end
  return text
end

local function class_of(c, letter) return c.colour and letter .. c.colour or "e" end

-- The x of each column, and of its middle.
local function columns_of(s, p)
  local left, middle = {}, {}
  for j = 0, p.columns - 1 do
    left[j], middle[j] = num(p.x + p.xs[j]), num(p.x + p.xs[j] + s.cell_width / 2)
  end
  return left, middle
end

local function label(x, y, text)
  return '<text x="' .. x .. '" y="' .. y .. '">' .. escape(text) .. "</text>"
end

-- The baselines of a row: of one line, or of two.
local function baselines(s, y)
  local middle = y + s.cell_height / 2
  return num(middle + s.font * 0.35), num(middle - s.font * 0.2), num(middle + s.font * 0.95)
end

local function add_cells(out, s, p, in_page)
  local left, middle = columns_of(s, p)
  local size = format('" width="%s" height="%s"/>', num(s.cell_width), num(s.cell_height))
  local letter, known, n = p.palette == "many" and "m" or "r", in_page and attributes or told, 0
  for i = 0, p.rows - 1 do
    local one, first, second = baselines(s, p.y + p.ys[i])
    local y = '" y="' .. num(p.y + p.ys[i])
    for j = 0, p.columns - 1 do
      n = n + 1
      local c = p[n]
      local text = ""
      if c[2] and c[1] ~= "" then
        text = label(middle[j], first, c[1]) .. label(middle[j], second, c[2])
      elseif c[1] ~= "" then
        text = label(middle[j], one, c[1])
      end
      out[#out + 1] = '<g class="c' .. (c.dim and " d" or "") .. '"'
        .. (in_page and known(c) .. ">" or ">" .. known(c))
        .. '<rect class="' .. class_of(c, letter) .. '" x="' .. left[j] .. y .. size .. text
        .. "</g>"
    end
  end
end

-- ---------------------------------------------------------------- around cells

local function add_text(out, class, x, y, text)
  out[#out + 1] = format('<text class="%s" x="%s" y="%s">%s</text>', class, num(x), num(y),
                         escape(text))
end

local function add_panel(out, s, p, in_page)
  out[#out + 1] = p.is_time and '<g class="p" data-time="1">' or '<g class="p">'
  if p.title then add_text(out, "h", p.x, p.y - p.top + 10, p.title) end
  for j = 0, p.columns - 1 do
    add_text(out, "n", p.x + p.xs[j] + s.cell_width / 2, p.y - 5,
             format("%d", j + (p.first_column or 0)))
  end
  for i = 0, p.rows - 1 do
    add_text(out, "w", p.x - 5, p.y + p.ys[i] + s.cell_height / 2 + 3.5, format("%d", i))
  end
  add_cells(out, s, p, in_page)
  for _, b in ipairs(p.boxes) do
    out[#out + 1] = format('<rect class="b b%d" x="%s" y="%s" width="%s" height="%s" rx="2"/>',
                           b.level, num(p.x + b.x), num(p.y + b.y), num(b.width), num(b.height))
  end
  if p.cut then add_text(out, "t", p.x, p.y + p.inner_height + 14, p.cut) end
  out[#out + 1] = "</g>\n"
end

local function add_bar(out, bar)
  add_text(out, "w", bar.x - 6, bar.text_y, bar.label)
  if bar.width > 0 then
    out[#out + 1] = format('<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>',
                           bar.chosen and "m1" or "m4", num(bar.x), num(bar.y), num(bar.width),
                           num(bar.height))
  end
  add_text(out, bar.chosen and "h" or "t", bar.text_x, bar.text_y, bar.text)
end

-- body(picture, in_page) -> the <svg> element.
function svg.body(picture, in_page)
  local s = place.of(picture)
  local out = {
    format('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">',
           s.width, s.height, s.width, s.height),
    style(s),
  }
  if not in_page then
    out[3] = "<title>" .. escape(picture.title) .. "</title>"
    out[4] = format('<rect width="%d" height="%d" fill="#fff"/>', s.width, s.height)
  end
  for n, t in ipairs(s.texts) do add_text(out, n <= s.titles and "h" or "t", t.x, t.y, t.text) end
  for _, p in ipairs(picture.panels) do add_panel(out, s, p, in_page) end
  for _, bar in ipairs(picture.bars or {}) do add_bar(out, bar) end
  out[#out + 1] = "</svg>\n"
  return table.concat(out)
end

return setmetatable(svg, { __call = function(_, picture) return svg.body(picture, false) end })
