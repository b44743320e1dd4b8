-- moontile.picture.grid - a layout as rows and columns: by offset, coordinate, index, bank, or the
-- elements of a tensor.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local options = need "picture.options"
local panel = need "picture.panel"
local format = string.format

local grid = {}

local BANKS, BANKBITS = 32, 32
local WAYS = { "offset", "coordinate", "index", "bank", "value" }

-- Rows are mode 1, columns all others; a layout of one mode is a row.
function grid.matrix(A)
  local rank = tile.rank(A)
  if rank < 2 then return 1, tile.size(A), nil, rank == 1 and tile.shape(A) or nil end
  local rows = tile.size(tile.get(A, 1))
  local columns = rows == 0 and 0 or tile.size(A) // rows
  local shape = tile.shape(tile.take(A, 2, rank))
  return rows, columns, tile.shape(tile.get(A, 1)), shape
end

function grid.bank(offset, bits) return offset * bits // BANKBITS % BANKS end

-- ---------------------------------------------------------------- labels

-- The label of a cell, and the step of the ramp that it is painted in.
local labels = {}
function labels.offset(cell, o)
  local offset = cell.offset
  if math.type(offset) ~= "integer" then return tostring(offset), cell.index end
  return format("%d", offset), offset // (o.step or 1)
end
function labels.coordinate(cell) return cell.coordinate, cell.index end
function labels.index(cell) return format("%d", cell.index), cell.index end
function labels.bank(cell) return format("%d", cell.bank), cell.bank // 4 end
function labels.value(cell)
  if cell.element == nil then return ".", nil end
  return format("%s", cell.element), cell.offset
end

local function check_by(A, o)
  local by = options.word(o, "by", WAYS) or "offset"
  check(by ~= "value" or o.tensor, "%s: by \"value\": %s is no tensor, it has no elements", o.way,
        A)
  check(by ~= "bank" or math.type(A(0)) == "integer",
        "%s: by \"bank\": the offsets of %s are no integers", o.way, A)
  return by
end

-- ---------------------------------------------------------------- slices

-- The indices that a coordinate with wildcards has: a set.
local function slice_of(A, o)
  if o.slice == nil then return nil end
  local part, offset = tile.slice_and_offset(o.slice, tile.layout(tile.shape(A)))
  local set, n = {}, tile.size(part)
  check(n <= 1 << 16, "%s: slice: %d elements, at most %d are highlighted", o.way, n, 1 << 16)
  for i = 0, n - 1 do set[offset + part(i)] = true end
  return set
end

-- ---------------------------------------------------------------- the panel

-- What reads the elements of a tensor, by index: at once, if they are not too many. Of a ragged one
-- those that are not real have no value.
local function reader(T, size)
  if size <= 1 << 16 then
    local values = T:totable()
    return function(i) return values[i + 1] end
  end
  return function(i)
    local ok, value = pcall(T, i)
    return ok and value or nil
  end
end

-- of(A, o): the panel of a layout. o.step: so many offsets have one colour.
function grid.of(A, o, title, at)
  local rows, columns, row_shape, column_shape = grid.matrix(A)
  local by, bits = check_by(A, o), options.bits(o, "bits") or 32
  local set, label = slice_of(A, o), labels[by]
  local element = by == "value" and reader(o.tensor, tile.size(A)) or nil
  local function cell(i, j)
    local index = i + rows * j
    local offset = A(index)
    local c = { index = index, offset = offset, i = i, j = j }
    if math.type(offset) == "integer" then c.bank = grid.bank(offset, bits) end
    c.coordinate = tostring(tile.idx2crd(index, A))
    if element then c.element = element(index) end
    local text, step = label(c, o)
    c[1], c.colour = text, step and step % 8
    c.dim = set and not set[index] or nil
    return c
  end
  local p = panel.new({ title = title, at = at, all_rows = rows, all_columns = columns,
                        cell = cell, palette = "ramp", bits = bits }, o)
  local t = options.tile(o)
  if t then panel.tile(p, t[1], t[2])
  elseif o.nested ~= false then panel.nest(p, row_shape, column_shape) end
  return p
end

-- A picture of a layout; a swizzled one before and after.
function grid.picture(A, o)
  return { title = tostring(A), panels = { grid.of(A, o) } }
end

return grid
