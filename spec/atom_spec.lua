-- atom_spec.lua: every MMA and copy atom, proven from its layouts alone.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

-- The product of the extents of a mode whose stride is 0: so many threads hold the same.
local function copies(mode)
  local d, n = tile.flatten(mode):stride(), 1
  local s = tile.flatten(mode):shape()
  if type(s) ~= "table" then s, d = { s }, { d } end
  for i, stride in ipairs(d) do if stride == 0 then n = n * s[i] end end
  return n
end

local function each_as_often(L, n, each)
  local seen = {}
  for i = 0, L:size() - 1 do seen[L(i)] = (seen[L(i)] or 0) + 1 end
  for i = 0, n - 1 do if seen[i] ~= each then return false end end
  return true
end

-- Whether L, of so many threads, has each index below n as often as threads share it. Small
-- layouts are counted. Of a large one the right inverse R, L(R(i)) = i for all i below n, shows
-- that each index is there, and the size of L that none has more than its copies. Layouts of the
-- same text are proven once.
local proven = {}
local function covers(L, threads, n)
  if #L ~= 2 or L[1]:size() ~= threads then return false end
  local key = tostring(L) .. n
  if proven[key] == nil then
    local each = copies(L[1])
    proven[key] = L:size() == n * each and L:cosize() == n and
                  (L:size() > 4096 and L:right_inverse():size() == n or
                   L:size() <= 4096 and each_as_often(L, n, each))
  end
  return proven[key]
end

local function injective(L)
  local seen = {}
  for i = 0, L:size() - 1 do
    if seen[L(i)] then return false end
    seen[L(i)] = true
  end
  return true
end

local SOURCES = { reg = true, smem_desc = true, tmem = true }

-- What is wrong with an MMA atom; nil if nothing is.
local function fault_of_mma(a)
  local shape, types, sources, threads = a.shape_MNK, a.dtype, a.src, a.thr_id:size()
  local m, n, k = table.unpack(shape)
  if not injective(a.thr_id) then return "thr_id" end
  if not covers(a.layout_A, threads, m * k) then return "A" end
  if not covers(a.layout_B, threads, n * k) then return "B" end
  if not covers(a.layout_C, threads, m * n) then return "C" end
  if types.C ~= types.D or sources.C ~= sources.D then return "D" end
  for _, x in ipairs { "A", "B", "C" } do
    if not SOURCES[sources[x]] or types[x] == "?" then return "type or source of " .. x end
  end
  local pattern = a.arch == "sm100a" and ",(%d+),(%d+),%u+,%u+>$" or "_(%d+)x(%d+)x(%d+)"
  for i, extent in ipairs { a.name:match(pattern) } do
    if tonumber(extent) ~= shape[i] then return "the shape in the name" end
  end
  local arch = a.name:match "^SM(%d+)" or "50"               -- UniversalFMA: all have it
  if arch ~= a.arch:match "^sm(%d+)a?$" then return "architecture" end
end

-- What is wrong with a copy atom in values of so many bits.
local function fault_of_copy(a)
  local threads, most = a.thr_id:size(), 0
  for _, L in ipairs { a.layout_src, a.layout_dst, a.layout_ref } do
    if #L ~= 2 or L[1]:size() ~= threads then return "threads" end
    most = math.max(most, L:cosize())
  end
  for _, L in ipairs { a.layout_dst, a.layout_ref, a.layout_src } do
    if not covers(L, threads, most) then return tostring(L) end
  end
end

describe("MMA atoms", function()
  local names = tile.atoms()

  it("cover their tiles, each row of the table", function()
    assert.is_true(#names > 1000)
    for _, name in ipairs(names) do
      local a = tile.mma_atom(name)
      assert.equal(name, a.name)
      local fault = fault_of_mma(a)
      if fault then error(name .. ": " .. fault .. "\n" .. tostring(a)) end
    end
  end)

  it("have different names", function()
    local seen = {}
    for _, name in ipairs(names) do
      assert.is_nil(seen[name], name)
      seen[name] = true
    end
  end)

  it("of wgmma exist for every N", function()
    for n = 8, 256, 8 do
      local a = tile.mma_atom(("SM90_64x%dx16_F32F16F16_SS"):format(n))
      assert.equal(n, a.shape_MNK[2])
      assert.equal(64 * n // 128, a.layout_C[2]:size())
    end
    assert.equal(32, #tile.atoms { arch = "sm_90a", A = "tf32", K = 8 } // 2)
    assert.has_error(function() tile.mma_atom "SM90_64x4x16_F32F16F16_SS" end)
    assert.has_error(function() tile.mma_atom "SM90_64x264x16_F32F16F16_SS" end)
    assert.has_error(function() tile.mma_atom "SM90_64x40x32_S32S8S8_SS_TN" end)
  end)

  it("are found by what they do", function()
    assert.same({ "SM80_16x8x8_F32BF16BF16F32_TN", "SM80_16x8x16_F32BF16BF16F32_TN" },
                tile.atoms { arch = "sm_80", A = "bf16" })
    assert.same({ "SM90_64x256x16_F32BF16BF16_SS", "SM90_64x256x16_F32BF16BF16_RS" },
                tile.atoms { arch = "sm90", A = "bf16", N = 256 })
    assert.same({ "SM80_8x8x4_F64F64F64F64_TN" },
                tile.atoms { C = "f64", D = "f64", B = "double", M = 8 })
    local none = 'atoms: arch: none is of "%s"; there are: %s'
    assert.has_error(function() tile.atoms { arch = "sm_99" } end, none:format("sm_99",
      "sm50, sm61, sm70, sm75, sm80, sm89, sm90, sm90a, sm100a, sm120a"))
    assert.has_error(function() tile.atoms { kind = "copy", arch = "sm_8" } end,
      none:format("sm_8", "sm50, sm100, sm75, sm80, sm90, sm100a"))
    assert.equal(#tile.atoms { arch = "sm_90" },
                 #tile.atoms { arch = "sm_90a" } + #tile.atoms { arch = "sm_90", M = 16 })
  end)

  it("may be named as in C++", function()
    local a = tile.mma_atom [[cute::SM100_MMA_F16BF16_SS<cutlass::half_t, cutlass::half_t, float,
                              128, 64, UMMA::Major::K, UMMA::Major::MN>]]
    assert.equal("SM100_MMA_F16BF16_SS<half_t,half_t,float,128,64,K,MN>", a.name)
    for _, pair in ipairs {
      { "UniversalFMA<double>", "UniversalFMA<double,double,double,double>" },
      { "UniversalFMA<float, cutlass::half_t>", "UniversalFMA<float,half_t,half_t,float>" },
      { "UniversalFMA<int32_t,int8_t,uint8_t>", "UniversalFMA<int32_t,int8_t,uint8_t,int32_t>" },
    } do
      assert.equal(pair[2], tile.mma_atom(pair[1]).name)
    end
  end)

  it("show themselves", function()
    assert.equal([[
SM90_64x24x16_F32F16F16_RS: sm90a, 64 x 24 x 16, threads 128:1
  A  f16, reg: ((4,8,4),(2,2,2)):((128,1,16),(64,8,512))
  B  f16, smem_desc: (128,(24,16)):(0,(1,24))
  C  f32, reg: ((4,8,4),(2,2,3)):((128,1,16),(64,8,512))]],
                 tostring(tile.mma_atom "SM90_64x24x16_F32F16F16_RS"))
  end)
end)

describe("copy atoms", function()
  local names = tile.atoms { kind = "copy" }

  it("move each bit, in values of any size that they keep together", function()
    assert.is_true(#names > 40)
    for _, name in ipairs(names) do
      for _, bits in ipairs { 1, 4, 8, 16, 32, 64, 128 } do
        local ok, a = pcall(tile.copy_atom, name, bits)
        if not ok then break end
        local fault = fault_of_copy(a)
        if fault then error(name .. ": " .. fault .. "\n" .. tostring(a)) end
      end
    end
  end)

  it("in values are the same function as in bits", function()
    for _, name in ipairs { "SM75_U16x8_LDSM_T", "SM75_U32x4_LDSM_N", "SM90_U16x4_STSM_T" } do
      local bit, value = tile.copy_atom(name), tile.copy_atom(name, 16)
      for _, x in ipairs { "layout_src", "layout_dst", "layout_ref" } do
        local L, V = bit[x], value[x]
        for t = 0, 31 do
          for u = 0, L[2]:size() - 1 do
            assert.equal(L(t, u), V(t, u // 16) * 16 + u % 16)
          end
        end
      end
    end
  end)

  it("are found by what brought them", function()
    assert.equal(6, #tile.atoms { kind = "copy", arch = "sm_90" })
    assert.equal("SM75_U32x1_LDSM_N", tile.atoms { kind = "copy", arch = "sm75" }[1])
  end)

  it("take the name of a dtype for its bits", function()
    assert.equal(16, tile.copy_atom("SM75_U32x4_LDSM_N", "bf16").bits)
    assert.equal(tile.copy_atom("SM75_U32x4_LDSM_N", 16).layout_dst,
                 tile.copy_atom("SM75_U32x4_LDSM_N", "bf16").layout_dst)
  end)

  it("are named by a part of their name", function()
    assert.error_matches(function() tile.mma_atom "sm80_16x8x16" end, "no atom \"sm80_16x8x16\"\n"
      .. "  of those that have this in their name: SM80_16x8x16_F16F16F16F16_TN, "
      .. "SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x16_F32BF16BF16F32_TN, and 8 more$")
    assert.error_matches(function() tile.copy_atom "u16x8" end, "name: SM75_U16x8_LDSM_T, [^\n]*$")
  end)

  it("are of an arch by its number", function()
    assert.same(tile.atoms { arch = "sm_80", K = 8 }, tile.atoms { arch = 80, K = 8 })
    assert.error_matches(function() tile.atoms { arch = 99 } end, "none is of \"sm_99\"")
  end)

  it("of shared memory are named as CuTe names them, and without its room", function()
    local atom = tile.smem_atom("GMMA::Layout_K_SW64_Atom", 16)
    assert.equal(atom, tile.smem_atom "GMMA::Layout_K_SW64_Atom<half_t>")
    assert.equal(atom, tile.smem_atom("Layout_K_SW64_Atom", "bf16"))
    assert.error_matches(function() tile.smem_atom "Layout_K_SW64_Atom<thing>" end,
                         "unknown dtype 'thing'")
    assert.equal("i32", tile.tensor("int", tile.layout(1)):dtype())
  end)

  it("have methods where they have fields", function()
    local mma = tile.mma_atom "SM80_16x8x16_F32F16F16F32_TN"
    for _, x in ipairs { "A", "B", "C" } do
      assert.equal(mma["layout_" .. x], mma["layout_" .. x](mma))
      assert.equal(mma["layout_" .. x], mma["layout_" .. x .. "_TV"](mma))
    end
    assert.equal("32:1", tostring(mma:thr_id()))
    assert.equal(mma.shape_MNK, mma:shape_MNK())
    assert.error_matches(function() return mma.shape_MNK(1) end,
                         "attempt to call a moontile.Tuple value")
    assert.equal(tostring(tile.atom_summary(mma)), tostring(mma:summary()))
    local copy = tile.copy_atom("SM75_U32x4_LDSM_N", 16)
    assert.equal(copy.layout_dst, copy:layout_dst())
    assert.equal(copy.layout_src, copy:layout_S_TV())
    assert.equal(copy.layout_dst, copy:layout_D_TV())
    assert.equal(tostring(tile.atom_summary(copy)), tostring(copy:summary()))
    local tiled = tile.tiled_copy { atom = copy, bits = 16, thr = { 32 }, val = { 8 } }
    assert.equal(tostring(copy), tostring(tiled:atom()))
    assert.has_error(function() return tile.layout(4)(tile) end)
  end)

  it("serve a tiled copy", function()
    local thr, val = tile.layout { 32, 8 }, tile.layout { 4, 1 }
    local named = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", bits = 32, thr = thr,
                                    val = val }
    for _, bits in ipairs { 1, 32 } do
      local atom = tile.copy_atom("UniversalCopy<uint128_t>", bits)
      local copy = tile.tiled_copy { atom = atom, bits = bits == 1 and 32 or nil, thr = thr,
                                     val = val }
      assert.equal(tostring(named), tostring(copy))
    end
  end)

  it("show themselves", function()
    assert.equal([[
SM75_U32x1_LDSM_N: sm75, values of 1 bit, threads 32:1
  source       ((8,4),128):((128,0),1)
  destination  (32,32):(32,1)
  reference    (32,32):(32,1)]], tostring(tile.copy_atom "SM75_U32x1_LDSM_N"))
  end)
end)
