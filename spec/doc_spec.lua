-- doc_spec.lua: every ```lua block of the manual runs, and prints what its `-->` lines say.
-- SPDX-License-Identifier: MIT

local FILES = { "README.md", "include/moontile.h", "include/moontile/lua.h", "bench/RESULTS.md" }

local function read(name)
  local f = io.open(name)
  local text = f and f:read "a" or ""
  if f then f:close() end
  return text
end

-- The blocks of a text: { line = number of the first line, code = text }.
local function blocks(text)
  local found, block, number = {}, nil, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local body = line:gsub("^%*%* ?", "")
    if block and body:match "^%s*```" then
      found[#found + 1], block = block, nil
    elseif block then
      block.code = block.code .. body .. "\n"
    elseif body:match "^%s*```lua%s*$" then
      block = { line = number + 1, code = "" }
    end
  end
  return found
end

local function expected(code)
  local lines = {}
  for line in code:gmatch "[^\n]*" do
    local text = line:match "%-%-> ?(.*)$"
    if text then lines[#lines + 1] = text end
  end
  return lines
end

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
    for _, block in ipairs(blocks(read(file))) do
      local name = ("%s:%d"):format(file, block.line)
      it("is true at " .. name, function()
        local want, got = expected(block.code), printed(block.code, name)
        if #want > 0 then assert.are.same(want, got) end
      end)
    end
  end

  it("has blocks to run", function()
    assert.is_true(#blocks(read "README.md") > 0)
  end)
end)
