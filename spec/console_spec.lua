-- console_spec.lua: the console without a terminal: what lines give, and what is said of errors.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local console = require "moontile.console"

-- A session; what it prints and what it says of errors.
local function open(columns)
  local out, said = {}, {}
  local s = console.new {
    write = function(text) out[#out + 1] = text end,
    complain = function(text) said[#said + 1] = text end,
    columns = function() return columns end,
  }
  return s, function() return table.concat(out), table.concat(said) end
end

-- Feeds the lines of a text to a new session: what was printed, what was said, the last answer.
local function type_in(text, columns)
  local s, printed = open(columns)
  local answer, globals = nil, {}
  for name, value in pairs(_G) do globals[name] = value end
  for line in (text .. "\n"):gmatch "(.-)\n" do answer = s:feed(line) end
  for name in pairs(_G) do _G[name] = globals[name] end
  local out, said = printed()
  return out, said, answer
end

-- ---------------------------------------------------------------- tables of lines

--  what is typed, what is printed
local PRINTED = {
  { "1 + 1", "2\n" }, { "= 7", "7\n" }, { "return 7", "7\n" }, { "", "" }, { "-- nothing", "" },
  { "x = 5", "" }, { "nil, false", "nil\tfalse\n" }, { '"on"', "on\n" }, { "f = print;", "" },
  { "1 + 1;", "" }, { "x = 5;", "" }, { "'a;'", "a;\n" }, { "2 -- ;", "2\n" },
  { "layout(24, 2) / layout(4, 2)", "(4,(2,3)):(4,(2,16))\n" },
  { "layout({2, 3})(_, 1)", "(2):(1)\n" },
  { "tile.layout(4)(_G.tonumber '3')", "3\n" },
  { "(function() end)()", "" },
  -- several lines
  { "for i = 1, 2 do\nx = i\nend\nx", "2\n" }, { "layout({4,\n2})", "(4,2):(1,4)\n" },
  { "1 +\n2", "3\n" }, { "x = [[a\nb]]\nx", "a\nb\n" }, { "x = {\n1\n}\nx[1]", "1\n" },
  { "x = 'a\\\nb'\nx", "a\nb\n" }, { "--[[ a\ncomment ]] 3", "3\n" },
  -- locals stay
  { "local x = 5\nx", "5\n" }, { "local x, y = 1\nx, y", "1\tnil\n" }, { "local x\nx", "nil\n" },
  { "local x = 1\nlocal x = x + 1\nx", "2\n" }, { "local x = 1\nx = x + 1\nx, _G.x", "2\tnil\n" },
  { "local function f(n) return n < 2 and 1 or n * f(n - 1) end\nf(5)", "120\n" },
  { "local n = 0 local function inc() n = n + 1 end\ninc() inc()\nn", "2\n" },
  { "local n = 0\nfunction counted() n = n + 1 return n end\ncounted() counted()\nn", "2\n" },
  { "local n = 1\nlocal f = function() return n end\nlocal n = 2\nf(), n", "1\t2\n" },
  { "local a = 1 return a\na", "1\n1\n" }, { "do local inner = 1 end\ninner", "nil\n" },
  { "local c <const> = 5\nc", "5\n" }, { "local a <const>, b = 1, 2\nb = 3\na, b", "1\t3\n" },
  { "local load = 5\nload", "5\n" }, { "local t = {}\nt.x = 1\nt.x", "1\n" },
  { "for i = 1, 3 do local j = i end\nj", "nil\n" },
  { "local s = 'local x = 1'\nx == 1", "false\n" },
  { "local x = 3 -- the end\nx", "3\n" }, { "local x = 3;\nx", "3\n" },
  { "local f = function()\nlocal y = 2\nreturn y\nend\nf(), y", "2\tnil\n" },
  { "goto past ::past::", "" },
  -- results
  { "6 * 7\n_1, _, _1 + 1", "42\n42\t42\t43\n" }, { "1\n2\n3\n_1, _2, _3", "1\n2\n3\n3\t2\t1\n" },
  { "'a', 'b'\n_1, _2", "a\tb\na\tb\n" }, { "5;\n_", "5\n" }, { "1\nx = 2\n_1", "1\n1\n" },
  { "layout { 4, 8 }\n_:size()", "(4,8):(1,4)\n32\n" },
  { "layout { 4, 8 }\n_(_, 1)", "(4,8):(1,4)\n(4):(1)\n" }, { "3\n(_)", "3\n_\n" },
  { "3\n{ _ }", "3\n{_}\n" }, { "local _ = 7\n5\n_", "5\n7\n" },
  { "local layout, _ = tile.layout, tile._\n5\n_, tile._", "5\n5\t_\n" }, { "_", "_\n" },
  { "3\ntile._", "3\n_\n" }, { "1\n2\nfunction f() return _1 end\nf()", "1\n2\n2\n" },
  -- nil, message
  { "T = tile.load 'nofile.npy'", "nil\tnofile.npy: No such file or directory\tEIO\n" },
  { "local T = tile.load 'nofile.npy'\nT",
    "nil\tnofile.npy: No such file or directory\tEIO\nnil\n" },
  { "T, why = tile.load 'nofile.npy'", "" }, { "x = nil", "" }, { "x = 1, 'two'", "" },
  { "x = tile.load 'nofile.npy';", "" },
  { "x = tile.load 'nofile.npy' y = 2\ny", "2\n" },
  { "nil, 'no ' .. ('x'):rep(90) .. '\\nat all'", "nil\nno " .. ("x"):rep(90) .. "\nat all\n" },
}

describe("the console prints", function()
  for _, row in ipairs(PRINTED) do
    it("after " .. row[1]:gsub("\n", " | "), function()
      local out, said = type_in(row[1])
      assert.equal(row[2], out)
      assert.equal("", said)
    end)
  end
end)

--  what is typed, what is said of it
local SAID = {
  { "x = = 1", "unexpected symbol near '='\n" }, { "local x <foo> = 1", "unknown attribute 'foo'" },
  { "x = 1\n)", "unexpected symbol near ')'\n" },
  { "draw layout{4, 8}", "syntax error near 'layout'; did you mean draw(layout{4, 8})?\n" },
  { "tile.layout 4", "syntax error near '4'; did you mean tile.layout(4)?\n" },
  { "x = { 4\nA\n", "'}' expected (to close '{' at line 1) near 'A'\n" }, { "x y z", "syntax error near 'y'\n" }, { "1 2", "unexpected symbol near '1'\n" },
  { "local ä = 1", "<name> expected near ä: names have letters of ASCII\n" },
  { "x = 'ä' ü", "unexpected symbol near ü: names have letters of ASCII\n" },
  { "error 'bad'", "bad\n" }, { "error('bad', 0)", "bad\n" }, { "error {}", "(error object is a table value)\n" },
  { "error(nil)", "(error object is a nil value)\n" },
  { "error(setmetatable({}, { __tostring = function() return 'as text' end }))", "as text\n" },
  { "function deep() error 'down' end\ndeep()",
    "stdin:1: down\n  in function 'deep', stdin:1\n" },
  { "function deep()\n  error 'down'\nend\nfunction upper() deep() end\nupper()",
    "stdin:2: down\n  in function 'deep', stdin:2\n  in function 'upper', stdin:1\n" },
  { "local function deep() error 'down' end\npcall(deep) deep()",
    "stdin:1: down\n  in function 'deep', stdin:1\n" },
  { "tile.einsum(1)", "einsum: " },
  { "pcall(error) tile.einsum('ij', 2)", "einsum: " },
  { "do\nerror 'bad'\nend", "stdin:2: bad\n" },
  { "t = {}\nt.x.y", "attempt to index a nil value (field 'x')\n" },
  { "t = {}\nt.x.y -- why", "attempt to index a nil value (field 'x')\n" },
  { "t = {}\nx = t.x.y -- why", "attempt to index a nil value (field 'x')\n" },
  { "layout '(4,6,8):(2,3,5)' * layout(6, 3)",
    "composition: no layout R has R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3\n" },
  { "local c <const> = 5\nc = 6", "attempt to assign to const variable 'c'\n" },
  -- did you mean
  { "mma_atom(SM80_16x8x8_F32F16F16F32_TN)", "(string expected, got nil)\n"
    .. "  SM80_16x8x8_F32F16F16F32_TN is nil; "
    .. "names of atoms are texts: 'SM80_16x8x8_F32F16F16F32_TN'\n" },
  { "local panels = layout(4)\ncoalesce(pannels)", "pannels is nil; did you mean panels?\n" },
  { "local x\ncoalesce(x)", "(layout expected, got nil; coalesce takes A [, profile])\n" },
  { "layot", "no such name; did you mean layout?\n" },
  { "layot { 4 }", "attempt to call a nil value (global 'layot'); did you mean layout?\n" },
  { "composite(layout(4), layout(4))", "attempt to call a nil value (global 'composite')\n" },
  { "local first = 1\nfrist + 1",
    "attempt to perform arithmetic on a nil value (global 'frist'); did you mean first?\n" },
  { "tile.layot", "tile.layot: no such function; did you mean layout?\n" },
  { "layout(4):siez()", "Layout.siez: no such method; did you mean size?\n" },
  { "tile.inverse(layout(4))",
    "tile.inverse: no such function; did you mean left_inverse or right_inverse?\n" },
  { "tile.print_latex", "tile.print_latex: no such function; did you mean latex?\n" },
  { "layout{4, 8}:transpose()", "Layout.transpose: no such method; here it is select(2, 1)\n" },
  { "tile.product{2, 3}", "tile.product: no such function; here it is size\n" },
  { "nothing_like_it", "" }, { "x == nil", "" },
  { "tile.tiledMMA", "tile.tiledMMA: no such function; did you mean tiled_mma?\n" },
  { "MMA_Atom 'x'", "did you mean mma_atom?\n" },
  { "program_id(0)", "; a script says who does what and never runs as a thread: a block is a " },
  { "make_tensor", "no such name; here it is tensor\n" },
  { "partition_C(layout(4))", "; TiledMMA has one: TiledMMA:partition_C\n" },
  { "layout({4, 8}, LayoutRigth)", "LayoutRigth is nil; did you mean LayoutRight?\n" },
  { "local A = layout({4, 8}, rigth)", "rigth is nil\n" },
  { "layout(4).shape[1]", "shape is called: x:shape(...)\n" },
  { "layout(4).size - 1", "size is called: x:size(...)\n" },
  { "select(layout{4, 8}, 2)", "select is Lua's own, tile.select is moontile's\n" },
  { "'x' * layout(4)", "A: layout expected, got string; \"x\" is the text of no layout" },
  -- an end that is none
  { "function f() return f() + 1 end\nf()", "stack overflow" },
}

describe("the console says", function()
  for _, row in ipairs(SAID) do
    it("of " .. row[1]:gsub("\n", " | "), function()
      local _, said = type_in(row[1])
      if row[2] == "" then assert.equal("", said)
      else assert.truthy(said:find(row[2], 1, true), said) end
      assert.is_nil(said:find("[C]", 1, true))
      assert.is_nil(said:find("moontile/", 1, true))
      assert.is_true(select(2, said:gsub("\n", "")) < 16)
    end)
  end

  it("all of it", function()
    local _, said = type_in "error 'one'\nerror 'two'"
    assert.equal("one\ntwo\n", said)
  end)
end)

-- ---------------------------------------------------------------- a session

describe("a session", function()
  it("tells when a statement goes on, and when it ends", function()
    local s = open()
    assert.equal("more", s:feed "for i = 1, 3 do")
    assert.equal("more", s:feed "x = i")
    assert.is_true(s:feed "end")
    for _, word in ipairs { "exit", "quit" } do assert.is_false(s:feed(word)) end
    assert.is_true(s:feed "type(exit)")
  end)

  it("says what was not finished", function()
    local s, printed = open()
    s:feed "for i = 1"
    s:unfinished()
    assert.equal("',' expected near <eof>\n", (select(2, printed())))
  end)

  it("closes what is to be closed", function()
    local s = open()
    local closed = {}
    _G.note = function(name)
      return setmetatable({}, { __close = function() closed[#closed + 1] = name end })
    end
    s:feed "local a <close> = note 'a'"
    s:feed "local b <close> = note 'b'"
    assert.same({}, closed)
    s:feed "local a <close> = note 'another'"
    assert.same({ "a" }, closed)
    s:close()
    assert.same({ "a", "another", "b" }, closed)
    _G.note = nil
  end)

  it("bears that globals of Lua are taken away", function()
    local s, printed = open()
    local taken = { table = table, string = string, tostring = tostring, type = type, ipairs = ipairs,
                    load = load, debug = debug, xpcall = xpcall, select = select, math = math, io = io }
    for name in pairs(taken) do s:feed(name .. " = nil") end
    s:feed "{ 1, layout(4) }"
    s:feed "error 'bad'"
    for name, value in pairs(taken) do _G[name] = value end
    local out, said = printed()
    assert.equal("{1, 4:1}\n", out)
    assert.truthy(said:find "a nil value" or said:find "bad")
  end)

  it("has a state of its own", function()
    local one, other = open(), open()
    one:feed "local mine = 1"
    other:feed "mine"
    assert.same({ "mine" }, one.locals:names())
    assert.same({}, other.locals:names())
  end)
end)

-- ---------------------------------------------------------------- values

describe("a value", function()
  local rows = {
    { "{}", "{}" }, { "{ 1, 2, 3 }", "{1, 2, 3}" }, { "{ a = 1, 'x', [true] = 2 }", '{"x", [true] = 2, a = 1}' },
    { "{ { 1 }, { b = { 2 } } }", "{{1}, {b = {2}}}" }, { '{ "a\\nb", ["x y"] = 1 }', '{"a\\nb", ["x y"] = 1}' },
    { "{ print, layout(4) }", "{function, 4:1}" }, { "{ { { { { 1 } } } } }", "{{{{{...}}}}}" },
    { "layout { 4, { 2, 2 } }:shape()", "(4,(2,2))" }, { "{ layout { 4, 2 }:shape() }", "{(4,2)}" },
    { "1.5, 2^53, 1 // 1", "1.5\t9.007199254741e+15\t1" }, { "tile._, swizzle(2, 0, 3)", "_\tSw<2,0,3>" },
    { "tile.device 'cpu'", "cpu" },
  }
  for _, row in ipairs(rows) do
    it("as " .. row[2], function() assert.equal(row[2] .. "\n", (type_in(row[1]))) end)
  end

  it("that is long is broken, and cut", function()
    local out = type_in("x = {} for i = 1, 300 do x[i] = i end\nx", 40)
    for line in out:gmatch "[^\n]+" do assert.is_true(#line <= 40, line) end
    assert.truthy(out:find("... 200 more", 1, true))
    out = type_in("x = { 1 } x[2] = x\nx")
    assert.equal("{1, { itself }}\n", out)
  end)

  it("that is a picture is cut to the width of a terminal", function()
    local out = type_in("layout { 4, 32 }:print_layout()", 50)
    for line in out:gmatch "[^\n]+" do assert.is_true(#line <= 50, line) end
    assert.truthy(out:find(">\n", 1, true))
    assert.is_nil(type_in("layout { 4, 32 }:print_layout()"):find(">\n", 1, true))
  end)
end)

describe("a tensor", function()
  local rows = {
    { "tensor('i32', layout({ 3, 4 }, 'right')):fill { 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11 }",
      "tensor i32 (3,4):(4,1) cpu\n[[ 0  1  2  3]\n [ 4  5  6  7]\n [ 8  9 10 11]]\n" },
    { "tensor('f32', layout(4)):fill { 0, 0.1, -2.5, 100 }",
      "tensor f32 4:1 cpu\n[  0.    0.1  -2.5 100. ]\n" },
    { "tensor('f16', layout(2)):fill(0.3)", "tensor f16 2:1 cpu\n[0.3 0.3]\n" },
    { "tensor('f32', layout(3)):fill { 1e-9, 1, 0/0 }",
      "tensor f32 3:1 cpu\n[1e-09 1e+00   nan]\n" },
    { "tensor('bool', layout(2)):fill { 1, 0 }", "tensor bool 2:1 cpu\n[ true false]\n" },
    { "tensor('i8', layout { 2, 1, 2 })",
      "tensor i8 (2,1,2):(1,0,2) cpu\n[[[0 0]]\n\n [[0 0]]]\n" },
    { "tensor('i8', layout(0))", "tensor i8 0:1 cpu\n[]\n" },
    { "tensor('i8', layout { 2, { 2, 2 } })",
      "tensor i8 (2,(2,2)):(1,(2,4)) cpu\n[[0 0 0 0]\n [0 0 0 0]]\n" },
    { "tensor('i32', layout(2000)):fill(7)", "tensor i32 2000:1 cpu\n[7 7 7 ... 7 7 7]\n" },
    { "tensor('i32', layout { 2, 1000 }):fill(7)",
      "tensor i32 (2,1000):(1,2) cpu\n[[7 7 7 ... 7 7 7]\n [7 7 7 ... 7 7 7]]\n" },
    { "tensor('i32', layout { 1000, 2 }):fill(7)", "tensor i32 (1000,2):(1,1000) cpu\n[[7 7]\n [7 7]\n [7 7]"
      .. "\n ...\n [7 7]\n [7 7]\n [7 7]]\n" },
    { "tensor('i32', layout { 10, 7 }):fill(10):local_tile({ 4, 3 }, { 2, 2 })",
      "tensor i32 (4,3):(1,10) cpu, ragged: (4,3):(1@0,1@1) + (8,6) < (10,7)\n"
      .. "[[10  .  .]\n [10  .  .]\n [ .  .  .]\n [ .  .  .]]\n" },
  }
  for _, row in ipairs(rows) do
    it("shows its elements: " .. row[1], function() assert.equal(row[2], (type_in(row[1]))) end)
  end

  it("with many modes or none left is its name", function()
    assert.truthy(type_in("tensor('i8', layout { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 })"):match "cpu\n$")
    local out = type_in("T = tensor('i8', layout(2))\nT:free()\nT")
    assert.equal("tensor i8 2:1 cpu (freed)\n", out)
  end)

  it("breaks rows at the width of a terminal", function()
    local out = type_in("tensor('i32', layout { 2, 100 })", 40)
    for line in out:gmatch "[^\n]+" do assert.is_true(#line <= 40, line) end
    assert.equal(200, select(2, out:gsub("%f[%w]0%f[%W]", "")))
  end)

  it("of another device is read there", function()
    local out = type_in("tensor('i32', layout(3), 'cpu:checked'):fill(2)")
    assert.equal("tensor i32 3:1 cpu:checked\n[2 2 2]\n", out)
  end)
end)

it("the console knows the names of the module", function()
  local s = open()
  for name, value in pairs(tile) do
    if _G[name] == nil then assert.equal(value, s.names.env[name]) end
  end
end)
