-- design_spec.lua: what other implementations answer wrongly: the exact answer, or why not.
-- SPDX-License-Identifier: MIT
--
-- A row is code and the text of its value, or `refused` and a part of the error. Every case
-- was answered wrongly, or not at all, by CuTe, pycute, PyCuTe or tensor-layouts.

local tile = require "moontile"

-- What the code of a row sees.
local env = setmetatable({ tile = tile, layout = tile.layout, parse = tile.parse, X = tile._ },
                         { __index = _G })

local refused = {}

local function run(code)
  return assert(load("return " .. code, "=row", "t", env))()
end

local function rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do
      local code, answer, text = table.unpack(row)
      if answer == refused then
        it(code .. " is refused: " .. text, function()
          local ok, err = pcall(run, code)
          assert.is_false(ok)
          assert.is_truthy(err:find(text, 1, true), err)
        end)
      else
        it(code .. " is " .. answer, function() assert.equal(answer, tostring(run(code))) end)
      end
    end
  end)
end

rows("composition: digits that do not fit", {
  { 'layout "(6,4):(8,2)" * layout(4, 4)', refused,
    "A(B(3)) = 4, where a layout would give 50" },
  { 'layout "(6,4):(8,2)" * layout(2, 4)', "2:32" },
  { 'layout "(4,6,8):(2,3,5)" * layout(6, 3)', refused,
    "stride 3 runs over the end of A's mode 1 (extent 4)" },
  { 'layout "(4,6,8):(2,3,5)" * layout(6, 3)', refused,
    "6:2, 6:4 and 6:12 compose with this A; so would 6:3 if mode 1 had extent 3" },
  { 'layout "(4,6,8):(2,3,5)" * layout(6, 2)', "(2,3):(4,3)" },
  { 'layout "(4,6,8):(2,3,5)" * layout(6, 4)', "6:3" },
  { 'layout "(4,6,8):(2,3,5)" * layout(6, 12)', "(2,3):(9,5)" },
  { 'layout "(4,6,8,10):(2,3,5,7)" * layout(6, 12)', "(2,3):(9,5)" },
  { 'layout "(5,3):(7,1)" * layout(7, 1)', refused,
    "B's mode 7:1 does not split at the end of A's mode 1 (extent 5)" },
  { 'layout "(4,2,8):(3,12,97)" * layout(3, 3)', "3:9" },
})

rows("composition: modes that carry into each other", {
  { 'layout "(6,2):(1,7)" * layout "(3,2):(2,3)"', refused,
    "A(B(5)) = 8, where a layout would give 7" },
  { 'layout "(8,4):(5,8)" * layout "(8,6):(4,1)"', refused, "carry into each other" },
  { 'layout "(8,4):(5,8)" * layout "(2,4):(4,1)"', "(2,4):(20,5)" },
  { 'layout "(3,2):(7,3)" / layout "(4,2):(0,2)"', refused,
    "stride 4 runs over the end of A's mode 1" },
})

rows("composition: an exact answer behind the rule", {
  { 'layout "(4,6,8):(2,3,5)" * layout(2, 3)', "2:6" },              -- two values: a layout
  { 'layout "(3,5,3):(7,2,11)" * layout(3, 22)', "3:22" },
  { 'layout "(2,8,6):(5,3,1)" * layout(4, 9)', "(2,2):(17,4)" },
  { 'layout "(7,5,5):(3,2,8)" * layout(6, 18)', "(2,3):(16,11)" },
})

rows("composition: beyond the domain, nothing, one value, backwards", {
  { 'layout "8:2" * layout(20, 3)', "20:6" },
  { 'layout "(4,6,1):(2,3,0)" * layout(30, 4)', "(6,5):(3,0)" },     -- a last mode of 1 stays
  { 'layout "(4,3):(7,1)" * layout(3, 0)', "3:0" },
  { 'layout "(4,3):(7,1)" * layout(1, 5)', "1:8" },                  -- A(5)
  { 'layout "8:2" * layout(3, -1)', "3:-2" },
  { 'layout "(4,3):(3,1)" * layout(2, -1)', "2:-3" },                -- A(-i) = -A(i), as in CuTe
  { 'layout "(1,(2,4)):(0,(-1,512))" * layout(4, -1)', "(2,2):(1,-512)" },
  { 'layout "(4,3):(3,1)" * layout({ 2, 2 }, { -1, 4 })', refused, "what lies before 0" },
  { 'layout "(4,3):(3,1)" * layout(3, -3)', refused, "what lies before 0" },
  { 'layout "(5,3):(1,7)" * (layout(4, 1) * layout(2, 5))', "2:7" },
  { '(layout "(5,3):(1,7)" * layout(4, 1)) * layout(2, 5)', "2:5" }, -- past the end of 4:1
})

rows("complement", {
  { 'tile.complement(layout "4:1", 24)', "6:4" },
  { 'tile.complement(layout "4:2", 24)', "(2,3):(1,8)" },
  { 'tile.complement(layout "(2,2):(1,6)", 24)', "(3,2):(2,12)" },
  { 'tile.complement(layout "(4,2):(1,0)", 16)', "4:4" },            -- broadcasts aside
  { 'tile.complement(layout "(4,2):(1,6)", 24)', "2:12" },
  { 'select(2, tile.complement(layout "(4,2):(1,6)", 24))', "false" },
  { 'tile.complement(layout "(2,2):(1,1)", 8)', refused, "A(1) = A(2) = 1" },
  { 'layout(24) / layout "(4,2):(1,6)"', refused, "leave gaps: they miss offsets below 24" },
  { 'tile.complement(parse "4:F1", 8)', refused, "over F2" },
})

rows("inverses", {
  { 'tile.left_inverse(layout "4:2")', "(2,4):(0,1)" },
  { 'tile.left_inverse(layout "5:3")', "(3,5):(0,1)" },
  { 'tile.left_inverse(layout "(4,8):(0,0)")', "32:0" },               -- n elements at one place
  { 'tile.left_inverse(layout "(4,8):(1,5)")', "(5,8):(1,4)" },
  { 'tile.left_inverse(layout "(3,2):(2,3)")', "(2,4):(2,1)" },      -- no chain of strides
  { 'tile.left_inverse(layout "(2,2):(1,1)")', refused, "not injective: A(1) = A(2) = 1" },
  { 'tile.left_inverse(layout "4:-1")', refused, "negative stride" },
  { 'tile.right_inverse(layout "(2,4):(1,2)")', "8:1" },
  { 'tile.right_inverse(layout "(4,3):(0,1)")', "3:4" },
  { 'tile.right_inverse(layout "4:2")', "1:0" },
  { 'tile.nullspace(layout "(4,2):(0,1)")', "4:1" },
})

rows("divide: larger at the end of the last mode, else refused", {
  { 'layout "10:1" / 4', "(4,3):(1,4)" },
  { 'layout "(6,10)" / layout "4:1"', "(4,15):(1,4)" },
  { 'layout "(6,10):(1,7)" / layout "4:1"', refused, "3:1 and 6:1 divide this A" },
  { 'tile.zipped_divide(layout "(6,10)", { layout(4, 2), layout(5, 1) })',
    "((4,5),(2,2)):((2,6),(1,30))" },
  { 'tile.zipped_divide(layout "(12,(4,8))", 128)', "(128,3):(1,128)" },
  { 'layout(12) / layout "(4,2):(1,0)"', "((4,2),3):((1,0),4)" },
  { 'tile.zipped_divide(layout "(7,1):(3,42)", 6)', refused, "A(B(7)) = 42" },
})

rows("products keep every copy", {
  { 'tile.logical_product(layout "(4,2):(1,4)", 3)', "((4,2),3):((1,4),8)" },
  { 'tile.logical_product(layout "4:2", layout "3:1")', refused, "does not split" },
  { 'tile.blocked_product(layout "8:3", layout "6:1")', "((8,(3,2))):((3,(1,24)))" },
  { 'tile.raked_product(layout "8:3", layout "6:1")', "(((3,2),8)):(((1,24),3))" },
  { 'tile.tile_to_shape(layout "(4,4)", { 10, 8 })', refused, "8 and 12 would do" },
})

rows("recast", {
  { 'tile.downcast(layout "(2,1):(1,1)", 2)', "(4,1):(1,2)" },
  { 'tile.upcast(layout "4:3", 2)', refused, "no multiple of 2 and no divisor" },
  { 'tile.upcast(layout "(3,4):(1,3)", 4)', refused, "no multiple of 4 and no divisor" },
})

rows("XOR strides: digits are bits", {
  { 'tile.layout_add(parse "9:F1", parse "(3,3):(F2,F4)")', refused, "a power of two" },
  { 'parse "(8):(F9)" * layout(4, 6)', "(8):(F9) o 0 o 4:6" }, -- their sum is no xor
  { 'parse "(8,8):(F1,F1)" * layout "(8,8):(4,1)"', "(8,8):(F1,F1) o 0 o (8,8):(4,1)" },
  { 'tile.layout_add(layout "(3,2):(1,3)", layout "6:1")', "6:2" },
  { 'tile.greatest_common_domain({ 5, 3, 4 }, { 10, 6 })', "(5,2):(1,30)" },
})

rows("the range of the values", {
  { 'tile.cosize(parse "Sw<3,0,3> o 0 o (8,3):(8,1)")', "64" },
  { 'tile.cosize(layout "4:-1")', "4" },
  { 'tile.cosize(layout "(2,4):(4,-1)")', "8" },
  { 'layout "(2,4):(4,-1)":coshape()', "8" },
  { 'layout "(2,4):(1@0,-3@1)":coshape()', "(2,10)" },
  { 'select("#", tile.footprint(layout "4:-1"))', "2" },
  { 'tile.footprint(layout "4:-1")', "-3" },
  { 'select(2, tile.footprint(layout "(2,4):(4,-1)"))', "4" },
  { 'select(2, layout "Sw<3,0,3> o 0 o (8,3):(8,1)":footprint())', "63" },
  { 'layout "Sw<3,0,3> o 8 o 4:1":footprint()', "8" },
  { 'select(2, layout "(0,4):(1,-2)":footprint())', "-1" },
  { 'select(2, layout "((2,3),4):((5,-7),1)":footprint(1, 2))', "0" },
  { 'layout "((2,3),4):((5,-7),1)":footprint(1, 2)', "-14" },
  { 'tile.extent(layout "4:-1")', "4" },
  { 'tile.size { 65536, 65536 }', "4294967296" },
  { 'tile.size { 1 << 32, 1 << 32 }', refused, "the size leaves 64 bits" },
  { 'layout(1 << 40, 1 << 40)', refused, "an offset leaves 64 bits" },
})

rows("order, element by element", {
  { 'tile.elem_leq({ 1, 5 }, { 3, 3 })', "false" },
  { 'tile.elem_less({ 1, 5 }, { 3, 3 })', "false" },
  { 'tile.elem_geq({ 3, 3 }, { 1, 5 })', "false" },
  { 'tile.elem_leq({ 1, 3 }, { 3, 3 })', "true" },
  { 'tile.make_ordered_layout({ 4, 4, 2 }, { 1, 1, 0 })', "(4,4,2):(2,8,1)" },  -- ties
})

rows("coordinates, shapes, small extents", {
  { 'layout(4, 1)(99)', "99" },
  { 'layout(4, 1):at(99)', refused, "99 is not below 4" },
  { 'tile.idx2crd(41, { 4, 5 })', "(1,10)" },
  { 'tile.compatible({ { 2, 2 }, 3 }, { 4, 3 })', "false" },
  { 'tile.compatible({ 4, 3 }, { { 2, 2 }, 3 })', "true" },
  { 'tile.compatible(24, { 24 })', "true" },
  { 'tile.compatible({ 24 }, 24)', "false" },
  { 'tile.shape_div(6, 4)', refused, "neither of 6 and 4 divides the other" },
  { 'tile.coalesce(layout "(1,1):(3,4)")', "1:0" },
  { 'tile.coalesce(layout "0:3")', "0:0" },
})

describe("every answer above is the definition", function()
  local pairs_of_layouts = {
    { "(6,4):(8,2)", "2:4" }, { "(4,6,8):(2,3,5)", "6:2" }, { "(4,6,8):(2,3,5)", "6:4" },
    { "(4,6,8):(2,3,5)", "6:12" }, { "(4,6,8,10):(2,3,5,7)", "6:12" },
    { "(4,2,8):(3,12,97)", "3:3" }, { "(8,4):(5,8)", "(2,4):(4,1)" },
    { "(4,6,8):(2,3,5)", "2:3" }, { "(3,5,3):(7,2,11)", "3:22" },
    { "(2,8,6):(5,3,1)", "4:9" }, { "(7,5,5):(3,2,8)", "6:18" }, { "8:2", "20:3" },
    { "(4,6,1):(2,3,0)", "30:4" }, { "(4,3):(7,1)", "3:0" }, { "(4,3):(7,1)", "1:5" },
  }
  it("of composition", function()
    for _, pair in ipairs(pairs_of_layouts) do
      local A, B = tile.parse(pair[1]), tile.parse(pair[2])
      local R = A * B
      for i = 0, B:size() - 1 do assert.equal(A(B(i)), R(i)) end
    end
  end)
  it("of the left inverse", function()
    for _, text in ipairs { "4:2", "5:3", "(4,8):(1,5)", "(3,2):(2,3)", "(2,2,5):(36,5,3)" } do
      local A = tile.parse(text)
      local L = A:left_inverse()
      for i = 0, A:size() - 1 do assert.equal(i, L(A(i))) end
    end
  end)
end)
