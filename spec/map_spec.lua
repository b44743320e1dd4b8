-- map_spec.lua: files as memory: .npy, .safetensors, raw ones.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local files = dofile "spec/files.lua"
local read, write, counting = files.read, files.write, files.counting

describe("map", function()
  local name = os.tmpname()
  teardown(function() os.remove(name) end)

  local function fails(code, text, ...)
    local T, why, got = tile.map(...)
    assert.is_nil(T)
    assert.equal(code, got)
    assert.equal(name .. ": ", why:sub(1, #name + 2))
    assert.truthy(why:find(text, 1, true), why)
  end

  it("has arrays of .npy files as load does", function()
    for _, dtype in ipairs(tile.dtypes()) do
      local all = { "(3,4):(4,1)", "(3,4):(1,3)", "12:1", "():()", "(2,0):(1,2)" }
      for _, text in ipairs(dtype:match "^e" and {} or all) do
        assert(counting(dtype, layout(text)):save(name))
        local T, U = assert(tile.map(name)), assert(tile.load(name))
        assert.equal(tostring(U:layout()), tostring(T:layout()))
        assert.equal(dtype, T:dtype())
        assert.same(U:totable(), T:totable())
        T:free()
      end
    end
  end)

  it("has tensors of .safetensors files, one mapping for all", function()
    local T = { a = counting("f32", layout { 5, 7 }), b = counting("u8", layout(9)),
                c = counting("f64", layout {}) }
    assert(tile.save(name, T))
    local held = tile.held()
    local U = assert(tile.map(name))
    assert.equal(held + #read(name), tile.held())
    for key, t in pairs(T) do assert.same(t:totable(), U[key]:totable()) end
    U.a:free()                                      -- of a view: the others stay
    assert.same(T.b:totable(), U.b:totable())
    U = nil
    collectgarbage()
    collectgarbage()
    assert.equal(held, tile.held())
    assert.is_nil(U)
  end)

  it("has raw files, whatever the layout says", function()
    local bytes = {}
    for i = 0, 299 do bytes[#bytes + 1] = ("<i2"):pack(i) end
    write(name, table.concat(bytes))
    local T = assert(tile.map(name, "i16", layout({ 10, 30 }, "right")))
    assert.equal(10 * 7 + 3 + 20 * 7, T(7, 3))
    assert.equal(200, assert(tile.map(name, "i16", layout(100), { offset = 400 }))(0))
    assert.equal(299, assert(tile.map(name, "i16", layout(300, -1), { offset = 598 }))(0))
    assert.equal(0x0201, assert(tile.map(name, "u16", layout(2), { offset = 2 }))(0) + 0x200)
    assert.equal(1, assert(tile.map(name, "u8", layout(600)))(2))
    for _, d in ipairs(devices) do
      assert.same(T:totable(), T:to(d.device):to("cpu"):totable())
    end
    local sum = 0
    for _, v in ipairs(tile.einsum("ij->j", T:to("cpu")):totable()) do sum = sum + v end
    assert.equal(299 * 150, sum)
  end)

  it("touches nothing behind the file", function()
    write(name, ("x"):rep(100))
    local function refused(text, ...)
      local ok, why = pcall(tile.map, name, ...)
      assert.is_false(ok)
      assert.truthy(why:find(text, 1, true), why)
    end
    refused("reaches elements 0 to 25 of a buffer of 25", "f32", layout(26))
    refused("reaches elements 24 to 25", "f32", layout(2), { offset = 96 })
    refused("reaches elements -1 to 0", "u8", layout(2, -1))
    refused("of a buffer", "u8", layout(1), { offset = 1 << 62 })
    refused("3 bytes are no whole number of elements of 4", "f32", layout(1), { offset = 3 })
    refused("bytes from 0 on", "f32", layout(1), { offset = -4 })
    refused("with a dtype and a layout only", { offset = 4 })
    refused("unknown dtype", "f99", layout(1))
    refused("ofset", "f32", layout(1), { ofset = 4 })
    refused("layout", "f32")
    write(name, "")
    refused("of a buffer of 0 elements", "u8", layout(1))
    assert.equal(0, assert(tile.map(name, "u8", layout(0))):size())
  end)

  it("keeps what is written in memory, unless it is told otherwise", function()
    write(name, ("\0"):rep(64))
    local T = assert(tile.map(name, "i32", layout(16)))
    T:fill(7)
    assert.equal(("\0"):rep(64), read(name))
    assert.equal(0, assert(tile.map(name, "i32", layout(16)))(3))
    local U = assert(tile.map(name, "i32", layout { 4, 4 }, { write = true }))
    tile.copy(tile.tensor("i32", layout { 4, 4 }):fill(5), U)
    assert.equal(("<i4"):pack(5):rep(16), read(name))
    assert.equal(7, T(3))
    U:free()
    assert.has_error(function() return U(0, 0) end)
    local V = assert(tile.map(name, "i32", layout(4), { write = true, offset = 16 }))
    assert(V:save(name))                        -- beside: the old file lives as long as V
    V:set(9, 0)
    assert.equal(5, assert(tile.load(name))(0))
  end)

  it("says what is wrong with a file", function()
    local head = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}\n"
    write(name, "\x93NUMPY\1\0" .. ("<s2"):pack(head) .. "abcd")
    fails("EFORMAT", "big-endian: tile.load reads them", name)
    assert.equal(("a"):byte() * 256 + ("b"):byte(), assert(tile.load(name))(0))
    write(name, "no file of ours")
    fails("EFORMAT", "npy: ", name)
    assert(tile.save(name .. ".npz", { a = tile.tensor("u8", layout(3)) }))
    os.rename(name .. ".npz", name)
    fails("EFORMAT", "members of .npz files are not mapped", name)
    local json = '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' ..
                 '"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}}'
    write(name, ("<s8"):pack(json) .. "12345")
    fails("EFORMAT", "are not aligned: tile.load reads them", name)
    assert.truthy(tile.load(name).b)
    write(name, ("<s8"):pack('{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}') .. "1")
    fails("EFORMAT", "safetensors: ", name)
    os.remove(name)
    fails("EIO", "No such file", name)
    local T, _, code = tile.map "/dev/null"
    assert.same({ nil, "EIO" }, { T, code })
  end)
end)
