-- read.lua: a function: the text of the file at a path; an error where there is none.
-- SPDX-License-Identifier: MIT

return function(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end
