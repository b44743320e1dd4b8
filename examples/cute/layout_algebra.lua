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

local function values(L, offset)
  local list = {}
  for i = 0, L:size() - 1 do list[i + 1] = L(i) + (offset or 0) end
  return table.concat(list, " ")
end
for _, row in ipairs {                            -- the four cases of two modes
  { "(7,1):(3,5)", "7:3" }, { "(1,7):(5,3)", "7:3" }, { "(2,6):(3,6)", "12:3" },
  { "(2,6):(3,7)", "(2,6):(3,7)" }, { "(2,4):(1,2)", "8:1" },
} do
  local L = layout(row[1])
  local R = L:coalesce()
  check("coalesce of " .. row[1], row[2], R)
  assert(R:size() == L:size() and R:depth() <= 1 and values(R) == values(L))
end

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
check("its values", "0 24 2 26 8 32 10 34 16 40 18 42", values(R))
check("B(0), B(1), ...", "0 3 6 9 1 4 7 10 2 5 8 11", values(layout "(4,3):(3,1)"))
check("A of that: its natural coordinates", "(0,0) + (3,0) + (0,1) + (3,1) + (5,1)",
      tile.idx2crd(0, { 6, 2 }), tile.idx2crd(3, { 6, 2 }), tile.idx2crd(6, { 6, 2 }),
      tile.idx2crd(9, { 6, 2 }), tile.idx2crd(11, { 6, 2 }))
check("by the modes of B", tostring(R),
      tile.make_layout(o("(6,2):(8,2)", "4:3"), o("(6,2):(8,2)", "3:1")))
check("a:b o s:d = s:(b*d)", "5:33", o("20:11", "5:3"))
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
  { "(10,2):(16,4)",          "5:1",          "5:16" },
  { "20:2",                   "4:1",          "4:2" },
  { "20:2",                   "(5,4):(4,1)",  "(5,4):(8,2)" },
  { "(10,2):(16,4)",          "4:5",          "(2,2):(80,4)" },
  { "(10,2):(16,4)",          "(5,4):(1,5)",  "(5,(2,2)):(16,(80,4))" },
  { "(12,(4,8)):(59,(13,1))", "(3:4,8:2)",    "(3,(2,4)):(236,(26,1))" },
  { "(12,(4,8)):(59,(13,1))", "(3,8)",        "(3,(4,2)):(59,(13,1))" },
} do
  check(row[1] .. " o " .. row[2], row[3], o(row[1], row[2]))
end

for _, row in ipairs {                            -- every d-th element of A
  { "4:72", "(1,1,1,4):(72000,16800,120,2)" }, { "16:9", "(1,2,2,4):(9000,2100,30,1)" },
} do
  assert(tile.equivalent(wxyz * layout(row[1]), layout(row[2])))
end
-- of dynamic integers CuTe prints modes of one element: the same function, by both coordinates
for _, B in ipairs { layout { 5, 4 }, layout(20) } do
  assert(tile.equivalent(layout "((5,1),(2,2)):((16,4),(80,4))" * B,
                         layout "(5,(2,2)):(16,(80,4))" * B))
end
local m = layout "(12,(4,8)):(59,(13,1))"
check("by mode, and mode by mode", "(3,(2,4)):(236,(26,1))",
      tile.make_layout(m[1] * layout(3, 4), m[2] * layout(8, 2)))
check("<3:1,8:1> is (3,8)", tostring(tile.composition(m, { 3, 8 })),
      tile.composition(m, parse "(3:1,8:1)"))

-- ---------------------------------------------------------------- complement

for _, row in ipairs {
  { "4:1", "6:4", "(4,6):(1,4)" },
  { "6:4", "4:1", "(6,4):(4,1)" },
  { "(4,6):(1,4)", "1:0", "((4,6),1):((1,4),0)" },
  { "4:2", "(2,3):(1,8)", "(4,(2,3)):(2,(1,8))" },
  { "(2,4):(1,6)", "3:2", "((2,4),3):((1,6),2)" },
  { "(2,2):(1,6)", "(3,2):(2,12)", "((2,2),(3,2)):((1,6),(2,12))" },
} do
  local a = layout(row[1])
  local rest = a:complement(24)
  check("complement of " .. row[1] .. " in 24", row[2], rest)
  local both = tile.make_layout(a, rest)
  check("beside it", row[3], both)
  assert(both:cosize() == 24 and both:is_injective())
  local taken = {}                                -- its postconditions: ordered, disjoint
  for i = 0, a:size() - 1 do taken[a(i)] = true end
  for i = 1, rest:size() - 1 do assert(rest(i) > rest(i - 1) and not taken[rest(i)]) end
  assert(rest:cosize() <= 24 and rest:size() * a:size() == 24)
end
check("in (4,7), as in 28", tostring(layout(4, 2):complement(28)),
      tostring(layout(4, 2):complement { 4, 7 }))
check("(2,2):(1,6), repeated", "0 1 6 7 2 3 8 9 4 5 10 11 12 13 18 19 14 15 20 21 16 17 22 23",
      values(layout "((2,2),(3,2)):((1,6),(2,12))"))

-- ---------------------------------------------------------------- divides

local B = layout "(4,2,3):(2,1,8)"
check("(4,2,3):(2,1,8) / 4:2", "((2,2),(2,3)):((4,1),(2,8))", tile.logical_divide(B, layout(4, 2)))
check("by its definition", "((2,2),(2,3)):((4,1),(2,8))",
      B * tile.make_layout(layout(4, 2), (layout(4, 2):complement(24))))
check("A, element by element", "0 2 4 6 1 3 5 7 8 10 12 14 9 11 13 15 16 18 20 22 17 19 21 23",
      values(B))
check("and A / 4:2", "0 4 1 5 2 6 3 7 8 12 9 13 10 14 11 15 16 20 17 21 18 22 19 23",
      values(tile.logical_divide(B, layout(4, 2))))
check("the tile and its complement", "(4,(2,3)):(2,(1,8))",
      tile.make_layout(layout(4, 2), (layout(4, 2):complement(24))))
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
local ld = tile.logical_divide(a, by)
check("the first of each mode", "(3,(2,4)):(177,(13,2))",
      tile.make_layout(tile.get(ld, 1, 1), tile.get(ld, 2, 1)))
check("row 0 of its picture", "0 13 2 15 4 17 6 19 26 39 28 41 30 43 32 45 1 14 3 16 5 18 7 20 "
      .. "27 40 29 42 31 44 33 46", values(ld[2]))
check("where tiles 3, 7, (1,2) begin", "26 + 60 + 60", zd(0, 3), zd(0, 7), zd(0, { 1, 2 }))
check("row 0 of the zipped", "0 59 118 26 85 144 1 60 119 27 86 145", values(zd[2]))
check("row 23", "373 432 491 399 458 517 374 433 492 400 459 518",
      values(zd[2], zd(23, 0)))
-- of three modes by a tiler of two: ((TileM,RestM), (TileN,RestN), L) and the other forms
local T3 = layout { 12, 20, 5 }
for _, row in ipairs {
  { "logical_divide", "((4,3),(5,4),5)" }, { "zipped_divide", "((4,5),(3,4,5))" },
  { "tiled_divide", "((4,5),3,4,5)" }, { "flat_divide", "(4,5,3,4,5)" },
} do
  check(row[1], row[2], tile.shape(tile[row[1]](T3, { 4, 5 })))
end

-- ---------------------------------------------------------------- products

local C = layout "(2,2):(4,1)"
check("(2,2):(4,1) x 6:1", "((2,2),(2,3)):((4,1),(2,8))", tile.logical_product(C, layout(6)))
check("the complement in it", "(2,3):(2,8)", (C:complement(24)))
check("which is the divide of above", tostring(tile.logical_divide(B, layout(4, 2))),
      tile.logical_product(C, layout(6)))
check("by its definition", "((2,2),(2,3)):((4,1),(2,8))",
      tile.make_layout(C, (C:complement(24)) * layout(6)))
check("(2,2):(4,1), element by element", "0 4 1 5", values(C))
check("6 times", "0 4 1 5 2 6 3 7 8 12 9 13 10 14 11 15 16 20 17 21 18 22 19 23",
      values(tile.logical_product(C, layout(6))))
check("(2,2):(4,1) x (4,2):(2,1)", "((2,2),(4,2)):((4,1),(8,2))",
      tile.logical_product(C, layout "(4,2):(2,1)"))
check("8 times, in that order", "0 4 1 5 8 12 9 13 16 20 17 21 24 28 25 29 2 6 3 7 10 14 11 15 "
      .. "18 22 19 23 26 30 27 31", values(tile.logical_product(C, layout "(4,2):(2,1)")))
local block, tiles = layout "(2,5):(5,1)", layout "(3,4):(1,3)"
check("(2,5):(5,1) x <3:5,4:6>", "((2,3),(5,4)):((5,10),(1,30))",
      tile.logical_product(block, parse "(3:5,4:6)"))
check("blocked_product", "((2,3),(5,4)):((5,10),(1,30))", tile.blocked_product(block, tiles))
-- the page has mode 0 coalesced, as CuTe did before CUTLASS 3.8
check("with its modes coalesced", "(6,(5,4)):(5,(1,30))",
      tile.blocked_product(block, tiles):coalesce { 1, 1 })
check("raked_product", "((3,2),(4,5)):((10,5),(30,1))", tile.raked_product(block, tiles))
local product = tile.logical_product(block, tiles)
assert(tile.rank(product) == 2 and tile.compatible(block:shape(), tile.get(product, 1):shape())
       and tile.compatible(tiles:shape(), tile.get(product, 2):shape()))
-- ((M,TileM), (N,TileN), L) and the other forms
for _, row in ipairs {
  { "logical_product", "((4,3),(5,2),7)" }, { "zipped_product", "((4,5),(3,2,7))" },
  { "tiled_product", "((4,5),3,2,7)" }, { "flat_product", "(4,5,3,2,7)" },
} do
  check(row[1], row[2], tile.shape(tile[row[1]](layout { 4, 5, 7 }, { 3, 2 })))
end
print(check.count .. " results, all as the documentation says")
