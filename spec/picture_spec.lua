-- picture_spec.lua: pictures of every kind in every form; what stands in them, read back.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local read = dofile "spec/picture/read.lua"
local KINDS = dofile "spec/picture/kinds.lua"
local layout, _ = tile.layout, tile._
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1

-- As assert, for what is asked of each cell.
local function must(condition, what)
  if not condition then error(what or "not so", 2) end
end

local function must_equal(want, got)
  if want ~= got then error(("%s expected, got %s"):format(want, got), 2) end
end

local function plain_width(line) return #(line:gsub("\27%[[%d;]*m", "")) end

local function with(options, more)
  local all = {}
  for key, value in pairs(options or {}) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end

-- ---------------------------------------------------------------- every kind, every form

for _, kind in ipairs(KINDS) do
  local name, x, options = table.unpack(kind)
  describe("a picture of " .. name, function()
    it("is text in the width of the terminal", function()
      for _, width in ipairs { 20, 40, 80, 132, 300 } do
        local text = tile.draw(x, with(options, { width = width }))
        for line in text:gmatch "[^\n]+" do assert.is_true(#line <= width, line) end
      end
    end)

    it("has in colour the text that it has without", function()
      local plain = tile.draw(x, with(options, { width = 300 }))
      local colour = tile.draw(x, with(options, { width = 300, colour = true }))
      local _, lines = plain:gsub("\n", "")
      assert.equal(lines, select(2, colour:gsub("\n", "")))
      for line in colour:gmatch "[^\n]+" do assert.is_true(plain_width(line) <= 300) end
      assert.is_nil(plain:find "\27")
    end)

    it("is SVG whose labels stay in their cells", function()
      local text = tile.svg(x, options)
      assert.is_true(read.is_well_formed(text))
      local font = read.font(text)
      local letter = font * 0.62
      for _, panel in ipairs(read.panels(text)) do
        for _, cell in ipairs(panel) do
          for _, label in ipairs(cell.labels) do
            must(#label * letter <= cell.width, label)
          end
          must(#cell.labels * font <= cell.height)
        end
      end
    end)

    it("is a page that loads nothing", function()
      local text = tile.html(x, options)
      assert.is_nil(text:gsub("http://www%.w3%.org/2000/svg", ""):find "https?:")
      assert.is_nil(text:find "<link" or text:find " src=" or text:find "@import")
      assert.truthy(text:find("<!DOCTYPE html>", 1, true))
      assert.truthy(text:find("prefers-color-scheme:dark", 1, true))
      assert.is_true(read.is_well_formed(text:match "<svg.*</svg>"))
    end)

    it("is LaTeX whose braces are closed", function()
      local text = tile.latex(x, options)
      local depth = 0
      for brace in text:gsub("\\[{}]", ""):gmatch "[{}]" do
        depth = depth + (brace == "{" and 1 or -1)
        must(depth >= 0)
      end
      assert.equal(0, depth)
      assert.truthy(text:find "^%% [^\n]*\n[^\n]*\\documentclass{standalone}[^\n]*\n")
      assert.truthy(text:find "\\begin{document}\n.*\\begin{tikzpicture}")
      assert.truthy(text:find "\\end{document}\n$")
    end)

    it("has the same cells in each form", function()
      local panels, page = read.panels(tile.svg(x, options)), read.panels(tile.html(x, options))
      local cells = 0
      for n, panel in ipairs(panels) do
        assert.equal(#panel, #page[n])
        for k, cell in ipairs(panel) do
          must_equal(table.concat(cell.labels, " "), table.concat(page[n][k].labels, " "))
        end
        cells = cells + #panel
      end
      assert.equal(cells, select(2, tile.latex(x, options):gsub("\n\\cell", "")))
    end)
  end)
end

-- ---------------------------------------------------------------- layouts

describe("a picture of a layout", function()
  it("has its offsets", function()
    for _, A in ipairs { layout { 4, 8 }, layout({ 5, 7 }, { 9, -2 }),
                         layout "((2,3),(2,2)):((1,8),(2,4))", layout { 2, 3, 4 },
                         layout(9, 3), layout { 64, 64 } } do
      local rows = A:rank() > 1 and A:size(1) or 1
      local cells = read.panels(tile.svg(A))[1]
      assert.equal(A:size(), #cells)
      for _, cell in ipairs(cells) do
        must_equal(tostring(A(cell.row + rows * cell.column)), cell.labels[1])
      end
    end
  end)

  it("has coordinates, indices, banks", function()
    local A = layout({ { 2, 2 }, 8 }, { { 1, 16 }, 2 })
    for by, want in pairs {
      coordinate = function(i) return tostring(A:idx2crd(i)) end,
      index = tostring,
      bank = function(i) return tostring(A(i) * 64 // 32 % 32) end,
    } do
      for _, cell in ipairs(read.panels(tile.svg(A, { by = by, bits = 64 }))[1]) do
        assert.equal(want(cell.row + 4 * cell.column), cell.labels[1])
      end
    end
  end)

  it("tells the script of a page what is known", function()
    local A = layout { { 2, 2 }, 8 }
    for _, cell in ipairs(read.panels(tile.html(A, { bits = 16 }))[1]) do
      local index = cell.row + 4 * cell.column
      assert.equal(tostring(index), cell.i)
      assert.equal(tostring(A:idx2crd(index)), cell.c)
      assert.equal(tostring(A(index)), cell.o)
      assert.equal(tostring(A(index) * 16 // 32 % 32), cell.b)
    end
  end)

  it("dims what is not of the slice", function()
    local A = layout { { 2, 2 }, 8 }
    for _, case in ipairs {
      { { 1, _ }, function(i) return i == 1 end },
      { { _, 5 }, function(_, j) return j == 5 end },
      { { { _, 1 }, _ }, function(i) return i >= 2 end },
      { { 3, 7 }, function(i, j) return i == 3 and j == 7 end },
      { { _, _ }, function() return true end },
    } do
      for _, cell in ipairs(read.panels(tile.svg(A, { slice = case[1] }))[1]) do
        assert.equal(not case[2](cell.row, cell.column), cell.dim)
      end
    end
  end)

  it("has boxes around tiles, and around the blocks of its hierarchy", function()
    local function boxes(x, options)
      local n = { 0, 0, 0 }
      for level in tile.svg(x, options):gmatch '<rect class="b b(%d)"' do
        n[tonumber(level)] = n[tonumber(level)] + 1
      end
      return n
    end
    assert.same({ 0, 0, 0 }, boxes(layout { 8, 8 }))
    assert.same({ 4, 0, 0 }, boxes(layout { 8, 8 }, { tile = { 4, 4 } }))
    assert.same({ 9, 0, 0 }, boxes(layout { 9, 8 }, { tile = { 4, 3 } }))
    assert.same({ 16, 4, 0 }, boxes(layout { { 2, 2, 2 }, { 2, 2, 2 } }))
    assert.same({ 0, 0, 0 }, boxes(layout { { 2, 2, 2 }, { 2, 2, 2 } }, { nested = false }))
  end)

  it("is cut where it is long, and says so", function()
    local text = tile.draw(layout { 1 << 40, 1 << 20 })
    assert.truthy(text:find "32 of 1099511627776 rows, %d of 1048576 columns")
    local svg = tile.svg(layout { 1 << 40, 1 << 20 })
    assert.truthy(svg:find("128 of 1099511627776 rows, 128 of 1048576 columns", 1, true))
    assert.equal(128 * 128, #read.panels(svg)[1])
    assert.equal(15, #read.panels(tile.svg(layout { 64, 64 }, { rows = 3, columns = 5 }))[1])
  end)

  it("of a tensor has its elements", function()
    local T = tile.tensor("f32", layout({ 2, 3 }, "right")):fill { 1, 2.5, 3, -4, 5, 6 }
    for _, cell in ipairs(read.panels(tile.svg(T, { by = "value" }))[1]) do
      assert.equal(tostring(T(cell.row, cell.column)), cell.labels[1])
    end
  end)

  it("of a ragged tensor has what is real", function()
    local t = tile.tensor("i32", layout { 10, 7 }):fill(4):local_tile({ 4, 3 }, { 2, 2 })
    local cells = read.panels(tile.svg(t, { by = "value" }))[1]
    for _, cell in ipairs(cells) do
      local is_real = cell.row < 2 and cell.column < 1
      assert.equal(is_real and "4" or ".", cell.labels[1])
    end
    assert.equal(2, select(2, tile.print_tensor(t):gsub("4  %.  %.", "")))
    local many = tile.draw(tile.tensor("i8", layout(1 << 17)), { by = "value" })
    assert.truthy(many:find("of 131072 columns", 1, true))
  end)

  it("has a swizzle before and after", function()
    local A = tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f16")
    local before, after = table.unpack(read.panels(tile.svg(A)))
    local plain = A:get_nonswizzle_portion()
    for _, cell in ipairs(before) do
      assert.equal(tostring(plain(cell.row, cell.column)), cell.labels[1])
    end
    for _, cell in ipairs(after) do
      local offset = A(cell.row, cell.column)
      assert.equal(tostring(offset), cell.labels[1])
      -- the colour goes with the unit of 16 bytes
      assert.equal("r" .. offset // 8 % 8, cell.class)
    end
  end)
end)

-- ---------------------------------------------------------------- partitions

-- Numbers of a label: "T14" -> { 14 }, "T0,64" -> { 0, 64 }; T0+3 -> { 0 }, and 4.
local function numbers_of(label)
  local first, more = label:match "^%a(%d+)%+(%d+)$"
  if first then return { tonumber(first) }, tonumber(more) + 1 end
  local list = {}
  for n in label:gmatch "%d+" do list[#list + 1] = tonumber(n) end
  return list, #list
end

local function distinct(list)
  local seen, n = {}, 0
  for _, x in ipairs(list) do
    if not seen[x] then seen[x], n = true, n + 1 end
  end
  return n, seen
end

-- Reads who has what out of a panel and compares it with the layout. at(element) -> row, column.
local function compare(cells, L, at, thr_id)
  local threads = L:size(1)
  local values = L:size() // threads
  local shared = threads > 1 and L[1]:cosize() == 1
  local owners = {}
  for v = 0, values - 1 do
    for t = 0, shared and 0 or threads - 1 do
      local row, column = at(L(t + threads * v))
      local key = row .. "," .. column
      owners[key] = owners[key] or { t = {}, v = {} }
      table.insert(owners[key].t, thr_id and thr_id(t) or t)
      table.insert(owners[key].v, v)
    end
  end
  local n = 0
  for _, cell in ipairs(cells) do
    local key = cell.row .. "," .. cell.column
    local owner = owners[key]
    if not owner then
      must_equal(0, #cell.labels)
    else
      for k, what in ipairs(shared and { "v" } or { "t", "v" }) do
        local read_back, count = numbers_of(cell.labels[k])
        local all, seen = distinct(owner[what])
        must_equal(all, count)
        for _, x in ipairs(read_back) do must(seen[x]) end
      end
      if not shared and #owner.t == 1 then
        must_equal("T" .. owner.t[1] .. " V" .. owner.v[1], table.concat(cell.labels, " "))
        must_equal("m" .. owner.t[1] % 8, cell.class)
      end
      if cell.t then
        must_equal(shared and "-1" or table.concat(owner.t, " "), cell.t)
        must_equal(table.concat(owner.v, " "), cell.v)
      end
      n, owners[key] = n + 1, nil
    end
  end
  assert.is_nil(next(owners))
  return n
end

local function compare_mma(text, extents, layouts, thr_id)
  local panels = read.panels(text)
  local M, N = extents[1], extents[2]
  local function columns(rows) return function(e) return e % rows, e // rows end end
  assert.equal(3, #panels)
  for _, cells in ipairs(panels) do
    local name = cells.title:sub(1, 1)
    local at = columns(M)
    if name == "B" then at = function(e) return e // N, e % N end end
    assert.is_true(compare(cells, layouts[name], at, thr_id) > 0)
  end
end

-- n atoms: one of each shape and architecture first, they differ most; then whatever is small.
local function some_atoms(n)
  local first, rest, seen = {}, {}, {}
  for _, name in ipairs(tile.atoms()) do
    local M, N, K = table.unpack(tile.mma_atom(name).shape_MNK)
    local is_small = M <= 32 and N <= 32 and K <= 128
    local kind = name:match "^%w+_%d+x%d+x%d+" or name:match "^%w+"
    if not seen[kind] and (is_small or M == 64 and (N == 8 or N == 64)) then
      first[#first + 1], seen[kind] = name, true
    elseif is_small then
      rest[#rest + 1] = name
    end
  end
  for k = 1, n - #first do first[#first + 1] = rest[1 + k * 37 % #rest] end
  return table.move(first, 1, n, 1, {})
end

local SOME = TIMES < 1 and 10 or 50

describe("read back out of the picture", function()
  for _, name in ipairs(some_atoms(SOME)) do
    it("threads and values of " .. name .. " are its layouts'", function()
      local atom = tile.mma_atom(name)
      compare_mma(tile.svg(atom, { rows = 128, columns = 128 }), atom.shape_MNK,
                  { A = atom.layout_A, B = atom.layout_B, C = atom.layout_C }, atom.thr_id)
    end)
  end

  it("a tiled MMA's are its layouts', and a page's too", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                                 permutation = { _, 32 } }
    local layouts = { A = mma:layout_A_TV(), B = mma:layout_B_TV(), C = mma:layout_C_TV() }
    compare_mma(tile.svg(mma), mma:tile_shape(), layouts)
    compare_mma(tile.html(mma), mma:tile_shape(), layouts)
  end)

  it("a tiled copy's are its layouts'", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 } }
    for _, copy in ipairs {
      tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f32", thr = layout { 32, 8 },
                        val = layout { 4, 1 } },
      tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma),
    } do
      local rows = copy:tiler_MN()[1]
      local function at(e) return e % rows, e // rows end
      for _, part in ipairs { "S", "D" } do
        local panels = read.panels(tile.html(copy, { part = part }))
        assert.equal(1, #panels)
        compare(panels[1], part == "S" and copy:layout_S_TV() or copy:layout_D_TV(), at)
      end
    end
  end)

  it("one thread is bright, and what it shares", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 } }
    for _, panel in ipairs(read.panels(tile.html(mma, { thread = 69, value = 1 }))) do
      local bright = 0
      for _, cell in ipairs(panel) do
        local mine = false
        local values = {}
        for v in cell.v:gmatch "%d+" do values[#values + 1] = v end
        local k = 0
        for t in cell.t:gmatch "%d+" do
          k = k + 1
          mine = mine or t == "69" and values[k] == "1"
        end
        assert.equal(not mine, cell.dim)
        if mine then bright = bright + 1 end
      end
      assert.equal(1, bright)
    end
  end)
end)

-- ---------------------------------------------------------------- banks

local random = math.random

local function random_access()
  local bits = ({ 8, 16, 32, 64, 128 })[random(5)]
  local run = 1 << random(0, 2)
  local thr = layout({ 1 << random(0, 3), 1 << random(0, 3) },
                     { run * random(0, 40), run * random(0, 40) })
  local A = tile.make_layout(thr, layout({ run, random(2) }, { 1, run * random(0, 9) }))
  if random(3) == 1 then A = tile.swizzle(random(0, 3), random(2, 4), random(3, 4)) * A end
  return A, bits, ({ "read", "write" })[random(2)]
end

describe("the wavefronts of an access", function()
  it("are as many as bank_conflicts counts, and serve each word once", function()
    math.randomseed(17)
    local drawn = 0
    for _ = 1, 200 * TIMES // 1 do
      local A, bits, kind = random_access()
      local ok, figures = pcall(tile.bank_conflicts, A, bits, kind)
      if ok and figures.wavefronts <= 128 then
        local panel = read.panels(tile.html(A, { banks = bits, access = kind }))[1]
        local rows = 0
        for _, cell in ipairs(panel) do rows = math.max(rows, cell.row + 1) end
        assert.equal(figures.wavefronts, rows)
        for _, cell in ipairs(panel) do
          must_equal(tostring(cell.column), cell.b)
          if cell.o then must_equal(cell.column, tonumber(cell.o) // 4 % 32) end
        end
        drawn = drawn + 1
      end
    end
    assert.is_true(drawn > 40 * TIMES)
  end)

  it("of ldmatrix, before a swizzle and behind it", function()
    local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN" }
    local load = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
    local smem = layout({ 16, 64 }, "right")
    for _, A in ipairs { smem, tile.swizzle(3, 3, 3) * smem } do
      local figures = tile.bank_conflicts(load, A, "S")
      local panel = read.panels(tile.svg(load, { banks = A, part = "S", rows = 500 }))[1]
      assert.equal(figures.wavefronts * 32, #panel)
    end
  end)
end)

-- ---------------------------------------------------------------- plans, elements

describe("a picture of a plan", function()
  it("has a line for each kernel", function()
    local p = tile.plan(tile.tensor("f32", layout { 64, 64 }),
                        tile.tensor("f32", layout({ 64, 64 }, "right")))
    local text = tile.draw(p, { width = 300 })
    for _, way in ipairs(p:why()) do assert.truthy(text:find(way.kernel, 1, true)) end
    tile.tune(p, { rounds = 1 })
    assert.truthy(tile.draw(p):find "us measured, chosen")
    assert.truthy(tile.svg(p):find '<rect class="m1"')
    tile.forget_tuning()
    p:free()
    assert.has_error(function() tile.draw(p) end)
  end)
end)

describe("print_tensor", function()
  local function filled(shape, n)
    local values = {}
    for i = 1, n do values[i] = i end
    return tile.tensor("i32", layout(shape)):fill(values)
  end
  it("writes matrices behind one another", function()
    assert.equal("tensor i32 (3):(1) cpu:\n  1  2  3", (tile.print_tensor(filled({ 3 }, 3))
      :gsub("\n  (%d)", "  %1"):gsub(":  1", ":\n  1", 1)))
    assert.equal("tensor i32 (2,2,2):(1,2,4) cpu:\n  1  3\n  2  4\n  ----\n  5  7\n  6  8",
                 tile.print_tensor(filled({ 2, 2, 2 }, 8)))
    assert.equal("tensor i32 (1,2,1,2):(0,1,0,2) cpu:\n  1  2\n  ====\n  3  4",
                 tile.print_tensor(filled({ 1, 2, 1, 2 }, 4)))
  end)
end)
