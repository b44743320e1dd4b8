-- dump_spec.lua: tiled MMAs, tiled copies and atoms out of CuTe's texts: what it prints, types of
-- C++, calls of its DSL; and back.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout = tile.layout

-- What cute::print (v4.7.0) prints of TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>,
-- Layout<Shape<_2,_2,_1>>, Tile<_32,Layout<Shape<_8,_4>,Stride<_1,_8>>,_16>>, and of its
-- make_tiled_copy_A with SM75_U32x4_LDSM_N of half_t.
local MMA_TEXT = [[
TiledMMA
  ThrLayoutVMNK:  (_32,_2,_2,_1):(_1,_32,_64,_0)
  PermutationMNK: (_32,(_8,_4):(_1,_8),_16)
MMA_Atom
  ThrID:      _32:_1
  Shape_MNK:  (_16,_8,_16)
  LayoutA_TV: ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))
  LayoutB_TV: ((_4,_8),(_2,_2)):((_16,_1),(_8,_64))
  LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8))]]
local COPY_TEXT = [[
TiledCopy
  Tiler_MN:       (_32,_16)
  TiledLayout_TV: ((_4,_8,_2,_2),((_2,_2,_2),(_1,_1))):((_64,_1,_16,_0),((_32,_8,_256),(_0,_0)))
Copy_Atom
  ThrID:        _32:_1
  ValLayoutSrc: (_32,_8):(_8,_1)
  ValLayoutDst: (_32,(_2,_4)):(_2,(_1,_64))
  ValLayoutRef: (_32,(_2,_4)):(_2,(_1,_64))
  ValueType:    16b]]

local NAME = "SM80_16x8x16_F32F16F16F32_TN"
local MMA = tile.tiled_mma { atom = NAME, atoms = layout { 2, 2, 1 },
                             permutation = { 32, layout({ 8, 4 }, { 1, 8 }), 16 } }
local COPY = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", MMA, "f16")

describe("what CuTe prints", function()
  it("of a tiled MMA is one", function()
    local mma = tile.parse(MMA_TEXT, NAME)
    assert.equal(tostring(MMA), tostring(mma))
    assert.equal(MMA_TEXT, tile.cute(mma, "print"))
    assert.equal("SM80_16x8x16_F16F16F16F16_TN", tile.parse(MMA_TEXT):atom().name)
  end)

  it("of a tiled copy is one", function()
    local copy = tile.parse(COPY_TEXT)
    assert.equal("SM75_U32x4_LDSM_N", copy:atom().name)
    assert.equal(COPY:layout_S_TV(), copy:layout_S_TV())
    assert.equal(COPY_TEXT, tile.cute(copy, "print"))
    assert.equal(COPY_TEXT, tile.cute(COPY, "print"))
  end)

  it("of atoms are atoms", function()
    local atom = tile.parse(MMA_TEXT:match "MMA_Atom.*", NAME)
    assert.equal(tostring(tile.mma_atom(NAME)), tostring(atom))
    assert.equal(tostring(tile.copy_atom("SM75_U32x4_LDSM_N", 16)),
                 tostring(tile.parse(COPY_TEXT:match "Copy_Atom.*" .. "\n")))
  end)

  it("of a thread's part is the thread", function()
    local thread = tile.parse("ThrMMA\n  Thr VMNK: (3,1,0,_0)\n" .. MMA_TEXT .. "\n", NAME)
    assert.equal(tostring(MMA:get_slice(35)), tostring(thread))
    assert.equal(tostring(COPY:get_slice(5)), tostring(tile.parse("ThrCopy\n  ThrIdx: 5\n"
                                                                  .. COPY_TEXT)))
  end)

  it("with an atom that is in no table is one of one's own", function()
    local text = "MMA_Atom\n  ThrID: _32:_1\n  Shape_MNK: (_8,_8,_1)\n  LayoutA_TV: "
      .. "((_8,_4),_1):((_1,_0),_0)\n  LayoutB_TV: ((_8,_4),_2):((_0,_2),_1)\n  LayoutC_TV: "
      .. "((_8,_4),_2):((_1,_16),_8)\n"
    local atom = tile.parse(text, { A = "f16", B = "f16", C = "f32" })
    assert.same({ "own", "f16", "f32" }, { atom.arch, atom.dtype.A, atom.dtype.C })
    assert.equal("f32", tile.parse(text).dtype.A)
    assert.equal(text:gsub(" +", " "), (tile.cute(atom, "print") .. "\n"):gsub(" +", " "))
    local mma = tile.tiled_mma { atom = atom, atoms = layout({ 2, 2 }, "right") }
    local read = tile.parse(tile.cute(mma, "print"))
    assert.equal(mma:layout_C_TV(), read:layout_C_TV())
  end)

  it("with a pair of parentheses too many is read", function()
    local atom = tile.mma_atom "SM80_16x8x128_S32U1U1S32_TN_XORPOPC"
    local text, n = tile.cute(atom, "print"):gsub("%(_16,_8%)%)\n", "((_16,_8)))\n")
    assert.equal(1, n)
    assert.equal(atom.layout_A, tile.parse(text, atom.name).layout_A)
  end)

  it("of quadpairs has threads between its atoms", function()
    local mma = tile.tiled_mma { atom = "SM70_8x8x4_F32F16F16F32_TN", atoms = layout { 2, 2, 1 } }
    local text = tile.cute(mma, "print")
    local vmnk = "((_4,_2),_2,_2,_1):((_1,_16),_4,_8,_0)"
    assert.truthy(text:find("ThrLayoutVMNK:  " .. vmnk, 1, true), text)
    assert.equal(tostring(mma), tostring(tile.parse(text, mma:atom().name)))
  end)

  it("of layouts has underscores", function()
    assert.equal("((_2,_3),_4):((_1,_-2),_0)", tile.cute(layout "((2,3),4):((1,-2),0)", "print"))
    assert.equal("(_4,_8):(_1@0,_2@1@0)", tile.cute(layout "(4,8):(1@0,2@1@0)", "print"))
    assert.equal("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)",
                 tile.cute(tile.parse "Sw<3,4,3> o 0 o (8,64):(64,1)", "print"))
    assert.equal("(_2,(_3,_))", tile.cute(tile.parse "(2,(3,_))", "print"))
  end)
end)

local SM90 = "cute.nvgpu.warpgroup.MmaF16BF16Op(cutlass.BFloat16, cutlass.Float32, (64, 128, 16), "
  .. "cute.nvgpu.warpgroup.OperandSource.SMEM, cute.nvgpu.OperandMajorMode.K, "
  .. "cute.nvgpu.OperandMajorMode.K)"

--  the text, what it is as a text of ours
local READ = {
  { "TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>,Layout<Shape<_2,_2,_1>>,"
    .. "Tile<_32,Layout<Shape<_8,_4>,Stride<_1,_8>>,_16>>", MMA },
  { "cute::TiledMMA<cute::MMA_Atom<cute::MMA_Traits<cute::SM80_16x8x16_F32F16F16F32_TN>>, "
    .. "cute::Layout<cute::tuple<cute::C<2>, cute::C<2>, cute::C<1>>, cute::tuple<cute::C<1>, "
    .. "cute::C<2>, cute::C<0>>>, cute::tuple<cute::C<32>, cute::Layout<cute::tuple<cute::C<8>, "
    .. "cute::C<4>>, cute::tuple<cute::C<1>, cute::C<8>>>, cute::C<16>>>{}", MMA },
  { "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}, "
    .. "Tile<_32,Layout<Shape<_8,_4>,Stride<_1,_8>>,_16>{})", MMA },
  { "cute.make_tiled_mma(cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, "
    .. "(16, 8, 16)), (2, 2, 1), permutation_mnk=(32, cute.make_layout((8, 4), stride=(1, 8)), "
    .. "16))", MMA },
  { "cute.make_tiled_mma(warp.MmaF16BF16Op(ab_dtype=cutlass.Float16, acc_dtype=cutlass.Float32, "
    .. "shape_mnk=(16, 8, 16)), cute.make_layout((2, 2, 1)), (32, cute.make_layout((8, 4), "
    .. "stride=(1, 8)), 16))", MMA },
  { "cute.make_mma_atom(" .. SM90 .. ")", tile.mma_atom "SM90_64x128x16_F32BF16BF16_SS" },
  { "MMA_Atom<SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::MN>>",
    tile.mma_atom "SM90_64x128x16_F32BF16BF16_SS<K,MN>" },
  { "cute.make_mma_atom(cute.nvgpu.tcgen05.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, "
    .. "(256, 128, 16), cute.nvgpu.tcgen05.CtaGroup.TWO, cute.nvgpu.tcgen05.OperandSource.SMEM, "
    .. "cute.nvgpu.OperandMajorMode.K, cute.nvgpu.OperandMajorMode.MN))",
    tile.mma_atom "SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,256,128,K,MN>" },
  { "Copy_Atom<SM75_U32x4_LDSM_N, cutlass::half_t>", tile.copy_atom("SM75_U32x4_LDSM_N", 16) },
  { "Copy_Atom<UniversalCopy<cute::uint128_t>, float>{}",
    tile.copy_atom("UniversalCopy<uint128_t>", 32) },
  { "cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(cache_mode="
    .. "cute.nvgpu.cpasync.LoadCacheMode.GLOBAL), cutlass.Float16, num_bits_per_copy=128)",
    tile.copy_atom("SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", 16) },
  { "cute.make_copy_atom(cute.nvgpu.warp.LdMatrix8x8x16bOp(transpose=True, num_matrices=4), "
    .. "cutlass.BFloat16)", tile.copy_atom("SM75_U16x8_LDSM_T", 16) },
  { "make_tiled_copy(Copy_Atom<UniversalCopy<uint128_t>, half_t>{}, Layout<Shape<_16,_8>,"
    .. "Stride<_8,_1>>{}, Layout<Shape<_1,_8>>{})",
    tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                      thr = layout({ 16, 8 }, "right"), val = layout({ 1, 8 }) } },
  { "cute.make_tiled_copy_tv(cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16, "
    .. "num_bits_per_copy=128), cute.make_layout((16, 8), stride=(8, 1)), "
    .. "cute.make_layout((1, 8)))",
    tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                      thr = layout({ 16, 8 }, "right"), val = layout({ 1, 8 }) } },
}

describe("texts of atoms and of what is tiled", function()
  for _, row in ipairs(READ) do
    it("are read: " .. row[1]:sub(1, 70), function()
      local x = tile.parse(row[1])
      assert.equal(tile.cute(row[2], "print"), tile.cute(x, "print"))
      assert.equal(tile.cute(row[2], "type"), tile.cute(x, "type"))
      assert.equal(tile.cute(x, "print"), tile.cute(tile.parse(tile.cute(x, "dsl")), "print"))
    end)
  end

  it("of the DSL are those of its documentation", function()
    assert.equal("cute.make_mma_atom(" .. SM90 .. ")",
                 tile.cute(tile.mma_atom "SM90_64x128x16_F32BF16BF16_SS", "dsl"))
    assert.equal("cute.make_tiled_copy(cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), "
      .. "cutlass.Uint16, num_bits_per_copy=128), cute.make_layout(((8, 16), 8), "
      .. "stride=((128, 1), 16)), (16, 64))", tile.cute(tile.tiled_copy {
        atom = "UniversalCopy<uint128_t>", dtype = "f16", thr = layout({ 16, 8 }, "right"),
        val = layout({ 1, 8 }) }, "dsl"))
  end)

  it("of every MMA atom are read as that atom", function()
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())
    local names = tile.atoms()
    for _ = 1, math.floor(300 * (tonumber(os.getenv "MOONTILE_TIMES") or 1)) do
      local name = names[math.random(#names)]
      local atom = tile.mma_atom(name)
      assert.equal(name, (tile.parse(tile.cute(atom, "type")).name:gsub("<K,K>$", "")))
      assert.equal(name, tile.parse(tile.cute(atom, "print"), name).name)
      local ok, text = pcall(tile.cute, atom, "dsl")
      if ok then assert.equal(name, tile.parse(text).name) end
    end
  end)

  it("changed somewhere are read or refused", function()
    local texts = { MMA_TEXT, COPY_TEXT }
    for _, row in ipairs(READ) do texts[#texts + 1] = row[1] end
    for _ = 1, math.floor(1000 * (tonumber(os.getenv "MOONTILE_TIMES") or 1)) do
      local text, other = texts[math.random(#texts)], texts[math.random(#texts)]
      local at, from = math.random(#text), math.random(#other)
      text = text:sub(1, at - 1) .. other:sub(from, from + math.random(0, 9))
             .. text:sub(at + math.random(0, 3))
      local ok, said = pcall(tile.parse, text, NAME)
      assert.truthy(ok or type(said) == "string", text)
    end
  end)
end)

describe("refused", function()
  refused(it, {
    { "tile.parse(MMA:gsub('ThrID.-\\n', ''))",
      "parse: ThrID: not there in what CuTe prints" },
    { "tile.parse(MMA, 'SM80_16x8x8_F32F16F16F32_TN')", "parse: SM80_16x8x8_F32F16F16F32_TN has "
      .. "another layout_A than what CuTe printed" },
    { "tile.parse((MMA:gsub('_1,_32,_64,_0', '_1,_32,_40,_0')))", "parse: ThrLayoutVMNK: "
      .. "(32,2,2,1):(1,32,40,0) is no layout of atoms with the threads 32:1" },
    { "tile.parse((COPY:gsub('16b', 'half')))",
      "parse: ValueType: bits as 16b expected, got half" },
    { "tile.parse 'cute.make_mma_atom(cute.nvgpu.warp.MmaI4Op(cutlass.Int4))'",
      "parse: no atom for the operation cute.nvgpu.warp.MmaI4Op" },
    { "tile.parse 'cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float16)'",
      "parse: CopyUniversalOp: num_bits_per_copy expected" },
    { "tile.parse 'Copy_Atom<DefaultCopy, Thing>'",
      "parse: a type of elements expected, got Thing" },
    { "tile.parse 'TiledMMA<MMA_Atom<SM80>'",
      "parse: the brackets of TiledMMA do not match" },
    { "tile.parse {}", "bad argument #1 to 'parse' (string expected, got table)" },
    { "tile.cute(tile.mma_atom 'SM61_DP4A', 'dsl')",
      "cute: CuTe's DSL has no operation for SM61_DP4A" },
    { "tile.cute(tile.copy_atom('DefaultCopy', 16), 'dsl')",
      "cute: CuTe's DSL has no operation for DefaultCopy" },
    { "tile.cute(tile.copy_atom('SM75_U32x4_LDSM_N', 4), 'dsl')",
      "cute: CuTe's DSL has no type of 4 bits" },
  }, { tile = tile, MMA = MMA_TEXT, COPY = COPY_TEXT })
end)
