-- moontile.console.names - what names mean at the prompt: globals first, then the console's own
-- (results, help, exit), then those of moontile.
-- SPDX-License-Identifier: MIT
--
-- Where Lua and moontile have a name (load, select) Lua's stands; moontile's is tile.load.

local need = ...
local tile, globals = need "tile", need "globals"
local near = need "console.near"

local names = {}
names.__index = names

local RESULTS = 9

-- `exit` and `quit`: as a line they end the console, called they end the program.
local leave = setmetatable({}, {
  __name = "exit",
  __tostring = function() return "exit(): ends the program" end,
  __call = function(_, code) os.exit(code == nil or code, true) end,
})
names.leave = leave

-- names.new(): own = names of the console, results = the last ones, the newest first.
function names.new()
  local self = setmetatable({ results = {} }, names)
  self.own = { tile = tile, exit = leave, quit = leave }
  self.env = setmetatable({}, {
    __index = function(_, name) return (self:find(name)) end,
    __newindex = globals,
  })
  return self
end

-- The value of a name that is no local.
function names:find(name)
  local value = globals[name]
  if value ~= nil then return value end
  if type(name) ~= "string" then return nil end
  value = self.own[name]
  if value == nil then value = rawget(tile, name) end
  local number = value == nil and name:match "^_([1-9])$"
  if number then return self.results[tonumber(number)] end
  if value == nil then self.unknown = name end
  return value
end

-- values: table.pack of what a line gave, the first of which becomes _1.
function names:remember(values)
  local list = {}
  for i = 1, math.min(values.n, RESULTS) do list[i] = values[i] end
  for i = 1, RESULTS - values.n do list[values.n + i] = self.results[i] end
  self.results = list
end

-- All names, sorted; `locals` has names too.
function names:all(locals)
  local seen, list = {}, {}
  local function add(name)
    if type(name) == "string" and not seen[name] then
      seen[name] = true
      list[#list + 1] = name
    end
  end
  for _, name in ipairs(locals:names()) do add(name) end
  for _, t in ipairs { globals, self.own, tile } do
    for name in next, t do add(name) end
  end
  table.sort(list)
  return list
end

-- The name that was meant by one that is not there, or nil.
function names:meant(name, locals) return near(name, self:all(locals)) end

-- What moontile says of a name of other libraries, or of one that is a method; nil: nothing.
function names:said(name)
  local ok, text = pcall(function() return self.own.tile[name] end)
  local said = not ok and tostring(text):match "no such function; (.*)$"
  return said and not said:find "^did you mean" and said or nil
end

return names
