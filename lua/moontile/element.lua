-- moontile.element - how many bits an element of an atom has, by its name.
-- SPDX-License-Identifier: MIT

-- Those whose name does not end in their bits.
local BITS <const> = { e4m3 = 8, e5m2 = 8, e3m2 = 6, e2m3 = 6, e2m1 = 4, cf64 = 128, gcf64 = 192 }

-- "bf16", "s8", "e4m3", "sparse2.f16"
return function(name)
  name = name:gsub("^sparse%d%.", "")
  return BITS[name] or tonumber(name:match "%d+$")
end
