-- moontile.meta - what is known of each public function: arguments, a sentence, laws, errors, an
-- example. Help, completion and the manual read it.
-- SPDX-License-Identifier: MIT
--
-- The source are the files of the folder meta, in the annotations of the Lua language server, which
-- reads them too. Above a function stand
--   --- A sentence.
--   --- - a law, or what there is to know; - error: what is refused
--   --- ```lua ... ```    an example, with what the console prints behind "-->"
--   ---@param, ---@return
-- `A.name = B.name` is another name, or another place, of the same.

local need = ...
local source = need "source"

local PARTS = { "layouts", "values", "modes", "tuples", "algebra", "swizzles", "tensors",
                "partitions", "mmas", "plans", "analysis", "pictures" }

local meta = { groups = {}, entries = {}, fields = {} }

-- ---------------------------------------------------------------- reading

local function new_block()
  return { notes = {}, errors = {}, example = {}, params = {}, returns = {} }
end

local function read_annotation(block, line)
  local name, optional, type_ = line:match "^%-%-%-@param ([%w_.]+)(%??) (.+)$"
  if name then
    block.params[#block.params + 1] = { name = name, optional = optional == "?", type = type_ }
  end
  local returned = line:match "^%-%-%-@return ([%w_.]+)"
  if returned then block.returns[#block.returns + 1] = returned end
end

-- A line of a comment: the sentence, an item, or code.
local function read_comment(block, text)
  if text == "```lua" then
    block.code = true
  elseif text == "```" then
    block.code = false
  elseif block.code then
    table.insert(block.example, text)
  elseif text:match "^%- error: " then
    table.insert(block.errors, text:sub(10))
  elseif text:match "^%- " then
    local note, fault = text:match "^%- (.-); error: (.*)$"
    table.insert(block.notes, note or text:sub(3))
    if fault then table.insert(block.errors, fault) end
  else
    block.summary = block.summary and block.summary .. " " .. text or text
  end
end

local function add(group, where, name, block)
  local entry = setmetatable({ where = where, name = name, group = group }, { __index = block })
  table.insert(meta.entries, entry)
  table.insert(group.entries, entry)
  meta.entries[where .. "." .. name] = entry
end

-- A line that is no comment: a function, or another name of one.
local function read_code(group, block, line)
  local where, name = line:match "^function (%w+)[.:]([%w_]+)%("
  if not where then where, name = line:match '^(%w+)%["(%w+)"%] = function' end
  if where then return add(group, where, name, block) end
  local as
  where, name, as = line:match "^(%w+)%.([%w_]+) = (%w+%.[%w_]+)$"
  if where then add(group, where, name, getmetatable(meta.entries[as]).__index) end
end

local function read_part(part)
  local text = source("meta." .. part)
  local group = { name = part, title = text:match "\n%-%- (.-)\n", entries = {} }
  local block, class = new_block(), nil
  table.insert(meta.groups, group)
  for line in text:gmatch "([^\n]*)\n" do
    local comment = line:match "^%-%-%- ?([^@].*)$"
    class = line:match "^%-%-%-@class moontile%.(%w+)" or line ~= "" and class or nil
    local field = line:match "^%-%-%-@field ([%a_][%w_]*) "
    if field and class then
      meta.fields[class] = meta.fields[class] or {}
      table.insert(meta.fields[class], field)
    end
    if comment then read_comment(block, comment)
    elseif line:match "^%-%-%-@" then read_annotation(block, line)
    elseif line == "" then block = new_block()
    else read_code(group, block, line) end
  end
end

for _, part in ipairs(PARTS) do read_part(part) end

-- ---------------------------------------------------------------- asking

-- The entries with a name, "layout", "tile.layout", "Layout:size"; those of the module first.
function meta.find(name)
  local where, own = name:match "^(%w+)[.:]([%w_]+)$"
  if where then
    local entry = meta.entries[where .. "." .. own]
    return entry and { entry } or {}
  end
  local list = {}
  for _, entry in ipairs(meta.entries) do if entry.name == name then list[#list + 1] = entry end end
  return list
end

-- The class of what a function or a method returns, "Layout", or nil. What regroups modes gives
-- what it was asked of; of a tensor a view.
function meta.result(where, name)
  local entry = meta.entries[where .. "." .. name]
  local class = entry and entry.returns[1] and entry.returns[1]:match "^moontile%.(%u%w*)$"
  if class == "Modes" then return where ~= "tile" and where or nil end
  return class == "Layout" and where == "Tensor" and name ~= "layout" and where or class
end

return meta
