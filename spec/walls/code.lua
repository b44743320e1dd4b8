-- code.lua: the text of a C file with comments and literals blanked, line by line as before.
-- SPDX-License-Identifier: MIT

local function blank(s) return (s:gsub("[^\n]", " ")) end

return function(text)
  local out, i = {}, 1
  while i <= #text do
    local j = text:find('[/"\']', i) or #text + 1
    out[#out + 1] = text:sub(i, j - 1)
    local two = text:sub(j, j + 1)
    local last
    if two == "/*" then
      last = select(2, text:find("*/", j + 2, true))
    elseif two == "//" then
      last = (text:find("\n", j, true) or #text + 1) - 1
    elseif two:match '^["\']' then
      last = j
      repeat last = text:find('[\\"\'\n]', last + 1)
        local c = text:sub(last, last)
        if c == "\\" then last = last + 1 end
      until c == two:sub(1, 1) or c == "\n"
    end
    last = last or math.min(j, #text)
    out[#out + 1] = j == last and text:sub(j, j) or blank(text:sub(j, last))
    i = last + 1
  end
  return table.concat(out)
end
