-- screen.lua: what a terminal shows: a program in one, its output as lines of text.
-- SPDX-License-Identifier: MIT
--
-- screen.open(options) runs the moontile program; options: arguments, columns, environment, plain
-- (whether lines are not edited).
--   s:type(text)            keys, as they are
--   s:wait_for(text)        until the screen has the text, or an error with what it has
--   s:prompt(text)          until the last line is the prompt, with the text behind it
--   s:enter(line)           types a line: what is printed until the prompt is back
--   s:lines()               what it shows; s:text()
--   s:interrupt()           Ctrl-C, and a new prompt
--   s:forget()              what was shown above the last line
--   s.sequences             which sequences came: "31m", "ESC D"
--   s:ended()               the exit status, when it has ended

local pty = require "moontile_pty"

local screen = {}
screen.__index = screen

local SECONDS = 30        -- until what is waited for has to be there

-- ---------------------------------------------------------------- drawing

local function put(s, c)
  if s.column > s.columns then s:newline() end
  local line = s.shown[s.row]
  while #line < s.column - 1 do line[#line + 1] = " " end
  line[s.column] = c
  s.column = s.column + 1
end

function screen:newline(column)
  self.row, self.column = self.row + 1, column or 1
  self.shown[self.row] = self.shown[self.row] or {}
end

local function cut(line, from) for i = #line, from, -1 do line[i] = nil end end

-- What ESC [ n LETTER does.
local SEQUENCES = {
  A = function(s, n) s.row = math.max(1, s.row - n) end,
  B = function(s, n) for _ = 1, n do s:newline(s.column) end end,
  C = function(s, n) s.column = math.min(s.columns, s.column + n) end,
  D = function(s, n) s.column = math.max(1, s.column - n) end,
  G = function(s, n) s.column = n end,
  K = function(s) cut(s.shown[s.row], s.column) end,
  J = function(s)
    cut(s.shown[s.row], s.column)
    for i = #s.shown, s.row + 1, -1 do s.shown[i] = nil end
  end,
  P = function(s, n)
    for _ = 1, n do if s.shown[s.row][s.column] then table.remove(s.shown[s.row], s.column) end end
  end,
  ["@"] = function(s, n)
    for _ = 1, n do
      if #s.shown[s.row] >= s.column then table.insert(s.shown[s.row], s.column, " ") end
    end
  end,
  H = function(s) s.row, s.column = 1, 1 end,
}

-- What ESC LETTER does.
local ESCAPES = {
  D = function(s) s:newline(s.column) end,
  M = function(s) s.row = math.max(1, s.row - 1) end,
  ["7"] = function(s) s.kept = { s.row, s.column } end,
  ["8"] = function(s) if s.kept then s.row, s.column = s.kept[1], s.kept[2] end end,
}

local CONTROLS = {
  ["\r"] = function(s) s.column = 1 end,
  ["\n"] = function(s) s:newline(s.column) end,
  ["\b"] = function(s) s.column = math.max(1, math.min(s.column, s.columns + 1) - 1) end,
}

-- Draws what is complete of the text; returns the rest: the beginning of a sequence.
local function draw(s, text)
  local at = 1
  while at <= #text do
    local number, letter, to = text:match("^\27%[([%d;?]*)([@-~])()", at)
    local control = CONTROLS[text:sub(at, at)]
    if letter then
      s.sequences[number .. letter] = true
      if SEQUENCES[letter] then SEQUENCES[letter](s, math.max(1, tonumber(number) or 1)) end
      at = to
    elseif text:find("^\27[()].", at) then
      at = at + 3
    elseif text:sub(at, at) == "\27" then
      if #text - at < 8 and not text:find("^\27[^%[()]", at) then return text:sub(at) end
      local escape = text:sub(at + 1, at + 1)
      s.sequences["ESC " .. escape] = true
      if ESCAPES[escape] then ESCAPES[escape](s) end
      at = at + 2
    elseif control then
      control(s)
      at = at + 1
    else
      local character = text:match("^[^\128-\193]?[\128-\191]*", at)
      if character ~= "\a" then put(s, character) end
      at = at + math.max(1, #character)
    end
  end
  return ""
end

-- ---------------------------------------------------------------- the program

function screen.open(options)
  local program = assert(os.getenv "MOONTILE_PROGRAM", "MOONTILE_PROGRAM is not set")
  local arguments, environment = { program }, {}
  for _, word in ipairs(options.arguments or {}) do arguments[#arguments + 1] = word end
  local variables = { TERM = "xterm", HOME = "/nowhere", LC_ALL = "C.UTF-8",
                      PATH = os.getenv "PATH", ASAN_OPTIONS = os.getenv "ASAN_OPTIONS" }
  for name, value in pairs(options.environment or {}) do variables[name] = value end
  for name, value in pairs(variables) do environment[#environment + 1] = name .. "=" .. value end
  local columns = options.columns or 80
  return setmetatable({
    terminal = pty.spawn(arguments, environment, columns), columns = columns, shown = { {} },
    row = 1, column = 1, rest = "", sequences = {}, plain = options.plain,
  }, screen)
end

-- Draws what comes within so many milliseconds; false: nothing came, nil: the program has ended.
function screen:draw(milliseconds)
  local text = self.terminal:read(milliseconds)
  if not text then return nil end
  self.rest = draw(self, self.rest .. text)
  return text ~= ""
end

function screen:type(text) self.terminal:write(text) end

function screen:lines()
  local lines = {}
  for i, line in ipairs(self.shown) do lines[i] = table.concat(line):gsub(" +$", "") end
  while lines[#lines] == "" do lines[#lines] = nil end
  return lines
end

function screen:text() return table.concat(self:lines(), "\n") end

-- Until is_there() is true.
function screen:wait(what, is_there)
  local ends = os.time() + SECONDS
  while not is_there() do
    if self:draw(5) == nil and not is_there() then
      error(("the program has ended before %s; the screen:\n%s"):format(what, self:text()), 3)
    end
    if os.time() > ends then
      error(("waited for %s; the screen:\n%s"):format(what, self:text()), 3)
    end
  end
end

function screen:wait_for(text)
  self:wait(text, function() return self:text():find(text, 1, true) end)
end

-- Keys may come: the prompt is written before they are read one by one.
function screen:reads() return self.plain or self.terminal:raw() end

function screen:prompt(text)
  local line = "> " .. (text or "")
  self:wait("the prompt " .. line, function()
    local lines = self:lines()
    local last = lines[#lines] or ""
    return (last == line or last .. " " == line) and self.row == #self.shown and self:reads()
  end)
end

-- Types a line and waits until the prompt is back: the lines between.
function screen:enter(line)
  local first = self.row
  self:type(line .. "\r")
  self:wait("the prompt", function()
    local lines = self:lines()
    return self.row > first and self.row == #lines and lines[self.row] == ">" and self:reads()
  end)
  return table.concat(self:lines(), "\n", first + 1, self.row - 1)
end

-- Types Ctrl-C, which brings a new prompt; behind "^C" if what was interrupted says nothing.
function screen:interrupt()
  local first, before = self.row, self:lines()[self.row]
  self:type "\3"
  self:wait("a new prompt", function()
    local lines = self:lines()
    local last = lines[self.row] or ""
    local is_new = self.row > first and last == ">" or last == "^C>" and last ~= before
    return is_new and self.row == #lines and self:reads()
  end)
end

-- Forgets what was shown above the last line.
function screen:forget()
  self:draw(0)
  self.shown, self.row = { self.shown[self.row] }, 1
end

-- The exit status, when the program has ended.
function screen:ended()
  local ends = os.time() + SECONDS
  while self:draw(100) ~= nil do assert(os.time() < ends, "it does not end") end
  return self.terminal:wait()
end

return screen
