-- tour.lua: the algebra of layouts, by the worked examples of its literature.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

local function title(text) print("\n" .. text) end

-- Prints what an expression gives, which must be the text `expected`.
local function show(expression, value, expected)
  print(("  %-44s %s"):format(expression, value))
  assert(tostring(value) == expected, expected .. " expected")
end

title "A layout is a function from coordinates to offsets"
local A = layout "((2,4),(3,5)):((3,6),(1,24))"
show("A", A, "((2,4),(3,5)):((3,6),(1,24))")
show("size, rank, depth, cosize",
     table.concat({ A:size(), #A, A:depth(), A:cosize() }, ", "), "120, 2, 2, 120")
show("A[1]", A[1], "(2,4):(3,6)")
show("A(17), A(1, 2), A({1, 0}, {2, 0})",
     table.concat({ A(17), A(1, 2), A({ 1, 0 }, { 2, 0 }) }, ", "), "5, 5, 5")
show("A(1, _)", A(1, _), "((3,5)):((1,24))")

title "Which has a picture: row, column and the offset"
local picture = tile.print_layout(layout({ 4, { 2, 2 } }, { 2, { 1, 8 } }))
print((picture:gsub("%s*$", ""):gsub("[^\n]+", "  %0")))

title "Strides may be 0 or negative"
show("8:2   size, cosize",
     table.concat({ layout(8, 2):size(), layout(8, 2):cosize() }, ", "), "8, 15")
show("8:0   cosize", layout(8, 0):cosize(), "1")
show("8:-1  the first and the last offset",
     table.concat({ layout(8, -1)(0), layout(8, -1)(7) }, ", "), "0, -7")

title "Coordinates: linear, by mode, natural; the leftmost runs fastest"
local shape = { 3, { 2, 3 } }
show("idx2crd(16, (3,(2,3)))", tile.idx2crd(16, shape), "(1,(1,2))")
local S = layout(shape)
for i = 0, S:size() - 1 do
  local natural = tile.idx2crd(i, shape)
  local by_mode = { i % 3, i // 3 }
  assert(S(i) == i and S(by_mode) == i and S(natural) == i)
  print(("  %6d   (%d,%d)   %s"):format(i, by_mode[1], by_mode[2], natural))
end

title "Coalescing: fewer modes, the same function"
show("coalesce (2,(1,6)):(1,(6,2))", layout "(2,(1,6)):(1,(6,2))":coalesce(), "12:1")
show("by mode", layout "(2,(1,6)):(1,(6,2))":coalesce{ 1, 1 }, "(2,6):(1,2)")

title "Composition: (A * B)(i) = A(B(i))"
show("20:2 * (4,5):(1,4)", layout(20, 2) * layout({ 4, 5 }, { 1, 4 }), "(4,5):(2,8)")
show("(20,2):(16,4) * (4,5):(1,4)",
     layout({ 20, 2 }, { 16, 4 }) * layout({ 4, 5 }, { 1, 4 }), "(4,5):(16,64)")
show("(6,2):(8,2) * (4,3):(3,1)",
     layout({ 6, 2 }, { 8, 2 }) * layout({ 4, 3 }, { 3, 1 }), "((2,2),3):((24,2),8)")

title "Complement: the offsets that a layout skips"
show("complement(4:1, 24)", (layout(4, 1):complement(24)), "6:4")
show("complement(6:4, 24)", (layout(6, 4):complement(24)), "4:1")
show("complement(4:2, 24)", (layout(4, 2):complement(24)), "(2,3):(1,8)")

title "Division: a tile, and the rest"
show("24:2 / 4:2", layout(24, 2) / layout(4, 2), "(4,(2,3)):(4,(2,16))")
local T = layout{ 8, 24 }:zipped_divide{ 4, 8 }
show("(8,24) in tiles of (4,8)", T, "((4,8),(2,3)):((1,8),(4,64))")
show("where tile (0,0) has its element (0,1)", T({ 0, 1 }, { 0, 0 }), "8")

title "Two levels: 128x128 in blocks of 32x32, those in pieces of 4x4"
local blocks = layout{ 128, 128 }:zipped_divide{ 32, 32 }               -- ((32,32),(4,4))
local pieces = blocks[1]:zipped_divide{ 4, 4 }                          -- ((4,4),(8,8))
show("blocks, elements of each", blocks[2]:size() .. ", " .. blocks[1]:size(), "16, 1024")
show("threads, elements of each", pieces[2]:size() .. ", " .. pieces[1]:size(), "64, 16")

title "An answer is exact, or it is an error that says why"
local ok, message = pcall(function() return layout "(4,6,8):(2,3,5)" * layout(6, 3) end)
assert(not ok)
print("  " .. message:gsub("^.-:%d+: ", ""):gsub("\n", "\n  "))
