-- verify_spec.lua: proofs of partitions: what is proven, what the witness is, against counting.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout = tile.layout

local function by_hand(tv, ...) return { tv = layout(tv), tiler = { ... } } end

local function copy_of(bits, dtype, thr, val)
  local atom = bits == 0 and "AutoVectorizingCopy" or ("UniversalCopy<uint%d_t>"):format(bits)
  return tile.tiled_copy { atom = atom, dtype = dtype, thr = layout(thr), val = layout(val) }
end

-- tv, tile, tensor, part, problem, index, owners as "value@thread value@thread"
local BY_HAND = {
  { "(4,4):(1,4)", { 4, 4 }, "(8,8):(1,8)", "D" },
  { "(4,4):(4,1)", { 16 }, "(40):(1)", "D" },
  { "((2,4),2):((8,1),4)", { 4, 4 }, "(8,8):(8,1)", "D" },
  { "((4,2),4):((1,0),4)", { 4, 4 }, "(8,8):(1,8)", "S" },
  { "((4,2),4):((1,0),4)", { 4, 4 }, "(8,8):(1,8)", "D", "twice", 0, "0@0 0@4" },
  { "(4,(4,2)):(1,(4,0))", { 4, 4 }, "(8,8):(1,8)", "S", "twice", 0, "0@0 4@0" },
  { "((4,2),2):((1,4),2)", { 4, 4 }, "(8,8):(1,8)", "D", "twice", 2, "1@0 0@2" },
  { "(4,2):(1,8)", { 4, 4 }, "(8,8):(1,8)", "D", "gap", 4, "" },
  { "(4,4):(2,8)", { 4, 8 }, "(8,8):(1,8)", "D", "gap", 1, "" },
  { "(4,4):(1,4)", { 4, 3 }, "(8,8):(1,8)", "D", "outside", 12, "3@0" },
  { "(4,4):(-1,4)", { 4, 4 }, "(8,8):(1,8)", "D", "outside", -3, "0@3" },
  { "(2,2):(1,4)", { 2 }, "(8):(1)", "D", "outside", 4, "1@0" },
  { "(4,4):(1,4)", { layout "2:2", 8 }, "(8,8):(1,8)", "D" },
  { "(4,4):(1,4)", { layout "(2,2):(1,3)", 4 }, "(8,8):(1,8)", "D", "tiler" },
  { "(4,4):(1,4)", { layout "4:-1", 4 }, "(8,8):(1,8)", "D", "tiler" },
  { "4:1", { 4 }, "((3,5)):((1,4))", "D" },
  { "4:1", { 4 }, "(8):(1)", "D" },
  { "(4):(1)", 4, "8:1", "D" },
  { "4:0", 4, "8:1", "S", "gap", 1, "" },
  { "16:1", { 4, 4 }, "(8,8):(1,8)", "D" },
  { "(2,2):(1,2)", layout "4:1", "8:1", "D" },
  { "4:1", layout "(4):(2)", "8:1", "D" },
  { "(4,1):(1,0)", { 4 }, "((3,5)):((1,4))", "D" },
  { "((4,3),2):((1,4),12)", { 8, 3 }, "(7,9):(1,7)", "D" },
  { "(4,1):(1,0)", { 4 }, "((3,5)):((1,3))", "D" },
  { "(4,1):(1,0)", { 4 }, "(8,3):(0,1)", "S" },
  { "(4,1):(1,0)", { 4 }, "(8,3):(0,1)", "D", "one place" },
  { "(4,1):(1,0)", { 4 }, "(3,3):(1,2)", "D", "one place" },
  { "(4,1):(1,0)", { 4 }, "(8,0):(1,8)", "D" },
}

local function said(list)
  local words = {}
  for i, thread in ipairs(list.threads or {}) do
    words[i] = ("%d@%d"):format(list.values[i], thread)
  end
  return table.concat(words, " ")
end

describe("partitions by hand", function()
  for _, row in ipairs(BY_HAND) do
    local tv, tiler, tensor, part, problem, index, owners = table.unpack(row)
    it(("%s of %s as %s: %s"):format(tv, tensor, part, problem or "proven"), function()
      local P = { tv = layout(tv), tiler = tiler }
      local v = tile.verify(P, layout(tensor), part)
      assert.equal(problem, v.problem)
      assert.equal(problem == nil, v.ok)
      if index then
        assert.is_false(v.covers)
        assert.equal(index, v.witness.index)
        assert.equal(owners, said(v.witness))
      end
    end)
  end

  it("name two coordinates at one place", function()
    local A = layout "(3,4,2):(1,2,100)"
    local v = tile.verify(by_hand("(3,1):(1,0)", 3), A)
    local x, y = table.unpack(v.witness.at)
    assert.is_false(v.injective)
    assert.equal(v.witness.offset, A(x))
    assert.equal(v.witness.offset, A(y))
    assert.not_equal(tostring(x), tostring(y))
  end)

  it("tile the first modes, the others element by element", function()
    local v = tile.verify(by_hand("(4,4):(1,4)", 4, 4), layout { 8, 12, 5 })
    assert.equal(30, v.tiles)
    assert.truthy(v.text:find("\ntiles: 30 = 2 x 3 x 5, the modes without a tile\n", 1, true))
  end)

  it("are those of a partition that no layout writes", function()
    local v = tile.verify(by_hand("(4,1):(1,0)", 4), layout "((3,5)):((1,4))")
    assert.same({ true, true, 1 }, { v.ok, v.covers, v.vector })
    assert.equal("no layout says where the tile is in this tensor", v.why)
    assert.matches("mode 4:1 does not split at the end of A's mode 1", v.reason)
    local wide = tile.verify(copy_of(128, "f32", "(2,3):(1,2)", "(4,2):(1,4)"),
                             layout "((3,5),12):((1,4),64)")
    assert.same({ false, true, "vector" }, { wide.ok, wide.covers, wide.problem })
  end)

  it("take an extent as a tile", function()
    assert.is_true(tile.verify({ tv = layout "(4,2):(1,4)", tiler = 8 }, layout(20)).ok)
  end)
end)

describe("verdicts", function()
  it("say what a ragged size predicates", function()
    local v = tile.verify(copy_of(128, "f32", "(32,8):(8,1)", "(1,4):(0,1)"),
                          layout({ 100, 96 }, "right"))
    assert.is_true(v.ok)
    assert.is_true(v.covers)
    assert.same({ 256, 4, 1, 12, 2688 },
                { v.threads, v.values, v.broadcast, v.tiles, v.predicated })
    assert.equal("(32,32)", tostring(v.tile))
    assert.same({ { mode = 1, extent = 100, tile = 32, tiles = 4, last = 4 } }, v.bounds)
    assert.same({ 0, 9599, true }, { v.lowest, v.highest, v.injective })
    assert.same({ 4, 128 }, { v.vector, v.bits })
    assert.is_nil(v.witness)
    assert.is_nil(v.why)
  end)

  it("print what they say", function()
    local copy = copy_of(128, "f32", "(32,8):(8,1)", "(1,4):(0,1)")
    assert.equal([[
proof: each element of (100,96) exactly once
tile: 32 x 32 by 256 threads with 4 values each
tiles: 12 = 4 x 3
mode 1: 100 of 128 elements, the last tile has 4 of 32
predicated: 2688 of 12288 values
memory: offsets 0 to 9599, each element at a place of its own
vector: 4 elements, 16 bytes, contiguous and aligned]],
      tostring(tile.verify(copy, layout({ 100, 96 }, "right"))))
    assert.equal([[
no proof: element (2,0) of the tile (place 2) has two owners: value 1 of thread 0 and ]] .. [[
value 0 of thread 2
tile: 4 x 4 by 8 threads with 2 values each
tiles: 4 = 2 x 2
memory: offsets 0 to 63, each element at a place of its own]],
      tostring(tile.verify(by_hand("((4,2),2):((1,4),2)", 4, 4), layout { 8, 8 })))
  end)
end)

-- bits of an access, dtype, thr, val, tensor, vector, a part of why it is not wider
local VECTORS = {
  { 128, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(64,1)", 4 },
  { 128, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(1,8)", 1, "are 8 apart" },
  { 128, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(66,1)", 2, "66, not a multiple of 4" },
  { 128, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(65,1)", 1, "65, not a multiple of 2" },
  { 64, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(66,1)", 2 },
  { 0, "f32", "(4,8):(8,1)", "(1,4):(0,1)", "(8,64):(66,1)", 2, "stride 66, not a multiple of 4" },
  { 0, "f16", "(4,8):(8,1)", "(1,16):(0,1)", "(8,256):(256,1)", 8 },
  { 0, "f16", "(4,8):(8,1)", "(1,2):(0,1)", "(8,256):(256,1)", 2, "2 elements lie together" },
  { 0, "f16", "(4,8):(1,4)", "(4,1):(1,0)", "(16,8):(1,16)", 4, "4 elements lie together" },
  { 0, "f16", "(4,8):(8,1)", "(1,8):(0,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)", 8 },
  { 0, "f16", "(4,8):(8,1)", "(1,8):(0,1)", "Sw<3,2,3> o 0 o (8,64):(64,1)", 4,
    "the swizzle keeps 4 elements together" },
}

describe("accesses", function()
  for _, row in ipairs(VECTORS) do
    local bits, dtype, thr, val, tensor, vector, why = table.unpack(row)
    it(("of %d bits of %s, thr %s val %s, in %s"):format(bits, dtype, thr, val, tensor), function()
      local v = tile.verify(copy_of(bits, dtype, thr, val), tile.parse(tensor))
      assert.is_true(v.covers)
      assert.equal(vector, v.vector)
      assert.equal(why and true or false, v.why ~= nil)
      if why then assert.truthy(v.why:find(why, 1, true), v.why) end
      assert.equal(bits ~= 0 and why ~= nil and "vector" or nil, v.problem)
    end)
  end

  it("begin where the tensor begins", function()
    local copy = copy_of(128, "f32", "(4,8):(8,1)", "(1,4):(0,1)")
    local T = tile.tensor("f32", layout(4096))
    local A = layout({ 8, 64 }, "right")
    assert.is_true(tile.verify(copy, T:view(A, 4)).ok)
    local v = tile.verify(copy, T:view(A, 2))
    assert.equal("vector", v.problem)
    assert.equal(2, v.vector)
    assert.equal("it begins 8 bytes past a multiple of 16", v.why)
  end)

  it("are those of a plan", function()
    local copy = copy_of(0, "f32", "(4,8):(8,1)", "(2,4):(4,1)")
    for _, text in ipairs { "(37,64):(64,1)", "(37,66):(66,1)", "(32,64):(1,32)",
                            "(37,64):(1,40)" } do
      local src = tile.tensor("f32", layout(text))
      local dst = tile.tensor("f32", layout(text))
      local v = tile.verify(copy, dst)
      local plan = tostring(tile.plan(copy, src, dst))
      assert.truthy(plan:find(("%d element"):format(v.vector), 1, true))
    end
  end)

  it("of ldmatrix are whole rows", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2, 1 } }
    local copy = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma, "f16")
    local v = tile.verify(copy, tile.parse "Sw<3,3,3> o 0 o (64,64):(64,1)", "S")
    assert.is_true(v.ok)
    assert.same({ 2, 8 }, { v.broadcast, v.vector })
    assert.equal("vector", tile.verify(copy, layout { 64, 64 }, "S").problem)
  end)
end)

-- atom, atoms, permutation, part, tensor, broadcast, tiles, predicated
local MMAS = {
  { "SM80_16x8x16_F32F16F16F32_TN", "(4,2,1):(1,4,0)", { 128, 128, 64 }, "A",
    { 65536, 65536 }, 2, 512 * 1024, 0 },
  { "SM80_16x8x16_F32F16F16F32_TN", "(4,2,1):(1,4,0)", { 128, 128, 64 }, "B",
    { 65536, 65536 }, 4, 512 * 1024, 0 },
  { "SM80_16x8x16_F32F16F16F32_TN", "(4,2,1):(1,4,0)", { 128, 128, 64 }, "C",
    { 65536, 65536 }, 1, 512 * 512, 0 },
  { "SM80_16x8x16_F32F16F16F32_TN", "(2,2,2):(1,2,4)", nil, "C", { 40, 20, 3 }, 2, 12,
    2 * 3 * (64 * 32 - 40 * 20) },
  { "SM90_64x128x16_F32F16F16_SS", "(2,1,1):(1,0,0)", nil, "C", { 256, 256 }, 1, 4, 0 },
  { "SM90_64x128x16_F32F16F16_RS", "(2,1,1):(1,0,0)", nil, "A", { 256, 64 }, 1, 8, 0 },
  { "UniversalFMA<float,float,float,float>", "(16,16,1):(1,16,0)", nil, "C", { 100, 100 }, 1, 49,
    112 * 112 - 100 * 100 },
}

describe("operands of MMAs", function()
  for _, row in ipairs(MMAS) do
    local atom, atoms, permutation, part, extents = table.unpack(row, 1, 5)
    local broadcast, tiles, predicated = table.unpack(row, 6, 8)
    it(("%s of %s"):format(part, atom), function()
      local mma = tile.tiled_mma { atom = atom, atoms = layout(atoms), permutation = permutation }
      local v = tile.verify(mma, layout(extents, "right"), part)
      assert.is_true(v.ok, tostring(v))
      assert.same({ broadcast, tiles, predicated, mma:size() },
                  { v.broadcast, v.tiles, v.predicated, v.threads })
    end)
  end

  it("are C if nothing is said", function()
    local mma = tile.tiled_mma { atom = "UniversalFMA<float,float,float,float>",
                                 atoms = layout { 16, 8, 1 } }
    assert.equal("(16,8)", tostring(tile.verify(mma, layout { 32, 32 }).tile))
    assert.equal("one place", tile.verify(mma, layout({ 32, 32 }, { 0, 1 })).problem)
    assert.is_true(tile.verify(mma, layout({ 32, 32 }, { 0, 1 }), "A").ok)
  end)

  it("say that parts are added where atoms lie along K", function()
    local mma = tile.tiled_mma { atom = "UniversalFMA<float,float,float,float>",
                                 atoms = layout { 4, 4, 2 } }
    local text = tostring(tile.verify(mma, layout { 8, 8 }))
    assert.equal("proof: each element of (8,8) in exactly 2 threads, whose parts are added",
                 text:match "^[^\n]*")
  end)
end)

-- Whether the partition has each place of an m x n tile once, and no other.
local function exact(tv, m, n)
  local seen = {}
  for i = 0, tv:size() - 1 do
    local place = tv(i)
    if place < 0 or place >= m * n or seen[place] then return false end
    seen[place] = true
  end
  return tv:size() == m * n
end

local function random_strides()
  return { math.random(-1, 4), math.random(1, 4), math.random(2, 8) }
end

describe("proofs", function()
  it("agree with counting", function()
    local seed, proven = os.time(), 0
    math.randomseed(seed)
    for _ = 1, 2000 do
      local a, b, c = math.random(1, 4), math.random(1, 4), math.random(1, 3)
      local m, n = a * c, b
      local d = math.random(2) == 1 and { 1, a, a * b } or random_strides()
      local tv = layout({ { a, b }, c }, { { d[1], d[2] }, d[3] })
      local v = tile.verify({ tv = tv, tiler = { m, n } }, layout { 7, 9 })
      assert.equal(exact(tv, m, n), v.covers, ("seed %d: %s"):format(seed, tv))
      for k, thread in ipairs(v.witness and v.witness.threads or {}) do
        assert.equal(v.witness.index, tv(thread, v.witness.values[k]))
      end
      proven = proven + (v.covers and 1 or 0)
    end
    assert.is_true(proven > 200)
  end)
end)

-- code and the error that it raises; `copy` has f32 by accesses of 16 bytes
local REFUSED = {
  { 'tile.verify(4, layout(4))', "bad argument #1 to 'verify' (tiled copy, tiled MMA or " ..
    "{ tv =, tiler = } expected, got number)" },
  { 'tile.verify(copy, 4)', "bad argument #2 to 'verify' (layout expected, got number; "
    .. "tile.layout(n) is one of n elements)" },
  { 'tile.verify(copy, layout { 8, 8 }, "A")',
    'verify: "S" or "D", the side of the copy, expected, got A' },
  { 'tile.verify(copy, layout { 8, 8 }, 1.5)',
    'verify: "S" or "D", the side of the copy, expected, got 1.5' },
  { 'tile.verify(mma, layout { 8, 8 }, "D")',
    'verify: "A", "B" or "C", the operand of the MMA, expected, got D' },
  { 'tile.verify(copy, layout(64))',
    "verify: the tile (4,32) has 2 modes, the tensor 64:1 has 1" },
  { 'tile.verify(copy, tile.make_identity_layout { 8, 64 })',
    "verify: a layout of offsets expected, got (8,64):(1@0,1@1)" },
  { 'tile.verify(copy, tile.tensor("f16", layout { 8, 64 }))',
    "verify: the tiled copy moves elements of 32 bits, f16 has 16" },
  { 'tile.verify({ tv = layout { 4, 4 } }, layout { 8, 8 })',
    "verify: tiler: integer, table or layout expected, got nil" },
  { 'tile.verify({ tv = layout { 4, 4 }, tile = 16 }, layout(16))',
    "verify: unknown option 'tile'; did you mean tiler? there are: tv, tiler" },
  { 'tile.verify({ tv = layout { 4, 2, 2 }, tiler = { 4, 4 } }, layout { 8, 8 })',
    "verify: tv (4,2,2):(1,4,8) has rank 3; (thread,value) has rank 2" },
  { 'tile.verify({ tv = layout { 0, 4 }, tiler = { 4, 4 } }, layout { 8, 8 })',
    "verify: tv (0,4):(1,1) is empty" },
  { 'tile.verify({ tv = layout "(4,4):(1@0,1@1)", tiler = { 4, 4 } }, layout { 8, 8 })',
    "verify: tv: a layout (thread,value) -> place expected, got (4,4):(1@0,1@1)" },
  { 'tile.verify({ tv = layout { 4, 4 }, tiler = { 4, { 2, 2 } } }, layout { 8, 8 })',
    "verify: tiler: for each mode an extent above 0, or a layout, expected, got (4,(2,2))" },
  { 'tile.verify({ tv = layout { 4, 4 }, tiler = { 4, 0 } }, layout { 8, 8 })',
    "verify: tiler: for each mode an extent above 0, or a layout, expected, got (4,0)" },
  { 'tile.verify({ tv = layout { 4, 4 }, tiler = { 1 << 40, 1 << 40 } }, layout { 8, 8 })',
    "verify: the size of the tile (1099511627776,1099511627776) leaves 64 bits" },
}

describe("refused proofs", function()
  local copy = copy_of(128, "f32", "(4,8):(8,1)", "(1,4):(0,1)")
  local mma = tile.tiled_mma { atom = "UniversalFMA<float>" }
  local env = { tile = tile, layout = layout, copy = copy, mma = mma }
  refused(it, REFUSED, env)
end)
