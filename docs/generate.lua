-- generate.lua: the pages of functions and the man page, made from lua/moontile/meta; those of the
-- C API, made from include/moontile by headers.lua; the plots, from bench/RESULTS.md by plots.lua.
-- SPDX-License-Identifier: MIT
--
-- usage: moontile docs/generate.lua            writes them (./dev docs does it)
-- dofile "docs/generate.lua" inside of a spec  returns the files: { [path] = text }
-- spec/docs_spec.lua fails where a page is missing or is not what this makes.

local tile = require "moontile"
local console = require "moontile.console"
local meta, help = console.meta, console.help

local FOLDER = "docs/reference/"

local read = dofile "docs/read.lua"

local function block_of(entry) return getmetatable(entry).__index end

-- ---------------------------------------------------------------- Markdown

-- Text outside of `code` means no markup.
local function escape(text)
  return (text:gsub("([^`]*)(`?[^`]*`?)", function(plain, code)
    plain = plain:gsub("[*<|%[%]\\]", "\\%0")
    plain = plain:gsub("%f[%w_]_", "\\_"):gsub("([^\\])_%f[^%w_]", "%1\\_")
    return plain .. code
  end))
end

-- The anchor that a heading has on GitHub and in mdBook.
local function anchor(heading)
  return (heading:lower():gsub("[^%w _-]", ""):gsub(" ", "-"))
end

local function heading_of(entry)
  if entry.where == "tile" then return entry.name end
  return entry.name == "__call" and entry.where .. "()" or entry.where .. ":" .. entry.name
end

-- As a script writes the call.
local function signature_of(entry)
  return (entry.where == "tile" and "tile." or "") .. help.signature(entry.where, entry.name)
end

-- ---------------------------------------------------------------- entries

-- The entries of a group that share their text stand once: { entry, others... }.
local function families(group)
  local list, by_block = {}, {}
  for _, entry in ipairs(group.entries) do
    local block = block_of(entry)
    if by_block[block] then
      table.insert(by_block[block], entry)
    else
      by_block[block] = { entry }
      list[#list + 1] = by_block[block]
    end
  end
  return list
end

-- How else it is called: methods, and other names.
local function also(family)
  local names, seen = {}, { [signature_of(family[1])] = true }
  for i = 2, #family do
    local signature = signature_of(family[i])
    if not seen[signature] then names[#names + 1] = "`" .. signature .. "`" end
    seen[signature] = true
  end
  return #names > 0 and "Also " .. table.concat(names, ", ") .. "." or nil
end

local function add_params(out, entry)
  for _, param in ipairs(entry.params) do
    local kind = param.type:gsub("moontile%.", "")
    local what, more = kind:match "^(.-)  (.*)$"
    local absent = param.optional and " (may be absent)" or ""
    out[#out + 1] = ("* `%s`%s: `%s`%s"):format(param.name, absent, what or kind,
                                                more and " " .. escape(more) or "")
  end
  if #entry.params > 0 then out[#out + 1] = "" end
end

local function add_example(out, entry)
  out[#out + 1] = "```lua console"
  for _, line in ipairs(entry.example) do
    local code, printed = line:match "^(.-)%s*%-%->%s?(.*)$"
    code = code or line
    if code ~= "" then out[#out + 1] = "> " .. code end
    if printed then out[#out + 1] = printed end
  end
  out[#out + 1] = "```"
  out[#out + 1] = ""
end

local function add_family(out, family)
  local entry = family[1]
  local returns = table.concat(entry.returns, ", "):gsub("moontile%.", "")
  out[#out + 1] = "## " .. escape(heading_of(entry))
  out[#out + 1] = ""
  out[#out + 1] = "`" .. signature_of(entry) .. "`"
                  .. (returns ~= "" and " gives `" .. returns .. "`" or "")
  out[#out + 1] = ""
  out[#out + 1] = escape(entry.summary)
  out[#out + 1] = ""
  add_params(out, entry)
  for _, note in ipairs(entry.notes) do out[#out + 1] = "- " .. escape(note) end
  for _, fault in ipairs(entry.errors) do out[#out + 1] = "- **error**: " .. escape(fault) end
  out[#out + 1] = ""
  local others = also(family)
  if others then
    out[#out + 1] = others
    out[#out + 1] = ""
  end
  add_example(out, entry)
end

-- ---------------------------------------------------------------- fields

-- Tables of fields of the classes that a file declares.
local function add_fields(out, group)
  local class
  for line in (read("lua/moontile/meta/" .. group.name .. ".lua") .. "\n"):gmatch "(.-)\n" do
    class = line:match "^%-%-%-@class moontile%.(%w+)" or line:match "^%-%-%-@" and class or nil
    local field, kind = line:match "^%-%-%-@field ([%a_][%w_]*) (.+)$"
    if field and class and class ~= "moontile" then
      if out.class ~= class then
        out.class = class
        out[#out + 1] = "## Fields of " .. class
        out[#out + 1] = ""
      end
      local what, more = kind:gsub("moontile%.", ""):match "^(.-)  (.*)$"
      out[#out + 1] = ("- `%s`: `%s`%s"):format(field, what or kind:gsub("moontile%.", ""),
                                                more and " " .. escape(more) or "")
    elseif out.class and not class and out[#out] ~= "" then
      out[#out + 1] = ""
    end
  end
end

-- ---------------------------------------------------------------- pages

local MADE = "<!-- Made by docs/generate.lua from lua/moontile/meta/%s.lua: change that. -->"

local function page(group)
  local out = { "# " .. escape((group.title:gsub("%.$", ""))), "", MADE:format(group.name), "" }
  out[#out + 1] = "[All functions](README.md)"
  out[#out + 1] = ""
  local list = families(group)
  for _, family in ipairs(list) do
    local heading = heading_of(family[1])
    out[#out + 1] = ("- [`%s`](#%s): %s"):format(heading, anchor(heading),
                                                 escape(family[1].summary))
  end
  out[#out + 1] = ""
  for _, family in ipairs(list) do add_family(out, family) end
  add_fields(out, group)
  while out[#out] == "" do out[#out] = nil end
  return table.concat(out, "\n") .. "\n"
end

-- Each name once, with where it is described.
local function index()
  local out = { "# All functions", "", MADE:format "*", "",
                "The same is what `?name` says in the console, and what the Lua language server"
                .. " reads in `share/moontile/luals`.", "" }
  for _, group in ipairs(meta.groups) do
    out[#out + 1] = ("## [%s](%s.md)"):format(escape((group.title:gsub("%.$", ""))), group.name)
    out[#out + 1] = ""
    local links = {}
    for _, family in ipairs(families(group)) do
      local heading, seen = heading_of(family[1]), {}
      for _, entry in ipairs(family) do
        local name = entry.where == "tile" and entry.name or heading_of(entry)
        if not seen[entry.name] then
          links[#links + 1] = ("[`%s`](%s.md#%s)"):format(name, group.name, anchor(heading))
        end
        seen[entry.name] = true
      end
    end
    out[#out + 1] = table.concat(links, ", ")
    out[#out + 1] = ""
  end
  out[#out] = nil
  return table.concat(out, "\n") .. "\n"
end

-- ---------------------------------------------------------------- the man page

local function roff(text)
  text = text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub('"', "\\(dq")
  return (text:gsub("^([.'])", "\\&%1"):gsub("\n([.'])", "\n\\&%1"))
end

-- The lines of the program's usage: { option, what it does }.
local function options()
  local list = {}
  for line in read "src/main.c":match "usage_text%[%] =(.-)\n\n":gmatch '"(.-)\\n"' do
    local option, what = line:match "^  (%-.-)%s%s+(.+)$"
    if option then list[#list + 1] = { option, (what:gsub('\\"', '"')) } end
  end
  return list
end

local ABOUT = [==[
.TH MOONTILE 1 "" "moontile %s" "User Commands"
.\" Made by docs/generate.lua: change that, or lua/moontile/meta.
.SH NAME
moontile \- a language for tiling, hosted in Lua 5.4
.SH SYNOPSIS
.B moontile
[options] [script [args]]
.SH DESCRIPTION
moontile runs Lua scripts, as
.BR lua (1)
does, and carries the module \(lqmoontile\(rq: layouts of the CuTe algebra, partitions of tiles over
threads and values, proofs about them, copies and products on the CPU and on CUDA devices, pictures.
Without a script it is a console, in which an expression prints its values and ?name says what is
known of a name.
.SH OPTIONS
]==]

local ENDING = [[
.SH ENVIRONMENT
.TP
.B NO_COLOR
no colours in the console
.TP
.B MOONTILE_LIBEDIT
the library that edits lines, or none
.TP
.B LUA_INIT, LUA_PATH, LUA_CPATH
as for lua
.SH FILES
.TP
.I $XDG_CONFIG_HOME/moontile/init.lua
is run by the console first
.TP
.I $XDG_STATE_HOME/moontile/history
what was typed
.SH SEE ALSO
.BR lua (1)
]]

local function man()
  local out = { (ABOUT:format(tile._VERSION):gsub("\n$", "")) }
  for _, option in ipairs(options()) do
    out[#out + 1] = ".TP\n.B " .. roff(option[1]) .. "\n" .. roff(option[2])
  end
  out[#out + 1] = ".SH CONSOLE"
  for line in (help.COMMANDS .. "\n"):gmatch "(.-)\n" do
    local name, what = line:match "^(.-)%s%s+(.+)$"
    out[#out + 1] = ".TP\n.B " .. roff(name) .. "\n" .. roff(what)
  end
  out[#out + 1] = ".SH FUNCTIONS"
  for _, group in ipairs(meta.groups) do
    out[#out + 1] = ".SS " .. roff(group.title)
    for _, family in ipairs(families(group)) do
      local entry = family[1]
      out[#out + 1] = ".TP\n.B " .. roff(help.signature(entry.where, entry.name)) .. "\n"
                      .. roff(entry.summary)
    end
  end
  out[#out + 1] = ENDING
  return table.concat(out, "\n")
end

-- ---------------------------------------------------------------- pictures

local function pictures()
  local layout = tile.layout
  return {
    atom = tile.svg "SM80_16x8x16_F32F16F16F32_TN",
    swizzle = tile.svg(tile.swizzle(3, 4, 3)),
    hierarchy = tile.svg(layout { { 2, 2, 2 }, { 2, 2, 2 } }),
    copy = tile.svg(tile.tiled_copy { atom = "UniversalCopy<uint64_t>", dtype = "f32",
                                      thr = layout { 4, 8 }, val = layout { 2, 1 } }),
    conflicts = tile.svg(layout({ 8, 4 }, { 16, 1 }), { banks = "f32" }),
  }
end

-- ---------------------------------------------------------------- all

local files = { [FOLDER .. "README.md"] = index(), ["docs/moontile.1"] = man() }
for _, group in ipairs(meta.groups) do files[FOLDER .. group.name .. ".md"] = page(group) end
local headers = dofile "docs/headers.lua"
for path, text in pairs(headers.pages(escape, anchor)) do files[path] = text end
for path, text in pairs(dofile "docs/plots.lua".files()) do files[path] = text end
for name, text in pairs(pictures()) do files["docs/pictures/" .. name .. ".svg"] = text end

if arg and arg[0] and arg[0]:match "generate%.lua$" then
  for path, text in pairs(files) do
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end
end

return files
