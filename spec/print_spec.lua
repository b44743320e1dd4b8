-- print_spec.lua: pictures of layouts, character by character.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"

-- Blocks of the file: the layout's line, its picture, an empty line.
local function blocks(name)
  local found, lines = {}, {}
  for line in io.lines(name) do
    if line ~= "" then
      lines[#lines + 1] = line
    else
      found[#found + 1] = lines
      lines = {}
    end
  end
  if #lines > 0 then found[#found + 1] = lines end
  return found
end

describe("print_layout", function()
  local golden = blocks "spec/golden/print_layout.txt"
  assert(#golden == 16)
  for _, lines in ipairs(golden) do
    it("draws " .. lines[1] .. " as CuTe does", function()
      local A = tile.layout(lines[1])
      assert.equal(table.concat(lines, "\n"), A:print_layout())
      assert.equal(A:print_layout(), tile.print_layout(A))
    end)
  end

  it("draws rank 1 as a column", function()
    assert.equal("3:2\n      0 \n    +---+\n 0  | 0 |\n    +---+\n 1  | 2 |\n    +---+\n 2  | 4 |\n"
      .. "    +---+", tile.layout(3, 2):print_layout())
  end)

  it("lists what has more modes", function()
    assert.equal("(2,1,2):(1,0,4)\n(0,0,0)  0\n(1,0,0)  1\n(0,0,1)  4\n(1,0,1)  5",
                 tile.layout({ 2, 1, 2 }, { 1, 0, 4 }):print_layout())
  end)

  it("refuses what nobody can look at, before it makes any of it", function()
    for _, A in ipairs { tile.layout { 2000, 2000 }, tile.layout(1 << 40),
                         tile.layout { 64, 64, 65 },
                         tile.layout({ 1 << 20, 1 << 20 }, { 0, 0 }) } do
      local _, e = pcall(A.print_layout, A)
      assert.equal(("print_layout: %s has %d values, at most 262144 are shown\n"
                    .. "show a part of it: a slice, or a tile"):format(A, A:size()), e)
    end
    local _, lines = tile.layout { 512, 512 }:print_layout():gsub("\n", "")
    assert.equal(2 * 512 + 2, lines)
  end)

  it("draws a tensor's layout, and what is swizzled", function()
    local A = tile.layout "Sw<1,0,1> o 0 o (2,2):(2,1)"
    local picture = "Sw<1,0,1> o 0 o (2,2):(2,1)\n      0   1 \n    +---+---+\n 0  | 0 | 1 |\n"
      .. "    +---+---+\n 1  | 3 | 2 |\n    +---+---+"
    assert.equal(picture, A:print_layout())
    assert.equal(picture, tile.tensor("u8", A):print_layout())
  end)

  it("has one line for what is empty", function()
    assert.equal("(1099511627776,0):(1,0)", tile.layout({ 1 << 40, 0 }, { 1, 0 }):print_layout())
  end)

  it("draws coordinates and negative offsets", function()
    assert.equal("(1,2):(1@0,1@1)\n          0       1 \n    +-------+-------+\n"
      .. " 0  | (0,0) | (0,1) |\n    +-------+-------+",
      tile.make_identity_layout { 1, 2 }:print_layout())
    assert.equal("2:-3\n       0 \n    +----+\n 0  |  0 |\n    +----+\n 1  | -3 |\n    +----+",
      tile.layout(2, -3):print_layout())
  end)
end)
