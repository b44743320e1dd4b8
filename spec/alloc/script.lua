-- script.lua: uses everything, for the allocator that fails, a part at a time. Arguments: the
-- number of the part, a file name, a driver, a function that counts allocations. Returns how many
-- parts there are; part 0 does nothing but load the module.
-- SPDX-License-Identifier: MIT

local part, path, libcuda, count = ...
local tile = require "moontile"
local layout, X = tile.layout, tile._

local function refused(f, ...) assert(not pcall(f, ...)) end

local function algebra()
  local A = layout({ 4, { 2, 2 } }, { 2, { 1, 8 } })
  assert(tostring(A) == "(4,(2,2)):(2,(1,8))" and A == layout(tostring(A)))
  assert(A(1, X):size() == 4 and A { 1, 2 } == 10 and #A == 2 and A[3] == nil)
  assert(tostring(A:shape()) == "(4,(2,2))" and A:shape() == tile.parse "(4,(2,2))")
  assert(tostring(layout { 4, 8 } / { 2, 4 }) == "((2,2),(4,2)):((1,2),(4,16))")
  assert((layout(20, 2) * layout({ 4, 5 })):size() == 20)
  assert(tile.complement(layout(4, 2), 24):size() == 6)
  assert(tile.make_layout { A, A }:flatten():coalesce():rank() >= 1)
  assert(A:print_layout():find "10")
  assert(tile.make_identity_layout { 2, { 3, 4 } }(1, { 2, 3 })[2][2] == 3)
  refused(layout, { { 4, 2, "x" } })
  refused(tile.composition, layout "(4,6,8):(2,3,5)", layout(6, 3))
  refused(function() return A.colaesce end)
  refused(tile.parse, "(4,")
  refused(A.get, A, 7)
end

local function uneven(i, j) return (7 * i * i + 3 * j * j + i) % 97 end

local function listed(device)
  local A = tile.function_layout({ 6, 4 }, uneven)
  assert(A(5, 3) == uneven(5, 3) and A(X, 2)(3) == uneven(3, 2))
  assert(A == tile.function_layout({ 6, 4 }, uneven) and tostring(A):find "^{")
  local R = layout({ 3, 40 }, { 1, 4 }) * A / { 3, 2 }
  assert(R({ 1, 1 }, 1) == uneven(4, 1) // 3 * 4 + uneven(4, 1) % 3)
  local T = assert(tile.tensor("f32", layout(97), device)):fill(2):view(A)
  local D = assert(tile.tensor("f32", layout { 6, 4 }, device))
  tile.copy(T, D)
  assert(D(5, 3) == 2 and T(5, 3) == 2 and T(X, 1)(4) == 2)
  local C = assert(tile.tensor("f32", layout { 6, 6 }, device))
  tile.gemm(T, D, C)
  assert(C(5, 5) == 16)
  local w = { 2, 0, 3, 5, 1, 4 }
  local P = tile.function_layout(6, function(i) return w[i + 1] end)
  assert(tile.right_inverse(P)(2) == 0 and (P * tile.left_inverse(P))(3) == 3)
  refused(tile.composition, A, layout(25))
  refused(tile.function_layout, 6, function(i) return w[i] end)
end

local function tensors(device)
  local T = assert(tile.tensor("f32", layout({ 20, 12 }, "right"), device)):fill(2)
  T[{ 3, 4 }] = 7
  assert(T(3, 4) == 7 and T:select(2, 1)(4, 3) == 7 and T(3, X)(4) == 7)
  assert(T:totable()[3 + 4 * 20 + 1] == 7)
  assert(T:select(2, 1):save(path))
  local U = assert(tile.load(path, device))
  assert(U(4, 3) == 7)
  local V = assert(U:to "cpu")
  assert(V(4, 3) == 7)
  V:view(layout(4), 2):fill { 1, 2, 3, 4 }
  assert(tile.save(path, { T = T:select(2, 1), U = U }))
  assert(assert(tile.load(path, device)).T(4, 3) == 7)
  assert(select(3, tile.load "/nonexistent.npy") == "EIO")
  refused(T.set, T, "x", 0, 0)
  U:free()
  refused(U, 0, 0)
  local W <close> = assert(tile.tensor("u8", layout(5), device))
  assert(tostring(W):find "u8")
end

local function copies(device)
  local src = assert(tile.tensor("f32", layout({ 20, 12 }, "right"), device)):fill(3)
  local dst = assert(tile.tensor("f32", layout({ 20, 12 }, "left"), device))
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32",
                                 thr = layout({ 4, 8 }, "right"), val = layout { 1, 2 } }
  local plan = assert(tile.plan(copy, src, dst))
  assert(#tostring(plan) > 0 and #tostring(copy) > 0)
  assert(tile.verify(copy, dst, "S").covers and #tostring(tile.verify(copy, src)) > 0)
  assert(tile.verify({ tv = layout { 4, 4 }, tiler = { 4, 8 } }, src).witness.index == 16)
  plan()
  local stream <close> = assert(device:stream())
  plan(stream)
  stream:synchronize()
  device:synchronize()
  assert(dst(19, 11) == 3)
  tile.copy(src, dst)
  tile.copy(copy, src, dst, stream)
  device:synchronize()
  assert(copy:get_slice(3):partition_S(src)(0) == 3)
  assert(copy:partition(src:layout()):size() >= 240)
  local graph = assert(device:graph(function() plan(); dst:fill(1); tile.copy(src, dst) end))
  assert(graph:size() == 3 and #tostring(graph) > 0)
  graph()
  graph(stream)
  device:synchronize()
  assert(dst(19, 11) == 3)
  refused(device.graph, device, function() plan(); device:synchronize() end)
  graph:free()
  refused(tile.copy, src, dst:view(layout({ 20, 12 }, { 0, 1 })))
  refused(tile.tiled_copy, { atom = "nothing", dtype = "f32", thr = layout(4) })
  plan:free()
end

-- A copy that is remembered needs nothing.
local function remembered(device)
  local src = assert(tile.tensor("f32", layout({ 20, 12 }, "right"), device))
  local dst = assert(tile.tensor("f32", layout { 20, 12 }, device))
  local copy = tile.copy
  local how = tile.tiled_copy { atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(32) }
  copy(src, dst)
  copy(how, src, dst)
  collectgarbage "stop"
  local before = count()
  for _ = 1, 20 do
    copy(src, dst)
    copy(how, src, dst)
  end
  assert(count() == before)
  collectgarbage "restart"
  assert(device:plans() >= 40)
end

local function transfers(device)
  local A = assert(tile.tensor("f32", layout({ 20, 12 }, "right"))):fill(3)
  local B = assert(tile.tensor("f32", layout { 20, 12 }, device))
  local up = assert(tile.plan(A, B))
  up()
  assert(#tostring(up) > 0)
  tile.copy(B, A, assert(device:stream()))
  assert(A(19, 11) == 3 and A:view(layout({ 2, 2 }, { 30, 100 })):to(device)(1, 1) == 3)
  refused(tile.copy, A, B:view(layout({ 20, 12 }, { 0, 1 })))
  local H = assert(tile.tensor("f32", layout { 20, 12 }, { device, locked = true }))
  tile.copy(B, H)
  assert(H(19, 11) == 3)
  H:free()
end

local function described(device)
  local A = assert(tile.tensor("f32", layout { 10, 6 }, device)):fill(2)
  local B = assert(tile.tensor("f32", layout { 7, 6 }, device)):fill(1)
  local C = assert(tile.tensor("f32", layout { 10, 7 }, device)):fill(0)
  local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 4, 4 } }
  local plan = assert(tile.plan(mma, A, B, C, { beta = 1 }))
  assert(#tostring(plan) > 0)
  plan()
  tile.gemm(A, B, C, { beta = 1 })
  device:synchronize()
  assert(C(9, 6) == 24)
  plan:free()
  refused(tile.gemm, A, B, A)
  refused(tile.gemm, A, B, C, { gamma = 1 })
end

local function kernels()
  local A = assert(tile.tensor("f32", layout({ 10, 8 }, "right"))):fill(2)
  local C = assert(tile.tensor("f32", layout { 10, 10 }))
  local mma = tile.tiled_mma { atom = "UniversalFMA<float>", atoms = layout { 4, 4 } }
  local kernel = tile.kernel { mma = mma, tile = { 8, 8, 8 }, epilogue = { beta = 1 } }
  assert(#tostring(kernel) > 0 and tile.verify(kernel).ok and tile.verify(kernel, A, A, C).ok)
  tile.gemm(kernel, A, A, C, { seed = 3 })
  assert(C(9, 9) == 32)
  assert(#tostring(tile.make_gmma_desc(layout "(64,16):(8,1)", "f16")) > 0)
  assert(not tile.tma { tensor = layout({ 9, 9 }, "right"), smem = layout({ 4, 4 }, "right"),
                        dtype = "f32" }.ok)
  refused(tile.kernel, { mma = mma, tiles = {} })
  refused(tile.gemm, kernel, A, A, A)
end

local function atoms()
  local a = tile.mma_atom "SM90_64x24x16_F32F16F16_RS"
  assert(#tostring(a) > 0 and a.dtype.A == "f16" and a.src.B == "smem_desc")
  assert(a.shape_MNK[2] == 24 and a.layout_C:size() == 64 * 24)
  local c = tile.copy_atom("SM75_U32x4_LDSM_N", 16)
  assert(#tostring(c) > 0 and c.layout_dst:size() == 256)
  assert(#tile.atoms { kind = "copy", arch = "sm_75" } == 7)
  refused(tile.copy_atom, "SM75_U32x3_LDSM_N")
  refused(function() return a.layoutA end)
  assert(tile.parse("cute.make_mma_atom(warp.MmaTF32Op((16, 8, 8)))").shape_MNK[3] == 8)
  refused(tile.parse, "cute.make_mma_atom(warp.MmaI4Op())")
end

local function analysis()
  local A = layout({ 32, 8 }, { 64, 1 })
  assert(#tostring(tile.bank_conflicts(A, "f16", "ldmatrix")) > 0)
  assert(tile.coalescing(A, tile.tensor("f16", layout(4096))).sectors == 32)
  local best, all = tile.find_swizzle { smem = layout({ 8, 8 }, "right"), bits = 32,
                                        write = layout(8, 8), read = layout(8) }
  assert(best:size() == 64 and #tostring(all) > 0)
  refused(tile.bank_conflicts, A, 12)
  local smem = layout({ 32, 64 }, "right")
  local t = tile.tma { tensor = layout({ 64, 64 }, "right"), dtype = "f16", smem = smem,
                       multicast = 2 }
  local G = tile.tma_partition(t, 1, layout(2), smem:group(1, 2),
                               (t.coords:local_tile({ 32, 64 }, { 1, 0 })):group(1, 2))
  assert(G:size() == 2048 and tile.tmem_frg_1sm({ { 64, 8 }, 2 }, "f32"):size() == 1024)
end

local function tiles()
  local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout { 2, 2 },
                               permutation = { tile._, 32 } }
  local copy = tile.make_tiled_copy_B("SM75_U32x4_LDSM_N", mma)
  assert(#tostring(mma) > 0 and #tostring(copy) > 0)
  assert(mma:partition_B(layout { 64, 32 }):size() == 128 * 32)
  local of_one = mma:get_slice(5):partition_B(layout { 64, 32 })
  assert(copy:get_slice(5):retile_D(of_one):size() == of_one:size())
  assert(tile.make_tiled_copy_S("AutoVectorizingCopy", copy):size() == 128)
  refused(tile.tiled_mma, { atom = "nothing" })
end

local function products(device)
  local A = assert(tile.tensor("f32", layout({ 3, 4 }, "right"), device)):fill(2)
  local C = assert(tile.tensor("f32", layout { 3, 3 }, device))
  local plan = assert(tile.plan_gemm(A, A, C, { beta = 1 }))
  plan()
  tile.gemm(A, A, C)
  assert(C(2, 2) == 16 and #tostring(plan) > 0)
  refused(tile.gemm, A, C, C)
end

local function tuning(device)
  local src = assert(tile.tensor("u8", layout(48), device))
  local dst = assert(tile.tensor("u8", layout(48), device))
  local plan, ways = assert(tile.tune(assert(tile.plan(src, dst)), { rounds = 1 }))
  assert(#ways == 1 and #tostring(ways) > 0)
  tile.copy(src, dst)
  tile.forget_tuning()
  refused(plan.take, plan, "nothing", 4)
end

local function contractions(device)
  local A = assert(tile.tensor("f32", layout({ 3, 4 }, "right"), device)):fill(2)
  assert(tile.einsum("ij,kj,kl", A, A, A, { dtype = "f64" }):dtype() == "f64")
  assert(tile.einsum("ij->ji", A):size() == 12)
  refused(tile.einsum, "ij,jk", A, A)
end

local function open(name)
  if name == "cpu" then return tile.device { "cpu", threads = 2 } end
  if name == "cpu:checked" then return tile.device(name) end
  assert(#tile.info(libcuda).devices >= 1)
  return assert(tile.device { "cuda", libcuda = libcuda, piece = 256 })
end

local parts = { algebra, atoms, analysis, tiles, kernels }
local function add(f, name) parts[#parts + 1] = function() f(open(name)) end end
for _, name in ipairs { "cpu", "cpu:checked", libcuda and "cuda" } do
  for _, f in ipairs { tensors, listed, copies, described, remembered, products } do
    add(f, name)
  end
end
add(tuning, "cpu")
add(contractions, "cpu")
if libcuda then add(transfers, "cuda") end
if part > 0 then parts[part]() end
return #parts
