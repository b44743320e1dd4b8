-- moontile.console.session - reads lines, evaluates what is complete, prints what it gives.
-- SPDX-License-Identifier: MIT

local need = ...
local chunk = need "console.chunk"
local commands = need "console.commands"
local errors = need "console.errors"
local locals = need "console.locals"
local help = need "console.help"
local names = need "console.names"
local paint = need "console.paint"
local show = need "console.show"

local session = {}
session.__index = session

-- options:
--   write(text), complain(text)   what is printed, and what is said of errors
--   columns()                     of the terminal, or nil: it is none
--   now()                         seconds
function session.new(options)
  local self = setmetatable({
    write = options.write, complain = options.complain,
    columns = options.columns or function() end, now = options.now or os.clock,
    names = names.new(), locals = locals.new(),
  }, session)
  self.names.own.help = setmetatable({}, {
    __name = "help",
    __call = function(_, x) return help.of(x, self.columns()) end,
    __tostring = function() return help.of(nil, self.columns()) end,
  })
  return self
end

function session:say(text) self.write(text .. "\n") end

-- An argument was nil, and so is a name that was asked for: "\n  layot is nil; did you mean ..."
function session:nil_argument(text)
  local name = text:find("got nil", 1, true) and self.names.unknown
  if not name then return "" end
  local meant = self.names:meant(name, self.locals)
  local advice = name:find "^SM%d+_" and ("; names of atoms are texts: '%s'"):format(name)
                 or meant and ("; did you mean %s?"):format(meant) or ""
  return "\n  " .. name .. " is nil" .. advice
end

-- An error, with the name that was meant if one is not there.
function session:blame(text)
  local unknown = errors.unknown(text)
  local meant = unknown and self.names:meant(unknown, self.locals)
  local said = unknown and self.names:said(unknown)
  if said then text = text:gsub("^[^\n]*", "%0; " .. said:gsub("%%", "%%%%"))
  elseif meant then text = text:gsub("^[^\n]*", "%0; did you mean " .. meant .. "?") end
  local uncalled = errors.uncalled(text)
  if uncalled then text = text:gsub("^[^\n]*", "%0; " .. uncalled:gsub("%%", "%%%%")) end
  if not unknown then text = text .. self:nil_argument(text) end
  self.complain(paint.error(text) .. "\n")
end

-- `nil, message` assigned to one name: the message would be lost.
function session:check_assigned(targets, ...)
  local value, message = ...
  if targets == 1 and value == nil and type(message) == "string" then
    self.refused = table.pack(...)
  end
  return ...
end

-- A name that nobody has stood as an argument: it was nil, which is as if it were not there.
function session:note_unknown(c)
  local name = self.names.unknown
  if not name or not c.code:find("[,(]%s*" .. name .. "%s*[,)]") then return end
  local meant = self.names:meant(name, self.locals)
  local advice = meant and ("; did you mean %s?"):format(meant) or ""
  self.complain(paint.note(name .. " is nil" .. advice) .. "\n")
end

-- A name by itself that nobody has: nil, and what was meant.
function session:print_unknown(c)
  local name = c.code:match "^%s*([%a_][%w_]*)%s*$"
  if not name or name ~= self.names.unknown then return end
  local meant, said = self.names:meant(name, self.locals), self.names:said(name)
  local advice = said or meant and ("did you mean %s?"):format(meant)
  if advice then self.complain(paint.note("no such name; " .. advice) .. "\n") end
end

function session:print(c, values)
  if values.n == 0 then return end
  if c.returns then self.names:remember(values) end
  if not c.silent then self:say(show(values, self.columns())) end
  if values.n == 1 and values[1] == nil then self:print_unknown(c) end
end

-- `_` outside of brackets is the last result, unless it is a variable of the user's.
local function with_last_result(self, c)
  local value, is_local = self.locals:get "_"
  if is_local and value ~= self.names.own.tile._ or self.names.results[1] == nil then return end
  for _, at in ipairs(c.last_results or {}) do
    c.code = c.code:sub(1, at) .. "1" .. c.code:sub(at + 1)
  end
end

-- Runs a chunk: what it gives, or nil, after the error was told.
function session:evaluate(c)
  with_last_result(self, c)
  self.refused, self.told, self.names.unknown = nil, nil, nil
  local f, message = self.locals:compile(c, self.names.env, function(...)
    return self:check_assigned(...)
  end)
  if not f then return self:blame(errors.syntax(message, c.code)) end
  local results = table.pack(xpcall(f, errors.handler(function() return f end)))
  if not results[1] then
    self.told = errors.is_interruption(results[2])
    return self:blame(results[2])
  end
  return table.move(results, 2, results.n, 1, { n = results.n - 1 })
end

-- What a text gives as code, or nil, after the error was told.
function session:values_of(text)
  local c, message = chunk.read(text)
  if not c then return self:blame(errors.syntax(message, text)) end
  return c.empty and { n = 0 } or self:evaluate(c)
end

-- Runs a complete chunk; false: it ends the console.
function session:run(c)
  local values = self:evaluate(c)
  if not values then return true end
  if c.returns and values.n == 1 and values[1] == names.leave then return false end
  self:print(c, self.refused or values)
  self:note_unknown(c)
  return true
end

-- Feeds a line: true: it is done with; "more": its statement goes on; false: the console ends.
function session:feed(line)
  if not self.pending and commands.run(self, line) then return true end
  local code = self.pending and self.pending .. "\n" .. line or line
  self.pending = nil
  local c, message, more = chunk.read(code)
  if more then
    self.pending = code
    return "more"
  end
  if not c then
    self:blame(errors.syntax(message, code))
    return true
  end
  return c.empty or self:run(c)
end

-- The input ended in the middle of a statement.
function session:unfinished()
  if not self.pending then return end
  local code = self.pending
  local _, message = chunk.read(code)
  self.pending = nil
  self:blame(errors.syntax(message, code))
end

function session:close() self.locals:close() end

return session
