-- npz_spec.lua: .npz files: our own round trips, hostile ones. NumPy: spec/python/package.py.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"
local files = dofile "spec/files.lua"
local read, write, counting = files.read, files.write, files.counting

local LAYOUTS = {
  "(3,4):(4,1)", "(3,4):(1,3)", "(3,4):(8,2)", "12:-1", "(3,4):(0,1)", "():()",
  "(4,(2,3)):(1,(4,8))", "(2,0):(1,2)", "Sw<1,0,2> o 0 o (4,4):(4,1)",
}

-- ---- a writer of zips, of right ones and of others

local function crc32(s)
  local r = 0xffffffff
  for i = 1, #s do
    r = r ~ s:byte(i)
    for _ = 1, 8 do r = r >> 1 ~ (r & 1 ~= 0 and 0xedb88320 or 0) end
  end
  return r ~ 0xffffffff
end

-- Deflate without compression: blocks that are stored.
local function deflated(s)
  local out = {}
  repeat
    local part = s:sub(1, 65535)
    s = s:sub(65536)
    out[#out + 1] = string.pack("<BI2I2", s == "" and 1 or 0, #part, ~#part & 0xffff) .. part
  until s == ""
  return table.concat(out)
end

local function npy(descr, shape, data)
  local head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }"):format(descr, shape)
  head = head .. (" "):rep(117 - #head) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<s2", head) .. data
end

local COMMON = "<I2I2I2I2I2I4I4I4I2I2"

-- members: { name, data, method =, flags =, crc =, bytes =, packed =, at =, ... }; `own` has what
-- its own header says otherwise; end_: what the end says otherwise.
local function zip(members, end_)
  local out, directory, at = {}, {}, 0
  for _, m in ipairs(members) do
    local packed = m.method == 8 and (m.raw or deflated(m[2])) or m[2]
    local function common(x)
      local function value(key, otherwise) return x[key] or m[key] or otherwise end
      local name, extra = value("name", m[1]), value("extra", "")
      local head = COMMON:pack(20, value("flags", 0), value("method", 0), 0, 33,
                               value("crc", crc32(m[2])), value("packed", #packed),
                               value("bytes", #m[2]), #name, #extra)
      return head, name, extra
    end
    local head, name, extra = common(m.own or {})
    local own = "PK\3\4" .. head .. name .. extra
    head, name, extra = common {}
    directory[#directory + 1] = "PK\1\2\20\0" .. head ..
                                ("<I2I2I2I4I4"):pack(0, 0, 0, 0, m.at or at) .. name .. extra
    out[#out + 1] = own .. packed
    at = at + #own + #packed
  end
  local all = table.concat(directory)
  local e = end_ or {}
  return table.concat(out) .. all .. (e.far or "") .. "PK\5\6" ..
         ("<I2I2I2I2I4I4s2"):pack(e.disk or 0, 0, e.n or #members, e.n or #members, e.bytes or #all,
                                  e.at or at, e.comment or "")
end

local A = npy("<f4", "(2, 3)", ("<ffffff"):pack(1, 2, 3, 4, 5, 6))
local B = npy("|u1", "(5,)", "hello")

-- ---- what is right

for _, d in ipairs(devices) do
  describe(".npz files on " .. d.label, function()
    local name = os.tmpname()
    os.remove(name)
    name = name .. ".npz"
    teardown(function() os.remove(name) end)

    for _, compress in ipairs { false, true } do
      it("keep elements of every dtype and layout, compress = " .. tostring(compress), function()
        local T = {}
        for _, dtype in ipairs(tile.dtypes()) do
          for _, text in ipairs(dtype:match "^e" and {} or LAYOUTS) do
            T[dtype .. " " .. text] = counting(dtype, layout(text), d.device)
          end
        end
        T["\u{e9}"] = counting("f32", layout { 100, 3000 }, d.device)
        assert.is_true(tile.save(name, T, { compress = compress }))
        local U = assert(tile.load(name, d.device))
        for key, t in pairs(T) do
          assert.equal(t:dtype(), U[key]:dtype())
          assert.equal(d.device, U[key]:device())
          assert.same(t:totable(), U[key]:totable())
          U[key] = nil
        end
        assert.is_nil(next(U))
      end)
    end
  end)
end

describe("A .npz file", function()
  local name = os.tmpname()
  os.remove(name)
  name = name .. ".npz"
  teardown(function() os.remove(name) end)

  it("is smaller where it is compressed", function()
    local T = { a = tile.tensor("f64", layout { 100, 100 }) }
    assert(tile.save(name, T))
    local stored = #read(name)
    assert(tile.save(name, T, { compress = true }))
    assert.truthy(#read(name) < stored / 20)
    assert.same(T.a:totable(), assert(tile.load(name)).a:totable())
  end)

  it("of 8-bit floats needs to be told which, other members not", function()
    local T = { a = counting("e4m3", layout(9)), b = counting("i32", layout(3)) }
    assert(tile.save(name, T))
    assert.is_nil(tile.load(name))
    local U = assert(tile.load(name, "cpu", "e4m3"))
    assert.same({ "e4m3", "i32" }, { U.a:dtype(), U.b:dtype() })
    assert.same(T.a:totable(), U.a:totable())
  end)

  it("is read as others write it", function()
    local function is_right(bytes)
      write(name, bytes)
      local T = assert(tile.load(name))
      assert.same({ 1, 4, 2, 5, 3, 6 }, T.a:totable())
      assert.equal(("o"):byte(), T.b(4))
    end
    is_right(zip { { "a.npy", A }, { "b.npy", B } })
    is_right(zip { { "a.npy", A, method = 8 }, { "b.npy", B, method = 8, flags = 6 } })
    is_right(zip({ { "a.npy", A }, { "b.npy", B } }, { comment = "of somebody" }))
    is_right(zip { { "b.npy", B, extra = "\9\9\2\0ab" }, { "a.npy", A } })
    local wide = "\1\0\16\0" .. ("<I8I8"):pack(#A, #A)
    is_right(zip { { "a.npy", A, extra = wide, bytes = 0xffffffff, packed = 0xffffffff },
                   { "b.npy", B } })
    local two = zip { { "a.npy", A }, { "b.npy", B } }      -- the end in 64 bits
    local size, at = ("<I4I4"):unpack(two, #two - 9)
    local far = "PK\6\6" .. ("<I8I2I2I4I4I8I8I8I8"):pack(44, 45, 45, 0, 0, 2, 2, size, at) ..
                "PK\6\7" .. ("<I4I8I4"):pack(0, at + size, 1)
    is_right(zip({ { "a.npy", A }, { "b.npy", B } },
                 { far = far, n = 65535, at = 0xffffffff, bytes = 0xffffffff }))
  end)

  it("without members is one", function()
    assert(tile.save(name, {}))
    assert.equal("PK\5\6" .. ("\0"):rep(18), read(name))
    assert.same({}, assert(tile.load(name)))
  end)

  it("takes names and tensors, and options that there are", function()
    local T = tile.tensor("u8", layout(3))
    local function refused(text, ...)
      local ok, why = pcall(tile.save, ...)
      assert.is_false(ok)
      assert.truthy(why:find(text, 1, true), why)
    end
    refused("names that are strings expected", name, { T })
    refused("a name has the character 10", name, { ["a\n"] = T })
    refused("a name is too long", name, { [("a"):rep(65532)] = T })
    refused("compres", name, { a = T }, { compres = true })
    refused("never compressed", name .. ".safetensors", { a = T }, { compress = true })
    assert(tile.save(name, { [("a"):rep(65531)] = T, [""] = T }))
    assert.same({ 0, 0, 0 }, assert(tile.load(name))[""]:totable())
  end)
end)

-- ---- what is wrong

describe("A hostile .npz file", function()
  local name = os.tmpname()
  teardown(function() os.remove(name) end)

  local function wrong(text, bytes)
    write(name, bytes)
    local T, why, code = tile.load(name)
    assert.is_nil(T)
    assert.equal("EFORMAT", code)
    assert.equal(name .. ": ", why:sub(1, #name + 2))
    assert.truthy(why:find(text, 1, true), why)
  end

  it("is refused, with its member and what is wrong", function()
    local a, b = { "a.npy", A }, { "b.npy", B }
    local function with(x)
      local m = { "a.npy", A }
      for k, v in pairs(x) do m[k] = v end
      return zip { m, b }
    end
    wrong("its name is there twice", zip { a, a })
    wrong('member "a.txt": it is no .npy file', zip { { "a.txt", A } })
    wrong('member "a.npy": its checksum is wrong', with { crc = 1 })
    wrong('member "a.npy": its checksum is wrong', with { crc = 1, method = 8 })
    wrong("encrypted", with { flags = 1 })
    wrong("method 12", with { method = 12 })
    wrong("a stored member has two sizes", with { bytes = #A + 1 })
    wrong("inflates to fewer bytes", with { method = 8, bytes = #A + 1 })
    wrong("inflates to more bytes",
          zip { { "a.npy", A .. "x", method = 8, bytes = #A, crc = crc32(A) } })
    wrong("23 bytes, but shape and type need 24", with { bytes = #A - 1, packed = #A - 1 })
    wrong("deflate packs 1 to 1032 at most", with { method = 8, bytes = 1 << 30 })
    wrong("members overlap", zip { a, { "b.npy", B, at = 0, own = {} } })
    wrong("members overlap", zip { { "a.npy", A, packed = #A + 30, bytes = #A + 30 }, b })
    wrong("lies outside of the file", with { at = 1 << 30 })
    wrong("no header of its own", with { at = 1 })
    wrong("another than that of the directory", with { own = { method = 8 } })
    wrong("own name is another", with { own = { name = "c.npy" } })
    wrong("own header is another", with { own = { name = "long.npy" } })
    wrong("the character 0", zip { { "a\0.npy", A } })
    wrong("no UTF-8", zip { { "\xe9.npy", A, flags = 1 << 11 } })
    wrong("no UTF-8", zip { { "\u{e9}.npy", A } })
    wrong("bytes behind its data", zip { { "a.npy", A .. "x" } })
    wrong("npy: ", zip { { "a.npy", "\x93NUMPX" } })
    wrong("0 bytes, but shape and type need 24", zip { { "a.npy", npy("<f4", "(2, 3)", "") } })
    wrong("a size of 64 bits is missing", with { extra = "\1\0\0\0", bytes = 0xffffffff })
    wrong("an extra field is cut off", with { extra = "\1\0\9\0" })
  end)

  it("is refused where its end or its directory is wrong", function()
    local members = { { "a.npy", A }, { "b.npy", B } }
    local right = zip(members)
    wrong("no end of a directory", right:sub(1, -2))
    wrong("no end of a directory", right .. "x")
    wrong("more than one disk", zip(members, { disk = 1 }))
    wrong("does not end at", zip(members, { at = 1 }))
    wrong("does not end at", zip(members, { bytes = 1 << 31 }))
    wrong("goes on behind its last member", zip(members, { n = 1 }))
    wrong("members in 0 bytes", zip(members, { n = 2, at = #right - 22, bytes = 0 }))
    wrong("members in", zip(members, { n = 60000 }))
    wrong("does not end at", "PK\3\4" .. right:sub(5) .. right)
    local far = "PK\6\6" .. ("\0"):rep(52) .. "PK\6\7" .. ("\0"):rep(16)
    wrong("not before its locator", zip(members, { far = far }))
  end)

  it("that is damaged is refused, or read, and nothing else", function()
    local times = tonumber(os.getenv "MOONTILE_TIMES") or 1
    local bytes = zip { { "a.npy", A }, { "b.npy", B, method = 8 } }
    for _ = 1, 400 * times do
      local at = math.random(#bytes)
      write(name, math.random() < 0.3 and bytes:sub(1, at) or
                  bytes:sub(1, at - 1) .. string.char(math.random(0, 255)) .. bytes:sub(at + 1))
      local T, why, code = tile.load(name)
      assert.truthy(T or code == "EFORMAT" or code == "ENOMEM", why)
    end
  end)

  it("of much deflated to little costs what it has, not what it says", function()
    local bomb = npy("|u1", "(900000000,)", "")
    wrong("deflate packs", zip { { "a.npy", bomb, method = 8, bytes = 900000128 } })
  end)
end)
