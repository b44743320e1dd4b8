-- moontile.console - the console: reads expressions and statements, runs them, prints their values.
-- SPDX-License-Identifier: MIT
--
-- Its parts are in the folder console. None of them needs a terminal: what the program knows of its
-- own comes in a table (src/console/terminal.c):
--   read(prompt, complete)  a line; nil: the input has ended; false: Ctrl-C came instead.
--                      complete(text): the candidates for the end of a text, where that begins
--   edits, plain       whether lines come from a terminal: one that edits them, one that cannot
--   remember(line)     for the arrow keys
--   interrupted()      whether Ctrl-C came since the last line was read
--   make_folder(path), files(beginning)
--   columns()          how wide the terminal is; nil: the output is none
--   now()              seconds
--   colours            whether to use them
--   settings           whether the user's own files are to be read: settings, history

local need = ...
local tile, globals = need "tile", need "globals"
local errors = need "console.errors"
local complete = need "console.complete"
local history = need "console.history"
local paint = need "console.paint"
local session = need "console.session"
local words = need "console.words"
local xdg = need "console.xdg"

-- What is known of functions is read when it is asked for: that takes longer than all else here.
local console = setmetatable(
  { new = session.new, complete = complete, words = words, help = need "console.help" },
  { __index = function(_, name) if name == "meta" then return need "meta" end end })

local function prompt(name, default)
  local text = globals[name]
  if text == nil then return default end
  return tostring(text)
end

local function banner()
  io.write("moontile ", tile._VERSION,
           ": an expression prints its values; Ctrl-C interrupts, Ctrl-D ends\n")
end

-- The session of this state: what -e runs has the names of the console that follows.
local current
local function the_session(terminal)
  current = current or session.new {
    write = function(text) io.write(text) end,
    complain = function(text)
      io.flush()
      io.stderr:write(text)
    end,
  }
  if terminal then current.columns, current.now = terminal.columns, terminal.now end
  return current
end

-- The environment of code that has the names of the console.
function console.environment() return the_session().names.env end

-- What a terminal that cannot edit sends for its keys, and other control characters.
local function without_controls(line)
  line = line:gsub("\27%[[%d;?]*[@-~]", ""):gsub("\27O.", ""):gsub("\27.?", "")
  return (line:gsub("\t", "  "):gsub("%c", ""))
end
console.without_controls = without_controls

-- A step of the console reads one statement and runs it; it is false at the end. An interruption
-- may leave it anywhere: the next step forgets what was half typed.
local function step(s, terminal)
  s.pending = nil
  local state = "more"
  while state == "more" do
    local text = s.pending and prompt("_PROMPT2", ">> ") or prompt("_PROMPT", "> ")
    local line = terminal.read(text, function(beginning) return complete(s, beginning) end)
    if not line then
      io.write "\n"
      if line == nil then s:unfinished() end
      return line == false
    end
    if terminal.plain then line = without_controls(line) end
    if s.history then s.history:add(line) end
    state = s:feed(line)
    if terminal.interrupted() and not s.told then s:blame "interrupted!" end
  end
  return state
end

-- The user's own settings: Lua with the names of the console. No file is as good as an empty one.
local function run_settings(s)
  local folder = xdg("XDG_CONFIG_HOME", "/.config")
  local path = folder and folder .. "/init.lua"
  local file = path and io.open(path)
  if not file then return end
  file:close()
  local f, message = loadfile(path, "t", s.names.env)
  local ok = f ~= nil
  if f then ok, message = xpcall(f, errors.handler(function() end)) end
  if not ok then s:blame(message) end
end

-- open(terminal) -> the step.
function console.open(terminal)
  paint.on = terminal.colours
  local s = the_session(terminal)
  banner()
  words.files = terminal.files
  if terminal.settings then run_settings(s) end
  if terminal.edits then s.history = history.open(terminal, terminal.settings) end
  return function()
    if step(s, terminal) then return true end
    s:close()
    return false
  end
end

return console
