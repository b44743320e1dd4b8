-- ldmatrix.lua [device]: who has what in ldmatrix and mma.sync, and where it should lie.
-- SPDX-License-Identifier: MIT
--
-- Four warps multiply by mma.sync of 16x8x16; ldmatrix brings A from shared memory to the
-- threads that mma.sync expects. Both are thread-value layouts, so that they fit is an
-- equation; so is that a row-major tile makes ldmatrix wait for banks, and which swizzle of
-- it does not.

local tile = require "moontile"
local layout, _ = tile.layout, tile._

-- ---- one instruction

local atom = tile.mma_atom "SM80_16x8x16_F32F16F16F32_TN"
print(atom)

-- C (16,8) by (thread,value): the right inverse says which thread and value an element is.
local owner = atom.layout_C:right_inverse()
print "\nthread.value of each element of C, rows 0 to 8:"
for m = 0, 8 do
  local row = {}
  for n = 0, 7 do
    local i = owner(m + 16 * n)
    row[n + 1] = ("%5d.%d"):format(i % 32, i // 32)
  end
  print(table.concat(row))
end

-- ---- four warps, 2 x 2, with 32 columns together: B comes by ldmatrix of 4 matrices too

local mma = tile.tiled_mma { atom = atom, atoms = layout { 2, 2 }, permutation = { _, 32 } }
local load = tile.make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
print("\n" .. tostring(mma))
print("A  " .. tostring(mma:layout_A_TV()))
print("S  " .. tostring(load:layout_S_TV()))
print("D  " .. tostring(load:layout_D_TV()))

-- What ldmatrix gives to a thread is what mma.sync takes from it, value by value.
local want, given = mma:layout_A_TV(), load:layout_D_TV()
for thread = 0, mma:size() - 1 do
  for value = 0, tile.size(want[2]) - 1 do
    assert(want(thread, value) == given(thread, value))
  end
end
print "ldmatrix leaves each element where mma.sync takes it"

-- ---- the tile in shared memory: 64 rows of 64 halves, filled by 16 bytes a thread

local smem = layout({ 64, 64 }, "right")
local fill = tile.tiled_copy { atom = "SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>", dtype = "f16",
                               thr = layout({ 16, 8 }, "right"), val = layout { 1, 8 } }
local plain = tile.bank_conflicts(load, smem, "S")
print("\nrow-major\n" .. tostring(plain))
local best, all = tile.find_swizzle { smem = smem, write = fill, read = load }
print("\n" .. tostring(all))
local swizzled = tile.bank_conflicts(load, best, "S")
print(("\n%s\n%s"):format(best, swizzled))
assert(plain.conflicts > 0 and swizzled.conflicts == 0)
assert(tile.bank_conflicts(fill, best, "D").conflicts == 0)
assert(tile.verify(load, best, "S").ok)               -- rows of 16 bytes stay together

-- ---- the same product from both: a layout is a layout

local device = assert(tile.device(arg[1]))
local function product(form)
  local values = {}
  for i = 1, 64 * 64 do values[i] = i * 7 % 11 - 5 end
  local A = assert(tile.tensor("f16", form, device)):fill(values)
  local B = assert(tile.tensor("f16", form, device)):fill(values)
  local C = assert(tile.tensor("f32", layout { 64, 64 }, device))
  tile.gemm(mma, A, B, C)
  device:synchronize()
  return C:totable()
end
local x, y = product(smem), product(best)
for i = 1, #x do assert(x[i] == y[i], "element " .. i - 1) end
print(("\n64x64x64 on %s: row-major and swizzled operands give the same %d sums"):format(
      device, #x))
