-- The worked examples of CuTe's documentation on layouts, their algebra and partitions, each result
-- checked:
--   moontile examples/cute/layouts.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse

local function check(what, is, want)
  is = tostring(is)
  print(("%-66s %s"):format(what, is))
  assert(is == want, ("%s is %s, the documentation says %s"):format(what, is, want))
end

-- ---------------------------------------------------------------- 01: layouts

local s2xs4 = layout({ 2, 4 }, { 12, 1 })
local s2xh4 = layout({ 2, { 2, 2 } }, { 4, { 2, 1 } })
check("rank, depth, size, cosize of s2xh4",
      ("%d %d %d %d"):format(s2xh4:rank(), s2xh4:depth(), s2xh4:size(), s2xh4:cosize()), "2 2 8 8")
check("s2xs4", s2xs4, "(2,4):(12,1)")
for _, c in ipairs { { 1, { 1, 2 } }, { 1, 5 }, 16 } do
  check("crd2idx in (3,(2,3)):(3,(12,1)): coordinates 1-D, R-D and h-D",
        tile.crd2idx(c, { 3, { 2, 3 } }, { 3, { 12, 1 } }), "17")
end
check("idx2crd of 16 in (3,(2,3))", tile.idx2crd(16, { 3, { 2, 3 } }), "(1,(1,2))")
check("mode 2 of (4,(3,6)):(1,(4,12))", tile.get(layout { 4, { 3, 6 } }, 2), "(3,6):(4,12)")
check("mode 1 of its mode 2", tile.get(layout { 4, { 3, 6 } }, 2, 1), "3:4")
check("group of (2,3,5,7), modes 1 to 2", layout { 2, 3, 5, 7 }:group(1, 2),
      "((2,3),5,7):((1,2),6,30)")
check("and of what that gives, 2 to 3", layout { 2, 3, 5, 7 }:group(1, 2):group(2, 3),
      "((2,3),(5,7)):((1,2),(6,30))")
check("flatten", layout { 2, 3, 5, 7 }:group(1, 2):group(2, 3):flatten(), "(2,3,5,7):(1,2,6,30)")

-- ---------------------------------------------------------------- 02: the algebra

check("coalesce", layout({ 2, { 1, 6 } }, { 1, { 6, 2 } }):coalesce(), "12:1")
check("coalesce by mode", layout({ 2, { 1, 6 } }, { 1, { 6, 2 } }):coalesce { 1, 1 }, "(2,6):(1,2)")
for _, row in ipairs {
  { "(6,2):(8,2)",           "(4,3):(3,1)", "((2,2),3):((24,2),8)" },
  { "20:2",                  "(5,4):(4,1)", "(5,4):(8,2)" },
  { "(10,2):(16,4)",         "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))" },
  { "(12,(4,8)):(59,(13,1))", "(3:4,8:2)",  "(3,(2,4)):(236,(26,1))" },
  { "(12,(4,8)):(59,(13,1))", "(3,8)",      "(3,(4,2)):(59,(13,1))" },
} do
  check(row[1] .. " o " .. row[2], tile.composition(layout(row[1]), parse(row[2])), row[3])
end
for _, row in ipairs {
  { "4:1", "6:4" }, { "6:4", "4:1" }, { "(4,6):(1,4)", "1:0" }, { "4:2", "(2,3):(1,8)" },
  { "(2,4):(1,6)", "3:2" }, { "(2,2):(1,6)", "(3,2):(2,12)" },
} do
  check("complement of " .. row[1] .. " in 24", (layout(row[1]):complement(24)), row[2])
end
for _, row in ipairs {
  { "(4,2,3):(2,1,8)",       "4:2",               "((2,2),(2,3)):((4,1),(2,8))" },
  { "(9,(4,8)):(59,(13,1))", "(3:3,(2,4):(1,8))",
    "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))" },
} do
  check(row[1] .. " / " .. row[2], tile.logical_divide(layout(row[1]), parse(row[2])), row[3])
end
check("zipped_divide of the second",
      tile.zipped_divide(layout "(9,(4,8)):(59,(13,1))", parse "(3:3,(2,4):(1,8))"),
      "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))")
check("(2,2):(4,1) x 6:1", tile.logical_product(layout "(2,2):(4,1)", layout(6)),
      "((2,2),(2,3)):((4,1),(2,8))")
check("(2,2):(4,1) x (4,2):(2,1)", tile.logical_product(layout "(2,2):(4,1)", layout "(4,2):(2,1)"),
      "((2,2),(4,2)):((4,1),(8,2))")
check("blocked_product", tile.blocked_product(layout "(2,5):(5,1)", layout "(3,4):(1,3)"),
      "((2,3),(5,4)):((5,10),(1,30))")
check("raked_product", tile.raked_product(layout "(2,5):(5,1)", layout "(3,4):(1,3)"),
      "((3,2),(4,5)):((10,5),(30,1))")

-- ---------------------------------------------------------------- 03, 04: tensors, partitions

local A = layout({ 8, 24 }, { 24, 1 })
local tiles = tile.zipped_divide(A, { 4, 8 })
check("tiles of (8,24) by (4,8)", tiles, "((4,8),(2,3)):((24,1),(96,8))")
local inner, at = tile.inner_partition(A, { 4, 8 }, { 1, 2 })
check("the tile of block (1,2), where it begins", tostring(inner) .. " + " .. at,
      "(4,8):(24,1) + 112")
local outer, from = tile.outer_partition(A, { 4, 8 }, { 3, 5 })
check("what thread (3,5) of 4 x 8 has", tostring(outer) .. " + " .. from, "(2,3):(96,8) + 77")
local tv = layout({ { 2, 4 }, { 2, 2 } }, { { 8, 1 }, { 4, 16 } })
check("4 x 8 by (thread,value)", layout { 4, 8 } * tv, "((2,4),(2,2)):((8,1),(4,16))")
assert(tile.is_bijective(tv))
print "all as the documentation says"
