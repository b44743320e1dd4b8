-- leaf_count_spec.lua: how many leaves a value has.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

describe("leaf_count", function()
  it("counts the leaves of layouts", function()
    assert.equal(3, tile.leaf_count(tile.layout "((2,3),4):((1,2),6)"))
    assert.equal(1, (tile.layout "8:1"):leaf_count())
  end)
end)
