-- picture_error_spec.lua: what is said of pictures that cannot be.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

describe("a picture that cannot be", function()
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                 thr = layout { 8, 4 } }
  local coordinates = tile.make_identity_layout { 2, 2 }
  for _, row in ipairs {
    { "draw: a layout, a tensor.* expected, got nil", nil },
    { "draw: a layout, a tensor.* expected, got number", 5 },
    { "draw: a layout, a tensor.* expected, got table", {} },
    { "got moontile.Tuple; tile.layout%(shape%)", layout { 4, 8 }:shape() },
    { "{ thread = n }", copy:get_slice(1) },
    { "unknown option 'nope'; there are: title", layout(4), { nope = 1 } },
    { "unknown option 'thread'", layout(4), { thread = 1 } },
    { "by: one of offset, coordinate, index, bank, value .*got x", layout(4), { by = "x" } },
    { "by \"value\": 4:1 is no tensor", layout(4), { by = "value" } },
    { "by \"bank\": the offsets", coordinates, { by = "bank" } },
    { "there are 32 threads, 0 to 31; got 32", copy, { thread = 32 } },
    { "there are 1 values, 0 to 0; got 1", copy, { value = 1 } },
    { "part: one of S, D expected, got A", copy, { part = "A" } },
    { "banks: the layout of shared memory expected", copy, { banks = 3 } },
    { "unknown dtype 'f9'", layout(4), { banks = "f9" } },
    { "rows: a number of them from 1", layout(4), { rows = 0 } },
    { "3600000000 cells, at most 65536", layout(4), { rows = 60000, columns = 60000 } },
    { "slice_and_offset: coordinate", layout { 4, 4 }, { slice = { 1 } } },
    { "tile: {rows, columns}", layout(4), { tile = { 2, 0 } } },
    { "colour: a boolean", layout(4), { colour = "red" } },
    { "title: a string", layout(4), { title = {} } },
    { "options expected, got number", layout(4), 5 },
    { "tv: a layout", { tv = 5 } }, { "at most 262144 pairs", { tv = layout(1 << 20) } },
    { "near it: SM80_16x8x16", "SM80_16x8x16_F32F16F16F3" }, { "parse: the parenthesis", "(4,8" },
    { "_ is no layout and no swizzle", _ },
    { "2%^30 rows", tile.swizzle(30, 0, 31) },
  } do
    it("says why: " .. row[1], function()
      local ok, message = pcall(tile.draw, row[2], row[3])
      assert.is_false(ok)
      assert.truthy(message:find(row[1]), message)
    end)
  end
end)
