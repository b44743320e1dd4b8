-- one.lua: the core as one C file and one header, to be put into another project.
-- SPDX-License-Identifier: MIT
--
-- usage: moontile cmake/one.lua SOURCE OUT
--   SOURCE   the folder of the sources; OUT gets one.c and moontile.h
--   cc -std=c11 -O2 -c one.c; what uses it is linked with -lpthread -lm -ldl
-- Headers come first, each once; then the files, room by room. What belongs to one file alone
-- (static functions, types, enumerators) gets the file's name behind it where another file, or a
-- header, has that word too; macros of a file end with it. There are no CUDA kernels in it.

local SOURCE, OUT = arg[1], arg[2]
local WHERE = { "include/", "src/", "" }

local function read(path)
  local f = io.open(SOURCE .. "/" .. path, "rb")
  if not f then return nil end
  local text = f:read "a"
  f:close()
  return text
end

local function find(name)
  for _, folder in ipairs(WHERE) do
    local text = read(folder .. name)
    if text then return folder .. name, text end
  end
  error(name .. ": no such file")
end

-- ---------------------------------------------------------------- tokens

-- Where one of these begins it is taken as a whole: comments, strings, characters, words, numbers.
local function token_at(text, at)
  local two = text:sub(at, at + 1)
  if two == "/*" then return "blank", select(2, text:find("*/", at + 2, true)) end
  if two == "//" then return "blank", (text:find("\n", at, true) or #text + 1) - 1 end
  local quote = text:match('^["\']', at)
  if quote then
    local stop = at
    repeat
      stop = text:find('[\\"\']', stop + 1)
      local c = text:sub(stop, stop)
      if c == "\\" then stop = stop + 1 end
    until c == quote
    return "text", stop
  end
  local _, stop = text:find("^%s+", at)
  if stop then return "blank", stop end
  _, stop = text:find("^[%a_][%w_]*", at)
  if stop then return "word", stop end
  _, stop = text:find("^%.?%d[%w_.]*", at)
  if stop then return "number", stop end
  if two == "->" or two == "##" then return "mark", at + 1 end
  return "mark", at
end

-- The tokens of a text: { kind =, text =, directive = of a line of the preprocessor }.
local function tokens_of(text)
  local list, at, directive, fresh = {}, 1, false, true
  while at <= #text do
    local kind, stop = token_at(text, at)
    local piece = text:sub(at, stop)
    if kind == "mark" and piece == "#" and fresh then directive = true end
    if kind ~= "blank" then fresh = false end
    list[#list + 1] = { kind = kind, text = piece, directive = directive }
    if kind == "blank" and piece:find "\n" and piece:sub(1, 1) ~= "/" then
      local continued = list[#list - 1] and list[#list - 1].text == "\\"
      if not continued then directive, fresh = false, true end
    end
    at = stop + 1
  end
  return list
end

local function code_of(tokens)
  local list = {}
  for _, t in ipairs(tokens) do
    if t.kind ~= "blank" and not t.directive then list[#list + 1] = t end
  end
  return list
end

-- ---------------------------------------------------------------- what belongs to a file

local OPEN = { ["("] = ")", ["["] = "]", ["{"] = "}" }
local TAGGED = { struct = true, union = true, enum = true }

-- Behind the bracket that closes the one at i.
local function behind(code, i)
  local open, close, depth = code[i].text, OPEN[code[i].text], 0
  repeat
    local t = code[i].text
    if t == open then depth = depth + 1 elseif t == close then depth = depth - 1 end
    i = i + 1
  until depth == 0
  return i
end

local function add_enumerators(code, i, names)
  local stop = behind(code, i) - 1
  while i < stop do
    local t = code[i].text
    if (t == "{" or t == ",") and code[i + 1].kind == "word" then names[code[i + 1].text] = true end
    i = i + 1
    if OPEN[code[i].text] then i = behind(code, i) end
  end
end

-- A tag and its body at i, where struct, union or enum stands; where it goes on behind them.
local function add_tagged(code, i, names)
  local what = code[i].text
  i = i + 1
  if code[i].kind == "word" then
    local tag = code[i].text
    if code[i + 1].text == "{" then names[tag], names.defines[tag] = true, true end
    i = i + 1
  end
  if code[i].text ~= "{" then return i end
  if what == "enum" then add_enumerators(code, i, names) end
  return behind(code, i)
end

local DECLARED = { [";"] = true, [","] = true, ["="] = true, ["["] = true, ["("] = true }

-- Behind the value at i of what is declared.
local function behind_value(code, i)
  while code[i].text ~= ";" and code[i].text ~= "," do
    i = OPEN[code[i].text] and behind(code, i) or i + 1
  end
  return i
end

-- Whether the word at i is what a statement declares.
local function is_declared(code, i)
  local word, next = code[i], code[i + 1] and code[i + 1].text
  if next == "(" and code[i + 2].text == "*" then return false end          -- a pointer's type
  return word.kind == "word" and word.text ~= "__attribute__" and DECLARED[next]
end

-- The statement at i; returns where the next begins. `own`: "static" or "typedef", where what it
-- declares is the file's own; done: the function's name was found.
local function add_statement(code, i, names)
  local own, done
  while code[i] do
    local text = code[i].text
    if text == "static" or text == "typedef" then own, done = text, false end  -- behind macros, too
    if text == ";" then return i + 1 end
    if text == "{" then return behind(code, i) end
    if TAGGED[text] then
      i = add_tagged(code, i, names)
    elseif text == "=" then
      i, done = behind_value(code, i + 1), false
    elseif OPEN[text] then
      if own and not done and code[i + 1].text == "*" then                  -- (*name)(...)
        names[code[i + 2].text], done = own, true
      end
      i = behind(code, i)
    else
      if own and not done and is_declared(code, i) then
        names[text], done = own, code[i + 1].text == "("
      end
      i = i + 1
    end
  end
  return i
end

local function own_names(tokens)
  local code, names, i = code_of(tokens), { defines = {} }, 1
  while i <= #code do i = add_statement(code, i, names) end
  local defines = names.defines
  names.defines = nil
  return names, defines
end

-- Words that a macro may paste into others stay as they are; a type among them does everywhere.
local function unpaste(tokens, names)
  local pastes = {}
  for i, t in ipairs(tokens) do
    if t.directive and t.text == "define" then
      local j = i + 1
      while tokens[j] and tokens[j].directive do
        if tokens[j].text == "##" then pastes[tokens[i + 2].text] = true end
        j = j + 1
      end
    end
  end
  local code = {}
  for _, t in ipairs(tokens) do
    if t.kind ~= "blank" then code[#code + 1] = t end
  end
  for i, t in ipairs(code) do
    local called = pastes[t.text] and code[i + 1] and code[i + 1].text == "("
    if called and code[i - 1].text ~= "define" then
      for j = i + 2, behind(code, i + 1) - 2 do
        code[j].pasted = true
        if names[code[j].text] == "typedef" then names[code[j].text] = nil end
      end
    end
  end
end

-- The tags that a part mentions: who defines one that a header mentions does not own it.
local function tags_of(tokens)
  local code, tags = code_of(tokens), {}
  for i, t in ipairs(code) do
    if TAGGED[t.text] and code[i + 1].kind == "word" then tags[code[i + 1].text] = true end
  end
  return tags
end

local function own_macros(text)
  local list, seen = {}, {}
  for name in ("\n" .. text):gmatch "\n%s*#%s*define%s+([%w_]+)" do
    if not seen[name] then list[#list + 1], seen[name] = name, true end
  end
  return list
end

-- ---------------------------------------------------------------- headers and files

local headers, order = {}, {}           -- by their path; in the order that they need
local need_header

-- Without its guard.
local function body_of(text)
  local guard = text:match "\n#ifndef ([%w_]+)\n#define"
  if not guard then return nil end
  text = text:gsub("\n#ifndef " .. guard .. "\n#define " .. guard .. "[^\n]*\n", "\n", 1)
  return (text:gsub("\n#endif[^\n]*%s*$", "\n"))
end

local function each_include(text, f)
  return (("\n" .. text):gsub('\n[ \t]*#[ \t]*include[ \t]+"([^"]+)"([^\n]*)', function(name, rest)
    return "\n" .. f(name) .. (rest:match "/%*.-%*/" or "")
  end):sub(2))
end

-- The text with its lists in it, without its headers, which `need` is told.
local function expand(text, need)
  return each_include(text, function(name)
    local path, inner = find(name)
    if name:match "%.h$" and body_of(inner) then
      need(path, inner)
      return ""
    end
    return expand(inner, need)
  end)
end

-- Headers and files are parts: { path =, text =, tokens =, names = of its own, defines =, tags =,
-- macros =, sees = { [header] = true } }.
local function read_part(path, text)
  local part = { path = path, sees = {} }
  part.text = expand(text, function(header, inner)
    local seen = need_header(header, inner)
    part.sees[seen] = true
    for other in pairs(seen.sees) do part.sees[other] = true end
  end)
  part.tokens = tokens_of(part.text)
  part.names, part.defines = own_names(part.tokens)
  part.macros, part.tags = own_macros(part.text), tags_of(part.tokens)
  unpaste(part.tokens, part.names)
  for header in pairs(part.sees) do
    for tag in pairs(header.tags) do part.names[tag] = nil end
  end
  return part
end

function need_header(path, text)
  if not headers[path] then
    headers[path] = { path = path, sees = {} }          -- while it is being read
    local part = read_part(path, body_of(text))
    part.public = path:match "^include/" ~= nil
    headers[path] = part
    order[#order + 1] = part
  end
  return headers[path]
end

-- Rooms that need Lua are those that cmake/targets.cmake leaves out of the core.
local function rooms_of_lua()
  local names = { ["main.c"] = true }
  for name in read "cmake/targets.cmake":match 'MATCHES "%^%(([%w|]+)%)%$"':gmatch "%w+" do
    names[name] = true
  end
  return names
end

local function rooms()
  local list, of_lua = {}, rooms_of_lua()
  for line in read("src/rooms.txt"):gmatch "[^\n]+" do
    local room = line:match "^([%a_.]+) "
    if room and not of_lua[room] then list[#list + 1] = room end
  end
  return list
end

local function files_of(room)
  if room:match "%.c$" then return { "src/" .. room } end
  local list = {}
  local p = io.popen('ls "' .. SOURCE .. '/src/' .. room .. '"')
  for name in p:lines() do
    if name:match "%.c$" then list[#list + 1] = "src/" .. room .. "/" .. name end
  end
  p:close()
  table.sort(list)
  return list
end

local function read_files()
  local list = {}
  for _, room in ipairs(rooms()) do
    for _, path in ipairs(files_of(room)) do
      local text = read(path):gsub("\n#define _GNU_SOURCE[^\n]*", "")
      list[#list + 1] = read_part(path, text)
    end
  end
  return list
end

-- ---------------------------------------------------------------- new names

-- Marks the names of parts that some part has which does not see them: `part.renamed`.
local function find_collisions(parts)
  local owners, definers = {}, {}
  for _, part in ipairs(parts) do
    for tag in pairs(part.defines) do definers[tag] = (definers[tag] or 0) + 1 end
  end
  for _, part in ipairs(parts) do           -- other headers may declare what one alone defines
    for _, other in ipairs(parts) do
      for tag in pairs(part ~= other and not other.sees[part] and other.tags or {}) do
        if tag:match "^mt_" and (definers[tag] or 0) <= 1 then part.names[tag] = nil end
      end
    end
  end
  for _, part in ipairs(parts) do
    part.renamed = {}
    for name in pairs(part.public and {} or part.names) do
      owners[name] = owners[name] or {}
      table.insert(owners[name], part)
    end
  end
  for _, part in ipairs(parts) do
    for _, t in ipairs(part.tokens) do
      for _, owner in ipairs(t.kind == "word" and owners[t.text] or {}) do
        if owner ~= part and not part.sees[owner] then owner.renamed[t.text] = true end
      end
    end
  end
end

local function suffix_of(part)
  local room, name, kind = part.path:match "([%w_]+)/([%w_]+)%.([ch])$"
  if not room then room, name, kind = "core", part.path:match "([%w_]+)%.([ch])$" end
  return "_in_" .. room .. "_" .. name .. (kind == "h" and "_h" or "")
end

-- What the words of a part become: its own, and those of headers that it sees.
local function new_names(part)
  local list = {}
  local function add(owner)
    for name in pairs(owner.renamed) do list[name] = list[name] or name .. suffix_of(owner) end
  end
  add(part)
  for header in pairs(part.sees) do add(header) end
  return list
end

-- For each token whether it is a member in the body of a struct: declared, not used as a type.
local function mark_members(tokens)
  local code, depths, depth = {}, {}, 0
  for _, t in ipairs(tokens) do
    if t.kind ~= "blank" then code[#code + 1] = t end
  end
  for i, t in ipairs(code) do
    if t.text == "{" then
      depth = depth + 1
      local a, b = code[i - 1], code[i - 2]
      local tag = a and (a.text == "struct" or a.text == "union")
                  or b and (b.text == "struct" or b.text == "union")
      depths[depth] = tag or false
    elseif t.text == "}" then
      depth = depth - 1
    elseif t.kind == "word" and depth > 0 and depths[depth] then
      local after = code[i + 1].text
      local before = code[i - 1].text
      t.member = not TAGGED[before] and before ~= "[" and
                 (after == ";" or after == "," or after == "[" or after == ":" or after == ")")
    end
  end
end

local function rename(part)
  local names, last, out = new_names(part), "", {}
  mark_members(part.tokens)
  for i, t in ipairs(part.tokens) do
    local member = last == "." or last == "->" or t.member
    out[i] = t.kind == "word" and not member and not t.pasted and names[t.text] or t.text
    if t.kind ~= "blank" then last = t.text end
  end
  return table.concat(out)
end

-- ---------------------------------------------------------------- writing

-- The list of kernels in the place of their image: no GPU runs it, and the library says so. Which
-- there are, cmake/kernels.cmake says; src/cuda/image.S has those of casts behind those of copies.
local function images()
  local list = {}
  local row = "%(MOONTILE_IMAGE_(%u+) ${PROJECT_SOURCE_DIR}/([%w_/.]+)%)"
  for name, path in read "cmake/kernels.cmake":gmatch(row) do
    if name == "CAST" then
      list[1].text = list[1].text .. read(path)
    else
      list[#list + 1] = { name = name:lower(), text = read(path) }
    end
  end
  return list
end

local function image(row)
  local bytes = row.text:gsub(".", function(c) return c:byte() .. "," end)
  bytes = bytes:gsub(("%d+,"):rep(20), "%0\n")
  return "const unsigned char mt_image_" .. row.name .. "[] = {" .. bytes .. "0};\n"
end

local function write(name, pieces)
  local f = assert(io.open(OUT .. "/" .. name, "wb"))
  f:write(table.concat(pieces, "\n"))
  f:close()
end

local function banner(path) return "\n/* " .. ("-"):rep(60) .. " " .. path .. " */" end

local licence = "/*\n" .. read "LICENSE" .. "*/\n"
local files = read_files()
do                                       -- all public headers but that for Lua
  local umbrella = read "include/moontile.h"
  expand(umbrella, need_header)
end

local parts = table.move(files, 1, #files, #order + 1, table.move(order, 1, #order, 1, {}))
find_collisions(parts)

local function header_text()
  local out = {
    "/*\n** moontile.h - all headers of moontile's core in one: see one.c.\n*/\n" .. licence,
    "#ifndef MOONTILE_ONE_H\n#define MOONTILE_ONE_H",
  }
  for _, part in ipairs(order) do
    if part.public then out[#out + 1] = banner(part.path) .. part.text end
  end
  out[#out + 1] = "#endif\n"
  return out
end

local function source_text()
  local out = {
    "/*\n** one.c - moontile's core in one file, beside moontile.h. Made by cmake/one.lua.\n**\n" ..
    "** cc -std=c11 -O2 -c one.c; what uses it is linked with -lpthread -lm -ldl.\n*/\n" .. licence,
    "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include \"moontile.h\"",
  }
  for _, part in ipairs(parts) do
    if not part.public then out[#out + 1] = banner(part.path) .. "\n" .. rename(part) end
    for _, macro in ipairs(part.path:match "%.c$" and part.macros or {}) do
      out[#out + 1] = "#undef " .. macro
    end
  end
  out[#out + 1] = banner "the lists of kernels"
  for _, row in ipairs(images()) do out[#out + 1] = image(row) end
  return out
end

write("moontile.h", header_text())
write("one.c", source_text())
