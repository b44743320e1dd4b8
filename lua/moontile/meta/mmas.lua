---@meta moontile
-- Tiled MMAs: an atom over threads and values; partitions of A (M,K), B (N,K), C (M,N).
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.TiledMMA
local TiledMMA = {}

---@class moontile.ThrMMA
local ThrMMA = {}

---@class moontile.Kernel
local Kernel = {}

--- A kernel of a product as a value: proven by verify, executed by gemm on the CPU, stage by stage,
--- on a GPU by the precompiled kernel that is the same, or literally.
--- - kernel{ mma = [, tile =] [, stages =] [, smem = {A=,B=,D=}] [, g2s = {A=,B=}] [, s2r = ...] }
--- - schedule "multistage", "cooperative" or "pingpong"; what is not said is found; it prints all
--- - epilogue = { alpha =, beta =, bias = "row" or "column", activation =, residual = true }
--- - in it dtype is the type of C, else any that holds the sums; scale_a, scale_b: factors of alpha
--- - error: an unknown option; a description that contradicts itself
--- ```lua
--- local mma = tiled_mma{ atom = "SM90_64x64x16_F32BF16BF16_SS" }
--- verify(kernel{ mma = mma, tile = {64, 64, 64}, schedule = "cooperative" }).ok  --> true
--- verify(kernel{ mma = mma, stages = 3, ahead = 3 }).problem  --> order
--- ```
---@param options table
---@return moontile.Kernel
function tile.kernel(options) end

--- The precompiled kernels nearest to a described one, and what each differs in.
--- - { kernel =, arch =, differs = { { field =, here =, there = }, ... } }; it prints itself
--- - where nothing differs, gemm and plan_gemm take it on a GPU; else they run literally
--- - layouts are compared as functions; what follows from the tile not where tiles differ
--- ```lua
--- local mma = tiled_mma{ atom = "SM90_64x128x16_F32BF16BF16_SS", atoms = layout{2, 1} }
--- local k = kernel{ mma = mma, tile = {128, 128, 64}, stages = 3, schedule = "cooperative" }
--- k:why()[1].kernel  --> hopper_bf16_tn_128_alone
--- k:why()[1].differs[1].field, k:why()[1].differs[1].there  --> stages	5
--- ```
---@return table[]
function Kernel:why() end

--- An MMA atom over more threads (atoms) and more values (permutation).
--- - tiled_mma{ atom = [, atoms = layout] [, permutation = tiler] }, by modes M, N, K
--- - both may be swizzled, composed or listed
--- - error: no such atom; a permutation that is no bijection; two atoms with one thread
--- ```lua
--- local mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2},
---                        permutation = {_, 32} }
--- mma:size(), mma:tile_shape()  --> 128	(32,32,16)
--- ```
---@param options { atom: string, atoms: moontile.Layout, permutation: moontile.Tiler }
---@return moontile.TiledMMA
function tile.tiled_mma(options) end

--- How many threads.
--- - the size of thr_layout_VMNK
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2} }:size()  --> 128
--- ```
---@return integer
function TiledMMA:size() end

--- The extents of the tile: (M,N,K).
--- - multiples of the atom's
--- - tile_size<0>(mma) of CuTe is tile_size(mma, 1): M is 1, N is 2, K is 3
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2} }:tile_shape()
--- --> (32,16,16)
--- ```
---@param mode? integer
---@return moontile.Tuple
function TiledMMA:tile_shape(mode) end
TiledMMA.tile_size = TiledMMA.tile_shape
tile.tile_shape = TiledMMA.tile_shape
tile.tile_size = TiledMMA.tile_shape

--- The atom of a tiled MMA.
--- - tile.mma_atom of its name
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:atom().name
--- --> SM80_16x8x16_F32F16F16F32_TN
--- ```
---@return moontile.MmaAtom
function TiledMMA:atom() end

--- The layout of atoms, (m,n,k) -> atom.
--- - as it was described
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2} }:atoms()
--- --> (2,2,1):(1,2,0)
--- ```
---@return moontile.Layout
function TiledMMA:atoms() end

--- The tiler of modes M, N, K that permutes values.
--- - `_` where nothing was said
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", permutation = {_, 32} }:permutation()
--- --> (_,32,_)
--- ```
---@return table
function TiledMMA:permutation() end

--- (ThrV,ThrM,ThrN,ThrK) -> thread.
--- - tiled_product(thr_id, atoms)
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2} }:thr_layout_VMNK()
--- --> (32,2,2,1):(1,32,64,0)
--- ```
---@return moontile.Layout
function TiledMMA:thr_layout_VMNK() end

--- (thread,value) -> element of the tile of A (B, C), as a number.
--- - thrfrg of the compact layout of the tile, by the number of the thread
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:layout_C_TV()
--- --> ((4,8),((2,2),(1,1))):((32,1),((16,8),(0,0)))
--- ```
---@return moontile.Layout
function TiledMMA:layout_A_TV() end
TiledMMA.layout_B_TV = TiledMMA.layout_A_TV
TiledMMA.layout_C_TV = TiledMMA.layout_A_TV
TiledMMA.get_layoutA_TV = TiledMMA.layout_A_TV
TiledMMA.get_layoutB_TV = TiledMMA.layout_A_TV
TiledMMA.get_layoutC_TV = TiledMMA.layout_A_TV

--- A layout as ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY,...))).
--- - CuTe's thrfrg_A (B, C)
--- - error: fewer modes than the operand
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:thrfrg_C(layout{32, 16})
--- --> (((4,8),(1,1)),((2,2),(2,2))):(((64,1),(16,256)),((32,8),(16,256)))
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function TiledMMA:thrfrg_A(A) end
TiledMMA.thrfrg_B = TiledMMA.thrfrg_A
TiledMMA.thrfrg_C = TiledMMA.thrfrg_A

--- A layout or tensor as (thread,FrgV,(RestX,RestY,...)).
--- - of a tensor a view
--- - error: fewer modes than the operand
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:partition_C(layout{32, 16})
--- --> ((4,8),(2,2),(2,2)):((64,1),(32,8),(16,256))
--- ```
---@param A moontile.Layout | moontile.Tensor
---@param offset? integer | moontile.Tuple
---@return moontile.Layout | moontile.Tensor
---@return integer | moontile.Tuple | nil offset
function TiledMMA:partition_A(A, offset) end
TiledMMA.partition_B = TiledMMA.partition_A
TiledMMA.partition_C = TiledMMA.partition_A

--- The shape of what a thread has of an operand with this shape: (FrgV,RestX,RestY).
--- - the shape of get_slice(t):partition_A(layout(shape))
--- - error: fewer modes than the operand
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:partition_shape_C{32, 16}  --> ((2,2),2,2)
--- ```
---@param shape moontile.Tuple
---@return moontile.Tuple
function TiledMMA:partition_shape_A(shape) end
TiledMMA.partition_shape_B = TiledMMA.partition_shape_A
TiledMMA.partition_shape_C = TiledMMA.partition_shape_A
tile.partition_shape_A = TiledMMA.partition_shape_A
tile.partition_shape_B = TiledMMA.partition_shape_A
tile.partition_shape_C = TiledMMA.partition_shape_A

--- A tiled MMA by CuTe's arguments.
--- - tiled_mma{ atom =, atoms =, permutation = } under its other name
--- ```lua
--- make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", layout{2, 2, 1}):tile_shape()  --> (32,16,16)
--- ```
---@param atom string | moontile.MMAAtom
---@param atoms? moontile.Layout
---@param permutation? moontile.Tiler
---@return moontile.TiledMMA
function tile.make_tiled_mma(atom, atoms, permutation) end

--- One thread of a tiled MMA.
--- - threads count from 0
--- - error: no such thread
--- ```lua
--- tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:get_slice(5):partition_C(layout{32, 16})
--- --> ((2,2),2,2):((32,8),16,256)	65
--- ```
---@param thread integer
---@return moontile.ThrMMA
function TiledMMA:get_slice(thread) end
TiledMMA.get_thread_slice = TiledMMA.get_slice

--- What a thread keeps of its part (V,M,K), (V,N,K) or (V,M,N): registers, or descriptors.
--- - A, B: compact in the order of the part's strides; C: compact in the order of its modes
--- - where the instruction reads shared memory: one descriptor each, strides in steps of 16 bytes
--- - where it is in tensor memory, of a layout: the addresses there, as tmem_frg
--- - of a tensor a new one of its type; the offset that a part of a layout has does not matter
--- - error: fewer than three modes
--- ```lua
--- local mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }
--- mma:make_fragment_A(mma:get_slice(5):partition_A(layout({32, 32}, "right")))
--- --> ((2,2,2),2,2):((1,2,4),16,8)
--- ```
---@param part moontile.Layout | moontile.Tensor
---@param offset? integer
---@return moontile.Layout | moontile.Tensor
function TiledMMA:make_fragment_A(part, offset) end
TiledMMA.make_fragment_B = TiledMMA.make_fragment_A
TiledMMA.make_fragment_C = TiledMMA.make_fragment_A
ThrMMA.make_fragment_A = TiledMMA.make_fragment_A
ThrMMA.make_fragment_B = TiledMMA.make_fragment_A
ThrMMA.make_fragment_C = TiledMMA.make_fragment_A

--- What one thread has of A (B, C): (FrgV,RestX,RestY,...), and where it begins.
--- - of a tensor a view; of a layout that begins at an offset, as local_tile gives both
--- - error: fewer modes than the operand
--- ```lua
--- local slice = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:get_slice(5)
--- slice:partition_A(layout({32, 32}, "right"))  --> ((2,2,2),2,2):((1,256,8),512,16)	34
--- ```
---@param A moontile.Layout | moontile.Tensor
---@param offset? integer | moontile.Tuple
---@return moontile.Layout | moontile.Tensor
---@return integer offset
function ThrMMA:partition_A(A, offset) end
ThrMMA.partition_B = ThrMMA.partition_A
ThrMMA.partition_C = ThrMMA.partition_A

--- The fragment of what one thread has of A (B, C): make_fragment_A of partition_A.
--- - of a tensor a new one of its type, into which its part can be copied
--- - of a shape that of a compact layout; of a tiled MMA that of its thread 0
--- - error: fewer modes than the operand
--- ```lua
--- partition_fragment_C(tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }, {32, 16})
--- --> ((2,2),2,2):((1,2),4,8)
--- local slice = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }:get_slice(5)
--- slice:partition_fragment_C(layout{32, 16})  --> ((2,2),2,2):((1,2),4,8)
--- local mma = tiled_mma{ atom = "SM90_64x128x16_F32F16F16_SS" }
--- mma:get_slice(0):partition_fragment_A(layout "Sw<3,3,3> o 0 o ((8,16),64):((64,512),1)")
--- --> (1,2,4):(0,512,2)
--- ```
---@param A moontile.Layout | moontile.Tensor | moontile.Tuple
---@param offset? integer
---@return moontile.Layout | moontile.Tensor
function ThrMMA:partition_fragment_A(A, offset) end
ThrMMA.partition_fragment_B = ThrMMA.partition_fragment_A
ThrMMA.partition_fragment_C = ThrMMA.partition_fragment_A
TiledMMA.partition_fragment_A = ThrMMA.partition_fragment_A
TiledMMA.partition_fragment_B = ThrMMA.partition_fragment_A
TiledMMA.partition_fragment_C = ThrMMA.partition_fragment_A
tile.partition_fragment_A = ThrMMA.partition_fragment_A
tile.partition_fragment_B = ThrMMA.partition_fragment_A
tile.partition_fragment_C = ThrMMA.partition_fragment_A
