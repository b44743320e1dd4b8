-- shrink.lua: leaves lines out of the log of a case, as long as it fails in the same way.
-- SPDX-License-Identifier: MIT

local function read_lines(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = line end
  return list
end

local function write_lines(path, list)
  local f = assert(io.open(path, "w"))
  f:write(table.concat(list, "\n"), "\n")
  f:close()
end

-- How it failed, in a word: the law that is broken, the sanitizer's summary, or a signal.
local function kind_of(said, status, code)
  local where = said:match "SUMMARY: (%w+: %S+)" or said:match "law (%S+):" or
                said:match "(runtime error: [^\n]*)"
  return where or status .. " " .. code
end

-- What becomes of these lines in a process of their own; nil: nothing.
local function try(list, options)
  local path = options.shrink .. ".try"
  write_lines(path, list)
  local command = ("timeout -s KILL 60 '%s' '%s' --replay '%s' --scratch '%s' %s >'%s.out' 2>&1")
    :format(arg[-1], arg[0], path, options.scratch,
            options.libcuda and "--libcuda '" .. options.libcuda .. "'" or "", path)
  local ok, status, code = os.execute(command)
  local f = assert(io.open(path .. ".out"))
  local said = f:read "a"
  f:close()
  return not ok and kind_of(said, status, code) or nil
end

local function without(list, first, n)
  local rest = {}
  for i, line in ipairs(list) do
    if i < first or i >= first + n then rest[#rest + 1] = line end
  end
  return rest
end

-- From large pieces to single lines, from the last on.
return function(options)
  local list = read_lines(options.shrink)
  local kind = try(list, options)
  if not kind then
    io.write("surface: these lines alone do not fail\n")
    os.exit(2, true)
  end
  local n = #list // 2
  while n >= 1 do
    for first = #list - n + 1, 1 - n + 1, -n do
      local rest = without(list, math.max(1, first), n)
      if #rest < #list and try(rest, options) == kind then list = rest end
    end
    n = n // 2
  end
  write_lines(options.shrink .. ".small", list)
  io.write("surface: ", kind, "\n", table.concat(list, "\n"), "\n")
end
