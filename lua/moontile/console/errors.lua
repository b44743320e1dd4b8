-- moontile.console.errors - what people see of an error: its text, and where in their own code it
-- came about.
-- SPDX-License-Identifier: MIT

local need = ...
local NAME = need("console.chunk").NAME

local errors = {}

local MOST = 12      -- frames

function errors.is_interruption(e) return type(e) == "string" and e:match "interrupted!$" ~= nil end

-- What was raised as text, without a position of ours: a name is looked up by us.
local function text_of(e)
  local kind, meta = type(e), debug.getmetatable(e)
  if kind == "string" or kind == "number" or meta and meta.__tostring then
    local ok, text = pcall(tostring, e)
    if ok then return (text:gsub("^moontile/console/[^:]*:%d+: ", "")) end
  end
  return ("(error object is a %s value)"):format(kind)
end

-- Of moontile itself, not of whom it runs for.
local function is_ours(info) return info.source:match "^@moontile/" ~= nil end

local function function_of(info)
  if info.name then return ("function '%s'"):format(info.name) end
  return info.what == "main" and "main chunk" or "function"
end

-- The frames of Lua from `level` on up to the function `base`, which was typed: that is no frame
-- itself, and neither is what is ours. Of a long list, as a recursion without end has it, the
-- beginning.
local function frames_of(level, base)
  local frames = {}
  while true do
    level = level + 1
    local info = debug.getinfo(level, "Slnf")
    if not info or info.func == base then return frames, info end
    if #frames == MOST then
      frames[#frames + 1] = "  ..."
      return frames
    end
    if info.what ~= "C" and not is_ours(info) then
      frames[#frames + 1] = ("  in %s, %s:%d"):format(function_of(info), info.short_src,
                                                       info.currentline)
    end
  end
end

-- A handler for xpcall of the function `base()`, which is the line that was typed: its errors have
-- no position if it is one line.
function errors.handler(base)
  return function(e)
    if errors.is_interruption(e) then return "interrupted!" end
    local text = text_of(e)
    local frames, typed = frames_of(2, base())
    if #frames == 0 and typed then
      local prefix = NAME:sub(2) .. ":1: "
      if text:sub(1, #prefix) == prefix then text = text:sub(#prefix + 1) end
      return text
    end
    table.insert(frames, 1, text)
    return table.concat(frames, "\n")
  end
end

-- The global that an error says is nil, or nil.
function errors.unknown(text)
  return text:match "a nil value %(global '([%w_]+)'%)"
end

-- A method that was not called, as in `A.size - 1`; a function of Lua's that has a namesake.
function errors.uncalled(text)
  local name = text:match "a function value %(%a+ '([%w_]+)'%)"
  if name then return ("%s is called: x:%s(...)"):format(name, name) end
  name = text:match "^bad argument #%d+ to '([%w_]+)' %(.-got moontile%.%a+%)$"
  return name and _G[name] and ("%s is Lua's own, tile.%s is moontile's"):format(name, name) or nil
end

-- `draw layout{4, 8}`: what was meant is a call.
local function call_of(code)
  local name, rest = code:match "^%s*([%a_][%w_.:]*)%s+(%S.-)%s*$"
  local call = name and ("%s(%s)"):format(name, rest)
  return call and not code:find "\n" and load("return " .. call) and call or nil
end

-- The character of the code that begins with this byte, in no string.
local function letter_of(code, byte)
  code = code:gsub("'[^'\n]*'", ""):gsub('"[^"\n]*"', "")
  local first = string.char(byte):gsub("%W", "%%%0")
  local letter = byte > 127 and code:match(first .. "[\128-\191]+")
  return letter and utf8.len(letter) == 1 and letter or nil
end

-- A message of the parser for the code, without the position if that is the first line.
function errors.syntax(message, code)
  message = message:gsub("^" .. NAME:sub(2) .. ":1: ", "")
  local byte = tonumber(message:match "'<\\(%d+)>'$")
  local letter = byte and letter_of(code, byte)
  if letter then return message:gsub("'<\\%d+>'$", letter) .. ": names have letters of ASCII" end
  local call = call_of(code)
  return call and message .. "; did you mean " .. call .. "?" or message
end

return errors
