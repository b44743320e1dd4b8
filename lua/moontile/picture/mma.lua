-- moontile.picture.mma - an MMA atom or a tiled MMA: A at the left, B above, C in the corner.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local options = need "picture.options"
local tv = need "picture.tv"
local format = string.format

local mma = {}

-- B is (N,K): it is drawn as K rows of N, so that its columns stand above those of C.
local OPERANDS = {
  { "A", "(M,K)", 1, 3, at = { 2, 1 } },
  { "B", "(K,N)", 3, 2, at = { 1, 2 }, transposed = true },
  { "C", "(M,N)", 1, 2, at = { 2, 2 } },
}

local function most_of(layouts, mode)
  local most = 1
  for _, layout in pairs(layouts) do
    most = math.max(most, tile.size(tile.get(layout, mode)))
  end
  return most
end

-- m: { title =, extents = { M, N, K }, layouts = { A =, B =, C = }, types = by operand
-- [, thr_id = layout] }
local function picture(m, o)
  local part = options.word(o, "part", { "A", "B", "C" })
  local threads = m.thr_id and tile.cosize(m.thr_id) or most_of(m.layouts, 1)
  options.index(o, "thread", threads, "threads")
  options.index(o, "value", most_of(m.layouts, 2), "values")
  local panels = {}
  for _, operand in ipairs(OPERANDS) do
    local name = operand[1]
    if not part or part == name then
      local p = { title = format("%s %s%s", name, operand[2], m.types[name] or ""),
                  at = part and { 1, 1 } or operand.at, transposed = operand.transposed,
                  thr_id = m.thr_id, all_rows = m.extents[operand[3]],
                  all_columns = m.extents[operand[4]] }
      panels[#panels + 1] = tv.of(m.layouts[name], o, p)
    end
  end
  return { title = m.title, panels = panels, notes = tv.notes(panels) }
end

function mma.atom(atom, o)
  local shape, types = atom.shape_MNK, {}
  for _, name in ipairs { "A", "B", "C" } do
    types[name] = format(" %s, %s", atom.dtype[name], atom.src[name])
  end
  return picture({
    title = format("%s: %d x %d x %d, %d threads", atom.name, shape[1], shape[2], shape[3],
                   tile.size(atom.thr_id)),
    extents = { shape[1], shape[2], shape[3] }, types = types, thr_id = atom.thr_id,
    layouts = { A = atom.layout_A, B = atom.layout_B, C = atom.layout_C },
  }, o)
end

function mma.tiled(tiled, o)
  local shape = tiled:tile_shape()
  return picture({
    title = format("%s: %d x %d x %d, %d threads", tiled:atom().name, shape[1], shape[2],
                   shape[3], tiled:size()),
    extents = { shape[1], shape[2], shape[3] }, types = {},
    layouts = { A = tiled:layout_A_TV(), B = tiled:layout_B_TV(), C = tiled:layout_C_TV() },
  }, o)
end

return mma
