-- progress_spec.lua: calls that take long show on a terminal how far they are, and nowhere else.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*)/"
local screen = dofile(here .. "/screen.lua")

local scratch = assert(os.getenv "MOONTILE_SCRATCH", "MOONTILE_SCRATCH is not set")
local program = assert(os.getenv "MOONTILE_PROGRAM")

-- Code that defines stopped(seconds, f): calls f, which a hook ends by an error after that time;
-- prints the error.
local STOPPED = [[
  local now = require "moontile_pty".now
  local tile = require "moontile"
  local function stopped(seconds, f)
    local ends = now() + 1000 * seconds
    debug.sethook(function()
      if now() > ends then debug.sethook() error("enough", 0) end
    end, "", 1000)
    print(select(2, pcall(f)))
  end
]]
-- A sum of 2^40 products: nobody waits for its end.
local ENDLESS = STOPPED .. [[
  local A = tile.tensor("f32", tile.layout({ 4, 1 << 40 }, { 1, 0 }))
  local C = tile.tensor("f32", tile.layout{ 4, 4 })
  local function endless() tile.gemm(A, A, C) end
]]

local function open(code, options)
  options = options or {}
  options.arguments = code and { "-e", code }
  options.environment = options.environment or {}
  options.environment.LUA_CPATH_5_4 = package.cpath
  options.environment.XDG_STATE_HOME = scratch .. "/state"
  options.environment.XDG_CONFIG_HOME = scratch .. "/config"
  return screen.open(options)
end

-- The line below the cursor, when it is there; how long it will take in digits, whatever that is.
local function line_of(s)
  local found
  s:wait("a line", function()
    found = s.kept and s:lines()[s.kept[1] + 1]
    return found and found:find "%%"
  end)
  return (found:gsub("years left", "0:00 left"):gsub("%d+ days left", "0:00 left"))
end

describe("a call that takes long", function()
  it("shows a line below what was written, and erases it when it fails", function()
    local s = open(ENDLESS .. "io.write 'begun: ' io.flush() stopped(1, endless)")
    local line = line_of(s)
    assert.match("^gemm 0 %%  [%d:]+ left  [%d.]+ [kMGT]?op/s  %.+$", line)
    assert.is_true(#line < 80)
    for name in pairs(s.sequences) do assert.is_nil(name:match "m$") end        -- no colours
    assert.equal(0, s:ended())
    assert.equal("begun: enough", s:text())
  end)

  it("erases it when it is done", function()
    local s = open [[
      local now, begin = require "moontile_pty".now, nil
      local p = assert(plan(tensor("f32", layout(1 << 18)), tensor("f32", layout(1 << 18))))
      local us, n = p:measure(100), nil
      n = 700000 // math.max(us, 1) | 0
      repeat begin, n = now(), 2 * n p:measure(n) until now() - begin > 800
      print "done"]]
    assert.match("^measure %d+ %%  %d:%d%d left  [%d.]+k? launches/s  #+%.+$", line_of(s))
    assert.equal(0, s:ended())
    assert.equal("done", s:text())
  end)

  it("erases it when it is interrupted", function()
    local s = open()
    s:prompt()
    s:enter "local A = tensor('f32', layout({ 4, 1 << 40 }, { 1, 0 }))"
    s:enter "local C = tensor('f32', layout{ 4, 4 })"
    s:type "gemm(A, A, C)\r"
    line_of(s)
    s:interrupt()
    assert.is_nil(s:text():find("%", 1, true))
    assert.truthy(s:text():find("interrupted!", 1, true))
    assert.equal("42", s:enter "6 * 7")
  end)

  it("says as much as there is room for", function()
    for columns, want in pairs {
      [40] = "^gemm 0 %%  [%d:]+ left  [%d.]+ [kMGT]?op/s$", [26] = "^gemm 0 %%  [%d:]+ left$",
      [10] = "^gemm 0 %%$",
    } do
      local s = open(ENDLESS .. "stopped(10, endless)", { columns = columns })
      local line = line_of(s)
      assert.match(want, line)
      assert.is_true(#line < columns)
    end
  end)

  it("is a product, a search, tuning", function()
    for name, code in pairs {
      tune = "local src = tile.tensor('f32', tile.layout{ 2048, 2048 }) "
        .. "local dst = tile.tensor('f32', tile.layout({ 2048, 2048 }, 'right')) "
        .. "while true do tile.tune(tile.plan(src, dst), { rounds = 10000 }) end",
      find_swizzle = "local smem = tile.layout({ 1 << 10, 1 << 10 }, { 1, 1 << 10 }) "
        .. "local tv = tile.layout({ 1 << 15, 32 }, { 1, 1 << 15 }) "
        .. "while true do tile.find_swizzle{ smem = smem, bits = 8, write = tv, read = tv } end",
    } do
      local s = open(("%s stopped(10, function() %s end)"):format(STOPPED, code))
      assert.match("^" .. name .. " %d+ %%  %d[%d:]* left  ", line_of(s))
    end
  end)
end)

describe("nothing is shown", function()
  local function silent(s, text)
    s:ended()
    assert.equal(text, s:text())
    for _, name in ipairs { "ESC D", "ESC 7", "J" } do assert.is_nil(s.sequences[name]) end
  end

  it("of what is short, however often", function()
    for try = 1, 10 do               -- on a machine that is busy 0.2 s may be many
      local s = open(ENDLESS .. [[
        local longest = 0
        for _ = 1, 4 do
          local begin = now()
          stopped(0.2, endless)
          longest = math.max(longest, now() - begin)
        end
        print(longest < 450)]])
      s:ended()
      if try == 10 or s:text():find "true" then
        return silent(s, "enough\nenough\nenough\nenough\ntrue")
      end
    end
  end)

  it("where the terminal cannot, or is too narrow", function()
    silent(open(ENDLESS .. "stopped(0.8, endless)", { environment = { TERM = "dumb" } }), "enough")
    silent(open(ENDLESS .. "stopped(0.8, endless)", { environment = { TERM = "" } }), "enough")
    silent(open(ENDLESS .. "stopped(0.8, endless)", { columns = 6 }), "enough")
  end)

  it("on a pipe", function()
    local file = assert(io.open(scratch .. "/progress.lua", "w"))
    file:write(ENDLESS, "stopped(0.8, endless)")
    file:close()
    local out = assert(io.popen(("LUA_CPATH_5_4='%s' TERM=xterm %s %s/progress.lua 2>&1"):format(
      package.cpath, program, scratch)))
    assert.equal("enough\n", out:read "a")
    assert.is_true(out:close())
  end)
end)
