-- cute_spec.lua: CuTe's texts: C++ of layouts and of tuples, what CuTe prints of tensors.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

--  the text, what it is
local READ = {
  { "((_2,(_2,_2)):(_4,(_2,_1)))", "(2,(2,2)):(4,(2,1))" },
  { "Layout<Shape<_2,_4>,Stride<_1,_2>>", "(2,4):(1,2)" },
  { "Layout<Shape<_2,_4>,Stride<_1,_2>>{}", "(2,4):(1,2)" },
  { "Layout<Shape<_2,Shape<_4,_3>>>", "(2,(4,3)):(1,(2,8))" },
  { "Layout<_8,_2>", "8:2" }, { "Layout<_8>", "8:1" },
  { "Layout < Shape < _2 , Int<4> > , Stride < C<4> , _1 > >", "(2,4):(4,1)" },
  { "cute::Layout<cute::tuple<cute::C<2>, cute::C<4>>, cute::tuple<cute::C<1>, cute::C<2>>>",
    "(2,4):(1,2)" },
  { "make_layout(make_shape(2,3), make_stride(3,1))", "(2,3):(3,1)" },
  { "make_layout(make_shape(Int<2>{}, make_shape(_4{}, 3)))", "(2,(4,3)):(1,(2,8))" },
  { "make_layout(Shape<_2,_4>{}, LayoutRight{})", "(2,4):(4,1)" },
  { "make_layout(Shape<_2,_4>{}, GenRowMajor{})", "(2,4):(4,1)" },
  { "make_layout(Shape<_2,_4>{}, LayoutLeft{})", "(2,4):(1,2)" },
  { "Layout((2, 4), (1, 2))", "(2,4):(1,2)" },
  { "(Int<2>, 4):(1, 2)", "(2,4):(1,2)" }, { "(_2{},_4{}):(_1{},_2{})", "(2,4):(1,2)" },
  { "S<3,4,3> o 0 o (8,64):(64,1)", "Sw<3,4,3> o 0 o (8,64):(64,1)" },
  { "Swizzle<3,4,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,4,3> o 0 o (8,64):(64,1)" },
  { "ComposedLayout<Swizzle<3,4,3>,_0,Layout<Shape<_8,_64>,Stride<_64,_1>>>",
    "Sw<3,4,3> o 0 o (8,64):(64,1)" },
  { "cute::ComposedLayout<cute::Swizzle<3, 4, 3>, cute::C<0>, cute::Layout<cute::tuple<cute::C<8>,"
    .. " cute::C<64>>, cute::tuple<cute::C<64>, cute::C<1>>>>", "Sw<3,4,3> o 0 o (8,64):(64,1)" },
  -- what CuTe prints of tensors
  { "gmem_ptr[32b](0x7f2e4c000000) o (2,3):(3,1)", "(2,3):(3,1)" },
  { "ptr[16b](0x1) o (_8,_64):(_64,_1)", "(8,64):(64,1)" },
  { "smem_ptr[16b](unset) o (_2,_3):(_3,_1)", "(2,3):(3,1)" },
  { "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "Sw<3,3,3> o 0 o (8,64):(64,1)" },
  { "Sw<3,4,3>_smem_ptr[32b](0x7f80) o (_8,_32):(_32,_1)", "Sw<3,2,3> o 0 o (8,32):(32,1)" },
  { "Sw<2,4,3> o smem_ptr[8b](unset) o (8,64):(64,1)", "Sw<2,4,3> o 0 o (8,64):(64,1)" },
  { "Sw<1,4,3> o smem_ptr[4b](unset) o (8,64):(64,1)", "Sw<1,5,3> o 0 o (8,64):(64,1)" },
  { "ComposedLayout<Swizzle<3,4,3>,smem_ptr_flag_bits<16>,Layout<Shape<_8,_64>,Stride<_64,_1>>>",
    "Sw<3,3,3> o 0 o (8,64):(64,1)" },
  { "ArithTuple(0,_0) o (4,3):(_1@0,_1@1)", "(4,3):(1@0,1@1)" },
}

--  other values than layouts
local VALUES = {
  { "make_shape(2,Int<3>{})", "(2,3)" }, { "cute::tuple<cute::C<2>, cute::tuple<>>", "(2,())" },
  { "Swizzle<3,4,3>{}", "Sw<3,4,3>" }, { "Int<5>{}", "5" }, { "cute::_128", "128" },
  { "Tile<_32,Layout<Shape<_2,_4>,Stride<_4,_1>>,cute::Underscore>", "(32:1,(2,4):(4,1),_)" },
}

--  the text, a part of what is said
local REFUSED = {
  { "(?,4):(1,2)", "a number expected: `?` is known at launch only" },
  { "ArithTuple(0,_128) o (4,3):(_1@0,_1@1)",
    "zeros expected before this, for a layout begins at 0" },
  { "ptr(0) o ptr(0) o 3:1", "one pointer expected before this" },
  { "Sw<3,0,3> o smem_ptr[16b](unset) o (8,64):(64,1)",
    "a swizzle that keeps the bytes of an element together expected" },
  { "Sw<3,4,3> o smem_ptr[12b](unset) o (8,64):(64,1)", "a power of two up to 1024" },
  { "Sw<3,4,3>_smem_ptr(0) o (8,64):(64,1)", "bits of an element" },
  { "make_layout(make_shape(2,3), make_stride(3,1)",
    "the parenthesis at character 12 is not closed" },
  { "Layout<Shape<_2,_4>,Stride<_1>>", "stride (1) is not congruent with shape (2,4)" },
  { "Layout<Shape<_2,int>>", "integer expected" }, { "Layout<Shape<_2,_4>", "',' or '>' expected" },
  { "ComposedLayout<Layout<_2>,_0,Layout<_2>>", "Swizzle<B,M,S> expected" },
  { "smem_ptr[16](0) o 4:1", "'b]' expected" }, { "smem_ptr[16b](0", "is not closed" },
  { "Int<2", "'>' expected" }, { "std::tuple<_2>", "value expected" },
  { ("ArithTuple(0) o "):rep(100000) .. "4:1", "one pointer expected" },
  { ("Shape<"):rep(100000) .. "4:1", "nested deeper" },
  { ("ComposedLayout<Swizzle<1,1,1>,0,"):rep(100000) .. "4:1", "nests at most" },
}

describe("CuTe's texts", function()
  for _, row in ipairs(READ) do
    it("are layouts: " .. row[1], function() assert.equal(row[2], tostring(layout(row[1]))) end)
  end

  for _, row in ipairs(VALUES) do
    it("are values: " .. row[1], function() assert.equal(row[2], tostring(tile.parse(row[1]))) end)
  end

  for _, row in ipairs(REFUSED) do
    it("are refused: " .. row[1]:sub(1, 60), function()
      local ok, said = pcall(layout, row[1])
      assert.is_false(ok)
      assert.truthy(said:find(row[2], 1, true), said)
    end)
  end

  it("of shared memory are the atoms of their names", function()
    local bits = { f32 = "Sw<3,4,3> o smem_ptr[32b](unset) o (_8,_32):(_32,_1)",
                   f16 = "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
                   u8 = "Sw<3,4,3> o smem_ptr[8b](unset) o (_8,_128):(_128,_1)" }
    for dtype, text in pairs(bits) do
      assert.equal(tile.smem_atom("GMMA::Layout_K_SW128_Atom", dtype), layout(text))
    end
  end)

  it("changed somewhere are read or refused, and what is read is read again", function()
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())
    local times = math.floor(3000 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
    for _ = 1, times do
      local text, other = READ[math.random(#READ)][1], READ[math.random(#READ)][1]
      for _ = 1, math.random(3) do
        local at, from = math.random(#text), math.random(#other)
        text = text:sub(1, at - 1) .. other:sub(from, from + math.random(0, 9))
               .. text:sub(at + math.random(0, 3))
      end
      local ok, value = pcall(tile.parse, text)
      if ok then
        assert.equal(tostring(value), tostring(tile.parse(tostring(value))))
      else
        assert.truthy(type(value) == "string", text)
      end
    end
  end)
end)
