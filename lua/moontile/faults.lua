-- moontile.faults - faults of the caller: raised without a position, which is added where the
-- function was called.
-- SPDX-License-Identifier: MIT

return function(condition, format, ...)
  if not condition then error(string.format(format, ...), 0) end
end
