-- moontile.picture.pipeline - the stages of a kernel over time: which k-tile is on its way into a
-- stage, and which is multiplied out of it.
-- SPDX-License-Identifier: MIT
--
-- A step is a product of one k-tile, t of stage t mod stages; a fill takes all the time that it is
-- given. By the programs of src/kernel/pipe.c:
--   all threads   begin tile t + ahead in step t, before they use tile t
--   a producer    begins tile t + ahead when tile t was used, behind step t
-- Step -1 is what is begun before the first product.

local need = ...
local panel = need "picture.panel"
local format, match = string.format, string.match

local pipeline = {}

local OF_A_TILE = 4           -- k-tiles of a tile of C, where two tiles take turns

-- What the text of a kernel says of its stages.
local function read(kernel)
  local text = tostring(kernel)
  local stages, ahead = match(text, "stages = (%d+), ahead = (%d+)")
  return {
    stages = math.tointeger(stages), ahead = math.tointeger(ahead),
    schedule = match(text, 'schedule = "(%w+)"'), tile = match(text, "\n  tile = {(.-)}"),
    atom = match(text, 'mma_atom{ name = "(.-)"') or match(text, 'atom = "(.-)"'),
  }
end

-- The step in which the fill of a tile begins.
local function begin_of(k, tile)
  if tile < k.ahead then return -1 end
  return k.schedule == "multistage" and tile - k.ahead or tile - k.ahead + 1
end

-- The tile on its way into a stage at a step: the next one of that stage, if it has begun. One that
-- is filled 0 ahead is filled in the step that uses it.
local function filled(k, stage, step)
  local from = math.max(step + (k.ahead > 0 and 1 or 0), 0)
  local tile = from + (stage - from) % k.stages
  if k.ahead == 0 then return tile == step and tile or nil end
  return begin_of(k, tile) <= step and tile or nil
end

local function user(k, tile)
  if k.schedule ~= "pingpong" then return "mma" end
  return tile // OF_A_TILE % 2 == 0 and "one" or "two"
end

local function cell_of(k, stage, step)
  local fill, used = filled(k, stage, step), step >= 0 and step % k.stages == stage
  local cell = { "", colour = nil, used = used and step or nil, filled = fill }
  if used then cell[1], cell.colour = format("%s %d", user(k, step), step), step % 8 end
  if fill then
    local label = format("fill %d", fill)
    if used then cell[2] = label else cell[1], cell.colour = label, fill % 8 end
  end
  cell.coordinate = format("stage %d, step %d", stage, step)
  return cell
end

local function notes(k)
  local list = {
    "fill 3: k-tile 3 is on its way; mma 3: it is multiplied; step -1: before the first",
  }
  if k.schedule == "pingpong" then
    list[1] = format("fill 3: k-tile 3 is on its way; one, two: multiplied by consumer 1, 2, whose"
                     .. " tiles of C have %d k-tiles here", OF_A_TILE)
  end
  if k.schedule == "multistage" and k.ahead >= k.stages then
    list[2] = "a stage is filled while it is used: verify says order"
  end
  return list
end

function pipeline.picture(kernel, o)
  local k = read(kernel)
  local p = {
    title = "stages of shared memory, step by step", palette = "many", first_column = -1,
    all_rows = k.stages, all_columns = math.max(2 * k.stages + 2, 10),
    cell = function(i, j) return cell_of(k, i, j - 1) end,
  }
  panel.new(p, o)
  local tile = string.gsub(match(k.tile, "^%s*(.-)%s*$"), ", ", " x ")
  return {
    title = format("%s: tiles of %s by %s, %d stage%s, filled %d ahead", k.schedule, tile, k.atom,
                   k.stages, k.stages == 1 and "" or "s", k.ahead),
    panels = { p }, notes = notes(k),
  }
end

return pipeline
