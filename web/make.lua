-- make.lua: puts the page together: the program as JavaScript, what runs in it, chapters, examples.
-- usage: moontile web/make.lua PROGRAM.js OUT.html
-- SPDX-License-Identifier: MIT

local blocks = dofile "spec/blocks.lua"

local read = dofile "docs/read.lua"

-- JSON that may stand in a script: no "</".
local function quote(text)
  text = text:gsub('[%c"\\]', function(c)
    return c == "\n" and "\\n" or c == "\t" and "\\t" or ("\\u%04x"):format(c:byte())
  end)
  return '"' .. text:gsub("</", "<\\u002f") .. '"'
end

local function title_of(path) return read(path):match "^# ([^\n]+)" end

local PICTURES = [[
-- :draw x shows x as a picture; the pointer tells, a click isolates a thread
:draw "SM80_16x8x16_F32F16F16F32_TN"
:draw swizzle(3, 4, 3)
:draw layout{{2, 2, 2}, {2, 2, 2}}
:draw layout({8, 4}, {16, 1}), { banks = "f32" }
load = tiled_copy{ atom = "UniversalCopy<uint64_t>", dtype = "f32", thr = layout{4, 8},
                   val = layout{2, 1} };
:draw load
]]

local texts = { { "pictures", PICTURES } }
local pages = assert(io.popen "ls docs/tutorial/[01]*.md")
for path in pages:lines() do
  local codes = {}
  for i, block in ipairs(blocks.of(path)) do codes[i] = block.code end
  texts[#texts + 1] = { title_of(path), table.concat(codes, "\n") }
end
pages:close()
for _, name in ipairs { "tour", "ldmatrix", "transpose", "blocked", "batched", "convolution",
                        "attention" } do
  texts[#texts + 1] = { "examples/" .. name .. ".lua", read("examples/" .. name .. ".lua") }
end

local function array(values, write)
  local items = {}
  for i, value in ipairs(values) do items[i] = write(value) end
  return "[" .. table.concat(items, ",") .. "]"
end

local function tabs()
  return array(dofile "web/tabs.lua", function(tab)
    local fields = array(tab[2], function(field) return array(field, quote) end)
    return ("[%s,%s,%s]"):format(quote(tab[1]), fields, quote(tab[3]))
  end)
end

local function dtypes()
  local names = {}
  for name in read "include/moontile/dtypes.def":gmatch "\nMT_DTYPE%((%w+)," do
    names[#names + 1] = name
  end
  return table.concat(names, " ")
end

local parts = {
  TABS = tabs(), DTYPES = dtypes(), PAGE_LUA = read "web/page.lua",
  TEXTS = array(texts, function(t) return array(t, quote) end),
  WASM_JS = (read(arg[1]):gsub("</script", "<\\/script")),
}
local page = read "web/page.html":gsub("@([%u_]+)@", parts)
local out = assert(io.open(arg[2], "wb"))
out:write(page)
out:close()
print(("%s: %.2f MB"):format(arg[2], #page / 1e6))
