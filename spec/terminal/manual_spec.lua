-- manual_spec.lua: what README and docs show is pasted into the console of a terminal, by blocks;
-- the screen shows what their `-->` lines say, and no error.
-- SPDX-License-Identifier: MIT

local here = debug.getinfo(1, "S").source:match "^@(.*)/"
local screen = dofile(here .. "/screen.lua")
local blocks = dofile "spec/blocks.lua"

local scratch = assert(os.getenv "MOONTILE_SCRATCH", "MOONTILE_SCRATCH is not set")
local PASTE, PASTED = "\27[200~", "\27[201~"
local WIDE = 400                   -- columns: no line of the manual goes on to the next

-- A console whose errors begin with a mark that no output has.
local function open()
  local s = screen.open { columns = WIDE, environment = {
    XDG_STATE_HOME = scratch .. "/state", XDG_CONFIG_HOME = scratch .. "/config",
    LD_LIBRARY_PATH = os.getenv "LD_LIBRARY_PATH",
  } }
  s:prompt()
  return s
end

-- What the screen shows besides the prompts and what is typed behind them.
local function printed(s)
  local lines = {}
  for _, line in ipairs(s:lines()) do
    if not line:find "^>" then lines[#lines + 1] = line end
  end
  return lines
end

-- Pastes a block; the lines that it prints. Errors are red.
local function paste(s, code)
  s:forget()
  s.sequences = {}
  s:type(PASTE .. code .. "\nprint 'the block' print 'has ended'\n" .. PASTED)
  s:wait_for "\nthe block\nhas ended\n"
  s:prompt()
  return printed(s), s.sequences["31m"]
end

-- Whether the lines have those of `want` in their order; else the first that is missing.
local function missing(want, lines)
  local at = 1
  for _, text in ipairs(want) do
    text = text:gsub("\t", (" "):rep(8)):gsub("%s+", " "):gsub(" $", "")
    while lines[at] and lines[at]:gsub("%s+", " ") ~= text do at = at + 1 end
    if not lines[at] then return text end
    at = at + 1
  end
end

for _, file in ipairs(dofile "spec/pages.lua".with_code()) do
  local s
  for _, block in ipairs(blocks.of(file)) do
    it(("%s:%d, pasted, shows what it says"):format(file, block.line), function()
      s = s or open()
      local lines, failed = paste(s, block.code)
      assert.is_nil(failed, table.concat(lines, "\n"))
      assert.is_nil(missing(blocks.expected(block.code), lines), table.concat(lines, "\n"))
    end)
  end
end
