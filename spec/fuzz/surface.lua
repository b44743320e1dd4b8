-- surface.lua: a grammar fuzzer for all that a script can reach: random calls with operands that
-- fit and some that do not; finalizers, metamethods, graphs, coroutines in the middle of them.
-- SPDX-License-Identifier: MIT
--
-- usage: moontile surface.lua [options]
--   --seed N         the first case is that of this number; 1
--   --seconds N      how long; 10
--   --cases N        how many cases at most
--   --log FILE       where the case at hand is written, before each line; without: nowhere
--   --scratch DIR    a folder for files; /tmp
--   --libcuda FILE   a driver for the device `gpu`; MOONTILE_TEST_LIBCUDA
--   --replay FILE    runs the lines of a log instead
--   --shrink FILE    leaves out of a log all lines that it fails without, into FILE.small
--   --skip PATTERN   lines that match are left out: what they show is known
--   --verbose        each line with what came of it
-- Most useful with the sanitizers; spec/fuzz/surface.sh runs it for long.

local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/?.lua;" .. package.path

local function read_options()
  local o, i = { seed = 1, seconds = 10, scratch = "/tmp" }, 1
  o.libcuda = os.getenv "MOONTILE_TEST_LIBCUDA"
  while arg[i] do
    local name = arg[i]:match "^%-%-(%l+)$"
    assert(name, "surface: unknown argument " .. arg[i])
    if name == "verbose" then o.verbose, i = true, i + 1
    else o[name], i = tonumber(arg[i + 1]) or arg[i + 1], i + 2 end
  end
  return o
end

local options = read_options()

if options.shrink then
  require "surface.shrink" (options)
  return
end

local lines = require "surface.lines"
local room = require("surface.room").new(options)

local function finding(what)
  io.write("surface: ", what, "\n", table.concat(room.lines, "\n"), "\n")
  os.exit(1, true)
end

if options.replay then
  room.lines = {}
  for line in io.lines(options.replay) do
    local _, what = room:run(line)
    if what then finding(what) end
  end
  room:clear()
  return
end

local CASE = 40                 -- lines, at least
local count, answered, cases = 0, 0, 0

local function case(seed)
  math.randomseed(seed, 0)
  room:clear()
  room:begin("-- surface case " .. seed)
  repeat
    for _, line in ipairs(lines.next(room)) do
      if options.skip and line:find(options.skip) then line = "-- skipped" end
      local ok, what = room:run(line)
      if what then finding(what) end
      count, answered = count + 1, answered + (ok and 1 or 0)
    end
  until #room.lines > CASE
  room:settle()
end

local began, last = os.time(), options.cases or math.huge
while cases < last and os.time() - began < options.seconds do
  case(options.seed + cases)
  cases = cases + 1
end
room:clear()
io.write(("surface: seed %d, %d cases, %d lines, %d of them answered, %d bytes held\n"):format(
  options.seed, cases, count, answered, require "moontile".held()))
