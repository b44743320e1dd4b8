-- copy_axes_spec.lua: copies of many short axes, more than a box has room for.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

local E = { 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3 }
local ORDERS = {
  { 12, 2, 10, 4, 8, 6, 7, 5, 9, 3, 11, 1 },
  { 12, 10, 8, 6, 4, 2, 1, 3, 5, 7, 9, 11 },
  { 1, 12, 2, 11, 3, 10, 4, 9, 5, 8, 6, 7 },
}

describe("a copy of twelve axes", function()
  for _, order in ipairs(ORDERS) do
    it("is planned, and right by every way: " .. table.concat(order, " "), function()
      local stride, n = {}, 1
      for _, i in ipairs(order) do stride[i], n = n, n * E[i] end
      local S = tile.layout(E, stride)
      local src = tile.tensor("u16", tile.layout(n), "cpu:checked")
      local dst = tile.tensor("u16", tile.layout(n), "cpu:checked")
      for k = 0, n - 1 do src:set(k, k) end
      local plan = tile.plan(src:view(S), dst:view(tile.layout(E)))
      for _, way in ipairs(plan:why()) do
        if way.possible then
          dst:fill(0)
          plan:take(way.kernel, way.vector)
          plan()
          for k = 0, n - 1, 7 do assert.are.equal(S(k), dst(k)) end
        end
      end
      plan:free()
    end)
  end
end)
