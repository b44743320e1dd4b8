-- headers.lua: the pages of the C API, made from the comments of include/moontile.
-- SPDX-License-Identifier: MIT
--
-- headers.pages(escape, anchor) -> { [path] = text }, by docs/generate.lua
-- headers.parse(text)           -> what a header says, in its order

local headers = {}

local FOLDER = "docs/c/"
local HEADERS = "include/moontile/"

local read = dofile "docs/read.lua"

-- ---------------------------------------------------------------- reading

-- The lines of a comment without its marks: "/* a\n** b */" -> { "a", "b" }.
local function lines_of(comment)
  local lines = {}
  for line in (comment:gsub("^/%*", ""):gsub("%*/$", "") .. "\n"):gmatch "(.-)%s*\n" do
    lines[#lines + 1] = (line:gsub("^%s*%*%*", ""):gsub("^ ", ""))
  end
  while lines[1] == "" do table.remove(lines, 1) end
  while lines[#lines] == "" do lines[#lines] = nil end
  return lines
end

-- Where a declaration that begins at `from` ends: behind its `;`, or the `}` of an inline function,
-- and behind a comment on that line.
local function end_of_declaration(text, from)
  local at, is_inline = from, text:find("^static inline", from)
  while true do
    local start, stop, found = text:find("([{;/])", at)
    if found == "{" then
      at = select(2, assert(text:find("%b{}", start))) + 1
      if is_inline then return at end
    elseif found == "/" and text:find("^/%*", start) then
      at = select(2, text:find("%*/", start)) + 1
    elseif found == ";" then
      local _, behind = text:find("^[ \t]*/%*.-%*/", stop + 1)
      return (behind or stop) + 1
    else
      at = stop + 1
    end
  end
end

local function end_of_directive(text, from)
  local line_end
  repeat
    line_end = text:find("\n", from, true)
    local goes_on = text:sub(line_end - 1, line_end - 1) == "\\"
    from = line_end + 1
  until not goes_on
  return line_end
end

-- What readers need not see: guards, includes, the names that lists are made into enumerators by.
local function is_plumbing(directive)
  local name = directive:match "^#define ([%w_]+)"
  return not name or name:match "^MOONTILE_%w+_H$" or name:match "_NAME$" or name == "MT_API"
end

-- Pieces of a header: { kind, text } with kind "comment", "code", "gap".
local function pieces_of(text)
  local pieces, at = {}, 1
  local function add(kind, to)
    pieces[#pieces + 1] = { kind = kind, text = text:sub(at, to - 1) }
    at = to
  end
  while at <= #text do
    if text:find("^\n[ \t]*\n", at) then add("gap", select(2, text:find("^%s*", at)) + 1)
    elseif text:find("^%s", at) then at = at + 1
    elseif text:find('^extern "C" {', at) then at = at + #'extern "C" {'
    elseif text:find("^}", at) then at = at + 1
    elseif text:find("^/%*", at) then add("comment", select(2, text:find("%*/", at)) + 1)
    elseif text:find("^#", at) then
      local to = end_of_directive(text, at)
      if is_plumbing(text:sub(at, to)) then at = to else add("code", to) end
    else add("code", end_of_declaration(text, at)) end
  end
  return pieces
end

-- The functions that a declaration declares.
local function functions_in(code)
  local names = {}
  for name in code:gsub("/%*.-%*/", ""):gmatch "([%a_][%w_]*) %(" do
    if name:match "^mt_" or name:match "^luaopen_" then names[#names + 1] = name end
  end
  return code:match "^MT_API" and names or code:match "^static inline" and { names[1] } or {}
end

-- Without MT_API, and its continuation lines moved as far.
local function shown(code)
  local rest = code:match "^MT_API (.*)$"
  return rest and rest:gsub("\n       ", "\n") or code
end

-- { title =, about = lines, items... } with an item { words = lines, code = {...}, names = {...} }
-- or a section { section = title, words = lines }.
function headers.parse(text)
  local header, item = nil, nil
  local out = {}
  for _, piece in ipairs(pieces_of(text)) do
    if piece.kind == "gap" then
      item = nil
    elseif piece.kind == "comment" then
      local lines = lines_of(piece.text)
      item = nil
      if not header then
        header = { title = lines[1]:match "%- (.+)$", words = lines }
      elseif lines[1]:match "^%-%-%-%-" then
        local title = table.remove(lines, 1):match "^%-+ (.+)$"
        out[#out + 1] = { section = title, words = lines }
      else
        item = { words = lines, code = {}, names = {} }
        out[#out + 1] = item
      end
    else
      if not item then
        item = { words = {}, code = {}, names = {} }
        out[#out + 1] = item
      end
      item.code[#item.code + 1] = shown(piece.text)
      for _, name in ipairs(functions_in(piece.text)) do item.names[#item.names + 1] = name end
    end
  end
  out.title, out.about = header.title, header.words
  return out
end

-- ---------------------------------------------------------------- words

-- What is indented: a table or code, as it stands; or a list, if its longer entries go on further
-- right.
local function add_indented(out, block, escape)
  local is_list, text = false, table.concat(block, "\n")
  for _, line in ipairs(block) do is_list = is_list or line:match "^%s%s%s" end
  is_list = is_list and not text:match "%S   "
  for _, line in ipairs(block) do
    if not is_list then
      out[#out + 1] = "    " .. line:gsub("^%s%s", "")
    elseif line:match "^%s%s%S" then
      out[#out + 1] = "- " .. escape(line:sub(3))
    else
      out[#out] = out[#out] .. " " .. escape((line:gsub("^%s+", "")))
    end
  end
  out[#out + 1] = ""
end

-- What a line of a comment is, after what came before it in the same paragraph.
local function kind_of(line, open, last)
  local in_list = open and open:match "^%- "
  if line == "" then return "gap" end
  if line:match "%S%s%s%s" or line:match "^%s%s" and not in_list then return "indented" end
  if line:match "^%(%d+%w?%) " and (in_list or not last or last:match "[:;.]$") then
    return "law"
  end
  if open and not line:match "^%s" and (in_list or line:match "^mt_[%w_]+: ") then
    return "next"
  end
  return "more"
end

-- Paragraphs, laws as a list, what is indented.
local function add_words(out, lines, escape)
  local open, last
  local block = {}
  local function blank() if out[#out] ~= "" then out[#out + 1] = "" end end
  local function close()
    if open then out[#out + 1] = open:gsub("%. Errors: ", ".\n\nErrors: ") end
    if #block > 0 then
      blank()
      add_indented(out, block, escape)
    end
    open, block = nil, {}
  end
  for _, line in ipairs(lines) do
    local kind, text = kind_of(line, open, last), line:gsub("^%s+", "")
    if kind == "indented" then
      if open then close() end
      block[#block + 1] = line
    elseif kind == "gap" then
      close()
      blank()
    elseif kind == "more" and open then
      open = open .. " " .. escape(text)
    else
      close()
      if kind ~= "law" or not (out[#out] or ""):match "^%- " then blank() end
      open = (kind == "law" and "- " or "") .. escape(text)
    end
    last = line
  end
  close()
  blank()
end

-- ---------------------------------------------------------------- pages

local MADE = "<!-- Made by docs/generate.lua from include/moontile%s.h: change that. -->"

-- The enumerators of an enumeration without a name: the first of many.
local function enumerators_in(text)
  local names = {}
  for name in text:gsub("/%*.-%*/", ""):gsub("^.-{", ""):gmatch "([%w_]+) ?=?[^,}]*[,}]" do
    names[#names + 1] = name:match "^MT_" and name or nil
  end
  return #names > 4 and names[1] .. " and others" or table.concat(names, ", ")
end

-- What is not an item of functions: the names of its types and constants, for its heading.
local function types_in(code)
  local names = {}
  for _, text in ipairs(code) do
    local plain = text:gsub("/%*.-%*/", ""):gsub("%b{}", "{}")
    names[#names + 1] = plain:match "^#define ([%w_]+)" or plain:match "([%w_]+)%s*;%s*$"
      or text:match "^typedef [^;]-%(%*([%w_]+)%)" or text:match "^typedef %w+ ([%w_]+) %("
      or plain:match "^enum" and enumerators_in(text) or nil
  end
  return names
end

local function heading_of(item)
  local names = #item.names > 0 and item.names or types_in(item.code)
  return table.concat(names, ", ")
end

-- The names and sentences of the headers, as moontile.h includes them; lua.h and vm.h last.
local function list_of_headers()
  local list = {}
  for name in read "include/moontile.h":gmatch '#include "moontile/(%w+)%.h"' do
    list[#list + 1] = name
  end
  list[#list + 1] = "lua"
  list[#list + 1] = "vm"
  return list
end

-- Where each function is described: name -> "page.md#anchor".
local function places_of(parsed, anchor)
  local places = {}
  for name, header in pairs(parsed) do
    for _, item in ipairs(header) do
      for _, f in ipairs(item.names or {}) do
        places[f] = name .. ".md#" .. anchor(heading_of(item))
      end
    end
  end
  return places
end

-- Names of functions lead to where they are; other names of C are code.
local function linked(text, places, own)
  return (text:gsub("%f[%w_][mM][tT]\\?_[%w_\\]+", function(name)
    local plain = name:gsub("\\", "")
    if own[plain] or not places[plain] then return "`" .. plain .. "`" end
    return ("[`%s`](%s)"):format(plain, places[plain])
  end))
end

local function words_of(escape, places, own)
  return function(text)
    return (text:gsub("([^`]*)(`?[^`]*`?)", function(plain, code)
      return linked(escape(plain), places, own) .. code
    end))
  end
end

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

-- Without the first line (the name and the sentence) and the licence.
local function about_of(header)
  local lines = {}
  for i = 2, #header.about do
    if not header.about[i]:match "^SPDX" then lines[#lines + 1] = header.about[i] end
  end
  return lines
end

local function sentence(text) return text:gsub("^%l", string.upper) end

local function add_item(out, item, escape, places)
  local heading = heading_of(item)
  if #item.code > 0 then
    out[#out + 1] = "### " .. heading:gsub("[_]%f[^%w_]", "\\_")
    out[#out + 1] = ""
    out[#out + 1] = "```c"
    for _, code in ipairs(item.code) do out[#out + 1] = code end
    out[#out + 1] = "```"
    out[#out + 1] = ""
  end
  add_words(out, item.words, words_of(escape, places, set_of(item.names)))
end

local function page(name, header, escape, places)
  local out = { "# " .. escape(name .. ".h"), "", MADE:format("/" .. name), "" }
  out[#out + 1] = escape((sentence(header.title))) .. " [The C API](README.md)"
  out[#out + 1] = ""
  add_words(out, about_of(header), words_of(escape, places, {}))
  for _, item in ipairs(header) do
    if item.section then
      out[#out + 1] = "## " .. escape((sentence(item.section)))
      out[#out + 1] = ""
      add_words(out, item.words, words_of(escape, places, {}))
    else
      add_item(out, item, escape, places)
    end
  end
  if name == "types" then
    out[#out + 1] = "## The list of data types\n\n```c\n" .. read(HEADERS .. "dtypes.def") .. "```"
  end
  while out[#out] == "" do out[#out] = nil end
  return table.concat(out, "\n") .. "\n"
end

local OPENING = [[
`#include "moontile.h"` has all but the last two of these headers, each of which can be included by
itself; `moontile/lua.h` is for programs that have a Lua state, `moontile/vm.h` for
those that want one with limits. How they are built and linked:
[in a C program](../manual/embedding.md). From Lua, with examples:
[all functions](../reference/README.md).]]

local function index(parsed, names, escape, places)
  local top = headers.parse(read "include/moontile.h")
  local out = { "# The C API", "", MADE:format "*", "", OPENING, "" }
  add_words(out, about_of(top), words_of(escape, places, {}))
  for _, name in ipairs(names) do
    out[#out + 1] = ("## [moontile/%s.h](%s.md)"):format(name, name)
    out[#out + 1] = ""
    out[#out + 1] = escape((sentence(parsed[name].title)))
    local links = {}
    for _, item in ipairs(parsed[name]) do
      for _, f in ipairs(item.names or {}) do
        links[#links + 1] = ("[`%s`](%s)"):format(f, places[f])
      end
    end
    if #links > 0 then
      out[#out + 1] = ""
      out[#out + 1] = table.concat(links, ", ")
    end
    out[#out + 1] = ""
  end
  out[#out] = nil
  return table.concat(out, "\n") .. "\n"
end

function headers.pages(escape, anchor)
  local names, parsed, files = list_of_headers(), {}, {}
  for _, name in ipairs(names) do
    parsed[name] = headers.parse(read(HEADERS .. name .. ".h"))
  end
  local places = places_of(parsed, anchor)
  for _, name in ipairs(names) do
    files[FOLDER .. name .. ".md"] = page(name, parsed[name], escape, places)
  end
  files[FOLDER .. "README.md"] = index(parsed, names, escape, places)
  return files
end

return headers
