-- check.lua: what the examples check: that something is what the documentation says, as text.
-- SPDX-License-Identifier: MIT

local check = { count = 0 }

local function text(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  return table.concat(t, " + ")
end

-- check("what", want, is...): several values are a layout and where it begins.
return setmetatable(check, {
  __call = function(self, what, want, ...)
    local is = text(...)
    print(("%-58s %s"):format(what, is))
    if is ~= want then
      error(("%s is %s, the documentation says %s"):format(what, is, want), 2)
    end
    self.count = self.count + 1
  end,
})
