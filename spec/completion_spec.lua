-- completion_spec.lua: how what is typed at the console may go on.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local console = require "moontile.console"

local function session()
  return console.new { write = function() end, complain = function() end }
end

-- The candidates for the end of the text, each with what comes before it.
local function complete(s, text)
  local list, from = console.complete(s, text)
  assert.is_true(from >= 1 and from <= #text + 1)
  for i, word in ipairs(list) do list[i] = text:sub(1, from - 1) .. word end
  return list
end

local function has(list, text)
  for _, item in ipairs(list) do if item == text then return true end end
  return false
end

local s = session()
for _, line in ipairs {
  "local A = layout{ 4, 8 }", "local T = tensor('f32', A)", "local t = { inner = { A = A }, x = 1 }",
  "local text = 'abc'", "local plan = tile.plan(T, tensor('f32', A))", "layout{ 2 }",
} do s:feed(line) end

--  typed, one of the candidates (nil: there is none), one that is none
local ROWS = {
  -- names
  { "lay", "layout" }, { "x = lay", "x = layout" }, { "f(lay", "f(layout" }, { "tex", "text" },
  { "prin", "print", "print_x" }, { "for i = 1, 2 d", "for i = 1, 2 do" }, { "qui", "quit" },
  { "tile.", "tile.layout", "tile._VERSIONS" }, { "tile.zipped_d", "tile.zipped_divide" },
  { "tile:", nil, "tile:A" }, { "math.", "math.floor" }, { "nothing_like", nil }, { "tile.lay.", nil },
  { "-- lay", nil }, { "x --[[ ]] lay", "x --[[ ]] layout" }, { "'lay", nil }, { "[[lay", nil }, { "'a' .. lay", "'a' .. layout" },
  -- commands, help
  { ":ti", ":time" }, { "  :", "  :draw" }, { "?lay", "?layout" }, { "? zipped_d", "? zipped_divide" },
  { ":draw lay", ":draw layout" }, { ":time A:si", ":time A:size" }, { ":device 'c", nil },
  -- members
  { "A:zip", "A:zip" }, { "A:", "A:zipped_divide", "A:fill" }, { "A:", "A:size", "A:__call" },
  { "T:", "T:fill", "T:left_inverse" }, { "tensor('f32', A):fi", "tensor('f32', A):fill" },
  { "layout{ 4 }:fi", "layout{ 4 }:filter", "layout{ 4 }:fill" }, { "mma_atom('x').", "mma_atom('x').layout_A" },
  { "tiled_mma{ atom = 'x' }:get_slice(3):", "tiled_mma{ atom = 'x' }:get_slice(3):partition_A",
    "tiled_mma{ atom = 'x' }:get_slice(3):size" }, { "tile.plan(T, T):", "tile.plan(T, T):why" },
  { "device 'cpu':gr", "device 'cpu':graph" }, { "A:flatten():fi", "A:flatten():filter", "A:flatten():fill" },
 { "T:fil", "T:fill" }, { "plan:", "plan:why" },
  { "t.", "t.inner" }, { "t.inner.", "t.inner.A" }, { "t.inner.A:si", "t.inner.A:size" },
  { "text:", "text:rep" }, { "'x':r", "'x':rep" }, { "_:si", "_:size" },
  { "layout{ 4 }:si", "layout{ 4 }:size" }, { "f(A:siz", "f(A:size" }, { "A:flatten():si", "A:flatten():size" },
  { "t.inner.none.", nil }, { "1 .. A:si", "1 .. A:size" },
  -- keys of options
  { "tiled_mma{ ", "tiled_mma{ permutation", "tiled_mma{ layout" },
  { "tile.tiled_mma { atom = 'x', p", "tile.tiled_mma { atom = 'x', permutation" },
  { "tiled_mma({ a", "tiled_mma({ atoms" }, { "gemm(A, B, C, { al", "gemm(A, B, C, { alpha" },
  { "find_swizzle{ smem = A, re", "find_swizzle{ smem = A, read_kind" }, { "{ la", "{ layout" },
  { "tiled_mma{ atom = la", "tiled_mma{ atom = layout" }, { "layout{ la", "layout{ layout" },
  -- strings
  { "mma_atom 'SM80_16x8x16_F32F16F16F32_", "mma_atom 'SM80_16x8x16_F32F16F16F32_TN" },
  { 'mma_atom("SM8', 'mma_atom("SM80_' }, { "copy_atom 'SM75_U32x4", "copy_atom 'SM75_U32x4_LDSM_N" },
  { "copy_atom('DefaultCopy', 'bf", "copy_atom('DefaultCopy', 'bf16" },
  { "smem_atom 'GMMA::Layout_K_SW1", "smem_atom 'GMMA::Layout_K_SW128_Atom" },
  { "tensor('f", "tensor('f16" }, { "tensor('f16', A, 'cp", "tensor('f16', A, 'cpu:checked" },
  { "device 'cu", "device 'cuda" }, { "T:to 'cp", "T:to 'cpu" }, { "layout({ 4 }, 'r", "layout({ 4 }, 'right" },
  { "draw('SM75_U32x4_LDSM", "draw('SM75_U32x4_LDSM_N" }, { ":draw 'SM80_16x8x16_F32B", ":draw 'SM80_16x8x16_F32BF16BF16F32_TN" },
  { "svg(x, { sli", "svg(x, { slice" }, { ":draw layout(4), { by = 'co", ":draw layout(4), { by = 'coordinate" },
  { ":draw x, { thr", ":draw x, { thread" },
  { "tiled_copy{ atom = 'Univ", "tiled_copy{ atom = 'UniversalCopy<uint128_t>" },
  { "tiled_copy{ dtype = 'b", "tiled_copy{ dtype = 'bf16" }, { "tiled_mma{ atom = 'SM90_64x64x16_F32F16F16_S",
    "tiled_mma{ atom = 'SM90_64x64x16_F32F16F16_SS" }, { "plan:take('cpu_", "plan:take('cpu_rows" },
  { "A:explain 'comp", "A:explain 'composition" }, { "print 'la", nil },
  { "bank_conflicts(A, 'f32', 'wr", "bank_conflicts(A, 'f32', 'write" },
  { "kernels 'c", "kernels 'cuda" },
}

describe("completion", function()
  for _, row in ipairs(ROWS) do
    it("of " .. row[1], function()
      local list = complete(s, row[1])
      if row[2] then assert.is_true(has(list, row[2])) else assert.same({}, row[3] and {} or list) end
      if row[3] then assert.is_false(has(list, row[3])) end
    end)
  end

  it("is sorted, each once", function()
    for _, text in ipairs { "", "s", "tile.", "T:", "tensor '" } do
      local list = complete(s, text)
      for i = 2, #list do assert.is_true(list[i - 1] < list[i]) end
    end
  end)

  it("of many goes from part to part", function()
    local list = complete(s, "mma_atom 'SM80_")
    assert.is_true(has(list, "mma_atom 'SM80_16x8x16_"))
    assert.is_true(#list < 100)
  end)

  it("sees the lines that came before", function()
    local one = session()
    one:feed "tiled_mma{"
    assert.same({ "perm = permutation" }, { "perm = " .. complete(one, "  perm")[1]:match "%S+" })
    one:feed "  atom = '"
  end)

  it("calls nothing, and asks for no device", function()
    local called = false
    _G.trap = setmetatable({}, { __index = function() called = true end })
    for _, text in ipairs { "trap.", "trap.x.", "trap:y", "trap.x(", "tile.device 'cuda" } do complete(s, text) end
    _G.trap = nil
    assert.is_false(called)
  end)
end)

-- The keys are those that the functions themselves name when they get another.
describe("the keys of options", function()
  local words = console.words
  local T = tile.tensor("f32", tile.layout { 4, 4 })
  local H = tile.tensor("f16", tile.layout { 16, 16 })
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
  local plan = tile.plan(T, tile.tensor("f32", tile.layout { 4, 4 }))
  local none = { none = 1 }
  for name, f in pairs {
    tiled_copy = function() tile.tiled_copy(none) end, tiled_mma = function() tile.tiled_mma(none) end,
    atoms = function() tile.atoms(none) end, device = function() tile.device(none) end,
    gemm = function() tile.gemm(T, T, T, none) end, plan_gemm = function() tile.plan_gemm(T, T, T, none) end,
    plan = function() tile.plan(mma, H, H, T, none) end, einsum = function() tile.einsum("ij->i", T, none) end,
    find_swizzle = function() tile.find_swizzle(none) end, tune = function() tile.tune(plan, none) end,
    bank_conflicts = function() tile.bank_conflicts(T:layout(), 32, none) end,
    coalescing = function() tile.coalescing(T:layout(), 32, none) end,
    verify = function() tile.verify(none, T) end,
  } do
    it("of " .. name, function()
      local _, message = pcall(f)
      local keys = {}
      for key in message:match "there are: (.*)":gmatch "[%a_]+" do keys[#keys + 1] = key end
      table.sort(keys)
      local known = table.move(words.keys[name], 1, #words.keys[name], 1, {})
      table.sort(known)
      assert.same(keys, known)
    end)
  end
end)

describe("a line of a plain terminal", function()
  for typed, kept in pairs {
    ["1 + 1"] = "1 + 1", ["a\27[Ab"] = "ab", ["\27OAx"] = "x", ["x\27[3~"] = "x", ["a\tb"] = "a  b",
    ["\1\7x\127"] = "x", ["ä"] = "ä", ["\27[1;5Cx"] = "x", ["x\27"] = "x",
  } do
    it(("%q loses its keys"):format(typed), function()
      assert.equal(kept, console.without_controls(typed))
    end)
  end
end)
