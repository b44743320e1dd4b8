-- page.lua: what is typed into the page, run as the console runs it, with pictures.
-- SPDX-License-Identifier: MIT
--
-- It is loaded by web/page.c with the console, and returns run(code) -> JSON: a list of
-- { "text": ... } and { "page": ... }, in their order. `:draw x`, picture(x, options) add a page.

local console = ...
local tile = require "moontile"

local MOST = 5                -- seconds, for all that is typed

local parts = {}

-- ---------------------------------------------------------------- JSON

local ESCAPES = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r" }

-- "</" stays apart: the text may come to stand in a script of a page.
local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c)
    return ESCAPES[c] or ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function encode()
  local list = {}
  for i, part in ipairs(parts) do list[i] = ('{"%s":%s}'):format(part[1], quote(part[2])) end
  return "[" .. table.concat(list, ",") .. "]"
end

-- ---------------------------------------------------------------- output

local function write(...)
  for _, text in ipairs { ... } do
    local last = parts[#parts]
    if last and last[1] == "text" then last[2] = last[2] .. tostring(text)
    else parts[#parts + 1] = { "text", tostring(text) } end
  end
end

function _G.print(...)
  local words = table.pack(...)
  for i = 1, words.n do words[i] = tostring(words[i]) end
  write(table.concat(words, "\t"), "\n")
end
rawset(io, "write", write)

rawset(os, "exit", nil)        -- a page does not end

local function picture(x, options)
  local ok, page = pcall(tile.html, x, options)
  if not ok then error((page:gsub("^page:%d+: ", "")), 0) end
  parts[#parts + 1] = { "page", page }
end

-- ---------------------------------------------------------------- running

-- A page is run again and again: what it sets is gone the next time.
local fresh = {}
for name, value in pairs(_G) do fresh[name] = value end
local function forget()
  for name in pairs(_G) do _G[name] = fresh[name] end
  for name, value in pairs(fresh) do _G[name] = value end
end

local deadline
local function stop()
  if os.clock() > deadline then error("stopped: that takes longer than a page should", 0) end
end

local function feed(session, code)
  for line in (code .. "\n"):gmatch "(.-)\r?\n" do
    local drawn = not session.pending and line:match "^%s*:draw%s+(.+)$"
    session:feed(drawn and "picture(" .. drawn .. ")" or line)
  end
  session:unfinished()
end

return function(code)
  parts = {}
  forget()
  local session = console.new {
    write = write, complain = write, columns = function() return 100 end,
  }
  session.names.own.picture, session.names.own.arg = picture, {}
  deadline = os.clock() + MOST
  debug.sethook(stop, "", 100000)
  local ok, message = pcall(feed, session, code)
  debug.sethook()
  if not ok then write(tostring(message), "\n") end
  pcall(session.close, session)
  return encode()
end
