-- moontile.console.locals - what `local` declares at the top of a line stays alive for the next.
-- SPDX-License-Identifier: MIT
--
-- A chunk runs as a function whose upvalues are the locals of earlier chunks: the variables
-- themselves, so that closures and later lines share them. What a chunk declares is kept by a
-- closure over it, which is made behind its last statement.

local need = ...
local chunk = need "console.chunk"

local locals = {}
locals.__index = locals

function locals.new() return setmetatable({ at = {} }, locals) end

-- The value of a local; whether there is one.
function locals:get(name)
  local box = self.at[name]
  if not box then return nil, false end
  return select(2, debug.getupvalue(box.closure, box.index)), true
end

function locals:names()
  local names = {}
  for name in pairs(self.at) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function close(box)
  local _, value = debug.getupvalue(box.closure, box.index)
  local meta = box.attribute == "close" and debug.getmetatable(value)
  if meta and meta.__close then pcall(meta.__close, value) end
end

-- Variables declared <close>, the newest first.
function locals:close()
  local boxes = {}
  for _, box in pairs(self.at) do boxes[#boxes + 1] = box end
  table.sort(boxes, function(a, b) return a.number > b.number end)
  for _, box in ipairs(boxes) do close(box) end
  self.at = {}
end

-- A function that keeps the upvalues of the closure that it is given.
function locals:keeper(attributes)
  return function(closure)
    local i, name = 1, debug.getupvalue(closure, 1)
    while name do
      if self.at[name] then close(self.at[name]) end
      self.count = (self.count or 0) + 1
      self.at[name] = { closure = closure, index = i, number = self.count,
                        attribute = attributes[name] }
      i = i + 1
      name = debug.getupvalue(closure, i)
    end
  end
end

-- The earlier locals that the chunk mentions, as a statement.
local function header(self, c)
  local names = {}
  for name in pairs(c.mentions) do
    local box = self.at[name]
    if box then names[#names + 1] = name .. (box.attribute == "const" and " <const>" or "") end
  end
  return #names > 0 and "local " .. table.concat(names, ", ") .. " " or ""
end

-- What an expression gives passes through a call: else its last call would be a tail call, and
-- errors in it would not know their function's name.
local function wrap_values(c, code)
  if c.returns then return ("return __moontile_check(0, %s)"):format(code) end
  if not c.assigned then return code end
  return ("%s __moontile_check(%d, %s)"):format(code:sub(1, c.assigned - 1), c.targets,
                                                 code:sub(c.assigned))
end

local function with_keeping(c, code)
  if #c.declared == 0 then return code end
  local keep = ("\n__moontile_keep(function() return %s end)\n"):format(
    table.concat(c.declared, ", "))
  if not c.last then return code .. keep end
  return code:sub(1, c.last - 1) .. keep .. code:sub(c.last)
end

-- The chunk as a function of nothing; `check` gets how many targets an assignment has and what is
-- assigned, and returns that. Or nil and a message.
function locals:compile(c, env, check)
  local code = with_keeping(c, wrap_values(c, c.code))
  local source = ("local __moontile_keep, __moontile_check = ... %sreturn function(...) %s\nend")
    :format(header(self, c), code)
  local outer, message = load(source, chunk.NAME, "t", env)
  if not outer then return nil, message end
  local f = outer(self:keeper(c.attributes), check)
  local i, name = 1, debug.getupvalue(f, 1)
  while name do
    local box = self.at[name]
    if box then debug.upvaluejoin(f, i, box.closure, box.index) end
    i = i + 1
    name = debug.getupvalue(f, i)
  end
  return f
end

return locals
