-- CuTe's documentation, page 01: layouts, every stated result checked:
--   moontile examples/cute/layouts.lua
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse
local check = dofile((arg[0]:match "^(.*/)" or "") .. "../lib/check.lua")

-- ---------------------------------------------------------------- tuples

for _, row in ipairs {                            -- rank, depth, size
  { "6", "1 + 0 + 6" }, { "(2)", "1 + 1 + 2" }, { "(4,3)", "2 + 1 + 12" },
  { "(3,(6,2),8)", "3 + 2 + 288" }, { "(42,(1,3),17)", "3 + 2 + 2142" },
} do
  local t = parse(row[1])
  check("rank, depth, size of " .. row[1], row[2], tile.rank(t), tile.depth(t), tile.size(t))
end
check("get<0> of an integer is that integer", "6", tile.get(6, 1))
local deep = { 3, { 6, 2 }, 8 }
check("get<1,0> is get<0> of get<1>", "6 + 6", tile.get(deep, 2, 1), tile.get(tile.get(deep, 2), 1))

-- ---------------------------------------------------------------- made and printed

local s2xs4, s2xd4_a = layout { 2, 4 }, layout({ 2, 4 }, { 12, 1 })
local s2xh4 = layout({ 2, { 2, 2 } }, { 4, { 2, 1 } })
local s2xh4_col = layout(s2xh4:shape(), "left")
check("s8, d8", "8:1", layout(8))                 -- static or dynamic: here integers are known
check("s2xs4, s2xd4", "(2,4):(1,2)", s2xs4)
check("s2xd4_a", "(2,4):(12,1)", s2xd4_a)
check("s2xd4_col", "(2,4):(1,2)", layout({ 2, 4 }, "left"))
check("s2xd4_row", "(2,4):(4,1)", layout({ 2, 4 }, "right"))
check("s2xh4", "(2,(2,2)):(4,(2,1))", s2xh4)
check("s2xh4_col", "(2,(2,2)):(1,(2,4))", s2xh4_col)
check("rank, depth, size, cosize of s2xh4", "2 + 2 + 8 + 8",
      s2xh4:rank(), s2xh4:depth(), s2xh4:size(), s2xh4:cosize())
check("cosize is A(size(A) - 1) + 1", "8", s2xh4(s2xh4:size() - 1) + 1)
check("s2xh4 by LayoutRight", tostring(s2xh4), layout(s2xh4:shape(), "right"))
check("shape and stride are congruent", "true",
      (tile.congruent(s2xh4:shape(), s2xh4:stride())))
check("get<1>, rank<1>, depth<1>, shape<1>, size<1>, stride<1>",
      "(2,2):(2,1) + 2 + 1 + (2,2) + 4 + (2,1)", s2xh4[2], tile.rank(s2xh4, 2),
      tile.depth(s2xh4, 2), tile.shape(s2xh4, 2), tile.size(s2xh4, 2), tile.stride(s2xh4, 2))
check("shape<1,0>, size<1,0>", "2 + 2", tile.shape(s2xh4, 2, 1), tile.size(s2xh4, 2, 1))

-- ---------------------------------------------------------------- as tables and as lists

local function rows(A)
  local list = {}
  for m = 0, tile.size(A, 1) - 1 do
    local row = {}
    for n = 0, tile.size(A, 2) - 1 do row[n + 1] = A(m, n) end
    list[m + 1] = table.concat(row, " ")
  end
  return table.concat(list, " / ")
end
local function values(A)
  local list = {}
  for i = 0, A:size() - 1 do list[i + 1] = A(i) end
  return table.concat(list, " ")
end
check("print2D(s2xs4)", "0 2 4 6 / 1 3 5 7", rows(s2xs4))
check("print2D(s2xd4_a)", "0 1 2 3 / 12 13 14 15", rows(s2xd4_a))
check("print2D(s2xh4_col)", "0 2 4 6 / 1 3 5 7", rows(s2xh4_col))
check("print2D(s2xh4)", "0 2 1 3 / 4 6 5 7", rows(s2xh4))
check("print1D(s2xs4)", "0 1 2 3 4 5 6 7", values(s2xs4))
check("print1D(s2xd4_a)", "0 12 1 13 2 14 3 15", values(s2xd4_a))
check("print1D(s2xh4_col)", "0 1 2 3 4 5 6 7", values(s2xh4_col))
check("print1D(s2xh4)", "0 4 2 6 1 5 3 7", values(s2xh4))
check("8:1", "0 1 2 3 4 5 6 7", values(layout(8, 1)))
check("8:2", "0 2 4 6 8 10 12 14", values(layout(8, 2)))
check("((4,2)):((2,1))", "0 2 4 6 1 3 5 7", values(layout "((4,2)):((2,1))"))
check("((4,2)):((1,4))", "0 1 2 3 4 5 6 7", values(layout "((4,2)):((1,4))"))
check("which is 8:1 as a function", "true", (tile.equivalent(layout "((4,2)):((1,4))", layout(8))))
check("vectors have rank 1", "1 + 1 + 1", layout(8):rank(), layout "((4,2)):((2,1))":rank(),
      layout "((4,2)):((1,4))":rank())
local picture = table.concat({
  "(2,(2,2)):(4,(2,1))",
  "      0   1   2   3", "    +---+---+---+---+", " 0  | 0 | 2 | 1 | 3 |", "    +---+---+---+---+",
  " 1  | 4 | 6 | 5 | 7 |", "    +---+---+---+---+",
}, "\n")
check("print_layout(s2xh4)", picture, (tile.print_layout(s2xh4):gsub(" +\n", "\n")))
assert(tile.latex(s2xh4):find("tikzpicture", 1, true))              -- print_latex
check("(4,2):(1,4)", "0 4 / 1 5 / 2 6 / 3 7", rows(layout "(4,2):(1,4)"))
check("(4,2):(2,1)", "0 1 / 2 3 / 4 5 / 6 7", rows(layout "(4,2):(2,1)"))
check("((2,2),2):((4,1),2)", "0 2 / 4 6 / 1 3 / 5 7", rows(layout "((2,2),2):((4,1),2)"))

-- ---------------------------------------------------------------- compatible shapes

for _, row in ipairs {
  { "24", "32", false }, { "24", "(4,6)", true }, { "(4,6)", "((2,2),6)", true },
  { "((2,2),6)", "((2,2),(3,2))", true }, { "24", "((2,2),(3,2))", true },
  { "24", "((2,3),4)", true }, { "((2,3),4)", "((2,2),(3,2))", false },
  { "((2,2),(3,2))", "((2,3),4)", false }, { "24", "(24)", true }, { "(24)", "24", false },
  { "(24)", "(4,6)", false },
} do
  check(("%s compatible with %s"):format(row[1], row[2]), tostring(row[3]),
        (tile.compatible(parse(row[1]), parse(row[2]))))
end

for _, shape in ipairs { "24", "(24)", "(4,6)", "((2,2),6)", "((2,2),(3,2))" } do
  assert(tile.compatible(parse(shape), parse(shape)))               -- reflexive
end

-- ---------------------------------------------------------------- coordinates and indices

local shape, stride = { 3, { 2, 3 } }, { 3, { 12, 1 } }
for i = 0, 17 do                                  -- the table of 1-D, 2-D and natural coordinates
  local n = i // 3
  local natural = ("(%d,(%d,%d))"):format(i % 3, n % 2, n // 2)
  check("natural coordinate of " .. i, natural, tile.idx2crd(i, shape))
  check(("and of (%d,%d)"):format(i % 3, n), natural, tile.idx2crd({ i % 3, n }, shape))
  check("and of itself", natural, tile.idx2crd(parse(natural), shape))
end
for i = 0, 2 do                                   -- i*3 + j*12 + k*1
  for j = 0, 1 do
    for k = 0, 2 do
      assert(layout(shape, stride)(i, { j, k }) == i * 3 + j * 12 + k)
    end
  end
end
for _, c in ipairs { 16, { 1, 5 }, { 1, { 1, 2 } } } do
  check("idx2crd", "(1,(1,2))", tile.idx2crd(c, shape))
  check("crd2idx", "17", tile.crd2idx(c, shape, stride))
end
check("(3,(2,3)):(3,(12,1))", "0 12 1 13 2 14 / 3 15 4 16 5 17 / 6 18 7 19 8 20",
      rows(layout(shape, stride)))

-- ---------------------------------------------------------------- parts, concatenation, groups

local a = layout { 4, { 3, 6 } }
check("layout<0>", "4:1", tile.get(a, 1))
check("layout<1>", "(3,6):(4,12)", tile.get(a, 2))
check("layout<1,0>", "3:4", tile.get(a, 2, 1))
check("layout<1,1>", "6:12", tile.get(a, 2, 2))
a = layout { 2, 3, 5, 7 }
check("select<1,3>", "(3,7):(2,30)", a:select(2, 4))
check("select<0,1,3>", "(2,3,7):(1,2,30)", a:select(1, 2, 4))
check("select<2>", "(5):(6)", a:select(3))
check("take<1,3>", "(3,5):(2,6)", a:take(2, 3))   -- here both ends are included
check("take<1,4>", "(3,5,7):(2,6,30)", a:take(2, 4))
check("take<1,1> is not allowed", "false", (pcall(tile.take, a, 2, 1)))

local x, y = layout(3, 1), layout(4, 3)
local row, col = tile.make_layout(x, y), tile.make_layout(y, x)
check("make_layout(a, b)", "(3,4):(1,3)", row)
check("make_layout(b, a)", "(4,3):(3,1)", col)
check("make_layout(row, col)", "((3,4),(4,3)):((1,3),(3,1))", tile.make_layout(row, col))
check("make_layout(a)", "(3):(1)", tile.make_layout { x })
check("make_layout(aa)", "((3)):((1))", tile.make_layout { tile.make_layout { x } })
check("make_layout(a, aa, a)", "(3,(3),3):(1,(1),1)",
      tile.make_layout(x, tile.make_layout { x }, x))
check("append(a, b)", "(3,4):(1,3)", x:append(y))
check("prepend(a, b)", "(4,3):(3,1)", x:prepend(y))
local c = x:append(y):append(x:append(y))
check("append(ab, ab)", "(3,4,(3,4)):(1,3,(1,3))", c)
check("replace<2>(c, b)", "(3,4,4):(1,3,3)", c:replace(3, y))

local b = a:group(1, 2)
check("group<0,2>", "((2,3),5,7):((1,2),6,30)", b)
check("group<1,3>", "((2,3),(5,7)):((1,2),(6,30))", b:group(2, 3))
check("flatten", "(2,3,5,7):(1,2,6,30)", b:flatten())
check("flatten of the other", "(2,3,5,7):(1,2,6,30)", b:group(2, 3):flatten())
for _, text in ipairs { "8:1", "((4,2)):((2,1))", "(3,(2,3)):(3,(12,1))" } do
  local L = layout(text)                          -- functions from integers to integers
  assert(tile.compatible(L:size(), L:shape()))
end
print(check.count .. " results, all as the documentation says")
