-- layout_spec.lua: layouts in Lua: building, operators, coordinates, methods.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse, X = tile.layout, tile.parse, tile._

describe("building", function()
  for _, row in ipairs {
    { function() return layout(8) end,                         "8:1" },
    { function() return layout(24, 2) end,                     "24:2" },
    { function() return layout { 4, { 2, 3 } } end,            "(4,(2,3)):(1,(4,8))" },
    { function() return layout({ 4, { 2, 3 } }, "left") end,   "(4,(2,3)):(1,(4,8))" },
    { function() return layout({ 4, { 2, 3 } }, "right") end,  "(4,(2,3)):(6,(3,1))" },
    { function() return layout({ 4, 8 }, { 8, 1 }) end,        "(4,8):(8,1)" },
    { function() return layout { 4.0, 2^3 } end,               "(4,8):(1,4)" },
    { function() return layout {} end,                         "():()" },
    { function() return layout "(4,8)" end,                    "(4,8):(1,4)" },
    { function() return layout "(4,8):(8,1)" end,              "(4,8):(8,1)" },
    { function() return layout " ( _4 , 8 ) : ( _8 , _1 ) " end, "(4,8):(8,1)" },
    { function() return tile.make_layout(layout(4), layout(8, 4)) end,   "(4,8):(1,4)" },
    { function() return tile.make_layout { layout(4), layout(8, 4) } end, "(4,8):(1,4)" },
    { function() return tile.make_layout { layout(4) } end,    "(4):(1)" },
    { function() return tile.make_layout { 4, 8 } end,         "(4,8):(1,4)" },
    { function() return tile.make_layout({ 2, 3 }, { 3, 1 }) end, "(2,3):(3,1)" },
    { function() return tile.make_layout({ { 2, 3 }, 4 }, "right") end, "((2,3),4):((12,4),1)" },
    { function() return tile.make_layout(4, 2) end,            "4:2" },
    { function() return 2 * layout { 4, 8 } end,               "(4,8):(1,4)" },
    { function() return layout { 4, 8 } * 2 end,               "2:1" },
    { function() return tile.make_identity_layout { 4, 8 } end, "(4,8):(1@0,1@1)" },
    { function() return tile.make_layout_like(layout "(4,8):(8,1)") end, "(4,8):(8,1)" },
    { function() return layout(layout { 2, 3 }:shape(), "right") end,    "(2,3):(3,1)" },
  } do
    it("gives " .. row[2], function() assert.equal(row[2], tostring(row[1]())) end)
  end

  it("reads what it prints", function()
    for _, text in ipairs {
      "4:1", "():()", "(4):(1)", "(4,(2,2)):(2,(1,8))", "(4,8):(1@0,1@1)", "8:-1",
      "Sw<3,4,3> o 0 o (8,64):(64,1)", "(1,(2,3))", "_", "(_,2)", "(2:1,(2,4):(1,8))", "7",
      "(4,2):(1@0+2@1,1@1)", "1@0", "2@1@0", "Sw<3,4,3>",
    } do
      local value = parse(text)
      assert.equal(text, tostring(value))
      assert.equal(text, tostring(parse(tostring(value))))
      assert.is_true(value == parse(text))
    end
  end)
end)

describe("operators", function()
  local A = layout "(4,(2,2)):(2,(1,8))"

  it("compose and divide", function()
    assert.equal(tile.composition(A, layout(4, 2)), A * layout(4, 2))
    assert.equal(tile.logical_divide(layout(24, 2), layout(4, 2)), layout(24, 2) / layout(4, 2))
    assert.equal("(4,6):(2,8)", tostring(layout(24, 2) / 4))
    assert.equal(tile.logical_divide(24, layout(4, 2)), 24 / layout(4, 2))
    assert.equal(tile.composition(layout(24), layout(4, 2)), 24 * layout(4, 2))
    assert.has_error(function() return 1.5 / layout(4) end)
    assert.equal("((2,4),(4,2)):((1,2),(8,32))", tostring(layout { 8, 8 } / { 2, 4 }))
  end)

  it("take modes, counted from 1", function()
    assert.equal("4:2", tostring(A[1]))
    assert.equal("(2,2):(1,8)", tostring(A[2]))
    assert.has_error(function() return A[0] end, "A[0]: modes are counted from 1")
    assert.has_error(function() return A[-1] end, "A[-1]: modes are counted from 1")
    assert.has_error(function() return A[{ 0, 1 }] end,
                     "A[i]: a mode number expected, got a table; A(i, j) and A{i, j} are offsets")
    assert.is_nil(A[3])
    assert.equal(2, #A)
    local n = 0
    for i, mode in ipairs(A) do
      n = n + 1
      assert.equal(A[i], mode)
    end
    assert.equal(2, n)
    assert.equal("8:1", tostring(layout(8)[1]))
  end)

  it("compare by value", function()
    assert.is_true(layout(4) == layout "4:1")
    assert.is_true(layout(4) ~= layout { 4 })
    assert.is_true(A:shape() == parse "(4,(2,2))")
    assert.is_true(A:shape() ~= parse "(4,(2,1))")
    assert.is_false(layout(4) == 4)
    assert.is_false(layout(4) == tile.device "cpu")
    assert.is_false(layout(4) == tile.tensor("f32", layout(4)))
    assert.is_false(layout(4) == X)
    assert.is_true(A:shape() == { 4, { 2, 2 } })
  end)

  it("keep the mode of a swizzled layout under its swizzle", function()
    local S = layout "Sw<2,0,3> o 0 o (8,64):(64,1)"
    assert.equal("Sw<2,0,3> o 0 o 64:1", tostring(S[2]))
  end)
end)

describe("A(...)", function()
  local A = layout "(4,(2,2)):(2,(1,8))"
  local rank1 = layout "((4,2)):((1,8))"

  it("has the value of every form of a coordinate", function()
    assert.equal(10, A(1, 2))
    assert.equal(10, A { 1, 2 })
    assert.equal(10, A(1, { 0, 1 }))
    assert.equal(10, A { 1, { 0, 1 } })
    assert.equal(10, A(9))
    assert.equal(9, rank1(5))
    assert.equal(9, rank1 { 5 })
    assert.equal(9, rank1 { 1, 1 })
    assert.equal(9, rank1 { { 1, 1 } })
    assert.equal(6, layout(4, 2) { 3 })
    assert.equal(0, layout {} ())
  end)

  it("goes on beyond the last mode; at() does not", function()
    assert.equal(14, layout(4, 2)(7))
    assert.equal(6, layout(4, 2):at(3))
    assert.has_error(function() layout(4, 2):at(4) end)
    assert.has_error(function() layout { 4, 4 }:at(0, 4) end)
    assert.has_error(function() layout { 4, 4 }:at(-1, 0) end)
  end)

  it("is a coordinate for a coordinate layout", function()
    local I = tile.make_identity_layout { 4, { 2, 3 } }
    assert.equal("(1,(1,2))", tostring(I(1, { 1, 2 })))
    assert.equal("(0,(1,2))", tostring(I(0, 5)))
  end)

  it("is a slice with _", function()
    assert.equal("(4):(2)", tostring(A(X, 1)))
    assert.equal(A, A(X))
    assert.equal("(4,2):(2,8)", tostring(A(X, { 1, X })))
    local S, offset = A:slice_and_offset { X, { 1, X } }
    assert.equal(A(X, { 1, X }), S)
    assert.equal(1, offset)
  end)
end)

describe("functions and methods", function()
  local A = layout "((2,4),(3,5)):((3,6),(1,24))"

  it("are the same", function()
    for _, row in ipairs {
      { "rank" }, { "depth" }, { "size" }, { "cosize" }, { "shape" }, { "stride" }, { "flatten" },
      { "coalesce" }, { "composition", layout(8, 2) }, { "logical_divide", { 2, 3 } },
      { "zipped_divide", { 2, 3 } }, { "tiled_divide", { 2, 3 } }, { "flat_divide", { 2, 3 } },
      { "group", 1, 2 }, { "select", 2, 1 }, { "take", 1, 1 }, { "get", 2, 1 },
      { "make_layout_like" }, { "congruent", A }, { "print_layout" }, { "at", 5 },
    } do
      local name = row[1]
      row[1] = A
      assert.is_true(tile[name](table.unpack(row)) == A[name](table.unpack(row)), name)
    end
    for _, row in ipairs { { "slice", { 1, X } }, { "crd2idx", { 1, 7 } }, { "idx2crd", 17 } } do
      local name, c = row[1], row[2]
      assert.is_true(tile[name](c, A) == A[name](A, c), name)
    end
  end)

  it("ask one mode: its number, or the path to it", function()
    for _, name in ipairs { "rank", "depth", "size", "shape", "stride", "cosize", "coshape" } do
      assert.is_true(A[name](A, 2, 1) == A[name](A:get(2, 1)), name)
      assert.is_true(A[name](A, { 2, 1 }) == A[name](A:get(2, 1)), name)
      assert.is_true(tile[name](A, 1, nil) == A[name](A:get(1)), name)
    end
    assert.equal(6, tile.size({ 4, { 2, 3 } }, 2))
    assert.equal(15, tile.tensor("u8", A):size(2))
    local S = layout "Sw<2,0,3> o 0 o ((2,4),8):((1,2),8)"
    assert.equal("4 1 (2,4) 8", table.concat({ S:size(1, 2), S:depth(1), tostring(S:shape(1)),
                                               S:cosize(1) }, " "))
  end)

  it("answer for tuples too", function()
    local t = parse "(4,(2,3))"
    assert.same({ 2, 2, 24 }, { tile.rank(t), tile.depth(t), tile.size(t) })
    assert.equal("(4,2,3)", tostring(tile.flatten(t)))
    assert.equal("((2,3),4)", tostring(tile.select(t, 2, 1)))
    assert.equal(3, tile.get(t, 2, 2))
    assert.equal(3, tile.get(t, { 2, 2 }))
    assert.equal("((4,(2,3)))", tostring(tile.group(t, 1, 2)))
    assert.is_true(tile.congruent(t, A:select(1, 2):shape()) == false)
    assert.is_true(tile.congruent(t, { 1, { 1, 1 } }))
    assert.equal(7, tile.size(7))
  end)

  it("give and take plain tables", function()
    local t = A:shape()
    assert.equal("table", type(t))
    assert.equal(2, #t)
    assert.equal(3, t[2][1])
    t[2] = 7
    assert.equal("((2,4),7):((1,2),8)", tostring(layout(t)))
    assert.equal("((2,4),(3,5))", tostring(A:shape()))
  end)
end)
