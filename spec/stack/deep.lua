-- deep.lua: what goes deepest, in a thread with a small stack: the deepest values, refusals with
-- all they say, plans, proofs.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local layout, _ = tile.layout, tile._

-- ---------------------------------------------------------------- the deepest values

-- x in n tables: {{...{x}...}}.
local function nested(x, n)
  for _ = 1, n or 16 do x = { x } end
  return x
end

-- As a text, of n modes at each depth.
local function written(x, n)
  return ("("):rep(n or 15) .. x .. (")"):rep(n or 15)
end

local shape = nested(24)
local A = layout(shape)
local tiler = nested(4)

assert(tostring(layout(tostring(A))) == tostring(A))
assert(tostring(tile.parse(written "(4:1,2)")):find("4:1", 1, true))
assert(tile.shape_div(shape, tiler))
assert(tile.ceil_div(shape, nested(layout(4))))
assert(tile.crd2crd(nested(5), shape, nested(24)))
for _, op in ipairs { "composition", "logical_divide", "zipped_divide", "tiled_divide",
                      "flat_divide", "logical_product", "zipped_product" } do
  pcall(tile[op], A, tiler)
  pcall(tile[op], A, nested(layout(5, 2)))
  pcall(tile.explain, op, A, tiler)
end
for _, f in ipairs { "coalesce", "right_inverse", "left_inverse", "complement", "flatten", "shape",
                     "size", "cosize", "make_layout_like" } do
  pcall(tile[f], A)
  pcall(tile[f], A, tiler)
end

-- ---------------------------------------------------------------- refusals

local refused = 0
local function refuse(f, ...)
  assert(not pcall(f, ...))
  refused = refused + 1
end

local B = layout "((4,6),(8,10)):((2,3),(5,7))"
refuse(tile.composition, layout "(4,6,8):(2,3,5)", layout(6, 3))
refuse(tile.composition, layout "(4,6,8,10):(2,3,5,7)", layout(1 << 40, 3))
refuse(tile.logical_divide, B, layout(7, 2))
refuse(tile.zipped_divide, B, { layout(5, 3), layout(3, 2) })
refuse(tile.local_tile, B, { layout(5, 3), 2 }, { 0, 0 })
refuse(tile.blocked_product, layout(4, 1 << 61), layout(9, 5))
refuse(tile.logical_product, layout(3, 2), layout({ 2, 2 }, { 1, -2 }))
refuse(tile.tiled_copy, { atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(8, 0),
                          val = layout(4) })
local ATOM = "SM80_16x8x16_F32F16F16F32_TN"
refuse(tile.tiled_mma, { atom = ATOM, atoms = layout({ 2, 2 }, { 1, 1 }) })
refuse(tile.layout, "((4,8):(1,4)")

-- ---------------------------------------------------------------- tensors, plans, proofs

local function work(device)
  local function tensor(t, ...) return assert(tile.tensor(t, layout(...), device)) end
  local X, Y = tensor("f32", { 48, 36 }), tensor("f32", { 48, 36 }, "right")
  tile.copy(X, Y)
  tile.copy(tensor("u8", { 256, 192 }), tensor("u8", { 256, 192 }, "right"))
  tile.copy(tensor("f16", { 9, 8, 7, 6 }), tensor("f32", { 9, 8, 7, 6 }, "right"))
  local copy = tile.tiled_copy { atom = "AutoVectorizingCopy", dtype = "f32",
                                 thr = layout { 8, 4 }, val = layout { 2, 1 } }
  tile.copy(copy, X:local_tile({ 32, 32 }, { 1, 1 }), Y:local_tile({ 32, 32 }, { 1, 1 }))
  tile.copy(copy, X:local_tile({ 7, 5 }, { 6, 7 }), Y:local_tile({ 7, 5 }, { 6, 7 }))
  assert(#tostring(tile.plan(copy, X, Y)) > 0 and #tostring(tile.plan(X, Y):why()) > 0)
  assert(tile.verify(copy, X, "D").ok)
  tile.verify(copy, X:local_tile({ 32, 32 }, { 1, 1 }), "S")
  tile.verify({ tv = layout { 8, 4 }, tiler = { 8, 4 } }, X:local_tile({ 7, 5 }, { 6, 7 }))
  refuse(tile.copy, X, tensor("f32", { 36, 48 }))
  refuse(tile.copy, copy, X, tensor("f32", { 48, 36 }, { 0, 1 }))
  for _, t in ipairs { "f32", "f16", "i8" } do
    local to = t == "i8" and "i32" or t
    tile.gemm(tensor(t, { 33, 20 }), tensor(t, { 17, 20 }), tensor(to, { 33, 17 }))
  end
  local mma = tile.tiled_mma { atom = ATOM, atoms = layout { 2, 2 } }
  tile.gemm(mma, tensor("f16", { 64, 32 }), tensor("f16", { 32, 32 }), tensor("f32", { 64, 32 }))
  tile.gemm(mma, tensor("f16", { 61, 29 }), tensor("f16", { 27, 29 }), tensor("f32", { 61, 27 }))
  assert(#tostring(tile.verify(mma, tensor("f32", { 64, 32 }), "C")) > 0)
  assert(mma:get_slice(5):partition_A(tensor("f16", { 64, 32 })))
  assert(copy:get_slice(5):partition_S(X) and copy:retile_S(layout { 2, 6, 9 }))
  tile.einsum("bqhd,bkhd->bhqk", tensor("f32", { 2, 3, 4, 5 }), tensor("f32", { 2, 6, 4, 5 }))
  local g = device:graph(function() tile.copy(X, Y) end)
  g()
  device:synchronize()
end

for _, name in ipairs { "cpu", "cpu:checked" } do work(assert(tile.device(name))) end
local library = os.getenv "MOONTILE_TEST_LIBCUDA"
if library then
  local gpu = assert(tile.device { "cuda", libcuda = library })
  work(gpu)
  assert(assert(tile.tensor("f32", layout({ 40, 30 }, { 64, 2 }))):to(gpu):to "cpu")
end

local rows = layout({ 64, 64 }, "right")
local SW = tile.composition(tile.swizzle(3, 3, 3), rows)
assert(SW:slice { _, 3 } and SW:zipped_divide { 8, 8 } and tostring(tile.recast_layout(16, 8, SW)))
local write = tile.tiled_copy { atom = "UniversalCopy<uint128_t>", dtype = "f16",
                                thr = layout({ 16, 8 }, "right"), val = layout { 1, 8 } }
assert(tile.find_swizzle { smem = rows, dtype = "f16", write = write })
tile.bank_conflicts(layout({ 32, 32 }, "right"), 32)
print(("%d refusals"):format(refused))
