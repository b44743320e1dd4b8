-- clock.lua: how long the library has worked. Neither of the two clocks says it alone: the time of
-- the processors adds up what threads do beside each other, 64 seconds each second on 64 of them; a
-- full machine lengthens the time of the wall. What does not end takes both: the lesser counts.
-- SPDX-License-Identifier: MIT

local time, clock, min, pack, error, pcall, unpack =
      os.time, os.clock, math.min, table.pack, error, pcall, table.unpack

local watch = {}

-- What has acted in the middle of calls so far, and is no part of them.
local acted = { wall = 0, processors = 0 }

function watch.start()
  return { wall = time(), processors = clock(), acted_wall = acted.wall,
           acted_processors = acted.processors }
end

-- Seconds since `began`, of start(); the clock of the wall has whole ones.
function watch.since(began) return min(time() - began.wall, clock() - began.processors) end

-- The same without what has acted since.
function watch.own(began)
  return min(time() - began.wall - (acted.wall - began.acted_wall),
             clock() - began.processors - (acted.processors - began.acted_processors))
end

-- What f() returns, or raises; it acts.
function watch.acting(f)
  local wall, processors = time(), clock()
  local r = pack(pcall(f))
  acted.wall = acted.wall + time() - wall
  acted.processors = acted.processors + clock() - processors
  if not r[1] then error(r[2], 0) end
  return unpack(r, 2, r.n)
end

return watch
