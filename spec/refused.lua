-- refused.lua: for specs of errors: rows, each a test. { code, text }: it raises the text, which
-- begins with its own line; { code, text, condition }: it returns nil, the text, the condition.
-- SPDX-License-Identifier: MIT

local assert = require "luassert"

-- it: busted's; env: what the code sees.
return function(it, rows, env)
  for _, row in ipairs(rows) do
    local code, text, condition = table.unpack(row)
    it((condition and "says nil: " or "") .. code, function()
      local f = assert(load(code, "=row", "t", env))
      if condition then return assert.same({ nil, text, condition }, { f() }) end
      local ok, message = pcall(f)
      assert.is_false(ok)
      assert.equal("row:1: " .. text, message)
    end)
  end
end
