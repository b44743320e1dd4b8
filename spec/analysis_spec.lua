-- analysis_spec.lua: what accesses of warps cost: banks, sectors, the search for a swizzle.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, swizzle, X = tile.layout, tile.swizzle, tile._

-- ---- a second model, from the definitions, by enumeration

local WARP = 32

-- at(t, v): the byte where thread t has value v; threads and values; elem in bytes.
local function enumerate(A, elem, offset)
  local threads = A:rank() > 0 and A:get(1):size() or 1
  local values = A:size() // threads
  return function(t, v) return (A(t + threads * v) + (offset or 0)) * elem end, threads, values
end

local function fits(at, threads, values, elem, bytes)
  local n = bytes // elem
  if values % n ~= 0 then return false end
  for t = 0, threads - 1 do
    for v = 0, values - 1 do
      if v % n == 0 and at(t, v) % bytes ~= 0 then return false end
      if v % n ~= 0 and at(t, v) ~= at(t, v - 1) + elem then return false end
    end
  end
  return true
end

local function widest(at, threads, values, elem)
  local bytes = 16
  while bytes > elem and not fits(at, threads, values, elem, bytes) do bytes = bytes // 2 end
  return bytes
end

-- visit(list of addresses, warp, value) for each access.
local function accesses(at, threads, values, elem, bytes, lanes, visit)
  for warp = 0, (threads - 1) // WARP do
    for v = 0, values - 1, bytes // elem do
      local list = {}
      for t = warp * WARP, math.min(threads, warp * WARP + lanes) - 1 do
        list[#list + 1] = at(t, v)
      end
      visit(list, warp, v)
    end
  end
end

local function count(set)
  local n = 0
  for _ in pairs(set) do n = n + 1 end
  return n
end

-- Wavefronts of threads first .. last of the list: the most words of one bank.
local function ways_of(list, first, last, bytes)
  local banks, most = {}, 0
  for i = first, math.min(last, #list) do
    for b = 0, math.max(bytes, 4) - 1, 4 do
      local word = (list[i] + b) // 4
      banks[word % 32] = banks[word % 32] or {}
      banks[word % 32][word] = true
    end
  end
  for _, words in pairs(banks) do most = math.max(most, count(words)) end
  return most
end

local function paired(list, by)
  for i = 0, #list - 1 do
    local other = list[(i ~ by) + 1]
    if other and other ~= list[i + 1] then return false end
  end
  return true
end

local function model_banks(A, elem, bytes, lanes, kind, offset)
  local at, threads, values = enumerate(A, elem, offset)
  local r = { wavefronts = 0, ideal = 0, degree = 0, accesses = 0, excess = -1 }
  accesses(at, threads, values, elem, bytes, lanes, function(list, warp, v)
    local phase, sum, n = bytes == 16 and 8 or bytes == 8 and 16 or 32, 0, 0
    if kind == "read" and bytes >= 8 and
       (paired(list, 1) or paired(list, 2)) then
      phase = phase * 2
    end
    for first = 1, #list, phase do
      local ways = ways_of(list, first, first + phase - 1, bytes)
      sum, n, r.degree = sum + ways, n + 1, math.max(r.degree, ways)
    end
    r.wavefronts, r.ideal, r.accesses = r.wavefronts + sum, r.ideal + n, r.accesses + 1
    if sum - n > r.excess then r.excess, r.warp, r.value = sum - n, warp, v end
  end)
  return r
end

local function model_sectors(A, elem, bytes, offset)
  local at, threads, values = enumerate(A, elem, offset)
  local r = { sectors = 0, lines = 0, useful_bytes = 0, ideal = 0, accesses = 0 }
  accesses(at, threads, values, elem, bytes, 32, function(list)
    local sectors, lines, used = {}, {}, {}
    for _, first in ipairs(list) do
      for b = first, first + bytes - 1 do
        sectors[b // 32], lines[b // 128], used[b] = true, true, true
      end
    end
    r.sectors, r.lines = r.sectors + count(sectors), r.lines + count(lines)
    r.useful_bytes = r.useful_bytes + count(used)
    r.ideal = r.ideal + (count(used) + 31) // 32
    r.accesses = r.accesses + 1
  end)
  return r
end

-- ---- figures

-- The examples of tensor-layouts' documentation of its analysis, with its numbers: max_ways,
-- transactions (lines of 128 bytes), segments, efficiency.
describe("an example of tensor-layouts", function()
  local function col() return (swizzle(3, 0, 3) * layout({ 8, 8 }, "right")):slice { X, 0 } end
  for _, row in ipairs {
    { "8:8",            "f32", 2 },          -- a column of 8x8
    { col,              "f32", 1 },          -- the same under a swizzle
    { "(32,2):(1,32)",  "f16", 1 },
    { "32:1",           "f16", 1 },
    { "32:0",           "f16", 1 },
  } do
    it("has max_ways " .. tostring(row[1]), function()
      local A = type(row[1]) == "string" and layout(row[1]) or row[1]()
      local r = tile.bank_conflicts(A, row[2])
      assert.equal(row[3], r.degree)
      assert.equal(row[3] == 1, r.conflicts == 0)
    end)
  end
  -- layout, dtype, transactions, efficiency, segments, segment_efficiency
  for _, row in ipairs {
    { "32:1",          "f32",  1, 1.0,       4, 1.0 },
    { "32:1",          "f16",  1, 0.5,       2, 1.0 },
    { "32:64",         "f16", 32, 64 / 4096, 32, 64 / 1024 },
    { "(32,4):(4,1)",  "f16",  2, 1.0,       8, 1.0 },
  } do
    it("coalesces " .. row[1] .. " " .. row[2], function()
      local r = tile.coalescing(layout(row[1]), row[2])
      assert.same({ row[3], row[4], row[5], row[6] },
                  { r.lines, r.line_efficiency, r.sectors, r.efficiency })
    end)
  end
end)

-- layout, bits, options, bytes, wavefronts, ideal, degree
describe("wavefronts of", function()
  for _, row in ipairs {
    { "32:1",                          32, "read",      4,   1, 1, 1 },
    { "32:2",                          32, "read",      4,   2, 1, 2 },
    { "32:32",                         32, "write",     4,  32, 1, 32 },
    { "32:33",                         32, "read",      4,   1, 1, 1 },
    { "32:0",                          32, "write",     4,   1, 1, 1 },
    { "((4,8)):((0,1))",               32, "read",      4,   1, 1, 1 },
    { "32:1",                           8, "read",      1,   1, 1, 1 },
    { "32:2",                          16, "read",      2,   1, 1, 1 },
    { "32:1",                          64, "read",      8,   2, 2, 1 },
    { "32:16",                         64, "read",      8,  32, 2, 16 },
    { "(16,2):(1,16)",                 64, "read",      8,   2, 2, 1 },
    { "(32,4):(4,1)",                  32, "read",     16,   4, 4, 1 },
    { "(32,4):(32,1)",                 32, "write",    16,  32, 4, 8 },
    { "32:8",                          16, { bytes = 16 }, 16, 4, 4, 1 },
    { "(32,8):(64,1)",                 16, "ldmatrix", 16,  32, 4, 8 },
    { "(32,8):(72,1)",                 16, "ldmatrix", 16,   4, 4, 1 },
    { "Sw<3,3,3> o 0 o (32,8):(64,1)", 16, "ldmatrix", 16,   4, 4, 1 },
    { "(32,8):(64,1)", 16, { kind = "ldmatrix", matrices = 1 }, 16, 8, 1, 8 },
    { "((8,4),8):((64,0),1)", 16, { kind = "stmatrix", matrices = 2 }, 16, 16, 2, 8 },
    { "(64,(4,2)):(4,(1,256))",        32, "read",     16,  16, 16, 1 },
    { "(32,1048576):(1,32)",           32, "read",      4, 1048576, 1048576, 1 },
    { "(32,(8,4096)):(8,(1,257))",     16, "read",      2,  4096 * 8 * 4, 4096 * 8, 4 },
  } do
    it(row[1] .. " in " .. row[2] .. " bits", function()
      local r = tile.bank_conflicts(tile.parse(row[1]), row[2], row[3])
      assert.same({ row[4], row[5], row[6], row[7], row[5] - row[6] },
                  { r.bytes, r.wavefronts, r.ideal, r.degree, r.conflicts })
    end)
  end
end)

-- layout, bits, offset, sectors, ideal, lines
describe("sectors of", function()
  for _, row in ipairs {
    { "32:1",          32, 0,  4,  4,  1 },
    { "32:1",          32, 1,  5,  4,  2 },
    { "32:-1",         32, 31, 4,  4,  1 },
    { "32:2",          32, 0,  8,  4,  2 },
    { "32:33",         32, 0, 32,  4, 32 },
    { "32:0",          32, 7,  1,  1,  1 },
    { "(32,4):(4,1)",  32, 0, 16, 16,  4 },
    { "(256,(4,65536,65536)):(4,(1,1024,1073741824))", 32, 0, 1 << 39, 1 << 39, 1 << 37 },
  } do
    it(row[1] .. " at " .. row[3], function()
      local r = tile.coalescing(layout(row[1]), row[2], { offset = row[3] })
      assert.same({ row[4], row[5], row[6] }, { r.sectors, r.ideal, r.lines })
    end)
  end
end)

describe("a witness", function()
  it("has threads that meet in a bank", function()
    local r = tile.bank_conflicts(layout({ 64, { 2, 2 } }, { 2, { 1, 33 * 64 } }), "f32",
                                  { bytes = 4 })
    local w = r.worst
    assert.same({ 0, 0, 2, 1, 0 }, { w.warp, w.value, w.wavefronts, w.ideal, w.bank })
    assert.same({ 0, 16 }, w.threads)
    assert.same({ 0, 32 }, w.elements)
    assert.equal([[
read: 16 wavefronts where 8 would do, 2 ways
  8 accesses of 4 bytes a thread in 2 warps
  worst: warp 0, value 0: 2 wavefronts
  in bank 0 meet thread 0 (element 0), thread 16 (element 32)]], tostring(r))
  end)
  it("is the worst sector", function()
    assert.equal([[
write: 8 sectors where 4 would do, 2 lines: 50.0 % of the bytes are used
  1 access of 4 bytes a thread in 1 warp
  worst: warp 0, value 0: 8 sectors]], tostring(tile.coalescing(layout(32, 2), "f32", "write")))
  end)
end)

describe("tiled copies and tensors", function()
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                                 thr = layout({ 32, 8 }, "right"), val = layout { 1, 4 } }
  it("have accesses of their own", function()
    local r = tile.bank_conflicts(copy, layout({ 32, 32 }, "right"), "D")
    assert.same({ "write", 16, 8, 32, 32 }, { r.kind, r.bytes, r.accesses, r.wavefronts, r.ideal })
    local T = tile.tensor("f32", layout({ 64, 64 }, "right"))
    r = tile.coalescing(copy, T)
    assert.same({ 32, 512, 1.0 }, { r.accesses, r.sectors, r.efficiency })
    assert.same(r.text, tile.coalescing(copy:partition(T)).text)
    assert.same(r.text, tile.coalescing(copy, T, "S").text)
    assert.same(r.text, tile.coalescing(copy, T, "S", { kind = "read" }).text)
    local written = tile.coalescing(copy, T, "D")
    assert.equal("write", written.kind)
    assert.equal(r.sectors, written.sectors)
    assert.equal(5, tile.coalescing(T:view(layout(32), 1)).sectors)
    assert.equal(5, tile.coalescing(layout(32), T:view(layout(32), 1)).sectors)
  end)
end)

-- atom, its layout of shared memory, kind, matrices, accesses, wavefronts, ideal
describe("a copy by matrices", function()
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2, 1 },
                               permutation = { 32, 32, 16 } }
  for _, row in ipairs {
    { "SM75_U32x1_LDSM_N", "(64,64):(64,1)",                1, 128, 1024 },
    { "SM75_U32x2_LDSM_N", "(64,64):(64,1)",                2,  64, 1024 },
    { "SM75_U32x4_LDSM_N", "(64,64):(64,1)",                4,  32, 1024 },
    { "SM75_U32x4_LDSM_N", "(64,64):(72,1)",                4,  32,  128 },
    { "SM75_U32x4_LDSM_N", "Sw<3,3,3> o 0 o (64,64):(64,1)", 4, 32,  128 },
    { "SM75_U16x8_LDSM_T", "Sw<3,3,3> o 0 o (64,64):(1,64)", 4, 32,  128 },
  } do
    it(row[1] .. " from " .. row[2], function()
      local copy = tile.make_tiled_copy_A(row[1], mma, "f16")
      local r = tile.bank_conflicts(copy, tile.parse(row[2]), "S")
      assert.same({ "ldmatrix", row[3], row[4], row[5], 128 },
                  { r.kind, r.matrices, r.accesses, r.wavefronts, r.ideal })
    end)
  end
  it("and one that fills the memory have a swizzle", function()
    local best, all = tile.find_swizzle {
      smem = layout({ 64, 64 }, "right"),
      write = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", dtype = "f16",
                                thr = layout({ 16, 8 }, "right"), val = layout { 1, 8 } },
      read = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma, "f16") }
    assert.equal("Sw<3,3,3> o 0 o (64,64):(64,1)", tostring(best))
    assert.same({ 64, 128 }, { all[1].write, all[1].read })
  end)
end)

describe("find_swizzle", function()
  local smem = layout({ 64, 64 }, "right")
  local rows = layout "((8,16),(8,4)):((512,1),(64,16))"      -- thread t: 8 of row t / 8
  it("finds Sw<3,3,3> for ldmatrix", function()
    local best, all = tile.find_swizzle { smem = smem, write = rows, bits = 16,
                                          read = layout "(32,(8,8)):(1,(64,512))",
                                          read_kind = "ldmatrix" }
    assert.equal("Sw<3,3,3> o 0 o (64,64):(64,1)", tostring(best))
    assert.equal([[
layout                write       read bytes more
Sw<3,3,3>                64         32          0
pad 64 + 8               64         32       1008
Sw<2,4,2>                64         64          0
Sw<2,3,3>                64         64          0
Sw<2,4,3>                64         64          0
Sw<2,3,4>                64         64          0
Sw<3,3,4>                64         64          0
pad 64 + 16              64         64       2016
plain                    64        256          0
and 32 more]], tostring(all))
    assert.same({ "pad 64 + 8", "(64,64):(72,1)" }, { all[2].name, tostring(all[2].layout) })
  end)
  it("repairs the column of 8x8", function()
    local best, all = tile.find_swizzle { smem = layout({ 8, 8 }, "right"), dtype = "f32",
                                          write = layout(8, 8), read = layout(8) }
    assert.equal("Sw<1,2,3>", all[1].name)
    assert.equal(0, tile.bank_conflicts(best:slice { X, 0 }, 32).conflicts)
  end)
  it("leaves alone what is good", function()
    local best = tile.find_swizzle { smem = smem, write = rows, bits = 16 }
    assert.equal(tostring(smem), tostring(best))
  end)
  it("takes tiled copies", function()
    local function copy(thr, val, atom)
      return tile.tiled_copy { atom = atom, dtype = "f32", thr = thr, val = val }
    end
    local best, all = tile.find_swizzle {
      smem = layout({ 32, 32 }, "right"),
      write = copy(layout({ 8, 32 }, "right"), layout { 1, 1 }, "UniversalCopy<uint32_t>"),
      read = copy(layout { 32, 8 }, layout { 1, 1 }, "UniversalCopy<uint32_t>") }
    assert.same({ 32, 32, 0 }, { all[1].write, all[1].read, all[1].extra_bytes })
    assert.equal("Sw<5,0,5> o 0 o (32,32):(32,1)", tostring(best))
  end)
  it("lists figures that bank_conflicts confirms", function()
    local write, read = layout "(32,(4,2)):(1,(512,32))", layout "(32,(4,2)):(8,(1,4))"
    local _, all = tile.find_swizzle { smem = layout({ 64, 32 }, { 32, 1 }), write = write,
                                       read = read, bits = 16 }
    for _, c in ipairs(all) do
      local plain = tile.bank_conflicts(layout({ 64, 32 }, { 32, 1 }) * read, 16)
      assert.equal(c.write, tile.bank_conflicts(c.layout * write, 16).wavefronts)
      assert.equal(c.read,
                   tile.bank_conflicts(c.layout * read, 16, { bytes = plain.bytes }).wavefronts)
      assert.equal(c.extra_bytes, 2 * (c.layout:cosize() - 2048))
    end
  end)
end)

-- ---- random layouts beside the second model

describe("random layouts", function()
  local seed = tonumber(os.getenv "MOONTILE_SEED") or os.time()
  local cases = 300 * (tonumber(os.getenv "MOONTILE_TIMES") or 1)
  local random = math.random

  local function pick(t) return t[random(#t)] end
  local function mode(extents, strides)
    local s, d = {}, {}
    for i = 1, random(1, 3) do s[i], d[i] = pick(extents), pick(strides) end
    return s, d
  end
  local function any(elem)
    local ts, td = mode({ 1, 2, 4, 8, 16, 32, 3 }, { 0, 1, 2, 4, 8, 16, 32, 33, 64, 72, -4, 5 })
    local vs, vd = mode({ 1, 2, 4, 8, 3 }, { 0, 1, 2, 4, 8, 16, 100, 256, -8, 7 })
    if random() < 0.5 then vs[1], vd[1] = pick { 2, 4, 8, 16 }, 1 end
    local A = layout({ ts, vs }, { td, vd })
    if A:size() > 2048 then return any(elem) end
    if random() < 0.4 then
      local b = random(0, 3)
      A = swizzle(b, random(0, 4), b + random(0, 2)) * A
    end
    return A
  end

  it("agree, seed " .. seed, function()
    math.randomseed(seed)
    for i = 1, cases do
      local elem = pick { 1, 2, 4, 8, 16 }
      local A, offset = any(elem), pick { 0, 0, 0, 1, 4, 16, -3 }
      local kind = pick { "read", "write" }
      local at, threads, values = enumerate(A, elem, offset)
      local plain = tostring(A):sub(1, 2) ~= "Sw"
      local bytes = widest(at, threads, values, elem)
      local said = ("%s, %d bytes, offset %d, case %d"):format(A, elem, offset, i)
      local r = tile.bank_conflicts(A, 8 * elem, { kind = kind, offset = offset })
      assert.is_true(plain and r.bytes == bytes or not plain and r.bytes <= bytes, said)
      local m = model_banks(A, elem, r.bytes, 32, kind, offset)
      assert.same({ m.accesses, m.wavefronts, m.ideal, m.degree, m.warp, m.value },
                  { r.accesses, r.wavefronts, r.ideal, r.degree, r.worst.warp, r.worst.value },
                  said)
      for k, e in ipairs(r.worst.elements) do
        local first = e * elem // 4 % 32
        assert.is_true((r.worst.bank - first) % 32 < math.max(elem // 4, 1), said)
        assert.equal(r.worst.warp, r.worst.threads[k] // 32)
      end
      local s = tile.coalescing(A, 8 * elem, { kind = kind, offset = offset })
      local n = model_sectors(A, elem, r.bytes, offset)
      for key, v in pairs(n) do assert.equal(v, s[key], said .. ": " .. key) end
      for _, ask in ipairs { 4, 8, 16 } do
        if plain and ask >= elem and values > 1 then
          local ok = pcall(tile.bank_conflicts, A, 8 * elem, { bytes = ask, offset = offset })
          assert.equal(fits(at, threads, values, elem, ask), ok, said .. " asked for " .. ask)
        end
      end
    end
  end)
end)
