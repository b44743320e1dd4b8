-- kernel_near_spec.lua: which precompiled kernels are a described one, what the others differ in,
-- and that a GPU multiplies by the one that is.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local devices = dofile "spec/devices.lua"
local families = dofile "spec/families.lua"
local layout = tile.layout

local function fields(row)
  local list = {}
  for i, d in ipairs(row.differs) do list[i] = d.field end
  return table.concat(list, " ")
end

local function row_of(rows, name)
  for _, row in ipairs(rows) do if row.kernel == name then return row end end
  error(name .. " is not among the nearest:\n" .. tostring(rows))
end

-- A description of its own of a precompiled kernel: bf16, 128x128x64, pairs of blocks.
local function described(changes)
  local options = {
    mma = tile.tiled_mma { atom = "SM90_64x128x16_F32BF16BF16_SS", atoms = layout { 2, 1 } },
    tile = { 128, 128, 64 }, stages = 6, schedule = "cooperative", cluster = { 2, 1 },
    g2s = { A = "tma", B = { tma = true, multicast = "m" } },
  }
  for key, value in pairs(changes or {}) do options[key] = value end
  return tile.kernel(options)
end

local PADDED = layout({ 128, 64 }, { 72, 1 })
local TURNED = tile.tile_to_shape(tile.smem_atom("GMMA::Layout_MN_SW128_Atom", 16), { 128, 64 },
                                  { 2, 1 })

-- what is changed, what hopper_bf16_tn_128 differs in
local CHANGES = {
  { {}, "" },
  { { stages = 4 }, "stages" },
  { { stages = 4, ahead = 2 }, "stages ahead" },
  { { raster = "n" }, "raster" },
  { { schedule = "multistage" }, "ahead schedule" },
  { { smem = { A = PADDED } }, "smem.A" },
  { { smem = { B = PADDED } }, "smem.B" },
  { { smem = { D = layout { 128, 128 } } }, "smem.D" },
  { { g2s = { A = "cp.async", B = { tma = true, multicast = "m" } } }, "g2s.A" },
  { { tile = { 256, 128, 64 }, stages = 4 }, "tile stages" },
  { { mma = tile.tiled_mma { atom = "SM90_64x64x16_F32BF16BF16_SS", atoms = layout { 2, 2 } } },
    "mma" },
}

describe("kernel:why", function()
  it("is empty of differences for each precompiled kernel", function()
    for _, arch in ipairs { 80, 90 } do
      local rows, names = tile.kernels { arch = arch }
      for i = math.random(5), #rows, 5 do
        local found = false
        for _, row in ipairs(rows[i]:why()) do
          found = found or row.kernel == names[i] and #row.differs == 0
        end
        assert.is_true(found, names[i])
        assert.matches("^precompiled:\n", tostring(rows[i]:why()))
      end
    end
  end)

  for _, case in ipairs(CHANGES) do
    it("names what differs: " .. (case[2] == "" and "nothing" or case[2]), function()
      local kernel = described(case[1])
      local rows = kernel:why()
      assert.equal(case[2], fields(row_of(rows, "hopper_bf16_tn_128")), tostring(rows))
      for i = 2, #rows do assert.is_true(#rows[i].differs >= #rows[i - 1].differs) end
      for _, d in ipairs(rows[1].differs) do
        assert.truthy(tostring(rows):find(d.here, 1, true))
        assert.truthy(tostring(rows):find(d.there, 1, true))
        assert.not_equal(d.here, d.there)
      end
    end)
  end

  it("compares layouts as functions", function()
    local rows = described { smem = { A = TURNED } }:why()
    assert.equal("hopper_bf16_nn_128", rows[1].kernel)
    assert.equal("", fields(rows[1]))
  end)

  it("says where there is none", function()
    local kernel = tile.kernel {
      mma = tile.tiled_mma { atom = "SM80_8x8x4_F64F64F64F64_TN", atoms = layout { 2, 2 } },
      tile = { 32, 32, 16 } }
    assert.same({}, kernel:why())
    assert.equal("no precompiled kernel that can be described so reads these types of A and B",
                 tostring(kernel:why()))
  end)
end)

-- The product of A and B, by a kernel or as it is chosen, and by which.
local function product(kernel, A, B, out, device)
  local C = tile.tensor(out, layout({ A:size(1), B:size(1) }, "right"), device)
  local plan = kernel and tile.plan_gemm(kernel, A, B, C) or tile.plan_gemm(A, B, C)
  plan()
  device:synchronize()
  return C:totable(), tostring(plan):match "kernel: (%S+)"
end

for _, d in ipairs(devices) do
  local sm = tonumber(d.device:about():match "sm_(%d+)")
  describe("a described kernel on " .. d.label, function()
    local A = tile.tensor("bf16", layout({ 200, 72 }, "right"), d.device)
    local B = tile.tensor("bf16", layout({ 130, 72 }, "right"), d.device)
    A:fill(families.values(A:size(), 4, true))
    B:fill(families.values(B:size(), 4, true))

    if sm and sm >= 90 then
      it("is multiplied by the precompiled one", function()
        local want = product(nil, A, B, "f32", d.device)
        local got, name = product(described(), A, B, "f32", d.device)
        assert.equal("hopper_bf16_f32_tn_128", name)
        assert.same(want, got)
        local C = tile.tensor("bf16", layout({ 200, 130 }, "right"), d.device)
        local stream = d.device:stream()
        tile.gemm(described { epilogue = { alpha = 0.5 } }, A, B, C, { stream = stream })
        stream:synchronize()
        local halves = C:totable()
        for i = 1, #want do
          assert.equal(string.unpack("<f", string.pack("<f", halves[i])), halves[i])
          assert.is_true(math.abs(halves[i] - want[i] / 2) <= math.abs(want[i]) / 256)
        end
      end)

      it("of an instruction for tf32 reads f32 so, which plain products do where it is asked for",
         function()
        local X = tile.tensor("f32", layout({ 64, 32 }, "right"), d.device):fill(1)
        local C = tile.tensor("f32", layout({ 64, 64 }, "right"), d.device)
        for _, epilogue in ipairs { {}, { activation = "relu" } } do
          local rows, names = tile.kernels { arch = 90, A = "f32", epilogue = epilogue }
          for i, kernel in ipairs(rows) do
            local plan = tile.plan_gemm(kernel, X, X, C:fill(0))
            assert.truthy(tostring(plan):find("kernel: " .. names[i], 1, true), tostring(plan))
            plan()
            d.device:synchronize()
            assert.equal(32, C(63, 63))
          end
        end
      end)

      it("of a row that cannot write this C is done literally", function()
        local rows, names = tile.kernels { arch = 90, A = "bf16" }
        local X = tile.tensor("bf16", layout({ 70, 64 }, "right"), d.device):fill(1)
        local Y = tile.tensor("bf16", layout({ 33, 64 }, "right"), d.device):fill(1)
        local C = tile.tensor("bf16", layout({ 70, 33 }, "right"), d.device):fill(0)
        for i, name in ipairs(names) do
          if name == "hopper_bf16_tn_256_alone" then
            local plan = tile.plan_gemm(rows[i], X, Y, C)
            assert.truthy(tostring(plan):find("literal", 1, true), tostring(plan))
            plan()
            d.device:synchronize()
            assert.equal(64, C(69, 32))
          end
        end
      end)

      it("is asked once which one that is, for any C", function()
        local kernel = described()
        for _, case in ipairs {
          { "f32", "hopper_bf16_f32_tn_128" }, { "bf16", "hopper_bf16_tn_128" },
          { "f32", "hopper_bf16_f32_tn_128" },
        } do
          collectgarbage()
          local _, name = product(kernel, A, B, case[1], d.device)
          assert.equal(case[2], name)
        end
      end)

      it("is multiplied literally where none is the same", function()
        local C = tile.tensor("f32", layout({ 200, 130 }, "right"), d.device)
        local plan = tile.plan_gemm(described { stages = 3 }, A, B, C)
        assert.matches("kernel: pipeline_wgmma_ss_f32_bf16 ", tostring(plan))
        assert.matches("refused: hopper_bf16_%S+: differs in stages", tostring(plan))
        local want = product(nil, A, B, "f32", d.device)
        assert.same(want, (product(described { stages = 3 }, A, B, "f32", d.device)))
        local ok, message = pcall(tile.gemm, described(), A, B, C, { seed = 1 })
        assert.is_false(ok)
        assert.matches("seed", message)
      end)
    elseif d.label:find "^cpu" then
      it("is executed, without a plan", function()
        local C = tile.tensor("f32", layout({ 200, 130 }, "right"), d.device)
        tile.gemm(described(), A, B, C, { seed = 3 })
        assert.same(product(nil, A, B, "f32", d.device), C:totable())
        assert.has_error(function() tile.plan(described(), A, B, C) end,
          "plan: a kernel is executed on the host by gemm, without a plan")
      end)
    end
  end)
end
