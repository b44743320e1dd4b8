-- operators_spec.lua: operators that a value does not have, and names of other libraries: what is
-- said to be there instead.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"

local env = setmetatable({
  tile = tile, layout = tile.layout,
  mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = tile.layout { 2, 2 } },
  copy = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                           thr = tile.layout { 32, 8 }, val = tile.layout { 8, 1 } },
}, { __index = _G })

-- What has the layouts of these.
local MMA <const> = "mma:tile_shape() is its tile, mma:thr_layout_VMNK() its threads, "
                    .. "mma:layout_C_TV() which thread has what"
local COPY <const> = "copy:tiler_MN() is its tile, copy:tiled_layout_TV() which thread has what "
                     .. "of it"
local ATOM <const> = "atom.shape_MNK is its tile, atom.layout_A, layout_B, layout_C which thread "
                     .. "has what"

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
    { 'return tile.rank(mma)', "bad argument #1 to 'rank' (integer, _, table or layout expected, "
      .. "got moontile.TiledMMA; " .. MMA .. ")" },
    { 'return tile.cosize(mma)', "bad argument #1 to 'cosize' (layout expected, "
      .. "got moontile.TiledMMA; " .. MMA .. ")" },
    { 'return tile.shape(copy)', "bad argument #1 to 'shape' (layout expected, "
      .. "got moontile.TiledCopy; " .. COPY .. ")" },
    { 'return copy:shape()', "TiledCopy.shape: no such method; " .. COPY },
    { 'return mma.shape', "TiledMMA.shape: no such method; " .. MMA },
    { 'return tile.size(mma:atom())', "shape: integer, _, table or layout expected, "
      .. "got moontile.MmaAtom; " .. ATOM },
    { 'return mma:atom() + 1', "MmaAtom + number: there is no such operator; " .. ATOM },
    { 'return #copy:atom()', "#CopyAtom: there is no such operator; atom.layout_src, "
      .. "atom.layout_dst are which thread has what" },
    { 'return layout(4) * mma', "tiler: integer, _, table or layout expected, "
      .. "got moontile.TiledMMA; " .. MMA },
    { 'return mma * layout(4)', "TiledMMA * Layout: there is no such operator; " .. MMA },
    { 'return mma(3)', "TiledMMA(...): there is no such operator; "
      .. "mma:get_slice(t) is the part of thread t" },
    { 'return copy(3)', "TiledCopy(...): there is no such operator; "
      .. "copy:get_slice(t) is the part of thread t" },
    { 'return mma:atom()(3)', "MmaAtom(...): there is no such operator; "
      .. "tile.tiled_mma{ atom = atom } makes a tiled MMA of it" },
    { 'return tile.device "cpu" (1)', "Device(...): there is no such operator; "
      .. "tile.tensor(dtype, layout, device) is a tensor on it" },
    { 'return tile.tiled_mma "SM80_16x8x16_F32F16F16F32_TN"', "bad argument #1 to 'tiled_mma' "
      .. "(table expected, got string; options have names: { atom =, atoms =, permutation = })" },
    { 'return tile.tiled_mma { "SM80_16x8x16_F32F16F16F32_TN" }', "tiled_mma: an option has no "
      .. "name; those here are { atom =, atoms =, permutation = }" },
    { 'return tile.tensor(layout(4), "f32")', "bad argument #1 to 'tensor' (name of a dtype "
      .. "expected, got moontile.Layout; it stands before the layout)" },
    { 'return tile.tensor(layout(4))', "bad argument #1 to 'tensor' (name of a dtype expected, "
      .. 'got moontile.Layout; "f32" is one, tile.dtypes() has all)' },
    { 'return tile.tensor("f32", "f16")', "bad argument #2 to 'tensor' (layout expected, got "
      .. 'string; "f16" is the text of no layout, "(4,2):(1,4)" is one)' },
    { 'return tile._ + 1', "operand: integer expected, got _" },
  }, env)
end)

it("size of a tiled MMA or copy is that of its threads, as in CuTe", function()
  for _, x in ipairs { env.mma, env.copy } do assert.equal(x:size(), tile.size(x)) end
  assert.equal(128, tile.size(env.mma))
  assert.equal(256, tile.size(env.copy))
end)

describe("an operator that a value does not have", function()
  local values = { tile.layout(4), tile.device "cpu",
                   tile.tensor("f32", tile.layout(4)),
                   tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" },
                   tile.mma_atom "SM80_16x8x16_F32F16F16F32_TN",
                   tile.copy_atom("UniversalCopy<uint128_t>", "f16") }
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
