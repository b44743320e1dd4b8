-- stop_spec.lua: a count hook reaches into calls that take long, ends them, and breaks nothing.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

-- A sum of 2^40 products: nobody waits for its end.
local A = tile.tensor("f32", layout({ 4, 1 << 40 }, { 1, 0 }))
local C = tile.tensor("f32", layout { 4, 4 })

local function endless() tile.gemm(A, A, C) end

-- What f raises when `hook` is called now and then in the middle of it.
local function interrupted(hook, f)
  local told = {}
  local ok, e = pcall(function()
    debug.sethook(function()
      if debug.getinfo(2, "S").what ~= "C" then return end       -- of Lua, not of a call
      told[#told + 1] = true
      hook(#told)
    end, "", 1000)
    f()
  end)
  debug.sethook()
  return ok, e, #told
end

describe("a count hook in the middle of a call", function()
  it("is called again and again, and ends it by an error", function()
    local ok, e, told = interrupted(function(n) if n == 3 then error("enough", 0) end end, endless)
    assert.is_false(ok)
    assert.equal("enough", e)
    assert.equal(3, told)
  end)

  it("raises any value", function()
    local value = {}
    for _, v in ipairs { value, 7, true, false } do
      local ok, e = interrupted(function() error(v) end, endless)
      assert.is_false(ok)
      assert.equal(v, e)
    end
    local ok, e = interrupted(function() error(nil) end, endless)
    assert.is_false(ok)
    assert.is_nil(e)
  end)

  it("leaves everything as it was", function()
    local x = tile.tensor("f32", layout { 4, 4 }):fill(2)
    interrupted(function() error "enough" end, endless)
    tile.gemm(x, x, C)
    assert.same({ 16, 16, 16, 16 }, { C(0, 0), C(3, 0), C(0, 3), C(3, 3) })
    assert.has_error(function() tile.gemm(x, x, x) end)
    assert.same({ 4, 3 }, { tile.tensor("u8", layout(3)):fill { 1, 2, 4 }(2), #{ 1, 2, 3 } })
  end)

  it("ends it in a coroutine", function()
    local co = coroutine.create(endless)
    local n = 0
    debug.sethook(co, function() n = n + 1 if n > 2 then error("enough", 0) end end, "", 1000)
    local ok, e = coroutine.resume(co)
    assert.is_false(ok)
    assert.equal("enough", e)
    assert.equal("dead", coroutine.status(co))
  end)

  it("collects what nobody has", function()
    local ok, e, told = interrupted(function(n)
      setmetatable({}, { __gc = function() C:free() end })
      collectgarbage()
      if n == 5 then error("enough", 0) end
    end, endless)
    assert.same({ false, "enough", 5 }, { ok, e, told })
    assert.equal("tensor f32 (4,4):(1,4) cpu", tostring(C))
  end)
end)

-- What the call uses is out of the hook's reach, and with it all that lies on devices.
describe("a hook that a call waits for", function()
  local plan = tile.plan(C, tile.tensor("f32", layout { 4, 4 }))
  local cpu = tile.device "cpu"
  local stream, graph = cpu:stream(), cpu:graph(function() plan() end)
  for name, f in pairs {
    ["T:free()"] = function() C:free() end,
    ["<close> of a tensor"] = function() local _ <close> = C end,
    ["T:fill()"] = function() C:fill(1) end,
    ["T(i, j)"] = function() return C(0, 0) end,
    ["T[c] = v"] = function() C[{ 0, 0 }] = 1 end,
    ["T:to()"] = function() return C:to "cpu:checked" end,
    ["tensor()"] = function() return tile.tensor("f32", layout(4)) end,
    ["device()"] = function() return tile.device "cpu" end,
    ["device:stream()"] = function() return cpu:stream() end,
    ["device:synchronize()"] = function() cpu:synchronize() end,
    ["stream:close()"] = function() stream:close() end,
    ["stream:synchronize()"] = function() stream:synchronize() end,
    ["copy()"] = function() tile.copy(A, C) end,
    ["gemm()"] = function() tile.gemm(A, A, C) end,
    ["plan()"] = function() plan() end,
    ["plan:free()"] = function() plan:free() end,
    ["<close> of a plan"] = function() local _ <close> = plan end,
    ["plan:measure()"] = function() return plan:measure() end,
    ["graph()"] = function() graph() end,
    ["graph:free()"] = function() graph:free() end,
  } do
    it("cannot use " .. name, function()
      local ok, e, told = interrupted(f, endless)
      assert.is_false(ok)
      assert.match("in the middle of a call", e)
      assert.equal(1, told)
    end)
  end

  it("may use layouts", function()
    local seen
    interrupted(function(n)
      seen = tostring(layout(24, 2) / layout(4, 2))
      if n == 2 then error "enough" end
    end, endless)
    assert.equal("(4,(2,3)):(4,(2,16))", seen)
  end)

  it("has broken nothing", function()
    plan()
    graph()
    stream:synchronize()
    C:fill(1)
    assert.equal(1, C(3, 3))
  end)
end)
