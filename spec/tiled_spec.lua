-- tiled_spec.lua: tiled copies and tiled MMAs. Each covers its tile exactly, a partition of
-- coordinates says what a partition of offsets does, one thread has what the whole gives it.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, X = tile.layout, tile._
local PARTS = { "A", "B", "C" }

-- How many threads have each index: the product of the extents that do not move.
local function broadcast(L)
  local n = 1
  local function walk(shape, stride)
    if type(shape) ~= "table" then
      if stride == 0 then n = n * shape end
      return
    end
    for i = 1, #shape do walk(shape[i], stride[i]) end
  end
  walk(L:shape(), L:stride())
  return n
end

-- (thread, value) -> each index below n, as often as threads share it: the right inverse R,
-- L(R(i)) = i for all i below n, shows that each is there, the size that none has more.
local function covers(L, n)
  return L:cosize() == n and L:right_inverse():size() == n and
         L:size() == n * broadcast(L[1])
end

local function each_as_often(L, n, often)
  local seen = {}
  for i = 0, L:size() - 1 do seen[L(i)] = (seen[L(i)] or 0) + 1 end
  for i = 0, n - 1 do if seen[i] ~= often then return false end end
  return L:size() == n * often
end

local function extents(mma, part)
  local m, n, k = table.unpack(mma:tile_shape())
  return table.unpack(({ A = { m, k }, B = { n, k }, C = { m, n } })[part])
end

describe("tiled MMAs", function()
  -- atoms, and how often the tile repeats the atoms along M, N, K
  local LAYOUTS = {
    { nil, { 1, 1, 1 } }, { layout { 2, 2 }, { 1, 2, 1 } },
    { layout({ 2, 1, 2 }, { 2, 0, 1 }), { 2, 1, 1 } },
    { layout({ 4, { 2, 2 } }, { 1, { 8, 4 } }), { 1, 1, 2 } },
  }

  -- {2, 4} atoms of 8 as (8,2):(4*1,...): the places of an extent in another order
  local function permuted(extent, times)
    if times == 1 then return X end
    if extent == 1 then return times end
    return layout({ extent, times }, { times, 1 })
  end

  -- Atoms with the same shape and layouts are proven once.
  local proven = {}
  local function is_new(atom)
    local key = table.concat({ tostring(atom.shape_MNK), tostring(atom.thr_id),
                               tostring(atom.layout_A), tostring(atom.layout_B),
                               tostring(atom.layout_C) }, " ")
    local new = not proven[key]
    proven[key] = true
    return new
  end

  it("of each atom cover their tiles exactly", function()
    for _, name in ipairs(tile.atoms()) do
      local atom = tile.mma_atom(name)
      for _, case in ipairs(is_new(atom) and LAYOUTS or {}) do
        local atoms, p = case[1], {}
        for i = 1, 3 do
          local many = atoms and tile.size(atoms:get(i <= #atoms and i or 1)) or 1
          if atoms and i > #atoms then many = 1 end
          p[i] = permuted(atom.shape_MNK[i] * many, case[2][i])
        end
        local mma = tile.tiled_mma { atom = atom, atoms = atoms, permutation = p }
        for _, x in ipairs(PARTS) do
          local m, n = extents(mma, x)
          local L = mma["layout_" .. x .. "_TV"](mma)
          if not covers(L, m * n) then error(("%s of %s: %s"):format(x, mma, L)) end
        end
        assert.equal(mma:size(), atom.thr_id:size() * (atoms and atoms:size() or 1))
      end
    end
  end)

  it("share C among atoms along K", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN",
                                 atoms = layout({ 2, 2, 2 }, { 2, 1, 4 }) }
    assert.equal("(((4,8),2,2,2),((2,2),(1,1))):(((64,1),256,16,0),((32,8),(0,0)))",
                 tostring(mma:layout_C_TV()))
    assert.is_true(each_as_often(mma:layout_C_TV(), 32 * 16, 2))
    local copy = tile.make_tiled_copy_C("UniversalCopy<uint64_t>", mma)
    for _, L in ipairs { copy:layout_S_TV(), copy:layout_D_TV() } do
      assert.is_true(each_as_often(L, 32 * 16, 2))
    end
    local C = layout { 32, 16 }
    for thread = 0, 127 do
      local a, i = mma:get_slice(thread):partition_C(C)
      local b, j = mma:get_slice(thread + 128):partition_C(C)
      assert.equal(a, b)
      assert.equal(i, j)
    end
  end)

  it("give the threads between those of quad pairs what others have", function()
    local mma = tile.tiled_mma { atom = "SM70_8x8x4_F32F16F16F32_TN" }
    assert.equal(8, mma:size())
    assert.equal(32, mma:layout_C_TV()[1]:size())
    assert.is_true(each_as_often(mma:layout_C_TV(), 64, 4))
    mma:get_slice(31)
    assert.has_error(function() mma:get_slice(32) end)
  end)

  it("print what makes them again", function()
    local name = "SM80_16x8x16_F32F16F16F32_TN"
    for text, options in pairs {
      ['tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", '
         .. 'atoms = tile.layout "(1,1,1):(0,0,0)" }  -- 32 threads, 16x8x16'] =
        { atom = tile.mma_atom(name) },
      ['tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", '
         .. 'atoms = tile.layout "(4,2,1):(1,4,0)", permutation = tile.parse "(128,_,64)" }'
         .. '  -- 256 threads, 128x16x64'] =
        { atom = name, atoms = layout { 4, 2 }, permutation = { 128, X, 64 } },
      ['tile.tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", '
         .. 'atoms = tile.layout "(2,2,1):(1,2,0)", '
         .. 'permutation = tile.parse "((16,2):(2,1),32:1,_)" }  -- 128 threads, 32x32x16'] =
        { atom = name, atoms = layout { 2, 2 },
          permutation = { layout({ 16, 2 }, { 2, 1 }), 32 } },
    } do
      local mma = tile.tiled_mma(options)
      assert.equal(text, tostring(mma))
      assert.equal(text, tostring(load("local tile = ...; return " .. text)(tile)))
    end
  end)

  it("say what they are made of", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                                 permutation = { X, 32 } }
    assert.equal("SM80_16x8x16_F32F16F16F32_TN", mma:atom().name)
    assert.equal("(2,2,1):(1,2,0)", tostring(mma:atoms()))
    assert.equal("(_,32,_)", tostring(mma:permutation()))
    assert.equal("(32,2,2,1):(1,32,64,0)", tostring(mma:thr_layout_VMNK()))
    assert.same({ 32, 32, 16 }, mma:tile_shape())
    assert.same({ { 2, 2 }, 2, 2 }, mma:partition_shape_C { 64, 32 })
  end)
end)

-- MMAs and operands whose partitions are compared by value: { atom, atoms, permutation }.
local MMAS = {
  { "UniversalFMA<float>", layout { 4, 2 } },
  { "SM61_DP4A", layout({ 4, 2 }, "right"), { layout({ 4, 2 }, { 2, 1 }) } },
  { "SM70_8x8x4_F16F16F16F16_NT", layout { 2, 2 } },
  { "SM80_16x8x8_F32TF32TF32F32_TN", layout { 1, 2 }, { X, layout({ 8, 2, 2 }, { 1, 16, 8 }) } },
  { "SM80_16x8x16_F32F16F16F32_TN", layout({ 2, 1, 2 }, { 2, 0, 1 }), { X, X, 64 } },
  { "SM90_64x16x16_F32F16F16_SS" },
}
-- Operands; ragged ones and such of more modes too.
local OPERANDS = {
  "(64,64):(1,64)", "(64,64):(64,1)", "(50,37):(37,1)", "(7,3):(1,7)", "(64,64,3):(64,1,4096)",
  "((16,4),(8,8)):((1,512),(16,2048))", "(64,64):(0,1)", "(128,64):(-64,1)",
}

-- A at a coordinate of it that is given for its modes, also past the end.
local function value_at(A, c)
  local v = 0
  for i = 1, #A do
    v = v + A[i](type(c[i]) == "table" and tile.crd2idx(c[i], A[i]:shape()) or c[i])
  end
  return v
end

describe("partitions by an MMA", function()
  for _, case in ipairs(MMAS) do
    local mma = tile.tiled_mma { atom = case[1], atoms = case[2], permutation = case[3] }
    for _, text in ipairs(OPERANDS) do
      it(("of %s by %s"):format(text, case[1]), function()
        local A = layout(text)
        local shape = {}
        for i = 1, #A do shape[i] = A[i]:size() end
        local I = tile.make_identity_layout(shape)
        for _, x in ipairs(PARTS) do
          local whole = mma["partition_" .. x](mma, A)
          local crds = mma["partition_" .. x](mma, I)
          assert.equal(3, #whole)
          assert.equal(whole:size(), crds:size())
          local step = math.max(1, whole:size() // 512)
          for i = 0, whole:size() - 1, step do
            assert.equal(value_at(A, crds(i)), whole(i))
          end
          local threads, rest = whole[1]:size(), whole[2]:size() * whole[3]:size()
          for thread = 0, threads - 1, math.max(1, threads // 7) do
            local slice = mma:get_slice(thread)
            local part, offset = slice["partition_" .. x](slice, A)
            assert.equal(rest, part:size())
            for i = 0, rest - 1, math.max(1, rest // 16) do
              assert.equal(whole(thread + threads * i), offset + part(i))
            end
          end
        end
      end)
    end
  end

  it("of coordinates begin at a coordinate of all modes", function()
    local I = tile.make_identity_layout { { 1, 2 }, 1 }
    local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 2, 1 } }
    local part, offset = mma:get_slice(1):partition_A(I)
    assert.equal("((0,1),0)", tostring(offset))
    assert.equal(1, part:size())
    local copy = tile.tiled_copy { atom = "AutoVectorizingCopy", bits = 32, thr = layout { 2, 1 } }
    assert.equal("((0,1),0)", tostring((select(2, copy:get_slice(1):partition_S(I)))))
  end)

  it("of tensors are views", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x8_F32TF32TF32F32_TN" }
    local T = tile.tensor("i32", layout({ 32, 16 }, "right"))
    T:view(layout(512)):set(0, 0)
    for i = 0, 511 do T:view(layout(512)):set(i, i) end
    local whole = mma:partition_A(T)
    for thread = 0, 31 do
      local part = mma:get_slice(thread):partition_A(T)
      local want, offset = mma:get_slice(thread):partition_A(T:layout())
      assert.equal(want, part:layout())
      for i = 0, part:size() - 1 do
        assert.equal(offset + want(i), part(i))
        assert.equal(part(i), whole(thread + 32 * i))
      end
    end
  end)

  it("of swizzled layouts keep the swizzle", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 } }
    local W = layout "Sw<3,3,3> o 0 o (32,64):(64,1)"
    local plain = W:get_nonswizzle_portion()
    assert.equal("Sw<3,3,3>", tostring(mma:partition_A(W):get_swizzle_portion()))
    for thread = 0, 127 do
      local part, offset = mma:get_slice(thread):partition_A(W)
      local want, start = mma:get_slice(thread):partition_A(plain)
      for i = 0, want:size() - 1 do
        assert.equal(tile.swizzle(3, 3, 3)(start + want(i)), offset + part(i))
      end
    end
  end)
end)

describe("tiled copies", function()
  -- thr and val, of as many threads and values as any atom needs
  local SHAPES = { { { 32, 2 }, { 4, 32 } }, { { 8, 8 }, { 16, 8 } }, { { 64 }, { 128 } } }

  it("of each atom read and write the tile exactly, in values of any width", function()
    local made = 0
    for _, name in ipairs(tile.atoms { kind = "copy" }) do
      for log = 2, 7 do
        local ok = pcall(tile.copy_atom, name, 1 << log)
        for i, shape in ipairs(ok and SHAPES or {}) do
          local copy = tile.tiled_copy { atom = name, bits = 1 << log,
                                         thr = layout(shape[1], i == 2 and "right" or "left"),
                                         val = layout(shape[2], i == 1 and "right" or "left") }
          local n = tile.size(copy:tiler_MN())
          made = made + 1
          for _, L in ipairs { copy:tiled_layout_TV(), copy:layout_S_TV(), copy:layout_D_TV() } do
            if not covers(L, n) then error(("%s: %s"):format(copy, L)) end
          end
        end
      end
    end
    assert.is_true(made > 500)
  end)

  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                               permutation = { X, 32 } }

  it("bring operands to the threads that need them", function()
    local A = tile.make_identity_layout { 64, 32 }
    for _, case in ipairs {
      { "A", "SM75_U32x4_LDSM_N" }, { "A", "SM75_U16x8_LDSM_T" }, { "B", "SM75_U32x2_LDSM_N" },
      { "B", "SM75_U32x4_LDSM_N" }, { "A", "UniversalCopy<uint32_t>" },
      { "B", "AutoVectorizingCopy" }, { "C", "UniversalCopy<uint64_t>" },
    } do
      local x, atom = table.unpack(case)
      local copy = tile["make_tiled_copy_" .. x](atom, mma)
      for _, thread in ipairs { 0, 5, 31, 77, 127 } do
        local by_mma, by_copy = mma:get_slice(thread), copy:get_slice(thread)
        local want, start = by_mma["partition_" .. x](by_mma, A)
        local got, first = by_copy:partition_D(A)
        local order = by_copy:retile_D(want)
        assert.equal(want:size(), order:size())
        assert.equal(want:size(), got:size())
        for i = 0, got:size() - 1 do                  -- register i of the copy, of the MMA
          local r, to, from = order(i), got(i), want(order(i))
          assert.is_true(r >= 0 and r < want:size())
          for k = 1, 2 do assert.equal(start[k] + from[k], first[k] + to[k]) end
        end
      end
    end
  end)

  -- Whose run of n successive (thread, value) each place of the tile is in.
  local function runs(TV, n)
    local of = {}
    for i = 0, TV:size() - 1 do of[TV(i)] = i // n end
    return of
  end

  it("regroup a fragment where a swizzle moves threads only", function()
    local pick = function(t) return t[math.random(#t)] end
    math.randomseed(19)
    local answered, refused = 0, 0
    for _ = 1, 300 do
      local base = pick { "(8,8):(8,1)", "(8,4):(1,8)", "(4,16):(16,1)", "32:1" }
      local sw = ("Sw<%d,%d,%d> o 0 o "):format(math.random(2), math.random(0, 1),
                                               math.random(2, 3))
      local val, over = pick { "8:1", "(2,4):(1,2)", "(4,2):(2,1)", "(2,2,2):(4,1,2)" },
                        pick { "", "", "Sw<1,0,1> o 0 o " }
      local function make(thr, v)
        return tile.tiled_copy { atom = "AutoVectorizingCopy", dtype = "i8", thr = layout(thr),
                                 val = layout(v) }
      end
      local made, copy = pcall(make, sw .. base, over .. val)
      local plain, v = make(base, val), 1 << math.random(0, 3)
      local frg = layout({ v, math.random(2) * 8, 8 }, { 1, math.random(9), math.random(9) })
      local fits, want = pcall(function() return (plain:retile_S(frg)) end)
      if made and fits then
        local n = v * tile.size(plain:tiled_layout_TV()[1])
        local ok, got = pcall(function() return (copy:retile_S(frg)) end)
        local TV = copy:tiled_layout_TV()
        local a, b, same = runs(TV, n), runs(plain:tiled_layout_TV(), n), true
        for at, run in pairs(b) do same = same and a[at] == run end
        answered, refused = answered + (ok and 1 or 0), refused + (ok and 0 or 1)
        assert.is_true(same == ok or (same and tostring(TV):find "F" ~= nil), tostring(copy))
        if ok then assert.equal(want, got) end
      end
    end
    assert.is_true(answered > 50 and refused > 5)
  end)

  it("by ldmatrix read rows and write registers", function()
    local copy = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
    assert.equal("(32,16)", tostring(copy:tiler_MN()))
    local read, at = copy:get_slice(17):partition_S(layout({ 32, 16 }, "right"))
    assert.equal("((8,1),1,1):((1,0),0,0)", tostring(read))
    assert.equal(1 * 16 + 8, at)
    local store = tile.make_tiled_copy_D("UniversalCopy<uint32_t>", copy)
    assert.equal(copy:layout_D_TV():coalesce(), store:layout_S_TV():coalesce())
    local same = tile.make_tiled_copy_S("UniversalCopy<uint128_t>", copy)
    assert.equal(copy:layout_S_TV():coalesce(), same:layout_D_TV():coalesce())
  end)

  it("take the width from the operand, or as told", function()
    assert.equal(tostring(tile.make_tiled_copy_A("UniversalCopy<uint32_t>", mma)),
                 tostring(tile.make_tiled_copy_A("UniversalCopy<uint32_t>", mma, "f16")))
    assert.equal(tostring(tile.make_tiled_copy_C("UniversalCopy<uint32_t>", mma)),
                 tostring(tile.make_tiled_copy_C(
                   tile.copy_atom("UniversalCopy<uint32_t>", 32), mma)))
  end)

  it("print what makes them again", function()
    local A = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
    for text, copy in pairs {
      ['tile.tiled_copy{ atom = "AutoVectorizingCopy", bits = 16, thr = tile.layout "32:1", '
         .. 'val = tile.layout "1:0" }  -- 32 threads, 32'] =
        tile.tiled_copy { atom = "AutoVectorizingCopy", dtype = "f16", thr = layout(32) },
      ['tile.make_tiled_copy_A(tile.copy_atom("SM75_U32x4_LDSM_N", 16), tile.tiled_mma{ '
         .. 'atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = tile.layout "(2,2,1):(1,2,0)", '
         .. 'permutation = tile.parse "(_,32,_)" })  -- 128 threads, 32x16'] = A,
      ['tile.make_tiled_copy_D(tile.copy_atom("UniversalCopy<uint32_t>", 16), '
         .. 'tile.make_tiled_copy_A(tile.copy_atom("SM75_U32x4_LDSM_N", 16), tile.tiled_mma{ '
         .. 'atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = tile.layout "(2,2,1):(1,2,0)", '
         .. 'permutation = tile.parse "(_,32,_)" }))  -- 128 threads, 32x16'] =
        tile.make_tiled_copy_D("UniversalCopy<uint32_t>", A),
    } do
      assert.equal(text, tostring(copy))
      assert.equal(text, tostring(load("local tile = ...; return " .. text)(tile)))
    end
  end)

  it("retile tensors as views", function()
    local copy = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
    local part = mma:get_slice(3):partition_A(layout { 64, 32 })
    local T = tile.tensor("f16", layout(part:shape()))
    local view = copy:retile_S(T)
    assert.equal("f16", view:dtype())
    assert.equal((copy:retile_D(part)), view:layout())
  end)

  it("run where each thread works alone", function()
    local copy = tile.make_tiled_copy_C("UniversalCopy<uint32_t>", mma)
    local src, dst = tile.tensor("f32", layout { 64, 64 }), tile.tensor("f32", layout { 64, 64 })
    for i = 0, 4095 do src:view(layout(4096)):set(i, i) end
    tile.copy(copy, src, dst)
    assert.equal(4095, dst(63, 63))
    local async = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", dtype = "f32",
                                    thr = layout { 16, 4 }, val = layout { 4, 1 } }
    dst:fill(0)
    tile.copy(async, src, dst)
    assert.equal(4095, dst(63, 63))
    assert.equal(64, dst(0, 1))
  end)
end)

describe("a tiled copy by threads and values", function()
  local tiler, tv = tile.make_layout_tv({ 8, 4 }, { 1, 4 })
  local copy = tile.tiled_copy { atom = "UniversalCopy<float>", dtype = "float", tv = tv,
                                 tiler = tiler }

  it("is that of thr and val", function()
    local same = tile.tiled_copy { atom = "UniversalCopy<float>", dtype = "f32", thr = { 8, 4 },
                                   val = { 1, 4 } }
    assert.equal(same:tiled_layout_TV(), copy:tiled_layout_TV())
    assert.equal(same:tiler_MN(), copy:tiler_MN())
    assert.equal(same:layout_S_TV(), copy:layout_S_TV())
  end)

  it("prints as what makes it again", function()
    local text = tostring(copy)
    assert.equal(text, tostring(load("local tile = ... return " .. text)(tile)))
  end)

  it("copies, also what overhangs", function()
    for _, name in ipairs { "cpu", "cpu:checked" } do
      local values = {}
      for i = 1, 300 do values[i] = i end
      local src = tile.tensor("f32", layout { 20, 15 }, name):fill(values)
      local dst = tile.tensor("f32", layout({ 20, 15 }, "right"), name)
      tile.copy(copy, src, dst)
      assert.same(values, dst:totable())
    end
  end)

  it("is proven, or it is said who is missing", function()
    assert.is_true(tile.verify(copy, layout { 20, 15 }).ok)
    local half = tile.tiled_copy { atom = "UniversalCopy<float>", dtype = "f32",
                                   tv = layout({ 8, 2 }, { 1, 8 }), tiler = { 8, 4 } }
    assert.is_false(tile.verify(half, layout { 8, 4 }).covers)
  end)

  local env = setmetatable({ tile = tile, layout = layout }, { __index = _G })
  function env.options(t)
    t.atom, t.bits = "UniversalCopy<uint32_t>", 32
    return t
  end
  dofile "spec/refused.lua"(it, {
    { 'tile.tiled_copy(options { thr = layout(8), tv = layout { 8, 4 } })',
      "tiled_copy: tv and tiler, or thr and val, not both" },
    { 'tile.tiled_copy(options { tv = layout { 8, 4 } })',
      "tiled_copy: tiler: integer, table or layout expected, got nil" },
    { 'tile.tiled_copy(options { tiler = { 8, 4 } })',
      "tiled_copy: tv: integer, table or layout expected, got nil" },
    { 'tile.tiled_copy(options { tv = layout { 8, 4 }, tiler = { 8, 2 } })',
      "tiled_copy: tv (8,4):(1,8) gives places 0 to 31, the tile (8,2) has 0 to 15" },
    { 'tile.tiled_copy(options { tv = layout(32), tiler = { 8, 4 } })',
      "tiled_copy: tv 32:1 has 1 modes: (thread,value) has 2" },
    { 'tile.tiled_copy(options { tv = layout { 8, 4 }, tiler = 32 })',
      "tiled_copy: tiler 32: a tuple of extents expected, as (64,16), or of layouts that are "
      .. "injective, as (16:2,(8,8):(8,1))" },
    { 'tile.make_layout_tv(layout({ 4, 4 }, { 1, 1 }), layout(2))', [[
make_layout_tv: thr (4,4):(1,1) gives elements 1 and 4 the same thread number 1]] },
  }, env)
end)
