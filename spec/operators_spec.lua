-- operators_spec.lua: operators that a value does not have, and names of other libraries: what is
-- said to be there instead.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"

local env = setmetatable({ tile = tile, layout = tile.layout }, { __index = _G })

describe("what is not there", function()
  refused(it, {
    { 'return layout(4) + layout(4)',
      "Layout + Layout: there is no such operator; make_layout{A, B} has the modes of both" },
    { 'local A = layout(4) return A - A',
      "Layout - Layout: there is no such operator; A:with_offset(n) begins elsewhere" },
    { 'return 2 ^ layout(4)',
      "number ^ Layout: there is no such operator; A:logical_product(B) repeats A" },
    { 'return -layout(4)',
      "-Layout: there is no such operator; a reversed mode has a stride below 0" },
    { 'return "a layout: " .. layout(4)',
      "string .. Layout: there is no such operator; tostring(x) is the text of a value" },
    { 'return layout(4) < layout(5)',
      "Layout < Layout: there is no such operator; sizes are compared: A:size() < B:size()" },
    { 'return #tile.device "cpu"', "#Device: there is no such operator" },
    { 'return tile.device "cpu" + 1', "Device + number: there is no such operator" },
    { 'return layout(4) + tile.parse "(1,2)"',
      "Layout + Tuple: there is no such operator; make_layout{A, B} has the modes of both" },
    { 'tile.zeros(4)',
      "tile.zeros: no such function; here it is tensor(dtype, layout), which is zeroed" },
    { 'return layout(4):numel()', "Layout.numel: no such method; here it is size" },
  }, env)
end)

describe("an operator that a value does not have", function()
  local values = { tile.layout(4), tile.device "cpu",
                   tile.tensor("f32", tile.layout(4)),
                   tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" } }
  local OPERATORS = { "+", "-", "%", "^", "//", "..", "<", "<=", "&", "|", "~", "<<", ">>" }

  it("is told with both sides, whatever they are", function()
    for _, operator in ipairs(OPERATORS) do
      local apply = load(("return function(a, b) return a %s b end"):format(operator), "=row")()
      for _, a in ipairs(values) do
        for _, b in ipairs { a, 1, "x", {}, true, print, tile.layout { 2, 2 } } do
          for _, sides in ipairs { { a, b }, { b, a } } do
            local ok, message = pcall(apply, sides[1], sides[2])
            assert.is_false(ok)
            assert.truthy(message:find("^row:1: ") or sides[1] == "x", message)
            assert.truthy(message:find(" " .. operator .. " ", 1, true), message)
            assert.truthy(message:find("there is no such operator", 1, true), message)
          end
        end
      end
    end
  end)

  it("is the other side's, if that has it", function()
    local theirs = setmetatable({}, { __add = function() return "theirs" end })
    for _, a in ipairs(values) do
      assert.equal("theirs", a + theirs)
      assert.equal("theirs", theirs + a)
      assert.has_error(function() return a - theirs end)
    end
  end)
end)
