-- console.lua: the console: reads an expression or statement, runs it, prints its values.
-- SPDX-License-Identifier: MIT
--
-- Globals are Lua's own, then the names of moontile: layout(24, 2) / layout(4, 2). Where
-- both have a name (load, select) Lua's stands; moontile's is tile.load.
-- The module is one function, a step of the console: false when the input has ended.

local tile = ...

local NAME = "=stdin"

-- Reads see _G first, then moontile; what is assigned becomes a global of Lua.
local env = setmetatable({}, {
  __index = function(_, name)
    local value = _G[name]
    if value ~= nil then return value end
    if name == "tile" then return tile end
    return rawget(tile, name)
  end,
  __newindex = _G,
})

local started = false

local function banner()
  io.write("moontile ", tile._VERSION,
           ": an expression prints its values; Ctrl-C interrupts, Ctrl-D ends\n")
end

local function prompt(name, default)
  local text = _G[name]
  if text == nil then return default end
  return tostring(text)
end

local function is_interruption(e)
  return type(e) == "string" and e:match "interrupted!$" ~= nil
end

-- A line without its end; nil at the end of the input; false if Ctrl-C came instead.
local function read_line(text)
  io.write(text)
  io.flush()
  local ok, line = pcall(io.read, "L")
  if not ok then return not is_interruption(line) and error(line) end
  return line and (line:gsub("\n$", ""))
end

local function incomplete(message)
  return message:sub(-5) == "<eof>"
end

-- The code as a function: an expression if it can be one, else statements.
local function compile(code)
  local expression = code:match "^%s*=(.*)$" or code
  local f, message = load("return " .. expression, NAME, "t", env)
  if f or incomplete(message) then return f, message end
  return load(code, NAME, "t", env)
end

-- A complete chunk, read with as many lines as it takes; a syntax error is nil, message.
-- Ctrl-C at the prompt forgets what was typed. The third result: the input has ended.
local function read_chunk()
  local line = read_line(prompt("_PROMPT", "> "))
  if line == nil then return nil, nil, true end
  local code = line
  while line do
    local f, message = compile(code)
    if f or not incomplete(message) then return f, message end
    line = read_line(prompt("_PROMPT2", ">> "))
    if line == nil then return nil, message end
    code = line and code .. "\n" .. line
  end
  io.write("\n")
end

-- Whether what was typed is itself to blame: the innermost function of Lua is its chunk.
local function is_typed(level)
  local info
  repeat
    level = level + 1
    info = debug.getinfo(level, "S")
  until not info or info.what ~= "C"
  return info and info.what == "main" and info.source == NAME
end

-- What people see of an error: the text alone if the line that was typed is to blame,
-- else with its position and the calls that led there.
local function explain(e)
  local kind, meta = type(e), getmetatable(e)
  local shows_itself = type(meta) == "table" and meta.__tostring
  if is_interruption(e) then return "interrupted!" end
  if kind ~= "string" and kind ~= "number" and not shows_itself then
    e = ("(error object is a %s value)"):format(kind)
  end
  local text = tostring(e)
  if is_typed(2) then return (text:gsub("^stdin:1: ", "")) end
  return (debug.traceback(text, 2):gsub("\n\t%[C%]: in function 'xpcall'.*$", ""))
end

local function show(ok, ...)
  if not ok then
    io.flush()
    io.stderr:write((...), "\n")
    return
  end
  local n = select("#", ...)
  if n == 0 then return end
  local words = { ... }
  for i = 1, n do words[i] = tostring(words[i]) end
  io.write(table.concat(words, "\t"), "\n")
end

return function()
  if not started then
    started = true
    banner()
  end
  local f, message, ended = read_chunk()
  if ended then
    io.write("\n")
    return false
  end
  if f then
    show(xpcall(f, explain))
  elseif message then
    io.stderr:write(message:match "^stdin:1: (.*)$" or message, "\n")
  end
  return true
end
