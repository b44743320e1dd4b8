-- moontile.picture.swizzle - a swizzled layout before and after; a swizzle by itself.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local grid = need "picture.grid"
local format, match = string.format, string.match

local swizzle = {}

-- Sw<bits,base,shift> as three numbers.
local function parts(w)
  local b, m, s = match(tostring(w), "^Sw<(%d+),(%d+),(%-?%d+)>")
  return math.tointeger(b), math.tointeger(m), math.tointeger(s)
end

function swizzle.is_swizzled(A) return tile.is_swizzled(A) or tile.is_composed(A) end

-- Both panels in the colours of the units that the swizzle moves, 2^base elements each: a colour
-- that was in one column before is in all of them behind it.
function swizzle.picture(A, o)
  if tile.is_composed(A) then return swizzle.composed(A, o) end
  local w, plain = tile.get_swizzle_portion(A), tile.get_nonswizzle_portion(A)
  local _, base = parts(w)
  o.step = 1 << math.min(base, 62)
  local _, columns = grid.matrix(A)
  local beside = columns <= 16
  return {
    title = tostring(A),
    panels = {
      grid.of(plain, o, "before: " .. tostring(plain), { 1, 1 }),
      grid.of(A, o, "after: " .. tostring(w), beside and { 1, 2 } or { 2, 1 }),
    },
    notes = { format("one colour for each unit of %d element%s, by its number modulo 8", o.step,
                     o.step == 1 and "" or "s") },
  }
end

-- What is applied first, and what becomes of it.
function swizzle.composed(A, o)
  local first = tile.get_nonswizzle_portion(A)
  local _, columns = grid.matrix(A)
  return {
    title = tostring(A),
    panels = {
      grid.of(first, o, "first: " .. tostring(first), { 1, 1 }),
      grid.of(A, o, "in the end", columns <= 16 and { 1, 2 } or { 2, 1 }),
    },
  }
end

-- A swizzle by itself: what it does with units of 2^base, in rows of 2^|shift|.
function swizzle.of_integers(w, o)
  local b, m, s = parts(w)
  check(b <= 6 and math.abs(s) <= 6,
        "%s: %s has 2^%d rows of 2^%d units; draw what it does with a layout: w * layout", o.way,
        w, b, math.abs(s))
  local rows, columns = 1 << b, 1 << math.max(math.abs(s), b)
  local A = tile.composition(tile.swizzle(b, 0, s), tile.layout({ rows, columns }, "right"))
  if b == 0 then A = tile.layout({ rows, columns }, "right") end
  local picture = b == 0 and grid.picture(A, o) or swizzle.picture(A, o)
  picture.title = tostring(w)
  picture.notes = { format("units of %d element%s", 1 << m, m == 0 and "" or "s") }
  return picture
end

return swizzle
