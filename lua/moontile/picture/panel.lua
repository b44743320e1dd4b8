-- moontile.picture.panel - a grid of cells, the part of every picture: cut to what can be read.
-- SPDX-License-Identifier: MIT
--
-- A picture is { title =, panels = { panel... }, notes = { text... } [, bars = ...] }. A panel:
--   title                 a line above it
--   at = { row, column }  its place among the panels
--   rows, columns         that are shown; all_rows, all_columns: that there are
--   [i * columns + j + 1] the cell at row i and column j, from 0 on
--   first_column          the number of the first column, 0
--   row_levels[i]         how strong the border in front of row i is; column_levels
-- A cell: its label in one line or two, [1] and [2]; colour, an index of the palette; dim, where
-- something else is highlighted; what is known of it: coordinate, index, offset, bank, threads,
-- values, element.

local need = ...
local tile = need "core"
local min = math.min

local panel = {}

-- How many rows and columns: what was asked for, else what the way of drawing can show.
local function limits(options)
  return options.rows or options.most_rows, options.columns or options.most_columns
end

-- panel.new(p, options): p has all_rows, all_columns, and cell(i, j).
function panel.new(p, options)
  local rows, columns = limits(options)
  p.rows, p.columns = min(p.all_rows, rows), min(p.all_columns, columns)
  p.at = p.at or { 1, 1 }
  local cell, n = p.cell, 0
  for i = 0, p.rows - 1 do
    for j = 0, p.columns - 1 do
      n = n + 1
      p[n] = cell(i, j)
    end
  end
  return p
end

-- ---------------------------------------------------------------- borders

-- The extents of a shape, flat: of ((2,2),4) 2, 2, 4.
local function extents(shape)
  local flat = tile.flatten(shape)
  if type(flat) == "number" then return { flat } end
  local list = {}
  for i = 1, #flat do list[i] = flat[i] end
  return list
end

local MOST_LEVELS = 3

-- Where blocks of these sizes begin, below n: the more of them, the stronger.
local function levels_of(sizes, n)
  local levels = {}
  for i = 1, n - 1 do
    for _, size in ipairs(sizes) do
      if i % size == 0 then levels[i] = min((levels[i] or 0) + 1, MOST_LEVELS) end
    end
  end
  return levels
end

-- The blocks of a hierarchical mode: of the shape (2,2,4) those of 2 and of 4.
local function nested_sizes(shape)
  local sizes, size = {}, 1
  local list = extents(shape)
  for i = 1, #list - 1 do
    size = size * list[i]
    if list[i] > 1 and size > 1 then sizes[#sizes + 1] = size end
  end
  return sizes
end

-- Borders by the hierarchy of two shapes; nil: there is one row.
function panel.nest(p, row_shape, column_shape)
  p.row_levels = row_shape and levels_of(nested_sizes(row_shape), p.rows)
  p.column_levels = column_shape and levels_of(nested_sizes(column_shape), p.columns)
end

-- Borders of tiles of so many rows and columns.
function panel.tile(p, rows, columns)
  p.row_levels = levels_of({ rows }, p.rows)
  p.column_levels = levels_of({ columns }, p.columns)
end

-- ---------------------------------------------------------------- highlights

-- Dims what keep(cell) is not true of.
function panel.highlight(p, keep)
  for n = 1, p.rows * p.columns do
    if not keep(p[n]) then p[n].dim = true end
  end
end

return panel
