-- kind.lua: what a value is, for errors: moontile.Tensor, FILE*, number.
-- SPDX-License-Identifier: MIT

return function(x)
  local meta = type(x) == "userdata" and getmetatable(x)
  local name = type(meta) == "table" and meta.__name or meta
  return type(name) == "string" and name or type(x)
end
