-- poison_spec.lua: what one script does to the module, to its values or to Lua's libraries changes
-- nothing for what the library does itself.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout
local devices = dofile "spec/devices.lua"

local function samples(device)
  local T = tile.tensor("f32", layout({ 16, 8 }, "right"), device):fill(1)
  local U = tile.tensor("f32", layout { 16, 8 }, device)
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(4) }
  local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 4, 4 } }
  local plan = tile.plan(T, U)
  return {
    tensor = T, other = U, plan = plan, copy = copy, mma = mma, stream = device:stream(),
    graph = device:graph(function() plan() end), device = device, layout = T:layout(),
    slice = copy:get_slice(0), thread = mma:get_slice(0), value = tile.swizzle(2, 0, 3),
    wildcard = tile._, tuple = T:shape(), verdict = tile.verify(copy, T), ways = plan:why(),
    banks = tile.bank_conflicts(layout(32, 2), "f32"),
    mma_atom = tile.mma_atom "UniversalFMA<float>",
    copy_atom = tile.copy_atom "UniversalCopy<uint32_t>",
  }
end

for _, d in ipairs(devices) do
  local device = d.device

  describe("metatables on " .. d.label, function()
    it("are names", function()
      for name, value in pairs(samples(device)) do
        assert.is_string(getmetatable(value), name)
        if type(value) == "table" then
          assert.is_false(pcall(setmetatable, value, {}), name)
        end
      end
    end)

    it("have no finalizer and no index that a script reaches", function()
      for name, value in pairs(samples(device)) do
        for _, key in ipairs { "__gc", "__index", "__close", "__metatable", "__name" } do
          local ok, found = pcall(function() return value[key] end)
          assert.is_true(not ok or found == nil, name .. "." .. key)
        end
      end
    end)
  end)

  describe("a module that a script has changed, on " .. d.label .. ",", function()
    local kept, libraries = {}, {}
    local function spoil()
      for name, value in pairs(tile) do kept[name] = value end
      for name in pairs(kept) do tile[name] = function() error("poison: " .. name) end end
      for _, name in ipairs { "table", "string", "math" } do
        libraries[name] = {}
        for key, value in pairs(_G[name]) do libraries[name][key] = value end
      end
      local function poison() error "poison: a library" end
      rawset(table, "sort", poison)
      rawset(table, "concat", poison)
      rawset(math, "max", poison)
    end
    local function restore()
      for name, value in pairs(kept) do tile[name] = value end
      for name, fields in pairs(libraries) do
        for key, value in pairs(fields) do _G[name][key] = value end
      end
    end
    after_each(restore)

    local o
    local calls = {
      why = function() return o.plan:why(), tostring(o.plan:why()) end,
      tune = function() return kept.tune(o.plan, { rounds = 1 }) end,
      plan = function() return kept.plan(o.tensor, o.other) end,
      copy = function() return kept.copy(o.tensor, o.other) end,
      einsum = function() return kept.einsum("ij,kj->ik", o.tensor, o.tensor) end,
      fold = function()
        return kept.einsum_fold("mk,nk->mn", layout { 4, 2 }, layout { 3, 2 }, layout { 4, 3 })
      end,
      im2col = function() return kept.im2col(layout { 2, 6, 3 }, 3) end,
      print = function() return kept.print_layout(o.layout) end,
      method = function() return o.layout:print_layout() end,
      info = function() return kept.info() end,
      tile = function() return kept.local_tile(o.tensor, { 4, 4 }, { 0, 1 }) end,
      again = function() package.loaded.moontile = nil return require "moontile" end,
    }
    for name, call in pairs(calls) do
      it("does " .. name .. " as before", function()
        o = samples(device)
        local loaded = package.loaded.moontile
        spoil()
        local ok, message = pcall(call)
        restore()
        package.loaded.moontile = loaded
        assert.is_true(ok, message)
      end)
    end
  end)
end

describe("the module", function()
  it("has a metatable that scripts do not see", function()
    assert.equal("moontile", getmetatable(tile))
    assert.is_false(pcall(setmetatable, tile, {}))
  end)
end)

describe("what was measured", function()
  it("is in no field that a script finds", function()
    for name, value in pairs(tile) do
      assert.is_true(type(value) == "function" or value == tile._ or name == "_VERSION"
                     or value == name, name)           -- LayoutRight is a text
    end
  end)
  it("is as it was after a file that says nothing of use", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write("nonsense\n", ("f"):rep(16), "\tcpu\tcopy_strided\t99999\n\0\t\t\t\n")
    file:close()
    assert.same({ 0, 3 }, { tile.load_tuning(path) })
    os.remove(path)
    local T = tile.tensor("f32", layout(64))
    assert.equal(64, tile.copy(T, tile.tensor("f32", layout(64))) or tile.size(T))
  end)
end)
