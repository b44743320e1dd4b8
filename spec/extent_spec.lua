-- extent_spec.lua: no extent is negative, whichever way it comes in.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

-- An integer beside a layout is a mode: what reads such a table, and what it would have made.
local mixed = {
  { "back", { layout(2, 2), -4 } }, { "front", { -4, layout(2, 2) } },
  { "reverse", { layout(2, 2), -4 } }, { "wrap", { layout(2, 2), -4 } },
  { "unwrap", { layout(2, 2), -4 } }, { "flatten", { layout(2, 2), -4 } },
  { "get", { layout(2, 2), -4 }, 2 }, { "select", { layout(2, 2), -4 }, 2 },
  { "take", { layout(2, 2), -4 }, 2, 2 }, { "group", { layout(2, 2), -4 }, 1, 2 },
  { "append", { layout(2, 2), -4 }, layout(3) }, { "zip", { { layout(2, 2), -4 } } },
  { "size", { layout(2, 2), -4 } }, { "flatten_to_tuple", { layout(2, 2), { 3, -4 } } },
  { "composition", { layout(2, 2), -4 }, layout(2) },
  { "composition", layout(100, 3000), { layout(2, 2), -4 } },
  { "zipped_divide", layout(100), { layout(2, 2), -4 } },
  { "product_each", { layout(2, 2), -4 } }, { "with_shape", layout(8), { layout(2, 2), -4 } },
}

describe("a negative extent", function()
  for _, row in ipairs(mixed) do
    it("is no mode for " .. row[1], function()
      local ok, message = pcall(tile[row[1]], table.unpack(row, 2))
      assert.is_false(ok)
      assert.is_truthy(message:find("negative extent -4", 1, true), message)
    end)
  end

  it("is no tiler, no shape and no text", function()
    for _, f in ipairs { layout, tile.make_identity_layout,
                         function(n) return tile.parse(n .. ":1") end,
                         function(n) return layout(4) / n end,
                         function(n) return tile.logical_product(layout(4), n) end,
                         function(n) return tile.complement(layout(4), n) end,
                         function(n) return tile.tile_to_shape(layout(4), n) end } do
      assert.is_false(pcall(f, -4))
    end
  end)

  it("is refused, a negative stride is not", function()
    assert.equal(layout "4:-3", layout(4, -3))
    assert.equal(-9, layout(4, -3)(3))
    assert.equal("(2:2,4:1)", tostring(tile.reverse { 4, layout(2, 2) }))
  end)
end)

describe("a basis element", function()
  it("is no mode beside a layout", function()
    local ok, message = pcall(tile.back, { layout(2, 2), tile.parse "2@1" })
    assert.is_false(ok)
    assert.is_truthy(message:find("a basis element is no mode", 1, true), message)
  end)
end)

describe("a fragment without modes", function()
  it("cannot be retiled", function()
    local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                   thr = layout(4) }
    for _, name in ipairs { "retile_S", "retile_D" } do
      assert.has_error(function() copy[name](copy, layout "():()") end,
        name .. ": a fragment (V,M,N,...) of the tile (4) has 2 modes, ():() has 0")
      assert.is_false(pcall(copy[name], copy, layout "0:1"))
    end
    assert.is_false(pcall(function() return copy:get_slice(0):retile_S(layout "():()") end))
  end)
end)

describe("the largest extent", function()
  it("is moved past without one that is larger", function()
    local A = layout(math.maxinteger, 0)
    assert.equal(tostring(A), tostring((tile.domain_offset(5, A))))
    assert.equal(0, select(2, tile.domain_offset(5, A)))
  end)
end)
