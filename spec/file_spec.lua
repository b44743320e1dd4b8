-- file_spec.lua: which files are read, what is left of those that are written.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout = tile.layout

local dir = os.tmpname()
local function at(name) return dir .. "/" .. name end
local function sh(command, ...) return os.execute(command:format(...)) end

local function read(name)
  local file = io.open(name, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local function write(name, text)
  local file = assert(io.open(name, "wb"))
  file:write(text)
  file:close()
  return name
end

local function output(command, ...)
  local pipe = assert(io.popen(command:format(...)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local function counted(n) return tile.tensor("u8", layout(n)):fill(7) end

setup(function() os.remove(dir); assert(sh("mkdir %s", dir)) end)
teardown(function() sh("rm -r %s", dir) end)

describe("a file that is saved", function()
  after_each(function() assert.equal("", output("ls -A %s | grep '^[.]moontile' || :", dir)) end)

  it("has the permissions of the one whose place it takes", function()
    write(at "secret.npy", "old")
    assert(sh("chmod 640 %s", at "secret.npy"))
    assert(counted(4):save(at "secret.npy"))
    assert.equal("-rw-r-----", output("ls -l %s", at "secret.npy"):match "^%S%S%S%S%S%S%S%S%S%S")
  end)

  it("has those that the process gives if it is new", function()
    assert(sh("rm -f %s", at "new.npy"))
    assert(counted(4):save(at "new.npy"))
    write(at "other", "")
    local mode = "^%S%S%S%S%S%S%S%S%S%S"
    assert.equal(output("ls -l %s", at "other"):match(mode),
                 output("ls -l %s", at "new.npy"):match(mode))
  end)

  it("stands where a symbolic link leads", function()
    write(at "target.npy", "old")
    assert(sh("ln -sf target.npy %s", at "link.npy"))
    assert(counted(4):save(at "link.npy"))
    assert.equal("target.npy\n", output("readlink %s", at "link.npy"))
    assert.equal(4, tile.load(at "target.npy"):size())
  end)

  it("is none where a link leads nowhere", function()
    assert(sh("ln -sf nowhere.npy %s", at "lost.npy"))
    local ok, message, code = counted(4):save(at "lost.npy")
    assert.same({ nil, at "lost.npy" .. ": No such file or directory", "EIO" },
                { ok, message, code })
  end)

  it("leaves other names of the old one the old data", function()
    write(at "one.npy", "old")
    assert(sh("ln -f %s %s", at "one.npy", at "two.npy"))
    assert(counted(4):save(at "one.npy"))
    assert.equal("old", read(at "two.npy"))
  end)

  it("may be read by who had opened the old one", function()
    local T = counted(1000)
    assert(T:save(at "both.npy"))
    local file = assert(io.open(at "both.npy", "rb"))
    assert(counted(4):save(at "both.npy"))
    assert.equal(1000, #file:read "a" - 128)
    file:close()
  end)
end)

describe("no regular file", function()
  local KINDS = {
    { "fifo", "mkfifo %s", "a FIFO: only regular files are read and written" },
    { "folder", "mkdir -p %s", "Is a directory" },
    { "device", "ln -sf /dev/null %s", "a device: only regular files are read and written" },
    { "full", "ln -sf /dev/full %s", "a device: only regular files are read and written" },
    { "endless", "ln -sf /dev/zero %s", "a device: only regular files are read and written" },
  }
  for _, kind in ipairs(KINDS) do
    it("is read or written: " .. kind[1], function()
      local path = at(kind[1])
      assert(sh(kind[2], path))
      local T = counted(4)
      local plan = tile.plan(T, counted(4))
      for _, f in ipairs {
        function() return tile.load(path) end, function() return T:save(path) end,
        function() return tile.load_tuning(path) end,
        function() return tile.tune(plan, { rounds = 1, file = path }) end,
      } do
        assert.same({ nil, path .. ": " .. kind[3], "EIO" }, { f() })
      end
    end)
  end

  it("has a zero byte in its path", function()
    local T = counted(4)
    for _, f in ipairs {
      function() return tile.load "a\0b" end, function() return T:save "a\0b" end,
      function() return tile.load_tuning "a\0b" end,
    } do
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.truthy(message:find("the path has a zero byte in it", 1, true))
    end
  end)
end)

describe("a line of tuning", function()
  local good = "0123456789abcdef\tsome cpu, 2 threads\tcopy_strided\t16"
  -- The text, how many lines it has, how many of them are broken.
  local ROWS = {
    { "", 0, 0 }, { "\n\n \t \n", 0, 0 }, { good, 1, 0 }, { good .. "\n", 1, 0 },
    { good .. "\nsome text\n" .. good .. "\n", 2, 1 },
    { "some text", 0, 1 }, { "\0\n" .. good, 1, 1 }, { good .. "\0\n", 0, 1 },
    { good .. "0000", 0, 1 }, { good .. "384\n", 0, 1 }, { good:sub(1, -2) .. "024\n", 1, 0 },
    { good:sub(1, -3) .. "0", 0, 1 }, { good:sub(1, -3) .. "-16", 0, 1 },
    { good:sub(1, -3) .. "16.0", 0, 1 }, { good:sub(1, -3) .. "99999999999999999999", 0, 1 },
    { good:sub(1, -3), 0, 1 }, { "g" .. good:sub(2), 0, 1 }, { "0" .. good, 0, 1 },
    { good:gsub("_", "-"), 0, 1 }, { good:gsub("some cpu", ("x"):rep(200)), 0, 1 },
    { good:gsub("copy_strided", ("x"):rep(64)), 0, 1 }, { good .. "\r\n", 0, 1 },
    { "\27Lua\x54\0\x19\x93\r\n\x1a\n", 0, 2 }, { good .. "\n" .. good:sub(1, 30), 1, 1 },
  }
  for i, row in ipairs(ROWS) do
    it("that is broken costs that line: " .. i, function()
      local lines, broken = tile.load_tuning(write(at "tuning", row[1]))
      assert.same({ row[2], row[3] }, { lines, broken })
    end)
  end

  it("is not glued to one that was cut", function()
    local plan = tile.plan(counted(64), counted(64))
    write(at "cut", good:sub(1, 30))
    assert(tile.tune(plan, { rounds = 1, file = at "cut" }))
    assert.same({ 1, 1 }, { tile.load_tuning(at "cut") })
    assert.equal(good:sub(1, 30) .. "\n", read(at "cut"):sub(1, 31))
  end)

  it("is one of not too many", function()
    write(at "long", ("x"):rep(5 << 20))
    write(at "many", ("\n"):rep(1 << 17))
    for _, name in ipairs { "long", "many" } do
      local lines, message, code = tile.load_tuning(at(name))
      assert.same({ nil, at(name) ..
                      ": more than 4194304 bytes or 65536 lines are no file of tuning",
                    "EFORMAT" }, { lines, message, code })
    end
  end)
end)
