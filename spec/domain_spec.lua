-- domain_spec.lua: shapes as a lattice, sums of layouts, XOR strides, contractions as views.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse = tile.layout, tile.parse

-- Rows of texts: f of all but the last is the last.
local function table_of(name, f, rows)
  describe(name, function()
    for _, row in ipairs(rows) do
      local args = {}
      for i = 1, #row - 1 do args[i] = parse(row[i]) end
      it(("of %s is %s"):format(table.concat(row, ", ", 1, #row - 1), row[#row]), function()
        assert.equal(row[#row], tostring(f(table.unpack(args))))
      end)
    end
  end)
end

-- Rows of code and the error that it raises.
local function refusals(rows)
  local env = setmetatable({ tile = tile, layout = layout, parse = parse }, { __index = _G })
  for _, row in ipairs(rows) do
    it(row[1] .. " is refused", function()
      local ok, why = pcall(assert(load("local x = " .. row[1] .. " return x", "=row", "t", env)))
      assert.is_false(ok)
      assert.equal("row:1: " .. row[2], why)
    end)
  end
end

table_of("the common refinement", tile.common_refinement, {
  { "12",                "12",                 "12" },
  { "12",                "(3,4)",              "(3,4)" },
  { "24",                "(24)",               "(24)" },
  { "((2,2),(8,4))",     "(4,((4,2),4))",      "((2,2),((4,2),4))" },
  { "1",                 "()",                 "()" },
  { "(4,(2,3)):(1,(4,8))", "(4,6)",            "(4,(2,3))" },
})

table_of("the common coarsening", tile.common_coarsening, {
  { "12",                "12",                 "12" },
  { "((2,2),4,8)",       "(4,(2,2),(2,4))",    "(4,4,8)" },
  { "(2,3)",             "(3,2)",              "6" },
  { "(2,(3,4))",         "(2,(6,2))",          "(2,12)" },
  { "(2,(3,4))",         "(2,(3,4))",          "(2,(3,4))" },
  { "()",                "(1,1)",              "1" },
})

table_of("the greatest common domain", tile.greatest_common_domain, {
  { "(8,2,6)",           "(2,16,3)",           "(2,4,2,2,3):(1,2,8,16,32)" },
  { "(3,2,6)",           "(2,12)",             "(2):(6)" },
  { "(2,3,10)",          "(5,24)",             "(2):(30)" },
  { "(4,6,2)",           "(6,1,4)",            "(2,2):(1,12)" },
  { "(8,3)",             "(5,16)",             "(1):(0)" },
  { "4",                 "6",                  "(2):(1)" },
  { "(4,6):(6,1)",       "24",                 "(4,6):(1,4)" },
})

table_of("a sum", tile.layout_add, {
  { "4:1",               "4:48",               "4:49" },
  { "(2,15):(5,1)",      "(10,1,3):(1,10,10)", "(2,15):(6,3)" },
  { "(2,32):(1,2)",      "64:1",               "64:2" },
  { "6:1",               "(3,2):(0,-3)",       "(3,2):(1,0)" },
  { "(2,3):(1,5)",       "(2,3):(2,-5)",       "(2,3):(3,0)" },
  { "(4,3):(1,5)",       "(4,3):(0,-1)",       "12:1" },       -- the two bends cancel out
  { "4:1",               "4:-1",               "4:0" },
  { "0:3",               "(0,4):(1,1)",        "0:0" },
  { "12:1@0@1",          "12:1@2",             "12:1@0@1+1@2" },
  { "(2,3):(1@0,2@1)",   "6:1@0",              "(2,3):(2@0,2@0+2@1)" },
  { "8:F9",              "8:F5",               "8:F12" },
  { "8:F9",              "(2,4):(F1,F2)",      "8:F8" },
  { "8:F9",              "(2,4):(F1,F4)",      "(2,4):(F8,F22)" },
  { "6:0",               "(3,2):(F2,F4)",      "(3,2):(F2,F4)" },
})

describe("sums", function()
  refusals {
    { 'tile.layout_add(layout "(2,3):(1,5)", layout "(3,2):(1,7)")',
      "layout_add: no layout R has R(i) = A(i) + B(i) for A = (2,3):(1,5), B = (3,2):(1,7)\n"
      .. "  the modes of R would have to end at i = 2 and at i = 3, and 2 does not divide 3;"
      .. " at i = 3 the sum is 13, a layout would have 9" },
    { 'tile.layout_add(layout(8), layout(9))', "layout_add: 8:1 has 8 elements, 9:1 has 9" },
    { 'tile.layout_add(layout "4:3@0", layout "4:3@1@0")',
      "layout_add: the strides of 4:3@0 and of 4:3@1@0 lie in different spaces" },
    { 'tile.layout_add(layout "4:1", layout "4:F1")',
      "layout_add: the strides of 4:1 and of 4:F1 are of different kinds" },
    { 'tile.layout_add(layout "9:F1", layout "(3,3):(F2,F4)")',
      "layout_add: no layout was found for A(i) xor B(i), A = 9:F1, B = (3,3):(F2,F4)\n"
      .. "  it would cut 9:F1, what is left of a mode, at 3: over F2 that takes a power of two" },
    { 'tile.layout_add(layout "(2,6):(F1,F4)", layout "(3,4):(F2,F4)")',
      "layout_add: no layout was found for A(i) xor B(i), A = (2,6):(F1,F4), B = (3,4):(F2,F4)\n"
      .. "  it would cut 3:F2, what is left of a mode, at 2, which does not divide it" },
    { 'tile.layout_add(layout "Sw<2,0,2> o 0 o 16:1", layout(16))',
      "layout_add: of the swizzled layout Sw<2,0,2> o 0 o 16:1" },
    { 'tile.common_refinement({ 4, 8, 6 }, { 2, 6, 2 })',
      "common_refinement: there is none of (4,8,6) and (2,6,2)\n"
      .. "  where one has 4, the other has 2" },
    { 'tile.common_refinement({ 4, { 2, 3 } }, { 4, { 2, 3, 1 } })',
      "common_refinement: there is none of (4,(2,3)) and (4,(2,3,1))\n"
      .. "  where one has (2,3), the other has (2,3,1): tuples of 2 and of 3 modes" },
    { 'tile.common_coarsening({ 2, 2 }, 5)',
      "common_coarsening: there is none of (2,2) and 5\n"
      .. "  where one has (2,2), the other has 5: their sizes are 4 and 5" },
    { 'tile.greatest_common_domain({ 2, 0 }, { 2, 3 })',
      "greatest_common_domain: (2,0) has an extent of 0" },
    { 'tile.greatest_common_domain({ 1 << 40, 1 << 40 }, 2)',
      "greatest_common_domain: the size of (1099511627776,1099511627776) leaves 64 bits" },
  }
end)

-- ---------------------------------------------------------------- XOR strides

table_of("over F2 coalesce", tile.coalesce, {
  { "(4,2):(F1,F4)",         "8:F1" },
  { "(4,2):(F3,F12)",        "8:F3" },
  { "(3,2):(F1,F3)",         "(3,2):(F1,F3)" },      -- 3 is no power of two: 1 x 3 is not 3*1
  { "(2,1,4):(F1,F7,F4)",    "(2,4):(F1,F4)" },
  { "(1,1):(F3,F1)",         "1:F0" },
})

table_of("over F2 the composition", tile.composition, {
  { "(2,4):(F17,F1)", "(4,2):(1,4)", "((2,2),2):((F17,F1),F2)" },
  { "(2):(F17)", "2:4", "2:F68" },
  { "(4,4,8):(F2,F1,F16)", "((8,8),8):((8,1),64)", "(((2,4),(4,2)),8):(((F2,F16),(F2,F1)),F64)" },
  { "8:F9", "(2,2):(1,2)", "(2,2):(F9,F18)" },
  { "8:F9", "2:3", "2:F27" },                        -- 3 x 9 is 27 for one step
  { "64:F1", "4:5", "4:F5" },                        -- 5 and 10 share no bits
  { "(4,4):(F1,F4)", "1:7", "1:F7" },
  { "(4,4):(F1,F4)", "4:0", "4:0" },
})

table_of("over F2 the right inverse", tile.right_inverse, {
  { "(8,8):(F9,F1)",                 "(8,8):(F8,F9)" },
  { "(2,4):(F6,F1)",                 "(4,2):(F2,F5)" },
  { "(2,4,4):(F5,F1,F10)",           "(4,2,2,2):(F2,F3,F12,F19)" },
  { "((2,4),4,8):((F32,F80),F1,F4)", "(32,2,4):(F8,F1,F130)" },
  { "(4,8):(F24,F2)",                "1:0" },
})

table_of("over F2 the left inverse", tile.left_inverse, {
  { "(8,8):(F9,F1)",                 "(8,8):(F8,F9)" },
  { "2:F2",                          "(2,2):(F0,F1)" },
  { "(2,2):(F3,F2)",                 "(2,2):(F3,F2)" },
  { "(4,2):(F0,F1)",                 "2:F4" },
})

table_of("a swizzle as F2 strides", tile.swizzle_to_f2, {
  { "Sw<1,0,2>", "128", "(8,8):(1,8)", "((4,2),8):((F1,F5),F8)" },
  { "Sw<3,0,3>", "0",   "8:1",         "8:F1" },
  { "Sw<3,4,3>", "0",   "(8,64):(64,1)", "((2,4),64):((F64,F144),F1)" },
})

describe("F2 values", function()
  it("are values and coordinates", function()
    local A = layout "(4,2):(F1,F5)"
    local seen = {}
    for i = 0, 7 do seen[i + 1] = tostring(A(i)) end
    assert.equal("F0 F1 F2 F3 F5 F4 F7 F6", table.concat(seen, " "))
    assert.equal(A(5), A(1, 1))
    assert.equal(A(5), A(parse "F5"))
    assert.equal(6, layout "(4,2):(1,4)"(parse "F6"))
    assert.equal(parse "F12", parse "F9" + parse "F5")
    assert.equal(64, tile.coshape(layout "(4,8):(F16,F5)"))
    assert.equal("(F1,F5)", tostring(A:stride()))
    assert.equal(A, layout({ 4, 2 }, { parse "F1", parse "F5" }))
  end)

  it("are kept where no layout has them: A(B(i)), whose steps share bits or carry", function()
    for _, row in ipairs {
      { "8:F9", "4:6", "8:F9 o 0 o 4:6", "F0 F54 F108 F130" },
      { "(8,8):(F1,F1)", "(8,8):(4,1)", "(8,8):(F1,F1) o 0 o (8,8):(4,1)", "F0 F4 F1 F5" },
    } do
      local R, values = tile.composition(layout(row[1]), layout(row[2])), {}
      assert.equal(row[3], tostring(R))
      for i = 0, 3 do values[i + 1] = tostring(R(i)) end
      assert.equal(row[4], table.concat(values, " "))
    end
  end)

  it("undo what they do", function()
    for _, text in ipairs { "(8,8):(F9,F1)", "(2,4,4):(F5,F1,F10)", "(2,(2,8)):(F6,(F1,F24))" } do
      local A = layout(text)
      local R, L = A:right_inverse(), A:left_inverse()
      for i = 0, tile.size(R) - 1 do assert.equal(parse("F" .. i), A(R(i))) end
      for i = 0, tile.size(A) - 1 do assert.equal(A(i), A(L(A(i)))) end
    end
  end)

  refusals {
    { 'tile.composition(layout "8:F9", layout "8:-1")',
      "composition: A = 8:F9 has no values below 0, where 0 + 8:-1 goes" },
    { 'tile.composition(layout "(3,4):(4,1)", layout "8:F1")',
      "composition: the values of B = 8:F1 are over F2, and the extent 3 of A = (3,4):(4,1) is no"
      .. " power of two: they have no digits there" },
    { 'tile.composition(layout "(4,4):(F1,F1)", layout "2:1@0+1@1")',
      "composition: B = 2:1@0+1@1 has a stride that is a sum, A = (4,4):(F1,F1) is over F2" },
    { 'tile.right_inverse(layout "(3,4):(F1,F4)")',
      "right_inverse: over F2 the extents have to be powers of two, but for the last, and"
      .. " (3,4):(F1,F4) has 3: an index is no word of bits" },
    { 'tile.domain_offset({ 1, 1 }, layout "(2,4):(F1,F2)")',
      "domain_offset: (2,4):(F1,F2) has F2 strides: A(c + d) is not A(c) xor A(d)" },
    { 'tile.cosize(layout "(2,4):(F1,F2)")',
      "cosize: the strides of (2,4):(F1,F2) are no integers" },
    { 'layout "(2,4):(F1,2)"', "layout: integer strides beside F2 strides in (2,4):(F1,2)" },
    { 'layout "(2,4):(F1,2@0)"', "layout: F2 strides beside basis elements in (2,4):(F1,2@0)" },
    { 'layout "4:F1@0"', 'parse: a lone F2 value expected at character 5, near "4:F1@0"' },
    { 'layout "4:F4611686018427387904"',
      "parse: the F2 value before character 23 needs more than 62 bits" },
    { 'layout "F4:1"', "layout: a shape holds integers and tuples of them, not F4" },
    { 'layout "8:F4611686018427387903"', "layout: an offset leaves 64 bits" },
    { 'layout "(3,2):(1,3)"(parse "F2")',
      "the extent 3 of (3,2):(1,3) is no power of two: the F2 coordinate F2 has no digits"
      .. " there" },
    { 'layout "(4,2):(F1,F4)"(1 << 62)', "call: an offset of (4,2):(F1,F4) leaves 64 bits" },
    { 'parse "F9" + 1', "add: F2 values expected, got F9 and 1" },
    { 'tile.swizzle_to_f2(parse "Sw<2,0,2>", 0, layout "(3,4):(1,4)")',
      "swizzle_to_f2: the mode 3:1 has an extent that is no power of two: its values are no xor of"
      .. " their bits" },
    { 'tile.swizzle_to_f2(parse "Sw<2,0,2>", 0, layout "(4,4):(1,-4)")',
      "swizzle_to_f2: the mode 4:-4 has a negative stride: its values are no xor of their bits" },
    { 'tile.swizzle_to_f2(parse "Sw<2,0,2>", 1, layout "(4,4):(1,4)")',
      "swizzle_to_f2: the step 1 of mode 4:1 shares bits with the offset or with steps before it:"
      .. " their sum carries, it is not their xor" },
    { 'tile.swizzle_to_f2(parse "Sw<6,2,10>", 1, layout "2:9223372036854775807")',
      "swizzle_to_f2: the step 9223372036854775807 of mode 2:9223372036854775807 shares bits with"
        .. " the offset or with steps before it: their sum carries, it is not their xor" },
    { 'tile.swizzle_to_f2(parse "Sw<2,0,2>", -1, layout(4))',
      "swizzle_to_f2: the offset -1 is negative" },
    { 'tile.swizzle_to_f2(parse "Sw<2,0,2>", 0, layout "4:F1")',
      "swizzle_to_f2: the strides of 4:F1 are no integers" },
  }
end)

-- ---------------------------------------------------------------- contractions and convolutions

-- sum over k of A(m,k,l) * B(n,k,l) of the offsets themselves, by the folded layouts.
local function contract(A, B, C)
  local sums = {}
  for l = 0, tile.size(A[3]) - 1 do
    for m = 0, tile.size(A[1]) - 1 do
      for n = 0, tile.size(B[1]) - 1 do
        local sum = 0
        for k = 0, tile.size(A[2]) - 1 do sum = sum + A(m, k, l) * B(n, k, l) end
        sums[C(m, n, l)] = sum
      end
    end
  end
  return sums
end

describe("einsum_fold", function()
  local function fold(expression, ...)
    local texts = {}
    for i, A in ipairs { tile.einsum_fold(expression, ...) } do texts[i] = tostring(A) end
    return table.concat(texts, " ")
  end

  it("makes matrix products of contractions", function()
    assert.equal("(64,32,1):(32,1,0) (48,32,1):(1,48,0) (64,48,1):(48,1,0)",
      fold("mk,kn->mn", layout({ 64, 32 }, "right"), layout({ 32, 48 }, "right"),
           layout({ 64, 48 }, "right")))
    assert.equal("((2,5),(4,6),3):((1,24),(6,120),2) (7,(4,6),3):(1,(126,21),7)"
                 .. " ((2,5),7,3):((1,42),6,2)",
      fold("stupr,qtru->stqp", layout { 2, 3, 4, 5, 6 }, layout { 7, 3, 6, 4 },
           layout { 2, 3, 7, 5 }))
    assert.equal("(1,16,1):(0,1,0) (1,16,1):(0,2,0) (1,1,1):(0,0,0)",
      fold(" i, i -> ", layout(16), layout(16, 2), layout {}))
  end)

  it("sums what the expression sums", function()
    local X, Y = layout({ 2, 3, 4, 5 }, "right"), layout({ 5, 2, 4 }, "left")
    local Z = layout({ 2, 3, 2 }, "right")
    local sums = contract(tile.einsum_fold("abcd,dec->abe", X, Y, Z))
    for a = 0, 1 do for b = 0, 2 do for e = 0, 1 do
      local sum = 0
      for c = 0, 3 do for d = 0, 4 do sum = sum + X(a, b, c, d) * Y(d, e, c) end end
      assert.equal(sum, sums[Z(a, b, e)])
    end end end
  end)

  refusals {
    { 'tile.einsum_fold("mk,nk", layout(4), layout(4), layout(4))',
      'einsum_fold: "mk,nk" is not of the form "mk,nk->mn": letters for the modes of A and of B,'
      .. " then of C" },
    { 'tile.einsum_fold(4)', 'einsum_fold: an expression like "mk,nk->mn" expected' },
    { 'tile.einsum_fold("m,n->mn", layout(4), 5)', "einsum_fold: B: layout expected, got number" },
    { 'tile.einsum_fold("mk,nk->mn", layout { 4, 2 }, layout { 3, 2, 1 }, layout { 4, 3 })',
      'einsum_fold: B = (3,2,1):(1,3,0) has 3 modes, its labels are "nk"' },
    { 'tile.einsum_fold("mm,nk->mn", layout { 4, 4 }, layout { 3, 2 }, layout { 4, 3 })',
      'einsum_fold: the label m stands twice in "mm": a diagonal is a view of its own' },
    { 'tile.einsum_fold("mk,nk->mn", layout { 4, 2 }, layout { 3, 3 }, layout { 4, 3 })',
      "einsum_fold: the label k has size 2 in A, 3 in B" },
    { 'tile.einsum_fold("mkz,nk->mn", layout { 4, 2, 2 }, layout { 3, 2 }, layout { 4, 3 })',
      "einsum_fold: the label z is only in A: sum that mode first" },
  }
end)

describe("im2col", function()
  local A = layout "(2,8,8,3):(192,24,3,1)"

  it("is the matrix of a convolution", function()
    local R, origin = tile.im2col(A, { 3, 3 }, 1, 1)
    assert.equal("((2,(8,8)),((3,3),3)):((192,(24,3)),((24,3),1))", tostring(R))
    assert.equal(-27, origin)
    assert.equal("((2,(4,4)),((3,3),3)):((192,(48,6)),((24,3),1))",
                 tostring((A:im2col(3, 1, 1, 2))))
    assert.equal("((2,(4,4)),((3,3),3)):((192,(24,3)),((48,6),1))",
                 tostring((A:im2col(3, 0, 0, 1, 2))))
  end)

  it("walks through A", function()
    local lower, stride, dilation = { 2, 0 }, { 1, 2 }, { 2, 1 }
    local R, origin = tile.im2col(A, { 2, 3 }, lower, { 0, 1 }, stride, dilation)
    for n = 0, 1 do for c = 0, 2 do for t = 0, 5 do
      local t1, t2 = t % 2, t // 2
      for z = 0, tile.size(R[1][2]) - 1 do
        local z1, z2 = z % 8, z // 8
        local h, w = z1 * 1 + t1 * 2 - 2, z2 * 2 + t2
        local at = 192 * n + 24 * h + 3 * w + c
        assert.equal(at, origin + R({ n, z }, { t, c }))
      end
    end end end
  end)

  it("gives coordinates, to tell the padding", function()
    local R, origin = tile.im2col(tile.make_identity_layout { 1, 4, 2 }, 3, 1, 1)
    assert.equal("((1,(4)),((3),2)):((1@0,(1@1)),((1@1),1@2))", tostring(R))
    assert.same({ 0, -1, 0 }, { origin[1], origin[2], origin[3] })
  end)

  it("cuts a blocked mode where the stencil fits", function()
    assert.equal("((2,(2)),((3),4)):((128,(16)),((16),1))",
                 tostring((tile.im2col(layout "(2,(2,4),4):(128,(4,16),1)", 3, 0, 0, 2, 2))))
  end)

  refusals {
    { 'tile.im2col(layout { 2, 3 }, 2)', "im2col: (N, spatial.., C) expected, got (2,3):(1,2)" },
    { 'tile.im2col(layout "(2,8,8):(F3,F66,F3)", 1)',
      "im2col: the strides of (2,8,8):(F3,F66,F3) are F2: its offsets do not add up" },
    { 'tile.im2col("x", 2)', "im2col: layout expected, got string" },
    { 'tile.im2col(layout { 1, 8, 8, 3 }, { 3 })',
      "im2col: stencil: an integer, or one for each of 2 spatial modes expected" },
    { 'tile.im2col(layout { 1, 8, 8, 3 }, 3, 1, 1, 0)', "im2col: stride[1]: 0 is no integer >= 1" },
    { 'tile.im2col(layout { 1, 8, 8, 3 }, 9)',
      "im2col: the stencil spans 9 elements of spatial mode 1, which has 8 with its padding" },
    { 'tile.im2col(layout "(1,(2,4),4):(128,(4,16),1)", 2, 2, 0, 2, 2)',
      "im2col: spatial mode 1, (2,4):(4,16), is no single mode: what lies before its begin has no"
      .. " offset; lower padding takes a copy" },
    -- the positions and the taps carry into each other: each alone would compose
    { 'tile.im2col(layout "(1,(2,2,2),1):(1,(1,8,64),1)", 4, 0, 2, 2)',
      "composition: no layout R has R(i) = A(B(i)) for A = (2,2,2):(1,8,64), B = (4,4):(2,1)\n"
      .. "  the modes of B carry into each other at the end of A's mode 2 (extent 2): A(B(9)) = 64,"
      .. " where a layout would give 16\n"
      .. "  A would compose with this B if mode 2 had extent 5" },
  }
end)

describe("the right inverse over F2", function()
  -- Past its end A goes on with its last mode, also if that has extent 1.
  for _, text in ipairs { "(4,2,8,1):(F20,F12,F1,F21)", "(4,8,8,1):(F8,F34,F1,F5)" } do
    it("is one of " .. text, function()
      local A = tile.layout(text)
      local R = A:right_inverse()
      for i = 0, R:size() - 1 do assert.equal("F" .. i, tostring(A(R(i)))) end
    end)
  end
end)
