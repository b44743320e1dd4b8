-- make.lua: puts the page together: the program as JavaScript, what runs in it, chapters, examples.
-- usage: moontile web/make.lua PROGRAM.js OUT.html
-- SPDX-License-Identifier: MIT

local blocks = dofile "spec/blocks.lua"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

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
copy = tiled_copy{ atom = "UniversalCopy<uint64_t>", dtype = "f32", thr = layout{4, 8},
                   val = layout{2, 1} };
:draw copy
]]

local texts = { { "pictures", PICTURES } }
local pages = assert(io.popen "ls docs/tutorial/[01]*.md")
for path in pages:lines() do
  local codes = {}
  for i, block in ipairs(blocks.of(path)) do codes[i] = block.code end
  texts[#texts + 1] = { title_of(path), table.concat(codes, "\n") }
end
pages:close()
for _, name in ipairs { "tour", "ldmatrix", "transpose" } do
  texts[#texts + 1] = { "examples/" .. name .. ".lua", read("examples/" .. name .. ".lua") }
end

local list = {}
for i, t in ipairs(texts) do list[i] = ("[%s,%s]"):format(quote(t[1]), quote(t[2])) end

local parts = {
  PAGE_LUA = read "web/page.lua", TEXTS = "[" .. table.concat(list, ",") .. "]",
  WASM_JS = (read(arg[1]):gsub("</script", "<\\/script")),
}
local page = read "web/page.html":gsub("@([%u_]+)@", parts)
local out = assert(io.open(arg[2], "wb"))
out:write(page)
out:close()
print(("%s: %.2f MB"):format(arg[2], #page / 1e6))
