-- measured.lua: views whose ways were measured, out of what ../views.lua printed with ways=1.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local views = dofile(here .. "views.lua")

local measured = {}

-- { name =, times = { ["algorithm bytes"] = us }, blocks = the same, best = us } of each view; the
-- seed of the random ones. Of two kernels of a way the first is the one that is taken. Blocks tell
-- whether it had the tiles of today: nil if that was not noted, "?" if it is not known.
local function read_file(path)
  local list, seed, now = {}, nil, nil
  for line in io.lines(path) do
    seed = seed or line:match "random views of seed (%d+)"
    local name = line:match "^(%w[%w ]*: .*)$"
    local kernel, bytes, us = line:match "^  copy_(%S+) (%d+) predicted .*, measured ([%d.]+) us"
    if kernel then
      local blocks = line:match " in (%S+) blocks"
      local way = kernel:match "^([%a_]-)_%a+%d+" .. " " .. bytes
      us = tonumber(us)
      if not now.times[way] then
        now.times[way], now.blocks[way] = us, tonumber(blocks) or blocks
      end
      now.best = math.min(now.best, us)
    elseif name then
      now = { name = name, times = {}, blocks = {}, best = math.huge }
      list[#list + 1] = now
    end
  end
  return list, assert(seed, path .. ": it does not say the seed of its random views")
end

-- The views of a run, in its order: those of the families, and random ones as far as it has them.
local function views_of(seed, count)
  local list = views.families(64 << 20)
  math.randomseed(tonumber(seed))
  for _ = 1, count do list[#list + 1] = views.random(64 << 20) end
  return list
end

-- The views that the file has, which are those of today: with dtype, extents, src, dst, and what
-- was measured of them.
function measured.read(path)
  local list, seed = read_file(path)
  local by = {}
  for _, view in ipairs(views_of(seed, #list)) do by[view.family .. ": " .. view.name] = view end
  for _, m in ipairs(list) do
    local view = assert(by[m.name], path .. ": no view of today: " .. m.name)
    m.family, m.dtype, m.extents, m.src = view.family, view.dtype, view.extents, view.src
    m.dst = view.dst or views.compact(view.extents)
    m.src_first, m.src_size = views.span(m.extents, m.src)
    m.dst_first, m.dst_size = views.span(m.extents, m.dst)
  end
  return list
end

return measured
