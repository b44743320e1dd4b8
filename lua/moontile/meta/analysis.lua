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
--- - verify(kernel [, A, B, C [, options]]) proves a tile.kernel: its laws, or the first broken
--- - of a kernel the options are { bias =, residual = }, if its epilogue has them
--- - a composed layout is proven value by value, up to 2^16 places apart
--- ```lua
--- verify({ tv = layout({8, 4}, {4, 1}), tiler = {4, 8} }, layout{8, 16}).ok  --> true
--- verify({ tv = layout({4, 2}, {1, 0}), tiler = {4} }, layout(8)).problem  --> twice
--- ```
---@param partition moontile.TiledCopy | moontile.TiledMMA | moontile.Kernel | table
---@param A? moontile.Layout | moontile.Tensor
---@param B? moontile.Tensor | integer | "S" | "D" | "A" | "B" | "C"
---@param C? moontile.Tensor | "S" | "D" | "A" | "B" | "C"
---@param options? table
---@return table
function tile.verify(partition, A, B, C, options) end

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
--- - make_gmma_desc(A [, bits or dtype] [, "K" or "MN"]): A is (M,K) or (N,K) of one instruction
--- - of 16 bits, if nothing is said; the major is that of A
--- - mode, major, bits, lbo, sbo (times 16 bytes) are fields
--- - an offset behind A is taken for bits: make_gmma_desc((local_tile(A, t, c)), 16) leaves it out
--- - error: no mode reads the layout, with the first element that lies elsewhere
--- ```lua
--- make_gmma_desc(parse "Sw<3,3,3> o 0 o (64,16):(64,1)", "bf16").mode  --> B128
--- ```
---@param A moontile.Layout
---@param bits? integer | string
---@param major? "K" | "MN"
---@return table
function tile.make_gmma_desc(A, bits, major) end
tile.gmma_desc = tile.make_gmma_desc

--- The boxes by which TMA copies a tile of a tensor to shared memory.
--- - tma{ tensor =, smem = [, dtype =] [, box =] [, multicast =] }
--- - ok, why, dims, strides, box, steps, swizzle, boxes, bytes, elements, align are fields
--- - coords: the tensor of coordinates that an instruction takes (CuTe's get_tma_tensor)
--- - error: no dimension of the tensor runs in shared memory
--- ```lua
--- local t = tma{ tensor = layout({1000, 256}, "right"), dtype = "bf16",
---                smem = parse "Sw<3,3,3> o 0 o (128,64):(64,1)" }
--- t.ok, t.box, t.swizzle  --> true	(64,128)	128B
--- ```
---@param options table
---@return table
function tile.tma(options) end

--- What the instructions of one CTA bring: CuTe's tma_partition.
--- - tma_partition(t [, cta, ctas], smem, gmem [, offset]): t of tma; cta, ctas: the multicast
--- - smem and gmem (tiles of t.coords) are (tile,rest...): group the modes of the tile first
--- - returns gmem as ((TMA,iteration),rest...), where it begins, the same of smem, where it begins
--- - what a swizzle does is TMA's: shared memory is without it, as the instruction takes it
--- - error: other CTAs than the instruction is for; tiles of different sizes
--- ```lua
--- local smem = parse "Sw<3,3,3> o 0 o (128,64,3):(64,1,8192)"
--- local t = tma{ tensor = layout({1000, 256}, "right"), dtype = "bf16",
---                smem = smem:slice{_, _, 0} }
--- local gA = local_tile(t.coords, {128, 64}, {1, _})
--- local G, from, S = tma_partition(t, smem:group(1, 2), gA:group(1, 2), make_coord(0, 128))
--- G, from  --> (((64,128),1),4):(((1@0,1@1),0),64@0)	(0,128)
--- S  --> ((8192,1),3):((1,0),8192)
--- ```
---@param t table
---@param cta? moontile.Tuple
---@param ctas? moontile.Layout
---@param smem moontile.Layout
---@param gmem moontile.Layout
---@param offset? moontile.Tuple
---@return moontile.Layout
---@return moontile.Tuple
---@return moontile.Layout
---@return integer
function tile.tma_partition(t, cta, ctas, smem, gmem, offset) end

--- The mask of a multicast: a bit for each CTA that `_` ranges over.
--- - ctas: coordinate of the cluster -> CTA, of at most 16; CuTe's create_tma_multicast_mask
--- ```lua
--- create_tma_multicast_mask(layout{2, 4}, {1, _})  --> 170
--- ```
---@param ctas moontile.Layout
---@param coordinate moontile.Tuple
---@return integer
function tile.create_tma_multicast_mask(ctas, coordinate) end

--- Where an operand of a tiled MMA of sm_100 lies in tensor memory.
--- - side: "C", "A" where the atom takes A from there; shape: of the whole tile
--- - returns addresses in elements; the same as coordinates (lane,element); how many columns
--- - an address is lane << 16 | column of 32 bits; of elements of 16 bits twice that
--- - partition_fragment_C of a layout has these addresses; of a tensor it is one of ours, compact
--- - error: an operand that lies elsewhere; more than 512 columns
--- ```lua
--- local mma = make_tiled_mma "SM100_MMA_F16BF16_SS<half_t,half_t,float,64,128,K,K>"
--- local address, place, columns = tmem_frg(mma, "C", {128, 128})
--- address  --> (((16,4),128),2,1):(((65536,2097152),1),1048576,0)
--- place, columns  --> (((16,4),128),2,1):(((1@0,32@0),1@1),16@0,0)	128
--- ```
---@param mma moontile.TiledMMA
---@param side "A" | "C"
---@param shape moontile.Tuple
---@return moontile.Layout
---@return moontile.Layout
---@return integer
function tile.tmem_frg(mma, side, shape) end

--- The layout in tensor memory of instructions of one SM: CuTe's tmem_frg_1sm.
--- - shape ((M,N),rest...): M of 64 or 128; storage: bits that a value takes, 32 unless it is said
--- - mode "Interleaved", or "NonInterleaved": a tile of M = 64 leaves the lanes between alone
--- - returns as tmem_frg
--- ```lua
--- (tmem_frg_1sm({{128, 256}, 2, 1}, "f32"))  --> ((128,256),2,1):((65536,1),256,0)
--- tmem_frg_1sm({{128, 64}}, "f16", 16)  --> ((128,64)):((131072,1))	((128,64)):((1@0,1@1))	32
--- ```
---@param shape moontile.Tuple
---@param bits integer | string
---@param storage? integer | string
---@param mode? "Interleaved" | "NonInterleaved"
---@return moontile.Layout
---@return moontile.Layout
---@return integer
function tile.tmem_frg_1sm(shape, bits, storage, mode) end

--- The layout in tensor memory of instructions of two SMs, in one of them: CuTe's tmem_frg_2sm.
--- - shape ((M,N),rest...): M of one SM, 32, 64 or 128; of less than 128 N is cut over the lanes
--- - mode "Interleaved", or "Duplicated": A in both halves of the lanes; returns as tmem_frg
--- ```lua
--- local address, place, columns = tmem_frg_2sm({{64, 128}}, "f32")
--- address, columns  --> ((64,(64,2))):((65536,(1,4194304)))	64
--- place  --> ((64,(64,2))):((1@0,(1@1,64@0)))
--- ```
---@param shape moontile.Tuple
---@param bits integer | string
---@param storage? integer | string
---@param mode? "Interleaved" | "Duplicated"
---@return moontile.Layout
---@return moontile.Layout
---@return integer
function tile.tmem_frg_2sm(shape, bits, storage, mode) end
