-- paste_spec.lua: what stands in the manual can be pasted into the console, line by line, and then
-- prints what its `-->` lines say.
-- SPDX-License-Identifier: MIT

require "moontile"
local blocks = dofile "spec/blocks.lua"
local console = require "moontile.console"

local FILES = dofile "spec/pages.lua".with_code()

-- What `print` writes while f runs, as lines.
local function printed_by(f)
  local lines, print = {}, _G.print
  _G.print = function(...)
    local words = table.pack(...)
    for i = 1, words.n do words[i] = tostring(words[i]) end
    for line in (table.concat(words, "\t") .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = line end
  end
  f()
  _G.print = print
  return lines
end

-- Pastes the code; errors are collected too.
local function paste(code)
  local said = {}
  local s = console.new {
    write = function() end, complain = function(text) said[#said + 1] = text end,
  }
  local lines = printed_by(function()
    for line in code:gmatch "(.-)\n" do s:feed(line) end
    s:unfinished()
  end)
  s:close()
  return lines, table.concat(said)
end

describe("pasted into the console", function()
  for _, file in ipairs(FILES) do
    for _, block in ipairs(blocks.of(file)) do
      it(("%s:%d prints what it says"):format(file, block.line), function()
        local want, got, said = blocks.expected(block.code), paste(block.code)
        assert.equal("", said)
        if #want > 0 then assert.are.same(want, got) end
      end)
    end
  end
end)
