-- terminal_spec.lua: the console in a terminal: editing, history, completion, pasting, Ctrl-C.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*)/"
local screen = dofile(here .. "/screen.lua")

local scratch = assert(os.getenv "MOONTILE_SCRATCH", "MOONTILE_SCRATCH is not set")
local UP, DOWN, LEFT, CONTROL_A, CONTROL_C, CONTROL_D = "\27[A", "\27[B", "\27[D", "\1", "\3", "\4"
local PASTE, PASTED = "\27[200~", "\27[201~"

local function folder()
  return ("%s/%d-%d"):format(scratch, os.time(), require "moontile_pty".now() * 1e6 // 1 | 0)
end

local function open(options)
  options = options or {}
  options.environment = options.environment or {}
  local e = options.environment
  e.XDG_STATE_HOME = e.XDG_STATE_HOME or folder()
  e.XDG_CONFIG_HOME = e.XDG_CONFIG_HOME or folder()
  e.NO_COLOR = e.NO_COLOR or "1"
  local s = screen.open(options)
  s:prompt()
  return s
end

describe("a terminal", function()
  it("greets, prints, ends", function()
    local s = open()
    assert.truthy(s:text():find "moontile %d+%.%d+%.%d+: ")
    assert.equal("42", s:enter "6 * 7")
    assert.equal("(4,(2,3)):(4,(2,16))", s:enter "layout(24, 2) / layout(4, 2)")
    s:type "exit\r"
    assert.equal(0, s:ended())
    s = open()
    s:type(CONTROL_D)
    assert.equal(0, s:ended())
  end)

  it("edits a line", function()
    local s = open()
    s:type("layout(4)" .. LEFT)
    s:type(", 2" .. CONTROL_A)
    s:prompt "layout(4, 2)"
    assert.equal("4:2", s:enter "")
    s:type "layout{4, 8}\127\127\127"
    s:prompt "layout{4,"
    assert.equal("(4,2):(1,4)", s:enter " 2}")
    assert.equal("'ä' is 2", s:enter "('%s is %d'):format(\"'ä'\", #'ä')")
  end)

  it("has a width, and cuts pictures to it", function()
    local s = open { columns = 60 }
    for line in s:enter("layout{ 2, 32 }:print_layout()"):gmatch "[^\n]+" do
      assert.is_true(#line <= 60)
    end
    s.terminal:resize(100)
    s.columns = 100
    local longest = 0
    for line in s:enter("layout{ 2, 32 }:print_layout()"):gmatch "[^\n]+" do
      longest = math.max(longest, #line)
    end
    assert.equal(100, longest)
  end)

  it("shows its line again when it goes on after Ctrl-Z", function()
    local s = open()
    s:type "6 * 7"
    s:prompt "6 * 7"
    while s:draw(100) do end                            -- the editor may write the last key again
    s.shown, s.row, s.column = { {} }, 1, 1             -- as after `fg`
    s.terminal:suspend()
    s:wait("the line again", function() return s:text():find "> 6 %* 7$" and s:reads() end)
    assert.equal("42", s:enter "")
    s:type "print 'go' while true do end\r"
    s:wait_for "\ngo"
    s.terminal:suspend()
    s:interrupt()
    assert.equal("42", s:enter "6 * 7")
  end)

  it("shows colours, unless NO_COLOR is set", function()
    local s = open { environment = { NO_COLOR = "" } }
    s:enter "error 'bad'"
    assert.is_true(s.sequences["31m"])
    s = open()
    s:enter "error 'bad'"
    assert.is_nil(s.sequences["31m"])
    assert.equal("bad", s:enter "error 'bad'")
    s = open { environment = { NO_COLOR = "", TERM = "dumb" } }
    s:enter "error 'bad'"
    assert.is_nil(s.sequences["31m"])
  end)
end)

describe("the history", function()
  it("comes back, in the session and after a restart", function()
    local state = folder()
    local s = open { environment = { XDG_STATE_HOME = state } }
    s:enter "first = 1"
    s:enter "second = 2"
    s:enter "second = 2"
    s:type(UP)
    s:prompt "second = 2"
    s:type(UP)
    s:prompt "first = 1"
    s:type(DOWN)
    s:prompt "second = 2"
    s:interrupt()
    s:type "exit\r"
    s:ended()
    s = open { environment = { XDG_STATE_HOME = state } }
    s:type(UP .. UP .. UP)
    s:prompt "first = 1"
    local lines = {}
    for line in io.lines(state .. "/moontile/history") do lines[#lines + 1] = line end
    assert.same({ "first = 1", "second = 2", "exit" }, lines)
  end)

  it("is not kept with -E", function()
    local state = folder()
    local s = open { arguments = { "-E" }, environment = { XDG_STATE_HOME = state } }
    s:enter "first = 1"
    s:type(UP)
    s:prompt "first = 1"
    assert.is_nil(io.open(state .. "/moontile/history"))
  end)

  it("bears a folder that cannot be made", function()
    local s = open { environment = { XDG_STATE_HOME = "/proc/nowhere" } }
    assert.equal("2", s:enter "1 + 1")
    s:type(UP)
    s:prompt "1 + 1"
  end)

  it("is cut when it gets long", function()
    local state = folder()
    assert(os.execute("mkdir -p '" .. state .. "/moontile'"))
    local file = assert(io.open(state .. "/moontile/history", "w"))
    for i = 1, 2100 do file:write("x = ", i, "\n") end
    file:close()
    local s = open { environment = { XDG_STATE_HOME = state } }
    s:type(UP)
    s:prompt "x = 2100"
    local count = 0
    for _ in io.lines(state .. "/moontile/history") do count = count + 1 end
    assert.equal(1000, count)
  end)
end)

describe("completion", function()
  it("goes on as far as it is clear, then lists", function()
    local s = open()
    s:type "tile.lay\t"
    s:prompt "tile.layout"
    s:type "_\t"
    s:prompt "tile.layout_add"
    s:type "\21tile.zipped_\t\t"
    s:wait_for "zipped_divide  zipped_product"
    s:prompt "tile.zipped_"
    s:type "d\t"
    s:prompt "tile.zipped_divide"
  end)

  it("knows locals, methods, options, strings, files", function()
    local s = open()
    s:enter "local shape_of_mine = layout{4, 8}"
    for typed, becomes in pairs {
      ["shape_o\t"] = "shape_of_mine", ["shape_of_mine:zipped_d\t"] = "shape_of_mine:zipped_divide",
      ["tiled_mma{ perm\t"] = "tiled_mma{ permutation", ["mma_atom 'SM80_16x8x16_F32BF\t"] =
      "mma_atom 'SM80_16x8x16_F32BF16BF16F32_TN", ["tensor('bf\t"] = "tensor('bf16",
      ["tiled_copy{ atom = \"AutoV\t\""] = 'tiled_copy{ atom = "AutoVectorizingCopy"',
      ["device 'cpu:\t"] = "device 'cpu:checked", ["load '/etc/passw\t"] = "load '/etc/passwd",
      ["'ä', shape_o\t"] = "'ä', shape_of_mine",
    } do
      s:type(typed)
      s:prompt(becomes)
      s:interrupt()
    end
  end)
end)

describe("what is pasted", function()
  it("is lines, whatever is in it", function()
    local s = open()
    assert.is_true(s.sequences["?2004h"])
    s:type(PASTE .. "for i = 1, 2 do\n\tprint('\27[A', #'\t', i)\n\1end\r\n"
           .. "local kept = 'a\tb'\nkept" .. PASTED)
    s:prompt "kept"
    assert.equal("a  b", s:enter "")
    assert.truthy(s:text():find("\n%[A\t*%s*2%s+1\n%[A%s+2%s+2\n"))
  end)

  it("is many lines", function()
    local s, code = open(), {}
    for i = 1, 500 do code[i] = ("local v%d = %d; v%d = v%d + 1"):gsub("%%d", i % 50) end
    s:type(PASTE .. table.concat(code, "\n") .. "\nv49" .. PASTED)
    s:prompt "v49"
    assert.equal("50", s:enter "")
  end)
end)

describe("Ctrl-C", function()
  it("forgets a line, and a statement that is half typed", function()
    local s = open()
    s:type "half a li"
    s:prompt "half a li"
    s:interrupt()
    assert.equal("1", s:enter "1")
    s:type "for i = 1, 3 do\r"
    s:wait_for "\n>>"
    s:interrupt()
    assert.equal("2", s:enter "2")
    assert.is_nil(s:text():find("interrupted", 1, true))
  end)

  it("ends what runs, however often it comes", function()
    local s = open()
    s:type "print 'go' while true do end\r"
    s:wait_for "\ngo"
    s:type(CONTROL_C .. CONTROL_C)
    s:wait_for "interrupted!"
    s:prompt()
    assert.equal("3", s:enter "3")
    s:type(CONTROL_D)
    assert.equal(0, s:ended())
  end)
end)

describe("without libedit", function()
  it("lines are plain, and keys that edit do no harm", function()
    local s = open { plain = true, environment = { MOONTILE_LIBEDIT = "" } }
    s:type("1" .. UP .. LEFT .. " + 1\7\r")
    s:wait_for "\n2\n>"
    s:type("'" .. "\27OA" .. "x'\r")
    s:wait_for "\nx\n>"
    s:type("half" .. CONTROL_C)
    s:wait_for "^C\n>"
    s:type "'after'\r"
    s:wait_for "\nafter\n>"
    s:type(CONTROL_D)
    assert.equal(0, s:ended())
  end)

  it("a library that is none is none", function()
    local s = open { plain = true, environment = { MOONTILE_LIBEDIT = "libm.so.6" } }
    s:type "1 + 1\r"
    s:wait_for "\n2\n"
  end)
end)

-- Nothing but the screen is looked at, all of it.
describe("a session", function()
  local function below(s)
    local lines = s:lines()
    for i, line in ipairs(lines) do
      if line:find "^moontile" then return table.concat(lines, "\n", i + 1) end
    end
  end

  it("looks so: typed, completed, edited, wrong, drawn, interrupted, recalled", function()
    local state = folder()
    local s = open { environment = { XDG_STATE_HOME = state } }
    s:type "local A = tile.lay\t"
    s:prompt "local A = tile.layout"
    s:type "{ 2, 8 }"
    s:prompt "local A = tile.layout{ 2, 8 }"
    s:type("\127\127\127" .. "4 }")
    s:prompt "local A = tile.layout{ 2, 4 }"
    s:enter ""
    s:enter "A"
    s:enter "A(1, 3), A:nosuch()"
    s:enter "layuot(4)"
    s:enter ":draw A"
    s:type "print 'go' while true do end\r"
    s:wait_for "\ngo"
    s:interrupt()
    s:type "exit\r"
    assert.equal(0, s:ended())
    assert.equal([[
> local A = tile.layout{ 2, 4 }
> A
(2,4):(1,2)
> A(1, 3), A:nosuch()
Layout.nosuch: no such method
> layuot(4)
attempt to call a nil value (global 'layuot'); did you mean layout?
> :draw A
(2,4):(1,2)
     0   1   2   3
   +---+---+---+---+
 0 | 0 | 2 | 4 | 6 |
   +---+---+---+---+
 1 | 1 | 3 | 5 | 7 |
   +---+---+---+---+
> print 'go' while true do end
go
^Cinterrupted!
> exit]], below(s))
    s = open { environment = { XDG_STATE_HOME = state } }
    s:type(UP .. UP .. UP)
    s:prompt ":draw A"
    s:type(UP .. UP .. UP .. UP)
    s:prompt "local A = tile.layout{ 2, 4 }"
    s:enter ""
    assert.equal("8", s:enter "A:size()")
  end)
end)
