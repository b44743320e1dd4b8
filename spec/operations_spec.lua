-- operations_spec.lua: every function and method refuses arguments that it does not take, every
-- table of options keys that it does not know; names that are not there are errors.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

-- ---------------------------------------------------------------- what there is

local rows = dofile "spec/operations.lua"
local A = layout({ 4, 8 })
local T = tile.tensor("f32", A)
local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(4) }
local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }

-- A value of each class, and self as the messages have it.
local VALUES = {
  LAYOUT = A, TENSOR = T, DEVICE = tile.device "cpu", STREAM = tile.device("cpu"):stream(),
  PLAN = tile.plan(T, tile.tensor("f32", A)), TILEDCOPY = copy, THRCOPY = copy:get_slice(0),
  TILEDMMA = mma, THRMMA = mma:get_slice(0), KERNEL = tile.kernel { mma = mma },
  VALUE = tile.swizzle(2, 0, 3),
  GRAPH = tile.device("cpu"):graph(function() tile.copy(T, tile.tensor("f32", A)) end),
}

local function refusal(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_./]+:%d+: ", ""))
end

-- n tables: whatever an argument should be.
local function tables(n)
  local list = {}
  for i = 1, n do list[i] = {} end
  return table.unpack(list)
end

describe("the list of operations", function()
  it("has each function of the module", function()
    local listed = { _ = true, X = true, _VERSION = true, LayoutLeft = true, LayoutRight = true,
                     GenColMajor = true, GenRowMajor = true }
    for _, row in ipairs(rows) do if row.of.TILE then listed[row.name] = true end end
    for name in pairs(tile) do assert.is_true(listed[name], name) end
    for name in pairs(listed) do assert.is_not_nil(rawget(tile, name), name) end
  end)
  it("says of each what it takes", function()
    for _, row in ipairs(rows) do
      local n = row.takes == "" and 0 or select(2, row.takes:gsub(",", "")) + 1
      if row.most == "MANY" then assert.truthy(row.takes:find("...", 1, true), row.name)
      else assert.equal(row.most, n, row.name) end
    end
  end)
end)

describe("surplus arguments of", function()
  for _, row in ipairs(rows) do
    for class in pairs(row.of) do
      local value = VALUES[class]
      if row.most ~= "MANY" and class ~= "INNER" then
        it(class .. " " .. row.name, function()
          local f = class == "TILE" and tile[row.name] or value
          if value and row.name ~= "__call" then f = value[row.name] end
          local self = row.name == "__call" and row.takes:match "%w+"
          local message = refusal(f, tables(row.most + (self and 2 or 3)))
          if not self then
            assert.equal(("%s: %s%s, got %d"):format(row.name, row.most > 0 and "at most "
              .. row.most .. " argument" .. (row.most > 1 and "s (" or " (") .. row.takes
              or "takes no arguments", row.most > 0 and ")" or "", row.most + 3), message)
          else
            assert.equal(("%s: at most 1 argument (%s), got 4"):format(self,
              row.takes:gsub("^%w+,? ?", ""):gsub("^%[, ", "["), nil), message)
          end
        end)
      end
    end
  end
end)

--   code                                          what is said of it
local MESSAGES = {
  { "A:zipped_divide(4, 8)",
    "A:zipped_divide: at most 1 argument (tiler), got 2\n"
    .. "a tiler of several modes is one table: {4, 8}" },
  { "layout(4, 8, 99)",
    "layout: at most 2 arguments (shape [, stride]), got 3\n"
    .. "a shape of several modes is one table: {4, 8, 99}" },
  { "A:flatten(1)", "A:flatten: takes no arguments, got 1" },
  { 'layout { 4, 8 }:size(3)', "size: there is no mode 3 in (4,8):(1,4), its rank is 2" },
  { 'layout { 4, 8 }:coshape(2, 2)', "coshape: there is no mode 2 in 8:4, its rank is 1" },
  { 'layout { 4, 8 }:rank(0)', "mode numbers count from 1, got 0" },
  { 'layout { 4, 8 }:depth("x")', "mode: integer or table expected, got string" },
  { "A:at(1, 2, 3)", "at: coordinate (1,2,3) has 3 modes, (4,8):(1,4) has 2" },
  { "tile.held(1)", "held: takes no arguments, got 1" },
  { "T:to('cpu', 1)", "T:to: at most 1 argument ([device]), got 2" },
  { "T:local_tile({ 2, 2 }, { 0, 0 }, nil, 1)",
    "A:local_tile: at most 3 arguments (tiler, coordinate [, projection]), got 4" },
  { "tile.copy(1, 2, 3, 4, 5)",
    "copy: at most 4 arguments ([tiled_copy,] src, dst [, stream]), got 5" },
  { "w(1, 2)", "swizzle: at most 1 argument (index), got 2" },
  { "A:bank_conflicts('f32', 'read', 1, 2)",
    "A:bank_conflicts: at most 3 arguments (bits [, kind]), got 4" },
}

-- What takes any number of arguments: code that has one too many.
local MANY = {
  make_layout = "tile.make_layout(A, A, 7)", at = "A:at(1, 2, 3)", get = "A:get(1, 2)",
  rank = "A:rank(1, 2)", depth = "tile.depth({ 4 }, 1, 2)", size = "A:size(3)",
  shape = "A:shape(2, 2)", stride = "A:stride(1, 1, 2)", cosize = "T:cosize(3)",
  footprint = "T:footprint(3)", coshape = "A:coshape(2, 5)",
  select = "A:select(1, 2, 3)", zip = "tile.zip({ 1 }, { 2 }, 3)",
  with_shape = "A:with_shape(4, 8, 'x')", set = "T:set(1, 0, 0, 0)", __call = "T(0, 0, 0)",
  einsum = "tile.einsum('ij->i', T, {}, 5)", make_shape = "tile.make_shape(1, 'x')",
  make_stride = "tile.make_stride(1, {}, true)", make_coord = "tile.make_coord(1, A)",
  make_tile = "tile.make_tile(1, A, T, nil, 2)", parse = "tile.parse('(?,4):(1,?)', 8, 9, 10)",
}

describe("a tensor", function()
  it("has the picture and the parts of its layout", function()
    assert.equal(A:print_layout(), T:print_layout())
    for _, name in ipairs { "local_tile", "inner_partition", "outer_partition", "im2col",
                            "domain_offset", "local_partition", "coshape" } do
      assert.is_function(T[name])
    end
  end)
end)

describe("any number of arguments:", function()
  local env = { A = A, T = T, tile = tile }
  for _, row in ipairs(rows) do
    if row.most == "MANY" and not row.of.INNER then
      it(row.name .. " gives each a meaning", function()
        refusal(assert(load("return " .. MANY[row.name], "=row", "t", env)))
      end)
    end
  end
end)

describe("the message", function()
  for _, row in ipairs(MESSAGES) do
    it("of " .. row[1], function()
      local env = { A = A, T = T, tile = tile, layout = layout, w = tile.swizzle(2, 0, 3) }
      assert.equal(row[2], refusal(assert(load("return " .. row[1], "=row", "t", env))))
    end)
  end
  it("has the line of the caller", function()
    for _, code in ipairs { "A:flatten(1, 2, 3)", "tile.print_layout(A, 1)", "plan(1, 2)" } do
      local chunk = load("local A, tile, plan = ...\n\nlocal x = " .. code, "=row")
      local ok, message = pcall(chunk, A, tile, VALUES.PLAN)
      assert.is_false(ok)
      assert.equal("row:3: ", message:sub(1, 7))
    end
  end)
end)

describe("a nil behind the arguments", function()
  it("is absent", function()
    assert.equal(32, A:size(nil))
    assert.equal(32, tile.size(A, nil, nil, nil))
    assert.equal("((2,2),8):((1,2),4)", tostring(tile.logical_divide(A, { 2 }, nil)))
    assert.equal(0, select("#", VALUES.PLAN(nil, nil, nil)))
    assert.equal("4:1", tostring(layout(4, nil, nil)))
    assert.equal("cpu", tile.devices()[1])
    assert.same(tile.devices(), (tile.devices(nil, nil)))
  end)
end)

-- ---------------------------------------------------------------- options

-- Each table of options with a key that it does not know: what is near, what there is.
local OPTIONS = {
  { "tiled_copy { atm = 1 }", "tiled_copy", "atm", "atom",
    "atom, dtype, bits, thr, val, tv, tiler" },
  { "tiled_mma { permutaton = 1 }", "tiled_mma", "permutaton", "permutation",
    "atom, atoms, permutation" },
  { "atoms { arhc = 'sm_90' }", "atoms", "arhc", "arch",
    "kind, arch, runs_on, M, N, K, A, B, C, D" },
  { "atoms { kind = 'copy', M = 16 }", 'atoms of kind "copy"', "M", nil, "kind, arch, runs_on" },
  { "device { 'cpu', thread = 2 }", "device", "thread", "threads",
    "1, threads, libcuda, libblas, piece" },
  { "device { 'cpu', ['1'] = 'cpu' }", "device", "1", nil,
    "1, threads, libcuda, libblas, piece" },
  { "device { 'cpu', ['threads\\0'] = 2 }", "device", "threads", nil,
    "1, threads, libcuda, libblas, piece" },
  { "device { 'cpu', 'cuda' }", "device", "2", nil, "1, threads, libcuda, libblas, piece" },
  { "gemm(T, T, T, { alhpa = 2 })", "gemm", "alhpa", "alpha",
    "alpha, beta, family, precision, stream, activation, bias, residual" },
  { "plan_gemm(T, T, T, { stream = 2 })", "plan", "stream", nil,
    "alpha, beta, family, precision, activation, bias, residual" },
  { "find_swizzle { smem = A, raed = A }", "find_swizzle", "raed", "read",
    "smem, write, read, bits, dtype, write_kind, read_kind" },
  { "bank_conflicts(A, 32, { byte = 4 })", "bank_conflicts", "byte", "bytes",
    "kind, bytes, matrices, offset" },
  { "coalescing(A, 32, { offset = 4, [{}] = 4 })", "coalescing", "table", nil,
    "kind, bytes, matrices, offset" },
  { "verify({ tv = A, tiles = 4 }, A)", "verify", "tiles", "tiler", "tv, tiler" },
  { "einsum('ij->i', T, { strem = 1 })", "einsum", "strem", "stream",
    "activation, alpha, beta, bias, dtype, mma, precision, residual, stream" },
  { "tune(p, { rouns = 1 })", "tune", "rouns", "rounds", "file, rounds" },
}

-- Options and arguments that would not be looked at.
local UNUSED = {
  { "tiled_copy { atom = 'UniversalCopy<uint32_t>', thr = A, dtype = 'f32', bits = 32 }",
    "tiled_copy: dtype or bits, not both" },
  { "find_swizzle { smem = A, read = A, dtype = 'f32', bits = 32 }",
    "find_swizzle: dtype or bits, not both" },
  { "find_swizzle { smem = A, read = A, dtype = 'f32', write_kind = 'write' }",
    "find_swizzle: write_kind: there is no write" },
  { "bank_conflicts(A, 32, { matrices = 4 })",
    "bank_conflicts: matrices: ldmatrix and stmatrix move some, a read moves none" },
  { "bank_conflicts(A, 32, 'read', 5)",
    "bank_conflicts: at most 3 arguments (A, bits [, kind]), got 4" },
  { "coalescing(T, 'read', 5)", "coalescing: at most 2 arguments (view [, kind]), got 3" },
  { "crd2idx(3, A, 7)", "bad argument #3 to 'crd2idx' (a layout has its strides)" },
  { "copy(T, T, nil, 5)", "copy: at most 3 arguments (src, dst [, stream]), got 4" },
  { "plan(T, T, nil, 5)", "plan: at most 2 arguments (src, dst), got 4" },
  { "gemm(T, T, T, nil, 5)", "gemm: at most 4 arguments (A, B, C [, options]), got 5" },
  { "make_layout { A, A, x = 3 }", "layouts: not a sequence: it has a field [x]" },
  { "einsum('ij->i', T, tensor('f32', layout(4)), { dtype = 'f64' })",
    "einsum: dtype is that of the C that is made, but C is given" },
  { "tensor('f32', layout { 1, 6, 6, 2 }):im2col(3, { stride = 2, pad = 1 })",
    "im2col: lower: a field" },
  { "im2col(layout { 1, 6, 6, 2 }, 3, { stride = 2, pad = 1 })", "im2col: lower: a field" },
}

describe("options", function()
  local env = setmetatable({ A = A, T = T, p = VALUES.PLAN }, { __index = tile })
  for _, row in ipairs(OPTIONS) do
    local code, what, key, near, keys = table.unpack(row, 1, 5)
    it("that are not there: " .. code, function()
      local said = ("%s: unknown option '%s'; %sthere are: %s"):format(what, key,
        near and "did you mean " .. near .. "? " or "", keys)
      assert.equal(said, refusal(assert(load("return " .. code, "=row", "t", env))))
    end)
  end
  for _, row in ipairs(UNUSED) do
    it("and arguments that mean nothing: " .. row[1], function()
      local said = refusal(assert(load("return " .. row[1], "=row", "t", env)))
      assert.equal(row[2], said:sub(1, #row[2]))
    end)
  end
end)

-- ---------------------------------------------------------------- names

describe("a name that is not there", function()
  it("is an error of the module, of a class, of an atom", function()
    for _, row in ipairs {
      { "tile.layot", "tile.layot: no such function; did you mean layout?" },
      { "tile.nothing_like_it", "tile.nothing_like_it: no such function" },
      { "tile.totable", "tile.totable: no such function; Tensor has one: Tensor:totable" },
      { "A.siez", "Layout.siez: no such method; did you mean size?" },
      { "T.print_layot", "Tensor.print_layot: no such method; did you mean print_layout?" },
      { "plan.meassure", "Plan.meassure: no such method; did you mean measure?" },
    } do
      local env = { tile = tile, A = A, T = T, plan = VALUES.PLAN }
      assert.equal(row[2], refusal(assert(load("return " .. row[1], "=row", "t", env))))
    end
  end)
  it("can be asked for", function()
    assert.is_nil(rawget(tile, "layot"))
    assert.is_nil(tile.__index)
    assert.is_nil(tile[1])
    assert.is_false(pcall(function() return tile.layot end))
  end)
  it("can be given one: the library itself does not see it", function()
    tile.view_of_mine = 5
    assert.equal(5, tile.view_of_mine)
    tile.view_of_mine = nil
    assert.is_false(pcall(function() return tile.view_of_mine end))
  end)
end)
