-- docs_spec.lua: the pages of functions are those that lua/moontile/meta gives; links in the manual
-- lead somewhere.
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

describe("what is made from lua/moontile/meta", function()
  local files = dofile "docs/generate.lua"

  for path, text in pairs(files) do
    it(path .. " is up to date; ./dev docs makes it", function()
      assert.is_true(read(path) == text)
    end)
  end

  it("is all that docs/reference has", function()
    for _, path in ipairs(pages.below "docs/reference") do
      assert.is_truthy(files[path], path)
    end
  end)

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
  for _, link in ipairs(links_of(read "docs/reference/README.md")) do
    linked[(resolve("docs/reference/README.md", link))] = true
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
