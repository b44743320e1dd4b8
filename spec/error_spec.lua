-- error_spec.lua: what is refused, and the whole text that says why.
-- SPDX-License-Identifier: MIT
--
-- A row is code and the error it raises, which begins with its own line ("row:1: "). Faults of the
-- program raise; conditions of the world are nil, a message and a code.

local tile = require "moontile"
local refused = dofile "spec/refused.lua"

-- What the code of a row sees.
local env = setmetatable({ tile = tile, layout = tile.layout, X = tile._ }, { __index = _G })

function env.deep(n)
  local t = {}
  for _ = 1, n do t = { t } end
  return t
end

function env.cyclic()
  local t = {}
  t[1] = t
  return t
end

function env.huge()
  local t = {}
  for i = 1, 1000000 do t[i] = 1 end
  return t
end

-- A view, f32, of a fresh buffer of 4096 elements.
function env.view(text, offset)
  return tile.tensor("f32", tile.layout(4096)):view(tile.layout(text), offset)
end

-- Of a tiled copy of f32 by accesses of 16 bytes; `over` has others, false for none.
function env.options(over)
  local options = { atom = "UniversalCopy<uint128_t>", dtype = "f32",
                    thr = tile.layout({ 4, 8 }, "right"), val = tile.layout { 1, 4 } }
  for key, value in pairs(over or {}) do options[key] = value or nil end
  return options
end

function env.tiled() return tile.tiled_copy(env.options {}) end

local ROWS = {}
local function rows(title, list) ROWS[#ROWS + 1] = { title = title, list = list } end

rows("tables and texts", {
  { 'layout { { 4, 2, "x" } }', "shape[1][3]: integer expected, got string" },
  { 'layout { 4, 2.5 }', "shape[2]: integer expected, got 2.5" },
  { 'layout { 4, nil, 2 }', "shape[2]: integer expected, got nil" },
  { 'layout { 4, x = 2 }', "shape: not a sequence: it has a field [x]" },
  { 'layout { 4, ["2"] = 2 }', "shape: not a sequence: it has a field [2]" },
  { 'layout { [0] = 1, [1] = 4 }', "shape: not a sequence: it has a field [0]" },
  { 'layout { 4, layout(4) }', "shape[2]: integer expected, got moontile.Layout" },
  { 'layout()', "shape: integer or table expected, got no value; layout takes shape [, stride]" },
  { 'layout { -1 }', "layout: extent -1 is negative" },
  { 'layout(4, "rigth")', 'stride: "left" or, row-major, "right" expected, got "rigth"' },
  { 'layout({ 4, 8 }, { 1 })', "layout: stride (1) is not congruent with shape (4,8)" },
  { 'layout({ 4, 8 }, { 1, "x" })', "stride[2]: integer expected, got string" },
  { 'layout("4:1", 2)', "bad argument #2 to 'layout' (the text has strides already)" },
  { 'layout(deep(1000000))', "shape" .. ("[1]"):rep(16) .. ": nested deeper than 16" },
  { 'tile.make_tile(8, layout(deep(15)))', "make_tile[2]: nested deeper than 16" },
  { 'layout(cyclic())', "shape" .. ("[1]"):rep(16) .. ": nested deeper than 16" },
  { 'layout(huge())', "shape: more than 64 values" },
  { 'layout { 1 << 32, 1 << 31 }', "layout: the size leaves 64 bits" },
  { 'layout({ 3, 3 }, { 1 << 62, 1 })', "layout: an offset leaves 64 bits" },
  { 'layout "(4,2"', "parse: the parenthesis at character 1 is not closed, near \"(4,2\"" },
  { 'layout "(4,8:(1,4)"',
    "parse: the parenthesis at character 1 is not closed, near \"(4,8:(1,4)\"" },
  { 'layout "(4,2))"', "parse: unexpected text at character 6, near \"(4,2))\"" },
  { 'layout "_"', 'layout expected, got "_"' },
  { 'tile.parse "4:x"', 'parse: integer expected at character 3, near "4:x"' },
  { 'tile.make_layout(layout(4), 8)',
    "mode 2: layout expected, got 8 (tile.layout builds one from a shape)" },
  { 'tile.make_layout({ 4, 8 }, { 8, 1, 2 })',
    "make_layout: stride (8,1,2) is not congruent with shape (4,8)" },
  { 'tile.make_layout(4, 8, 2)', "make_layout: at most 2 arguments (shape [, stride]), got 3\n"
    .. "a shape of several modes is one table: {4, 8, 2}" },
  { 'return -2 * layout(4)', "layout: extent -2 is negative" },
})

rows("near the end of 64 bits", {
  { 'tile.coalesce_x(layout "(9223372036854775807,1):(0,0)")',
    "coalesce_x: the size leaves 64 bits" },
})

rows("names", {
  { 'layout(4).colaesce()', "Layout.colaesce: no such method; did you mean coalesce?" },
  { 'layout(4):zzz()', "Layout.zzz: no such method" },
  { 'layout(4):draw()', "Layout.draw: no such method; tile has one: tile.draw" },
  { 'tile.tensor("f32", layout(4)):sizee()',
    "Tensor.sizee: no such method; did you mean size?" },
  { 'tiled():partiton(layout(4))', "TiledCopy.partiton: no such method; did you mean partition?" },
})

rows("coordinates and modes", {
  { 'layout { 4, 8 } (1, 2, 3)',
    "coordinate (1,2,3) has 3 modes, (4,8):(1,4) has 2" },
  { 'layout { 4, 8 } { 1 }', "coordinate (1) has 1 modes, (4,8):(1,4) has 2" },
  { 'layout { 4, 8 } (1, "x")', "coordinate[2]: integer or _ expected, got string" },
  { 'layout { 4, 8 } (-1)', "coordinate -1 is negative" },
  { 'layout { 4, 8 }:at(32)',
    "coordinate 32 is outside of (4,8):(1,4): 32 is not below 32" },
  { 'layout { 4, 8 }:at(0, 8)',
    "coordinate (0,8) is outside of (4,8):(1,4): 8 is not below 8" },
  { 'layout { 4, 8 }:at(-1, 0)',
    "coordinate (-1,0) is outside of (4,8):(1,4): -1 is negative" },
  { 'layout { 4, 8 }:slice { X, X, X }',
    "slice: coordinate (_,_,_) has 3 modes, (4,8):(1,4) has 2" },
  { 'layout { 4, 8 }:get(3)', "get: there is no mode 3 in (4,8):(1,4), its rank is 2" },
  { 'layout { 4, 8 }:get(0)', "mode numbers count from 1, got 0" },
  { 'layout { 4, 8 }:select(1, 5)',
    "select: there is no mode 5 in (4,8):(1,4), its rank is 2" },
  { 'layout { 4, 8 }:group(2, 4)',
    "group: modes 2 to 4, both included, of (4,8):(1,4): it has the modes 1 to 2" },
  { 'layout { 4, 8 }:take(2, 1)', "take: modes 2 to 1, both included, of (4,8):(1,4): there are none" },
})

rows("algebra", {
  { 'return layout "(4,6,8):(2,3,5)" * layout(6, 3)', [[
composition: no layout R has R(i) = A(B(i)) for A = (4,6,8):(2,3,5), B = 6:3
  B's stride 3 runs over the end of A's mode 1 (extent 4): A(B(4)) = 9, where a layout would give 14
  6:2, 6:4 and 6:12 compose with this A; so would 6:3 if mode 1 had extent 3]] },
  { 'return layout(4) * "x"', "tiler: integer, _, table or layout expected, got string; "
    .. '"x" is the text of no layout, "(4,2):(1,4)" is one' },
  { 'return layout(4) / { "x" }', "tiler[1]: integer, _ or layout expected, got string; "
    .. '"x" is the text of no layout, "(4,2):(1,4)" is one' },
  { 'return layout(4) / { 2, 2 }', "logical_divide: tiler (2:1,2:1) has 2 modes, 4:1 has 1" },
  { 'return layout(8) / { -2 }', "tiler: negative extent -2" },
  { 'tile.complement(layout "(4,2):(1,1)", 24)', [[
complement: (4,2):(1,1) has no complement
  its modes 4:1 and 2:1 overlap: 4 values at distance 1 reach past 1; A(1) = A(4) = 1
  a stride of 4 or more on the second would do]] },
})

rows("swizzles", {
  { 'tile.swizzle(3, 0, 2)',
    "swizzle: Sw<3,0,2>: bits and base must be >= 0, |shift| >= bits, and their sum at most 62" },
  { 'tile.make_swizzle(28, 3)', [[
make_swizzle: no swizzle has the masks Y = 28 and Z = 3
  each must be a run of bits, both of one length, and no bit may be in both: Sw<3,4,3> has 896 and 112]] },
  { 'return tile.swizzle(1, 0)(1.5)', "swizzle: integer expected, got 1.5" },
  { 'return tile.parse "1@0" (1)', "call: _ or swizzle expected, got 1@0" },
  { 'layout(tile.swizzle(1, 0), 3)',
    "bad argument #2 to 'layout' (a swizzle has no strides)" },
  { 'return tile.swizzle(3, 0) * tile.swizzle(2, 0)', [[
composition: Sw<3,0,3> o Sw<2,0,2> is no swizzle
  their shifts 3 and 2 differ; before a layout A they are: v o (w o A)]] },
  { 'return tile.swizzle(3, 3) * tile.swizzle(2, 2, 3)', [[
composition: Sw<3,3,3> o Sw<2,2,3> is no swizzle
  their masks together, Y = 416 and Z = 52, are not two runs of bits apart from each other]] },
  { 'return tile.swizzle(1, 0) * { 3, 4 }',
    "composition: Sw<1,0,1> o (3:1,4:1): a layout or a swizzle expected on the right" },
  { 'return tile.swizzle(1, 0) * tile.make_identity_layout { 4, 8 }',
    "composition: Sw<1,0,1> o (4,8):(1@0,1@1): the strides are no integers" },
  { 'return layout "(3,2):(1,4)" * layout "(4,2):(F1,F2)"', [[
composition: the values of B = (4,2):(F1,F2) are over F2, and the extent 3 of A = (3,2):(1,4) is no power of two: they have no digits there]] },
  { 'return layout "(4,2):(F6,F1)" * layout "Sw<1,0,1> o -1 o (2,2):(1,4)"', [[
composition: A = (4,2):(F6,F1) has no values below 0, where 0 + Sw<1,0,1> o -1 o (2,2):(1,4) goes]] },
  { 'return layout(8) / tile.swizzle(1, 0)', "logical_divide: Sw<1,0,1> as a tile: it has no extents" },
  { 'layout "Sw<1,0,1> o 4 o 8:1":right_inverse()',
    "right_inverse: Sw<1,0,1> o 4 o 8:1 has none: its least value is 4, so no R has A(R(0)) = 0" },
  { 'layout "Sw<1,2,5> o 0 o (64,6):(6,1)":slice { X, 4 }', [[
slice: (_,4) of Sw<1,2,5> o 0 o (64,6):(6,1): the mode 6:1, which is sliced away, does not split into the digits of Sw<1,2,5>
  a power of two as its extent and as its stride would do; evaluation at a coordinate always does]] },
  { 'tile.upcast(tile.swizzle(1, 0), 3)',
    "upcast: of Sw<1,0,1> by 3: a swizzle moves bits; a power of two is expected" },
  { 'layout "Sw<1,0,1> o 1 o (8,4):(1,8)":upcast(2)',
    "upcast: of Sw<1,0,1> o 1 o (8,4):(1,8) by 2: its offset 1 is not a multiple" },
  { 'tile.downcast(tile.swizzle(2, 50, 2), 1 << 20)',
    "downcast: of Sw<2,50,2> by 1048576: the bits leave 62" },
  { 'tile.get_swizzle_portion(3)', "bad argument #1 to 'get_swizzle_portion' (layout or swizzle expected, got 3)" },
  { 'tile.smem_atom("GMMA::Layout_K_SW128_Atom", 6)',
    "smem_atom: elements of 6 bits: a power of two from 1 to 128 expected" },
  { 'tile.smem_atom("GMMA::Layout_K_SW128_Atom", "f31")', [[
unknown dtype 'f31'
  the dtypes are: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 e4m3 e5m2]] },
  { 'tile.smem_atom "GMMA::Layout_K_SW128_Atom"', "bad argument #2 to 'smem_atom' (bits of an "
    .. "element, or a dtype, expected, got no value)" },
  { 'tile.smem_atom("K_SW128", 16)', [[
smem_atom: unknown atom "K_SW128"; there are
  GMMA::Layout_MN_INTER_Atom
  GMMA::Layout_MN_SW32_Atom
  GMMA::Layout_MN_SW64_Atom
  GMMA::Layout_MN_SW128_Atom
  GMMA::Layout_K_INTER_Atom
  GMMA::Layout_K_SW32_Atom
  GMMA::Layout_K_SW64_Atom
  GMMA::Layout_K_SW128_Atom
  UMMA::Layout_MN_INTER_Atom
  UMMA::Layout_MN_SW32_Atom
  UMMA::Layout_MN_SW64_Atom
  UMMA::Layout_MN_SW128_Atom
  UMMA::Layout_MN_SW128_32B_Atom
  UMMA::Layout_K_INTER_Atom
  UMMA::Layout_K_SW32_Atom
  UMMA::Layout_K_SW64_Atom
  UMMA::Layout_K_SW128_Atom]] },
})

rows("tensors", {
  { 'tile.tensor("f31", layout(4))', [[
unknown dtype 'f31'
  the dtypes are: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 e4m3 e5m2]] },
  { 'tile.tensor("f32", { 4, 8 })', "bad argument #2 to 'tensor' (layout "
    .. "expected, got table (tile.layout builds one from a shape))" },
  { 'tile.tensor("f32", layout({ 4 }, { 1 << 61 }))',
    "tensor: the layout reaches more than 2^63-1 bytes" },
  { 'tile.tensor("f32", tile.make_identity_layout { 4, 8 })',
    "footprint: the strides of (4,8):(1@0,1@1) are no integers" },
  { 'tile.tensor("i8", layout(4)):fill(128)', "i8: 128 is not in the range from -128 to 127" },
  { 'tile.tensor("i8", layout(4)):fill(1.5)', "i8: 1.5 is not an integer from -128 to 127" },
  { 'tile.tensor("i8", layout(4)):fill "x"', "value: number expected, got string" },
  { 'tile.tensor("i8", layout(4)):fill { 1, 2 }', "fill: 4 values expected, got 2" },
  { 'return tile.tensor("i8", layout { 4, 8 })(4, 0)',
    "coordinate (4,0) is outside of (4,8):(1,4): 4 is not below 4" },
  { 'return tile.tensor("i8", layout { 4, 8 })(X, 9)',
    "coordinate (_,9) is outside of (4,8):(1,4): 9 is not below 8" },
  { 'return tile.tensor("i8", layout { 4, 8 })[1]',
    "tensor[i]: elements are read by T(i, j) or T[{i, j}], modes by T:get(i)" },
  { 'return tile.tensor("i8", layout { 4, 8 })[{ 4, 0 }]',
    "coordinate (4,0) is outside of (4,8):(1,4): 4 is not below 4" },
  { 'tile.tensor("i8", layout { 4, 8 })[1] = 2',
    "tensor: elements are written by T[{i, j}] = v or T:set(v, i, j)" },
  { 'tile.tensor("i8", layout { 4, 8 })[{ X, 1 }] = 2',
    "_ is no coordinate of an element; T(_, j):fill(v)?" },
  { 'tile.tensor("i8", layout(4)):view(layout(5))',
    "tensor: 5:1 reaches elements 0 to 4 of a buffer of 4 elements" },
  { 'tile.tensor("i8", layout(4)):view(layout(4), -1)',
    "tensor: 4:1 reaches elements -1 to 2 of a buffer of 4 elements" },
  { 'local T = tile.tensor("i8", layout(4)); T:free(); T:fill(1)', "this tensor was freed" },
})

rows("atoms", {
  { 'tile.mma_atom "SM80_16x8x16_F32F16F16F32"', [[
mma_atom: there is no atom "SM80_16x8x16_F32F16F16F32"
  near it: SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x8_F32F16F16F32_TN, ]]
    .. "SM80_16x8x16_F32BF16BF16F32_TN" },
  { 'tile.mma_atom "SM90_64x40x32_S32S8S8_SS_TN"', [[
mma_atom: there is no atom "SM90_64x40x32_S32S8S8_SS_TN"
  near it: SM90_64x48x32_S32S8S8_SS_TN, SM90_64x80x32_S32S8S8_SS_TN, ]]
    .. "SM90_64x240x32_S32S8S8_SS_TN" },
  { 'tile.mma_atom "wmma"', [[
mma_atom: there is no atom "wmma"
  names are CuTe's, as UniversalFMA<float,float,float,float>]] },
  { 'tile.copy_atom "SM75_U32x3_LDSM_N"', [[
copy_atom: there is no atom "SM75_U32x3_LDSM_N"
  near it: SM75_U32x1_LDSM_N, SM75_U32x2_LDSM_N, SM75_U32x4_LDSM_N]] },
  { 'tile.copy_atom("SM75_U16x8_LDSM_T", 32)',
    "copy_atom: SM75_U16x8_LDSM_T has no values of 32 bits: its destination layout in bits is "
    .. [[
((4,8),(16,2,4)):((256,16),(1,128,1024))
  it keeps 16 bits together]] },
  { 'tile.copy_atom("SM75_U16x8_LDSM_T", 0)',
    "bad argument #2 to 'copy_atom' (1 to 1024 bits)" },
  { 'return tile.mma_atom "SM61_DP4A".layoutA',
    "MmaAtom.layoutA: no such field; did you mean layout_A?" },
  { 'tile.atoms { A = "fp16" }', [[
unknown element 'fp16'
  the elements are: u1 u2 u4 u8 u16 u32 u64 u128 u256 s4 s8 s16 s32 s64 ]]
    .. "e2m1 e3m2 e2m3 e4m3 e5m2 f16 bf16 tf32 f32 f64 cf64 gcf64" },
  { 'tile.atoms { N = "8" }', "atoms: N: integer expected" },
  { 'tile.atoms { kind = "tma" }', 'atoms: kind: "mma" or "copy" expected, got "tma"' },
  { 'tile.atoms { n = 8 }',
    "atoms: unknown option 'n'; there are: kind, arch, runs_on, M, N, K, A, B, C, D" },
})

rows("tiled copies", {
  { 'tile.tiled_copy(options { vals = 1 })',
    "tiled_copy: unknown option 'vals'; did you mean val? there are: atom, dtype, bits, thr, "
    .. "val, tv, tiler" },
  { 'tile.tiled_copy(options { atom = false })',
    "tiled_copy: atom: a copy atom or the name of one expected, got nil" },
  { 'tile.tiled_copy(options { dtype = false })',
    'tiled_copy: dtype = "f32" or bits = 32 expected' },
  { 'tile.tiled_copy(options { thr = false })', "tiled_copy: thr: integer, table or layout "
    .. "expected, got nil" },
  { 'tile.tiled_copy(options { thr = { layout(4), 2 } })', "tiled_copy: thr: layout: a shape holds "
    .. "integers and tuples of them, not (4:1,2:1)" },
  { 'tile.tiled_copy(options { atom = "UniversalCopy<uint100_t>" })', [[
tiled_copy: there is no atom "UniversalCopy<uint100_t>"
  near it: UniversalCopy<uint16_t>, UniversalCopy<uint128_t>, UniversalCopy<uint8_t>]] },
  { 'tile.tiled_copy(options { val = layout(3) })',
    "tiled_copy: UniversalCopy<uint128_t> moves 4 elements of 32 bits at once, "
    .. "but val 3:1 has 3 values: not a multiple" },
  { 'tiled():get_slice(32)', "get_slice: thread 32 of 32: 0 to 31 are there" },
})

local WIDE = "copy: UniversalCopy<uint128_t> moves 4 elements at once, but "

rows("copies", {
  { 'tile.copy(view "(8,32):(32,1)", view "(8,32):(0,1)")', [[
copy: dst mode 1 has stride 0: elements 0 and 7 write offset 0
dst is (8,32):(0,1)
an element of dst is written once: give each value a place of its own]] },
  { 'tile.copy(view "(8,32):(32,1)", view "(8,32):(16,1)")', [[
copy: dst: elements 1 and 128 write offset 16
src is (8,32):(32,1) at offset 0
dst is (8,32):(16,1) at offset 0
an element of dst is written once: give each value a place of its own]] },
  { 'local T = tile.tensor("f32", layout(64)); '
    .. 'tile.copy(T:view(layout(32)), T:view(layout(32), 16))', [[
copy: src and dst overlap: offset 16 of src is offset 16 of dst
src is 32:1 at offset 0
dst is 32:1 at offset 16
copy through a tensor of its own in between]] },
  { 'tile.copy(tiled(), view("(8,32):(32,1)", 1), view "(8,32):(32,1)")', WIDE .. [[
src begins 4 bytes past a multiple of 16 bytes
UniversalCopy<uint32_t> would do, or AutoVectorizingCopy]] },
  { 'tile.copy(tiled(), view "(8,32):(33,1)", view "(8,32):(32,1)")', WIDE .. [[
src thread axis has stride 33, not a multiple of 4 elements
UniversalCopy<uint32_t> would do, or AutoVectorizingCopy]] },
  { 'tile.copy(tiled(), view "(8,32):(1,8)", view "(8,32):(32,1)")', WIDE .. [[
src value axis has stride 8, not 1
UniversalCopy<uint32_t> would do, or AutoVectorizingCopy]] },
  { 'tile.copy(view "(8,32):(32,1)", view "(32,8):(8,1)")',
    "copy: mode 1 of src (8,32):(32,1) has size 8, of dst (32,8):(8,1) it has 32" },
  { 'tile.copy(tiled(), tile.tensor("f64", layout { 8, 32 }), view "(8,32):(32,1)")',
    "copy: the tiled copy moves elements of 32 bits, f64 has 64" },
  { 'tile.copy(tile.tensor("f32", layout(16)):view(layout(32), 0, layout "32:1@0", {0}, {20}), '
    .. 'tile.tensor("f32", layout(32)))', [[
copy: src: element 19 lies at offset 19; the buffer has elements 0 to 15
src is 32:1 at offset 0
dst is 32:1 at offset 0]] },
  { 'tile.copy(view "(8,32):(32,1)")',
    "bad argument #2 to 'copy' (moontile.Tensor expected, got nil; "
    .. "copy takes [tiled_copy,] src, dst [, stream])" },
})

rows("devices", {
  { 'tile.device { "cpu", thread = 2 }',
    "device: unknown option 'thread'; did you mean threads? there are: 1, threads, "
    .. "libcuda, libblas, piece" },
  { 'tile.device { "cpu", threads = -2 }', "device: threads: 0 to 1024" },
  { 'tile.tensor("f32", layout(4), { lockd = true })',
    "tensor: unknown option 'lockd'; did you mean locked? there are: 1, locked" },
})

-- Options of a tiled MMA of 16x8x16; `over` has others.
function env.with(over)
  local options = { atom = "SM80_16x8x16_F32F16F16F32_TN" }
  for key, value in pairs(over or {}) do options[key] = value end
  return options
end

function env.mma(over) return tile.tiled_mma(env.with(over)) end

rows("tiled MMAs", {
  { 'tile.tiled_mma(with { atom = "SM80_16x8x16_F32F16F16F32" })', [[
tiled_mma: there is no atom "SM80_16x8x16_F32F16F16F32"
  near it: SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x8_F32F16F16F32_TN, ]]
    .. "SM80_16x8x16_F32BF16BF16F32_TN" },
  { 'tile.tiled_mma(with { atom = 7 })', "tiled_mma: atom: an MMA atom or the name of one expected" },
  { 'tile.tiled_mma(with { atom_layout = layout(2) })',
    "tiled_mma: unknown option 'atom_layout'; there are: atom, atoms, permutation" },
  { 'tile.tiled_mma(with { atoms = "x" })', "tiled_mma: atoms: integer, table or layout "
    .. 'expected, got string; "x" is the text of no layout, "(4,2):(1,4)" is one' },
  { 'tile.tiled_mma(with { atoms = layout { 2, 2, 1, 1 } })',
    "tiled_mma: atoms (2,2,1,1):(1,2,0,0) has 4 modes; M, N and K are 3" },
  { 'tile.tiled_mma(with { atoms = layout({ 2, 2 }, { 1, 1 }) })', [[
tiled_mma: atoms (2,2,1):(1,1,0) gives the atoms at (1,0,0) and (0,1,0) the same number 1, ]]
    .. [[
so the same threads
  (2,2,1):(1,2,0) would do]] },
  { 'tile.tiled_mma(with { atoms = layout({ 2, 2 }, { 2, 3 }) })', [[
tiled_mma: atoms (2,2,1):(2,3,0) of threads 32:1 are no layout of threads whose strides ]]
    .. [[
divide one another
  (2,2,1):(1,2,0) would do]] },
  { 'tile.tiled_mma { atom = "SM70_8x8x4_F16F16F16F16_TN", atoms = layout(3) }',
    "tiled_mma: atoms (3,1,1):(1,0,0) of threads (4,2):(1,16) are no layout of threads "
    .. "whose strides divide one another" },
  { 'tile.tiled_mma(with { atoms = layout({ 2, 2 }, { -1, 2 }) })',
    "tiled_mma: atoms (2,2,1):(-1,2,0) has negative numbers" },
  { 'tile.tiled_mma(with { atoms = layout { 2, 0 } })',
    "tiled_mma: atoms (2,0):(1,2) is empty" },
  { 'tile.tiled_mma(with { atoms = tile.make_identity_layout { 2, 2 } })',
    "tiled_mma: atoms is not a layout of numbers: (2,2):(1@0,1@1)\n"
    .. "  one such as (4,8):(8,1), swizzled or composed ones, too, are" },
  { 'tile.tiled_mma(with { atoms = layout { 2, 1 }, permutation = { 48 } })', [[
tiled_mma: the permutation of M, 48, has 48 places: not a multiple of 32, ]] .. [[
what 2 atoms of 16 have along M
  64 would do]] },
  { 'tile.tiled_mma(with { permutation = { X, 0 } })',
    "tiled_mma: the permutation of N is 0; `_`, an extent or a layout expected" },
  { 'tile.tiled_mma(with { permutation = layout(16) })',
    "tiled_mma: permutation 16:1 is one for all; M, N and K have one each: (16:1,_,_)" },
  { 'tile.tiled_mma(with { permutation = { 16, 8, 16, 1 } })',
    "tiled_mma: permutation (16:1,8:1,16:1,1:1) has 4 modes; M, N and K are 3" },
  { 'tile.tiled_mma(with { permutation = { { 8, 2 } } })',
    "tiled_mma: the permutation of M is (8:1,2:1); `_`, an extent or a layout expected" },
  { 'tile.tiled_mma(with { permutation = { layout({ 8, 2 }, { 1, 16 }) } })',
    "tiled_mma: permutation of M (8,2):(1,16) gives element 8 the place number 16; "
    .. "its 16 elements need the numbers 0 to 15" },
  { 'tile.tiled_mma(with { permutation = { layout({ 8, 2 }, { 1, 4 }) } })',
    "tiled_mma: permutation of M (8,2):(1,4) gives elements 4 and 8 the same place number 4" },
  { 'mma():get_slice(32)', "get_slice: thread 32 of 32: 0 to 31 are there" },
  { 'mma():partition_A(layout(64))', "partition_A: A has the modes (M,K), 64:1 has 1" },
  { 'mma():partition_C(layout({ { 5, 4 }, 8 }, { { 1, 10 }, 100 }))', [[
partition_C: no layout R has R(i) = A(B(i)) for A = (5,4):(1,10), B = (16,2):(1,16)
  B's mode 16:1 does not split at the end of A's mode 1 (extent 5): A(5) = 10, ]] .. [[
where a layout would give 5
  B is the tile 16:1 with its complement; 15:1 and 20:1 divide this A]] },
  { 'mma():partition_D(layout { 16, 8 })',
    "TiledMMA.partition_D: no such method; did you mean partition_A?" },
})

rows("copies by any atom", {
  { 'tile.tiled_copy { atom = "SM75_U32x4_LDSM_N", bits = 16, thr = layout { 4, 4 }, '
    .. 'val = layout { 1, 8 } }', [[
tiled_copy: SM75_U32x4_LDSM_N is done by 32 threads together, but thr (4,4):(1,4) has ]]
    .. [[
16 threads: not a multiple
  2 times as many would do]] },
  { 'tile.tiled_copy { atom = "SM75_U32x4_LDSM_N", bits = 16, thr = layout { 4, 8 }, '
    .. 'val = layout { 1, 4 } }',
    "tiled_copy: SM75_U32x4_LDSM_N moves 8 elements of 16 bits at once, "
    .. "but val (1,4):(0,1) has 4 values: not a multiple" },
  { 'tile.tiled_copy { atom = "UniversalCopy<uint16_t>", dtype = "f32", thr = layout(4) }', [[
tiled_copy: UniversalCopy<uint16_t> has no values of 32 bits: ]] .. [[
its source layout in bits is (1,16):(0,1)
  it keeps 16 bits together]] },
  { 'tile.make_tiled_copy_B("SM75_U32x4_LDSM_N", mma())', [[
make_tiled_copy_B: SM75_U32x4_LDSM_N moves 8 elements of 16 bits at once, ]] .. [[
but a thread of the tile (8,16) has 4 values: not a multiple
  a tile 2 times as large would do: a permutation makes it so]] },
  { 'tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma { atom = "SM61_DP4A" })', [[
make_tiled_copy_A: SM75_U32x4_LDSM_N is done by 32 threads together, ]] .. [[
but the tile (1,4) has 1 threads: not a multiple
  32 times as many would do]] },
  { 'tile.make_tiled_copy_A(mma(), "SM75_U32x4_LDSM_N")',
    "make_tiled_copy_A: atom: a copy atom or the name of one expected, got moontile.TiledMMA; "
    .. "make_tiled_copy_A takes atom, tiled_mma [, bits]" },
  { 'tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma(), 0)',
    "bad argument #3 to 'make_tiled_copy_A' (1 to 1024 bits, or the name of a dtype)" },
  { 'tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma()):retile_D(layout { 4, 2 })',
    "retile_D: a fragment (V,M,N,...) of the tile (16,16) has 3 modes, (4,2):(1,4) has 2" },
  { 'tile.tiled_copy { atom = "AutoVectorizingCopy", dtype = "i8", thr = layout(8), '
    .. 'val = layout "Sw<1,0,1> o 0 o 8:1" }:retile_S(layout { 1, 8 })',
    "retile_S: the threads and values of the tiled copy are Sw<1,0,1> o 0 o (8,8):(8,1), under a "
    .. "function, F2, or a swizzle that moves values: only those of a plain layout can be "
    .. "regrouped\nretile by a tiled copy of plain threads and values" },
  { 'tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma()):retile_D(layout { 3, 2, 2 })',
    "retile_D: mode 1 of the fragment (3,2,2):(1,3,6) has 3 values, "
    .. "which do not divide the 8 that a thread has of the tile (16,16)" },
  { 'local T = tile.tensor("f16", layout { 16, 16 }); '
    .. 'tile.copy(tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma()), T, T)', [[
copy: SM75_U32x4_LDSM_N is done by 32 threads together on registers and shared memory, ]] .. [[
which tensors are not in: it can be partitioned, not run
UniversalCopy<uint16_t> would do, or AutoVectorizingCopy]] },
  { 'local T = tile.tensor("f32", layout(32)); tile.copy(tile.tiled_copy(options { '
    .. 'atom = "UniversalCopy<uint256_t>", thr = layout(4), val = layout(8) }), T, T)', [[
copy: UniversalCopy<uint256_t> moves 256 bits at once, kernels move at most 128
UniversalCopy<uint128_t> would do, or AutoVectorizingCopy]] },
})

-- code, message, code of the condition
local WORLD = {
  { 'return tile.device { "cuda", libcuda = "/nonexistent.so" }', [[
no CUDA driver: /nonexistent.so: cannot open shared object file: No such file or directory
install the NVIDIA driver, or use the device "cpu"]], "ENODEV" },
  { 'local d, text, code = tile.device "tpu" return d, (text:gsub("\\n  here [^\\n]*cpu[^\\n]*$", "")), code',
    'there is no device "tpu": "cpu", "cpu:checked", "cuda" and "cuda:N" are names of devices',
    "ENODEV" },
  { 'return tile.tensor("f32", layout(4), "tpu")',
    'there is no device "tpu": "cpu", "cpu:checked", "cuda" and "cuda:N" are names of devices',
    "ENODEV" },
  { 'return tile.tensor("u8", layout(1 << 50))',
    "cpu has no 1125899906842624 bytes of memory left", "ENOMEM" },
  { 'return tile.load "/nonexistent.npy"', "/nonexistent.npy: No such file or directory", "EIO" },
  { 'return tile.load "/dev/null"', "/dev/null: a device: only regular files are read and written", "EIO" },
  { 'return tile.tensor("f32", layout(4)):save "/nonexistent/x.npy"',
    "/nonexistent/x.npy: No such file or directory", "EIO" },
}

for _, group in ipairs(ROWS) do
  describe("refused " .. group.title, function()
    refused(it, group.list, env)
  end)
end

describe("the world", function() refused(it, WORLD, env) end)

describe("an error", function()
  it("has the line of the caller, also of operators and methods", function()
    for _, code in ipairs { "return A * 'x'", "return A / {'x'}", "return A {'x'}", "return A.x",
                            "return A:get(9)", "return T(99)", "T[1] = 2", "return plan.x" } do
      local chunk = load("local A, T, plan = ...\n\n" .. code, "=row")
      local T = tile.tensor("f32", tile.layout(4))
      local plan = tile.plan(T, tile.tensor("f32", T:layout()))
      local ok, message = pcall(chunk, tile.layout(4), T, plan)
      assert.is_false(ok)
      assert.equal("row:3: ", message:sub(1, 7))
    end
  end)
end)
