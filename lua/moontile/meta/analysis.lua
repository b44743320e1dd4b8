---@meta moontile
-- Proofs and costs: verify, bank conflicts, sectors, the search for a swizzle.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

--- Proves that a partition covers a tensor, or says who has an element twice or not at all.
--- - nothing runs, nothing is enumerated; part: "S", "D" of a copy, "A", "B", "C" of an MMA
--- - an offset behind a layout, as local_tile gives both, is where the layout begins
--- - a partition by hand: { tv = layout, tiler = {M, N} }
--- - ok, problem, predicated, vector, ... are fields; it never raises for a partition that is none
--- - verify(kernel [, A, B, C]) proves a tile.kernel: its laws, with a witness of the first broken
--- ```lua
--- verify({ tv = layout({8, 4}, {4, 1}), tiler = {4, 8} }, layout{8, 16}).ok  --> true
--- verify({ tv = layout({4, 2}, {1, 0}), tiler = {4} }, layout(8)).problem  --> twice
--- ```
---@param partition moontile.TiledCopy | moontile.TiledMMA | moontile.Kernel | table
---@param A? moontile.Layout | moontile.Tensor
---@param B? moontile.Tensor | integer | "S" | "D" | "A" | "B" | "C"
---@param C? moontile.Tensor | "S" | "D" | "A" | "B" | "C"
---@return table
function tile.verify(partition, A, B, C) end

--- The wavefronts of a warp's access to shared memory: a layout (thread,value) -> element.
--- - bank_conflicts(A, bits or dtype [, kind]); bank_conflicts(copy, A, "S" or "D" [, kind])
--- - kinds: read, write, ldmatrix, stmatrix; wavefronts, ideal, conflicts, degree are fields
--- - error: values of a thread that do not lie side by side
--- ```lua
--- bank_conflicts(layout(32, 32), "f32").conflicts  --> 31
--- bank_conflicts(swizzle(5, 0, 5) * layout(32, 32), "f32").conflicts  --> 0
--- ```
---@param copy? moontile.TiledCopy
---@param A moontile.Layout
---@param bits integer | string
---@param kind? string | table
---@return table
function tile.bank_conflicts(copy, A, bits, kind) end
Layout.bank_conflicts = tile.bank_conflicts

--- The sectors of 32 bytes that a warp's access to global memory touches.
--- - coalescing(A, bits or dtype [, kind]); coalescing(view [, kind])
--- - coalescing(copy, tensor or layout [, "S" or "D"] [, kind]): what it reads, or writes
--- - sectors, ideal, lines, efficiency are fields
--- - error: values of a thread that do not lie side by side
--- ```lua
--- coalescing(layout(32, 2), "f32").sectors, coalescing(layout(32), "f32").efficiency  --> 8	1.0
--- ```
---@param A moontile.Layout | moontile.TiledCopy | moontile.Tensor
---@param bits integer | string | moontile.Tensor
---@param side? "S" | "D"
---@param kind? string | table
---@return table
function tile.coalescing(A, bits, side, kind) end
Layout.coalescing = tile.coalescing

--- The layout of shared memory with the fewest wavefronts, and the table it was chosen from.
--- - find_swizzle{ smem =, write =, read = [, dtype =] }: swizzles and paddings of smem
--- - write and read are layouts (thread,value) -> index of smem, or tiled copies
--- - error: neither write nor read; a smem that is swizzled
--- ```lua
--- local best, all = find_swizzle{ smem = layout({32, 32}, "right"), dtype = "f32",
---                                 write = layout{32, 32}, read = layout({32, 32}, {32, 1}) }
--- best, all[1].name, all[1].write  --> Sw<3,2,3> o 0 o (32,32):(32,1)	Sw<3,2,3>	32
--- ```
---@param options table
---@return moontile.Layout
---@return table
function tile.find_swizzle(options) end

--- The descriptor by which wgmma reads an operand from shared memory.
--- - make_gmma_desc(A, bits or dtype [, "K" or "MN"]): A is (M,K) or (N,K) of one instruction
--- - mode, major, lbo, sbo (times 16 bytes) are fields
--- - error: no mode reads the layout, with the first element that lies elsewhere
--- ```lua
--- make_gmma_desc(parse "Sw<3,3,3> o 0 o (64,16):(64,1)", "bf16").mode  --> B128
--- ```
---@param A moontile.Layout
---@param bits integer | string
---@param major? "K" | "MN"
---@return table
function tile.make_gmma_desc(A, bits, major) end

--- The boxes by which TMA copies a tile of a tensor to shared memory.
--- - tma{ tensor =, smem = [, dtype =] [, box =] [, multicast =] }
--- - ok, why, dims, strides, box, steps, swizzle, boxes, bytes, align are fields
--- - error: no dimension of the tensor runs in shared memory
--- ```lua
--- local t = tma{ tensor = layout({1000, 256}, "right"), dtype = "bf16",
---                smem = parse "Sw<3,3,3> o 0 o (128,64):(64,1)" }
--- t.ok, t.box, t.swizzle  --> true	(64,128)	128B
--- ```
---@param options table
---@return table
function tile.tma(options) end
