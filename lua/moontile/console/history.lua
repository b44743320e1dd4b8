-- moontile.console.history - the lines of earlier sessions, in $XDG_STATE_HOME/moontile/history.
-- SPDX-License-Identifier: MIT
--
-- Each line is appended when it is typed, so that sessions side by side lose none.

local need = ...
local xdg = need "console.xdg"

local history = {}
history.__index = history

local KEPT = 1000        -- lines; of twice as many the older half is forgotten

local function read(path)
  local lines, file = {}, io.open(path)
  if not file then return lines end
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

local function write(path, mode, lines)
  local file = io.open(path, mode)
  if not file then return end
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
end

-- open(terminal, kept): gives the terminal what earlier sessions typed. If it is not to be kept, or
-- there is no folder to write to, the session remembers for itself alone.
function history.open(terminal, kept)
  local folder = kept and xdg("XDG_STATE_HOME", "/.local/state")
  local self = setmetatable({ terminal = terminal }, history)
  if not folder or not terminal.make_folder(folder) then return self end
  self.path = folder .. "/history"
  local lines = read(self.path)
  if #lines > 2 * KEPT then
    lines = table.move(lines, #lines - KEPT + 1, #lines, 1, {})
    write(self.path, "w", lines)
  end
  for i = math.max(1, #lines - KEPT + 1), #lines do terminal.remember(lines[i]) end
  self.last = lines[#lines]
  return self
end

-- What says nothing, and what was the line before, is not kept.
function history:add(line)
  if line == self.last or not line:find "%S" then return end
  self.last = line
  self.terminal.remember(line)
  if self.path then write(self.path, "a", { line }) end
end

return history
