-- moontile.picture.copy - a copy atom or a tiled copy: who reads what, who writes what.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local options = need "picture.options"
local tv = need "picture.tv"
local format, match = string.format, string.match

local copy = {}

-- c: { title =, rows =, columns =, S =, D = [, transposed =] [, thr_id =] }
local function picture(c, o)
  local part = options.word(o, "part", { "S", "D" })
  local threads = math.max(tile.size(tile.get(c.S, 1)), tile.size(tile.get(c.D, 1)))
  options.index(o, "thread", c.thr_id and tile.cosize(c.thr_id) or threads, "threads")
  options.index(o, "value", math.max(tile.size(tile.get(c.S, 2)), tile.size(tile.get(c.D, 2))),
                "values")
  local panels = {}
  local function add(name, title)
    local p = { title = title, at = { 1, #panels + 1 }, all_rows = c.rows,
                all_columns = c.columns, transposed = c.transposed, thr_id = c.thr_id }
    if c.columns > 16 then p.at = { #panels + 1, 1 } end
    panels[#panels + 1] = tv.of(c[name], o, p)
  end
  if not part and tostring(c.S) == tostring(c.D) then
    add("S", "source and destination")
  else
    if part ~= "D" then add("S", "source") end
    if part ~= "S" then add("D", "destination") end
  end
  return { title = c.title, panels = panels, notes = tv.notes(panels) }
end

-- The values of an instruction in the order of memory, in rows as long as what a thread reads.
function copy.atom(atom, o)
  local S, D = atom.layout_src, atom.layout_dst
  local n = math.max(tile.cosize(S), tile.cosize(D))
  local columns = math.max(1, math.min(n, tile.size(tile.get(S, 2))))
  if n % columns ~= 0 then columns = n end
  return picture({
    title = format("%s: %d threads, values of %d bits", atom.name, tile.size(atom.thr_id),
                   atom.bits),
    rows = n // columns, columns = columns, S = S, D = D, transposed = true,
    thr_id = atom.thr_id,
  }, o)
end

-- The name of the atom is the first that the text of a tiled copy has in quotes.
function copy.tiled(tiled, o)
  local tiler, extents = tiled:tiler_MN(), {}
  for i = 1, #tiler do extents[i] = tile.size(tiler[i]) end
  local rows, columns = tv.tile(extents)
  return picture({
    title = format("%s: %d x %d, %d threads", match(tostring(tiled), '"(.-)"') or "tiled copy",
                   rows, columns, tiled:size()),
    rows = rows, columns = columns, S = tiled:layout_S_TV(), D = tiled:layout_D_TV(),
  }, o)
end

return copy
