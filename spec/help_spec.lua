-- help_spec.lua: help, commands and the tour of the console.
-- SPDX-License-Identifier: MIT

require "moontile"
local console = require "moontile.console"

local function type_in(text, columns)
  local out, said = {}, {}
  local s = console.new {
    write = function(t) out[#out + 1] = t end, complain = function(t) said[#said + 1] = t end,
    columns = function() return columns end,
  }
  for line in (text .. "\n"):gmatch "(.-)\n" do s:feed(line) end
  return table.concat(out), table.concat(said), s
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  return lines
end

--  what is typed, what is in the answer, what is not
local ROWS = {
  { "?", "Layouts: built" }, { "help", ":tour" }, { "help()", "zipped_divide" }, { "?tile", ":tour" },
  { "?layout", "layout(shape [, stride])  -> Layout" }, { "layout?", "layout(shape [, stride])" },
  { "  ?  layout  ", "(4,(2,2)):(2,(1,8))" }, { "help(layout)", "layout(shape [, stride])" },
  { "help 'layout'", "> layout{4, 8}" }, { "?tile.layout", "layout(shape", "T:layout" },
  { "?zipped_divide", "also a method of Layout, Tensor" }, { "?elem_less", "likewise elem_leq" },
  { "help 'swizzle'", "find_swizzle" }, { "help 'wavefront'", "bank_conflicts" }, { "?tensors", "itemsize" },
  { "?Layout", "a Layout" }, { "?MmaAtom", "layout_A" }, { "?no_such_thing", "nothing is known of no_such_thing" },
  { "?layot", "did you mean layout?" }, { "local A = layout(4)\n?A", "a Layout" },
  { "local A = layout(4)\n?A:size", "How many coordinates", "How many threads" },
  { "local A = layout(4)\nA.at?", "A:at(coordinate...)" }, { "local layout = 5\n?layout", "layout(shape" },
  { "x = 5\n?x", "a number of Lua" }, { "?print", "Lua's manual" }, { "function f() end\n?f", "stdin:1" },
  { "layout", "layout(shape [, stride])  ?layout says more" },
  -- commands
  { ":draw layout({2, 2}, {2, 1})", "0 | 0 | 1 |" }, { ":draw layout{2, 100}", "of 100 columns" },
  { ":draw layout{100, 2}", "32 of 100 rows" }, { ":draw layout(4)", "| 0 | 1 | 2 | 3 |" },
  { ":draw layout{2, 2, 2}", "| 0 | 2 # 4 | 6 |" }, { ":draw tensor('i8', layout{2, 2})", "| 0 | 2 |" },
  { ":draw make_identity_layout{2, 2}", "(1,1)" }, { ":draw swizzle(1, 0, 1) * layout{2, 2}", "| 0 | 3 |" },
  { ":draw layout{2, 2}, { by = 'coordinate' }", "| (0,0) | (0,1) |" }, { ":draw 'SM80_16x8x16_F32F16F16F32_TN'", "|T12|" },
  { ":time 6 * 7", "42\n" }, { ":time 6 * 7", "s\n" }, { ":time 1\n_1", "1\n" }, { "local x = 4\n:time x + 1", "5\n" },
  { ":explain layout(24, 2) / layout(4, 2)", "R = (4,(2,3)):(4,(2,16))" },
  { ":explain layout(20, 2) * layout(4, 3)", "composition: R(i) = A(B(i))" },
  { "local A = layout '(2,(1,6)):(1,(6,2))'\n:explain A:coalesce()", "R = 12:1" },
  { ":explain right_inverse(layout({4, 8}, {8, 1}))", "R = (8,4):(4,1)" },
  { ":explain tile.complement(layout(4, 2), 24)", "R = (2,3):(1,8)" },
  { ":explain layout{8, 24}:zipped_divide{4, 8}", "zipped_divide" },
  { ":draw SM80_16x8x8_F32F16F16F32_TN", "| T0|" }, { ":device", "cpu " }, { ":device cpu", "threads" }, { ":device nope", "nope" }, { ":help layout", "layout(shape" },
  { ":tour", "1 of 8" }, { ":tour\n:tour", "2 of 8" }, { ":tour 5", "5 of 8" }, { ":tour 99", "1 of 8" },
}

--  what is typed, what is said of it
local SAID = {
  { ":nope", ":nope is no command; there are :device, :draw, :explain, :help, :time, :tour" },
  { ":draw 5", "draw: a layout, a tensor" },
  { ":draw SM80_16x8x8_F32F16F16F32_T", "near it: SM80_16x8x8_F32F16F16F32_TN" }, { ":draw", ":draw wants" }, { ":draw x +", "unexpected symbol near <eof>" },
  { ":draw nothing()", "a nil value" }, { ":time error 'bad'", "bad" }, { ":explain 5", ":explain wants A * B" },
  { ":explain layout(4):flatten()", "flatten is not explained" }, { ":explain nope(layout(4), 2)", "nope is not explained" },
}

describe("the console answers", function()
  for _, row in ipairs(ROWS) do
    it((row[1]:gsub("\n", " | ")), function()
      local out, said = type_in(row[1])
      assert.truthy(out:find(row[2], 1, true), out)
      if row[3] then assert.is_nil(out:find(row[3], 1, true)) end
      assert.equal("", said)
    end)
  end
  for _, row in ipairs(SAID) do
    it("that it cannot: " .. row[1], function()
      local _, said = type_in(row[1])
      assert.truthy(said:find(row[2], 1, true), said)
    end)
  end

  it("in the width of the terminal", function()
    for _, word in ipairs { "?", "?Layout", "?layout", "help 'tensor'", ":draw layout{40, 40}" } do
      for _, columns in ipairs { 40, 60, 120 } do
        for _, line in ipairs(lines_of((type_in(word, columns)))) do
          local is_code = line:match "^  > " or line:match "^:" or line:match "^%?name"
          local is_result = line:match "^  .*:%(" or line:match "%->"
          assert.is_true(#line <= columns or is_code ~= nil or is_result ~= nil, line)
        end
      end
    end
  end)

  it("inside of a statement nothing", function()
    local out = type_in "x = 'a\\\n:tour'"
    assert.equal("", out)
    assert.equal("a\n:tour", _G.x)
    _G.x = nil
  end)
end)

describe("the tour", function()
  it("goes all the way, and begins anew", function()
    local text = (":tour\n"):rep(9)
    local out, said = type_in(text)
    for n = 1, 8 do assert.truthy(out:find(n .. " of 8", 1, true)) end
    assert.equal(2, select(2, out:gsub("1 of 8", "")))
    assert.equal(1, select(2, said:gsub("composition: no layout", "")))
    assert.equal(3, select(2, said:gsub("\n", "")))
    for name in pairs { A = 1, B = 1, T = 1, mma = 1, P = 1, Q = 1 } do _G[name] = nil end
  end)
end)
