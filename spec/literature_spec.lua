-- literature_spec.lua: the worked examples of the papers and the manuals about layouts.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, parse, X = tile.layout, tile.parse, tile._

describe("the literature", function()
  describe("complement", function()
    for _, row in ipairs {
      --  layout    bound   complement
      { "4:1",      24,     "6:4" },
      { "6:4",      24,     "4:1" },
      { "4:2",      24,     "(2,3):(1,8)" },
    } do
      it(("of %s in %d is %s"):format(row[1], row[2], row[3]), function()
        local R, fills = tile.complement(layout(row[1]), row[2])
        assert.equal(row[3], tostring(R))
        assert.is_true(fills)
      end)
    end

    it("says when nothing can fill the bound", function()
      local _, fills = tile.complement(layout "(4,2):(1,6)", 24)
      assert.is_false(fills)
    end)
  end)

  describe("composition", function()
    for _, row in ipairs {
      { "20:2",            "(4,5):(1,4)",  "(4,5):(2,8)" },
      { "(20,2):(16,4)",   "(4,5):(1,4)",  "(4,5):(16,64)" },
      { "(6,2):(8,2)",     "(4,3):(3,1)",  "((2,2),3):((24,2),8)" },
      { "20:2",            "5:4",          "5:8" },
    } do
      it(("%s * %s = %s"):format(row[1], row[2], row[3]), function()
        assert.equal(row[3], tostring(layout(row[1]) * layout(row[2])))
      end)
    end
  end)

  it("divides 24:2 / 4:2 = (4,(2,3)):(4,(2,16))", function()
    assert.equal("(4,(2,3)):(4,(2,16))", tostring(layout(24, 2) / layout(4, 2)))
  end)

  it("coalesces (2,(1,6)):(1,(6,2))", function()
    local A = layout "(2,(1,6)):(1,(6,2))"
    assert.equal("12:1", tostring(A:coalesce()))
    assert.equal("(2,6):(1,2)", tostring(A:coalesce { 1, 1 }))
  end)

  describe("the shape (3,(2,3))", function()
    local shape = { 3, { 2, 3 } }
    local rows = {
      --  1-D    2-D      natural
      { 0,  "(0,0)", "(0,(0,0))" }, { 1,  "(1,0)", "(1,(0,0))" }, { 2,  "(2,0)", "(2,(0,0))" },
      { 3,  "(0,1)", "(0,(1,0))" }, { 4,  "(1,1)", "(1,(1,0))" }, { 5,  "(2,1)", "(2,(1,0))" },
      { 6,  "(0,2)", "(0,(0,1))" }, { 7,  "(1,2)", "(1,(0,1))" }, { 8,  "(2,2)", "(2,(0,1))" },
      { 9,  "(0,3)", "(0,(1,1))" }, { 10, "(1,3)", "(1,(1,1))" }, { 11, "(2,3)", "(2,(1,1))" },
      { 12, "(0,4)", "(0,(0,2))" }, { 13, "(1,4)", "(1,(0,2))" }, { 14, "(2,4)", "(2,(0,2))" },
      { 15, "(0,5)", "(0,(1,2))" }, { 16, "(1,5)", "(1,(1,2))" }, { 17, "(2,5)", "(2,(1,2))" },
    }
    it("has 18 coordinates, each in three forms", function()
      for _, row in ipairs(rows) do
        local i, flat, natural = table.unpack(row)
        assert.equal(natural, tostring(tile.idx2crd(i, shape)))
        assert.equal(i, tile.crd2idx(parse(flat), shape))
        assert.equal(i, tile.crd2idx(parse(natural), shape))
        assert.equal(i, tile.crd2idx(i, shape))
      end
    end)

    it("is evaluated alike by all forms: (3,(2,3)):(3,(12,1))", function()
      local A = layout(shape, { 3, { 12, 1 } })
      for _, row in ipairs(rows) do
        local flat, natural = parse(row[2]), parse(row[3])
        assert.equal(A(row[1]), A(flat))
        assert.equal(A(row[1]), A(natural))
        assert.equal(A(row[1]), A(table.unpack(flat)))
      end
      assert.same({ 0, 3, 6, 12, 17, 20 }, { A(0), A(1), A(2), A(3), A(16), A(17) })
    end)
  end)

  describe("((2,4),(3,5)):((3,6),(1,24))", function()
    local A = layout "((2,4),(3,5)):((3,6),(1,24))"
    it("has size 120, rank 2, depth 2, cosize 120", function()
      assert.same({ 120, 2, 2, 120 }, { A:size(), A:rank(), A:depth(), A:cosize() })
    end)
    it("is sliced at (1,_)", function()
      local S, offset = A:slice_and_offset { 1, X }
      assert.equal(3, offset)
      assert.equal(15, S:size())
      for j = 0, 14 do assert.equal(A(1, j), S(j) + offset) end
      assert.equal("((3,5)):((1,24))", tostring(S))
      assert.equal(S, A(1, X))
    end)
  end)

  describe("strides", function()
    it("8:2 has size 8 and cosize 15", function()
      assert.same({ 8, 15 }, { layout(8, 2):size(), layout(8, 2):cosize() })
    end)
    it("8:0 has cosize 1", function() assert.equal(1, layout(8, 0):cosize()) end)
    it("8:-1 runs from 0 to -7", function()
      local A = layout(8, -1)
      for i = 0, 7 do assert.equal(-i, A(i)) end
      assert.equal(8, A:cosize())
    end)
  end)

  it("tiles 128x128 by 32x32 and 4x4", function()
    local A = layout { 128, 128 }
    local blocks = A:zipped_divide { 32, 32 }
    assert.equal(16, tile.size(blocks[2]))
    assert.equal(1024, tile.size(blocks[1]))
    local threads = blocks[1]:zipped_divide { 4, 4 }
    assert.equal(64, tile.size(threads[2]))
    assert.equal(16, tile.size(threads[1]))
    local seen = {}
    for b = 0, 15 do
      for t = 0, 63 do
        for v = 0, 15 do
          local offset = blocks(0, b) + threads(v, t)
          assert.is_nil(seen[offset])
          seen[offset] = true
        end
      end
    end
    for i = 0, 128 * 128 - 1 do assert.is_true(seen[i]) end
  end)

  it("has 8 at ((0,1),(0,0)) of the 8x24 column-major matrix tiled by (4,8)", function()
    local A = layout { 8, 24 }
    assert.equal(8, A:zipped_divide { 4, 8 }({ 0, 1 }, { 0, 0 }))
  end)
end)
