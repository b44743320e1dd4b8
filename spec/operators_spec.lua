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
    { 'return "x" * layout(4)', 'A: layout expected, got string; "x" is the text of no layout, '
      .. '"(4,2):(1,4)" is one' },
    { 'return "x" / layout(4)', 'A: layout expected, got string; "x" is the text of no layout, '
      .. '"(4,2):(1,4)" is one' },
    { 'return "x" + layout(4)',
      "string + Layout: there is no such operator; make_layout{A, B} has the modes of both" },
    { 'return "(4,6,8):(2,3,5)" * layout(6, 3)',
      "composition: no layout R has R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3\n"
      .. "  B's stride 3 runs over the end of A's mode 1 (extent 4): A(B(4)) = 9, where a layout "
      .. "would give 14\n  6:2, 6:4 and 6:12 compose with this A; so would 6:3 if mode 1 had "
      .. "extent 3" },
    { 'return layout(4) < layout(5)',
      "Layout < Layout: there is no such operator; sizes are compared: A:size() < B:size()" },
    { 'return #tile.device "cpu"', "#Device: there is no such operator" },
    { 'return tile.device "cpu" + 1', "Device + number: there is no such operator" },
    { 'return layout(4) + tile.parse "(1,2)"',
      "Layout + Tuple: there is no such operator; make_layout{A, B} has the modes of both" },
    { 'tile.zeros(4)',
      "tile.zeros: no such function; here it is tensor(dtype, layout), which is zeroed" },
    { 'return layout(4):numel()', "Layout.numel: no such method; here it is size" },
    { 'return tile.program_id(0)', "tile.program_id: no such function; a script says who does what "
      .. "and never runs as a thread: a block is a coordinate, local_tile(T, tiler, {m, n})" },
    { 'return tile.nvgpu.warp', 'tile.nvgpu: no such function; here it is names of instructions as '
      .. 'texts: tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }; atoms{ arch = "sm_90" } lists '
      .. 'them' },
    { 'return tile.TiledMMA', "tile.TiledMMA: no such function; did you mean tiled_mma?" },
    { 'return mma:thr_id()', "TiledMMA.thr_id: no such method; here it is atom().thr_id; "
      .. "thr_layout_VMNK(), of all its atoms" },
    { 'return tile.group_modes(layout { 4, 8 }, 0, 2)', "group_modes: modes 0 to 2, both included, "
      .. "of (4,8):(1,4): it has the modes 1 to 2\n  modes are counted from 1: CuTe's <0,2>, "
      .. "without its end, is 1, 2 here" },
    { 'return mma:tile_size(0)', "tile_size: mode 0: 1 is M, 2 is N, 3 is K" },
    { 'return tile.tile_shape(mma, 4)', "tile_shape: mode 4: 1 is M, 2 is N, 3 is K" },
    { 'return tile.gemm(mma)', "bad argument #2 to 'gemm' (moontile.Tensor expected, got no value; "
      .. "gemm takes [tiled_mma,] A, B, C [, options])" },
    { 'return tile.copy(tile.tensor("f16", layout(4)), copy)', "bad argument #2 to 'copy' "
      .. "(moontile.Tensor expected, got moontile.TiledCopy; a tiled copy stands before the "
      .. "tensors)" },
    { 'return tile.composition(layout(4))', "tiler: integer, _, table or layout expected, got no "
      .. "value; composition takes A, tiler" },
    { 'return tile.local_partition(layout { 4, 8 }, 8, 3)', "bad argument #2 to 'local_partition' "
      .. "(layout expected, got number; tile.layout(n) is one of n elements)" },
    { 'return tile.rank(mma)', "bad argument #1 to 'rank' (integer, _, table or layout expected, "
      .. "got moontile.TiledMMA; " .. MMA .. ")" },
    { 'return tile.cosize(mma)', "bad argument #1 to 'cosize' (layout expected, "
      .. "got moontile.TiledMMA; " .. MMA .. ")" },
    { 'return tile.shape(copy)', "bad argument #1 to 'shape' (layout expected, "
      .. "got moontile.TiledCopy; " .. COPY .. ")" },
    { 'return copy:tile_shape()', "TiledCopy.tile_shape: no such method; " .. COPY },
    { 'return tile.tma(layout(4))', "bad argument #1 to 'tma' (table expected, got "
      .. "moontile.Layout; options have names: { tensor =, smem =, box =, multicast =, "
      .. "dtype = })" },
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

it("the extents of a tile are those of all modes or of one", function()
  assert.equal("(32,16,16)", tostring(tile.tile_shape(env.mma)))
  for mode, extent in ipairs { 32, 16, 16 } do
    assert.equal(extent, tile.tile_size(env.mma, mode))
    assert.equal(extent, env.mma:tile_size(mode))
  end
end)

it("CuTe's names of orders are texts, in the module too", function()
  for name, order in pairs { LayoutLeft = "left", GenColMajor = "left", LayoutRight = "right",
                             GenRowMajor = "right" } do
    assert.equal(tile.layout({ 4, 8, 3 }, order), tile.layout({ 4, 8, 3 }, tile[name]))
  end
  assert.equal(tile._, tile.X)
end)

describe("a name of other libraries", function()
  local known = {}
  for _, row in ipairs(dofile "spec/operations.lua") do known[row.name] = true end
  for _, field in ipairs { "T", "print", "tostring", "assert" } do known[field] = true end
  local n = 0
  for line in io.lines "src/binding/others.def" do
    local kind, name, text = line:match "^LMT_(%u+)%(([%w_]+),%s*(.-)%)?$"
    if kind then
      n = n + 1
      it(name .. " is none of ours, and what is said to be there is there", function()
        local ok, message = pcall(function() return tile[name] end)
        assert.is_false(ok)
        local said = kind == "HERE" and "; here it is " or "; "
        assert.truthy(message:find(said, 1, true), message)
        for called in text:gmatch "([%a_][%w_]*)[({]" do assert.is_true(known[called], called) end
      end)
    end
  end
  it("is one of more than a hundred", function() assert.is_true(n > 100) end)
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
            assert.truthy(message:find("^row:1: "), message)
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

describe("a field of a result that it has not", function()
  local copy = env.copy
  local proof = tile.verify(copy, tile.layout { 256, 16 })
  local banks = tile.bank_conflicts(tile.layout(32, 32), "f32")
  it("is an error that names the one that was meant", function()
    assert.has_error(function() return proof.okay end,
                     "Verdict.okay: no such field; did you mean ok?")
    assert.has_error(function() return proof.predicatod end,
                     "Verdict.predicatod: no such field; did you mean predicated?")
    assert.has_error(function() return banks.conlicts end,
                     "Analysis.conlicts: no such field; did you mean conflicts?")
  end)
  it("is not written either", function()
    local A, D, T = tile.layout(4), tile.device "cpu", tile.tensor("f32", tile.layout(4))
    assert.has_error(function() A.shape = 3 end,
                     "Layout.shape = ...: a Layout has no fields to be set; "
                     .. "layout(shape, stride) makes another")
    assert.has_error(function() A[1] = 3 end,
                     "Layout[1] = ...: a Layout has no fields to be set; "
                     .. "layout(shape, stride) makes another")
    assert.has_error(function() D.threads = 3 end,
                     "Device.threads = ...: a Device has no fields to be set")
    assert.error_matches(function() T.x = 3 end, "elements are written by T%[{i, j}%] = v")
  end)
  it("is nil where it may be there", function()
    assert.is_true(proof.ok)
    for _, field in ipairs { "problem", "reason", "witness", "why", "wgmma" } do
      assert.is_nil(proof[field])
    end
    assert.is_nil(banks.matrices)
    assert.is_nil(banks[1])
  end)
end)
