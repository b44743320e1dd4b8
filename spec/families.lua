-- families.lua: random products of small integers, whose sums are exact, for the specs of the
-- families of kernels.
-- SPDX-License-Identifier: MIT

local tile = require "moontile"
local epilogues = dofile "spec/epilogues.lua"
local families = {}

function families.pick(list) return list[math.random(#list)] end

-- n integers of at most this magnitude.
function families.values(n, most, signed)
  local out = {}
  for i = 1, n do out[i] = math.random(signed and -most or 0, most) end
  return out
end

-- What C is, from lists of A (M,K,L), B (N,K,L) and the old C (M,N,L), the first mode fastest; an
-- operand of (M,K) or (N,K) is that of every batch.
function families.reference(a, b, old, M, N, K, L, alpha, beta)
  local out, batches_a, batches_b = {}, #a // (M * K), #b // (N * K)
  for l = 0, L - 1 do
    for n = 0, N - 1 do
      for m = 0, M - 1 do
        local sum, at_a, at_b = 0, m + M * K * (l % batches_a),
                                 n + N * K * (l % batches_b)
        for k = 0, K - 1 do sum = sum + a[1 + at_a + M * k] * b[1 + at_b + N * k] end
        local i = 1 + m + M * (n + N * l)
        out[i] = alpha * sum + beta * (beta == 0 and 0 or old[i])
      end
    end
  end
  return out
end

-- The product of a case { types =, A =, B =, C = (layouts), size = {M, N, K, L}, alpha =, beta =,
-- most =, epilogue = }, done on the device with these options, equals the sums, as near as an
-- epilogue is exact; the name of its kernel.
function families.check(device, case, options)
  local M, N, K, L = table.unpack(case.size)
  local lists = { families.values(tile.size(case.A), case.most, case.types[1] ~= "u8"),
                  families.values(tile.size(case.B), case.most, case.types[2] ~= "u8"),
                  families.values(M * N * L, 4, true) }
  local t = {}
  for i, name in ipairs { "A", "B", "C" } do
    t[i] = tile.tensor(case.types[i], case[name], device):fill(lists[i])
    lists[i] = t[i]:totable()          -- where places are shared, the last value
  end
  local e = case.epilogue
  if e then
    epilogues.fill(e)
    options = epilogues.options(e, t[3], options)
  end
  local kernel = tostring(tile.plan_gemm(t[1], t[2], t[3], options)):match "kernel: (%S+)"
  tile.gemm(t[1], t[2], t[3], options)
  device:synchronize()
  local got = t[3]:totable()
  local want = families.reference(lists[1], lists[2], lists[3], M, N, K, L, options.alpha,
                                  options.beta)
  for i = 1, #want do
    local x, far = want[i], 0
    if e then
      local m, n, l = (i - 1) % M, (i - 1) // M % N, (i - 1) // M // N
      x, far = epilogues.apply(e, m, n, l, x, lists[3][i], case.types[3])
    end
    far = far + epilogues.rounding(e, case.types[3], x)
    if not (got[i] == x or math.abs(got[i] - x) <= far) then
      local text = "seed %d, %s: %s %s by %s %s to %s %s, alpha %s, beta %s%s: C(%d) is %s, not %s"
      error((text):format(
            case.seed, kernel, case.types[1], case.A, case.types[2], case.B, case.types[3], case.C,
            options.alpha, options.beta, e and ", " .. e.title or "", i - 1, got[i], x))
    end
  end
  return kernel
end

-- A row { "types of A, B, C", A, B, C, options, what its plan says } holds.
function families.check_plan(device, row)
  local t, i = {}, 0
  for dtype in row[1]:gmatch "%S+" do
    i = i + 1
    t[i] = tile.tensor(dtype, tile.layout(row[1 + i]), device)
  end
  local text = tostring(tile.plan_gemm(t[1], t[2], t[3], row[5]))
  assert(text:find(row[6], 1, true), text)
end

return families
