-- blocks.lua: the ```lua blocks of a text file, and what their `-->` lines say is printed.
-- SPDX-License-Identifier: MIT

local blocks = {}

local function read(name)
  local f = io.open(name)
  local text = f and f:read "a" or ""
  if f then f:close() end
  return text
end

-- The blocks of a text: { line = number of the first line, code = text }.
local function blocks_of(text)
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

function blocks.expected(code)
  local lines = {}
  for line in code:gmatch "[^\n]*" do
    local text = line:match "%-%-> ?(.*)$"
    if text then lines[#lines + 1] = text end
  end
  return lines
end

-- of(name) -> { { line = number of the first line, code = text }, ... } of a file.
function blocks.of(name) return blocks_of(read(name)) end

return blocks
