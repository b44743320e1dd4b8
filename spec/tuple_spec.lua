-- tuple_spec.lua: integer tuples, and the modes of tuples and layouts.
-- SPDX-License-Identifier: MIT
--
-- A row is code and the text of its value; in the second part, the whole error that it
-- raises. What the golden tables have is not repeated here.

local tile = require "moontile"

local env = setmetatable({ X = tile._, L = tile.layout, tile = tile }, {
  __index = function(_, name) return rawget(tile, name) or _G[name] end,
})

local function run(code) return assert(load("return " .. code, "=row", "t", env))() end

local VALUES = {
  ["numbers"] = {
    { "sum { 5, { 12, -7 } }",                              "10" },
    { "sum {}",                                             "0" },
    { "max { { -4, -1 }, -9 }",                             "-1" },
    { "min { { -4, -1 }, -9 }",                             "-9" },
    { "gcd { -12, { 18, 0 } }",                             "6" },
    { "gcd {}",                                             "0" },
    { "inner_product({ 1, { 2, 3 } }, { 4, { 5, -6 } })",   "-4" },
    { "inner_product({}, {})",                              "0" },
    { "product_each { { 10, 12 }, {}, 3 }",                 "(120,1,3)" },
    { "product_each(24)",                                   "(24)" },
    { "product_each(L { 4, { 2, 3 } })",                    "(4,6)" },
    { "product_each { 0, { 1 << 40, 1 << 40, 0 } }",        "(0,0)" },
    { "product_like({ { 4, 16 }, { 2, 3 } }, { 0, { 0, 0 } })", "(64,(2,3))" },
    { "elem_scale({ 5, { 2, 8 } }, { { 12, 2 }, { 3, 7 } })",   "(120,(6,56))" },
  },
  ["shapes"] = {
    { "weakly_congruent({ 1, 2 }, { { 3, 4 }, 5 })",        "true" },
    { "weakly_congruent({ { 3, 4 }, 5 }, { 1, 2 })",        "false" },
    { "weakly_congruent(1, {})",                            "true" },
    { "weakly_compatible({ 2, 3 }, { { 2, 2 }, 6 })",       "true" },
    { "weakly_compatible({ 2, 4 }, { { 2, 2 }, 6 })",       "false" },
    { "weakly_compatible(4, { 2, 2 })",                     "true" },
    { "weakly_compatible({ 2, 2 }, 4)",                     "false" },
    { "weakly_compatible(0, 4)",                            "false" },
    { "compatible(24, { 4, 6 })",                           "true" },
    { "compatible(24, { 24 })",                             "true" },
    { "compatible({ 24 }, 24)",                             "false" },
    { "compatible({ { 2, 2, 3 }, 5 }, { 12, 5 })",          "false" },
    { "compatible(-1, { 1 << 40, 1 << 40 })",               "false" },
    { "compatible(L { 4, 6 }, L { { 2, 2 }, 6 })",          "true" },
    { "evenly_divides({ 8, 9 }, { 2, 3 })",                 "true" },
    { "evenly_divides({ 8, 9 }, { 2 })",                    "true" },
    { "evenly_divides({ 8, 9 }, { 3 })",                    "false" },
    { "evenly_divides(8, { 2, 2 })",                        "false" },
    { "evenly_divides({ 8, 9 }, L(4, 2))",                  "true" },
    { "evenly_divides(L { 8, 9 }, { L(4, 2), L(3) })",      "true" },
  },
  ["division"] = {
    { "ceil_div(48, { 3, 4 })",                             "4" },
    { "ceil_div({ 10, 8, 8 }, 12)",                         "(1,4,8)" },
    { "ceil_div({ 8, { 4, 2 } }, { 3 })",                   "(3,(4,2))" },
    { "ceil_div({ 4, 0, 3 }, 6)",                           "(1,0,2)" },
    { "ceil_div(-7, 2)",                                    "-3" },
    { "ceil_div(math.maxinteger, 2)",                       "4611686018427387904" },
    { "ceil_div(24, L(4, 2))",                              "(2,3)" },
    { "ceil_div({ 12, 32 }, { L(8, 2), L(2) })",            "(2,16)" },
    { "ceil_div({ 4, 32 }, { 3, L(3) })",                   "(2,11)" },
    { "shape_div({ 4, 5, 6 }, 40)",                         "(1,1,3)" },
    { "shape_div({ 8, { 3, 2 } }, { 2, { 6, 1 } })",        "(4,(1,2))" },
    { "round_up({ 2, { 9, 4 } }, { 8, { 4 } })",            "(8,(12,4))" },
    { "filter_zeros({ 0, { 5, 0 } }, { { 64, 5 }, { 7, 2 } })", "((1,1),(7,1))" },
  },
  ["order"] = {
    { "elem_leq({ 1, 5 }, { 3, 3 })",                       "false" },
    { "elem_geq({ 3, 3 }, { 1, 5 })",                       "false" },
    { "elem_less({ 1, { 2, 3 } }, { 2, { 3, 4 } })",        "true" },
    { "elem_less({ 1 }, { 2, 0 })",                         "true" },
    { "elem_leq({ 0, 6 }, { 2 })",                          "false" },
    { "elem_gtr({ 2, 0 }, { 1 })",                          "true" },
    { "lex_less({ 1, 9 }, { 2, 0 })",                       "true" },
    { "lex_less({ 1 }, { 1, 0 })",                          "true" },
    { "lex_leq({ 1, { 2, 3 } }, { 1, { 2, 3 } })",          "true" },
    { "colex_less({ 9, 1 }, { 0, 2 })",                     "true" },
    { "colex_geq({ 3, { 1 } }, { 4, { 1 } })",              "false" },
    { "colex_gtr({ 2, 1 }, { 1 })",                         "true" },
  },
  ["CuTe's"] = {
    { "make_shape(2, { 3, 4 })",                            "(2,(3,4))" },
    { "make_shape(5)",                                      "(5)" },
    { "make_shape()",                                       "()" },
    { "make_layout(make_shape(2, make_shape(3, 4)), make_stride(12, make_stride(4, 1)))",
      "(2,(3,4)):(12,(4,1))" },
    { "make_tile(4, L { 2, 2 }, X)",                        "(4:1,(2,2):(1,2),_)" },
    { "make_coord(X, 3)",                                   "(_,3)" },
  },
  ["strides"] = {
    { "compact_col_major { 4, { 1, 8 } }",                  "(1,(0,4))" },
    { "compact_col_major({ 4, { 1, 8 } }, 10)",             "(10,(0,40))" },
    { "compact_row_major({ { 4, 2 }, 8 }, { 3, 5 })",       "((6,3),5)" },
    { "compact_row_major(L { 4, 8 })",                      "(8,1)" },
    { "compact_col_major { 1 << 62, 2, 1 }",                "(1,4611686018427387904,0)" },
    { "compact_order({ 2, 3, 4 }, { 1, 1, 0 })",            "(4,8,1)" },
    { "prefix_product { 4, { 1, 8 }, 3 }",                  "(1,(4,4),32)" },
    { "prefix_product({ 4, { 1, 8 } }, 10)",                "(10,(40,40))" },
    { "prefix_product({ { 4, 2 }, { 3, 3 } }, { 5, 7 })",   "((5,20),(7,21))" },
    { "prefix_product { 4, 0, 8 }",                         "(1,4,0)" },
    { "prefix_product(L { 4, 8 })",                         "(1,4)" },
    { "prefix_product(7, 5)",                               "5" },
    { "suffix_product { 4, { 1, 8 }, 3 }",                  "(24,(24,3),1)" },
    { "suffix_product({ 5, 4 }, 2)",                        "(8,2)" },
    { "compact_order({ { 4, 8 }, 2 }, { 1, 0 })",           "((2,8),1)" },
    { "compact_order({ 4, 0, 2 }, { 1, 0, 2 })",            "(1,1,4)" },
  },
  ["coordinates"] = {
    { "idx2crd(41, { 4, 5 })",                              "(1,10)" },
    { "idx2crd({ 5, X }, { { 2, 3 }, 4 })",                 "((1,2),0)" },
    { "idx2crd(parse '5@0+2@2', { 2, 1, 2 })",              "(5,0,2)" },
    { "idx2crd(parse '1@1@0', { { 2, 3 }, 4 })",            "((0,1),0)" },
    { "idx2crd(parse '5@0', { { 2, 3 }, 4 })",              "((1,2),0)" },
    { "idx2crd(7, { 3, 2 }, { 2, 5 })",                     "(1,1)" },
    { "idx2crd(6, { 4, 3 }, { -1, 4 })",                    "(2,2)" },
    { "idx2crd(20, { 4, 5 }, 2)",                           "(2,2)" },
    { "L { 4, { 1, 8 } }:idx2crd(13)",                      "(1,(0,3))" },
    { "L({ { 4, 2 }, 8 }, { { 16, 8 }, 1 }):get_hier_coord(29)", "((1,1),5)" },
    { "L({ { 4, 2 }, 8 }, { { 16, 8 }, 1 }):get_flat_coord(29)", "(5,5)" },
    { "L({ { 4, 2 }, 8 }, { { 16, 8 }, 1 }):get_1d_coord(29)",   "45" },
    { "get_hier_coord(L(4, 0), 0)",                         "0" },
    { "get_hier_coord(parse 'Sw<2,0,3> o 8 o (8,4):(1,8)', 17)",  "(3,1)" },
    { "crd2crd({ 9 }, { { 4, 6 } }, { 24 })",               "(9)" },
    { "crd2crd({ { 1, 2 }, 3 }, { { 4, 6 }, 5 }, { { 4, 6 }, 5 })", "((1,2),3)" },
    { "crd2crd({ { 1, 2 }, 3 }, { { 4, 6 }, 5 }, { 24, 5 })", "(9,3)" },
    { "crd2crd(17, { 4, 6 }, { 6, 4 })",                    "(5,2)" },
    { "increment({ 3, { 0, 1 } }, { 4, { 1, 2 } })",        "(0,(0,2))" },
    { "increment({ 3, 1 }, { 4, 8 })",                      "(0,2)" },
    { "slice({ X, { 0, X } }, { 2, { 3, { 4, 5 } } })",     "(2,(4,5))" },
    { "slice(X, { 2, 3 })",                                 "(2,3)" },
    { "slice(1, { 2, 3 })",                                 "()" },
    { "slice({ X, 1 }, L { 4, 8 })",                        "(4):(1)" },
    { "dice({ X, { 0, X } }, { 2, { 3, { 4, 5 } } })",      "(3)" },
    { "dice(1, { 2, 3 })",                                  "(2,3)" },
    { "L { 4, 8, 2 }:dice { X, 1, 0 }",                     "(8,2):(4,32)" },
  },
  ["modes"] = {
    { "append({ 2 }, { 3, 4 })",                            "(2,(3,4))" },
    { "append({ 2 }, 4, 7)",                                "(2,7,7,7)" },
    { "append(L(4), L(2, 4))",                              "(4,2):(1,4)" },
    { "L(4):append(3)",                                     "(4,1,1):(1,0,0)" },
    { "L(4):prepend(3, L(2, 4))",                           "(2,2,4):(4,4,1)" },
    { "append(parse 'Sw<2,0,3> o 0 o (8,4):(1,8)', L(2, 32))",
      "Sw<2,0,3> o 0 o (8,4,2):(1,8,32)" },
    { "insert({ 1, 2 }, 3, { 3 })",                         "(1,2,(3))" },
    { "L { 4, 8 }:insert(1, L(2, 32))",                     "(2,4,8):(32,1,4)" },
    { "replace(5, 1, { 2, 3 })",                            "(2,3)" },
    { "L { 4, 8 }:replace(2, L(2, 32))",                    "(4,2):(1,32)" },
    { "L { 4, 8 }:remove(1)",                               "(8):(4)" },
    { "L { 4, { 2, 3 } }:reverse()",                        "((2,3),4):((4,8),1)" },
    { "L(4):wrap()",                                        "(4):(1)" },
    { "unwrap(L { { { 4 } } })",                            "4:1" },
    { "L { { 4, 2 }, 3 }:front()",                          "4:1" },
    { "back { 1, { 2, { 3 } } }",                           "3" },
    { "flatten_to_tuple(L(4))",                             "(4):(1)" },
    { "L { 2, 3, 4 }:unflatten { X, { X, X } }",            "(2,(3,4)):(1,(2,6))" },
    { "zip(7, 5)",                                          "((7,5))" },
    { "zip({ 1, 2 }, { 3, 4 }, { 5, 6 })",                  "((1,3,5),(2,4,6))" },
    { "zip({ { 1, 2 }, { 3, 4 } })",                        "((1,3),(2,4))" },
    { "L { { 2, 3 }, { 4, 5 } }:zip()",
      "((2,4),(3,5)):((1,6),(2,24))" },
    { "zip2_by({ { 1, 2 }, { 3, 4 }, 5 }, { 0, 0 })",       "((1,3),(2,4,5))" },
    { "L { { 2, 3 }, { 4, 5 } }:zip2_by { X, X }",
      "((2,4),(3,5)):((1,6),(2,24))" },
    { "repeat_like({ 1, { 2, 3 } }, { 0, 1 })",             "((0,1),((0,1),(0,1)))" },
    { "tile['repeat'](3, { 1, 2 })",                        "((1,2),(1,2),(1,2))" },
    { "tile['repeat'](1, 5)",                               "5" },
    { "take(parse 'Sw<2,0,3> o 0 o (8,4,2):(1,8,32)', 2, 3)",
      "Sw<2,0,3> o 0 o (4,2):(8,32)" },
  },
}

local ERRORS = {
  { "sum { 1, { 2, 'x' } }",
    "bad argument #1 to 'sum' (its part [2][2]: integer expected, got string)" },
  { "sum(L(4))", "bad argument #1 to 'sum' (integer or table expected, got moontile.Layout)" },
  { "sum { 1 << 62, 1 << 62 }",
    "sum: of (4611686018427387904,4611686018427387904) leaves 64 bits" },
  { "max {}", "max: there is no integer in ()" },
  { "inner_product({ 2, 3 }, { 2, 3, 4 })",
    "inner_product: A = (2,3) has 2 modes, B = (2,3,4) has 3 modes" },
  { "inner_product({ 1, { 2, { 3, 4 } } }, { 1, { 2, { 3, 4, 5 } } })", [[
inner_product: A[2][2] = (3,4) has 2 modes, B[2][2] = (3,4,5) has 3 modes
  A = (1,(2,(3,4))), B = (1,(2,(3,4,5)))]] },
  { "product_each { { 1 << 40, 1 << 40 }, 3 }",
    "product_each: the product of (1099511627776,1099511627776) leaves 64 bits" },
  { "elem_scale({ 2, 3 }, { 2, 3, 4 })",
    "elem_scale: A = (2,3) has 2 modes, B = (2,3,4) has 3 modes" },
  { "ceil_div({ 2, 3 }, { 2, 3, 4 })",
    "ceil_div: A = (2,3) has 2 modes, B = (2,3,4) has 3 modes" },
  { "ceil_div({ 8, { 4, 2 } }, { 2, { 0, 1 } })", [[
ceil_div: 4 by 0: a divisor must be positive
  A = (8,(4,2)), B = (2,(0,1))]] },
  { "ceil_div(64, parse '4:1@0')",
    "ceil_div: a tiler with integer strides expected, not 4:1@0" },
  { "shape_div({ 6, 4 }, 4)", [[
shape_div: neither of 6 and 4 divides the other
  A = (6,4), B = 4
  ceil_div rounds up: ceil_div(6,4) = 2]] },
  { "shape_div(-4, 2)", "shape_div: -4 by 2: an extent must not be negative" },
  { "round_up({ 2, 3 }, 4)", "round_up: A = (2,3) has 2 modes, B = 4 is no tuple" },
  { "round_up(math.maxinteger, 4)",
    "round_up: 9223372036854775807 to a multiple of 4 leaves 64 bits" },
  { "elem_less({ 1, 2 }, 3)", "elem_less: A = (1,2) has 2 modes, B = 3 is no tuple" },
  { "lex_less({ 1, { 2, 3 } }, { 1, 2 })", [[
lex_less: A[2] = (2,3) has 2 modes, B[2] = 2 is no tuple
  A = (1,(2,3)), B = (1,2)]] },
  { "make_shape(2, 'x')", "make_shape[2]: integer expected, got string" },
  { "compact_col_major { 4, -1 }", "compact_col_major: extent -1 is negative" },
  { "prefix_product { 1 << 40, 1 << 40, 2 }",
    "prefix_product: a product of (1099511627776,1099511627776,2) leaves 64 bits" },
  { "suffix_product({ 4, 2 }, { 1, 2, 3 })",
    "suffix_product: A = (4,2) has 2 modes, B = (1,2,3) has 3 modes" },
  { "compact_col_major { 1 << 40, 1 << 40, 2 }",
    "compact_col_major: a stride of (1099511627776,1099511627776,2) leaves 64 bits" },
  { "compact_order({ 2, 3, 4 }, { 0, 1 })",
    "compact_order: A = (2,3,4) has 3 modes, B = (0,1) has 2 modes" },
  { "idx2crd(-1, { 4, 8 })", "idx2crd: coordinate -1 is negative" },
  { "idx2crd({ 1, 2, 3 }, { 4, 8 })",
    "idx2crd: A = (1,2,3) has 3 modes, B = (4,8) has 2 modes" },
  { "idx2crd(20, { 4, 5 }, { 1, 4 })", [[
idx2crd: there is no coordinate c with A(c) = 20 in A = (4,5):(1,4)
  the values of A lie in 0 .. 19]] },
  { "idx2crd(parse '8@0+7@2', { 3, 5 })",
    "idx2crd: 7@2 names no single mode of the shape (3,5)" },
  { "L(4, 2):get_1d_coord(3)", [[
get_1d_coord: there is no coordinate c with A(c) = 3 in A = 4:2
  the values of A lie in 0 .. 6]] },
  { "make_identity_layout({ 4, 8 }):get_flat_coord(0)",
    "get_flat_coord: the strides of (4,8):(1@0,1@1) are no integers" },
  { "crd2crd({ 3, { 0, 14 } }, { 4, { 3, 16 } }, { 4, 3, 16 })",
    "crd2crd: A = (3,(0,14)) has 2 modes, B = (4,3,16) has 3 modes" },
  { "increment({ 4, 0 }, { 4, 8 })", [[
increment: 4 is not in 0 .. 3
  A = (4,0), B = (4,8)]] },
  { "increment(0, math.mininteger)", [[
increment: 0 is not in 0 .. -1]] },
  { "slice({ X, { 1, X } }, { 2, 3 })", [[
slice: A[2] = (1,_) has 2 modes, B[2] = 3 is no tuple
  A = (_,(1,_)), B = (2,3)]] },
  { "dice({ X, 1 }, L { 2, 3, 4 })",
    "dice: A = (_,1) has 2 modes, B = (2,3,4):(1,2,6) has 3 modes" },
  { "append({ 4 }, L(2))",
    "append: 2:1 cannot be a mode of (4): an integer or a tuple expected" },
  { "append(L(4), parse 'Sw<1,0,1> o 0 o 4:1')",
    "append: Sw<1,0,1> o 0 o 4:1 cannot be a mode of 4:1: it has a swizzle of its own" },
  { "append({ 2, 3, 4 }, 2, 0)", "append: (2,3,4) to 2 modes: it has 3 already" },
  { "append(4, 1000000000, 1)", "append: more than 64 nodes" },
  { "insert({ 1, 2 }, 5, 3)", "insert: as mode 5 of (1,2), whose rank is 2" },
  { "replace({ 1, 2 }, 3, 3)", "replace: there is no mode 3 in (1,2), its rank is 2" },
  { "remove({ 1, 2 }, 0)", "mode numbers count from 1, got 0" },
  { "unflatten({ 2, 3, 4 }, { { 0, 0 } })",
    "unflatten: (2,3,4) has 3 modes, profile ((0,0)) has 2 places" },
  { "unflatten({ 2, { 3, 4 } }, { 0, 0 })", "unflatten: (2,(3,4)) is not flat" },
  { "zip({ 1, 2 }, { 3 })", "zip: A = (1,2) has 2 modes, B = (3) has 1 modes" },
  { "zip({ 1, 2 }, L { 3, 4 })", "zip: (1,2) and (3,4):(1,3): a layout and none" },
  { "zip()", "zip: 1 to 64 values expected" },
  { "zip2_by({ { 1, 2 }, { 3 } }, { 0, 0 })", [[
zip2_by: a pair expected at 0 of the guide, not (3)
  A = ((1,2),(3)), B = (0,0)]] },
  { "back { 1, {} }", "back: (1,()) ends in ()" },
}

for title, rows in pairs(VALUES) do
  describe("integer tuples: " .. title, function()
    for _, row in ipairs(rows) do
      it(row[1], function() assert.equal(row[2], tostring(run(row[1]))) end)
    end
  end)
end

describe("integer tuples: errors", function()
  for _, row in ipairs(ERRORS) do
    it(row[1], function()
      local ok, err = pcall(run, row[1])
      assert.is_false(ok)
      assert.equal(row[2], (tostring(err):gsub("^row:1: ", "")))
    end)
  end
end)
