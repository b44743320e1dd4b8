-- pages.lua: the files of the manual.
-- SPDX-License-Identifier: MIT

local pages = {}

-- The files below a folder, sorted: of Markdown, or with another ending.
function pages.below(folder, ending)
  local list, pipe = {}, assert(io.popen(("find %s -name '*.%s'"):format(folder, ending or "md")))
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  table.sort(list)
  return list
end

-- All: README and what lies beside it, then docs.
function pages.all()
  local list = { "README.md", "CONTRIBUTING.md", "CHANGELOG.md" }
  for _, path in ipairs(pages.below "docs") do list[#list + 1] = path end
  return list
end

-- Those whose ```lua blocks run: all, the headers' comments and the results.
function pages.with_code()
  local list = pages.all()
  for _, path in ipairs { "include/moontile.h", "include/moontile/lua.h", "bench/RESULTS.md" } do
    list[#list + 1] = path
  end
  return list
end

return pages
