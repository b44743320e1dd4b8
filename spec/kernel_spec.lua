-- kernel_spec.lua: kernels as values: what is found, what is printed, what is proven, and that they
-- compute what they should, stage by stage, in any order that their barriers allow.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local refused = dofile "spec/refused.lua"
local layout = tile.layout

local function mma(atom, atoms, permutation)
  return tile.tiled_mma { atom = atom, atoms = layout(atoms or 1), permutation = permutation }
end

local BF16 = "SM80_16x8x16_F32BF16BF16F32_TN"
local SS = "SM90_64x64x16_F32BF16BF16_SS"
local ASYNC = "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>"

-- options, types of A and B, of C, the extents by which K is a multiple
local KERNELS = {
  { "mma.sync by cp.async and ldmatrix",
    { mma = mma(BF16, { 2, 2 }, { tile._, 32 }), tile = { 64, 64, 32 }, stages = 3 },
    "bf16", "f32", 8 },
  { "one stage, filled by all threads",
    { mma = mma("UniversalFMA<float,float,float,float>", { 8, 8 }), tile = { 32, 16, 8 } },
    "f32", "f32", 4 },
  { "wgmma, a producer and two groups that share a tile",
    { mma = mma(SS, { 2, 1 }), tile = { 128, 64, 64 }, stages = 3, schedule = "cooperative" },
    "bf16", "f32", 8 },
  { "wgmma, a producer and two groups in turn",
    { mma = mma(SS), tile = { 64, 64, 64 }, stages = 4, schedule = "pingpong", raster = "n" },
    "bf16", "f32", 8 },
  { "wgmma filled by cp.async",
    { mma = mma(SS, { 2, 1 }), tile = { 128, 64, 64 }, stages = 2,
      g2s = { A = "cp.async", B = "cp.async" } }, "bf16", "f32", 8 },
  { "wgmma filled by TMA and by threads",
    { mma = mma(SS, { 2, 1 }), tile = { 128, 64, 32 }, stages = 2, g2s = { A = "threads" } },
    "bf16", "f32", 8 },
  { "wgmma with A in registers",
    { mma = mma "SM90_64x64x16_F32F16F16_RS", tile = { 64, 64, 64 }, stages = 3,
      g2s = { A = "cp.async" } }, "f16", "f32", 8 },
  { "wgmma of a swizzle of 64 bytes",
    { mma = mma(SS), tile = { 64, 64, 32 }, stages = 3,
      smem = { A = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_K_SW64_Atom", 16), { 64, 32 }),
               B = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_K_INTER_Atom", 16), { 64, 32 }) }
    }, "bf16", "f32", 8 },
  { "wgmma of columns",
    { mma = mma(SS), tile = { 64, 64, 32 }, stages = 2,
      smem = { A = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_MN_SW128_Atom", 16),
                                      { 64, 32 }) } }, "bf16", "f32", 8, "left" },
  { "quadpairs", { mma = mma("SM70_8x8x4_F32F16F16F32_TN", { 4, 4 }), tile = { 32, 32, 16 } },
    "f16", "f32", 8 },
  { "integers", { mma = mma("SM80_16x8x32_S32S8S8S32_TN", { 2, 2 }), tile = { 32, 32, 64 },
                  stages = 2 }, "i8", "i32", 16 },
  { "doubles", { mma = mma("SM80_8x8x4_F64F64F64F64_TN", { 2, 2 }), tile = { 32, 32, 16 },
                 stages = 2 }, "f64", "f64", 2 },
  { "parts of K by other warps",
    { mma = mma("SM80_16x8x8_F32TF32TF32F32_TN", { 1, 2, 2 }), tile = { 32, 32, 32 }, stages = 2 },
    "f32", "f32", 4 },
  { "a tile that goes out through shared memory",
    { mma = mma(BF16, { 2, 2 }), tile = { 32, 32, 32 }, stages = 2,
      smem = { D = layout({ 32, 32 }, { 36, 1 }) }, epilogue = { alpha = 2, beta = -1 } },
    "bf16", "f32", 8 },
  { "rows that are padded, value by value",
    { mma = mma(BF16, { 2, 2 }), tile = { 32, 32, 32 }, stages = 2,
      smem = { A = layout({ 32, 32 }, { 40, 1 }), B = layout({ 32, 32 }, { 33, 1 }) },
      g2s = { A = tile.tiled_copy { atom = ASYNC, bits = 16, thr = layout("(32,4):(4,1)"),
                                    val = layout "(1,8):(0,1)" },
              B = tile.tiled_copy { atom = "UniversalCopy<uint16_t>", bits = 16,
                                    thr = layout("(32,4):(4,1)"), val = layout "(1,8):(0,1)" } } },
    "bf16", "f32", 8 },
}

local function random(dtype, A)
  local T, values = tile.tensor(dtype, A), {}
  for i = 1, A:size() do values[i] = math.random(dtype == "u8" and 0 or -4, 4) end
  return T:fill(values)
end

-- Random sizes, ragged; once with a batch.
local function problem(row, case)
  local _, _, ab, c, unit, major = table.unpack(row, 1, 6)
  local m, n, k = math.random(1, 150), math.random(1, 150), unit * math.random(0, 18)
  if case == 1 then m, k = 64, unit * 4 end
  if major then m = 8 * ((m + 7) // 8) end
  local batch = case == 2 and 3 or 1
  local A = random(ab, layout({ m, k, batch }, major and { 1, m, m * k } or { k, 1, m * k }))
  local B = random(ab, layout({ n, k, batch }, { k, 1, n * k }))
  return A, B, random(c, layout({ m, n, batch }, { n, 1, m * n }))
end

local times = tonumber(os.getenv "MOONTILE_TIMES") or 1

describe("a kernel of", function()
  local seed = os.time()
  for _, row in ipairs(KERNELS) do
    it(row[1] .. " is proven, and computes products", function()
      math.randomseed(seed)
      local kernel, epilogue = tile.kernel(row[2]), row[2].epilogue or {}
      assert.is_true(tile.verify(kernel).ok, tostring(tile.verify(kernel)))
      for case = 1, math.max(2, math.floor(4 * times)) do
        local A, B, C = problem(row, case)
        local D = tile.tensor(row[4], C:layout()):fill(C:totable())
        local proof = tile.verify(kernel, A, B, C)
        assert.is_true(proof.ok, tostring(proof))
        tile.gemm(kernel, A, B, C, { seed = math.random(1 << 30) })
        tile.gemm(A, B, D, epilogue)
        assert.same(D:totable(), C:totable(), ("seed %d: %s by %s"):format(seed, A, B))
      end
    end)

    it(row[1] .. " prints what can be typed again", function()
      local text = tostring(tile.kernel(row[2]))
      local again = assert(load("local tile = ...; return " .. text))(tile)
      assert.equal(text, tostring(again))
    end)
  end

  it("each kind sums over nothing", function()
    for _, row in ipairs(KERNELS) do
      local A, B = tile.tensor(row[3], layout { 64, 0 }), tile.tensor(row[3], layout { 16, 0 })
      local C = tile.tensor(row[4], layout { 64, 16 }):fill(3)
      local beta = (row[2].epilogue or {}).beta or 0
      tile.gemm(tile.kernel(row[2]), A, B, C)
      assert.equal(3 * beta, C(63, 15))
    end
  end)

  it("mma.sync leaves alone what is not real", function()
    local kernel = tile.kernel(KERNELS[1][2])
    local A = random("bf16", layout({ 72, 40 }, "right"))
    local B = random("bf16", layout({ 56, 40 }, "right"))
    local C = tile.tensor("f32", layout({ 80, 64 }, "right")):fill(7)
    local D = tile.tensor("f32", layout({ 72, 56 }, "right"))
    tile.gemm(kernel, A, B, C:view(layout({ 72, 56 }, { 64, 1 })))
    tile.gemm(A, B, D)
    for m = 0, 79 do
      for n = 0, 63 do assert.equal(m < 72 and n < 56 and D(m, n) or 7, C(m, n)) end
    end
  end)
end)

describe("factors", function()
  it("are printed with all their digits", function()
    for _, alpha in ipairs { 1 / 3, 0.1, -2, 1e300, 1 / 0, -1 / 0 } do
      local kernel = tile.kernel { mma = mma(BF16), epilogue = { alpha = alpha, beta = 5 } }
      local text = tostring(kernel)
      local again = assert(load("local tile = ...; return " .. text))(tile)
      assert.equal(text, tostring(again))
      local said = assert(load("return " .. text:match "alpha = ([^,]*),"))()
      assert.equal(alpha, said)
    end
  end)
end)

describe("what a description leaves out", function()
  it("is found", function()
    local text = tostring(tile.kernel { mma = mma(BF16, { 2, 2 }, { tile._, 32 }) })
    for _, part in ipairs { "tile = { 32, 32, 64 }, stages = 4, ahead = 3",
                            'A = tile.parse "Sw<3,3,3> o 0 o (32,64,4):(64,1,2048)"', ASYNC,
                            's2r = { A = "SM75_U32x4_LDSM_N", B = "SM75_U32x4_LDSM_N" }',
                            'schedule = "multistage"', "arch = 80" } do
      assert.truthy(text:find(part, 1, true), text)
    end
    text = tostring(tile.kernel { mma = mma(SS), schedule = "cooperative" })
    for _, part in ipairs { 'A = "tma"', "Sw<3,3,3> o 0 o ((8,8),(64,1),4)", "arch = 90",
                            "tile = { 64, 64, 64 }, stages = 4, ahead = 4" } do
      assert.truthy(text:find(part, 1, true), text)
    end
  end)

  it("lies where its accesses and swizzles begin", function()
    local fma = mma("UniversalFMA<float>", { 8, 8 })
    local proof = tile.verify(tile.kernel { mma = fma, tile = { 32, 16, 8 },
                                            smem = { A = layout({ 32, 8 }, { 1, 33 }),
                                                     B = layout { 16, 8 } } })
    local bytes = (4 * (32 + 7 * 33) + 15) // 16 * 16 + 512
    assert.equal(tostring(bytes), proof.laws.room:match "^%d+")
  end)

  it("costs no conflict that can be avoided", function()
    local proof = tile.verify(tile.kernel(KERNELS[1][2]))
    assert.equal(proof.writes.A_ideal, proof.writes.A)
    assert.equal(proof.reads.A_ideal, proof.reads.A)
    assert.equal(proof.reads.B_ideal, proof.reads.B)
    assert.same({ 128, 24576, 166912 }, { proof.threads, proof.shared, proof.limit })
  end)
end)

describe("a proof", function()
  it("names each law", function()
    local A, B = tile.tensor("bf16", layout({ 100, 72 }, "right")),
                 tile.tensor("bf16", layout({ 64, 72 }, "right"))
    local kernel = tile.kernel { mma = mma(SS), tile = { 64, 64, 64 }, stages = 4 }
    assert.equal([[
proof: 64x64x64 by SM90_64x64x16_F32BF16BF16_SS
cover: tiles of 64x64x64 cover 100x64x72x1; the last along M has 36, the rest is predicated; ]] ..
[[the last along K has 8, the rest is predicated
in: each element of a stage is brought once, A by tma, B by tma
room: 65600 of 232448 bytes of shared memory, 4 stages, each element at a place of its own
fit: what the MMA wants is where it wants it: A in shared memory, B in shared memory
once: each (m,n,k) of a tile is multiplied once, 64x64x16 at a time
out: each element of C is written once, from registers
order: "multistage", filled 3 ahead: no stage is filled before its last reader, none is read ]] ..
[[before; STATES states
hardware: sm_90: every access is aligned, every box and descriptor one; 128 threads, about 56 ]] ..
[[registers of 255]], (tostring(tile.verify(kernel, A, B, tile.tensor("f32", layout { 100, 64 })))
                       :gsub("%d+ states", "STATES states")))
  end)

  it("counts the sums of each thread that takes a part of K", function()
    local A, B = tile.tensor("bf16", layout({ 128, 64 }, "right")),
                 tile.tensor("bf16", layout({ 128, 64 }, "right"))
    local function registers(atoms, most)
      local kernel = tile.kernel { mma = mma(BF16, atoms), tile = { most, most, 64 } }
      local C = tile.tensor("f32", layout { 128, 128 })
      return tostring(tile.verify(kernel, A, B, C)):match "about (%d+) registers"
    end
    assert.equal(registers({ 1, 1, 1 }, 64), registers({ 1, 1, 4 }, 64))
    assert.equal("664", registers({ 1, 1, 4 }, 128))   -- 512 sums: not the 216 of { 2, 2, 1 }
    assert.equal("216", registers({ 2, 2, 1 }, 128))
  end)
end)

describe("refused kernels", function()
  local env = { tile = tile, layout = layout, mma = mma(BF16, { 2, 2 }), ss = mma(SS) }
  env.kernel = tile.kernel { mma = env.mma, tile = { 32, 32, 32 } }
  env.A = tile.tensor("bf16", layout({ 32, 32 }, "right"))
  refused(it, {
    { 'tile.kernel {}', "kernel: mma: a tiled MMA expected, got nil" },
    { 'tile.kernel { mma = mma, tiles = { 32, 32, 32 } }',
      "kernel: unknown option 'tiles'; did you mean tile? there are: mma, tile, stages, ahead, " ..
      "smem, g2s, s2r, cluster, schedule, raster, split, arch, epilogue" },
    { 'tile.kernel { mma = mma, tile = { 32, 32 } }',
      "kernel: tile: a table of 3 integers expected" },
    { 'tile.kernel { mma = mma, tile = { 32, 32, 0 } }',
      "kernel: tile: 0 along K: 1 to 1024" },
    { 'tile.kernel { mma = mma, stages = 99 }', "kernel: stages is 99: 1 to 16" },
    { 'tile.kernel { mma = mma, stages = "2" }', "kernel: stages: integer expected, got string" },
    { 'tile.kernel { mma = mma, schedule = "multistages" }',
      "kernel: schedule: 'multistages' is none; did you mean multistage; there are: multistage, " ..
      "cooperative, pingpong" },
    { 'tile.kernel { mma = mma, g2s = { A = "async" } }',
      "kernel: g2s.A: 'async' is none; there are: threads, cp.async, tma" },
    { 'tile.kernel { mma = mma, g2s = { C = "tma" } }',
      "kernel: g2s: unknown option 'C'; there are: A, B" },
    { 'tile.kernel { mma = ss, g2s = { A = { tma = true, multicast = "m" } } }',
      'kernel: g2s.A: CTAs along n share A: multicast = "n"' },
    { 'tile.kernel { mma = ss, s2r = { A = "SM75_U32x4_LDSM_N" } }',
      "kernel: s2r.A: SM90_64x64x16_F32BF16BF16_SS reads A from shared memory: nothing " ..
      "brings it to registers" },
    { 'tile.kernel { mma = mma, smem = { A = layout(4) } }',
      "kernel: smem.A: a layout of (32,64), or of that and stages, expected, got 4:1" },
    { 'tile.kernel { mma = ss, tile = { 64, 64, 4 } }', [[
kernel: smem.A: the tile of A is 64 by 4 elements; wgmma and TMA have it in blocks of 8 by 8, ]]
      .. [[
which do not divide it
take a tile that they divide, or say: smem = { A = layout }]] },
    { 'tile.kernel { mma = mma, epilogue = 5 }',
      "kernel: epilogue: table expected, got number; options have names: { alpha =, beta =, " ..
      "bias =, residual =, scale_a =, scale_b =, amax =, dtype =, activation = }" },
    { 'tile.kernel { mma = mma, stages = 3, smem = { A = layout { 32, 64, 2 } } }',
      "kernel: smem.A (32,64,2):(1,32,2048) has 2 stages, stages says 3" },
    { 'tile.kernel { mma = mma, split = 4 }', "kernel: split: parts of K are not executed yet: 1" },
    { 'tile.verify(kernel, A)', "bad argument #3 to 'verify' (moontile.Tensor expected, got nil; "
      .. "verify takes partition | kernel, A [, B [, C [, options]]])" },
    { 'tile.gemm(kernel, A, A, A, { sed = 1 })',
      "gemm: unknown option 'sed'; did you mean seed? there are: bias, residual, seed" },
  }, env)
end)

describe("a kernel", function()
  it("that fills what its instruction has no type for is refused by name", function()
    local ok, message = pcall(tile.kernel, { mma = mma "SM90_16x8x4_C64C64C64C64_TN" })
    assert.is_false(ok)
    assert.matches("kernel: no tensor holds cf64", message)
  end)
end)

-- Those of TMA and wgmma that the library carries: what each says of itself is proven, and done.
describe("the kernels of sm_90", function()
  local BYTES = { bf16 = 2, f16 = 2, e4m3 = 1, e5m2 = 1, i8 = 1, u8 = 1, f32 = 4 }
  for dtype, size in pairs(BYTES) do
    it("of " .. dtype .. " are what their descriptions say", function()
      local kernels, names = tile.kernels { arch = 90, A = dtype }
      assert.is_true(#kernels > 0 and #kernels == #names)
      local ran = {}
      for i, kernel in ipairs(kernels) do
        local mn = { names[i]:find "_n[nt]_" ~= nil, names[i]:find "_[nt]t_" ~= nil }
        if size ~= 2 then mn = { false, false } end
        local n = math.tointeger(names[i]:match "_(%d+)")
        local k = 128 // size + 16
        local function stride(rows, wide)
          return wide and { 1, (rows + 15) // 16 * 16 } or { k, 1 }
        end
        local A = random(dtype, layout({ 100, k }, stride(100, mn[1])))
        local B = random(dtype, layout({ n + 5, k }, stride(n + 5, mn[2])))
        local out = (dtype == "i8" or dtype == "u8") and "i32" or "f32"
        local C = tile.tensor(out, layout({ 100, n + 5 }, "right"))
        local proof = tile.verify(kernel, A, B, C)
        assert.is_true(proof.ok, names[i] .. "\n" .. tostring(proof))
        assert.equal(384, proof.threads)
        local same = tostring(kernel)
        if not ran[same] and n <= 64 then
          ran[same] = true
          local D = tile.tensor(out, C:layout())
          tile.gemm(kernel, A, B, C)
          tile.gemm(A, B, D)
          assert.same(D:totable(), C:totable(), names[i])
        end
      end
    end)
  end

  it("are those of one architecture", function()
    assert.same({}, tile.kernels { arch = 70 })
    local ok, message = pcall(tile.kernels, { arch = "90" })
    assert.is_false(ok)
    assert.matches("kernels: arch: 80 or 90 expected", message)
  end)
end)

describe("the kernels of sm_80", function()
  it("are what their descriptions say", function()
    local kernels, names = tile.kernels { arch = 80 }
    assert.is_true(#kernels >= 12)
    for i, kernel in ipairs(kernels) do
      local a = names[i]:match "^ampere_(%w+)_"
      local b = names[i]:match "_([iu]8)_tn$" or a
      local mn = { names[i]:find "_n[nt]$" ~= nil, names[i]:find "_[nt]t$" ~= nil }
      local function of(dtype, rows, wide)
        return random(dtype, layout({ rows, 80 }, wide and { 1, rows } or { 80, 1 }))
      end
      local A, B = of(a, 136, mn[1]), of(b, 72, mn[2])
      local out = a:find "8" and "i32" or "f32"
      local C, D = tile.tensor(out, layout { 136, 72 }), tile.tensor(out, layout { 136, 72 })
      local proof = tile.verify(kernel, A, B, C)
      assert.is_true(proof.ok, names[i] .. "\n" .. tostring(proof))
      assert.equal(proof.reads.A_ideal, proof.reads.A, names[i])
      tile.gemm(kernel, A, B, C)
      tile.gemm(A, B, D)
      assert.same(D:totable(), C:totable(), names[i])
    end
  end)
end)
