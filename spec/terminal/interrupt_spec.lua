-- interrupt_spec.lua: Ctrl-C in a terminal brings the prompt back, whatever runs. Prints how many
-- milliseconds that took.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*)/"
local screen = dofile(here .. "/screen.lua")
local pty = require "moontile_pty"

local scratch = assert(os.getenv "MOONTILE_SCRATCH", "MOONTILE_SCRATCH is not set")
local libcuda = os.getenv "MOONTILE_TEST_LIBCUDA" or ""
local CONTROL_D = "\4"

-- ---------------------------------------------------------------- kinds of work

-- Work of Lua, and of its libraries: a name, what makes it ready, what runs.
local LUA = {
  { "a loop", "function endless() while true do end end", "endless()" },
  { "a recursion", "function f(n) return n > 0 and f(n - 1) + f(n - 2) or 1 end", "f(90)" },
  { "errors that are caught", "", "while true do pcall(endless) end" },
  { "errors with a handler", "", "while true do xpcall(endless, print) end" },
  { "a coroutine", "", "coroutine.wrap(endless)()" },
  { "coroutines in one another",
    "function deep(n) if n == 0 then endless() end coroutine.wrap(deep)(n - 1) end", "deep(20)" },
  { "coroutines that yield",
    "co = coroutine.wrap(function() while true do coroutine.yield() end end)",
    "while true do co() end" },
  { "an old coroutine", "co = coroutine.create(function() coroutine.yield() endless() end) "
    .. "coroutine.resume(co);", "coroutine.resume(co)" },
  { "a metamethod", "t = setmetatable({}, { __index = endless })", "x = t.x" },
  { "a sort", "t = {} for i = 1, 1000 do t[i] = i end", "table.sort(t, endless)" },
  { "a substitution", "s = ('x'):rep(1000)", "s:gsub('x', endless)" },
  { "many substitutions", "s = ('x'):rep(1000)", "while true do s:gsub('x', string.upper) end" },
  { "a finalizer's garbage", "", "while true do setmetatable({}, { __gc = function() end }) end" },
  { "long text", "", "while true do x = ('x'):rep(1000) .. 'y' end" },
  { "a sleep", "", "os.execute 'sleep 1000'" },
  { "a line that is awaited", "", "io.read()" },
  { "much that is printed", "", "while true do io.write '.' end" },
  { "a file that is written", "T, path = tensor('u8', layout(1 << 26)), [["
    .. scratch .. "/interrupted.npy]]", "while true do T:save(path) end" },
  { "a file that is read", "T:save(path);", "while true do T = tile.load(path) end" },
  { "layouts", "", "while true do x = layout({ 4, 8 }) / 2 end" },
  { "proofs of a kernel", "k = tile.kernels{ arch = 80 }[1]", "while true do tile.verify(k) end" },
  { "proofs of a partition", "T = tensor('f32', layout{ 4096, 4096 }) c = tiled_copy{ atom = "
    .. "'UniversalCopy<uint32_t>', dtype = 'f32', thr = layout{ 32, 8 }, val = layout{ 4, 4 } }",
    "while true do tile.verify(c, T) end" },
  { "a picture as HTML", "", "while true do tile.html(layout{ 128, 128 }) end" },
  { "a picture as SVG", "", "while true do tile.svg(layout{ 128, 128 }) end" },
  { "a picture in the terminal", "", "while true do draw(layout{ 64, 64 }) end" },
}

-- ---------------------------------------------------------------- measuring

local function open()
  local s = screen.open { environment = {
    XDG_STATE_HOME = scratch .. "/state", XDG_CONFIG_HOME = scratch .. "/config", NO_COLOR = "1",
    LD_LIBRARY_PATH = os.getenv "LD_LIBRARY_PATH", LUA_CPATH_5_4 = package.cpath,
  } }
  s:prompt()
  s:enter("kinds = loadfile 'spec/stop/kinds.lua'(tile, [[" .. libcuda .. "]]);")
  return s
end

local function wait(milliseconds)
  local ends = pty.now() + milliseconds
  while pty.now() < ends do end
end

-- Runs the code, interrupts it, waits for the prompt: the milliseconds that took. Ctrl-C at the
-- prompt is harmless.
local function interrupt(s, code, delay)
  s.number = (s.number or 0) + 1
  s:type(("print('going', %d) %s\r"):format(s.number, code))
  s:wait(code, function()
    for _, line in ipairs(s:lines()) do
      if line:match("^going%s+" .. s.number .. "%f[%D]") then return true end
    end
  end)
  wait(delay)
  s:forget()
  local begin = pty.now()
  s:interrupt()
  local took = pty.now() - begin
  s:interrupt()
  return took
end

local times = {}
local function note(name, took) times[#times + 1] = { name = name, took = took } end

describe("Ctrl-C brings the prompt back from", function()
  local s
  for _, row in ipairs(LUA) do
    it(row[1], function()
      s = s or open()
      if row[2] ~= "" then s:enter(row[2]) end
      note(row[1], interrupt(s, row[3], 50))
      assert.equal("42", s:enter "6 * 7")
    end)
  end

  -- A kernel of the fake GPU goes on when nobody waits for it any more: then another console.
  it("copies, products, searches, waits for a GPU: all kinds of spec/stop", function()
    s = open()
    for i = 1, tonumber((s:enter "#kinds")) do
      local name = s:enter(("kinds[%d].name"):format(i))
      local delay = tonumber((s:enter(("kinds[%d].delay"):format(i))))
      s:enter(("run = kinds[%d].make();"):format(i))
      if name:match "^GPU" then
        s:enter "require 'moontile_pty'.setenv('FAKECUDA_SLOW', '1000000')"
      end
      note(name, interrupt(s, "run()", delay))
      assert.equal("42", s:enter "run = nil return 6 * 7")
      if name:match "^GPU" then s = open() end
    end
    assert.is_true(#times > 40)
    s:type(CONTROL_D)
    assert.equal(0, s:ended())
  end)

  it("a product as it is described", function()
    s = open()
    s:enter "A = tensor('f16', layout({ 2048, 2048 }, 'right'))"
    s:enter "C = tensor('f32', layout({ 2048, 2048 }, 'right'))"
    s:enter "mma = tiled_mma { atom = 'SM80_16x8x16_F32F16F16F32_TN', atoms = layout { 2, 2 } }"
    note("2048^3 as described", interrupt(s, "gemm(mma, A, A, C)", 300))
    assert.equal("42", s:enter "6 * 7")
  end)

  it("a completion, and the search of the history", function()
    s = open()
    s:type "mma_atom 'SM90_\t\t"
    s:wait_for "SM90_64x"
    s:prompt "mma_atom 'SM90_"
    local begin = pty.now()
    s:interrupt()
    note("a completion", pty.now() - begin)
    s:type "\18kin"
    s:wait_for "bck:kin"
    s:interrupt()
    assert.equal("42", s:enter "6 * 7")
  end)
end)

it("Ctrl-C: milliseconds until the prompt is back", function()
  os.remove(scratch .. "/interrupted.npy")
  table.sort(times, function(a, b) return a.took > b.took end)
  print()
  for _, t in ipairs(times) do print(("%-36s %8.1f"):format(t.name, t.took)) end
  print(("the longest of %d took %.1f ms"):format(#times, times[1].took))
  assert.is_true(times[1].took < 5000)
end)
