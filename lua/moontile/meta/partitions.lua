---@meta moontile
-- Atoms, tiled copies, tiled MMAs: which thread has what.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---What one instruction multiplies.
---@class moontile.MmaAtom
---@field name string
---@field arch string
---@field shape_MNK moontile.Tuple
---@field dtype table  of A, B, C, D: their dtypes
---@field src table  of A, B, C: where the operand is, reg or smem_desc
---@field thr_id moontile.Layout
---@field layout_A moontile.Layout  (thread,value) -> index in A; atom:layout_A() is the same
---@field layout_B moontile.Layout
---@field layout_C moontile.Layout
---@field layout_A_TV moontile.Layout  as a tiled MMA has it: layout_A
---@field layout_B_TV moontile.Layout
---@field layout_C_TV moontile.Layout
---@field summary function  atom:summary() is atom_summary(atom)

---What one instruction copies.
---@class moontile.CopyAtom
---@field name string
---@field arch string
---@field bits integer
---@field thr_id moontile.Layout
---@field layout_src moontile.Layout  atom:layout_src() is the same
---@field layout_dst moontile.Layout
---@field layout_ref moontile.Layout
---@field layout_S_TV moontile.Layout  layout_src
---@field layout_D_TV moontile.Layout  layout_dst
---@field summary function  atom:summary() is atom_summary(atom)

---An atom in a few numbers.
---@class moontile.Summary
---@field name string
---@field arch string
---@field threads integer
---@field products integer  of an MMA
---@field moved integer  bits of a copy

---@class moontile.TiledCopy
local TiledCopy = {}

---@class moontile.ThrCopy
local ThrCopy = {}

---@class moontile.TiledMMA
local TiledMMA = {}

---@class moontile.ThrMMA
local ThrMMA = {}

-- ---------------------------------------------------------------- atoms

--- The MMA atom with a name of CuTe, or one of your own.
--- - layouts (thread,value) -> index in the column-major tile of A (M,K), B (N,K) and C (M,N)
--- - mma_atom{ shape =, A =, B =, C =, dtypes = [, thr_id =] [, name =] }; layouts may be text
--- - layout_A, ALayout, ThrID, Shape_MNK and so on are known too; it computes C += A B
--- - elements of C are held once; of A and B threads may share some, by a stride of 0
--- - error: no such atom, with the nearest names; an element that is held by nobody, or twice
--- ```lua
--- mma_atom "SM80_16x8x16_F32F16F16F32_TN"
--- --> SM80_16x8x16_F32F16F16F32_TN: sm80, 16 x 8 x 16, threads 32:1
--- -->   A  f16, reg: ((4,8),(2,2,2)):((32,1),(16,8,128))
--- -->   B  f16, reg: ((4,8),(2,2)):((16,1),(8,64))
--- -->   C  f32, reg: ((4,8),(2,2)):((32,1),(16,8))
--- mma_atom{ name = "mine", shape = {2, 4, 1}, dtypes = { A = "f16", B = "f16", C = "f32" },
---           A = "((2,4),1):((1,0),0)", B = "((2,4),1):((0,1),0)", C = "(8,1):(1,0)" }
--- --> mine: own, 2 x 4 x 1, threads 8:1
--- -->   A  f16, reg: ((2,4),1):((1,0),0)
--- -->   B  f16, reg: ((2,4),1):((0,1),0)
--- -->   C  f32, reg: (8,1):(1,0)
--- ```
---@param name string | table  or a description
---@return moontile.MmaAtom
function tile.mma_atom(name) end

--- The copy atom with a name of CuTe, for values of so many bits, or one of your own.
--- - layout_src, layout_dst: who reads and who writes which value; without bits in bits
--- - copy_atom{ src =, dst =, bits = or dtype = [, ref =] [, thr_id =] [, name =] }
--- - of an atom: the same in values of other bits
--- - both sides hold the same places, each once, but for threads that share by a stride of 0
--- - error: no such atom, with the nearest names; the instruction parts a value
--- - error: a place of one's own that nobody holds, or two
--- ```lua
--- copy_atom("SM75_U32x4_LDSM_N", "f16").layout_dst  --> (32,(2,4)):(2,(1,64))
--- copy_atom{ name = "turn", dtype = "f16", src = "(4,4):(4,1)", dst = "(4,4):(1,4)" }
--- --> turn: own, values of 16 bits, threads 4:1
--- -->   source       (4,4):(4,1)
--- -->   destination  (4,4):(1,4)
--- -->   reference    (4,4):(4,1)
--- ```
---@param name string | table | moontile.CopyAtom  or a description, or an atom
---@param bits? integer | string  or a dtype
---@return moontile.CopyAtom
function tile.copy_atom(name, bits) end

--- The names of the atoms that fit, oldest first.
--- - kind "mma" (or nothing) or "copy"; arch what brought them, "sm_90" or 90
--- - of MMAs M, N, K; A, B, C, D: their types
--- - runs_on = device: those by which a described product, or copy, runs there
--- - error: another key; an arch that brought none, with the list
--- ```lua
--- #atoms{ arch = "sm_90", A = "bf16" }, atoms{ M = 16, N = 8, K = 16, A = "f16", C = "f32" }[1]
--- --> 64	SM80_16x8x16_F32F16F16F32_TN
--- #atoms{ runs_on = "cpu", M = 16, N = 8, K = 16, A = "f16" }  --> 2
--- ```
---@param options? { kind: string, arch: string | integer, runs_on: string, M: integer, N: integer }
---@return string[]
function tile.atoms(options) end

--- An atom in a few numbers: threads, values of each, who shares, registers, bytes.
--- - of an MMA: products, threads, A.values, A.shared, A.registers, and of B and C
--- - of a copy: threads, bits, moved (bits of all), src.values, src.shared, src.run, and of dst
--- - of a name too; bits are those of a value of a copy; printed it is a text
--- - error: no atom
--- ```lua
--- atom_summary "SM80_16x8x16_F32F16F16F32_TN"
--- --> SM80_16x8x16_F32F16F16F32_TN: sm80, 2048 products by 32 threads
--- -->   A  f16: 8 values of a thread in 4 registers, each held once
--- -->   B  f16: 4 values of a thread in 2 registers, each held once
--- -->   C  f32: 4 values of a thread in 4 registers, each held once
--- atom_summary("SM75_U32x1_LDSM_N", "f16")
--- --> SM75_U32x1_LDSM_N: sm75, 128 bytes by 32 threads
--- -->   source       8 values of a thread, 16 bytes side by side, each held by 4 threads
--- -->   destination  2 values of a thread, 4 bytes side by side, each held once
--- ```
---@param atom moontile.MmaAtom | moontile.CopyAtom | moontile.TiledMMA | string
---@param bits? integer | string  of a value, or a dtype
---@return moontile.Summary
function tile.atom_summary(atom, bits) end

--- How far a product may be off: |C - exact| for k products whose |a b| sum to `sum`.
--- - on any device, in any order; 0 of integers
--- - error: no atom
--- ```lua
--- mma_bound(mma_atom "SM80_16x8x16_F32F16F16F32_TN", 64, 64) < 0.01  --> true
--- ```
---@param atom moontile.MmaAtom
---@param k integer
---@param sum number
---@return number
function tile.mma_bound(atom, k, sum) end

-- ---------------------------------------------------------------- tiled copies

--- Who copies what of a tile: an atom over threads and over the values of each.
--- - tiled_copy{ atom =, dtype = or bits =, thr = layout [, val = layout] }
--- - thr and val make up the tile mode by mode: raked_product(thr, val); shapes are compact layouts
--- - swizzled, composed and listed ones number threads and values, too
--- - instead of them tv = layout, tiler = extents or layouts: (thread,value) -> place in a tile
--- - error: threads or values that are no whole atoms
--- ```lua
--- local copy = tiled_copy{ atom = "UniversalCopy<uint128_t>", dtype = "f32",
---                          thr = layout({32, 8}, {8, 1}), val = layout{1, 4} }
--- copy:tiler_MN(), copy:size()  --> (32,32)	256
--- ```
---@param options { atom: string, dtype: string, thr: moontile.Layout, val: moontile.Layout }
---@return moontile.TiledCopy
function tile.tiled_copy(options) end

--- What a tiled copy of thr and val begins with: the extents of its tile, (thread,value) -> place.
--- - tiled_copy{ atom =, dtype =, tv =, tiler = } takes them
--- - error: thr or val that do not number their elements
--- ```lua
--- make_layout_tv({8, 4}, {1, 2})  --> (8,8)	((8,4),2):((1,16),8)
--- ```
---@param thr moontile.Layout | moontile.Tuple
---@param val moontile.Layout | moontile.Tuple
---@return moontile.Tuple tiler
---@return moontile.Layout tv
function tile.make_layout_tv(thr, val) end

--- The copy that brings A (B, C) of a tiled MMA to the threads that need it, or from them.
--- - its layout_TV is that of the operand; its tile the MMA's
--- - error: the values of a thread are no whole atoms
--- ```lua
--- local mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN", atoms = layout{2, 2},
---                        permutation = {_, 32} }
--- make_tiled_copy_A("SM75_U32x4_LDSM_N", mma):layout_S_TV()
--- --> ((16,2,2,2),(8,1)):((1,256,16,0),(32,0))
--- ```
---@param atom string
---@param tiled_mma moontile.TiledMMA
---@param bits? integer | string
---@return moontile.TiledCopy
function tile.make_tiled_copy_A(atom, tiled_mma, bits) end
tile.make_tiled_copy_B = tile.make_tiled_copy_A
tile.make_tiled_copy_C = tile.make_tiled_copy_A

--- The copy by another atom of what a tiled copy reads (S), or writes (D).
--- - its reference is that side
--- - error: the values of a thread are no whole atoms
--- ```lua
--- local copy = tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout(32),
---                          val = layout(4) }
--- make_tiled_copy_S("UniversalCopy<uint128_t>", copy):size()  --> 32
--- ```
---@param atom string
---@param tiled_copy moontile.TiledCopy
---@param bits? integer | string
---@return moontile.TiledCopy
function tile.make_tiled_copy_S(atom, tiled_copy, bits) end
tile.make_tiled_copy_D = tile.make_tiled_copy_S

--- How many threads.
--- - size of mode 1 of tiled_layout_TV
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4} }:size()
--- --> 32
--- ```
---@return integer
function TiledCopy:size() end

--- The atom of a tiled copy, in its values.
--- - tile.copy_atom of its name and bits
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4} }:atom().bits
--- --> 32
--- ```
---@return moontile.CopyAtom
function TiledCopy:atom() end

--- (thread,value) -> coordinate of the tile, as a number.
--- - colexicographic in tiler_MN
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4},
---             val = layout{1, 2} }:tiled_layout_TV()
--- --> ((8,4),2):((1,16),8)
--- ```
---@return moontile.Layout
function TiledCopy:tiled_layout_TV() end

--- The extents of the tile.
--- - product = threads * values, unless some are broadcast
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4},
---             val = layout{1, 2} }:tiler_MN()
--- --> (8,8)
--- ```
---@return moontile.Tuple
function TiledCopy:tiler_MN() end

--- Who reads (S), who writes (D) which element of the tile: (Thr,(FrgV,FrgX)) -> element.
--- - both are tiled_layout_TV where the atom's source and destination are one
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint64_t>", dtype = "f32", thr = layout(8),
---             val = layout(4) }:layout_S_TV()
--- --> (8,(2,2)):(4,(1,2))
--- ```
---@return moontile.Layout
function TiledCopy:layout_S_TV() end
TiledCopy.layout_D_TV = TiledCopy.layout_S_TV
TiledCopy.get_layoutS_TV = TiledCopy.layout_S_TV
TiledCopy.get_layoutD_TV = TiledCopy.layout_S_TV

--- A layout or tensor as (Thr,Val,(RestM,RestN,...)).
--- - by the reference of the atom; of a tensor a view
--- - error: fewer modes than the tile
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4},
---             val = layout{1, 2} }:partition(layout{16, 16})
--- --> ((8,4),2,(2,2)):((1,32),16,(8,128))
--- ```
---@param A moontile.Layout | moontile.Tensor
---@return moontile.Layout | moontile.Tensor
function TiledCopy:partition(A) end

--- A tiled copy by CuTe's arguments.
--- - tiled_copy{ atom =, thr =, val =, bits = } under its other name
--- ```lua
--- local thr, val = layout({32, 8}, {8, 1}), layout{1, 4}
--- make_tiled_copy("UniversalCopy<uint128_t>", thr, val, "f32"):tiler_MN()  --> (32,32)
--- ```
---@param atom string | moontile.CopyAtom
---@param thr moontile.Layout
---@param val? moontile.Layout
---@param bits? integer | string
---@return moontile.TiledCopy
function tile.make_tiled_copy(atom, thr, val, bits) end

--- The tiled copy whose (thread,value) have these addresses of data; the tile is of their places.
--- - data(coordinate of (t, v)) = tv(t, v)
--- - error: an address where data has nothing
--- ```lua
--- local copy = make_cotiled_copy("UniversalCopy<uint128_t>", layout({128, 8}, {8, 1}),
---                                layout({64, 64}, {64, 1}), 16)
--- copy:tiler_MN()  --> (16:1,(8,8):(8,1))
--- ```
---@param atom string | moontile.CopyAtom
---@param tv moontile.Layout
---@param data moontile.Layout
---@param bits? integer | string
---@return moontile.TiledCopy
function tile.make_cotiled_copy(atom, tv, data, bits) end

--- The smallest tiled copy whose threads have the first values that they have of C.
--- - as many values as the atom moves of a thread; the tiler takes their rows and columns of C
--- - error: no tiled MMA; C has not as many values for a thread
--- ```lua
--- local mma = tiled_mma{ atom = "SM90_64x64x16_F32F16F16_SS" }
--- local copy = make_tiled_copy_C_atom("SM90_U32x2_STSM_N", mma, 16)
--- copy:size(), copy:tiler_MN()  --> 128	((8,4,2):(1,16,8),(4,2):(2,1))
--- ```
---@param atom string | moontile.CopyAtom
---@param mma moontile.TiledMMA
---@param bits? integer | string
---@return moontile.TiledCopy
function tile.make_tiled_copy_C_atom(atom, mma, bits) end

--- A layout or tensor as threads read it (S), or write it (D): (Thr,(FrgV,FrgX),(RestM,RestN,...)).
--- - of a tensor a view; the offset at which a layout begins is handed on
--- - error: fewer modes than the tile
--- ```lua
--- tiled_copy{ atom = "UniversalCopy<uint64_t>", dtype = "f32", thr = layout(8),
---             val = layout(4) }:partition_S(layout(64))
--- --> (8,(2,2),(2)):(4,(1,2),(32))
--- ```
---@param A moontile.Layout | moontile.Tensor
---@param offset? integer | moontile.Tuple
---@return moontile.Layout | moontile.Tensor
---@return integer | moontile.Tuple | nil offset
function TiledCopy:partition_S(A, offset) end
TiledCopy.partition_D = TiledCopy.partition_S

--- What a thread has as another partition gave it, (V,M,N,...), in the order of this copy.
--- - of a tensor a view; a layout stands for a compact fragment of its shape
--- - error: values that are no whole atoms
--- ```lua
--- local mma = tiled_mma{ atom = "SM80_16x8x16_F32F16F16F32_TN" }
--- local copy = make_tiled_copy_A("SM75_U32x4_LDSM_N", mma)
--- copy:retile_D(layout{{2, 2, 2}, 2, 2})  --> ((8,1),2,2):((1,0),8,16)	0
--- ```
---@param fragment moontile.Layout | moontile.Tensor
---@return moontile.Layout | moontile.Tensor
function TiledCopy:retile_D(fragment) end
TiledCopy.retile_S = TiledCopy.retile_D
ThrCopy.retile_D = TiledCopy.retile_D
ThrCopy.retile_S = TiledCopy.retile_D

--- One thread of a tiled copy.
--- - threads count from 0
--- - error: no such thread
--- ```lua
--- local copy = tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4} }
--- copy:get_slice(9):partition_S(layout{16, 16})  --> ((1,1),2,4):((0,0),8,64)	17
--- ```
---@param thread integer
---@return moontile.ThrCopy
function TiledCopy:get_slice(thread) end
TiledCopy.get_thread_slice = TiledCopy.get_slice

--- What one thread reads (S), or writes (D): ((FrgV,FrgX),RestM,RestN,...), and where it begins.
--- - of a tensor a view; of a layout that begins at an offset, as local_tile gives both
--- - error: fewer modes than the tile
--- ```lua
--- local copy = tiled_copy{ atom = "UniversalCopy<uint32_t>", dtype = "f32", thr = layout{8, 4} }
--- copy:get_slice(9):partition_D(layout{16, 16})  --> ((1,1),2,4):((0,0),8,64)	17
--- copy:get_slice(9):partition_D(layout{16, 16}:local_tile({8, 4}, {1, 2}))
--- --> ((1,1),1,1):((0,0),0,0)	153
--- ```
---@param A moontile.Layout | moontile.Tensor
---@param offset? integer | moontile.Tuple
---@return moontile.Layout | moontile.Tensor
---@return integer | moontile.Tuple offset
function ThrCopy:partition_S(A, offset) end
ThrCopy.partition_D = ThrCopy.partition_S
