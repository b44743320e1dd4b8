-- combinations_spec.lua: products of random atoms, atom layouts, permutations, shapes, types and
-- operand layouts on every device, against sums of the elements; each kernel of mma.def.
-- MOONTILE_SEED and MOONTILE_COMBINATIONS (how many) make it another run, MOONTILE_TIMES a longer
-- one.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local products = dofile "spec/products.lua"
local epilogues = dofile "spec/epilogues.lua"
local pick, chance, random = products.pick, products.chance, math.random

local SEED = tonumber(os.getenv "MOONTILE_SEED") or 4
local TIMES = tonumber(os.getenv "MOONTILE_TIMES") or 1
local COUNT = tonumber(os.getenv "MOONTILE_COMBINATIONS") or math.ceil(140 * TIMES)
local MOST = math.min(15000 * TIMES, 60000)     -- products of numbers in one case

-- ---- atoms

-- Patterns of names, how often each is taken, how many atoms a block has: a list of shapes.
local WARPS = { { 1, 1, 1 }, { 2, 1, 1 }, { 1, 2, 1 }, { 2, 2, 1 }, { 1, 1, 2 }, { 2, 1, 2 },
                { 1, 2, 2 }, { 3, 1, 1 }, { 1, 3, 2 }, { 2, 2, 2 } }
local THREADS = { { 4, 8, 1 }, { 16, 2, 1 }, { 8, 8, 1 }, { 2, 3, 4 }, { 5, 7, 1 }, { 16, 16, 1 } }
local QUADS = { { 4, 1, 1 }, { 2, 2, 1 }, { 1, 4, 1 }, { 2, 1, 2 }, { 2, 2, 2 } }
local GROUPS = { { 1, 1, 1 }, { 2, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 } }
local ONE = { { 1, 1, 1 } }
local FAMILIES = {
  { 6,  "^UniversalFMA<", THREADS }, { 4,  "^SM61_", THREADS }, { 6,  "^SM70_", QUADS },
  { 5,  "^SM75_", WARPS },           { 40, "^SM80_", WARPS },   { 14, "^SM89_", WARPS },
  { 8,  "^SM90_16", WARPS },         { 12, "^SM90_64x%d%dx", GROUPS },
  { 4,  "^SM90_64x8x", GROUPS },     { 5,  "^SM120_16", WARPS },
  { 4,  "^SM100_MMA_[^2]*_[ST]S<[^>]*,64,%d%d?,", ONE },
}

-- Of all atoms those of each family; and those of architectures that have kernels.
local NAMES, LITERAL = {}, {}
for i in ipairs(FAMILIES) do NAMES[i] = {} end
for _, name in ipairs(tile.atoms { kind = "mma" }) do
  local arch = name:match "^SM(%d+)" or "0"
  if tonumber(arch) < 100 then table.insert(LITERAL, name) end
  for i, family in ipairs(FAMILIES) do
    if family[2]:find(name:sub(1, 5), 1, true) and name:find(family[2])
       and not name:find "C64" then table.insert(NAMES[i], name) end
  end
end

local function any_atom()
  local total = 0
  for _, family in ipairs(FAMILIES) do total = total + family[1] end
  local at = random(total)
  for i, family in ipairs(FAMILIES) do
    at = at - family[1]
    if at <= 0 then return pick(NAMES[i]), family[3] end
  end
end

-- What the numbers of A, B and C are to the instruction: containers are named behind "<".
local function elements(atom)
  local d = atom.dtype
  if atom.name:find "^SM120_16" then
    local a, b = atom.name:match "<float_(%w+)_t,float_(%w+)_t,"
    return { A = a, B = b, C = d.C }
  end
  return d
end

-- ---- partitions

-- A compact layout of the extents, the strides in a random order of the modes.
local function compact(extents)
  local order, stride, at = {}, {}, 1
  for i = 1, #extents do table.insert(order, random(#order + 1), i) end
  for _, i in ipairs(order) do stride[i], at = at, at * extents[i] end
  return tile.layout(extents, stride)
end

-- A tiler of one mode for atoms of n together: `_`, an extent, a bijection of one.
local function permutation(n)
  if chance(50) then return tile._ end
  local all = n * pick { 1, 1, 2, 3 }
  if chance(30) then return all end
  local p = pick { 2, 2, 3, 4 }
  if all % p ~= 0 or all == p then return all end
  local q = all // p % 2 == 0 and all // p > 2 and chance(50) and 2 or 1
  return compact(q == 1 and { p, all // p } or { p, q, all // p // q })
end

-- Whether each operand is a layout of (thread,value): a permutation that parts an atom need not
-- be one.
local function is_layout(mma)
  for _, part in ipairs { "layout_A_TV", "layout_B_TV", "layout_C_TV" } do
    local ok, message = pcall(mma[part], mma)
    if not ok then
      assert.matches("no layout R has R(i) = A(B(i))", message, 1, true)
      return false
    end
  end
  return true
end

local function any_partition(name, shapes)
  local atom, atoms = tile.mma_atom(name), pick(shapes)
  local mma
  repeat
    local perm, permuted = {}, chance(60)
    for i = 1, 3 do
      perm[i] = permuted and permutation(atom.shape_MNK[i] * atoms[i]) or tile._
    end
    mma = tile.tiled_mma { atom = name, atoms = compact(atoms), permutation = perm }
  until is_layout(mma)
  return mma
end

-- ---- sizes

-- A size for a tile: some tiles, or what does not fit.
local function extent(n)
  if chance(30) then return n * random(2) end
  if chance(10) then return 1 end
  return random(n + n // 2 + 2)
end

-- Smaller, if there are too many products.
local function fit(s)
  for _, mode in ipairs { "L", "K", "N", "M" } do
    while s.M * s.N * s.K * s.L > MOST and s[mode] > 3 do s[mode] = s[mode] // 2 + 1 end
  end
  return s
end

local function any_size(t)
  return fit { M = extent(t[1]), N = extent(t[2]), K = extent(t[3]),
               L = chance(25) and random(3) or 1 }
end

-- ---- operands

local KINDS = { "column", "row", "row", "padded", "blocked", "permuted", "reversed", "swizzled" }
local FLOATS = { "f32", "f32", "f16", "bf16", "f64", "e4m3", "e5m2" }

-- Types of C that have epilogues.
local FINISHED = { f16 = true, bf16 = true, f32 = true, f64 = true }

local function holder(element)
  local list = products.HOLDERS[element]
  return list and pick(list) or element
end

local function any_type_of_c(element)
  if element == "s32" then return "i32" end
  return chance(60) and element or pick(FLOATS)
end

local function operand(case, name, X, Y, dtype, element)
  local kind = name ~= "C" and chance(12) and "broadcast" or pick(KINDS)
  local sizes = { X, Y }
  if case.size.L > 1 and (name == "C" or chance(70)) then sizes[3] = case.size.L end
  local layout = products.layout(sizes, kind)
  case.title = ("%s, %s %s %s"):format(case.title, name, dtype, layout.text)
  case["make_" .. name] = function()
    return products.operand(dtype, layout, element, case.scale, name == "C" and 3 or 0)
  end
end

-- A case: what is computed with what; the elements are drawn when it runs.
local function new_case(mma, size)
  local atom, t = mma:atom(), mma:tile_shape()
  local e, s = elements(atom), size
  local case = { mma = mma, atom = atom, size = size, scale = pick { 0.5, 1, 1, 3 } }
  case.title = tostring(mma):gsub("^tile.tiled_mma", "", 1) .. (": %d x %d x %d x %d"):format(
    s.M, s.N, s.K, s.L)
  case.bits = e.A == "u1" and (atom.name:find "XOR" and "xor" or "and")
  local whole = e.C == "s32"
  case.alpha = chance(70) and 1 or whole and random(-3, 3) or pick { 2, -0.5, 0.375 }
  case.beta = chance(65) and 0 or whole and random(-3, 3) or pick { 1, -2, 0.25 }
  -- products that are accumulated: to whole tiles, in as many parts as threads split K
  local parts = tile.size(mma:thr_layout_VMNK()[4])
  case.steps = (s.K + t[3] - 1) // t[3] * t[3] + 4 * parts
  operand(case, "A", s.M, s.K, holder(e.A), e.A)
  operand(case, "B", s.N, s.K, holder(e.B), e.B)
  case.type_of_c = any_type_of_c(e.C)
  operand(case, "C", s.M, s.N, case.type_of_c, e.C)
  case.title = ("%s, alpha %s beta %s"):format(case.title, case.alpha, case.beta)
  if FINISHED[case.type_of_c] and chance(35) then
    case.epilogue = epilogues.draw(s.M, s.N, s.L)
    case.title = case.title .. ", " .. case.epilogue.title
  end
  case.seed = random(1 << 30)
  return case
end

local function draw(case)
  math.randomseed(case.seed)
  for _, name in ipairs { "A", "B", "C" } do case[name] = case["make_" .. name]() end
  if case.epilogue then epilogues.fill(case.epilogue) end
  return products.exact(case)
end

-- ---- running

local lacking = {}           -- label of a device -> { names of atoms that it has not }
for _, d in ipairs(devices) do lacking[d.label] = {} end

-- Whether the device has no kernel for the atom, as it says itself. Only a GPU may lack one, and
-- of a kernel's row only one of another architecture.
local function lacks(d, case, message)
  local sm = message:match "has no kernel on cuda:%d+, which is sm_(%d+)"
  if not sm then return false end
  local row = case.row
  if row and tonumber(sm) >= row.arch and row.arch < 900 then return false end
  if row and row.arch == 900 and sm == "90" then return false end
  lacking[d.label][case.atom.name] = true
  return true
end

-- The plan of a case; without the partition if the device is to choose one.
local function plan_of(case, A, B, C)
  local options = { alpha = case.alpha, beta = case.beta }
  if case.epilogue then options = epilogues.options(case.epilogue, C, options) end
  if case.chosen then return tile.plan_gemm(A, B, C, options) end
  return tile.plan(case.mma, A, B, C, options)
end

local function run_on(d, case, exact)
  if lacking[d.label][case.atom.name] then return end
  local A, B = products.on(case.A, d.device), products.on(case.B, d.device)
  local C, buffer = products.on(case.C, d.device)
  local ok, plan = pcall(plan_of, case, A, B, C)
  if not ok and lacks(d, case, plan) then return end
  assert(ok, plan)
  if case.row and d.device:name():find "^cuda" then
    assert.matches("kernel: " .. case.row.name .. "%f[^%w_]", tostring(plan))
  end
  plan()
  d.device:synchronize()
  local wrong = products.wrong(case, exact, buffer:totable())
  if wrong then error(d.label .. ": " .. wrong, 0) end
end

local function run(case)
  local exact = draw(case)
  for _, d in ipairs(devices) do run_on(d, case, exact) end
  case.A, case.B, case.C = nil, nil, nil
end

-- ---- kernels

-- The rows of mma.def: name, arch, pattern of the atom's name.
local function rows()
  local list = {}
  for line in io.lines "kernels/gemm/mma.def" do
    local name, arch, atom = line:match '^MT_MMA_KERNEL%(([%w_]+), *(%d+), "(.-)"%)'
    if name then
      atom = "^" .. atom:gsub("[%p]", "%%%0"):gsub("%%%*", ".-") .. "$"
      list[#list + 1] = { name = name, arch = tonumber(arch), atom = atom }
    end
  end
  return list
end

-- Of the atoms that a row executes the first, the last and one between.
local function atoms_of(row)
  local list = {}
  for _, name in ipairs(LITERAL) do if name:find(row.atom) then list[#list + 1] = name end end
  assert(#list > 0, row.name)
  if #list < 4 then return list end
  return { list[1], list[random(2, #list - 1)], list[#list] }
end

local function small(name)
  if name:find "^Universal" then return THREADS end
  return name:find "^SM90_64" and GROUPS or WARPS
end

describe("random products, seed " .. SEED .. ":", function()
  math.randomseed(SEED)
  for _ = 1, COUNT do
    local mma = any_partition(any_atom())
    local case = new_case(mma, any_size(mma:tile_shape()))
    it(case.title, function() run(case) end)
  end
end)

describe("each kernel, seed " .. SEED .. ":", function()
  math.randomseed(SEED)
  for _, row in ipairs(rows()) do
    for _, name in ipairs(atoms_of(row)) do
      local mma = any_partition(name, small(name))
      local t = mma:tile_shape()
      for _, size in ipairs { fit { M = t[1], N = t[2], K = 2 * t[3], L = 1 }, any_size(t),
                              fit { M = t[1] + 1, N = t[2] + 3, K = t[3] + 3, L = 2 } } do
        local case = new_case(mma, size)
        case.row = row
        it(row.name .. " " .. case.title, function() run(case) end)
      end
    end
  end
end)

-- Instructions of the types that a device finds a partition for; the bound is theirs.
local CHOSEN = {
  "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32BF16BF16F32_TN", "UniversalFMA<float>",
  "SM80_8x8x4_F64F64F64F64_TN", "SM80_16x8x32_S32S8S8S32_TN", "SM80_16x8x32_S32U8S8S32_TN",
  "SM80_16x8x32_S32S8U8S32_TN", "SM80_16x8x32_S32U8U8S32_TN", "SM89_16x8x32_F32E4M3E5M2F32_TN",
  "SM89_16x8x32_F32E5M2E5M2F32_TN",
}

describe("random products without a partition, seed " .. SEED .. ":", function()
  math.randomseed(SEED)
  for _, name in ipairs(CHOSEN) do
    for _ = 1, 18 do
      local case = new_case(tile.tiled_mma { atom = name }, any_size { 40, 40, 40 })
      case.chosen = true
      it(case.title, function() run(case) end)
    end
  end
end)

describe("random products", function()
  for _, d in ipairs(devices) do
    it("name the atoms that are not on " .. d.label, function()
      local names = {}
      for name in pairs(lacking[d.label]) do names[#names + 1] = name end
      table.sort(names)
      if d.label:find "^cpu" then assert.same({}, names) end
      if #names > 0 then pending(#names .. ": " .. table.concat(names, ", ")) end
    end)
  end
end)
