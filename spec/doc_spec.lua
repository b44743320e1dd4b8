-- doc_spec.lua: every ```lua block of the manual runs, and prints what its `-->` lines say.
-- SPDX-License-Identifier: MIT

local blocks = dofile "spec/blocks.lua"

local FILES = dofile "spec/pages.lua".with_code()

-- Runs the code with a `print` that collects lines.
local function printed(code, name)
  local lines = {}
  local env = setmetatable({
    print = function(...)
      local words = table.pack(...)
      for i = 1, words.n do words[i] = tostring(words[i]) end
      for line in (table.concat(words, "\t") .. "\n"):gmatch "(.-)\n" do
        lines[#lines + 1] = line
      end
    end,
  }, { __index = _G })
  assert(load(code, "=" .. name, "t", env))()
  return lines
end

describe("the manual", function()
  for _, file in ipairs(FILES) do
    for _, block in ipairs(blocks.of(file)) do
      local name = ("%s:%d"):format(file, block.line)
      it("is true at " .. name, function()
        local want, got = blocks.expected(block.code), printed(block.code, name)
        if #want > 0 then assert.are.same(want, got) end
      end)
    end
  end

  it("has blocks to run", function()
    assert.is_true(#blocks.of "README.md" > 0)
  end)
end)
