-- moontile.picture.latex - a picture as a TikZ document, in kind what CuTe's print_latex writes.
-- SPDX-License-Identifier: MIT

local need = ...
local palette = need "picture.palette"
local place = need "picture.place"
local format, gsub, sub = string.format, string.gsub, string.sub

local SPECIAL = {
  ["\\"] = "\\textbackslash{}", ["{"] = "\\{", ["}"] = "\\}", ["_"] = "\\_", ["%"] = "\\%",
  ["&"] = "\\&", ["#"] = "\\#", ["$"] = "\\$", ["~"] = "\\textasciitilde{}",
  ["^"] = "\\textasciicircum{}", ["<"] = "\\textless{}", [">"] = "\\textgreater{}",
}

local function escape(text) return (gsub(text, "[\\{}_%%&#$~^<>]", SPECIAL)) end

-- A comment must stay on its line.
local function comment(text) return (gsub(text, "%c", " ")) end

local function add_colours(out, letter, colours)
  for i = 1, 8 do
    out[#out + 1] = format("\\definecolor{%s%d}{HTML}{%s}", letter, i - 1,
                           string.upper(sub(colours[i], 2)))
  end
end

-- A page of the picture's size, with the class that CuTe's documents have or without it.
local CLASS = "\\IfFileExists{standalone.cls}{\\documentclass{standalone}}{\\documentclass{article}"
  .. "\\usepackage[margin=0pt,paperwidth=%dpt,paperheight=%dpt]{geometry}\\pagestyle{empty}"
  .. "\\parindent=0pt\\topskip=0pt}"

local function preamble(s, picture)
  local out = {
    "% " .. comment(picture.title),
    format(CLASS, s.width, s.height),
    "\\usepackage{tikz}",
    "\\begin{document}",
  }
  add_colours(out, "m", palette.many)
  add_colours(out, "r", palette.ramp)
  -- colour, colour of the text, x, y, label: drawn without TikZ's nodes, of which a page of TeX
  -- holds few thousands.
  out[#out + 1] = format("\\newcommand{\\cell}[5]{\\pgfsetfillcolor{#1}"
    .. "\\pgfpathrectangle{\\pgfqpoint{#3pt}{-#4pt}}{\\pgfqpoint{%.1fpt}{-%.1fpt}}"
    .. "\\pgfusepath{fill,stroke}\\pgfsetfillcolor{#2}"
    .. "\\pgftext[at={\\pgfpointadd{\\pgfqpoint{#3pt}{-#4pt}}{\\pgfqpoint{%.1fpt}{-%.1fpt}}}]"
    .. "{\\letters\\shortstack{#5}}}",
    s.cell_width, s.cell_height, s.cell_width / 2, s.cell_height / 2)
  out[#out + 1] = format("\\newcommand{\\letters}{\\ttfamily\\fontsize{%.1f}{%.1f}\\selectfont}",
                         s.font, s.font * 1.15)
  out[#out + 1] = "\\begin{tikzpicture}[x=1pt,y=-1pt,every node/.style={inner sep=0pt,"
                  .. "outer sep=0pt,align=center,font=\\letters}]"
  out[#out + 1] = format("\\useasboundingbox (0,0) rectangle (%d,%d);", s.width, s.height)
  return out
end

local function add_text(out, anchor, x, y, text)
  out[#out + 1] = format("\\node[anchor=%s] at (%.1f,%.1f) {%s};", anchor, x, y, escape(text))
end

local function add_cells(out, p)
  local letter, n = p.palette == "many" and "m" or "r", 0
  out[#out + 1] = "\\pgfsetlinewidth{.3pt}\\pgfsetstrokecolor{black!50}"
  for i = 0, p.rows - 1 do
    for j = 0, p.columns - 1 do
      n = n + 1
      local c = p[n]
      local fill = c.colour and not c.dim and letter .. c.colour or "white"
      local label = escape(c[1])
      if c[2] then label = label .. "\\\\" .. escape(c[2]) end
      out[#out + 1] = format("\\cell{%s}{%s}{%.1f}{%.1f}{%s}", fill,
                             c.dim and "black!30" or "black", p.x + p.xs[j], p.y + p.ys[i], label)
    end
  end
  out[#out + 1] = "\\pgfsetstrokecolor{black}\\pgfsetfillcolor{black}"
end

local function add_panel(out, s, p)
  if p.title then add_text(out, "base west", p.x, p.y - p.top + 10, p.title) end
  for j = 0, p.columns - 1 do
    add_text(out, "base", p.x + p.xs[j] + s.cell_width / 2, p.y - 5,
             format("%d", j + (p.first_column or 0)))
  end
  for i = 0, p.rows - 1 do
    add_text(out, "east", p.x - 5, p.y + p.ys[i] + s.cell_height / 2, format("%d", i))
  end
  add_cells(out, p)
  for _, b in ipairs(p.boxes) do
    out[#out + 1] = format("\\draw[line width=%.1fpt,rounded corners=1.5pt] (%.1f,%.1f) rectangle"
                           .. " ++(%.1f,%.1f);", 0.4 + 0.4 * b.level, p.x + b.x, p.y + b.y, b.width,
                           b.height)
  end
  if p.cut then add_text(out, "base west", p.x, p.y + p.inner_height + 14, p.cut) end
end

local function add_bar(out, bar)
  add_text(out, "base east", bar.x - 6, bar.text_y, bar.label)
  if bar.width > 0 then
    out[#out + 1] = format("\\filldraw[fill=%s] (%.1f,%.1f) rectangle ++(%.1f,%.1f);",
                           bar.chosen and "m1" or "m4", bar.x, bar.y, bar.width, bar.height)
  end
  add_text(out, "base west", bar.text_x, bar.text_y, bar.text)
end

-- latex(picture) -> text of a document
return function(picture)
  local s = place.of(picture)
  local out = preamble(s, picture)
  for _, t in ipairs(s.texts) do add_text(out, "base west", t.x, t.y, t.text) end
  for _, p in ipairs(picture.panels) do add_panel(out, s, p) end
  for _, bar in ipairs(picture.bars or {}) do add_bar(out, bar) end
  out[#out + 1] = "\\end{tikzpicture}"
  out[#out + 1] = "\\end{document}\n"
  return table.concat(out, "\n")
end
