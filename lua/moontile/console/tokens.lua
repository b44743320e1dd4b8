-- moontile.console.tokens - the tokens of Lua code: enough to see where statements begin, which
-- names are mentioned, how deep brackets are.
-- SPDX-License-Identifier: MIT
--
-- tokens(code) -> { { kind =, text =, from =, to = }, ... }
-- kinds: "name", "keyword", "number", "string", "symbol", and "open": a string without its end.

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
               return then true until while]]):gmatch "%a+" do
  KEYWORDS[word] = true
end

local SYMBOLS = { "^%.%.%.", "^%.%.", "^==", "^~=", "^<=", "^>=", "^<<", "^>>", "^//", "^::", "^." }
local NUMBERS = { "^0[xX][%x.]*[pP][+-]?%d+", "^0[xX][%x.]+", "^%d[%d.]*[eE][+-]?%d+",
                  "^%.%d+[eE][+-]?%d+", "^%d[%d.]*", "^%.%d+" }

-- The end of the long bracket that opens at `at`; nil: none opens there; false: it has no end.
local function long_end(code, at)
  local _, inside, level = code:find("^%[(=*)%[", at)
  if not inside then return nil end
  local _, to = code:find("]" .. level .. "]", inside + 1, true)
  return to or false
end

-- The end of the quoted string at `at`, or nil: its line ends first.
local function quote_end(code, at)
  local quote, i = code:sub(at, at), at + 1
  while true do
    i = code:find('["\'\\\n]', i)
    if not i then return nil end
    local c = code:sub(i, i)
    if c == quote then return i end
    if c == "\n" then return nil end
    if c ~= "\\" then
      i = i + 1
    elseif code:find("^z", i + 1) then
      i = code:match("^%s*()", i + 2)
    else
      i = i + 2
    end
  end
end

-- Behind spaces and comments.
local function skip(code, at)
  while true do
    at = code:match("^%s*()", at)
    if code:sub(at, at + 1) ~= "--" then return at end
    local to = long_end(code, at + 2)
    if to == nil then to = (code:find("\n", at, true) or #code + 1) - 1 end
    at = (to or #code) + 1
  end
end

local function first(code, at, patterns)
  for _, pattern in ipairs(patterns) do
    local _, to = code:find(pattern, at)
    if to then return to end
  end
end

-- The kind and the end of the token at `at`.
local function read(code, at)
  local _, to = code:find("^[%a_][%w_]*", at)
  if to then return KEYWORDS[code:sub(at, to)] and "keyword" or "name", to end
  to = first(code, at, NUMBERS)
  if to then return "number", to end
  local long = long_end(code, at)
  if long == nil and code:find('^["\']', at) then long = quote_end(code, at) or false end
  if long then return "string", long end
  if long == false then return "open", #code end
  return "symbol", first(code, at, SYMBOLS)
end

return function(code)
  local list, at = {}, skip(code, 1)
  while at <= #code do
    local kind, to = read(code, at)
    list[#list + 1] = { kind = kind, text = code:sub(at, to), from = at, to = to }
    at = skip(code, to + 1)
  end
  return list
end
