-- measured.lua: copies whose ways were measured, out of what ../views.lua printed with ways=1, and
-- ../choices.lua.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local views = dofile(here .. "views.lua")
local copies = dofile(here .. "copies.lua")
local tile = require "moontile"

local measured = {}

-- ---- both sides of a copy, as planner:ways wants them

local function sides_of_view(view)
  local extents = view.extents
  local function side(strides)
    local first, size = views.span(extents, strides)
    return ("(%s):(%s)"):format(table.concat(extents, ","), table.concat(strides, ",")), first, size
  end
  local src, first, size = side(view.src)
  return view.dtype, src, first, size, side(view.dst or views.compact(extents))
end

-- What a case of copies.lua makes a plan of, without memory.
local Tensor = {}
Tensor.__index = Tensor
function Tensor:select(...) return Tensor.new(self.dtype, self.layout:select(...)) end
function Tensor:view(layout) return Tensor.new(self.dtype, layout) end
function Tensor.new(dtype, layout)
  return setmetatable({ dtype = dtype, layout = layout }, Tensor)
end

-- Nothing of one that converts, or has a tiled copy.
local function sides_of_case(case)
  local plan, src, dst, more = tile.plan
  function tile.plan(...) src, dst, more = ... end
  case[3](Tensor.new)
  tile.plan = plan
  if more or src.dtype ~= dst.dtype then return end
  return src.dtype, tostring(src.layout), 0, src.layout:cosize(), tostring(dst.layout), 0,
         dst.layout:cosize()
end

function measured.sides(copy)
  if copy.extents then return sides_of_view(copy) end
  return sides_of_case(copy)
end

-- The tiles of the ways that look for one, by algorithm and bytes.
function measured.tiles(planner, copy)
  local tiles = {}
  if not measured.sides(copy) then return tiles end
  local _, list = planner:ways(measured.sides(copy))
  for _, way in ipairs(list) do tiles[way.algorithm .. way.bytes] = way.tile end
  return tiles
end

-- ---- what was measured

-- The algorithm of a kernel by its name, nil of other names: "copy_transpose_x2_b2" is of
-- "transpose". Listed rows are those of unaligned boxes, rotated words those of staged tiles.
local OTHERS = { permute_listed = "permute_unaligned", staged_rotated = "staged" }
function measured.algorithm(kernel)
  local name = kernel:match "^copy_([%a_]-)_%a+%d+"
  return OTHERS[name] or name
end

-- { name =, times = { ["algorithm bytes"] = us }, blocks = the same, tiles = the same, best = us }
-- of each copy; of views the seed of the random ones. Of two kernels of a way the first is the one
-- that is taken. The tile that it had, where it looks for one; without, blocks tell whether it had
-- that of today: nil if that was not noted, "?" if it is not known.
local function read_file(path)
  local list, seed, now = {}, nil, nil
  for line in io.lines(path) do
    seed = seed or line:match "random views of seed (%d+)"
    local kernel, bytes, us = line:match "^  (copy_%S+) (%d+) +predicted .*, measured +([%d.]+) us"
    if kernel then
      local blocks = line:match " in (%S+) blocks"
      local way = measured.algorithm(kernel) .. " " .. bytes
      us = tonumber(us)
      if not now.times[way] then
        now.times[way], now.blocks[way] = us, tonumber(blocks) or blocks
        now.tiles[way] = line:match " of (%S+;%S+)"
      end
      now.best = math.min(now.best, us)
    elseif line:find "^%w" then
      now = { name = line, times = {}, blocks = {}, tiles = {}, best = math.huge }
      list[#list + 1] = now
    end
  end
  local found = {}
  for _, m in ipairs(list) do
    if next(m.times) then found[#found + 1] = m end
  end
  return found, seed
end

-- The views of a run, by name: those of the families, and random ones as far as it has them.
local function views_of(seed, count)
  local by = {}
  local function add(view) by[view.family .. ": " .. view.name] = view end
  for _, view in ipairs(views.families(64 << 20)) do add(view) end
  math.randomseed(tonumber(seed))
  for _ = 1, count do add(views.random(64 << 20)) end
  return by
end

-- Those of copies.lua.
local function table_of(list)
  local by = {}
  for _, case in ipairs(copies.cases) do by[case[1]] = case end
  for _, m in ipairs(list) do by[m.name] = by[m.name] or copies.named(m.name) end
  return by
end

-- The copies that the file has, which are those of today: `copy` of each, and what was measured of
-- it. Those that convert are left out.
function measured.read(path)
  local list, seed = read_file(path)
  local by, found = seed and views_of(seed, #list) or table_of(list), {}
  for _, m in ipairs(list) do
    m.copy = assert(by[m.name], path .. ": no copy of today: " .. m.name)
    if measured.sides(m.copy) then found[#found + 1] = m end
  end
  return found
end

return measured
