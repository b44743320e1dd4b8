-- refused.lua: for specs of errors: rows { code, the error's text }, each a test.
-- SPDX-License-Identifier: MIT

local assert = require "luassert"

-- it: busted's; env: what the code sees.
return function(it, rows, env)
  for _, row in ipairs(rows) do
    it(row[1], function()
      local ok, message = pcall(assert(load(row[1], "=row", "t", env)))
      assert.is_false(ok)
      assert.equal("row:1: " .. row[2], message)
    end)
  end
end
