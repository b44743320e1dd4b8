-- npy_spec.lua: .npy files, our own round trips, hostile files, and NumPy's files where it is.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, X = tile.layout, tile._
local devices = dofile "spec/devices.lua"
local files = dofile "spec/files.lua"
local read, write, counting = files.read, files.write, files.counting

-- layout of a tensor -> layout that comes back, Fortran order in the file
local ORDERS = {
  { "(3,4):(4,1)",            "(3,4):(4,1)",       false },
  { "(3,4):(1,3)",            "(3,4):(1,3)",       true },
  { "(3,4):(8,2)",            "(3,4):(4,1)",       false },
  { "(3,4):(1,5)",            "(3,4):(4,1)",       false },
  { "12:1",                   "12:1",              false },
  { "12:-1",                  "12:1",              false },
  { "(3,4):(0,1)",            "(3,4):(4,1)",       false },
  { "(4,(2,3)):(1,(4,8))",    "(4,6):(1,4)",       true },
  { "(4,(2,3)):(6,(3,1))",    "(4,6):(6,1)",       false },
  { "(4,(2,3)):(6,(1,2))",    "(4,6):(6,1)",       false },
  { "(2,3,4):(12,4,1)",       "(2,3,4):(12,4,1)",  false },
  { "(2,3,4):(1,2,6)",        "(2,3,4):(1,2,6)",   true },
  { "(2,0):(1,2)",            nil,                 nil },
  { "():()",                  "():()",             nil },
  { "Sw<1,0,2> o 0 o (4,4):(4,1)", "(4,4):(4,1)",  false },
}

for _, d in ipairs(devices) do
  describe(".npy files on " .. d.label, function()
    local name = os.tmpname()
    teardown(function() os.remove(name) end)

    it("keep elements and order of every dtype", function()
      for _, dtype in ipairs(tile.dtypes()) do
        for _, row in ipairs(ORDERS) do
          local T = counting(dtype, layout(row[1]), d.device)
          assert(T:save(name))
          local U = assert(tile.load(name, d.device, dtype))
          assert.equal(dtype, U:dtype())
          assert.equal(d.device, U:device())
          assert.same(T:totable(), U:totable())
          if row[2] then assert.equal(row[2], tostring(U:layout())) end
          if row[3] ~= nil then
            assert.equal(row[3], read(name):find("'fortran_order': True", 1, true) ~= nil, row[1])
          end
        end
      end
    end)

    it("take views", function()
      local T = counting("i32", layout({ 6, 8 }, "right"), d.device)
      for _, V in ipairs { T(X, 3), T(2, X), T:select(2, 1), T:zipped_divide { 2, 4 } } do
        assert(V:save(name))
        assert.same(V:totable(), tile.load(name):totable())
      end
    end)

    it("may be larger than a piece", function()
      local T = tile.tensor("f32", layout({ 700, 1000 }, "right"), d.device):fill(2)
      T:set(5, 699, 999)
      assert(T:save(name))
      local U = assert(tile.load(name, d.device))
      assert.same({ 2.0, 5.0 }, { U(699, 998), U(699, 999) })
    end)
  end)
end

describe("bad .npy files", function()
  local name = os.tmpname()
  teardown(function() os.remove(name) end)

  local function npy(text, data, version)
    text = string.pack("<s2", text .. "\n")
    return "\x93NUMPY" .. (version or "\1\0") .. text .. (data or "")
  end

  local function header(descr, shape)
    return ("{'descr': %s, 'fortran_order': False, 'shape': %s, }"):format(descr, shape)
  end
  local good, eight = header("'<f4'", "(2,)"), "12345678"

  for _, row in ipairs {
    { "an empty file",          "" },
    { "another magic",          "\x93NUMPX" .. ("x"):rep(100) },
    { "a cut header",           npy(good):sub(1, 40) },
    { "missing data",           npy(good, "1234567") },
    { "an object array",        npy(header("'|O'", "(2,)"), eight .. eight) },
    { "code",                   npy(header("__import__('os')", "(2,)"), eight) },
    { "a negative extent",      npy(header("'<f4'", "(-2,)"), eight) },
    { "an overflow",            npy(header("'<f4'", "(4294967296, 4294967296)")) },
    { "a size beyond the file", npy(header("'<f8'", "(1152921504606846976,)"), eight) },
    { "a duplicate key",        npy((good:gsub("}", "'descr': '<f4'}")), eight) },
    { "version 9",              npy(good, eight, "\9\0") },
  } do
    it("are refused: " .. row[1], function()
      write(name, row[2])
      local T, message, code = tile.load(name)
      assert.is_nil(T)
      assert.equal("EFORMAT", code)
      assert.equal(name .. ": npy: ", message:sub(1, #name + 7))
    end)
  end

  it("of 8-bit floats must say which, and cannot be another type", function()
    local T = tile.tensor("e4m3", layout(4)):fill { 448, -1.5, 0x1p-9, 0 }
    assert(T:save(name))
    assert.equal(name .. ": npy: 'descr': <V1 is bytes, which may be e4m3 or e5m2 or any other "
                 .. "type; the one that is meant must be given", select(2, tile.load(name)))
    assert.same(T:totable(), tile.load(name, nil, "e4m3"):totable())
    local U = tile.load(name, "cpu", "e5m2")              -- codes 7e bc 01 00
    assert.same({ true, -1.0, 0x1p-16, 0.0 }, { U(0) ~= U(0), U(1), U(2), U(3) })
    assert.equal(name .. ": npy: 'descr': <V1 is bytes, which may be e4m3 or e5m2 or any other "
                 .. "type; the one that is meant must be given",
                 select(2, tile.load(name, nil, "f32")))
    assert(tile.tensor("f32", layout(4)):save(name))
    assert.equal(name .. ": npy: 'descr': <f4 is f32, not e4m3",
                 select(2, tile.load(name, nil, "e4m3")))
    assert.has_error(function() tile.load(name, nil, "e4m4") end)
  end)

  it("that are not there say so", function()
    local T, message, code = tile.load "/nonexistent/file.npy"
    assert.is_nil(T)
    assert.equal("/nonexistent/file.npy: No such file or directory", message)
    assert.equal("EIO", code)
    assert.equal("EIO", select(3, tile.load "/"))
    assert.equal("EIO", select(3, tile.tensor("f32", layout(4)):save "/nonexistent/file.npy"))
  end)
end)

-- ---- NumPy

local WRITE = [=[
import sys, numpy as np
d = sys.argv[1]
rng = np.random.default_rng(7)
n = 0
index = open(d + '.index', 'w')
for t in '|b1 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 <f2 <f4 <f8 >i2 >i4 >u8 >f2 >f4 >f8'.split():
  for shape in [(), (7,), (3, 5), (2, 3, 4), (0, 3)]:
    for order in 'CF':
      count = int(np.prod(shape))
      raw = rng.integers(0, 2 if t == '|b1' else 256, count * np.dtype(t).itemsize, dtype=np.uint8)
      a = np.frombuffer(raw.tobytes(), dtype=t).reshape(shape)
      n += 1
      np.save('%s.%d.npy' % (d, n), np.array(a, order=order))
      index.write('%d %s\n' % (n, ' '.join(map(str, shape))))
]=]

local COMPARE = [=[
import sys, numpy as np
d, n = sys.argv[1], int(sys.argv[2])
for i in range(1, n + 1):
  a, b = np.load('%s.%d.npy' % (d, i)), np.load('%s.%d.out.npy' % (d, i))
  a = a.astype(a.dtype.newbyteorder('<'))
  assert a.dtype == b.dtype and a.shape == b.shape, (i, a.dtype, b.dtype, a.shape, b.shape)
  assert a.tobytes() == b.tobytes(), i
  if a.ndim > 1 and a.size: assert a.flags.c_contiguous == b.flags.c_contiguous, i
]=]

local function find_numpy()
  for _, python in ipairs { "/usr/bin/python3", "python3" } do
    if os.execute(python .. " -c 'import numpy' 2>/dev/null") then return python end
  end
end

describe("NumPy", function()
  local python = find_numpy()
  if not python then
    pending "is not installed"
    return
  end
  local base = os.tmpname()

  local function run(code, ...)
    write(base .. ".py", code)
    return os.execute(table.concat({ python, base .. ".py", base, ... }, " "))
  end

  it("and moontile read each other's files bit by bit", function()
    assert(run(WRITE))
    local n = 0
    for line in io.lines(base .. ".index") do
      n = n + 1
      local shape = {}
      for extent in line:match "^%d+ ?(.*)$":gmatch "%d+" do shape[#shape + 1] = extent end
      local T = assert(tile.load(("%s.%d.npy"):format(base, n)))
      local expected = #shape == 1 and shape[1] or "(" .. table.concat(shape, ",") .. ")"
      assert.equal(expected, tostring(T:shape()))
      assert(T:save(("%s.%d.out.npy"):format(base, n)))
    end
    assert.equal(180, n)
    assert(run(COMPARE, n))
    for i = 1, n do
      os.remove(("%s.%d.npy"):format(base, i))
      os.remove(("%s.%d.out.npy"):format(base, i))
    end
    os.remove(base .. ".py")
    os.remove(base .. ".index")
    os.remove(base)
  end)
end)
