-- walls.lua: the walls of the house, as a test over the sources and over what was built.
-- usage: walls.lua ROOT libmoontile.a libmoontile.so moontile.so moontile NM BUILD_TYPE HARDENED
--                  OBJECTS: a file with the paths of all objects, a line each
-- SPDX-License-Identifier: MIT

local ROOT, STATIC, SHARED, MODULE, PROGRAM, NM, BUILD_TYPE, HARDENED, OBJECTS =
  table.unpack(arg)
local MAX_FUNCTION, MAX_FILE, MAX_COLUMNS = 60, 500, 90
local MAX_OURS = 40               -- lines of a function in src and kernels

local broken = {}
local function fail(format, ...) broken[#broken + 1] = format:format(...) end

local function lines_of(command)
  local pipe, lines = assert(io.popen(command)), {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  assert(pipe:close(), command)
  return lines
end

-- Files of a folder, by their names relative to ROOT.
local function files(dir, pattern)
  local found = {}
  for _, line in ipairs(lines_of(("find '%s/%s' -type f"):format(ROOT, dir))) do
    local name = line:sub(#ROOT + 2)
    if name:match(pattern) then found[#found + 1] = name end
  end
  table.sort(found)
  return found
end

local function read(name)
  local f = assert(io.open(ROOT .. "/" .. name))
  local text = f:read "a"
  f:close()
  return text
end

local code_of = dofile(ROOT .. "/spec/walls/code.lua")

local function each_line(text)
  local n = 0
  return coroutine.wrap(function()
    for line in (text:gsub("\n?$", "\n")):gmatch "(.-)\n" do
      n = n + 1
      coroutine.yield(n, line)
    end
  end)
end

-- ---- who includes what

local rooms = dofile(ROOT .. "/spec/walls/rooms.lua")
local order = rooms.order(read "src/rooms.txt")

local function check_rooms()
  local found = {}
  for _, name in ipairs(files("src", "%.[ch]$")) do found[name] = "\n" .. read(name) end
  rooms.check_includes(order, found, fail)
  rooms.check_circles(found, fail)
  local nm = ("xargs '%s' -A -P < '%s'"):format(NM, OBJECTS)
  if not rooms.check_symbols(order, lines_of(nm), fail) then fail("no object was read") end
end

-- What is not ours: Lua's headers are for the binding, the driver's names for src/cuda.
local function check_foreign(name, text)
  local room = rooms.of(name)
  local lua = room == "binding" or room == "vm" or room == "console" or room == "main.c"
  for n, line in each_line(text) do
    local file = line:match '^%s*#%s*include%s*[<"](.-)[>"]' or ""
    if (file:match "^lua" or file == "lauxlib.h" or file == "moontile/lua.h") and not lua then
      fail("%s:%d: %s is for the binding and the rooms above it only", name, n, file)
    end
    if file:match "^cuda[%a_]*%.h$" or file:match "^nv" or file:match "^cu%a*%.h$" then
      fail("%s:%d: %s: no CUDA header belongs in src", name, n, file)
    end
  end
  if room == "cuda" then return end
  for n, line in each_line(code_of(text)) do
    for word in line:gmatch "%f[%w_]cu%u[%w_]*" do
      fail("%s:%d: the driver's %s belongs to src/cuda", name, n, word)
    end
  end
end

local function check_includes()
  check_rooms()
  for _, name in ipairs(files("src", "%.[chS]$")) do check_foreign(name, read(name)) end
  for _, name in ipairs(files("kernels", "%.cuh?$")) do
    for n, line in each_line(read(name)) do
      local file = line:match '^%s*#%s*include%s*[<"](.-)[>"]'
      local kind = file and file:match "%.%a+$"
      if file and not file:match "desc%.h$" and kind ~= ".cuh" and kind ~= ".def" then
        fail("%s:%d: %s is no .def or .cuh file, nor a descriptor (*desc.h)", name, n, file)
      end
    end
  end
end

-- ---- sizes

local function check_columns(name, text)
  if name:match "^spec/" or name:match "^bench/" then return end
  for n, line in each_line(text) do
    local columns = utf8.len(line)
    if columns > MAX_COLUMNS then
      fail("%s:%d: a line of %d columns, %d is the most", name, n, columns, MAX_COLUMNS)
    end
  end
end

-- Functions of C: from a line at column 0 that opens a brace to the brace at column 0.
local function check_c(name, text)
  check_columns(name, text)
  local first, title
  for n, line in each_line(text) do
    if not first and line:match "^[%a].*{%s*$" and not line:match "^extern \"C\"" then
      first, title = n, line
    elseif first and line:match "^}" then
      local size = n - first + 1
      local most = (name:match "^src" or name:match "^kernels") and MAX_OURS or MAX_FUNCTION
      if size > most and title:match "%(" then
        fail("%s:%d: a function of %d lines, %d is the most: %s", name, first, size,
             most, title)
      end
      first = nil
    end
  end
end

-- Functions of Lua: from `function ...` to the `end` at the same column. Blocks of specs
-- (describe, it) are not functions in this sense.
local function check_lua_functions(name, text)
  local open = {}
  for n, line in each_line(text) do
    local indent, rest = line:match "^( *)(.*)$"
    local spec = rest:match "^describe" or rest:match "^insulate"
    if rest:match "%f[%w_]function%f[^%w_][^)]*%)%s*$" and not spec then
      open[#indent] = n
    elseif rest:match "^end%f[^%w_]" and open[#indent] then
      local size = n - open[#indent] + 1
      if size > MAX_FUNCTION then
        fail("%s:%d: a function of %d lines, %d is the most", name, open[#indent], size,
             MAX_FUNCTION)
      end
      open[#indent] = nil
    end
  end
end

local function check_sizes()
  for _, dir in ipairs { "include", "src", "kernels", "lua", "spec", "examples", "bench" } do
    for _, name in ipairs(files(dir, "%.%a+$")) do
      local kind = name:match "%.(%a+)$"
      local c = kind:match "^[ch]$" or kind:match "^cuh?$"
      if (c or kind == "lua") and not name:match "golden" then
        local text, count = read(name), 0
        for _ in text:gmatch "\n" do count = count + 1 end
        if count > MAX_FILE then
          fail("%s: a file of %d lines, %d is the most", name, count, MAX_FILE)
        end
        (c and check_c or check_lua_functions)(name, text)
        if not text:find("SPDX-License-Identifier: MIT", 1, true) then
          fail("%s: no SPDX line", name)
        end
      end
    end
  end
end

-- ---- what is said of the tree

-- Every room is in the picture; every file that is named is there.
local function check_docs()
  local picture = read "docs/architecture.md"
  for room in pairs(order.rank) do
    if not picture:find(room, 1, true) then fail("docs/architecture.md: no room %s", room) end
  end
  for _, name in ipairs { "docs/architecture.md", "CONTRIBUTING.md" } do
    for n, line in each_line(read(name)) do
      for path in line:gmatch "`([%w_]+/[%w_/]+%.[%a]+)`" do
        local found = path:find("NAME", 1, true) or path:find "^build"   -- or made by a build
        for _, dir in ipairs { "", "src/", "include/", "kernels/" } do
          local f = not found and io.open(ROOT .. "/" .. dir .. path)
          if f then f:close(); found = true end
        end
        if not found then fail("%s:%d: there is no %s", name, n, path) end
      end
    end
  end
end

-- ---- what was built

local FORBIDDEN = {
  abort = 1, exit = 1, _exit = 1, _Exit = 1, quick_exit = 1, atexit = 1, printf = 1,
  vprintf = 1, fprintf = 1, vfprintf = 1, puts = 1, putchar = 1, fputs = 1, fwrite = 1,
  perror = 1, stdout = 1, stderr = 1, signal = 1, sigaction = 1, raise = 1, setlocale = 1,
  system = 1, popen = 1, getenv = 1, secure_getenv = 1, setenv = 1, putenv = 1, errx = 1,
  warn = 1, strtok = 1, __printf_chk = 1, __fprintf_chk = 1, __vfprintf_chk = 1,
  __assert_fail = BUILD_TYPE ~= "Debug" and 1 or nil,
}

-- Imports, and data that can be written, of the objects of an archive. (Constant tables of
-- pointers lie in .data.rel.ro, which is written once, by the linker.)
local function check_objects(archive, is_core)
  local object = "?"
  for _, line in ipairs(lines_of(("'%s' -f sysv '%s'"):format(NM, archive))) do
    object = line:match "^Symbols from .*%[(.-)%]:$" or object
    local symbol, kind, section = line:match "^(%S+) *|[^|]*| *(%a) *|.*|([^|]*)$"
    if kind == "U" then
      local plain = symbol:gsub("@.*", "")
      if FORBIDDEN[plain] and not (plain == "fwrite" and not is_core) then
        fail("%s calls %s", object, plain)
      end
      if is_core and plain:match "^lua" then
        fail("%s: the core knows no Lua: %s", object, plain)
      end
      if plain:match "^cu%u" then fail("%s: needs the driver: %s", object, plain) end
    elseif kind and kind:match "[bBdDCsSgG]" and not section:match "^%.data%.rel%.ro" then
      fail("%s: %s is static data that can be written", object, symbol)
    end
  end
end

-- What a library asks the system for, and its data that can be written: some bytes of the
-- compiler's own.
local function check_library(file)
  for _, line in ipairs(lines_of(("'%s' -D --undefined-only '%s'"):format(NM, file))) do
    local symbol = line:match "U ([%w_]+)"
    if symbol and FORBIDDEN[symbol] and symbol ~= "fwrite" then
      fail("%s calls %s", file, symbol)
    end
  end
  local most = 64
  for _, line in ipairs(lines_of(("readelf -SW '%s'"):format(file))) do
    local section, size = line:match " (%.%a+) +%u+ +%x+ %x+ (%x+)"
    if (section == ".data" or section == ".bss") and tonumber(size, 16) > most then
      fail("%s: %d bytes of %s can be written", file, tonumber(size, 16), section)
    end
  end
end

-- The name of a version is a symbol, too.
local function check_exports(file, pattern, what)
  local some
  for _, line in ipairs(lines_of(("'%s' -D --defined-only '%s'"):format(NM, file))) do
    local symbol = not line:find " A MOONTILE_[%d.]+$" and line:match " %a (%S+)$"
    if symbol and symbol:match(pattern) then
      some = true
    elseif symbol then
      fail("%s exports %s, which is not %s", file, symbol, what)
    end
  end
  if not some then fail("%s exports nothing", file) end
end

-- Only libraries of the C language are needed at run time.
local function check_needed(file)
  for _, line in ipairs(lines_of(("readelf -d '%s'"):format(file))) do
    local needed = line:match "%(NEEDED%).*%[(.-)%]"
    if needed and not needed:match "^libc%." and not needed:match "^libm%."
       and not needed:match "^libpthread" and not needed:match "^libdl%."
       and not needed:match "^ld%-linux" then
      fail("%s needs %s", file, needed)
    end
  end
end

-- What the compiler was told to harden, as far as it shows: main program and module.
local function check_hardened(file, is_program)
  local text = table.concat(lines_of(("readelf -hldnsW '%s'"):format(file)), "\n")
  local function want(name, pattern)
    if HARDENED:find(name, 1, true) and not text:find(pattern) then
      fail("%s: %s does not show: no %s", file, name, pattern)
    end
  end
  want("relro", "GNU_RELRO")
  want("now", "BIND_NOW")
  want("stack-protector", "__stack_chk_fail")
  want("fortify", "__v?snprintf_chk")
  if is_program then want("pie", "Type:%s+DYN") end
  if text:find("GNU_STACK%s[^\n]*E%s+0x") then fail("%s: its stack can be executed", file) end
  if text:find("TEXTREL", 1, true) then fail("%s: its code is written to", file) end
end

check_includes()
check_sizes()
check_docs()
check_objects(STATIC, true)
check_objects((STATIC:gsub("libmoontile%.a$", "libmoontile_lua.a")), false)
if BUILD_TYPE ~= "Debug" then
  check_library(SHARED)
  check_library(MODULE)
end
check_exports(SHARED, "^mt_%l[%w_]*@@MOONTILE_[%d.]+$", "a function of moontile.h")
check_exports(MODULE, "^luaopen_moontile", "luaopen_moontile")
check_needed(SHARED)
check_needed(MODULE)
check_hardened(MODULE)
check_hardened(PROGRAM, true)

for _, text in ipairs(broken) do print(text) end
print(("%d walls broken"):format(#broken))
os.exit(#broken == 0, true)
