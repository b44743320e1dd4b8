-- dsl.lua: operations of CuTe's DSL for Python, and the names that C++ has for them.
-- SPDX-License-Identifier: MIT

local need = ...
local tile = need "core"
local check = need "faults"
local concat = table.concat
local format, gmatch, gsub, match = string.format, string.gmatch, string.gsub, string.match
local dsl = {}

-- Types: the DSL's name, ours, in names of atoms, in C++.
local TYPES = {}
for _, row in ipairs {
  { "Float16", "f16", "F16", "half_t" }, { "BFloat16", "bf16", "BF16", "bfloat16_t" },
  { "TFloat32", "tf32", "TF32", "tfloat32_t" }, { "Float32", "f32", "F32", "float" },
  { "Float64", "f64", "F64", "double" }, { "Float8E4M3FN", "e4m3", "E4M3", "float_e4m3_t" },
  { "Float8E5M2", "e5m2", "E5M2", "float_e5m2_t" },
  { "Float6E3M2FN", "e3m2", "E3M2", "float_e3m2_t" },
  { "Float6E2M3FN", "e2m3", "E2M3", "float_e2m3_t" },
  { "Float4E2M1FN", "e2m1", "E2M1", "float_e2m1_t" },
  { "Int8", "s8", "S8", "int8_t" }, { "Uint8", "u8", "U8", "uint8_t" },
  { "Int32", "s32", "S32", "int32_t" },
} do
  local t = { python = row[1], ours = row[2], short = row[3], cpp = row[4] }
  TYPES[row[1]], TYPES[row[2]] = t, t
end

-- ---------------------------------------------------------------- products

-- The operation in cute.nvgpu, its arguments, the name of the atom: {a} is the type of A as names
-- have it, {A} as C++ has it; what the types of A and B may be.
local MMAS = {
  { "MmaUniversalOp", "c", "UniversalFMA<{C},{C},{C},{C}>" },
  { "warp.MmaF16BF16Op", "a c shape", "SM80_{mnk}_{c}{a}{a}{c}_TN", "f16 bf16" },
  { "warp.MmaTF32Op", "shape", "SM80_{mnk}_F32TF32TF32F32_TN" },
  { "warp.MmaFP8Op", "a c shape", "SM89_{mnk}_{c}{a}{a}{c}_TN", "e4m3 e5m2" },
  { "warpgroup.MmaF16BF16Op", "a c shape src major_a major_b", "SM90_{mnk}_{c}{a}{a}_{from}",
    "f16 bf16" },
  { "warpgroup.MmaF8Op", "a b c shape src major_a major_b", "SM90_{mnk}_{c}{a}{b}_{from}_TN",
    "e4m3 e5m2" },
  { "warpgroup.MmaI8Op", "a b c shape src major_a major_b", "SM90_{mnk}_{c}{a}{b}_{from}_TN",
    "s8 u8" },
  { "tcgen05.MmaTF32Op", "shape group src major_a major_b", "SM100_MMA_TF32{sms}_{from}"
    .. "<tfloat32_t,tfloat32_t,float,{m},{n},{major_a},{major_b}>" },
  { "tcgen05.MmaF16BF16Op", "a c shape group src major_a major_b", "SM100_MMA_F16BF16{sms}_{from}"
    .. "<{A},{A},{C},{m},{n},{major_a},{major_b}>", "f16 bf16" },
  { "tcgen05.MmaI8Op", "a shape group src major_a major_b", "SM100_MMA_S8{sms}_{from}"
    .. "<{A},{A},int32_t,{m},{n},{major_a},{major_b}>", "s8 u8" },
  { "tcgen05.MmaF8F6F4Op", "a b c shape group src major_a major_b", "SM100_MMA_F8F6F4{sms}_{from}"
    .. "<{A},{B},{C},{m},{n},{major_a},{major_b}>", "e4m3 e5m2 e3m2 e2m3 e2m1" },
}

-- The keywords of the arguments.
local KEYS = { ab_dtype = "a", a_dtype = "a", b_dtype = "b", acc_dtype = "c", abacc_dtype = "c",
               shape_mnk = "shape", instruction_shape = "shape", a_src = "src", cta_group = "group",
               a_major_mode = "major_a", b_major_mode = "major_b" }

local FROM = { RMEM = "RS", SMEM = "SS", TMEM = "TS" }
local SOURCE = { reg = "RMEM", smem_desc = "SMEM", tmem = "TMEM" }

-- The name of the atom with these arguments: types as ours, a shape, enumerators by their name.
local function name_of(row, v)
  local m, n, k = table.unpack(v.shape or { 1, 1, 1 })
  local word = { mnk = format("%dx%dx%d", m, n, k), m = m, n = n, from = FROM[v.src],
                 sms = v.group == "TWO" and "_2x1SM" or "", major_a = v.major_a,
                 major_b = v.major_b }
  for _, x in ipairs { "a", "b", "c" } do
    local t = TYPES[v[x]]
    word[x], word[x:upper()] = t and t.short, t and t.cpp
  end
  return (gsub(row[3], "{([%w_]+)}", function(w) return tostring(word[w]) end))
end

local function may_be(row, type_)
  return not row[4] or format(" %s ", row[4]):find(format(" %s ", type_), 1, true) ~= nil
end

local function values_of(atom)
  local major_a, major_b = match(atom.name, "[<,]([MNK]+),([MNK]+)>$")
  local d = atom.dtype
  return { a = d.A, b = d.B, c = d.C, shape = atom.shape_MNK, src = SOURCE[atom.src.A],
           group = tile.size(atom.thr_id) == 2 and "TWO" or "ONE",
           major_a = major_a or "K", major_b = major_b or "K" }
end

-- An argument as text of Python; room: "warpgroup".
local function argument(key, value, room)
  if key == "shape" then return format("(%d, %d, %d)", value[1], value[2], value[3]) end
  if key == "src" then return format("cute.nvgpu.%s.OperandSource.%s", room, value) end
  if key == "group" then return "cute.nvgpu.tcgen05.CtaGroup." .. value end
  if key:find "^major" then return "cute.nvgpu.OperandMajorMode." .. value end
  return "cutlass." .. TYPES[value].python
end

-- The operation that an MMA atom is.
function dsl.mma_op(atom)
  local v, bare = values_of(atom), gsub(atom.name, "^(SM90_[^<]*)<.*$", "%1")
  for _, row in ipairs(MMAS) do
    if TYPES[v.a] and may_be(row, v.a) and name_of(row, v) == bare then
      local list, room = {}, match(row[1], "^(%w+)%.")
      for key in gmatch(row[2], "%S+") do list[#list + 1] = argument(key, v[key], room) end
      return format("cute.nvgpu.%s(%s)", row[1], concat(list, ", "))
    end
  end
  check(false, "cute: CuTe's DSL has no operation for %s", atom.name)
end

-- The last part of a name with dots.
local function last(text) return match(text or "", "([%w_]+)%s*$") or "" end

local function row_of(rows, name)
  local path = gsub(name, "^.*nvgpu%.", "")
  for _, row in ipairs(rows) do
    if row[1] == path or match(row[1], "%.(%w+)$") == path then return row end
  end
end

-- A tuple of numbers; K of a product of 256 bits along K, where it is left out.
local function shape_of(text, a)
  local t = {}
  for n in gmatch(text, "%d+") do t[#t + 1] = tonumber(n) end
  check(#t == 2 or #t == 3, "parse: a shape (M, N, K) expected, got %s", text)
  t[3] = t[3] or a and 256 // need "element"(a)
  return t
end

-- The name of the atom that a call is: { name =, 1, 2, ..., keyword = }.
function dsl.mma_name(call)
  local row = row_of(MMAS, call.name)
  check(row, "parse: no atom for the operation %s", call.name)
  local v, i = {}, 0
  for key in gmatch(row[2], "%S+") do
    i = i + 1
    v[key] = call[i]
  end
  for key, text in pairs(call) do
    if KEYS[key] then v[KEYS[key]] = text end
  end
  for _, x in ipairs { "a", "b", "c" } do
    local t = v[x] and TYPES[last(v[x])]
    check(not v[x] or t, "parse: %s: no type %s", call.name, v[x])
    v[x] = t and t.ours
  end
  for _, x in ipairs { "src", "group", "major_a", "major_b" } do v[x] = v[x] and last(v[x]) end
  if row[2]:find "shape" then v.shape = shape_of(v.shape or "", v.a) end
  local name = name_of(row, v)
  local turned = (v.major_a == "MN" or v.major_b == "MN") and name:find "^SM90_64x.*_[SR]S$"
  return turned and format("%s<%s,%s>", name, v.major_a or "K", v.major_b or "K") or name
end

-- ---------------------------------------------------------------- copies

local LANES = { [8] = "Uint8", [16] = "Uint16", [32] = "Uint32", [64] = "Uint64",
                [128] = "Uint128" }

-- Name of an atom, the operation.
local COPIES = {
  { "^UniversalCopy<.*>$", "CopyUniversalOp()" },
  { "^SM80_CP_ASYNC_CACHE(%u+)<.*>$", "cpasync.CopyG2SOp(cute.nvgpu.LoadCacheMode.%s)" },
  { "^SM75_U32x(%d)_LDSM_N$", "warp.LdMatrix8x8x16bOp(False, %d)" },
  { "^SM75_U16x(%d)_LDSM_T$", "warp.LdMatrix8x8x16bOp(True, %d)", 2 },
  { "^SM90_U32x(%d)_STSM_N$", "warp.StMatrix8x8x16bOp(False, %d)" },
  { "^SM90_U16x(%d)_STSM_T$", "warp.StMatrix8x8x16bOp(True, %d)", 2 },
}

-- cute.make_copy_atom of a copy atom in values.
function dsl.copy_atom(atom)
  local type_ = LANES[atom.bits]
  check(type_, "cute: CuTe's DSL has no type of %d bits", atom.bits)
  for _, row in ipairs(COPIES) do
    local found = match(atom.name, row[1])
    if found then
      local op = format(row[2], row[3] and found // row[3] or found)
      local bits = row[1]:find "<" and format(", num_bits_per_copy=%d",
                                              tile.size(atom.layout_src, 2) * atom.bits) or ""
      return format("cute.make_copy_atom(cute.nvgpu.%s, cutlass.%s%s)", op, type_, bits)
    end
  end
  check(false, "cute: CuTe's DSL has no operation for %s", atom.name)
end

local function matrices(n, unit, transposed)
  local count = tonumber(n) or 1
  return transposed and format("%s_U16x%d_%s_T", unit.arch, 2 * count, unit.name)
         or format("%s_U32x%d_%s_N", unit.arch, count, unit.name)
end

-- The name of the copy atom that a call is, which moves so many bits.
function dsl.copy_name(call, bits)
  local op = last(call.name)
  if op == "CopyUniversalOp" or op == "CopyG2SOp" then
    check(bits, "parse: %s: num_bits_per_copy expected", op)
    local cache = last(call[1] or call.cache_mode or "ALWAYS")
    return format(op == "CopyG2SOp" and "SM80_CP_ASYNC_CACHE%s<uint%d_t>"
                  or "UniversalCopy<%.0suint%d_t>", cache, bits)
  end
  local unit = op == "LdMatrix8x8x16bOp" and { arch = "SM75", name = "LDSM" }
               or op == "StMatrix8x8x16bOp" and { arch = "SM90", name = "STSM" }
  check(unit, "parse: no atom for the operation %s", call.name)
  return matrices(call[2] or call.num_matrices, unit,
                  (call[1] or call.transpose or "False") == "True")
end

-- CuTe's type in C++ of the elements that a name stands for; nil: none is known.
function dsl.cpp_type(name) return TYPES[name] and TYPES[name].cpp end

return dsl
