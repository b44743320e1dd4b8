-- moontile.console.help - what is known of a name, of a value, of a subject.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "tile"
local class_of = need "console.class"
local near = need "console.near"
local paint = need "console.paint"
local operations = need "operations"

local help = {}

local WIDTH, WIDEST = 80, 100

local meta                       -- is read when it is asked for
local function the_meta()
  meta = meta or need "meta"
  return meta
end

-- ---------------------------------------------------------------- signatures

local rows
local function row_of(where, name)
  if not rows then
    rows = {}
    for _, row in ipairs(operations()) do rows[row.where .. "." .. row.name] = row end
  end
  return rows[where .. "." .. name]
end

-- "layout(shape [, stride])", "A:size(modes...)", "T(coordinate...)"
function help.signature(where, name)
  local row = row_of(where, name)
  local takes = row and row.takes or ""
  if where == "tile" then return ("%s(%s)"):format(name, takes) end
  local optional, self, rest = takes:match "^(%[%w+,%] )(%w+),? ?(.*)$"
  if not self then self, rest = takes:match "^(%w+),? ?(.*)$" end
  self, rest = self or where, (optional or "") .. (rest or "")
  rest = rest:gsub("^%[, ", "[")
  if name == "__call" then return ("%s(%s)"):format(self, rest) end
  return ("%s:%s(%s)"):format(self, name, rest)
end

-- ---------------------------------------------------------------- texts

-- The words of a text as lines of a width; `first` begins the first line, blanks the others.
local function fill(text, first, width)
  local indent, lines, line = (" "):rep(#first), {}, first
  for word in text:gmatch "%S+" do
    if line:find "%S" and line ~= first and #line + #word + 1 > width then
      lines[#lines + 1], line = line, indent
    end
    line = (line == indent or line == first) and line .. word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- Code of an example as it is typed, and what is printed.
local function add_example(entry, lines)
  for _, line in ipairs(entry.example) do
    local code, printed = line:match "^(.-)%s*%-%->%s?(.*)$"
    code = code or line
    if code ~= "" then lines[#lines + 1] = "  " .. paint.dim("> " .. code) end
    if printed then lines[#lines + 1] = "  " .. printed end
  end
end

local function block_of(entry) return getmetatable(entry).__index end

-- Where else the entry is, and under what other names.
local function others(entry)
  local classes, names, seen = {}, {}, { [entry.name] = true }
  for _, other in ipairs(the_meta().entries) do
    local same = other ~= entry and block_of(other) == block_of(entry)
    if same and other.name == entry.name and other.where ~= "tile" then
      classes[#classes + 1] = other.where
    elseif same and not seen[other.name] then
      names[#names + 1] = other.name
    end
    if same then seen[other.name] = true end
  end
  local method = #classes > 0 and "a method of " .. table.concat(classes, ", ")
  return method, #names > 0 and table.concat(names, ", ")
end

-- All that is known of an entry of meta.
local function entry_text(entry, width)
  local returns = table.concat(entry.returns, ", "):gsub("moontile%.", "")
  local method, names = others(entry)
  local lines = { paint.bold(help.signature(entry.where, entry.name))
                  .. paint.dim(returns ~= "" and "  -> " .. returns or "") }
  lines[#lines + 1] = fill(entry.summary, "  ", width)
  if names then lines[#lines + 1] = fill("likewise " .. names, "  ", width) end
  for _, note in ipairs(entry.notes) do lines[#lines + 1] = fill(note, "  - ", width) end
  for _, fault in ipairs(entry.errors) do
    lines[#lines + 1] = fill("error: " .. fault, "  - ", width)
  end
  if method then lines[#lines + 1] = fill("also " .. method, "  - ", width) end
  add_example(entry, lines)
  return table.concat(lines, "\n")
end

-- Entries that share their text stand once.
local function entries_text(entries, width)
  local texts, seen = {}, {}
  for _, entry in ipairs(entries) do
    if not seen[block_of(entry)] then texts[#texts + 1] = entry_text(entry, width) end
    seen[block_of(entry)] = true
  end
  return table.concat(texts, "\n\n")
end

-- A line for each entry: its name, its sentence.
local function list_text(entries, width)
  local lines, longest, seen = {}, 0, {}
  for _, entry in ipairs(entries) do longest = math.max(longest, #entry.name) end
  for _, entry in ipairs(entries) do
    local summary, room = entry.summary, width - longest - 4
    if #summary > room then summary = summary:sub(1, math.max(1, room - 3)) .. "..." end
    if not seen[entry.name] then
      local gap = (" "):rep(longest + 2 - #entry.name)
      lines[#lines + 1] = "  " .. paint.name(entry.name) .. gap .. summary
    end
    seen[entry.name] = true
  end
  return table.concat(lines, "\n")
end

-- ---------------------------------------------------------------- subjects

help.COMMANDS = [[
?name, name?, help "word"    what is known of a name, or of a subject
:tour                        a short tour
:draw x                      a picture of a layout, an atom, a tiled copy or MMA, a plan
:explain A * B               how a result comes about
:time code                   how long it takes
:device [name]               the devices, or one
exit, quit, Ctrl-D           the end]]

-- The names of each subject; of a class those that are its methods.
local function add_names(lines, class, width)
  for _, group in ipairs(the_meta().groups) do
    local names, seen = {}, {}
    for _, entry in ipairs(group.entries) do
      local fits = (not class or entry.where == class) and not entry.name:match "^__"
      if fits and not seen[entry.name] then names[#names + 1] = entry.name end
      seen[entry.name] = fits or seen[entry.name]
    end
    if #names > 0 then
      lines[#lines + 1] = paint.bold(fill(group.title, "", width))
      lines[#lines + 1] = fill(table.concat(names, " "), "  ", width)
    end
  end
end

-- What to do with them is behind the names: that is what stays on a screen.
local function overview(width)
  local lines = {}
  add_names(lines, nil, width)
  lines[#lines + 1] = "\n" .. help.COMMANDS
  return table.concat(lines, "\n")
end

-- What a value of a class can be asked.
local function class_text(class, width)
  local lines, fields = { "a " .. class }, the_meta().fields[class]
  if fields then lines[2] = fill(table.concat(fields, " "), "  ", width) end
  add_names(lines, class, width)
  return #lines > 1 and table.concat(lines, "\n") or nil
end

-- Names and sentences that have a word.
local function search(word, width)
  local entries, lower = {}, word:lower()
  for _, entry in ipairs(the_meta().entries) do
    local text = (entry.name .. " " .. entry.summary):lower()
    if text:find(lower, 1, true) and not entry.name:match "^__" then
      entries[#entries + 1] = entry
    end
  end
  return #entries > 0 and list_text(entries, width) or nil
end

-- Other names that have a word in them.
local function related(word, width)
  local names, seen = {}, { [word] = true }
  for _, entry in ipairs(the_meta().entries) do
    if entry.name:find(word, 1, true) and not seen[entry.name] then
      names[#names + 1] = entry.name
      seen[entry.name] = true
    end
  end
  return #names > 0 and "\n\n" .. fill(table.concat(names, ", "), "see also ", width) or ""
end

local function of_group(word, width)
  for _, group in ipairs(the_meta().groups) do
    if group.name == word then
      return paint.bold(fill(group.title, "", width)) .. "\n" .. list_text(group.entries, width)
    end
  end
end

local function nothing(word)
  local names = {}
  for _, entry in ipairs(the_meta().entries) do names[#names + 1] = entry.name end
  local meant = near(word, names)
  return ("nothing is known of %s%s"):format(word, meant and "; did you mean " .. meant .. "?"
                                                   or "; ? lists what there is")
end

-- ---------------------------------------------------------------- what is asked

-- A name; else a subject, a class; else what has the word in it.
local function of_word(word, width)
  if word == "tile" then return overview(width) end
  local entries = the_meta().find(word)
  if #entries > 0 then return entries_text(entries, width) .. related(word, width) end
  return of_group(word, width) or class_text(word, width) or search(word, width) or nothing(word)
end

local function of_function(f, width)
  for name, value in next, tile do
    if value == f then return entries_text(the_meta().find("tile." .. name), width) end
  end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return "a function of Lua, or of C: Lua's manual has Lua's" end
  return ("a function of Lua, %s:%d"):format(info.short_src, info.linedefined)
end

-- help.of(x, width): x is nothing, a word, a function, or any value.
function help.of(x, width)
  width = math.min(width or WIDTH, WIDEST)
  if x == nil or x == tile then return overview(width) end
  if type(x) == "string" then return of_word(x, width) end
  if type(x) == "function" then return of_function(x, width) end
  local class = class_of(x)
  return class and class_text(class, width) or ("a %s of Lua"):format(type(x))
end

-- help.asked(session, text): what `?text` is about: a name that is known, else the value of a
-- variable, or a method of that.
function help.asked(session, text)
  local width = session.columns()
  if text == "" then return help.of(nil, width) end
  if #the_meta().find(text) > 0 then return help.of(text, width) end
  local variable, method = text:match "^([%a_][%w_]*)[.:]([%a_][%w_]*)$"
  local value, is_local = session.locals:get(variable or text)
  if not is_local then value = session.names:find(variable or text) end
  if not method then return help.of(value ~= nil and value or text, width) end
  local class = class_of(value)
  return help.of(class and class .. "." .. method or method, width)
end

return help
