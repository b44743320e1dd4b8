-- tma_spec.lua: what one CTA's instructions of TMA bring, box by box; tensor memory of sm_100.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout, _ = tile.layout, tile._
local random = math.random

-- A row-major tensor, a tile of it and its shared memory under a swizzle of TMA.
local function random_load()
  local bits, kind = 8 << random(0, 2), ({ "INTER", "SW32", "SW64", "SW128" })[random(4)]
  local atom = tile.smem_atom("GMMA::Layout_K_" .. kind .. "_Atom", bits)
  local wide = tile.size(tile.get_nonswizzle_portion(atom), 2)
  local box = { 8 << random(0, 2), wide * random(2) }
  local stages = random(3)
  local order = ({ tile.parse "(1,2,3)", tile.parse "(2,1,3)" })[random(2)]
  local smem = tile.tile_to_shape(atom, { box[1], box[2], stages }, order)
  local tensor = layout({ box[1] * random(3) + random(0, 3), box[2] * random(3) }, "right")
  return tensor, bits, smem, box, stages
end

-- Coordinate of the tensor -> where the tile's element of it lies, before the swizzle.
local function where(smem, box, at)
  local found = {}
  for i = 0, box[1] * box[2] - 1 do
    local m, k = i % box[1], i // box[1]
    found[(at[1] + m) .. "," .. (at[2] + k)] = smem(m, k)
  end
  return found
end

-- The elements that one instruction brings to shared memory from `to` on: a box from the corner
-- `from`, TMA's dimensions innermost first.
local function bring(t, from, to, found, seen)
  local box = t.box
  for i = 0, tile.size(box) - 1 do
    local inner, outer = i % box[1], i // box[1]
    local key = (from[2] + outer) .. "," .. (from[1] + inner)
    assert.equal(found[key], to + i)
    seen[key] = (seen[key] or 0) + 1
  end
end

describe("tma_partition", function()
  it("has each element of the tile once, where shared memory has it", function()
    math.randomseed(tonumber(os.getenv "MOONTILE_SEED") or os.time())
    local times = math.floor(40 * (tonumber(os.getenv "MOONTILE_TIMES") or 1))
    while times > 0 do
      times = times - 1
      local tensor, bits, smem, box, stages = random_load()
      local ctas = layout(({ 1, 2, 4 })[random(3)])
      local plain = smem:get_nonswizzle_portion()
      local t = tile.tma { tensor = tensor, dtype = bits, smem = plain:slice { _, _, 0 },
                           box = box, multicast = ctas:size() }
      local tiles = tile.local_tile(t.coords, box, { _, _ })
      local m, k = random(0, tiles:size(3) - 1), random(0, tiles:size(4) - 1)
      local stage, seen = random(0, stages - 1), {}
      local found = where(function(i, j) return plain { i, j, stage } end, box,
                          { m * box[1], k * box[2] })
      for cta = 0, ctas:size() - 1 do
        local G, from, S, to = tile.tma_partition(t, cta, ctas, smem:group(1, 2),
                                                  tiles:group(1, 2))
        for i = 0, G:size(1, 2) - 1 do
          bring(t, from + G { { 0, i }, m, k }, to + S { { 0, i }, stage }, found, seen)
        end
      end
      for key in pairs(found) do assert.equal(1, seen[key]) end
    end
  end)

  local smem = layout({ 64, 64 }, "right"):group(1, 2)
  local t = tile.tma { tensor = layout({ 1000, 256 }, "right"), dtype = "bf16",
                       smem = layout({ 64, 64 }, "right") }

  it("begins where the tile given to it does", function()
    local part, offset = tile.local_tile(t.coords, { 64, 64 }, { 3, 2 })
    local _, from = tile.tma_partition(t, smem, part:group(1, 2), offset)
    assert.equal("(128,192)", tostring(from))
    assert.equal("(1000,256):(1@1,1@0)", tostring(t.coords))
    assert.equal(4096, t.elements)
  end)

  it("has a mask of the CTAs that an instruction is for", function()
    local cluster = layout { 2, 4 }
    assert.equal(0x55, tile.create_tma_multicast_mask(cluster, { 0, _ }))
    assert.equal(0xaa, tile.create_tma_multicast_mask(cluster, { 1, _ }))
    assert.equal(0x30, tile.create_tma_multicast_mask(cluster, { _, 2 }))
    assert.equal(0x08, tile.create_tma_multicast_mask(cluster, { 1, 1 }))
  end)

  refused(it, {
    { "tile.tma_partition(1, S, S)", "tma_partition: what tile.tma gives expected first, "
      .. "got number" },
    { "tile.tma_partition(t, 0, layout(2), S, t.coords)", "tma_partition: 2:1 are 2 CTAs, the "
      .. "instruction is for 1: tile.tma{ multicast = 2 }" },
    { "tile.tma_partition(t, S, t.coords)", "tma_partition: mode 1 of smem, the tile, has 4096 "
      .. "elements, of the tensor 1000\nthe modes of the tile are to be one: tile.group(A, 1, 2)" },
    { "tile.tma_partition(t, S, 3)", "tma_partition: layouts (tile,rest...) of shared and of "
      .. "global memory expected, got ((64,64)):((64,1)) and 3" },
    { 'tile.create_tma_multicast_mask(layout "8:F16", 2)',
      "create_tma_multicast_mask: 8:F16 has no integers as values" },
    { 'tile.create_tma_multicast_mask(tile.parse "(4,2):(1@0,1@1)", {tile._, 1})',
      "create_tma_multicast_mask: (4,2):(1@0,1@1) has no integers as values" },
    { "tile.create_tma_multicast_mask(layout{8, 4}, {7, tile._})",
      "create_tma_multicast_mask: CTA 23: the mask has 16 bits" },
  }, { tile = tile, layout = layout, S = smem, t = t })
end)

--  SMs, M, N, rest, bits, storage, mode: lane and 32-bit column of (m,n), from 0
local TMEM = {
  { 1, 128, 256, {}, 32, 32, nil, function(m, n) return m, n end },
  { 1, 64, 128, {}, 32, 32, nil, function(m, n) return m // 16 * 32 + m % 16, n end },
  { 2, 64, 128, {}, 32, 32, nil, function(m, n) return n // 64 * 64 + m, n % 64 end },
  { 2, 32, 64, {}, 32, 32, nil, function(m, n) return n // 16 * 32 + m, n % 16 end },
  { 2, 64, 16, {}, 16, 16, "Duplicated", function(m, n) return m, n // 2 end },
  { 1, 128, 64, {}, 16, 32, nil, function(m, n) return m, n end },
  { 1, 128, 64, {}, 8, 8, nil, function(m, n) return m, n // 4 end },
}

describe("tensor memory", function()
  for _, row in ipairs(TMEM) do
    local sms, M, N, rest, bits, storage, mode, place = table.unpack(row, 1, 8)
    it(("of %d SM, %dx%d, %d of %d bits"):format(sms, M, N, bits, storage), function()
      local address, at, columns = tile["tmem_frg_" .. sms .. "sm"](
        { { M, N }, table.unpack(rest) }, bits, storage, mode)
      local seen, last = {}, 0
      for m = 0, M - 1 do
        for n = 0, N - 1 do
          local lane, column = place(m, n)
          local here, a = at { { m, n } }, address { { m, n } }
          assert.equal(lane, here[1])
          assert.equal(column, here[2] * bits // 32)
          assert.equal(lane << 16 | column, a * bits // 32)
          assert.is_nil(seen[a])
          seen[a], last = true, math.max(last, column)
        end
      end
      assert.equal(columns, last + 1)
    end)
  end

  it("is what fragments of layouts have, as CuTe prints them", function()
    for _, row in ipairs {
      { "F16BF16_SS<half_t,half_t,float,128,256,K,K>", { 128, 256 },
        "((128,256),1,1):((65536,1),0,0)" },
      { "F16BF16_SS<half_t,half_t,float,64,128,K,K>", { 128, 128 },
        "(((16,4),128),2,1):(((65536,2097152),1),1048576,0)" },
      { "F16BF16_2x1SM_SS<half_t,half_t,float,128,64,K,K>", { 256, 128 },
        "((64,(32,2)),2,2):((65536,(1,4194304)),32,64)" },
      { "F16BF16_2x1SM_SS<half_t,half_t,float,256,64,K,K>", { 256, 128 },
        "((128,64),1,2):((65536,1),0,64)" },
      { "F16BF16_TS<half_t,half_t,float,64,64,K,K>", { 64, 256 },
        "(((16,4),64),1,4):(((65536,2097152),1),0,64)" },
      { "TF32_SS<tfloat32_t,tfloat32_t,float,128,32,K,K>", { 256, 64 },
        "((128,32),2,2):((65536,1),32,64)" },
      { "S8_SS<int8_t,int8_t,int32_t,64,64,K,K>", { 64, 64 },
        "(((16,4),64),1,1):(((65536,2097152),1),0,0)" } } do
      local mma = tile.tiled_mma { atom = "SM100_MMA_" .. row[1] }
      local C = tile.layout(row[2])
      assert.equal(row[3], tostring(mma:get_slice(0):partition_fragment_C(C)))
      assert.equal(row[3], tostring(mma:make_fragment_C((mma:get_slice(0):partition_C(C)))))
      local F = mma:get_slice(0):partition_fragment_C(tile.tensor("f32", C))
      assert.equal(tile.size(F:layout()), tile.cosize(F:layout()))
    end
  end)

  it("of a tiled MMA is what its atom has", function()
    local ss = tile.make_tiled_mma "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,K,K>"
    local two = tile.make_tiled_mma "SM100_MMA_F16BF16_2x1SM_SS<half_t,half_t,float,128,128,K,K>"
    local ts = tile.make_tiled_mma "SM100_MMA_F16BF16_TS<half_t,half_t,float,64,128,K,K>"
    assert.equal("((128,256),1,1):((65536,1),0,0)",
                 tostring((tile.tmem_frg(ss, "C", { 128, 256 }))))
    assert.equal("((64,(64,2)),1,1):((65536,(1,4194304)),0,0)",
                 tostring((tile.tmem_frg(two, "C", { 128, 128 }))))
    assert.equal("(((16,4),128),1,2):(((65536,2097152),1),0,128)",
                 tostring((tile.tmem_frg(ts, "C", { 64, 256 }))))
    assert.equal("(((16,4),16),1,2):(((131072,4194304),1),0,16)",
                 tostring((tile.tmem_frg(ts, "A", { 64, 32 }))))
  end)

  local ss = tile.make_tiled_mma "SM100_MMA_F16BF16_SS<half_t,half_t,float,128,256,K,K>"
  refused(it, {
    { "tile.tmem_frg(ss, 'A', {128, 16})", "tmem_frg: A of SM100_MMA_F16BF16_SS<half_t,half_t,"
      .. "float,128,256,K,K> is in smem_desc, not in tensor memory" },
    { "tile.tmem_frg(ss, 'C', {256, 512})", "tmem_frg: ((128,256),2,2) needs 1024 columns of "
      .. "tensor memory, there are 512" },
    { "tile.tmem_frg(ss, 'B', {256, 512})", 'tmem_frg: "A" or "C" expected, got B' },
    { "tile.tmem_frg_1sm({{32, 8}}, 32)", "tmem_frg_1sm: M of one SM is 32: 64 or 128 expected" },
    { "tile.tmem_frg_2sm({{32, 8}}, 32, 32, 'Duplicated')", "tmem_frg_2sm: no allocation "
      .. "Duplicated with M = 32: Interleaved, or with M of 64 and 128 Duplicated" },
    { "tile.tmem_frg_2sm({{32, 6}}, 32)", "tmem_frg_2sm: N is 6: a multiple of 4 expected" },
    { "tile.tmem_frg_1sm({128, 8}, 32)", "tmem_frg_1sm: a shape ((M,N),rest...) expected, got "
      .. "(128,8): mma:partition_shape_C makes one" },
    { "tile.tmem_frg_1sm({{128, 8}}, 'f64')", "tmem_frg_1sm: 1 to 32 bits, a power of two, or a "
      .. "type of them, expected, got f64" },
    { "tile.tmem_frg_1sm({{128, 8}}, 'f32', 16)", "tmem_frg_1sm: values of 32 bits in 16 bits" },
  }, { tile = tile, ss = ss })
end)
