-- docs_spec.lua: the pages of functions are those that lua/moontile/meta and the headers give;
-- links in the manual lead somewhere.
-- SPDX-License-Identifier: MIT

require "moontile"
local console = require "moontile.console"
local pages = dofile "spec/pages.lua"

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

describe("what is made from other files", function()
  local files = dofile "docs/generate.lua"

  for path, text in pairs(files) do
    it(path .. " is up to date; ./dev docs makes it", function()
      assert.is_true(read(path) == text)
    end)
  end

  for _, folder in ipairs { "docs/reference", "docs/c" } do
    it("is all that " .. folder .. " has", function()
      for _, path in ipairs(pages.below(folder)) do assert.is_truthy(files[path], path) end
    end)
  end

  it("has a heading or a link for each public function", function()
    local all = {}
    for path, text in pairs(files) do if path:match "%.md$" then all[#all + 1] = text end end
    all = table.concat(all)
    for _, entry in ipairs(console.meta.entries) do
      local is_link = all:find("[`" .. entry.name .. "`]", 1, true)
      assert.is_truthy(is_link or all:find(":" .. entry.name, 1, true)
                       or entry.name == "__call" and all:find(entry.where .. "()", 1, true),
                       entry.name)
    end
  end)
end)

-- ---------------------------------------------------------------- C

-- Names that the headers export, found without docs/headers.lua: what stands before an argument
-- list behind MT_API.
local function exported()
  local names = {}
  for _, path in ipairs(pages.below("include/moontile", "h")) do
    local code = read(path):gsub("/%*.-%*/", ""):gsub("\n#[^\n]*", "")
    for declaration in code:gmatch "%f[%w_]MT_API%f[^%w_]([^;]*);" do
      names[#names + 1] = { name = declaration:match "([%w_]+)%s*%(",
                            header = path:match "([%w_]+)%.h$" }
    end
  end
  return names
end

-- The names of each heading of a page -> what stands below it.
local function items_of(page)
  local items, text = {}, nil
  for line in (page .. "\n"):gmatch "(.-)\n" do
    if line:match "^##" then
      text = {}
      for name in line:gsub("\\", ""):gmatch "[%w_]+" do items[name] = text end
    elseif text then
      text[#text + 1] = line
    end
  end
  return items
end

describe("the C API", function()
  local names = exported()

  it("was found", function() assert.is_true(#names > 200, #names) end)

  for _, f in ipairs(names) do
    it("has words for " .. f.name, function()
      local items = items_of(read("docs/c/" .. f.header .. ".md"))
      local text = table.concat(assert(items[f.name], f.name), "\n")
      local code, words = text:match "^\n```c\n(.-)```(.*)$"
      assert.is_truthy(code:find(f.name .. " (", 1, true), f.name)
      assert.is_truthy(words:find "%w" or code:find("/*", 1, true), f.name)
    end)
  end
end)

-- ---------------------------------------------------------------- links

local function anchors_of(text)
  local anchors, code = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:match "^%s*```" then code = not code end
    local heading = not code and line:match "^#+ (.+)$"
    if heading then
      heading = heading:gsub("%]%(.-%)", ""):gsub("\\", "")
      anchors[heading:lower():gsub("[^%w _-]", ""):gsub(" ", "-")] = true
    end
  end
  return anchors
end

-- "docs/a/b.md" and "../c.md#d" -> "docs/c.md", "d"
local function resolve(from, link)
  local path, anchor = link:match "^([^#]*)#?(.*)$"
  if path == "" then return from, anchor end
  local parts = {}
  for part in (from:match "^(.*/)" or ""):gmatch "[^/]+" do parts[#parts + 1] = part end
  for part in path:gmatch "[^/]+" do
    if part == ".." then parts[#parts] = nil
    elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/"), anchor
end

-- Links outside of code.
local function links_of(text)
  local links, code = {}, false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:match "^%s*```" then code = not code end
    if not code then
      for link in line:gsub("`[^`]*`", "`"):gmatch "%]%(([^%s)]+)%)" do links[#links + 1] = link end
    end
  end
  return links
end

describe("the table of contents", function()
  local linked = {}
  for _, link in ipairs(links_of(read "docs/SUMMARY.md")) do
    linked[(resolve("docs/SUMMARY.md", link))] = true
  end
  for _, path in ipairs(pages.below "docs") do
    it("has " .. path, function()
      assert.is_true(linked[path] or path == "docs/SUMMARY.md")
    end)
  end
end)

describe("the links", function()
  for _, path in ipairs(pages.all()) do
    it("of " .. path .. " lead somewhere", function()
      for _, link in ipairs(links_of(read(path))) do
        if not link:match "^https?:" then
          local target, anchor = resolve(path, link)
          local text = read(target)
          assert.is_truthy(text or io.open(target), path .. ": " .. link)
          if anchor ~= "" then assert.is_true(anchors_of(text)[anchor], path .. ": " .. link) end
        end
      end
    end)
  end
end)
