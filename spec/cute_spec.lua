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
  { "ArithTuple(0,_128) o (4,3):(_1@0,_1@1)", "(4,131):(1@0,1@1) o 512 o (4,3):(1,4)" },
  { "counting_iter(42) o (4,5):(_1,4)", "Sw<0,0,0> o 42 o (4,5):(1,4)" },
  { "counting_iter(_0) o (4,5):(_1,4)", "(4,5):(1,4)" },
  { "counting_iter(-7) o 4:1", "Sw<0,0,0> o -7 o 4:1" },
  { "counting_iter(42) o (4,3):(_1@0,_1@1)", "(46,3):(1@0,1@1) o 42 o (4,3):(1,46)" },
}

--  a value, as C++, in CuTe's DSL, in pycute (nil: it has none)
local WRITTEN = {
  { layout { 4, { 2, 2 } }, "Layout<Shape<_4,Shape<_2,_2>>,Stride<_1,Stride<_4,_8>>>",
    "cute.make_layout((4, (2, 2)), stride=(1, (4, 8)))", "Layout((4, (2, 2)), (1, (4, 8)))" },
  { layout(1000, -3), "Layout<Int<1000>,Int<-3>>", "cute.make_layout(1000, stride=-3)",
    "Layout(1000, -3)" },
  { layout { 4 }, "Layout<Shape<_4>,Stride<_1>>", "cute.make_layout((4,), stride=(1,))",
    "Layout((4,), (1,))" },
  { tile.parse "((16))", "Shape<Shape<_16>>", "((16,),)", "((16,),)" },
  { tile.parse "(((3),3))", "Shape<Shape<Shape<_3>,_3>>", "(((3,), 3),)", "(((3,), 3),)" },
  { tile.parse "(_,32)", "Shape<Underscore,_32>", "(None, 32)", "(None, 32)" },
  { tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f16"),
    "ComposedLayout<Swizzle<3,3,3>,_0,Layout<Shape<_8,_64>,Stride<_64,_1>>>",
    "cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), "
    .. "stride=(64, 1)))",
    "ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))" },
  { layout "(4,(2,3)):(2@0,(1@0@1,1@1@1))",
    "Layout<Shape<_4,Shape<_2,_3>>,Stride<ScaledBasis<_2,0>,Stride<ScaledBasis<_1,1,0>,"
    .. "ScaledBasis<_1,1,1>>>>",
    "cute.make_layout((4, (2, 3)), stride=(cute.ScaledBasis(2, [0]), (cute.ScaledBasis(1, [1, 0]), "
    .. "cute.ScaledBasis(1, [1, 1]))))" },
  { tile.parse "(4,(8,3))", "Shape<_4,Shape<_8,_3>>", "(4, (8, 3))", "(4, (8, 3))" },
  { tile.swizzle(3, 4, -3), "Swizzle<3,4,-3>", "cute.make_swizzle(3, 4, -3)", "Swizzle(3, 4, -3)" },
}

local MMA = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = { 2, 2 },
                             permutation = { layout({ 8, 4 }, { 1, 8 }), 32 } }
local DECLARED = {
  { MMA, "Mma", "using Mma = TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>,"
    .. "Layout<Shape<_2,_2,_1>,Stride<_1,_2,_0>>,"
    .. "Tile<Layout<Shape<_8,_4>,Stride<_1,_8>>,_32,Underscore>>;\n"
    .. "static_assert(size(Mma{}) == 128);\nstatic_assert(tile_size<0>(Mma{}) == 32);\n"
    .. "static_assert(tile_size<1>(Mma{}) == 32);\nstatic_assert(tile_size<2>(Mma{}) == 16);" },
  { tile.tiled_mma { atom = "SM90_64x8x16_F32F16F16_SS" }, "A",
    "MMA_Atom<SM90_64x8x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>>" },
  { tile.tiled_mma { atom = "SM90_64x8x32_F32E4M3E4M3_SS_TN" }, "A",
    "MMA_Atom<SM90_64x8x32_F32E4M3E4M3_SS_TN<>>" },
  { tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", MMA), "A",
    "TiledCopy<Copy_Atom<SM75_U32x4_LDSM_N,uint_bit_t<16>>,Layout<" },
  { layout({ 2, 3 }, "right"), "Row", "// (2,3):(3,1)\n"
    .. "using Row = Layout<Shape<_2,_3>,Stride<_3,_1>>;\n" .. "static_assert(size(Row{}) == 6);\n"
    .. "static_assert(Row{}(0) == 0 && Row{}(1) == 3 && Row{}(2) == 1 && Row{}(3) == 4);\n"
    .. "static_assert(Row{}(4) == 2 && Row{}(5) == 5);" },
}

--  other values than layouts
local VALUES = {
  { "make_shape(2,Int<3>{})", "(2,3)" }, { "cute::tuple<cute::C<2>, cute::tuple<>>", "(2,())" },
  { "Swizzle<3,4,3>{}", "Sw<3,4,3>" }, { "cute::Swizzle<3, 4, 3>", "Sw<3,4,3>" },
  { "E<>{}", "1" }, { "E<0>{}", "1@0" }, { "ScaledBasis<Int<2>,0,1>", "2@1@0" },
  { "cute.ScaledBasis(2, [0])", "2@0" },
  { "(4,)", "(4)" }, { "ScaledBasis<_0,3>", "0" }, { "Int<5>{}", "5" }, { "cute::_128", "128" },
  { "Tile<_32,Layout<Shape<_2,_4>,Stride<_4,_1>>,cute::Underscore>", "(32:1,(2,4):(4,1),_)" },
}

--  the text, a part of what is said
local REFUSED = {
  { "(?,4):(1,2)", "a number expected: `?` is known at launch only" },
  { "(?,4):(1,2)", "tile.parse(text, n, ...) puts numbers there" },
  { "ArithTuple(0,_128) o (4,3):(_4,_1)", "(4,3):(4,1) has no coordinates" },
  { "ArithTuple(0,-1) o (4,3):(_1@0,_1@1)", "goes below 0" },
  { "ArithTuple(0,(1,2)) o (4,3):(_1@0,_1@1)", "have not one shape" },
  { "ArithTuple(0,", "is not closed" },
  { "ptr(0) o ptr(0) o 3:1", "one pointer expected before this" },
  { "Sw<3,0,3> o smem_ptr[16b](unset) o (8,64):(64,1)",
    "a swizzle that keeps the bytes of an element together expected" },
  { "Sw<3,4,3> o smem_ptr[12b](unset) o (8,64):(64,1)", "a power of two up to 1024" },
  { "Sw<3,4,3>_smem_ptr(0) o (8,64):(64,1)", "bits of an element" },
  { "make_layout(make_shape(2,3), make_stride(3,1)",
    "the parenthesis at character 12 is not closed" },
  { "Layout<Shape<_2,_4>,Stride<_1>>", "stride (1) is not congruent with shape (2,4)" },
  { "Layout<Shape<_2,int>>", "integer expected" }, { "Layout<Shape<_2,_4>", "',' or '>' expected" },
  { "ComposedLayout<_2,_0,Layout<_2>>", "Swizzle<B,M,S> or a layout expected" },
  { "smem_ptr[16](0) o 4:1", "'b]' expected" }, { "smem_ptr[16b](0", "is not closed" },
  { "Int<2", "'>' expected" }, { "E<0,0,0,0,0,0,0,0>", "at most 7 indices" },
  { "E<256>", "0 to 255" },
  { "(4,,)", "expected" }, { "(,)", "expected" }, { "cute.ScaledBasis(2, 0)", "'[' expected" },
  { "std::tuple<_2>", "value expected" },
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

  for _, row in ipairs(WRITTEN) do
    it("are written of " .. tostring(row[1]), function()
      for i, form in ipairs { "type", "dsl", "pycute" } do
        local ok, text = pcall(tile.cute, row[1], form)
        assert.equal(row[i + 1], ok and text or nil)
        if ok then assert.equal(row[1], tile.parse(text)) end
      end
      assert.truthy(tile.cute(row[1]):find("using A = " .. row[2] .. ";", 1, true))
    end)
  end

  for i, row in ipairs(DECLARED) do
    it("declare and assert, " .. i, function()
      local text = tile.cute(row[1], "cpp", row[2])
      assert.truthy(text:find(row[3], 1, true), text)
    end)
  end

  it("have numbers in place of `?`", function()
    assert.equal("(8,4):(1,12)", tostring(tile.parse("(?,4):(1,?)", 8, 12)))
    assert.equal("(8,4):(1,12)", tostring(tile.parse("(?{i64},4):(1,?{i64 div=4})", 8, 12)))
    assert.equal("(8,2):(2,1)",
                 tostring(tile.parse("gmem_ptr[32b](0x7f) o (?,_2):(_2,_1)", 8)))
    assert.has_error(function() tile.parse("(?,4):(1,?)", 8) end,
                     "parse: the text has more `?` than the 1 given")
    assert.has_error(function() tile.parse("(?,4):(1,2)", 8, 9) end,
                     "parse: the text has 1 `?`, not the 2 given")
  end)

  it("are written of atoms, with their layouts", function()
    local mma = tile.mma_atom "SM80_16x8x16_F32F16F16F32_TN"
    local copy = tile.copy_atom("SM75_U32x4_LDSM_N", 16)
    assert.equal("MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>", tile.cute(mma, "type"))
    assert.equal("Copy_Atom<SM75_U32x4_LDSM_N,uint_bit_t<16>>", tile.cute(copy, "type"))
    local text = tile.cute(mma, "cpp", "Mma")
    for _, line in ipairs { "static_assert(size<2>(typename Mma::Shape_MNK{}) == 16);",
                            "static_assert(size(typename Mma::LayoutC_TV{}) == 128);" } do
      assert.truthy(text:find(line, 1, true), text)
    end
    assert.truthy(tile.cute(copy):find("typename A::ValLayoutDst{}(1) == 2", 1, true))
    assert.truthy(tile.cute(tile.mma_atom "SM90_64x64x16_F32F16F16_SS", "type")
                  :find("SM90_64x64x16_F32F16F16_SS<GMMA::Major::K,GMMA::Major::K>", 1, true))
  end)

  it("say what older versions of CUTLASS have otherwise", function()
    local name = "SM100_MMA_F8F6F4_SS<float_e4m3_t,float_e4m3_t,float,64,128,K,MN>"
    local atom, mma = tile.mma_atom(name), tile.tiled_mma { atom = name }
    local major = "UMMA::Major::K,UMMA::Major::MN"
    local now = "SM100_MMA_F8F6F4_SS<float_e4m3_t,float_e4m3_t,float,64,128," .. major .. ">"
    local before = "MMA_Traits<SM100_MMA_F8F6F4_SS,float_e4m3_t,float_e4m3_t,float,C<64>,C<128>,"
                   .. "integral_constant<UMMA::Major,UMMA::Major::K>,"
                   .. "integral_constant<UMMA::Major,UMMA::Major::MN>,"
                   .. ("integral_constant<UMMA::ScaleIn,UMMA::ScaleIn::One>,"):rep(2):sub(1, -2)
                   .. ">"
    local guarded = "#if defined(CUTLASS_VERSION) && CUTLASS_VERSION < 451  // <cutlass/version.h>"
                    .. "\nusing A = %s;\n#else\nusing A = %s;\n#endif\nstatic_assert("
    for _, row in ipairs { { atom, "MMA_Atom<%s>" }, { mma, tile.cute(mma, "type"):gsub(
                             "MMA_Atom<.->>", "MMA_Atom<%%s>") } } do
      local x, around = table.unpack(row)
      local text = guarded:format(around:format(before), around:format(now))
      assert.equal(text, tile.cute(x):sub(1, #text))
      assert.equal(around:format(now), tile.cute(x, "type"))
    end
    assert.truthy(tile.cute(mma, "header"):find("#include <cutlass/version.h>", 1, true))
    assert.falsy(tile.cute(MMA):find("CUTLASS_VERSION", 1, true))
  end)

  it("are written of kernels, as a header too", function()
    local kernel = tile.kernel { mma = MMA, tile = { 64, 64, 64 } }
    local text = tile.cute(kernel, "header", "Gemm")
    for _, line in ipairs {
      "#pragma once\n#include <cute/tensor.hpp>", "struct Gemm {",
      "  using TileShape = Shape<_64,_64,_64>;", "  static constexpr int Stages = ",
      "  using SmemLayoutB = ", "  using GmemCopyA = TiledCopy<Copy_Atom<SM80_CP_ASYNC_",
      "static_assert(size(typename Gemm::TiledMma{}) == " .. MMA:size() .. ");",
      "\n}  // namespace moontile",
    } do
      assert.truthy(text:find(line, 1, true), text)
    end
    local hopper = tile.kernel { mma = tile.tiled_mma { atom = "SM90_64x64x16_F32BF16BF16_SS" },
                                 tile = { 64, 64, 64 }, schedule = "cooperative" }
    assert.truthy(tile.cute(hopper):find("using GmemCopyA = SM90_TMA_LOAD;", 1, true))
    assert.has_error(function() tile.cute(kernel, "dsl") end)
    for _, one in ipairs(tile.kernels { arch = 80 }) do assert.is_string(tile.cute(one)) end
  end)

  it("are not written of what CuTe has not", function()
    assert.error(function() tile.cute(layout "(4,2):(F1,F2)") end,
                 "cute: (4,2):(F1,F2) has strides of F2, which CuTe has not")
    assert.error(function() tile.cute(tile._) end, "cute: a layout, a tuple, a swizzle, an atom, a "
                 .. "tiled copy, a tiled MMA or a kernel expected, got _")
    assert.error(function() tile.cute(layout(4), "c") end,
                 'cute: "cpp", "header", "type", "dsl", "pycute" or "print" expected, got c')
    assert.error(function() tile.cute(layout(4), "cpp", "a b") end,
                 "cute: a name of C++ expected, got a b")
    assert.error(function() tile.cute(MMA, "pycute") end,
                 "cute: pycute has no text for " .. tostring(MMA))
  end)

  it("of random layouts are read as what they were written of", function()
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())
    local random = math.random
    local function shape(depth)
      if depth > 1 or random(3) > 1 then return ({ 1, 2, 3, 4, 5, 8, 10, 0 })[random(8)] end
      local t = {}
      for i = 1, random(0, 3) do t[i] = shape(depth + 1) end
      return t
    end
    local function strides(s)
      if type(s) ~= "table" then return ({ 0, 1, 2, 3, 8, 17, 64, -3 })[random(8)] end
      local t = {}
      for i = 1, #s do t[i] = strides(s[i]) end
      return t
    end
    for i = 1, math.floor(1000 * (tonumber(os.getenv "MOONTILE_TIMES") or 1)) do
      local s = { shape(0), shape(0) }
      local A = i % 7 == 0 and tile.make_identity_layout(s) or layout(s, strides(s))
      local w = tile.swizzle(random(0, 3), random(0, 4), 3)
      local ok, swizzled = pcall(function() return w * A end)
      if i % 4 == 0 and ok then A = swizzled end
      assert.equal(A, layout(tile.cute(A, "type")))
      assert.equal(A, layout(tile.cute(A, "dsl")))
      if i % 7 > 0 then assert.equal(A, layout(tile.cute(A, "pycute"))) end
    end
  end)

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
