-- moontile.picture.tv - who has what: a layout (thread,value) -> element of a tile, as the inverse
-- table: in the cell of an element its thread and value.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local options = need "picture.options"
local panel = need "picture.panel"
local format, match = string.format, string.match

local tv = {}

local MOST = 1 << 18      -- pairs of thread and value

-- Where all threads have the same elements, as those of a descriptor of shared memory do.
local function is_shared(layout, threads)
  return threads > 1 and tile.cosize(tile.get(layout, 1)) == 1
end

-- The owners of each element: { threads =, values = }, and how many lie outside of the tile.
-- Threads have the numbers that thr_id gives them, if there is one: those of a quarter of a warp
-- are 0 to 3 and 16 to 19.
local function owners_of(layout, threads, values, n, thr_id)
  local owners, outside = {}, 0
  for v = 0, values - 1 do
    for k = 0, threads - 1 do
      local element, t = layout(k + threads * v), thr_id and thr_id(k) or k
      local owner = owners[element]
      if math.type(element) ~= "integer" or element < 0 or element >= n then
        outside = outside + 1
      elseif owner then
        owner.threads[#owner.threads + 1], owner.values[#owner.values + 1] = t, v
      else
        owners[element] = { threads = { t }, values = { v } }
      end
    end
  end
  return owners, outside
end

local function distinct(numbers)
  local list, seen = {}, {}
  for _, n in ipairs(numbers) do
    if not seen[n] then list[#list + 1], seen[n] = n, true end
  end
  return list
end

-- T14, T0,64 of two, T0+3 of more.
local function name_of(letter, numbers)
  local list = #numbers == 1 and numbers or distinct(numbers)
  if #list == 1 then return format("%s%d", letter, list[1]) end
  if #list == 2 then return format("%s%d,%d", letter, list[1], list[2]) end
  return format("%s%d+%d", letter, list[1], #list - 1)
end

-- An element that nobody has keeps a label of two lines, empty ones.
local function label(cell, shared)
  if not cell.threads then
    cell[1], cell[2] = "", not shared and "" or nil
  elseif shared then
    cell[1] = name_of("V", cell.values)
  else
    cell[1], cell[2] = name_of("T", cell.threads), name_of("V", cell.values)
  end
end

-- Whether the owner of a cell is the thread (and the value) that is highlighted.
local function owned_by(cell, thread, value)
  for k, t in ipairs(cell.threads or {}) do
    if (thread == nil or t == thread) and (value == nil or cell.values[k] == value) then
      return true
    end
  end
  return false
end

local function highlight(p, o)
  if o.thread == nil and o.value == nil then return end
  local thread = not p.shared and o.thread or nil
  panel.highlight(p, function(cell) return owned_by(cell, thread, o.value) end)
end

-- of(layout, o, p): p has title, at, all_rows, all_columns, and transposed where the tile is drawn
-- as columns and rows. The layout has two modes.
function tv.of(layout, o, p)
  local threads = tile.size(tile.get(layout, 1))
  local values = threads == 0 and 0 or tile.size(layout) // threads
  p.threads, p.values = p.thr_id and tile.cosize(p.thr_id) or threads, values
  p.shared = is_shared(layout, threads) and threads or nil
  local walked = p.shared and 1 or threads
  check(walked * values <= MOST, "%s: %s has %d threads with %d values, at most %d pairs are drawn",
        o.way, layout, threads, values, MOST)
  if p.shared then layout = tile.make_layout(tile.layout(1, 0), tile.get(layout, 2)) end
  local m = p.transposed and p.all_columns or p.all_rows
  local owners, outside = owners_of(layout, walked, values, p.all_rows * p.all_columns, p.thr_id)
  p.palette, p.outside = p.shared and "ramp" or "many", outside
  p.cell = function(i, j)
    local index = p.transposed and j + m * i or i + m * j
    local owner = owners[index] or {}
    local c = { index = index, i = i, j = j, threads = owner.threads, values = owner.values,
                shared = p.shared }
    c.coordinate = p.transposed and format("(%d,%d)", j, i) or format("(%d,%d)", i, j)
    label(c, p.shared)
    c.colour = owner.threads and (p.shared and owner.values[1] * 8 // values
                                  or owner.threads[1] % 8)
    p.broadcast = p.broadcast or owner.threads and #owner.threads > 1
    return c
  end
  panel.new(p, o)
  local t = options.tile(o)
  if t then panel.tile(p, p.transposed and t[2] or t[1], p.transposed and t[1] or t[2]) end
  highlight(p, o)
  return p
end

-- What has to be said below panels.
function tv.notes(panels)
  local notes, said = {}, {}
  local function say(text)
    if not said[text] then notes[#notes + 1], said[text] = text, true end
  end
  for _, p in ipairs(panels) do
    local name = p.title and match(p.title, "^%a") or ""
    if p.shared then say(format("%s: each of the %d threads has all of it", name, p.shared)) end
    if p.broadcast then say "T0+3: thread 0 and 3 others have the element; T0,64: both have it" end
    if p.outside > 0 then
      say(format("%d values lie outside of the tile", p.outside))
    end
  end
  return notes
end

-- ---------------------------------------------------------------- by hand

-- Rows and columns of a tile: mode 1, and all others; a tile of one mode is a row.
function tv.tile(shape)
  if type(shape) == "number" then return 1, shape end
  local n = tile.size(shape)
  local rank = tile.rank(shape)
  if rank < 2 then return 1, n end
  local rows = tile.size(tile.get(shape, 1))
  return rows, rows == 0 and 0 or n // rows
end

-- { tv = layout, tiler = {M, N} }, as verify takes it.
function tv.picture(x, o)
  local layout = x.tv
  check(getmetatable(layout) == "moontile.Layout", "%s: tv: a layout (thread,value) -> element"
        .. " expected, got %s", o.way, need "kind"(layout))
  if tile.rank(layout) < 2 then layout = tile.make_layout(layout, tile.layout(1, 0)) end
  if tile.rank(layout) > 2 then layout = tile.group(layout, 2, tile.rank(layout)) end
  local rows, columns = tv.tile(x.tiler or tile.cosize(layout))
  local p = { all_rows = rows, all_columns = columns }
  options.index(o, "thread", tile.size(tile.get(layout, 1)), "threads")
  options.index(o, "value", tile.size(tile.get(layout, 2)), "values")
  tv.of(layout, o, p)
  return { title = tostring(x.tv), panels = { p }, notes = tv.notes { p } }
end

return tv
