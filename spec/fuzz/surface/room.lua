-- room.lua: where the lines of a case run: their values, their devices, the functions that they
-- use by name. A line is Lua; it is written to the log before it runs, so that what kills the
-- process is the last one there.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local hostile = require "surface.hostile"
local laws = require "surface.laws"
local watch = require "surface.clock"

local room = { SLOTS = 16 }

local SECONDS, LATER = 20, 3      -- for one line; for it to end then
local load, pcall = load, pcall

-- Devices by the names that lines have for them.
local function devices(libcuda)
  local list = { cpu = tile.device "cpu", checked = tile.device "cpu:checked",
                 two = tile.device { "cpu", threads = 2 } }
  if libcuda then list.gpu = assert(tile.device { "cuda", libcuda = libcuda, piece = 4096 }) end
  return list
end

local function keep(self)
  return function(slot, ...)
    local r = table.pack(...)
    if r.n == 0 then return end
    for k = 1, math.min(r.n, 3) do
      if k == 1 or r[k] ~= nil then self.v[(slot + k - 2) % room.SLOTS + 1] = r[k] end
    end
    for k = 1, r.n do laws.result(r[k]) end
  end
end

-- options: libcuda, scratch (a folder for files), log (a path), all (no line is forgotten).
function room.new(options)
  local self = setmetatable({ v = {}, devices = devices(options.libcuda), options = options },
                            { __index = room })
  self.names = {}
  for name in pairs(self.devices) do self.names[#self.names + 1] = name end
  table.sort(self.names)
  local env = { tile = tile, layout = tile.layout, _ = tile._, law = laws, keep = keep(self),
                libcuda = options.libcuda }
  for name, f in pairs(hostile) do env[name] = f end
  for name, d in pairs(self.devices) do env[name] = d end
  function env.file(name) return options.scratch .. "/" .. name end
  function env.corrupt(name, at, byte) room.corrupt(env.file(name), at, byte) end
  self.env = setmetatable(env, { __index = _G })
  if options.log then
    self.log = assert(io.open(options.log, "w"))
    self.log:setvbuf "no"
  end
  self:clear()
  return self
end

-- Changes one byte of a file; behind its end: the file ends there.
function room.corrupt(path, at, byte)
  local f = io.open(path, "rb")
  local text = f and f:read "a" or ""
  if f then f:close() end
  at = #text > 0 and at % #text or 0
  f = io.open(path, "wb")
  if f then
    f:write(text:sub(1, at), byte and string.char(byte) .. text:sub(at + 2) or "")
    f:close()
  end
end

-- The end of a case: nothing is left.
function room:clear()
  self.v = {}
  self.env.v = self.v
  collectgarbage()
  collectgarbage()
end

function room:begin(title)
  self.lines = { title }
  if self.log then
    self.log:close()
    self.log = assert(io.open(self.options.log, "w"))
    self.log:setvbuf "no"
    self.log:write(title, "\n")
  end
end

-- Whatever a device still does is waited for.
function room:settle()
  for _, name in ipairs(self.names) do pcall(self.devices[name].synchronize, self.devices[name]) end
end

-- No loop in Lua is endless.
local function guard(began)
  debug.sethook(function()
    if watch.since(began) > SECONDS then error "endless" end
  end, "", 1000000)
end

-- Runs a line. Returns whether it was answered, and what is wrong with it, if something is.
function room:run(line)
  self.lines[#self.lines + 1] = line
  if self.log then self.log:write(line, "\n") end
  local f, wrong = load(line, "=case", "t", self.env)
  if not f then return false, "not Lua: " .. wrong end
  laws.found = {}
  local began = watch.start()
  guard(began)
  hostile.line = hostile.line + 1
  local ok, said = pcall(f)
  hostile.line = hostile.line + 1
  debug.sethook()
  hostile.mend()
  local took = watch.since(began)
  if took > SECONDS + LATER then laws.found[1] = "law time: " .. took .. " s" end
  if not ok and not line:find "HOSTILE" then pcall(laws.fault, said) end
  if self.options.verbose then print(line, ok or said) end
  return ok, laws.found[1]
end

-- The class of the value in a slot.
function room:class(slot) return laws.class(self.v[slot]) end

-- The slots with values of these classes.
function room:slots(classes)
  local list = {}
  for i = 1, room.SLOTS do
    if self.v[i] ~= nil and classes[self:class(i)] then list[#list + 1] = i end
  end
  return list
end

return room
