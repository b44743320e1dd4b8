-- safetensors_spec.lua: .safetensors files: our own round trips, the format, hostile ones.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local files = dofile "spec/files.lua"
local read, write, counting = files.read, files.write, files.counting

-- layout of a tensor -> layout that comes back
local LAYOUTS = {
  { "(3,4):(4,1)", "(3,4):(4,1)" }, { "(3,4):(1,3)", "(3,4):(4,1)" },
  { "(3,4):(8,2)", "(3,4):(4,1)" },
  { "12:1", "12:1" }, { "12:-1", "12:1" }, { "(3,4):(0,1)", "(3,4):(4,1)" }, { "():()", "():()" },
  { "(4,(2,3)):(1,(4,8))", "(4,6):(6,1)" }, { "(2,0):(1,2)", nil },
  { "Sw<1,0,2> o 0 o (4,4):(4,1)", "(4,4):(4,1)" },
}

for _, d in ipairs(devices) do
  describe(".safetensors files on " .. d.label, function()
    local name = os.tmpname()
    teardown(function() os.remove(name) end)

    it("keep elements of every dtype and layout", function()
      local T = {}
      for _, dtype in ipairs(tile.dtypes()) do
        for _, row in ipairs(LAYOUTS) do
          T[dtype .. " " .. row[1]] = counting(dtype, layout(row[1]), d.device)
        end
      end
      assert.is_true(tile.save(name, T))
      local U = assert(tile.load(name, d.device))
      for _, dtype in ipairs(tile.dtypes()) do
        for _, row in ipairs(LAYOUTS) do
          local key = dtype .. " " .. row[1]
          local u = U[key]
          assert.equal(dtype, u:dtype())
          assert.equal(d.device, u:device())
          assert.same(T[key]:totable(), u:totable())
          if row[2] then assert.equal(row[2], tostring(u:layout())) end
          U[key] = nil
        end
      end
      assert.is_nil(next(U))
    end)

    it("have views as they are seen", function()
      local T = counting("i32", layout({ 6, 8 }, "right"), d.device)
      tile.save(name, { ["a"] = T(tile._, 3), ["b"] = T:select(2, 1), [""] = T:view(layout(3), 5) })
      local U = assert(tile.load(name, d.device))
      assert.same(T(tile._, 3):totable(), U.a:totable())
      assert.same(T:select(2, 1):totable(), U.b:totable())
      assert.same({ T:totable()[6 * 5 + 1] }, { U[""](0) })
    end)
  end)
end

describe("A .safetensors file", function()
  local name = os.tmpname()
  teardown(function() os.remove(name) end)

  it("is what the format says", function()
    assert(tile.save(name, { w = counting("f32", layout { 2, 3 }),
                             ['q"\n'] = counting("u8", layout(3)),
                             a = tile.tensor("f64", layout {}) }))
    local bytes = read(name)
    local n = string.unpack("<I8", bytes)
    assert.equal(0, n % 8)
    assert.equal('{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]},' ..
                 '"w":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},' ..
                 '"q\\"\\u000a":{"dtype":"U8","shape":[3],"data_offsets":[32,35]}}',
                 bytes:sub(9, n + 8):match "^(.-) *$")
    assert.same({ 1, 3, 5, 2, 4, 6 }, { table.unpack({ ("<ffffff"):unpack(bytes, n + 17) }, 1, 6) })
  end)

  it("without tensors is one", function()
    assert(tile.save(name, {}))
    assert.equal("\8\0\0\0\0\0\0\0{}      ", read(name))
    assert.same({}, tile.load(name))
  end)

  it("takes names and tensors, and nothing else", function()
    local T = tile.tensor("u8", layout(3))
    local function refused(text, ...)
      local ok, why = pcall(tile.save, ...)
      assert.is_false(ok)
      assert.truthy(why:find(text, 1, true), why)
    end
    write(name, "old")
    refused("a table { name = tensor, ... } expected, got moontile.Tensor", name, T)
    refused("names that are strings expected, got one that is a number", name, { T })
    refused('tensors["a"]: a tensor expected, got number', name, { a = 1 })
    refused("a name that is no UTF-8", name, { ["\xff"] = T })
    refused('"__metadata__" is no name', name, { __metadata__ = T })
    local whole = tile.tensor("i8", layout { 10, 7 })
    refused("ragged", name, { a = whole:local_tile({ 4, 3 }, { 2, 2 }) })
    T:free()
    refused("freed", name, { a = T })
    assert.equal("old", read(name))
  end)

  it("says what is wrong with it", function()
    local function wrong(text, bytes, ...)
      write(name, bytes)
      local T, why, code = tile.load(name, ...)
      assert.is_nil(T)
      assert.equal("EFORMAT", code)
      assert.equal(name .. ": ", why:sub(1, #name + 2))
      assert.truthy(why:find(text, 1, true), why)
    end
    local function file(json, data) return string.pack("<s8", json) .. (data or "") end
    wrong("its tensors 4", file('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', "12345"))
    wrong("the file ends inside its header", ("\9\0\0\0\0\0\0\0{}"))
    wrong("at most 100000000 are read", "\0\0\0\0\0\0\0\1{}")
    assert.has_error(function() tile.load(name, "cpu", "f32") end,
                     "load: dtype: a .safetensors file says itself what it has")
  end)

  it("that is damaged is refused, or read, and nothing else", function()
    assert(tile.save(name, { a = counting("f32", layout { 5, 7 }), b = counting("u8", layout(9)) }))
    local bytes, times = read(name), tonumber(os.getenv "MOONTILE_TIMES") or 1
    for _ = 1, 400 * times do
      local at = math.random(#bytes)
      write(name, math.random() < 0.3 and bytes:sub(1, at) or
                  bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) .. bytes:sub(at + 1))
      local T, _, code = tile.load(name)
      assert.truthy(T or code == "EFORMAT" or code == "ENOMEM")
    end
  end)

  it("is not loaded where the host's memory would not do", function()
    local json = '{"a":{"dtype":"U8","shape":[1000000000000],"data_offsets":[0,1000000000000]}}'
    write(name, string.pack("<s8", json))
    local T, why, code = tile.load(name)
    assert.is_nil(T)
    assert.equal("EFORMAT", code)
    assert.truthy(why:find("the file has 0 bytes of data", 1, true), why)
  end)
end)
