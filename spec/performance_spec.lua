-- performance_spec.lua: the plots of docs/performance.md say what the tables of bench/RESULTS.md
-- say: bars and numbers read back out of the SVG, rows found without docs/plots.lua.
-- SPDX-License-Identifier: MIT

local read = dofile "docs/read.lua"

local RESULTS = read "bench/RESULTS.md"
local PAGE = read "docs/performance.md"
local ENTITIES = { ["&gt;"] = ">", ["&lt;"] = "<", ["&amp;"] = "&", ["&quot;"] = '"' }

local function plain(text) return (text:gsub("&%a+;", ENTITIES)) end

-- { { label =, { width =, text = }... } }, and how wide a bar of 1 is.
local function bars_of(name)
  local svg, rows = read("docs/pictures/plot_" .. name .. ".svg"), {}
  for label, body in svg:gmatch "<g><title>(.-)</title>(.-)</g>" do
    local row = { label = plain(label) }
    for x, width, head, text in
      body:gmatch 'd="M(%S+) %S+h(%S-)([lv]).-<text class="v"[^>]*>(.-)</text>' do
      row.x = tonumber(x)
      row[#row + 1] = { width = tonumber(width), cut = head == "l", text = plain(text) }
    end
    rows[#rows + 1] = row
  end
  return rows, tonumber(svg:match 'class="one" d="M(%S+)')
end

-- The cells of the row of RESULTS.md that begins with the label, in the table whose header has all
-- of these words.
local function row_of(label, ...)
  local fits
  for line in RESULTS:gmatch "[^\n]+" do
    if not line:find "^|" then fits = nil end
    if line:find "^|" and fits == nil then
      fits = true
      for _, word in ipairs { ... } do fits = fits and line:find(word, 1, true) ~= nil end
    end
    if fits and line:match "^|%s*(.-)%s*|" == label then
      local cells = {}
      for cell in line:gmatch "[^|]+" do cells[#cells + 1] = cell:match "^%s*(.-)%s*$" end
      return cells
    end
  end
end

local function rows_in(...)
  local n, fits = 0, nil
  for line in RESULTS:gmatch "[^\n]+" do
    if not line:find "^|" then fits = nil
    elseif fits == nil then
      fits = true
      for _, word in ipairs { ... } do fits = fits and line:find(word, 1, true) ~= nil end
    elseif fits and not line:find "^| ?%-" then
      n = n + 1
    end
  end
  return n
end

local RATIOS = {
  { { "copies", "casts" }, 6, "| copy  ", "memcpy us" },
  { { "products_16", "products_8", "products_tf32", "products_32" }, 7, "cuBLASLt us" },
}

for _, case in ipairs(RATIOS) do
  local names, column = case[1], case[2]
  describe("the plots of " .. table.concat(names, ", "), function()
    local n = 0
    for _, name in ipairs(names) do
      local rows, one = bars_of(name)
      n = n + #rows
      it("of " .. name .. " have the ratios of the table, as long as they are", function()
        for _, row in ipairs(rows) do
          local cells = assert(row_of(row.label, table.unpack(case, 3)), row.label)
          assert.equal(cells[column], row[1].text)
          local want = tonumber(cells[column]) * (one - row.x)
          if row[1].cut then assert.is_true(row[1].width < want)
          else assert.is_true(math.abs(row[1].width - want) < 0.2, row.label) end
        end
      end)
    end

    it("have all rows of it", function()
      assert.equal(rows_in(table.unpack(case, 3)), n)
      assert.is_true(n > 40)
    end)
  end)
end

describe("the plots with several bars", function()
  for name, words in pairs { cpu_products = { "OpenBLAS" }, staging = { "driver, any" },
                             launches = { "driver us" }, algebra = { "Lua / pycute" },
                             permutations = { "| form" } } do
    it("of " .. name .. " have numbers of their rows", function()
      local rows = bars_of(name)
      assert.equal(rows_in(table.unpack(words)), #rows)
      for _, row in ipairs(rows) do
        local line = table.concat(assert(row_of(row.label, table.unpack(words)), row.label), " ")
        assert.is_true(#row > 0)
        for _, bar in ipairs(row) do assert.truthy(line:find(bar.text, 1, true), bar.text) end
      end
    end)
  end
end)

describe("docs/performance.md", function()
  it("shows each plot", function()
    local n = 0
    for path in PAGE:gmatch "%]%((pictures/plot_[%w_]+%.svg)%)" do
      n = n + 1
      assert.truthy(read("docs/" .. path):find "^<svg xmlns")
    end
    assert.is_true(n >= 10)
  end)

  it("names a command and a commit for each section", function()
    local n = 0
    for section in PAGE:gsub("\n## ", "\0"):gmatch "%z([^%z]+)" do
      n = n + 1
      assert.truthy(section:find "\nMeasured by `[^`]+`, ", section)
      local commit = section:match ", commit (%x+)%."
      assert.is_true(not commit or RESULTS:find(commit, 1, true) ~= nil, section)
    end
    assert.equal(select(2, PAGE:gsub("\n## ", "")), n)
  end)

  it("has numbers of rows that RESULTS.md has", function()
    for label in PAGE:gmatch "least %S+ %((.-)%), most" do
      label = label:gsub("\\", ""):gsub("^%d+ threads, ", "")
      assert.truthy(RESULTS:find("| " .. label, 1, true), label)
    end
  end)
end)
