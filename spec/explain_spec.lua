-- explain_spec.lua: derivations, word for word.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

-- The operation, its operands, the text.
local ROWS = {
  { "composition", { "(6,2):(8,2)", "(4,3):(3,1)" }, [[
composition: R(i) = A(B(i)) for A = (6,2):(8,2), B = (4,3):(3,1)
  A coalesced: (6,2):(8,2); its last mode has no bound
    mode 1 is 6:8; of an index i it takes the digit i mod 6
    mode 2 is 2:2; of an index i it takes the digit i / 6
  (1) digits: each mode of B is cut where modes of A end
    4:3
      2 values in mode 1, 3 apart: 2:24
      2 values in mode 2, 1 apart: 2:2
    3:1
      3 values in mode 1, 1 apart: 3:8
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 1*3 + 2*1 = 5, at most 5
    mode 2: 1*1 = 1, the last mode, no bound
R = ((2,2),3):((24,2),8)]] },
  { "composition", { "(4,6,8):(2,3,5)", "6:3" }, [[
composition: R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3
  A coalesced: (4,6,8):(2,3,5); its last mode has no bound
    mode 1 is 4:2; of an index i it takes the digit i mod 4
    mode 2 is 6:3; of an index i it takes the digit (i / 4) mod 6
    mode 3 is 8:5; of an index i it takes the digit i / 24
  (1) digits: each mode of B is cut where modes of A end
    6:3
      (1) fails: the step is 3 in mode 1, which does not divide its extent 4
  by the definition: the values of A along each mode of B have to be a layout
    6:3 has 0, 6, 7, 8, 9, 15: no layout
composition: no layout R has R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3
  B's stride 3 runs over the end of A's mode 1 (extent 4): A(B(4)) = 9, where a layout would give 14
  6:2, 6:4 and 6:12 compose with this A; so would 6:3 if mode 1 had extent 3]] },
  { "composition", { "(6,2):(1,7)", "(3,2):(2,3)" }, [[
composition: R(i) = A(B(i)) for A = (6,2):(1,7), B = (3,2):(2,3)
  A coalesced: (6,2):(1,7); its last mode has no bound
    mode 1 is 6:1; of an index i it takes the digit i mod 6
    mode 2 is 2:7; of an index i it takes the digit i / 6
  (1) digits: each mode of B is cut where modes of A end
    3:2
      3 values in mode 1, 2 apart: 3:2
    2:3
      2 values in mode 1, 3 apart: 2:3
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 2*2 + 1*3 = 7, at most 5: (2) fails
  by the definition: the values of A along each mode of B have to be a layout
    3:2 has 0, 2, 4: it could only be 3:2
    2:3 has 0, 3: it could only be 2:3
composition: no layout R has R(i) = A(B(i)) for A = (6,2):(1,7), B = (3,2):(2,3)
  the modes of B carry into each other at the end of A's mode 1 (extent 6): A(B(5)) = 8, where a layout would give 7
  A would compose with this B if mode 1 had extent 8]] },
  { "composition", { "(2,2,4):(5,7,14)", "4:3" }, [[
composition: R(i) = A(B(i)) for A = (2,2,4):(5,7,14), B = 4:3
  A coalesced: (2,8):(5,7); its last mode has no bound
    mode 1 is 2:5; of an index i it takes the digit i mod 2
    mode 2 is 8:7; of an index i it takes the digit i / 2
  (1) digits: each mode of B is cut where modes of A end
    4:3
      (1) fails: the step is 3 in mode 1, no multiple of its extent 2
  by the definition: the values of A along each mode of B have to be a layout
    4:3 has 0, 12, 21, 33: it could only be (2,2):(12,21)
    this is A(B(i)) for every i
R = (2,2):(12,21)]] },
  { "composition", { "(4,(2,2)):(2,(1,8))", "(2,_)" }, [[
composition: R(i) = A(B(i)) for A = (4,(2,2)):(2,(1,8)), B = (2,_)
  mode 1: 4:2 and 2
    A coalesced: 4:2; its last mode has no bound
      mode 1 is 4:2; of an index i it takes the digit i
    (1) digits: each mode of B is cut where modes of A end
      2:1
        2 values in mode 1, 1 apart: 2:2
    (2) no carry: the largest digit that all modes of B make together
      mode 1: 1*1 = 1, the last mode, no bound
  mode 2: (2,2):(1,8) and _
    `_`: (2,2):(1,8) stays
R = (2,(2,2)):(2,(1,8))]] },
  { "composition", { "(4,8):(8,1)", "(2,8):(2@0,1@1)" }, [[
composition: R(i) = A(B(i)) for A = (4,8):(8,1), B = (2,8):(2@0,1@1)
  the steps of B along 1@0 go through the mode 4:8 of A
  A coalesced: 4:8; its last mode has no bound
    mode 1 is 4:8; of an index i it takes the digit i
  (1) digits: each mode of B is cut where modes of A end
    2:2
      2 values in mode 1, 2 apart: 2:16
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 1*2 = 2, the last mode, no bound
  the steps of B along 1@1 go through the mode 8:1 of A
  A coalesced: 8:1; its last mode has no bound
    mode 1 is 8:1; of an index i it takes the digit i
  (1) digits: each mode of B is cut where modes of A end
    8:1
      8 values in mode 1, 1 apart: 8:1
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 7*1 = 7, the last mode, no bound
R = (2,8):(16,1)]] },
  { "composition", { "8:F9", "4:6" }, [[
composition: R(i) = A(B(i)) for A = 8:F9, B = 4:6
  A coalesced: 8:F9; its last mode has no bound
    mode 1 is 8:F9; of an index i it takes the digit i
  (1) digits: each mode of B is cut where modes of A end
    4:6
      4 values in mode 1, 6 apart: 4:F54
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 3*6 = 18, the last mode, no bound
  (3) over F2 fails: in mode 1 the steps share bits, their sum is no xor
  by the definition: the values of A along each mode of B have to be a layout
    4:6 has F0, F54, F108, F130: it could only be (2,2):(F54,F108)
R = 8:F9 o 0 o 4:6]] },
  { "composition", { "Sw<3,4,3> o 0 o (8,64):(64,1)", "(8,1):(1,64)" }, [[
composition: R(i) = A(B(i)) for A = Sw<3,4,3> o 0 o (8,64):(64,1), B = (8,1):(1,64)
  the swizzle acts on the values: it stays, A is what it covers
  A coalesced: (8,64):(64,1); its last mode has no bound
    mode 1 is 8:64; of an index i it takes the digit i mod 8
    mode 2 is 64:1; of an index i it takes the digit i / 8
  (1) digits: each mode of B is cut where modes of A end
    8:1
      8 values in mode 1, 1 apart: 8:64
    1:64
      of one value, A(64): 1:8
  (2) no carry: the largest digit that all modes of B make together
    mode 1: 7*1 = 7, at most 7
R = Sw<3,4,3> o 0 o (8,1):(64,8)]] },
  { "complement", { "(2,2):(1,6)", "24" }, [[
complement: the offsets that A = (2,2):(1,6) skips
  modes by stride, without those of extent 1 or stride 0:
    2:1 begins at 1: no gap
      so far 0 .. 1
    2:6 begins at 6, 3 times 2: the gap 3:2
      so far 0 .. 11
  24 takes 2 of these: 2:12
  with the layout itself that is every offset below 24
R = (3,2):(2,12)]] },
  { "complement", { "(4,2):(1,6)", "24" }, [[
complement: the offsets that A = (4,2):(1,6) skips
  modes by stride, without those of extent 1 or stride 0:
    4:1 begins at 1: no gap
      so far 0 .. 3
    2:6 begins at 6: no gap
      6 is no multiple of 4: some offsets are missed
      so far 0 .. 11
  24 takes 2 of these: 2:12
  with the layout itself that is not every offset below 24
R = 2:12]] },
  { "complement", { "(4,2):(1,2)" }, [[
complement: the offsets that A = (4,2):(1,2) skips
  the bound is cosize(A) = 6
  modes by stride, without those of extent 1 or stride 0:
    4:1 begins at 1: no gap
      so far 0 .. 3
    2:2 begins at 2: the modes before it are not done
complement: (4,2):(1,2) has no complement
  its modes 4:1 and 2:2 overlap: 4 values at distance 1 reach past 2; A(2) = A(4) = 2
  a stride of 4 or more on the second would do]] },
  { "logical_divide", { "24:2", "4:2" }, [[
logical_divide: A o (T,T*) for A = 24:2, T = 4:2
  T*: the complement of T = 4:2 below size(A) = 24
    modes by stride, without those of extent 1 or stride 0:
      4:2 begins at 2, 2 times 1: the gap 2:1
        so far 0 .. 7
    24 takes 3 of these: 3:8
    with the layout itself that is every offset below 24
    T* = (2,3):(1,8)
  A o (T,T*) for A = 24:2, (T,T*) = (4,(2,3)):(2,(1,8))
    A coalesced: 24:2; its last mode has no bound
      mode 1 is 24:2; of an index i it takes the digit i
    (1) digits: each mode of (T,T*) is cut where modes of A end
      4:2
        4 values in mode 1, 2 apart: 4:4
      2:1
        2 values in mode 1, 1 apart: 2:2
      3:8
        3 values in mode 1, 8 apart: 3:16
    (2) no carry: the largest digit that all modes of (T,T*) make together
      mode 1: 3*2 + 1*1 + 2*8 = 23, the last mode, no bound
R = (4,(2,3)):(4,(2,16))]] },
  { "zipped_divide", { "(9,8):(8,1)", "(3:3,4)" }, [[
zipped_divide: A o (T,T*), the tiles before the rests, for A = (9,8):(8,1), T = (3:3,4:1)
  mode 1: 9:8 and 3:3
    T*: the complement of T = 3:3 below size(A) = 9
      modes by stride, without those of extent 1 or stride 0:
        3:3 begins at 3, 3 times 1: the gap 3:1
          so far 0 .. 8
      9 takes 1 of these: 1:9
      with the layout itself that is every offset below 9
      T* = 3:1
    A o (T,T*) for A = 9:8, (T,T*) = (3,3):(3,1)
      A coalesced: 9:8; its last mode has no bound
        mode 1 is 9:8; of an index i it takes the digit i
      (1) digits: each mode of (T,T*) is cut where modes of A end
        3:3
          3 values in mode 1, 3 apart: 3:24
        3:1
          3 values in mode 1, 1 apart: 3:8
      (2) no carry: the largest digit that all modes of (T,T*) make together
        mode 1: 2*3 + 2*1 = 8, the last mode, no bound
  mode 2: 8:1 and 4:1
    T*: the complement of T = 4:1 below size(A) = 8
      modes by stride, without those of extent 1 or stride 0:
        4:1 begins at 1: no gap
          so far 0 .. 3
      8 takes 2 of these: 2:4
      with the layout itself that is every offset below 8
      T* = 2:4
    A o (T,T*) for A = 8:1, (T,T*) = (4,2):(1,4)
      A coalesced: 8:1; its last mode has no bound
        mode 1 is 8:1; of an index i it takes the digit i
      (1) digits: each mode of (T,T*) is cut where modes of A end
        4:1
          4 values in mode 1, 1 apart: 4:1
        2:4
          2 values in mode 1, 4 apart: 2:4
      (2) no carry: the largest digit that all modes of (T,T*) make together
        mode 1: 3*1 + 1*4 = 7, the last mode, no bound
R = ((3,4),(3,2)):((24,1),(8,4))]] },
  { "logical_product", { "(2,2):(4,1)", "6:1" }, [[
logical_product: (A, C o B) for A = (2,2):(4,1), B = 6:1
  C: the complement of A = (2,2):(4,1) below size(A)*cosize(B) = 4*6
    modes by stride, without those of extent 1 or stride 0:
      2:1 begins at 1: no gap
        so far 0 .. 1
      2:4 begins at 4, 2 times 2: the gap 2:2
        so far 0 .. 7
    24 takes 3 of these: 3:8
    with the layout itself that is every offset below 24
    C = (2,3):(2,8)
  C o B, where the copies of A begin, for C = (2,3):(2,8), B = 6:1
    C coalesced: (2,3):(2,8); its last mode has no bound
      mode 1 is 2:2; of an index i it takes the digit i mod 2
      mode 2 is 3:8; of an index i it takes the digit i / 2
    (1) digits: each mode of B is cut where modes of C end
      6:1
        2 values in mode 1, 1 apart: 2:2
        3 values in mode 2, 1 apart: 3:8
    (2) no carry: the largest digit that all modes of B make together
      mode 1: 1*1 = 1, at most 1
      mode 2: 2*1 = 2, the last mode, no bound
R = ((2,2),(2,3)):((4,1),(2,8))]] },
  { "right_inverse", { "(4,8):(8,1)" }, [[
right_inverse: A(R(i)) = i for A = (4,8):(8,1)
  1 is the stride of 8:1, whose steps are 4 apart in the index: 8:4
  8 is the stride of 4:8, whose steps are 1 apart in the index: 4:1
  32 is the stride of no mode: R ends
R = (8,4):(4,1)]] },
  { "right_inverse", { "(2,4):(F6,F1)" }, [[
right_inverse: A(R(i)) = i for A = (2,4):(F6,F1)
  bit 0 is the highest of the stride F1 of 4 values, 2 apart in the index
  bit 2 is the highest of the stride F6 of 2 values, 1 apart in the index
  no other stride goes on with bit 3: R ends
R = (4,2):(F2,F5)]] },
  { "left_inverse", { "(3,2):(2,5)" }, [[
left_inverse: R(A(i)) = i, or A(R(A(i))) = A(i), for A = (3,2):(2,5)
  R = (2,5):(1,1) reads an offset by digits; each stride of A must lead to its step in the index
    3:2 steps by 1 in the index; 2 has the digits (0,1), and R(2) = 1
    2:5 steps by 3 in the index; 5 has the digits (1,2), and R(5) = 3
  no carry: the largest digits that all modes make together
    digit 1: 1, at most 1
    digit 2: 4, at most 4
R = (2,5):(1,1)]] },
  { "left_inverse", { "(2,2):(1,1)" }, [[
left_inverse: R(A(i)) = i, or A(R(A(i))) = A(i), for A = (2,2):(1,1)
left_inverse: (2,2):(1,1) has none, it is not injective: A(1) = A(2) = 1]] },
  { "coalesce", { "(2,(1,6),3):(1,(6,2),5)" }, [[
coalesce: the shortest layout with the values of A = (2,(1,6),3):(1,(6,2),5)
  s:d and t:e after it are one mode, s*t:d, if s*d = e; extents of 1 drop out
    2:1
    1:6 drops out
    6:2 goes on where the mode before it ends: now 12:1
    3:5 is a mode of its own
R = (12,3):(1,5)]] },
}

describe("explain", function()
  for _, row in ipairs(ROWS) do
    local op, texts, text = table.unpack(row)
    it(("%s of %s"):format(op, table.concat(texts, " and ")), function()
      local args = {}
      for i, s in ipairs(texts) do args[i] = tile.parse(s) end
      assert.equal(text, tile.explain(op, table.unpack(args)))
      assert.equal(text, args[1]:explain(op, args[2]))
    end)
  end

  it("ends in the result", function()
    local A = tile.layout "((2,3),4):((4,8),1)"
    for _, op in ipairs { "coalesce", "right_inverse", "left_inverse", "complement" } do
      local result = tostring((tile[op](A)))
      assert.equal("R = " .. result, tile.explain(op, A):match "[^\n]*$")
    end
    for _, op in ipairs { "composition", "logical_divide", "zipped_divide", "tiled_divide",
                          "flat_divide", "logical_product", "zipped_product", "tiled_product",
                          "flat_product", "blocked_product", "raked_product" } do
      assert.equal("R = " .. tostring(tile[op](A, 2)), tile.explain(op, A, 2):match "[^\n]*$")
    end
  end)

  it("agrees with the predicates, and says where shapes part", function()
    local SHAPES = { 4, { 4 }, { 4, 8 }, { { 2, 2 }, 8 }, { { 2, 3 }, 8 }, { 4, { 2, 4 } }, { 8, 4 },
                     tile.layout({ 4, 8 }, { 8, 1 }), { 4, 8, 1 }, {}, 0 }
    for _, op in ipairs { "compatible", "weakly_congruent", "congruent" } do
      for _, a in ipairs(SHAPES) do
        for _, b in ipairs(SHAPES) do
          local want = tile[op](a, b)
          assert.equal("R = " .. tostring(want), tile.explain(op, a, b):match "[^\n]*$")
        end
      end
    end
    assert.equal([[
compatible: coordinates of A are coordinates of B, for A = (4,(2,8)), B = ((2,2),(2,9))
  mode 1: 4 stands for (2,2), whose product it is
  mode 2,1: 2 stands for 2
  mode 2,2: 8 is no 9
R = false]], tile.explain("compatible", { 4, { 2, 8 } }, { { 2, 2 }, { 2, 9 } }))
    assert.truthy(tile.explain("compatible", { { 2, 2 }, 8 }, { 4, 8 })
                  :find("  mode 1: (2,2) has 2 modes, 4 is an integer\n", 1, true))
    assert.truthy(tile.explain("compatible", { { 2, 2 }, 8 }, { 4, 8 })
                  :find("  the other way round it is so\nR = false", 1, true))
  end)

  it("says what a swizzle does", function()
    assert.equal([[
swizzle: w(i) = i ^ ((i & Y) >> S) for w = Sw<2,1,2>
  where bits 3 to 4 of an integer are set, it flips bits 1 to 2
  units of 2^1 = 2 stay together; all repeats after 2^5 = 32
  from 0 on units 0 to 3 go to 0 1 2 3
  from 8 on units 0 to 3 go to 1 0 3 2
  from 16 on units 0 to 3 go to 2 3 0 1
  from 24 on units 0 to 3 go to 3 2 1 0
R = Sw<2,1,2>]], tile.explain("swizzle", tile.swizzle(2, 1, 2)))
    for _, w in ipairs { tile.swizzle(3, 4, 3), tile.swizzle(2, 0, 5), tile.swizzle(5, 1, 6) } do
      local y, text = 0, tile.explain("swizzle", w)
      for from, list in text:gmatch "from (%d+) on units 0 to %d+ go to([%d ]+)" do
        local unit, k = tonumber(text:match "units of 2^%d+ = (%d+)"), 0
        for place in list:gmatch "%d+" do
          assert.equal(from + unit * place, w(from + unit * k))
          k, y = k + 1, y + 1
        end
      end
      assert.is_true(y >= 16)
    end
    assert.truthy(tile.explain("swizzle", tile.swizzle(2, 0, -3)):find "flips bits 3 to 4")
    tile.explain("swizzle", tile.swizzle(31, 0, 31))
  end)

  it("says who has which place of a tile", function()
    local tv = tile.layout "((4,8),(2,2)):((32,1),(16,8))"
    local text = tile.explain("partition", tv, 128)
    assert.equal("R = " .. tostring(tile.left_inverse(tv)), text:match "[^\n]*$")
    assert.truthy(text:find("    8:1 begins at 1: no gap\n", 1, true))
    assert.truthy(tile.explain("partition", tile.layout "(4,2):(1,2)")
                  :find("2:2 begins at 2: the modes before it are not done", 1, true))
    assert.truthy(tile.explain("partition", tile.layout "(4,2):(2,0)")
                  :find("2 have each place, by modes of stride 0", 1, true))
  end)

  it("gives the proof of verify", function()
    local x, A = { tv = tile.layout({ 8, 4 }, { 4, 1 }), tiler = { 32 } }, tile.layout(100)
    assert.equal(tostring(tile.verify(x, A)), tile.explain("verify", x, A))
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
    assert.equal(tostring(tile.verify(mma, tile.layout { 1000, 300 }, "C")),
                 tile.explain("verify", mma, tile.layout { 1000, 300 }, "C"))
    assert.is_false(pcall(tile.explain, "verify"))
    assert.is_false(pcall(tile.explain, "verify", 5))
  end)

  for code, why in pairs {
    ['tile.explain("zip", tile.layout(4))'] =
      "explain: zip is not explained; there are coalesce, composition, complement, logical_divide,"
      .. " zipped_divide, tiled_divide, flat_divide, logical_product, zipped_product, tiled_product,"
      .. " flat_product, blocked_product, raked_product, right_inverse, left_inverse, partition,"
      .. " compatible, weakly_congruent, congruent, swizzle",
    ['tile.explain("coalesce", tile.layout(4), nil, 3)'] =
      "explain: coalesce: 2 operands at most",
    ['tile.explain("swizzle", tile.layout(4))'] = "explain: swizzle: a swizzle expected",
    ['tile.explain("coalesce", tile.swizzle(1, 1, 1))'] = "explain: coalesce: a layout expected",
    ['tile.explain("compatible", {4, 8})'] = "explain: compatible: 2 operands expected",
    ['tile.explain("partition", tile.layout{4, 2}, tile.layout(8))'] =
      "explain: the size of a tile is an integer, not 8:1",
    ['tile.explain("composition", tile.layout(4))'] = "explain: composition: 2 operands expected",
    ['tile.explain("coalesce", tile.layout(4), 2)'] = "explain: coalesce: 1 operand expected",
    ['tile.explain("complement", tile.layout(4), tile.layout(2))'] =
      "explain: the bound of a complement is an integer, not 2:1",
    ['tile.layout(4):explain()'] =
      "bad argument #1 to 'explain' (string expected, got no value)",
  } do
    it("refuses " .. code, function()
      local env = setmetatable({ tile = tile }, { __index = _G })
      local ok, got = pcall(assert(load("local x = " .. code .. " return x", "=row", "t", env)))
      assert.is_false(ok)
      assert.equal("row:1: " .. why, got)
    end)
  end
end)
