-- moontile.console.chunk - what was typed: an expression or statements, complete or not, and what
-- it declares at its top.
-- SPDX-License-Identifier: MIT

local need = ...
local tokens_of = need "console.tokens"

local chunk = { NAME = "=stdin" }

local OPENS = { ["function"] = 1, ["if"] = 1, ["do"] = 1, ["repeat"] = 1,
                ["end"] = -1, ["until"] = -1 }
local BRACKETS = { ["("] = 1, ["["] = 1, ["{"] = 1, [")"] = -1, ["]"] = -1, ["}"] = -1 }

-- Marks each token that lies in no bracket (`plain`) and in no block (`top`).
local function mark(tokens)
  local block, bracket = 0, 0
  for _, t in ipairs(tokens) do
    local opens = t.kind == "keyword" and OPENS[t.text] or 0
    local brackets = t.kind == "symbol" and BRACKETS[t.text] or 0
    block, bracket = block + math.min(opens, 0), bracket + math.min(brackets, 0)
    t.plain, t.top = bracket == 0, block == 0 and bracket == 0
    block, bracket = block + math.max(opens, 0), bracket + math.max(brackets, 0)
  end
  return tokens
end

local function blank(code, from, to)
  return code:sub(1, from - 1) .. (" "):rep(to - from + 1) .. code:sub(to + 1)
end

-- Adds to c the names that `local` at tokens[i] declares; their attributes leave the code.
local function read_local(c, tokens, i)
  if tokens[i + 1].text == "function" then
    c.declared[#c.declared + 1] = tokens[i + 2].text
    return
  end
  repeat
    i = i + 1
    local name = tokens[i].text
    c.declared[#c.declared + 1] = name
    c.attributes[name] = nil
    if tokens[i + 1] and tokens[i + 1].text == "<" then
      c.attributes[name] = tokens[i + 2].text
      c.code = blank(c.code, tokens[i + 1].from, tokens[i + 3].to)
      i = i + 3
    end
    i = i + 1
  until not tokens[i] or tokens[i].text ~= ","
end

-- Only attributes that Lua has: others are left to its parser.
local function read_locals(c, tokens)
  for i, t in ipairs(tokens) do
    if t.top and t.text == "local" and t.kind == "keyword" then read_local(c, tokens, i) end
    if t.top and t.text == "return" then c.last = t.from end
  end
end

-- `a, b = ...` as the whole of the code: how many targets, and where what is assigned begins.
local function read_assignment(c, tokens)
  local targets = 1
  for _, t in ipairs(tokens) do
    if t.top and t.text == "," then targets = targets + 1 end
    if t.top and t.text == "=" and t.kind == "symbol" then
      if load("return " .. c.code:sub(t.to + 1)) then c.targets, c.assigned = targets, t.to + 1 end
      return
    end
  end
end

-- An expression's `_` in no bracket.
local function read_last_results(c, tokens)
  c.last_results = {}
  for i, t in ipairs(tokens) do
    local before = i > 1 and tokens[i - 1].text
    if t.text == "_" and t.top and before ~= "." and before ~= ":" then
      table.insert(c.last_results, 1, t.from)
    end
  end
end

local function incomplete(message) return message:sub(-5) == "<eof>" end

-- The code as an expression if it can be one, else as statements; else nil and the message, and
-- whether the code is only not complete.
local function parse(code)
  local expression = code:match "^%s*=(.*)$" or code
  local f, message = load("return " .. expression, chunk.NAME, "t", {})
  if f then return expression, true end
  if incomplete(message) then return nil, message, true end
  f, message = load(code, chunk.NAME, "t", {})
  if f then return code, false end
  return nil, message, incomplete(message)
end

-- read(code) -> {
--   code =          text, whether it `returns` values as an expression does, whether it is `silent`
--   mentions =      set of the names in it
--   declared =      names that are local to its top, in order; attributes = { name = "const" }
--   last =          where its own `return` begins, or nil
--   targets =       of an assignment that is all there is; assigned: where its right side begins
--   last_results =  where `_` stands for the last result, the last place first
-- } or nil, message, whether the code is only not complete.
function chunk.read(code)
  local text, returns, more = parse(code)
  if not text then return nil, returns, more end
  local tokens = mark(tokens_of(text))
  if #tokens > 0 then text = text:sub(1, tokens[#tokens].to) end     -- no comment behind them
  local c = { code = text, returns = returns, mentions = {}, declared = {}, attributes = {},
              empty = #tokens == 0 }
  c.silent = #tokens > 0 and tokens[#tokens].text == ";"
  for _, t in ipairs(tokens) do if t.kind == "name" then c.mentions[t.text] = true end end
  if c.silent then c.code = blank(c.code, tokens[#tokens].from, tokens[#tokens].to) end
  if returns then read_last_results(c, tokens) return c end
  read_locals(c, tokens)
  read_assignment(c, tokens)
  return c
end

return chunk
