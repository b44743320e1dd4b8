-- own_atom_spec.lua: atoms of one's own in Lua: those of the tables described again, copies through
-- random ones, text, pictures, refusals, lifetimes.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local layout = tile.layout
local random = math.random
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- What was told of an atom, as a description.
local function described(t)
  local types = {}
  for k, v in pairs(t.dtype) do types[k] = v:gsub("^sparse2%.", "") end
  return { shape_MNK = t.shape_MNK, thr_id = t.thr_id, layout_A = t.layout_A,
           layout_B = t.layout_B, layout_C = t.layout_C, dtype = types }
end

local function copy_described(t)
  return { thr_id = t.thr_id, src = t.layout_src, dst = t.layout_dst, ref = t.layout_ref,
           bits = t.bits }
end

-- All but most of the thousands that differ in N alone.
local function names()
  local list = {}
  for _, name in ipairs(tile.atoms()) do
    local many = name:find "^SM90_64x" or name:find "^SM100_MMA"
    if not many or random(10) == 1 then list[#list + 1] = name end
  end
  return list
end

local function refused(f, ...)
  local ok, text = pcall(f, ...)
  assert.is_false(ok)
  return text
end

-- ---------------------------------------------------------------- the tables

describe("the atoms of the tables, described as one's own", function()
  it("are proven", function()
    for _, name in ipairs(names()) do
      local t = tile.mma_atom(name)
      local own = tile.mma_atom(described(t))
      assert.are.equal(t.layout_A, own.layout_A, name)
      assert.are.equal(t.thr_id, own.thr_id, name)
      assert.are.equal("own", own.arch)
    end
    for _, name in ipairs(tile.atoms { kind = "copy" }) do
      local t = tile.copy_atom(name)
      assert.are.equal(t.layout_dst, tile.copy_atom(copy_described(t)).layout_dst, name)
    end
  end)

  local DTYPES = { f16 = "f16", bf16 = "bf16", tf32 = "f32", f32 = "f32", f64 = "f64", s8 = "i8",
                   u8 = "u8", s32 = "i32", e4m3 = "e4m3", e5m2 = "e5m2", s16 = "i16" }

  -- One atom of each pair of layouts and types that the CPU runs by warps. The names of others say
  -- more: what is in a container, how sums saturate.
  local function some()
    local list, seen = {}, {}
    for _, name in ipairs(names()) do
      local t = tile.mma_atom(name)
      local key = table.concat({ tostring(t.layout_A), tostring(t.layout_B), t.dtype.A, t.dtype.B,
                                 t.dtype.C }, " ")
      local known = DTYPES[t.dtype.A] and DTYPES[t.dtype.B] and DTYPES[t.dtype.C]
      if known and t.src.A == "reg" and t.src.B == "reg" and not seen[key]
         and not name:find "SATURATE" and not name:find "^SM120" then
        seen[key] = true
        list[#list + 1] = name
      end
    end
    return list
  end

  local function filled(dtype, A, device)
    local T, values = tile.tensor(dtype, A, device), {}
    for i = 1, A:size() do values[i] = random(0, 3) end
    return T:fill(values)
  end

  for _, what in ipairs { "cpu", "cpu:checked" } do
    it("give the same partitions and products on " .. what, function()
      local list, device = some(), tile.device(what)
      assert.is_true(#list > 15)
      for _, name in ipairs(list) do
        local t = tile.mma_atom(name)
        local mine = tile.tiled_mma { atom = tile.mma_atom(described(t)), atoms = { 2, 1 } }
        local theirs = tile.tiled_mma { atom = name, atoms = { 2, 1 } }
        for _, x in ipairs { "A", "B", "C" } do
          local tv = "layout_" .. x .. "_TV"
          assert.are.equal(theirs[tv](theirs), mine[tv](mine), name)
        end
        assert.are.equal(theirs:thr_layout_VMNK(), mine:thr_layout_VMNK())
        local M, N, K = 35, 19, 21
        local A = filled(DTYPES[t.dtype.A], layout { M, K }, device)
        local B = filled(DTYPES[t.dtype.B], layout({ N, K }, "right"), device)
        local C = tile.tensor(DTYPES[t.dtype.C], layout { M, N }, device)
        local D = tile.tensor(DTYPES[t.dtype.C], layout { M, N }, device)
        tile.gemm(theirs, A, B, C)
        tile.gemm(mine, A, B, D)
        assert.are.same(C:totable(), D:totable(), name)
        assert.is_true(C(3, 4) > 0)
      end
    end)
  end
end)

-- ---------------------------------------------------------------- copies

-- n places in digits, some to the threads: the texts of a mode's extents and strides.
local function deal(n, threads)
  local digits, stride = {}, 1
  local f = 2
  while n > 1 do
    if n % f == 0 then
      digits[#digits + 1] = { f, stride }
      n, stride = n // f, stride * f
    else f = f + 1 end
  end
  for i = #digits, 2, -1 do
    local j = random(i)
    digits[i], digits[j] = digits[j], digits[i]
  end
  local T, s, d = 1, { {}, {} }, { {}, {} }
  for _, digit in ipairs(digits) do
    local fits = threads == nil and T * digit[1] <= 32 or threads and threads // T % digit[1] == 0
    local m = fits and random(3) > 1 and 1 or 2
    if m == 1 then T = T * digit[1] end
    table.insert(s[m], digit[1])
    table.insert(d[m], digit[2])
  end
  if threads and T < threads then                    -- the others share
    local at = random(#s[1] + 1)
    table.insert(s[1], at, threads // T)
    table.insert(d[1], at, 0)
    T = threads
  end
  local function mode(list, one) return #list == 0 and one or table.concat(list, ",") end
  return ("((%s),(%s)):((%s),(%s))"):format(mode(s[1], "1"), mode(s[2], "1"), mode(d[1], "0"),
                                           mode(d[2], "0")), T
end

-- A random copy atom; src and dst may disagree about what a mode is: then there is none.
local function draw_copy()
  local places = ({ 1, 4, 6, 8, 12, 16, 32, 64 })[random(8)]
  local src, T = deal(places)
  local dst = deal(places, T)
  local ok, atom = pcall(tile.copy_atom, { src = src, dst = dst, bits = 16 })
  return ok and atom or tile.copy_atom { src = src, dst = src, bits = 16 }, T
end

describe("copies by random atoms of one's own", function()
  for _, x in ipairs(devices) do
    it("copy on " .. x.label, function()
      for _ = 1, math.ceil(700 * TIMES) do
        local atom, T = draw_copy()
        local V = atom.layout_ref[2]:size()
        local rows, columns = random(2), random(3)
        local copy = tile.tiled_copy {
          atom = atom, thr = layout { T * rows, columns }, val = layout { V, random(2) } }
        local shape = copy:tiler_MN()
        local M, N = shape[1] * random(2), shape[2] * random(2)
        local function tensor()
          local order = random(2) == 1 and "left" or "right"
          return tile.tensor("i16", layout({ M, N }, order), x.device)
        end
        local A, B = tensor(), tensor()
        local values = {}
        for i = 1, M * N do values[i] = i end
        A:fill(values)
        if T * rows * columns <= 1024 then
          tile.copy(copy, A, B)
          assert.are.same(A:totable(), B:totable(), tostring(copy))
        end
        for _, side in ipairs { "S", "D" } do
          assert.is_true(tile.verify(copy, layout { M, N }, side).ok, tostring(copy))
        end
      end
    end)
  end

  it("are partitioned as their two sides say", function()
    local atom = tile.copy_atom { dtype = "f16", src = "(4,4):(4,1)", dst = "(4,4):(1,4)" }
    local copy = tile.tiled_copy { atom = atom, thr = layout { 4, 1 }, val = layout { 4, 1 } }
    local S, D = copy:layout_S_TV(), copy:layout_D_TV()
    for t = 0, 3 do
      for v = 0, 3 do assert.are.equal(S(t, v), D(v, t)) end
    end
  end)
end)

-- ---------------------------------------------------------------- who runs what

describe("atoms{ runs_on = device }", function()
  for _, x in ipairs(devices) do
    it("are those that run on " .. x.label, function()
      local runs = {}
      for _, name in ipairs(tile.atoms { runs_on = x.device, M = 16, N = 8, A = "f16" }) do
        runs[name] = true
      end
      local A = tile.tensor("f16", layout { 16, 16 }, x.device)
      local B = tile.tensor("f16", layout { 8, 16 }, x.device)
      local some = 0
      for _, name in ipairs(tile.atoms { M = 16, N = 8, A = "f16" }) do
        local C = tile.tensor("f32", layout { 16, 8 }, x.device)
        local mma = tile.tiled_mma { atom = name }
        assert.are.equal(runs[name] or false, (pcall(tile.gemm, mma, A, B, C)), name)
        some = some + 1
      end
      assert.is_true(some > 4)
      for _, name in ipairs(tile.atoms { kind = "copy", runs_on = x.device }) do
        local copy = tile.tiled_copy { atom = name, bits = 8, thr = layout(1), val = layout(16) }
        local S = tile.tensor("u8", layout(16), x.device)
        tile.copy(copy, S, tile.tensor("u8", layout(16), x.device))
      end
    end)
  end

  it("of what is no device is an error", function()
    assert.is_truthy(refused(tile.atoms, { runs_on = 3 }):find "a device or its name expected")
    assert.is_truthy(refused(tile.atoms, { runs_on = "gpu7" }):find 'there is no device "gpu7"')
  end)
end)

describe("atom_summary", function()
  it("is right of MMA atoms", function()
    for _, name in ipairs(names()) do
      local a = tile.mma_atom(name)
      local s, m = tile.atom_summary(a), a.shape_MNK
      local elements = { A = m[1] * m[3], B = m[2] * m[3], C = m[1] * m[2] }
      for x, n in pairs(elements) do
        assert.are.equal(n * s[x].shared, s.threads * s[x].values, name)
        assert.are.equal(a.src[x] == "reg", s[x].registers ~= nil, name)
      end
      assert.are.equal(m[1] * m[2] * m[3], s.products)
      assert.is_truthy(tostring(s):find(name, 1, true))
    end
  end)

  it("is right of every copy atom", function()
    for _, name in ipairs(tile.atoms { kind = "copy" }) do
      local s, a = tile.atom_summary(name), tile.copy_atom(name)
      for _, side in ipairs { s.src, s.dst } do
        assert.are.equal(s.moved * side.shared, s.threads * side.values, name)
      end
      assert.are.equal(a.layout_dst:cosize(), s.moved, name)
    end
    assert.are.equal(8, tile.atom_summary("SM75_U32x4_LDSM_N", 16).src.run)
    assert.are.equal(2, tile.atom_summary("SM75_U32x4_LDSM_N", "f16").dst.run)
  end)

  it("of what is none is an error", function()
    assert.are.equal("atom_summary: an atom or the name of one expected, got number",
                     refused(tile.atom_summary, 3))
    assert.is_truthy(refused(tile.atom_summary, layout(4)):find "got moontile.Layout")
    assert.is_truthy(refused(tile.atom_summary, "SM80_16x8x17"):find "there is no atom")
    assert.is_truthy(refused(tile.atom_summary):find "got nil")
    assert.are.equal(32, tile.atom_summary(tile.tiled_mma { atom = "SM75_8x8x16_S32S8S8S32_TN" })
                         .threads)
  end)
end)

-- ---------------------------------------------------------------- text, pictures

local function outer()
  return tile.mma_atom {
    name = "a<b>&c_%$#{}~^ 'x'", shape = { 8, 8, 1 },
    dtypes = { A = "f16", B = "half_t", C = "f32" },
    A = "((8,4),1):((1,0),0)", B = "((8,4),2):((0,2),1)", C = "((8,4),2):((1,16),8)" }
end

local function again(x)
  local text = tostring(x):gsub("  %-%- .*$", "")
  return assert(load("local tile = require 'moontile' return " .. text))()
end

describe("an atom of one's own", function()
  it("is written so that it is read again", function()
    local mma = tile.tiled_mma { atom = outer(), atoms = { 2, 2 }, permutation = { 32, tile._ } }
    assert.are.equal(tostring(mma), tostring(again(mma)))
    assert.are.equal(outer().name, again(mma):atom().name)
    local atom = tile.copy_atom { bits = 16, src = "(4,4):(4,1)", dst = "(4,4):(1,4)" }
    local copy = tile.tiled_copy { atom = atom, thr = layout { 8, 4 }, val = layout { 4, 1 } }
    local wide = tile.make_tiled_copy_C(tile.copy_atom { bits = 32, src = "(4,1):(1,0)",
                                                         dst = "(4,1):(1,0)" }, mma)
    for _, c in ipairs { copy, wide, tile.make_tiled_copy_D(atom, copy) } do
      assert.are.equal(tostring(c), tostring(again(c)))
      assert.are.equal(c:layout_D_TV(), again(c):layout_D_TV())
    end
  end)

  it("is drawn", function()
    local mma = tile.tiled_mma { atom = outer(), atoms = { 1, 2 } }
    local atom = tile.copy_atom { name = "x_y&z", bits = 16, src = "(4,4):(4,1)",
                                  dst = "(4,4):(1,4)" }
    local copy = tile.tiled_copy { atom = atom, thr = layout { 4, 2 }, val = layout { 4, 1 } }
    for _, x in ipairs { outer(), mma, atom, copy } do
      assert.is_truthy(tile.draw(x):find "T3")
      assert.is_truthy(tile.svg(x):find "^<svg")
      assert.is_nil(tile.svg(x):find("a<b>", 1, true))
      assert.is_truthy(tile.html(x):find "<svg")
      assert.is_truthy(tile.latex(x):find "tikz")
    end
    assert.is_truthy(tile.draw(copy):find "^x_y&z: ")
  end)

  it("has values of other bits, where it has them", function()
    local atom = tile.copy_atom { bits = 16, src = "(4,8):(8,1)", dst = "(4,8):(8,1)" }
    local function sides(bits, thr, val)
      return tile.tiled_copy { atom = atom, bits = bits, thr = thr, val = val }:layout_S_TV()
    end
    assert.are.equal(32, sides(16, layout(4), layout(8)):size())
    assert.are.equal(64, sides(8, layout(4), layout(16)):size())
    local wide = tile.copy_atom(atom, "i32")
    assert.are.equal("(4,4):(4,1)", tostring(wide.layout_src))
    assert.are.equal(32, wide.bits)
    assert.is_true(tile.equivalent(atom.layout_src,
                                   tile.copy_atom(tile.copy_atom(atom, 8), 16).layout_src))
    local mma = tile.tiled_mma { atom = "SM80_16x8x8_F32F16F16F32_TN" }
    local own = tile.copy_atom { bits = 32, src = "(32,2):(2,1)", dst = "(32,2):(2,1)" }
    assert.are.equal(tile.make_tiled_copy_C_atom("UniversalCopy<uint64_t>", mma, 32):layout_S_TV(),
                     tile.make_tiled_copy_C_atom(own, mma):layout_S_TV())
    assert.are.equal(16, sides(32, layout(4), layout(4)):size())
    assert.is_truthy(refused(sides, 256, layout(4), layout(1)):find "has no values of 256 bits")
    assert.is_truthy(refused(sides, 16, layout(6), layout(8)):find "done by 4 threads together")
  end)

  it("lives as long as what was made with it", function()
    local A = tile.tensor("f16", layout { 16, 8 }):fill(1)
    local B = tile.tensor("f16", layout { 16, 8 }):fill(2)
    local C = tile.tensor("f32", layout { 16, 16 })
    local plan
    do
      local mma = tile.tiled_mma { atom = outer(), atoms = { 2, 2 } }
      plan = tile.plan(mma, A, B, C)
    end
    for _ = 1, 3 do
      collectgarbage()
      outer()
    end
    plan()
    assert.are.equal(16.0, C(15, 15))
  end)

  it("computes fragments", function()
    local mma, part = tile.tiled_mma { atom = outer(), atoms = { 2, 1 } }, { {}, {}, {} }
    local A, B = tile.tensor("f16", layout { 32, 4 }), tile.tensor("f16", layout { 16, 4 })
    local C, D = tile.tensor("f32", layout { 32, 16 }), tile.tensor("f32", layout { 32, 16 })
    local values = {}
    for i = 1, 128 do values[i] = random(-4, 4) end
    A:fill(values)
    B:fill(table.move(values, 1, 64, 1, {}))
    for t = 0, mma:size() - 1 do
      local slice = mma:get_slice(t)
      part[1][t + 1], part[2][t + 1] = slice:partition_A(A), slice:partition_B(B)
      part[3][t + 1] = slice:partition_C(C)
    end
    tile.gemm(mma, part[1], part[2], part[3])
    tile.gemm(A, B, D)
    assert.are.same(D:totable(), C:totable())
  end)

  it("is a part of a kernel", function()
    local ldm = tile.copy_atom { bits = 16, src = "(32,8):(8,1)", dst = "(32,(2,4)):(2,(1,64))",
                                 ref = "(32,(2,4)):(2,(1,64))" }
    local f16 = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 } }
    local with = tile.kernel { mma = f16, tile = { 32, 32, 64 }, stages = 2, s2r = { A = ldm } }
    assert.are.equal(tostring(with), tostring(again(with)))
    assert.is_true(tile.verify(with).ok)
    local mma = tile.tiled_mma { atom = outer(), atoms = { 4, 1 } }
    local k = tile.kernel { mma = mma, tile = { 64, 32, 32 }, stages = 2, schedule = "multistage" }
    assert.is_truthy(tostring(k):find("tile.mma_atom{", 1, true))
    assert.is_truthy(tile.draw(k):find("a<b>", 1, true))
    local A = tile.tensor("f16", layout({ 64, 64 }, "right")):fill(1)
    local B = tile.tensor("f16", layout({ 32, 64 }, "right")):fill(2)
    local C = tile.tensor("f32", layout { 64, 32 })
    tile.gemm(k, A, B, C)
    assert.are.equal(128.0, C(63, 31))
  end)
end)

-- ---------------------------------------------------------------- refusals

describe("what is refused", function()
  local good = { shape = { 2, 2, 1 }, dtypes = { A = "f16", B = "f16", C = "f32" },
                 A = "((2,2),1):((1,0),0)", B = "((2,2),1):((0,1),0)", C = "(4,1):(1,0)" }
  local function with(key, value)
    local t = {}
    for k, v in pairs(good) do t[k] = v end
    t[key] = value
    return t
  end
  local NONE = {}
  local CASES = {
    { "shape", NONE, "mma_atom: shape: {M, N, K} expected" },
    { "shape", { 2, 2 }, "mma_atom: shape: {M, N, K} expected" },
    { "shape", { 2, 2, 0 }, "shape: K is 0: 1 to 2^20 expected" },
    { "shape", { 2, 2, 1 << 40 }, "shape: K is 1099511627776" },
    { "shape", { 1 << 20, 2, 1 << 20 }, "A has 1099511627776 elements" },
    { "shape", "2x2x1", "mma_atom: shape: " },
    { "dtypes", "f16", "dtypes = { A = \"f16\"" },
    { "dtypes", { A = "f16", B = "f16" }, "mma_atom: dtypes.C: the name of a type expected" },
    { "dtypes", { A = "f16", B = "f16", C = "f31" }, "mma_atom: dtypes.C: unknown element 'f31'" },
    { "dtypes", { A = "f16", B = "f16", C = "f32", D = "f16" }, "D is f16, C is f32" },
    { "dtypes", { A = "f16", B = "f16", c = "f32" }, "unknown option 'c'" },
    { "A", "4:1", "mma_atom: A 4:1 has 1 mode, (thread,value) are two" },
    { "A", "(4,1):(1,0", "mma_atom: A: " },
    { "A", "(4,1)", "mma_atom: A: \"(4,1)\" is no layout" },
    { "A", 7, "has 1 mode" },
    { "A", "Sw<1,0,1> o 0 o (4,1):(1,0)", "is no layout of integers" },
    { "A", "(4,1):(1@0,1@1)", "is no layout of integers" },
    { "A", "(0,1):(1,0)", "is empty" },
    { "A", "(4,1):(0,0)", "no thread holds A(1,0)" },
    { "A", "((2,2),1):((-1,0),0)", "value 0 of thread 1 is number -1" },
    { "A", "(2,1):(1,0)", "has 2 threads, the atom has 4" },
    { "C", "((2,2),2):((1,2),0)",
      "C(0,0) is held twice, as value 0 of thread 0 and as value 1 of thread 0" },
    { "C", "((2,2),1):((1,0),0)", "no thread holds C(0,1)" },
    { "C", "(4,(2,1000000000)):(1,(4,8))", "(thread,value): an atom has" },
    { "C", "(4096,1):(1,0)", "has 4096 threads: a block has 1024" },
    { "thr_id", "(2,2):(1,1)", "thr_id (2,2):(1,1) gives threads 1 and 2 the same number 1" },
    { "thr_id", "(2,2):(1,3)", "its strides do not divide one another" },
    { "thr_id", "4:-1", "0 and more" },
    { "thr_id", 5, "thr_id 5:1 has 5 threads, the layouts have 4" },
    { "ThrID", "4:2", nil },
    { "name", "", "1 to 127 bytes" },
    { "name", ("x"):rep(128), "1 to 127 bytes" },
    { "name", "a\0b", "a NUL in it" },
    { "name", 7, "name: string expected, got number" },
    { "name", "SM80_16x8x8_F32F16F16F32_TN", "is an atom of the tables" },
    { "name", "cute::SM61_DP4A", "is an atom of the tables" },
    { "name", "DefaultCopy", "is an atom of the tables" },
    { "ALayout", "(4,1):(1,0)", "A and ALayout are one: give one of them" },
    { "thread", 1, "unknown option 'thread'" },
  }
  for _, case in ipairs(CASES) do
    local value = case[2]
    it(("%s = %s"):format(case[1], tostring(value):sub(1, 40)):gsub("%c", "?"), function()
      if case[3] == nil then return tile.mma_atom(with(case[1], value)) end
      local text = refused(tile.mma_atom, with(case[1], value))
      assert.is_truthy(text:find(case[3], 1, true), text)
    end)
  end

  it("of copies", function()
    local function text(t) return refused(tile.copy_atom, t) end
    local ONE = "(4,1):(1,0)"
    assert.is_truthy(text({}):find "src is missing")
    assert.is_truthy(text({ src = ONE, dst = "(4,2):(1,4)" })
                     :find "place 7 is written and never read")
    assert.is_truthy(text({ src = "(4,2):(2,1)", dst = "(2,4):(4,1)" }):find "threads")
    assert.is_truthy(text({ src = ONE, dst = ONE, bits = 0 }):find "1 to 1024")
    assert.is_truthy(text({ src = ONE, dst = ONE, bits = 8, dtype = "i8" }):find "not both")
    local shared = "((4,2),1):((1,0),0)"
    assert.is_truthy(text({ src = shared, dst = shared }):find "give ref")
    assert.is_truthy(text({ src = "(3,4):(1,3)", dst = "(3,4):(4,1)", ref = "(3,4):(1,2)" })
                     :find "no thread holds")
    assert.is_truthy(text({ name = "UniversalCopy<float>", src = ONE, dst = ONE }):find "tables")
  end)

  it("a product on a GPU, with a way out", function()
    for _, x in ipairs(devices) do
      if x.label:find "^cuda" then
        local A = tile.tensor("f16", layout { 16, 8 }, x.device)
        local C = tile.tensor("f32", layout { 16, 16 }, x.device)
        local mma = tile.tiled_mma { atom = outer(), atoms = { 2, 2 } }
        local text = refused(tile.gemm, mma, A, A, C)
        assert.is_truthy(text:find("is an atom of your own: no kernel of", 1, true), text)
        assert.is_truthy(text:find('run it on "cpu"', 1, true))
      end
    end
  end)

  it("types that no sum is known of, when it runs", function()
    local atom = tile.mma_atom(with("dtypes", { A = "f16", B = "f16", C = "s32" }))
    local mma = tile.tiled_mma { atom = atom }
    local A, C = tile.tensor("f16", layout { 2, 2 }), tile.tensor("i32", layout { 2, 2 })
    local text = refused(tile.gemm, mma, A, A, C)
    assert.is_truthy(text:find("cannot be run: A is f16, C is s32", 1, true))
  end)

  it("C++ of CuTe, which has no such operation, but by traits that declare it", function()
    local mma = tile.tiled_mma { atom = outer() }
    assert.is_truthy(refused(tile.cute, mma, "type"):find("an atom of your own", 1, true))
    assert.is_truthy(tile.cute(mma):find("struct cute::MMA_Traits<A_op> {", 1, true))
    local atom = tile.copy_atom { bits = 16, src = "(4,1):(1,0)", dst = "(4,1):(1,0)" }
    local copy = tile.tiled_copy { atom = atom, thr = layout { 4, 1 } }
    assert.is_truthy(refused(tile.cute, copy, "type"):find("an atom of your own", 1, true))
    local text = tile.cute(copy, "header", "mine")
    assert.is_truthy(text:find("struct cute::Copy_Traits<moontile::mine_op> {", 1, true))
    local src = "SrcLayout = Layout<Shape<_4,Shape<_16,_1>>,Stride<_16,Stride<_1,_0>>>"
    assert.is_truthy(text:find(src, 1, true), text)
  end)
end)
