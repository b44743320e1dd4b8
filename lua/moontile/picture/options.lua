-- moontile.picture.options - what can be said of a picture, and what is wrong with it.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"

local options = {}

-- What every picture takes.
local COMMON = { "title", "rows", "columns", "width", "colour" }

-- What some kinds take besides.
local OF_KIND = {
  layout = { "by", "bits", "slice", "tile", "nested", "banks", "access" },
  tv = { "thread", "value", "tile", "banks", "access" },
  copy = { "thread", "value", "tile", "part", "banks", "access" },
  mma = { "thread", "value", "tile", "part" },
  swizzle = { "bits" },
  plan = {},
}

-- The largest picture: of all cells of a panel.
local MOST_CELLS = 1 << 16

local function check_count(o, key)
  local n = o[key]
  check(n == nil or math.type(n) == "integer" and n >= 1 and n <= MOST_CELLS,
        "%s: %s: a number of them from 1 to %d expected, got %s", o.way, key, MOST_CELLS,
        tostring(n))
end

-- of(way, kind, given, most): a copy of the options for a picture of this kind, with the bounds of
-- the way of drawing.
function options.of(way, kind, given, most)
  check(given == nil or type(given) == "table", "%s: a table of options expected, got %s", way,
        type(given))
  local keys = {}
  for _, key in ipairs(COMMON) do keys[#keys + 1] = key end
  for _, key in ipairs(OF_KIND[kind]) do keys[#keys + 1] = key end
  tile.check_options(way, given or {}, table.unpack(keys))
  local o = {}
  for _, key in ipairs(keys) do o[key] = given and given[key] end
  o.way, o.most_rows, o.most_columns = way, most.rows, most.columns
  for _, key in ipairs { "rows", "columns", "width" } do check_count(o, key) end
  local cells = (o.rows or most.rows) * (o.columns or most.columns)
  check(cells <= MOST_CELLS, "%s: %d rows of %d columns are %d cells, at most %d are drawn",
        way, o.rows or most.rows, o.columns or most.columns, cells, MOST_CELLS)
  check(o.title == nil or type(o.title) == "string", "%s: title: a string expected, got %s", way,
        type(o.title))
  return o
end

-- An integer option from 0 to n - 1, or nil.
function options.index(o, key, n, what)
  local i = o[key]
  check(i == nil or math.type(i) == "integer" and i >= 0 and i < n,
        "%s: %s: there are %d %s, 0 to %d; got %s", o.way, key, n, what, n - 1, tostring(i))
  return i
end

-- One of some words, or nil.
function options.word(o, key, words)
  local word = o[key]
  if word == nil then return nil end
  for _, each in ipairs(words) do if word == each then return word end end
  check(false, "%s: %s: one of %s expected, got %s", o.way, key, table.concat(words, ", "),
        tostring(word))
end

-- Bits of an element, of a number or of a dtype.
function options.bits(o, key)
  local x = o[key]
  if x == nil then return nil end
  if type(x) == "string" then return 8 * tile.tensor(x, tile.layout(1)):itemsize() end
  check(math.type(x) == "integer" and x >= 1 and x <= 4096,
        "%s: %s: bits of an element, or a dtype, expected, got %s", o.way, key, tostring(x))
  return x
end

-- The tile whose borders are drawn: { rows, columns }.
function options.tile(o)
  local t = o.tile
  if t == nil then return nil end
  check(type(t) == "table" and math.type(t[1]) == "integer" and math.type(t[2]) == "integer"
        and t[1] >= 1 and t[2] >= 1, "%s: tile: {rows, columns} of a tile expected", o.way)
  return t
end

return options
