-- kinds.lua: work that takes seconds or for ever, a kind each: its name, what makes it ready, after
-- how many milliseconds it is to be stopped, how many a kernel takes on the fake GPU meanwhile, and
-- whether it tells how far it is: what makes Lua values, or waits for a GPU, does not.
-- SPDX-License-Identifier: MIT

local tile, libcuda = ...
local layout = tile.layout
local kinds = {}

local SILENT = { ["fill by a table"] = true, totable = true, print_layout = true }

local function kind(name, make, delay, slow)
  kinds[#kinds + 1] = { name = name, make = make, delay = delay or 30, slow = slow or 0,
                        tells = not SILENT[name] and not name:match "^GPU" }
end

local function tensor(dtype, shape, stride)
  return assert(tile.tensor(dtype, layout(shape, stride)))
end
local MB = 1 << 20

-- ---- copies

-- One launch of these takes some milliseconds: it is stopped among many of one call.
local function again(name, make)
  kind(name, function()
    local plan = assert(tile.plan(make()))
    return function() return plan:measure((1 << 31) - 1) end
  end)
end
again("copy rows", function() return tensor("u8", 32 * MB), tensor("u8", 32 * MB) end)
again("copy transposed", function()
  return tensor("f32", { 2048, 2048 }, "right"), tensor("f32", { 2048, 2048 })
end)
again("copy units", function()
  local src = tensor("u8", { 3000, 4, 1000 }, { 1, 0, 3000 })
  return src, tensor("u8", { 3000, 4, 1000 }, { 4000, 1, 4 })
end)
again("copy converted", function() return tensor("f32", 4 * MB), tensor("bf16", 4 * MB) end)
again("launch nothing much", function() return tensor("f32", 4), tensor("f32", 4) end)
kind("copy swizzled", function()
  local src = tensor("u8", 64 * MB):view(layout "Sw<3,3,3> o 0 o (8192,8192):(8192,1)")
  local dst = tensor("u8", { 8192, 8192 })
  return function() tile.copy(src, dst) end
end)
kind("copy checked", function()
  local src = tile.tensor("u8", layout(64 * MB), "cpu:checked")
  local dst = tile.tensor("u8", layout(64 * MB), "cpu:checked")
  return function() tile.copy(src, dst) end
end)
kind("fill swizzled", function()
  local T = tensor("u8", 64 * MB):view(layout "Sw<3,3,3> o 0 o (8192,8192):(8192,1)")
  return function() T:fill(1) end
end)
kind("fill by a table", function()
  local T = tensor("u8", 64 * MB)
  local values = setmetatable({}, { __len = function() return 64 * MB end, __index = rawlen })
  return function() T:fill(values) end
end)
kind("totable", function()
  local T = tensor("u8", 4 * MB)
  return function() for _ = 1, 1000 do T:totable() end end
end)
kind("print_layout", function()
  local A = layout { 512, 512 }
  return function() for _ = 1, 1000 do A:print_layout() end end
end)
kind("memory", function()
  return function() return tile.tensor("u8", layout(1 << 30)) end
end, 5)

-- ---- products

local function product(name, a, c, K, device, mma)
  kind(name, function()
    local A = tile.tensor(a, layout({ 64, K }, { 1, 0 }), device)
    local C = tile.tensor(c, layout { 64, 64 }, device)
    if not mma then return function() tile.gemm(A, A, C) end end
    mma = tile.tiled_mma { atom = mma }
    return function() tile.gemm(mma, A, A, C) end
  end)
end
for _, d in ipairs { "f32", "f64", "i8", "i32", "i64", "bf16" } do
  product("gemm " .. d, d, d == "i8" and "i32" or d, 1 << 40)
end
kind("gemm of large numbers", function()
  local A, C = tensor("i64", { 64, 1 << 24 }, { 1, 0 }), tensor("i64", { 64, 64 })
  A(tile._, 0):fill(math.maxinteger)
  return function() tile.gemm(A, A, C) end
end, 1000)

-- As long as partitions can be.
local MOST = (1 << 22) - 16
local SMALL, LARGE = "SM80_16x8x16_F32F16F16F32_TN", "SM90_64x256x16_F32F16F16_SS"
product("gemm by atoms", "f16", "f32", MOST, "cpu", SMALL)
product("gemm by large atoms", "f16", "f32", MOST, "cpu", LARGE)
product("gemm by atoms, checked", "f16", "f32", MOST, "cpu:checked", SMALL)
product("gemm checked", "f32", "f32", MOST, "cpu:checked")
kind("gemm by a kernel", function()
  local copy = tile.tiled_copy { atom = "UniversalCopy<uint16_t>", bits = 16,
                                 thr = layout { 8, 4 } }
  local kernel = tile.kernel { mma = tile.tiled_mma { atom = SMALL }, tile = { 16, 8, 16 },
                               g2s = { A = copy, B = copy } }
  local A, C = tensor("f16", { 64, MOST }, { 1, 0 }), tensor("f32", { 64, 64 })
  return function() tile.gemm(kernel, A, A, C) end
end)
kind("gemm large", function()
  local A, C = tensor("f32", { 4096, 4096 }), tensor("f32", { 4096, 4096 })
  return function() for _ = 1, 100 do tile.gemm(A, A, C) end end
end)
kind("gemm of a batch", function()
  local A = tensor("f32", { 1, 1, 1 << 24 }, { 0, 0, 1 })
  local C = tensor("f32", { 1, 1, 1 << 24 }, { 0, 0, 1 })
  return function() tile.gemm(A, A, C) end
end)
kind("gemm by a BLAS", function()
  local d = tile.device { "cpu", libblas = "libblas.so.3" }
  local A = tile.tensor("f32", layout { 4096, 4096 }, d)
  local C = tile.tensor("f32", layout { 4096, 4096 }, d)
  return function() tile.gemm(A, A, C) end
end)
kind("einsum", function()
  local A, C = tensor("f32", { 8, 8, 1 << 40 }, { 1, 8, 0 }), tensor("f32", { 8, 8, 8, 8 })
  return function() tile.einsum("abk,cdk->abcd", A, A, C) end
end)
kind("measure a product", function()
  local A, C = tensor("f32", { 4, 4 }), tensor("f32", { 4, 4 })
  local plan = tile.plan_gemm(A, A, C)
  return function() return plan:measure((1 << 31) - 1) end
end)
kind("graph", function()
  local plan = assert(tile.plan(tensor("f32", { 64, 64 }), tensor("f32", { 64, 64 }, "right")))
  local graph = tile.device "cpu":graph(function() for _ = 1, 1000000 do plan() end end)
  return function() graph() end
end)
kind("tune", function()
  local src, dst = tensor("f32", { 2048, 2048 }), tensor("f32", { 2048, 2048 }, "right")
  local plan = assert(tile.plan(src, dst))
  return function() while true do tile.tune(plan) end end
end)

-- ---- searches

kind("bank_conflicts", function()
  local A = layout({ 1 << 15, 1 << 14 }, { 1, 7 })
  return function() for _ = 1, 100 do tile.bank_conflicts(A, 8) end end
end)
kind("coalescing", function()
  local A = layout({ 1 << 15, 1 << 14 }, { 1, 7 })
  return function() for _ = 1, 100 do tile.coalescing(A, 8) end end
end)
kind("find_swizzle", function()
  local smem = layout({ 1 << 10, 1 << 10 }, { 1, 1 << 10 })
  local tv = layout({ 1 << 15, 32 }, { 1, 1 << 15 })
  local query = { smem = smem, bits = 32, write = tv, read = tv }
  return function() for _ = 1, 100 do tile.find_swizzle(query) end end
end)
-- ---- a GPU, whose kernels do not end

local function on_gpu(name, make)
  kind("GPU: " .. name, function()
    local gpu = assert(tile.device { "cuda", libcuda = libcuda, piece = 1 << 16 })
    local src = tile.tensor("f32", layout { 64, 64 }, gpu)
    local dst = tile.tensor("f32", layout { 64, 64 }, gpu)
    local plan = assert(tile.plan(src, dst))
    return make(gpu, plan, src, dst)
  end, nil, 1000000)
end
local function many(dtype, device)
  local A = assert(tile.tensor(dtype, layout({ 1024, 1024 }, "right"), device))
  return A:view(layout({ 512, 1024 }, { 2048, 1 }))
end

on_gpu("synchronize", function(gpu, plan) return function() plan() gpu:synchronize() end end)
on_gpu("stream", function(gpu, plan)
  local stream = gpu:stream()
  return function() plan(stream) stream:synchronize() end
end)
on_gpu("all streams", function(gpu, plan)
  local stream = gpu:stream()
  return function() plan(stream) gpu:synchronize() end
end)
on_gpu("many launches", function(_, plan) return function() for _ = 1, 100000 do plan() end end end)
on_gpu("measure", function(_, plan) return function() plan:measure(100000) end end)
on_gpu("graph", function(gpu, plan)
  local graph = assert(gpu:graph(function() for _ = 1, 10 do plan() end end))
  return function() graph() gpu:synchronize() end
end)
on_gpu("fill", function(_, plan, src) return function() plan() src:fill(1) end end)
on_gpu("an element", function(_, plan, _, dst) return function() plan() return dst(0, 0) end end)
on_gpu("set", function(_, plan, src) return function() plan() src[{ 0, 0 }] = 1 end end)
on_gpu("totable", function(_, plan, _, dst) return function() plan() return dst:totable() end end)
on_gpu("memory", function(gpu, plan)
  return function() plan() return tile.tensor("f32", layout(4), gpu) end
end)
on_gpu("T:to", function(_, plan, _, dst) return function() plan() return dst:to "cpu" end end)
on_gpu("pieces up", function(gpu, plan)
  local here, there = many "f32", many("f32", gpu)
  return function() plan() tile.copy(here, there) end
end)
on_gpu("pieces down", function(gpu, plan)
  local here, there = many "f32", many("f32", gpu)
  return function() plan() tile.copy(there, here) end
end)
on_gpu("tune", function(_, plan) return function() tile.tune(plan) end end)
on_gpu("product", function(gpu, plan)
  local A = tile.tensor("f16", layout { 64, 64 }, gpu)
  local C = tile.tensor("f32", layout { 64, 64 }, gpu)
  return function() plan() tile.gemm(A, A, C) gpu:synchronize() end
end)

-- What nobody waits for does not wait.
on_gpu("free, then synchronize", function(gpu, plan, src, dst)
  local stream = gpu:stream()
  return function()
    plan(stream)
    dst:free()
    stream:close()
    plan:free()
    src:free()
    collectgarbage()
    gpu:synchronize()
  end
end)

return kinds
