-- rooms.lua: who may use whom in src: the order of src/rooms.txt, checked.
-- SPDX-License-Identifier: MIT
--
-- A room uses itself and the rooms above it in the list, by #include and by symbol. Includes say
-- the room: "copy/check.h". Headers do not include each other in a circle. The functions here take
-- texts, so that they can be tried on planted ones.

local rooms = {}

-- The order of rooms, from the text of rooms.txt: rank of a room; room of a public header.
function rooms.order(text)
  local order = { rank = {}, header = {}, n = 0 }
  for line in text:gmatch "[^\n]+" do
    local room, headers = line:match "^([%a.]+) +%(?([%a, ]*)"
    if room then
      order.n = order.n + 1
      order.rank[room] = order.n
      if line:match "^%S+ +%(" then
        for name in headers:gmatch "%a+" do order.header[name] = room end
      end
    end
  end
  return order
end

-- The room of a file of src: "src/copy/check.c" is of copy, "src/main.c" of main.c.
function rooms.of(path)
  return path:match "src/([^/]*)/[^/]*$" or path:match "src/([^/]*)$"
end

-- What an #include of src means: a room, or nil and why it is none; false: nothing of src.
local function target(order, file)
  local header = file:match "^moontile/(%a+)%.%a+$"
  if header then
    if order.header[header] then return order.header[header] end
    return nil, "src/rooms.txt names no room that serves it"
  end
  if file == "moontile.h" then return "binding" end      -- all of it
  if file:match "^kernels/.*%.def$" then return false end
  local room = file:match "^([^/]+)/[^/]+$"
  if not room then return nil, "an include says the room: \"core/error.h\"" end
  if not order.rank[room] then return nil, "src/rooms.txt has no such room" end
  return room
end

-- files: text by path. Calls fail(format, ...) for what is wrong.
function rooms.check_includes(order, files, fail)
  for path, text in pairs(files) do
    local own = rooms.of(path)
    if not order.rank[own] then fail("%s: src/rooms.txt has no room %s", path, own) end
    for file in text:gmatch '\n%s*#%s*include%s*"(.-)"' do
      local room, why = target(order, file)
      if why then
        fail("%s includes %s: %s", path, file, why)
      elseif room and order.rank[own] and order.rank[room] > order.rank[own] then
        fail("%s includes %s: %s lies above %s", path, file, room, own)
      end
    end
  end
end

-- Headers that include each other, directly or not.
function rooms.check_circles(files, fail)
  local place, trail = {}, {}      -- of a file that is open: its place in the trail; done: 0
  local function visit(path)
    if place[path] == 0 then return end
    if place[path] then
      local circle = table.concat(trail, " -> ", place[path])
      return fail("a circle of headers: %s -> %s", circle, path)
    end
    trail[#trail + 1] = path
    place[path] = #trail
    for file in files[path]:gmatch '\n%s*#%s*include%s*"(.-)"' do
      if files["src/" .. file] then visit("src/" .. file) end
    end
    trail[#trail] = nil
    place[path] = 0
  end
  local paths = {}
  for path in pairs(files) do paths[#paths + 1] = path end
  table.sort(paths)
  for _, path in ipairs(paths) do visit(path) end
end

-- lines: what `nm -A -P` prints of the objects: "PATH: NAME TYPE ...".
function rooms.check_symbols(order, lines, fail)
  local home, used = {}, {}
  for _, line in ipairs(lines) do
    local path, name, kind = line:match "^(.-): (%S+) (%a)"
    local room = path and rooms.of(path)
    if room then
      local file = room:match "%.c$" and room or path:match "src/(.*)$"
      room = order.rank[room] and room or room:gsub("%.o$", "")
      if kind == "U" then
        used[#used + 1] = { file = file, room = room, name = name }
      elseif kind:match "[TDRBVW]" then
        home[name] = room
      end
    end
  end
  for _, u in ipairs(used) do
    local to = home[u.name]
    if to and order.rank[to] and order.rank[u.room] and order.rank[to] > order.rank[u.room] then
      fail("%s uses %s: %s lies above %s", u.file, u.name, to, u.room)
    end
  end
  return next(home) ~= nil
end

return rooms
