-- caller_spec.lua: errors name what the script called, not what does the work behind it. What has
-- no name, A(i, j), T(i, j), T[{i, j}], has none there either.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

local env = {
  layout = layout, _ = _, A = layout { 4, 8 }, T = tile.tensor("f32", layout { 4, 8 }),
  copy = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                           thr = layout({ 4, 8 }, "right"), val = layout { 1, 4 } },
  mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 2, 2, 1 } },
}

local MODES = "coordinate (1,2,3) has 3 modes, (4,8):(1,4) has 2"
local COPY = "the tile (4,32) has 2 modes, the tensor 64:1 has 1"
local FRAGMENT = "a fragment (V,M,N,...) of the tile (4,32) has 3 modes, 3:1 has 1"
local ROWS = {
  { "A(1, 2, 3)", MODES },
  { "A{1, 2, 3}", MODES },
  { "A(1, _, 3)", "coordinate (1,_,3) has 3 modes, (4,8):(1,4) has 2" },
  { "A:at(1, 2, 3)", "at: " .. MODES },
  { "A:crd2idx{1, 2, 3}", "crd2idx: " .. MODES },
  { "A:slice{1, 2, 3}", "slice: " .. MODES },
  { "A:slice_and_offset{1, 2, 3}", "slice_and_offset: " .. MODES },
  { "A:domain_offset{1, 2, 3}", "domain_offset: " .. MODES },
  { "T(1, 2, 3)", MODES },
  { "T(1, _, 3)", "coordinate (1,_,3) has 3 modes, (4,8):(1,4) has 2" },
  { "T:set(0, 1, 2, 3)", "set: " .. MODES },
  { "T:slice{1, _, 3}", "slice: coordinate (1,_,3) has 3 modes, (4,8):(1,4) has 2" },
  { "copy:partition(layout(64))", "partition: " .. COPY },
  { "copy:partition_S(layout(64))", "partition_S: " .. COPY },
  { "copy:partition_D(layout(64))", "partition_D: " .. COPY },
  { "copy:retile_S(layout(3))", "retile_S: " .. FRAGMENT },
  { "copy:retile_D(layout(3))", "retile_D: " .. FRAGMENT },
  { "copy:get_slice(0):partition_S(layout(64))", "partition_S: " .. COPY },
  { "copy:get_slice(0):partition_D(layout(64))", "partition_D: " .. COPY },
  { "copy:get_slice(0):retile_S(layout(3))", "retile_S: " .. FRAGMENT },
  { "copy:get_slice(0):retile_D(layout(3))", "retile_D: " .. FRAGMENT },
  { "mma:thrfrg_A(layout(64))", "thrfrg_A: A has the modes (M,K), 64:1 has 1" },
  { "mma:partition_B(layout(64))", "partition_B: B has the modes (N,K), 64:1 has 1" },
  { "mma:partition_shape_C(4)", "partition_shape_C: C has the modes (M,N), 4:1 has 1" },
  { "mma:get_slice(0):partition_C(layout(64))", "partition_C: C has the modes (M,N), 64:1 has 1" },
}

describe("an error names the caller:", function()
  for _, row in ipairs(ROWS) do
    it(row[1], function()
      local ok, message = pcall(assert(load("return " .. row[1], "=row", "t", env)))
      assert.is_false(ok)
      assert.equal("row:1: " .. row[2], message)
    end)
  end

  it("T[{1, 2, 3}] = 4", function()
    assert.has_error(function() env.T[{ 1, 2, 3 }] = 4 end, MODES)
  end)
end)
