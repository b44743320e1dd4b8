-- construct_spec.lua: tiled copies, MMAs and shared memory as CuTe's functions make them.
-- SPDX-License-Identifier: MIT
-- The selectors and tile_to_mma_shape are in golden/selectors.tsv, tiled copies in golden/tv.tsv.
local tile = require "moontile"
local layout = tile.layout

-- A mode of a tiler: an extent, every other ordinate, blocks apart, blocks in another order.
local function random_mode()
  local n = 1 << math.random(0, 2)
  return ({ 2 * n, layout(n, 1 << math.random(0, 2)), layout({ 2, 2 }, { 1, 8 }),
            layout({ 2, n }, { 4, 1 }) })[math.random(4)]
end

local function random_copy()
  local tiler = { random_mode(), random_mode() }
  local size = tile.size(tiler[1]) * tile.size(tiler[2])
  local threads = math.min(size, 1 << math.random(0, 5))
  local tv = layout({ threads, size // threads }, math.random(2) == 1 and "left" or "right")
  return tile.tiled_copy { atom = "UniversalCopy<uint32_t>", bits = 32, tv = tv, tiler = tiler }
end

describe("a tiler of layouts", function()
  it("takes each element once, where it overhangs too", function()
    for _ = 1, 100 do
      local copy, M, N = random_copy(), math.random(40), math.random(40)
      local L, numbers = layout({ M, N }, math.random(2) == 1 and "left" or "right"), {}
      for i = 1, M * N do numbers[i] = i end
      local S, D = tile.tensor("i32", L):fill(numbers), tile.tensor("i32", layout { M, N })
      tile.copy(copy, S, D)
      assert.same(numbers, D:totable())
      assert.is_true(tile.verify(copy, S).ok)
      local seen, count = {}, 0
      for thread = 0, copy:size() - 1 do
        for _, x in pairs(copy:get_slice(thread):partition_S(S):totable()) do
          assert.is_nil(seen[x])
          seen[x], count = true, count + 1
        end
      end
      assert.equal(M * N, count)
    end
  end)

  it("is a Tile in C++, and has a picture", function()
    local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", bits = 32,
                                   tv = layout { 8, 2 }, tiler = { layout(4, 2), 4 } }
    assert.equal("TiledCopy<Copy_Atom<UniversalCopy<uint32_t>,uint_bit_t<32>>,"
                 .. "Layout<Shape<_8,_2>,Stride<_1,_8>>,Tile<Layout<_4,_2>,_4>>",
                 tile.cute(copy, "type"))
    assert.is_truthy(tile.draw(copy):find("4 x 4, 8 threads", 1, true))
  end)
end)

describe("make_cotiled_copy", function()
  it("says why there is no tile, not where it was looked for", function()
    local ok, message = pcall(tile.make_cotiled_copy, "UniversalCopy<uint32_t>",
                              tile.parse "Sw<1,3,-2> o 9 o (2,2,420,2):(120,20,0,120)",
                              layout { 2, 2, 420, 2 }, 32)
    assert.is_false(ok)
    assert.matches("^make_cotiled_copy: ", message)
    assert.is_nil(message:find("%.lua:%d"), message)
  end)
end)

describe("constructors", function()
  it("are those that take options", function()
    local thr, val = layout { 32, 8 }, layout { 4, 1 }
    assert.equal(tostring(tile.tiled_copy { atom = "UniversalCopy<uint128_t>", bits = 32,
                                            thr = thr, val = val }),
                 tostring(tile.make_tiled_copy("UniversalCopy<uint128_t>", thr, val, 32)))
    assert.equal(tostring(tile.make_tiled_copy("UniversalCopy<uint128_t>", thr, val, "f32")),
                 tostring(tile.make_tiled_copy("UniversalCopy<uint128_t>", thr, val, 32)))
    local atom = "SM80_16x8x16_F32F16F16F32_TN"
    assert.equal(tostring(tile.tiled_mma { atom = atom, atoms = layout { 2, 2, 1 } }),
                 tostring(tile.make_tiled_mma(atom, layout { 2, 2, 1 })))
    assert.equal(tostring(tile.tiled_mma { atom = atom }), tostring(tile.make_tiled_mma(atom)))
  end)

  it("take atoms of sm_90 with their majors", function()
    local name = "SM90_64x128x16_F32F16F16_SS"
    for _, row in ipairs {
      { "<GMMA::Major::K, GMMA::Major::MN>", "<K,MN>" }, { "<K,K>", "<K,K>" }, { "<>", "" },
      { "<GMMA::Major::MN>", "<MN>" },
      { "<(cute::SM90::GMMA::Major)0, (cute::SM90::GMMA::Major)1, (cute::SM90::GMMA::ScaleIn)1,"
        .. " (cute::SM90::GMMA::ScaleIn)1>", "<K,MN>" },
      { "<GMMA::Major::MN, GMMA::Major::K, GMMA::ScaleIn::One, GMMA::ScaleIn::One>", "<MN,K>" },
    } do
      assert.equal(name .. row[2], tile.mma_atom(name .. row[1]).name)
      assert.equal(name .. row[2],
                   tile.mma_atom("cute::SM90::GMMA::MMA_64x128x16_F32F16F16_SS" .. row[1]).name)
    end
    assert.has_error(function() tile.mma_atom(name .. "<K,X>") end,
      'mma_atom: there is no atom "' .. name .. '<K,X>"\n'
      .. "  behind a name of sm_90 stand the majors of A and B: <K,MN>")
    for _, bad in ipairs { "<K,K,K>", "<K,", "<K,K> x", "<GMMA::ScaleIn::Neg>" } do
      assert.has_error(function() tile.mma_atom(name .. bad) end)
    end
    assert.equal("SM90_64x64x32_F32E4M3E4M3_SS_TN",
                 tile.mma_atom("SM90_64x64x32_F32E4M3E4M3_SS_TN<>").name)
  end)

  it("of sm_90 keep the majors that they were given", function()
    local mma = tile.make_tiled_mma "SM90_64x64x16_F32F16F16_SS<K,MN>"
    local function smem(major)
      return tile.tile_to_shape(tile.smem_atom("GMMA::Layout_" .. major .. "_SW128_Atom", "f16"),
                                { 64, 64 })
    end
    assert.is_true(tile.verify(mma, smem "K", "A").ok)
    assert.is_true(tile.verify(mma, smem "MN", "B").ok)
    assert.is_false(tile.verify(mma, smem "MN", "A").ok)
    assert.is_false(tile.verify(mma, smem "K", "B").ok)
    for _, form in ipairs { "type", "dsl" } do
      assert.equal(tostring(mma), tostring(tile.parse(tile.cute(mma, form))))
    end
    assert.equal(tostring(mma), tostring(load("local tile = ... return " .. tostring(mma))(tile)))
  end)

  it("say who was called", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
    for text, f in pairs {
      ["group_modes: modes 0 to 5, both included, of (2,3):(1,2): it has the modes 1 to 2"] =
        function() return layout { 2, 3 }:group_modes(0, 5) end,
      ["make_tiled_copy: dtype = \"f32\" or bits = 32 expected"] =
        function() return tile.make_tiled_copy("UniversalCopy<float>", { 2 }, { 2 }) end,
      ["get_thread_slice: thread 99 of 32: 0 to 31 are there"] =
        function() return mma:get_thread_slice(99) end,
      ["get_slice: thread 99 of 32: 0 to 31 are there"] = function() return mma:get_slice(99) end,
      ["make_identity_tensor: extent -1 is negative"] =
        function() return tile.make_identity_tensor { -1 } end,
      ["make_layout: extent -3 is negative"] = function() return tile.make_layout { 2, -3 } end,
      ["make_cotiled_copy: tv 2:1 has 1 modes: (thread,value) has 2"] =
        function() return tile.make_cotiled_copy("x", layout(2), layout(2), 32) end,
    } do
      local ok, message = pcall(function() local x = f() return x end)
      assert.is_false(ok)
      assert.equal(text, (message:gsub("^[^:]*:%d+: ", "")))
    end
  end)

  it("choose shared memory by majors with their spaces", function()
    assert.equal(select(2, tile.ss_smem_selector("K", "f16", 128, 64)),
                 select(2, tile.ss_smem_selector("GMMA::Major::K", "half_t", 128, 64)))
    assert.has_error(function() tile.ss_smem_selector("K", "f16", 128) end,
                     "ss_smem_selector: the extents of both modes, MN and K, expected")
  end)

  it("have fragments of shapes, and free functions, as CuTe has them", function()
    local mma = tile.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", layout { 2, 2, 1 })
    for _, x in ipairs { "A", "B", "C" } do
      local shape, of = { 64, 32 }, "partition_fragment_" .. x
      local want = mma:get_slice(0)[of](mma:get_slice(0), layout(shape))
      assert.equal(want, tile[of](mma, shape))
      assert.equal(want, mma[of](mma, layout(shape)))
      assert.equal(tile.shape(want), tile["partition_shape_" .. x](mma, shape))
    end
    assert.equal(tile.make_identity_layout { 3, 4 }, tile.make_identity_tensor { 3, 4 })
    assert.equal("B128", tile.gmma_desc(layout "Sw<3,3,3> o 0 o (64,16):(64,1)").mode)
    assert.equal("MN", tile.gmma_desc(layout "Sw<3,3,3> o 0 o (64,16):(1,64)", 16,
                                      "GMMA::Major::MN").major)
  end)

  it("choose shared memory", function()
    local A, name = tile.ss_smem_selector("K", "f16", 128, 64)
    assert.equal("GMMA::Layout_K_SW128_Atom", name)
    assert.equal(tile.smem_atom(name, 16), A)
    assert.equal("GMMA::Layout_K_SW64_Atom", select(2, tile.ss_smem_selector("K", 16, 128, 32)))
  end)
end)

describe("what constructors refuse", function()
  dofile "spec/refused.lua"(it, {
    { 'tile.ss_smem_selector("M", 16, 64, 64)',
      'ss_smem_selector: major: "K" or "MN" expected, got M' },
    { 'tile.ss_smem_selector("K", 4, 64, 64)',
      "ss_smem_selector: 8, 16 or 32 bits, or a type of them, expected, got 4" },
    { 'tile.ss_smem_selector("K", 16, 64, { 12, 2 })',
      "ss_smem_selector: no layout of major K with 16 bits divides (64,(12,2))" },
    { 'tile.tile_to_mma_shape(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16), { 64, 16 })',
      "tile_to_mma_shape: a shape ((MMA_M,MMA_K),M,K,...) expected, got (64,16)" },
    { 'tile.tile_to_mma_shape(tile.smem_atom("GMMA::Layout_K_SW128_Atom", 16), 3)',
      "tile_to_mma_shape: a shape ((MMA_M,MMA_K),M,K,...) expected, got (3)" },
    { 'tile.make_cotiled_copy("UniversalCopy<uint16_t>", tile.layout "4:1@0", 8, 16)',
      "make_cotiled_copy: tv: the strides of 4:1@0 are no integers" },
    { 'tile.make_tiled_copy_C_atom("SM90_U32x4_STSM_N", fma)',
      "make_tiled_copy_C_atom: the bits of a value, or its type, expected: what C has" },
    { 'tile.make_cotiled_copy("UniversalCopy<uint16_t>", tile.layout "(4,2):(-2,1)", 8, 16)',
      "make_cotiled_copy: (thread,value) 1 is at address -2, where the data 8:1 has nothing" },
    { 'tile.tiled_copy{ atom = "UniversalCopy<uint16_t>", bits = 16, tv = tile.layout{ 2, 2 }, '
      .. 'tiler = { tile.layout(2, -1), 2 } }',
      "tiled_copy: tiler (2:-1,2:1): a tuple of extents expected, as (64,16), or of layouts that "
      .. "are injective, as (16:2,(8,8):(8,1))" },
    { 'tile.make_tiled_copy_C_atom("SM90_U32x4_STSM_N", 7, 16)',
      "make_tiled_copy_C_atom: a tiled MMA expected, got number" },
    { 'tile.make_tiled_copy_C_atom("SM90_U32x4_STSM_N", fma, 16)',
      "make_tiled_copy_C_atom: SM90_U32x4_STSM_N moves 8 values of a thread, of C it has 1" },
    { 'tile.make_cotiled_copy("UniversalCopy<uint16_t>", tile.layout(8, 2), tile.layout(8, 4), 16)',
      "make_cotiled_copy: (thread,value) 1 is at address 2, where the data 8:4 has nothing" },
  }, setmetatable({ tile = tile, fma = tile.make_tiled_mma "UniversalFMA<float>" },
                  { __index = _G }))
end)
