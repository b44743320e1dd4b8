-- startup_spec.lua: the program and its console begin at once, and touch no driver. Prints how many
-- milliseconds they took; the bounds are far above that, for machines that are slow or busy.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*)/"
local screen = dofile(here .. "/screen.lua")
local pty = require "moontile_pty"

local scratch = assert(os.getenv "MOONTILE_SCRATCH", "MOONTILE_SCRATCH is not set")
local TIMES = 20

local function open(arguments)
  return screen.open { arguments = arguments, columns = 200, environment = {
    XDG_STATE_HOME = scratch .. "/state", XDG_CONFIG_HOME = scratch .. "/config", NO_COLOR = "1",
    LD_LIBRARY_PATH = os.getenv "LD_LIBRARY_PATH",
  } }
end

-- The shortest and the median of so many runs of f.
local function milliseconds(what, f)
  local times = {}
  for i = 1, TIMES do
    local begin = pty.now()
    local s = f()
    times[i] = pty.now() - begin
    if s then s:type "\4" end
    if s then s:ended() end
  end
  table.sort(times)
  print(("%-36s %6.1f %6.1f"):format(what, times[1], times[TIMES // 2]))
  return times[1]
end

-- Files that the program has mapped, one a line.
local MAPS = "for line in io.lines '/proc/self/maps' do "
  .. "if line:find 'cuda' or line:find 'blas' then print('mapped: ' .. line) end end"

it("the program begins at once: milliseconds, the shortest and the median", function()
  print()
  assert.is_true(milliseconds("moontile -e ''", function() open { "-e", "" }:ended() end) < 150)
end)

it("so does the console, from the start to its prompt", function()
  local shortest = milliseconds("moontile: the prompt", function()
    local s = open()
    s:prompt()
    return s
  end)
  assert.is_true(shortest < 300)
end)

it("nothing of the library is read before it is used", function()
  local s = open { "-e", "print(package.loaded.moontile, collectgarbage 'count' < 100)" }
  s:ended()
  assert.equal("nil\ttrue", (s:text():gsub("%s+", "\t")))
  s = open()
  s:prompt()
  assert.equal("true", s:enter "collectgarbage 'count' < 700")
end)

it("no driver is touched, nor a BLAS", function()
  local s = open { "-e", "require 'moontile' " .. MAPS .. " print 'done'" }
  s:ended()
  assert.equal("done", s:text())
  s = open()
  s:prompt()
  assert.equal("", s:enter(MAPS))
  assert.equal("(4,8):(1,4)", s:enter "layout{ 4, 8 }")
  assert.equal("", s:enter(MAPS))
end)
