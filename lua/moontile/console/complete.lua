-- moontile.console.complete - how what is typed may go on: names, fields and methods, keys of
-- options, strings.
-- SPDX-License-Identifier: MIT
--
-- Nothing is called for it: values are looked up, by rawget; of a call it is known what it returns.

local need = ...
local class_of = need "console.class"
local tokens_of = need "console.tokens"
local words = need "console.words"
local commands = need "console.commands"
local operations = need "operations"

local OPEN = { ["("] = true, ["{"] = true, ["["] = true }
local CLOSE = { [")"] = true, ["}"] = true, ["]"] = true }
local MANY = 40           -- beyond, candidates are cut behind their next part

-- ---------------------------------------------------------------- methods

local meta                       -- is read when it is asked for
local methods
local function methods_of(class)
  if not methods then
    meta, methods = need "meta", {}
    for of, fields in pairs(meta.fields) do methods[of] = table.move(fields, 1, #fields, 1, {}) end
    for _, row in ipairs(operations()) do
      methods[row.where] = methods[row.where] or {}
      table.insert(methods[row.where], row.name)
    end
  end
  return methods[class] or {}
end

local function strings_in(t)
  local list = {}
  for key in next, t do if type(key) == "string" then list[#list + 1] = key end end
  return list
end

-- The names behind `value.` or `value:`.
local function members(value)
  if type(value) == "table" then return strings_in(value) end
  if type(value) == "string" then return strings_in(string) end
  local class, metatable = class_of(value), debug.getmetatable(value)
  if class then return methods_of(class) end
  return metatable and type(metatable.__index) == "table" and strings_in(metatable.__index) or {}
end

-- ---------------------------------------------------------------- where the cursor is

-- Where the bracket opens that is closed at tokens[i].
local function opening(tokens, i)
  local depth = 0
  for k = i, 1, -1 do
    local text = tokens[k].kind == "symbol" and tokens[k].text
    if CLOSE[text] then depth = depth + 1 end
    if OPEN[text] then depth = depth - 1 end
    if depth == 0 then return k end
  end
end

-- The innermost bracket that is open behind tokens[i].
local function enclosing(tokens, i)
  local depth = 0
  for k = i, 1, -1 do
    local text = tokens[k].kind == "symbol" and tokens[k].text
    if CLOSE[text] then depth = depth + 1 end
    if OPEN[text] and depth == 0 then return k end
    if OPEN[text] then depth = depth - 1 end
  end
end

local function name_before(tokens, i)
  local t = tokens[i - 1]
  return t and t.kind == "name" and t.text or nil
end

-- The function whose table of options is open behind tokens[i], or nil.
local function options_of(tokens, i)
  local k = enclosing(tokens, i)
  if not k or tokens[k].text ~= "{" then return nil end
  local name = name_before(tokens, k)
  if name then return name end
  local outer = enclosing(tokens, k - 1)
  return outer and tokens[outer].text == "(" and name_before(tokens, outer) or nil
end

-- ---------------------------------------------------------------- candidates

-- The value of the names and fields that end at tokens[i]; whether they are all there is.
local function value_at(self, tokens, i)
  local names = {}
  while tokens[i] and tokens[i].kind == "name" do
    table.insert(names, 1, tokens[i].text)
    local dot = tokens[i - 1]
    if not dot or dot.text ~= "." then
      if dot and dot.text == ":" then return nil, false end
      break
    end
    i = i - 2
  end
  if #names == 0 or tokens[i] and tokens[i].kind ~= "name" then return nil, false end
  local value, is_local = self.locals:get(names[1])
  if not is_local then value = self.names:find(names[1]) end
  if names[1] == "_" and not is_local then value = self.names.results[1] or value end
  for k = 2, #names do
    if type(value) ~= "table" then return nil, false end
    value = rawget(value, names[k])
  end
  return value, true
end

-- The class of what a call gives that ends at tokens[i], or nil.
local function class_at(self, tokens, i)
  local value, known = value_at(self, tokens, i)
  if known then return class_of(value) end
  local k = CLOSE[tokens[i].text] and opening(tokens, i) or i
  local f, before = k and name_before(tokens, k), k and tokens[k - 2]
  if not f then return nil end
  methods_of "tile"
  if not before or before.text ~= ":" then return meta.result("tile", f) end
  local class = k > 3 and class_at(self, tokens, k - 3)
  return class and meta.result(class, f)
end

-- Of a call that is not known: most give layouts or tensors.
local function members_at(self, tokens, i)
  local value, known = value_at(self, tokens, i)
  if known then return members(value) end
  local class = class_at(self, tokens, i)
  if class then return methods_of(class) end
  if tokens[i].kind == "string" then return members "" end
  local list = table.move(methods_of "Layout", 1, #methods_of "Layout", 1, {})
  return table.move(methods_of "Tensor", 1, #methods_of "Tensor", #list + 1, list)
end

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function",
                   "goto", "if", "in", "local", "nil", "not", "or", "repeat", "return", "then",
                   "true", "until", "while" }

local function names_at(self, tokens, i)
  local list, before = self.names:all(self.locals), tokens[i]
  table.move(KEYWORDS, 1, #KEYWORDS, #list + 1, list)
  local name = before and (before.text == "{" or before.text == ",") and options_of(tokens, i)
  local keys = name and words.keys[name]
  return keys or list
end

-- A string without its end, tokens[i].
local function strings_at(tokens, i, beginning)
  local before = tokens[i - 1]
  if not before then return {} end
  if before.text == "=" then
    local name = options_of(tokens, i - 2) or ""
    return words.of_option(name, name_before(tokens, i - 1) or "", beginning)
  end
  local k = before.kind ~= "name" and enclosing(tokens, i - 1)
  local name = before.kind == "name" and before.text or k and name_before(tokens, k)
  return name and words.of_argument(name, beginning) or {}
end

-- ---------------------------------------------------------------- choosing

-- Of many long words the beginnings up to the next "_", or ":".
local function shorten(list, from)
  local short, seen = {}, {}
  for _, word in ipairs(list) do
    local part = word:sub(1, (word:find("[_:<]", from + 1) or #word))
    if not seen[part] then short[#short + 1] = part end
    seen[part] = true
  end
  return short
end

local function choose(list, beginning)
  local chosen, seen = {}, {}
  for _, word in ipairs(list) do
    local hidden = word:sub(1, 2) == "__" and beginning:sub(1, 1) ~= "_"
    if word:sub(1, #beginning) == beginning and not seen[word] and not hidden then
      chosen[#chosen + 1] = word
    end
    seen[word] = true
  end
  if #chosen > MANY and beginning ~= "" then chosen = shorten(chosen, #beginning) end
  table.sort(chosen)
  return chosen
end

-- Whether the text behind the last token is in a comment.
local function in_comment(code, last)
  return code:find("--", last and last.to + 1 or 1, true) ~= nil
end

-- Commands, and what help is asked of: where the name begins, and the names; nil: it is code.
local function commands_in(self, text)
  local from, name = text:match "^%s*:()(%a*)$"
  if from then return commands.names, name, from end
  from, name = text:match "^%s*%?%s*()([%w_]*)$"
  if from then return self.names:all(self.locals), name, from end
end

-- complete(session, text) -> the candidates for the end of the text, and where in it that begins.
return function(self, text)
  local list, word, from = commands_in(self, text)
  if list and not self.pending then return choose(list, word), from end
  -- What :draw takes is what the function takes: the text is as long.
  text = text:gsub("^(%s*):draw ", "%1draw( ")
  text = text:gsub("^%s*[:?]%a*", function(command) return (" "):rep(#command) end)
  local code = self.pending and self.pending .. "\n" .. text or text
  local tokens, behind = tokens_of(code), #code - #text
  local i, last = #tokens, tokens[#tokens]
  if in_comment(code, last) then return {}, #text + 1 end
  if last and last.kind == "open" then
    local beginning = last.text:sub(2)
    return choose(strings_at(tokens, i, beginning), beginning), last.from + 1 - behind
  end
  local beginning = ""
  if last and last.to == #code and (last.kind == "name" or last.kind == "keyword") then
    beginning, i = last.text, i - 1
  end
  local dot = tokens[i]
  if dot and i > 1 and (dot.text == "." or dot.text == ":") then
    list = members_at(self, tokens, i - 1)
  else
    list = names_at(self, tokens, i)
  end
  return choose(list, beginning), #text - #beginning + 1
end
