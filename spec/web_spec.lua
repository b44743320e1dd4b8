-- web_spec.lua: what the playground does with what is typed, without a browser.
-- SPDX-License-Identifier: MIT

require "moontile"
local console = require "moontile.console"

local read = dofile "docs/read.lua"

-- The page takes print and io.write for itself: they come back behind each call. It has no `arg`.
local function page()
  local print, write, exit, arg = _G.print, io.write, os.exit, _G.arg
  _G.arg = nil
  local run = assert(loadfile "web/page.lua")(console)
  local own_print, own_write = _G.print, io.write
  _G.print, _G.arg = print, arg
  rawset(io, "write", write)
  rawset(os, "exit", exit)
  return function(code)
    _G.print = own_print
    rawset(io, "write", own_write)
    rawset(os, "exit", nil)
    local ok, json = pcall(run, code)
    _G.print, _G.arg = print, arg
    rawset(io, "write", write)
    rawset(os, "exit", exit)
    return ok and json or error(json)
  end
end

local UNESCAPED = { n = "\n", t = "\t", r = "\r" }

-- The parts of the JSON: { { "text" or "page", text }, ... }.
local function parts_of(json)
  local parts = {}
  for kind, text in json:gmatch '{"(%l+)":"(.-[^\\])"}' do
    text = text:gsub("\\u(%x%x%x%x)", function(hex) return string.char(tonumber(hex, 16)) end)
    parts[#parts + 1] = { kind, (text:gsub("\\(.)", function(c) return UNESCAPED[c] or c end)) }
  end
  return parts
end

describe("the playground", function()
  local run = page()

  for _, row in ipairs {
    { "layout(24, 2) / layout(4, 2)", "(4,(2,3)):(4,(2,16))\n" },
    { "local A = layout{4, 8}\nA:size(), A[1]", "32\t4:1\n" },
    { "print(1, 'two')\nio.write 'three'", "1\ttwo\nthree" },
    { "x = 5;", nil }, { "nothing", "nil\n" },
    { 'print "a \\"quote\\" and \\\\ more"', 'a "quote" and \\ more\n' },
    { "layot(4)", "did you mean layout?" }, { "x = {", "near <eof>" },
    { ":draw 5", "html: a layout" }, { "os.exit", "nil" },
  } do
    it("answers " .. row[1]:gsub("\n", " | "), function()
      local parts = parts_of(run(row[1]))
      assert.equal(row[2] and 1 or 0, #parts)
      if row[2] then
        assert.equal("text", parts[1][1])
        assert.truthy(parts[1][2]:find(row[2], 1, true), parts[1][2])
      end
    end)
  end

  it("shows pictures between the texts", function()
    local code = "6 * 7\n:draw layout{4, 8}\npicture('SM80_16x8x16_F32F16F16F32_TN')\n1"
    local parts = parts_of(run(code))
    local kinds = {}
    for i, part in ipairs(parts) do kinds[i] = part[1] end
    assert.same({ "text", "page", "page", "text" }, kinds)
    assert.truthy(parts[2][2]:find "^<!DOCTYPE html>")
  end)

  it("begins anew each time, as it runs again and again", function()
    run "local of_one_session = 1\nfor_all = 2\nprint = 3\ncopy = 4"
    assert.equal("nil\n", parts_of(run "of_one_session")[1][2])
    assert.equal("nil\n", parts_of(run "for_all")[1][2])
    assert.equal("function\n", parts_of(run "print(type(print))")[1][2])
    assert.equal("function\n", parts_of(run "type(copy)")[1][2])
  end)

  describe("has a tab that answers:", function()
    for _, tab in ipairs(dofile "web/tabs.lua") do
      it(tab[1], function()
        local begins = {}
        for _, field in ipairs(tab[2]) do begins[field[1]] = field[2] end
        local code = tab[3]:gsub("%$(%w+)", begins)
        assert.is_nil(code:find("$", 1, true))
        local pages, said = 0, ""
        for _, part in ipairs(parts_of(run(code))) do
          if part[1] == "page" then pages = pages + 1 else said = said .. part[2] end
        end
        local draws = select(2, code:gsub("%f[^\n%z]:draw", ""))
        assert.equal(draws + select(2, code:gsub("picture{", "")), pages, said)
        for _, complaint in ipairs { "attempt to", "expected", "bad argument", "no such" } do
          assert.is_nil(said:find(complaint, 1, true), said)
        end
      end)
    end
  end)

  it("runs the examples that it offers", function()
    for name in read "web/make.lua":match "ipairs (%b{}) do\n  texts":gmatch '"(.-)"' do
      for _, part in ipairs(parts_of(run(read("examples/" .. name .. ".lua")))) do
        assert.is_nil(part[2]:find "attempt to" or part[2]:find "stopped:", name)
      end
    end
  end)

  it("is put together of what is there", function()
    local html = read "web/page.html"
    local made = read "web/make.lua":match "local parts = (%b{})"
    for name in html:gmatch "@([%u_]+)@" do
      assert.truthy(made:find(name .. " = ", 1, true), name)
    end
    for name in made:gmatch "%f[%u]([%u_]+) = " do
      assert.truthy(html:find("@" .. name .. "@", 1, true), name)
    end
    assert.is_nil(html:find "src=%s*[\"']?https?:")
    assert.is_nil(html:find "<link")
  end)
end)

-- What node compares in the page and in the program runs here too.
describe("the random operations", function()
  it("are the same for the same seed", function()
    local function answers(seed)
      local out = {}
      local env = setmetatable({ SEED = seed, COUNT = 50, print = function(...)
        out[#out + 1] = table.concat({ ... }, "\t")
      end }, { __index = _G })
      assert(loadfile("web/operations.lua", "t", env))()
      return table.concat(out, "\n")
    end
    assert.equal(answers(3), answers(3))
    assert.not_equal(answers(3), answers(4))
  end)
end)
