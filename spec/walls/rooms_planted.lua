-- rooms_planted.lua: rooms.lua finds what is planted, and nothing else.
-- usage: rooms_planted.lua ROOT
-- SPDX-License-Identifier: MIT

local rooms = dofile(arg[1] .. "/spec/walls/rooms.lua")
local order = rooms.order [[
# a comment (of no, room)
core      (base, layout) values
copy      copies
main.c    the program
]]

local sound = {
  ["src/core/arith.h"] = '\n#include <string.h>\n',
  ["src/core/error.h"] = '\n#include "moontile/base.h"\n#include "core/arith.h"\n',
  ["src/copy/check.h"] = '\n#include "core/error.h"\n',
  ["src/copy/check.c"] = '\n#include "copy/check.h"\n#include "kernels/copy/copy.def"\n',
  ["src/main.c"] = '\n#include "copy/check.h"\n',
}
local symbols = {
  "build/src/core/error.c.o: mt_fail T 0 10",
  "build/src/copy/check.c.o: mt_check T 0 10",
  "build/src/copy/check.c.o: mt_fail U",
  "build/src/main.c.o: mt_check U",
}

local failed = 0

-- What is found with one thing changed: `want` is a part of it, or nil for nothing.
local function try(name, want, file, text, symbol)
  local files, lines, found = {}, {}, {}
  for k, v in pairs(sound) do files[k] = v end
  if file then files[file] = text end
  table.move(symbols, 1, #symbols, 1, lines)
  lines[#lines + 1] = symbol
  local function fail(format, ...) found[#found + 1] = format:format(...) end
  rooms.check_includes(order, files, fail)
  rooms.check_circles(files, fail)
  rooms.check_symbols(order, lines, fail)
  local ok = #found == (want and 1 or 0) and (not want or found[1]:find(want, 1, true))
  if not ok then
    failed = failed + 1
    print(("%s: wanted %s, found %s"):format(name, want, table.concat(found, "; ")))
  end
end

try("nothing planted")
try("an upward include", "src/core/error.c includes copy/check.h: copy lies above core",
    "src/core/error.c", '\n#include "copy/check.h"\n')
try("an upward include of a public header", "names no room that serves it", "src/core/arith.h",
    '\n#include "moontile/plan.h"\n')
try("an include without a room", "an include says the room", "src/copy/check.c",
    '\n#include "check.h"\n')
try("an unknown room", "src/rooms.txt has no room attic", "src/attic/box.c", "\n")
try("a circle", "a circle of headers: src/core/error.h -> src/core/arith.h -> src/core/error.h",
    "src/core/arith.h", '\n#include "core/error.h"\n')
try("an upward symbol", "core/arith.c.o uses mt_check: copy lies above core", nil, nil,
    "build/src/core/arith.c.o: mt_check U")

print(("%d of the planted were not told as they should"):format(failed))
os.exit(failed == 0, true)
