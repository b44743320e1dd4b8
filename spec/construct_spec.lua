-- construct_spec.lua: tiled copies, MMAs and shared memory as CuTe's functions make them.
-- SPDX-License-Identifier: MIT
-- The selectors and tile_to_mma_shape are in golden/selectors.tsv, cotiled copies in cotiled.txt.
local tile = require "moontile"
local layout, parse = tile.layout, tile.parse

-- Rows of CuTe's answers, column by column.
local function cotiled()
  local rows = {}
  for line in io.lines "spec/golden/cotiled.txt" do
    local row = {}
    for column in line:gmatch "[^\t]+" do row[#row + 1] = column end
    if #row > 1 then rows[#rows + 1] = row end
  end
  return rows
end

-- Elements of data that a tile with these extents of a mode has: address of each of its places.
local function addresses(data, tiler)
  local modes = {}
  for k = 1, #tiler do modes[k] = math.type(tiler[k]) and layout(tiler[k]) or tiler[k] end
  local shape = {}
  for k, m in ipairs(modes) do shape[k] = m:size() end
  return function(place)
    local c = {}
    for k, m in ipairs(modes) do
      c[k] = k == #modes and m(place) or m(place % shape[k])
      place = place // shape[k]
    end
    return data(c)
  end
end

describe("make_cotiled_copy", function()
  for _, row in ipairs(cotiled()) do
    local atom, bits, tv, data, tiler, S, D = table.unpack(row)
    it(("by %s, %s bits, %s of %s is CuTe's"):format(atom, bits, tv, data), function()
      tv, data, tiler = layout(tv), layout(data), parse(tiler)
      local ok, copy = pcall(tile.make_cotiled_copy, atom, tv, data, tonumber(bits))
      if not ok then
        local apart = copy:find("touches coordinates apart", 1, true)
        return assert.is_truthy(apart or copy:find("where the data", 1, true), copy)
      end
      local ours, theirs = addresses(data, copy:tiler_MN()), addresses(data, tiler)
      local R = copy:tiled_layout_TV()
      for i = 0, tv:size() - 1 do
        assert.equal(tv(i), ours(R(i)))
        assert.equal(theirs(layout(S)(i)), ours(copy:layout_S_TV()(i)))
        assert.equal(theirs(layout(D)(i)), ours(copy:layout_D_TV()(i)))
      end
    end)
  end
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
    for _, majors in ipairs { "<GMMA::Major::K, GMMA::Major::MN>", "<K,K>", "<GMMA::Major::MN>" } do
      assert.equal("SM90_64x128x16_F32F16F16_SS",
                   tile.mma_atom("SM90_64x128x16_F32F16F16_SS" .. majors).name)
    end
    assert.has_error(function() tile.mma_atom "SM90_64x128x16_F32F16F16_SS<K,X>" end)
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
    { 'tile.make_cotiled_copy("UniversalCopy<uint16_t>", tile.layout(8, 2), tile.layout(8, 4), 16)',
      "make_cotiled_copy: (thread,value) 1 is at address 2, where the data 8:4 has nothing" },
  }, setmetatable({ tile = tile }, { __index = _G }))
end)
