-- CuTe's documentation, page 02: the algebra of layouts, every stated result checked:
--   moontile examples/cute/layout_algebra.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- coalesce

local A = layout({ 2, { 1, 6 } }, { 1, { 6, 2 } })
check("coalesce", "12:1", A:coalesce())
check("coalesce by mode", "(2,6):(1,2)", A:coalesce { 1, 1 })
check("mode by mode", "(2,6):(1,2)",
      tile.make_layout(tile.get(A, 1):coalesce(), tile.get(A, 2):coalesce()))

-- ---------------------------------------------------------------- composition

local function o(a, b)
  a, b = layout(a), parse(b)
  local R = tile.composition(a, b)
  if getmetatable(b) == "moontile.Layout" then    -- its postconditions
    assert(tile.compatible(b:shape(), R:shape()))
    for i = 0, b:size() - 1 do assert(R(i) == a(b(i))) end
  end
  return R
end
local R = o("(6,2):(8,2)", "(4,3):(3,1)")
check("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)", R)
local list = {}
for i = 0, 11 do list[i + 1] = R(i) end
check("its values", "0 24 2 26 8 32 10 34 16 40 18 42", table.concat(list, " "))
for _, row in ipairs {
  { "(6,2)", 2, "(3,2)" }, { "(6,2)", 3, "(2,2)" }, { "(6,2)", 6, "(1,2)" },
  { "(6,2)", 12, "(1,1)" }, { "(3,6,2,8)", 3, "(1,6,2,8)" }, { "(3,6,2,8)", 6, "(1,3,2,8)" },
  { "(3,6,2,8)", 9, "(1,2,2,8)" }, { "(3,6,2,8)", 72, "(1,1,1,4)" },
} do
  check(("%s / %d"):format(row[1], row[2]), row[3], tile.shape_div(parse(row[1]), row[2]))
end
for _, row in ipairs {
  { "(6,2)", 2, "(2,1)" }, { "(6,2)", 3, "(3,1)" }, { "(6,2)", 6, "(6,1)" },
  { "(6,2)", 12, "(6,2)" }, { "(3,6,2,8)", 6, "(3,2,1,1)" }, { "(3,6,2,8)", 9, "(3,3,1,1)" },
  { "(1,2,2,8)", 2, "(1,2,1,1)" }, { "(1,2,2,8)", 16, "(1,2,2,4)" },
} do
  check(("%s mod %d"):format(row[1], row[2]), row[3], tile.shape_mod(parse(row[1]), row[2]))
end
local wxyz = layout({ 3, 6, 2, 8 }, { 1000, 700, 30, 1 })
assert(tile.equivalent(wxyz * layout(16, 9), layout({ 1, 2, 2, 4 }, { 9000, 2100, 30, 1 })))
for _, row in ipairs {
  { "(6,2):(8,2)",            "4:3",          "(2,2):(24,2)" },
  { "(6,2):(8,2)",            "3:1",          "3:8" },
  { "20:2",                   "5:4",          "5:8" },
  { "20:2",                   "4:1",          "4:2" },
  { "20:2",                   "(5,4):(4,1)",  "(5,4):(8,2)" },
  { "(10,2):(16,4)",          "4:5",          "(2,2):(80,4)" },
  { "(10,2):(16,4)",          "(5,4):(1,5)",  "(5,(2,2)):(16,(80,4))" },
  { "(12,(4,8)):(59,(13,1))", "(3:4,8:2)",    "(3,(2,4)):(236,(26,1))" },
  { "(12,(4,8)):(59,(13,1))", "(3,8)",        "(3,(4,2)):(59,(13,1))" },
} do
  check(row[1] .. " o " .. row[2], row[3], o(row[1], row[2]))
end

-- ---------------------------------------------------------------- complement

for _, row in ipairs {
  { "4:1", "6:4" }, { "6:4", "4:1" }, { "(4,6):(1,4)", "1:0" }, { "4:2", "(2,3):(1,8)" },
  { "(2,4):(1,6)", "3:2" }, { "(2,2):(1,6)", "(3,2):(2,12)" },
} do
  local a = layout(row[1])
  local rest = a:complement(24)
  check("complement of " .. row[1] .. " in 24", row[2], rest)
  local both = tile.make_layout(a, rest)
  assert(both:cosize() == 24 and both:is_injective())
end

-- ---------------------------------------------------------------- divides

local B = layout "(4,2,3):(2,1,8)"
check("(4,2,3):(2,1,8) / 4:2", "((2,2),(2,3)):((4,1),(2,8))", tile.logical_divide(B, layout(4, 2)))
check("by its definition", "((2,2),(2,3)):((4,1),(2,8))",
      B * tile.make_layout(layout(4, 2), (layout(4, 2):complement(24))))
local a, by = layout "(9,(4,8)):(59,(13,1))", parse "(3:3,(2,4):(1,8))"
local zd = tile.zipped_divide(a, by)
check("the matrix / <3:3,(2,4):(1,8)>", "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))",
      tile.logical_divide(a, by))
check("zipped", "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))", zd)
check("its tile is a composition", "(3,(2,4)):(177,(13,2))", tile.composition(a, by))
check("sizes of logical_divide", "(9,32)",
      tile.product_each(tile.logical_divide(a, by):shape()))
check("sizes of zipped_divide", "(24,12)", tile.product_each(zd:shape()))
check("tile 7 is tile (1,2)", tostring(zd(0, 7)), zd(0, { 1, 2 }))
assert(tile.get(zd, 1) == tile.composition(a, by))

-- ---------------------------------------------------------------- products

local C = layout "(2,2):(4,1)"
check("(2,2):(4,1) x 6:1", "((2,2),(2,3)):((4,1),(2,8))", tile.logical_product(C, layout(6)))
check("the complement in it", "(2,3):(2,8)", (C:complement(24)))
check("(2,2):(4,1) x (4,2):(2,1)", "((2,2),(4,2)):((4,1),(8,2))",
      tile.logical_product(C, layout "(4,2):(2,1)"))
local block, tiles = layout "(2,5):(5,1)", layout "(3,4):(1,3)"
check("blocked_product", "((2,3),(5,4)):((5,10),(1,30))", tile.blocked_product(block, tiles))
check("raked_product", "((3,2),(4,5)):((10,5),(30,1))", tile.raked_product(block, tiles))
local product = tile.logical_product(block, tiles)
assert(tile.rank(product) == 2 and tile.compatible(block:shape(), tile.get(product, 1):shape())
       and tile.compatible(tiles:shape(), tile.get(product, 2):shape()))
print(check.count .. " results, all as the documentation says")
