-- moontile.console.class - "Layout", "Tensor", ... of values of moontile; of others nil.
-- SPDX-License-Identifier: MIT

return function(value)
  local metatable = debug.getmetatable(value)
  local name = metatable and metatable.__name
  return type(name) == "string" and name:match "^moontile%.(%a+)$" or nil
end
