-- kernel_literal_spec.lua: described kernels that no precompiled one is, on a GPU: each that is
-- proven computes what it should; the plan says what it does.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local described = dofile "spec/described.lua"
local devices = dofile "spec/devices.lua"
local layout = tile.layout

local seed = tonumber(os.getenv "MOONTILE_SEED") or os.time()
local want = tonumber(os.getenv "MOONTILE_KERNELS") or 25

local function host(T) return assert(T:to(tile.device "cpu")) end

-- Not on a GPU: no such instruction, more shared memory or sums than it has.
local function is_fair(message)
  return message:find("has no kernel on", 1, true) or message:find("words of sums", 1, true)
         or message:find("bytes of shared memory", 1, true)
end

-- The product of a random kernel on the GPU and of plain gemm on the CPU; whether there was one.
local function one(device)
  local options, row = described.description()
  local made, kernel = pcall(tile.kernel, options)
  if not made then return false end
  local A, B, C = described.operands(row, device)
  C:fill(2)
  local given, plain = described.ending(options, row, C, device)
  local proof = tile.verify(kernel, A, B, C, given)
  local ok, plan, message = pcall(tile.plan_gemm, kernel, A, B, C, given)
  if not ok then plan, message = nil, plan end
  if not proof.ok then
    assert.is_nil(plan)
    return false
  end
  if not plan then
    assert.truthy(is_fair(message), message)
    return false
  end
  local D = tile.tensor(row[4], layout({ C:size(1), C:size(2) }, "right")):fill(2)
  local along = plain.bias and next(plain.bias)
  if along then plain.bias = { [along] = host(plain.bias[along]) } end
  plain.residual = plain.residual and D
  plan()
  device:synchronize()
  tile.gemm(host(A), host(B), D, plain)
  assert.same(D:totable(), C:totable(), ("seed %d\n%s\n%s"):format(seed, kernel, plan))
  return tostring(plan):find("literal:", 1, true) ~= nil
end

for _, d in ipairs(devices) do
  local sm = tonumber(d.device:about():match "sm_(%d+)")
  if sm and sm >= 80 then
    describe("a literal kernel on " .. d.label, function()
      local device = d.device
      local mma = tile.tiled_mma { atom = "SM80_16x8x16_F32BF16BF16F32_TN",
                                   atoms = layout { 2, 2 } }
      local function operands(m, n, k)
        local A = tile.tensor("bf16", layout({ m, k }, "right"), device):fill(1)
        local B = tile.tensor("bf16", layout({ n, k }, "right"), device):fill(2)
        return A, B, tile.tensor("f32", layout({ m, n }, "right"), device)
      end

      it("computes what its description says, at random", function()
        math.randomseed(seed)
        local found = 0
        while found < want do if one(device) then found = found + 1 end end
      end)

      it("says what it does", function()
        local A, B, C = operands(100, 70, 72)
        local kernel = tile.kernel { mma = mma, tile = { 64, 64, 32 }, stages = 3 }
        local plan = tile.plan_gemm(kernel, A, B, C)
        local text = tostring(plan)
        assert.truthy(text:find("kernel: pipeline_mma_16x8x16_f32_bf16 (cuda)", 1, true), text)
        assert.truthy(text:find("literal: as described, not precompiled", 1, true))
        assert.truthy(text:find("tile: 64 x 64 x 32, 3 stages, 2 ahead\ntiles: 2 x 2 x 3", 1, true))
        assert.truthy(text:find("in: A by cp.async of 16 bytes, B by cp.async of 16", 1, true))
        assert.matches("differs in", text)
        assert.matches("pipeline_mma_16x8x16_f32_bf16  chosen", tostring(plan:why()))
      end)

      it("goes on streams, in graphs, at once", function()
        local A, B, C = operands(65, 33, 40)
        local kernel = tile.kernel { mma = mma, tile = { 64, 64, 32 }, stages = 2 }
        local stream = device:stream()
        tile.gemm(kernel, A, B, C, { stream = stream })
        stream:synchronize()
        assert.equal(80, C(64, 32))
        tile.gemm(kernel, A, B, C:fill(0))
        collectgarbage()
        device:synchronize()
        assert.equal(80, C(0, 0))
        local graph = device:graph(function() tile.plan_gemm(kernel, A, B, C)() end)
        collectgarbage()
        C:fill(0)
        graph()
        device:synchronize()
        assert.equal(80, C(33, 17))
      end)

      it("takes batches, modes of modes, and any strides", function()
        local copy = tile.tiled_copy { atom = "UniversalCopy<uint16_t>", bits = 16,
                                       thr = layout { 32, 4 }, val = layout { 1, 1 } }
        local kernel = tile.kernel { mma = mma, tile = { 32, 64, 32 }, stages = 2,
                                     g2s = { A = copy, B = copy } }
        local A = tile.tensor("bf16", layout({ { 4, 9 }, 24, 3 }, { { 1, 200 }, 5, 2000 }), device)
        local B = tile.tensor("bf16", layout({ 20, 24, 3 }, { 1, 20, 480 }), device)
        local C = tile.tensor("f32", layout({ { 4, 9 }, 20, 3 }), device)
        A:fill(1) B:fill(1)
        tile.gemm(kernel, A, B, C)
        device:synchronize()
        for _, v in ipairs(C:totable()) do assert.equal(24, v) end
      end)

      it("is refused with a way out", function()
        local A, B, C = operands(64, 64, 64)
        local function refused(pattern, options)
          local ok, plan, message = pcall(tile.plan_gemm, tile.kernel(options), A, B, C)
          assert.matches(pattern, tostring(ok and message or plan))
        end
        refused("breaks a law, order", { mma = mma, stages = 2, ahead = 2 })
        if sm == 90 then
          local wide = tile.tiled_mma { atom = "SM90_64x128x16_F32BF16BF16_SS",
                                        atoms = layout { 2, 1 } }
          refused("bytes of shared memory, of which a block has.*fewer stages than 7",
                  { mma = wide, tile = { 128, 128, 64 }, stages = 7, schedule = "cooperative" })
        end
      end)
    end)
  end
end
