-- tiles.lua [FILE ...]: how well the model of what copies cost tells the fastest tile of a copy by
-- the algorithm "staged".
-- SPDX-License-Identifier: MIT
--
-- FILE has tiles of random views that were measured on a GPU: all of bench/tiles_*.txt if there is
-- none. A line is a view, those below it are microseconds, and the tile as model_peer.c writes it:
-- up to 30 of those that were predicted to be the fastest, of all that the search makes, and of a
-- quarter to four times as many bytes. Each is predicted as the model of src/copy/cost_h200.def
-- says now, without a GPU. Tiles that threads go through by other steps now are left out.
--
-- Printed for each file: views, tiles; the error of predictions, each view's mean taken out; the
-- time of the tile that is predicted to be the fastest, of those that were measured, and of the one
-- that a plan has now where it is one of them, both by the fastest.

local here = arg[0]:match "^(.*/)" or ""
local measure = dofile(here .. "lib/measure.lua")
local measured = dofile(here .. "lib/measured.lua")
local views = dofile(here .. "lib/views.lua")

local planner = measure.bench.planner "cpu:checked"

-- Those of a file in its order: { name =, { us =, tile = }, ... }; the seed.
local function read(path)
  local list, seed = {}, nil
  for line in io.lines(path) do
    local us, tile = line:match "^  (%S+) us (%S+)$"
    seed = seed or line:match "random views of seed (%d+)"
    if us then table.insert(list[#list], { us = tonumber(us), tile = tile })
    elseif line:find "^%w+ %d" then list[#list + 1] = { name = line } end
  end
  return list, seed
end

-- Sets predicted microseconds of the tiles of a view that can be made; the tile of a plan.
local function predict(view, tiles)
  local ways, list = planner:ways(measured.sides(view))
  for i, way in ipairs(list) do
    if way.algorithm == "staged" then
      tiles.now = way.tile
      for _, t in ipairs(tiles) do
        local us = {}
        if ways:take(i, t.tile) then
          ways(us)
          t.predicted = us[i]
        end
      end
      return
    end
  end
end

-- The least of a field, of tiles that are predicted.
local function least(tiles, field)
  local best
  for _, t in ipairs(tiles) do
    if t.predicted and (not best or t[field] < best[field]) then best = t end
  end
  return best
end

-- Sum of the squares of errors, of the views' means taken out.
local function spread(tiles)
  local n, sum, squares = 0, 0, 0
  for _, t in ipairs(tiles) do
    local e = t.predicted and math.log(t.us / t.predicted)
    if e then n, sum, squares = n + 1, sum + e, squares + e * e end
  end
  return n, n > 0 and squares - sum * sum / n or 0
end

local function report(path)
  local list, seed = read(path)
  local by, n, squares, count = {}, 0, 0, 0
  local chosen, now, has = 0, 0, 0
  for _, tiles in ipairs(list) do by[tiles.name] = tiles end
  math.randomseed(math.tointeger(tonumber(seed)))
  for _ = 1, 2 * #list + 100 do
    local view = views.random(64 << 20)
    local tiles = by[view.name]
    by[view.name] = nil
    if tiles then
      predict(view, tiles)
      local some, sum = spread(tiles)
      local best = least(tiles, "us")
      n, squares = n + some, squares + sum
      if best then
        count, chosen = count + 1, chosen + math.log(least(tiles, "predicted").us / best.us)
        for _, t in ipairs(tiles) do
          if t.tile == tiles.now then now, has = now + math.log(t.us / best.us), has + 1 break end
        end
      end
    end
  end
  print(("| %s | %d | %d | %.1f %% | %.3f | %.3f of %d |"):format(
    path:match "[^/]*$", count, n, 100 * math.sqrt(squares / n), math.exp(chosen / count),
    math.exp(now / math.max(has, 1)), has))
end

local files = { table.unpack(arg) }
if not files[1] then
  local found <close> = assert(io.popen(("ls '%s'tiles_*.txt"):format(here)))
  for path in found:lines() do files[#files + 1] = path end
end
print("| file | views | tiles | error | by the model / fastest | of a plan / fastest |")
print("| ---- | ----: | ----: | ----: | ---------------------: | ------------------: |")
for _, path in ipairs(files) do report(path) end
