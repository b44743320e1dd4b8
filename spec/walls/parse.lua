-- parse.lua: the functions of a C file as trees of statements, as far as live.lua looks at them.
-- SPDX-License-Identifier: MIT
--
-- parse(text) -> { { name =, result =, params = tokens, body = block }, ... }. A token is
-- { text =, line = }. Statements: { kind = "block", ... }, { kind = "if", test =, yes =, no = },
-- { kind = "loop", first =, test =, step =, body = }, { kind = "return" | "plain", tokens },
-- { kind = "break" | "continue" | "case" }.

local code_of = dofile((arg and arg[1] or ".") .. "/spec/walls/code.lua")

local LONG = { "->", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "|=", "&=",
               "<<", ">>" }
for _, s in ipairs(LONG) do LONG[s] = true end

-- Preprocessor lines are left out, with the lines that continue them.
local function tokens_of(text)
  local list, line, continued = {}, 0, false
  for source in (text .. "\n"):gmatch "(.-)\n" do
    line = line + 1
    local directive = continued or source:match "^%s*#"
    continued = directive and source:match "\\%s*$"
    local i = 1
    while not directive and i <= #source do
      local s = source:match("^[%w_]+", i) or source:sub(i, i + 1)
      if not s:match "^[%w_]" and not LONG[s] then s = s:sub(1, 1) end
      if not s:match "^%s" then list[#list + 1] = { text = s, line = line } end
      i = i + #s
    end
  end
  return list
end

local OPEN = { ["("] = ")", ["["] = "]", ["{"] = "}" }

-- Where the bracket at i closes.
local function match(t, i)
  local depth = 0
  for k = i, #t do
    local s = t[k].text
    if OPEN[s] then depth = depth + 1 end
    if s == ")" or s == "]" or s == "}" then depth = depth - 1 end
    if depth == 0 then return k end
  end
  error(("line %d: %s is not closed"):format(t[i].line, t[i].text))
end

local function slice(t, i, j) return table.move(t, i, j, 1, {}) end

-- The tokens between i and the end of the statement.
local function plain(t, i)
  local k = i
  while t[k].text ~= ";" do k = (OPEN[t[k].text] and match(t, k) or k) + 1 end
  return slice(t, i, k - 1), k + 1
end

local statement

local function block(t, i, last)
  local list = { kind = "block" }
  while i < last do list[#list + 1], i = statement(t, i) end
  return list
end

local function parenthesised(t, i)
  local j = match(t, i)
  return slice(t, i + 1, j - 1), j + 1
end

local function split(t)
  local parts, from = {}, 1
  for k = 1, #t + 1 do
    if k > #t or t[k].text == ";" then parts[#parts + 1], from = slice(t, from, k - 1), k + 1 end
  end
  return parts
end

local keywords = {}

keywords["if"] = function(t, i)
  local s = { kind = "if" }
  s.test, i = parenthesised(t, i + 1)
  s.yes, i = statement(t, i)
  if t[i] and t[i].text == "else" then s.no, i = statement(t, i + 1) end
  return s, i
end

keywords["while"] = function(t, i)
  local s = { kind = "loop" }
  s.test, i = parenthesised(t, i + 1)
  s.body, i = statement(t, i)
  return s, i
end

keywords["for"] = function(t, i)
  local s = { kind = "loop" }
  local inside
  inside, i = parenthesised(t, i + 1)
  local head = split(inside)
  s.first, s.test, s.step = head[1], head[2], head[3]
  s.body, i = statement(t, i)
  return s, i
end

keywords["do"] = function(t, i)
  local s = { kind = "loop", once = true }
  s.body, i = statement(t, i + 1)
  s.test, i = parenthesised(t, i + 1)
  return s, i + 1
end

keywords["switch"] = function(t, i)
  local s = { kind = "loop" }
  s.test, i = parenthesised(t, i + 1)
  s.body, i = statement(t, i)
  return s, i
end

keywords["return"] = function(t, i)
  local s, k = plain(t, i + 1)
  return { kind = "return", s }, k
end

local function jump(t, i) return { kind = t[i].text }, i + 2 end
keywords["break"], keywords["continue"] = jump, jump

local function label(t, i)
  while t[i].text ~= ":" do i = i + 1 end
  return { kind = "case" }, i + 1
end
keywords["case"], keywords["default"] = label, label

function statement(t, i)
  local s = t[i].text
  if s == "{" then
    local j = match(t, i)
    return block(t, i + 1, j), j + 1
  end
  if keywords[s] then return keywords[s](t, i) end
  local list, k = plain(t, i)
  return { kind = "plain", list }, k
end

-- Where the bracket that closes at i opens.
local function match_back(t, i)
  local depth = 0
  for k = i, 1, -1 do
    if t[k].text == ")" then depth = depth + 1 end
    if t[k].text == "(" then depth = depth - 1 end
    if depth == 0 then return k end
  end
end

return function(text)
  local t, found = tokens_of(code_of(text)), {}
  local i, from = 1, 1
  while i <= #t do
    local s = t[i].text
    if s == "{" then
      local j = match(t, i)
      if t[i - 1].text == ")" then
        local open = match_back(t, i - 1)
        found[#found + 1] = { name = t[open - 1].text, line = t[open - 1].line,
                              result = slice(t, from, open - 2),
                              params = slice(t, open + 1, i - 2), body = block(t, i + 1, j) }
        from = j + 1
      end
      i = j
    elseif s == ";" then
      from = i + 1
    end
    i = i + 1
  end
  return found
end
