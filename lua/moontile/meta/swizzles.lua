---@meta moontile
-- Swizzles, elements of other widths, shapes as a lattice, sums, derivations.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Value
local Value = {}

--- Sw<bits,base,shift>: flips `bits` bits from `base` on where those `shift` above are set.
--- - Sw(i) = i ~ ((i & Y) >> shift); its own inverse; shift is `bits` if it is absent
--- - w * A is the swizzle after a layout: Sw o 0 o A
--- - error: bits or base below 0, |shift| below bits, beyond 62 bits
--- ```lua
--- local w = swizzle(3, 4, 3)
--- w(128), w * layout({8, 64}, "right")  --> 144	Sw<3,4,3> o 0 o (8,64):(64,1)
--- ```
---@param bits integer
---@param base integer
---@param shift? integer
---@return moontile.Value
function tile.swizzle(bits, base, shift) end

--- What a swizzle makes of an integer.
--- - w(w(i)) = i
--- - error: an index that is no integer
--- ```lua
--- swizzle(2, 0, 3)(9)  --> 8
--- ```
---@param index integer
---@return integer
function Value:__call(index) end

--- The swizzle with these masks: Y chooses, Z is flipped.
--- - of 0 and 0 the identity
--- - with three numbers they are bits, base and shift, as in CuTe's DSL
--- - error: masks that are not two runs of as many bits, or that overlap
--- ```lua
--- make_swizzle(0x380, 0x70)  --> Sw<3,4,3>
--- make_swizzle(3, 4, 3)  --> Sw<3,4,3>
--- ```
---@param Y integer
---@param Z integer
---@param shift? integer
---@return moontile.Value
function tile.make_swizzle(Y, Z, shift) end

--- The swizzle of a swizzled layout.
--- - Sw<0,4,3> of a plain one
--- - error: no layout
--- ```lua
--- local A = swizzle(3, 4, 3) * layout({8, 64}, "right")
--- A:get_swizzle_portion(), A:get_nonswizzle_portion()  --> Sw<3,4,3>	(8,64):(64,1)
--- ```
---@param A moontile.Layout
---@return moontile.Value
function tile.get_swizzle_portion(A) end
Layout.get_swizzle_portion = tile.get_swizzle_portion

--- The layout under a swizzle; of a composed layout what it applies first.
--- - A plain layout is itself
--- - error: no layout
--- ```lua
--- get_nonswizzle_portion(swizzle(3, 4, 3) * layout({8, 64}, "right"))  --> (8,64):(64,1)
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function tile.get_nonswizzle_portion(A) end
Layout.get_nonswizzle_portion = tile.get_nonswizzle_portion

--- CuTe's layout atom of shared memory for elements of so many bits.
--- - (M,K) or (N,K) -> element; the swizzle acts on elements
--- - the name may have its type, as in C++, and lack its room: "Layout_K_SW128_Atom<half_t>"
--- - error: a name that is none, with those that there are; bits that are no power of two
--- ```lua
--- smem_atom("GMMA::Layout_K_SW128_Atom", 16)  --> Sw<3,3,3> o 0 o (8,64):(64,1)
--- ```
---@param name string
---@param bits? integer | string  or a dtype
---@return moontile.Layout
function tile.smem_atom(name, bits) end

--- The names of the layout atoms of shared memory.
--- - smem_atom takes each
--- ```lua
--- #smem_atoms(), smem_atoms()[1]  --> 17	GMMA::Layout_MN_INTER_Atom
--- ```
---@return string[]
function tile.smem_atoms() end

--- The layout of shared memory that wgmma should read: the widest swizzle that divides the tile.
--- - major "K" or "MN"; MN and K the extents of the tile; the layout, and its name for smem_atom
--- - CuTe's ss_smem_selector; rs_: A in registers; sm100_: tcgen05
--- - error: no atom divides the extents
--- ```lua
--- ss_smem_selector("K", "f16", 128, 64)
--- --> Sw<3,3,3> o 0 o (8,64):(64,1)	GMMA::Layout_K_SW128_Atom
--- ```
---@param major "K" | "MN"
---@param bits integer | string
---@param MN moontile.Shape
---@param K moontile.Shape
---@return moontile.Layout
---@return string name
function tile.ss_smem_selector(major, bits, MN, K) end
tile.sm100_smem_selector = tile.ss_smem_selector

--- The layout of shared memory that wgmma with A in registers should read.
--- - along MN: of 32 bits SW32 only, of 8 bits SW128, or SW64 where nothing is transposed
--- - error: no atom divides the extents
--- ```lua
--- select(2, rs_smem_selector("MN", 32, 128, 32))  --> GMMA::Layout_MN_SW32_Atom
--- ```
---@param major "K" | "MN"
---@param bits integer | string
---@param MN moontile.Shape
---@param K moontile.Shape
---@param transposed? boolean
---@return moontile.Layout
---@return string name
function tile.rs_smem_selector(major, bits, MN, K, transposed) end

--- A layout atom repeated to the shape of an MMA's parts, ((MMA_M,MMA_K),M,K,...).
--- - what mma:partition_shape_A gives; R(c) as tile_to_shape of the tile has it
--- - error: a shape without these modes; an atom that does not divide it
--- ```lua
--- tile_to_mma_shape(smem_atom("GMMA::Layout_K_SW128_Atom", 16), {{128, 16}, 1, 4})
--- --> Sw<3,3,3> o 0 o ((128,16),1,4):((64,1),0,16)
--- ```
---@param atom moontile.Layout
---@param shape moontile.Tuple
---@param order? moontile.Tuple
---@return moontile.Layout
function tile.tile_to_mma_shape(atom, shape, order) end

-- ---------------------------------------------------------------- widths

--- A in elements n times as wide.
--- - R(c') is the element of A(c): A(c) / n, rounded down
--- - of a composed layout by its values, if no element is torn apart
--- - error: a stride is neither a multiple of n nor a divisor
--- ```lua
--- layout{8, 6}:upcast(4)  --> (2,6):(1,2)
--- ```
---@param A moontile.Layout
---@param n integer
---@return moontile.Layout
function tile.upcast(A, n) end
Layout.upcast = tile.upcast

--- A in elements n times as narrow.
--- - the mode s:1 becomes n*s:1, other strides n times what they were
--- - a composed layout without a mode that steps by 1: its first mode, element by element
--- - error: no mode has stride 1
--- ```lua
--- layout{8, 6}:downcast(4)  --> (32,6):(1,32)
--- ```
---@param A moontile.Layout
---@param n integer
---@return moontile.Layout
function tile.downcast(A, n) end
Layout.downcast = tile.downcast

--- Elements of old_bits as elements of new_bits.
--- - exactly A's bits; to wider ones the elements that hold them
--- - error: those of upcast and downcast
--- ```lua
--- recast_layout(8, 32, layout{8, 6})  --> (2,6):(1,2)
--- ```
---@param old_bits integer
---@param new_bits integer
---@param A moontile.Layout
---@return moontile.Layout
function tile.recast_layout(old_bits, new_bits, A) end

--- Elements of old_bits as elements of new_bits.
--- - tile.recast_layout with the layout first
--- - error: those of upcast and downcast
--- ```lua
--- layout{2, 6}:recast_layout(32, 8)  --> (8,6):(1,8)
--- ```
---@param old_bits integer
---@param new_bits integer
---@return moontile.Layout
function Layout:recast_layout(old_bits, new_bits) end

-- ---------------------------------------------------------------- lattice

--- The least shape that refines both.
--- - compatible(A, R) and compatible(B, R)
--- - error: there is none
--- ```lua
--- common_refinement({4, 6}, {{2, 2}, 6}), common_refinement(24, {4, 6})  --> ((2,2),6)	(4,6)
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return moontile.Tuple
function tile.common_refinement(A, B) end
Layout.common_refinement = tile.common_refinement

--- The greatest shape that both refine.
--- - compatible(R, A) and compatible(R, B)
--- - error: the sizes differ
--- ```lua
--- common_coarsening({{2, 2}, 6}, {4, {2, 3}})  --> (4,6)
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return moontile.Tuple
function tile.common_coarsening(A, B) end
Layout.common_coarsening = tile.common_coarsening

--- The indices that both shapes cut alike.
--- - every layout of shape A or B can be composed with it
--- - error: an extent of 0
--- ```lua
--- greatest_common_domain({4, 6}, {2, 12})  --> (2,2,6):(1,2,4)
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return moontile.Layout
function tile.greatest_common_domain(A, B) end
Layout.greatest_common_domain = tile.greatest_common_domain

--- The sum of two layouts of one size, coalesced.
--- - R(i) = A(i) + B(i); over F2 the sum is xor; of composed layouts by their values
--- - error: the sizes differ; no layout is the sum
--- ```lua
--- layout_add(layout({4, 8}, {8, 1}), layout({4, 8}, {1, 4}))  --> (4,8):(9,5)
--- ```
---@param A moontile.Layout
---@param B moontile.Layout
---@return moontile.Layout
function tile.layout_add(A, B) end
Layout.layout_add = tile.layout_add

--- A swizzled layout as one of XOR strides.
--- - Sw(offset + A(i)) = Sw(offset) xor R(i)
--- - error: extents that are no powers of two; steps that share bits
--- ```lua
--- swizzle_to_f2(swizzle(2, 0, 3), 0, layout{4, 8})  --> (4,(2,4)):(F1,(F4,F9))
--- ```
---@param swizzle moontile.Value
---@param offset integer
---@param A moontile.Layout
---@return moontile.Layout
function tile.swizzle_to_f2(swizzle, offset, A) end

--- A layout as a matrix over F2: rows are bits of the offset, columns bits of the index.
--- - A(x) is the second result xor the columns of the bits of x
--- - error: extents that are no powers of two; steps that share bits, with an index
--- ```lua
--- local M, at0 = to_f2_matrix(layout "Sw<1,0,1> o 0 o (2,2):(2,1)")
--- #M, table.concat(M[1], " "), table.concat(M[2], " "), at0  --> 2	1 1	1 0	0
--- ```
---@param A moontile.Layout
---@return integer[][]
---@return integer constant
function tile.to_f2_matrix(A) end
Layout.to_f2_matrix = tile.to_f2_matrix

--- The layout of a matrix over F2: plain, swizzled or with F2 strides, whatever has these values.
--- - R(x) = constant xor the columns of the bits of x
--- - from_f2_matrix(to_f2_matrix(A)) has the values of A
--- - error: what is no 0 and no 1; a shape of another size; a constant, and no swizzle parts M
--- ```lua
--- from_f2_matrix({{1, 1}, {1, 0}}, {2, 2})  --> Sw<1,0,1> o 0 o (2,2):(2,1)
--- from_f2_matrix{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}  --> (4,2):(2,1)
--- ```
---@param M integer[][]
---@param shape? moontile.Shape
---@param constant? integer
---@return moontile.Layout
function tile.from_f2_matrix(M, shape, constant) end

-- ---------------------------------------------------------------- derivations

--- How an operation comes to its result, step by step; or why there is none.
--- - coalesce, composition, complement, the divides, the products, the inverses
--- - compatible, congruent, weakly_congruent: of shapes or layouts, where they part; swizzle
--- - partition: of (thread,value) -> place of a tile; verify: the proof of verify(A, B, ...)
--- - error: another operation, with those that are explained
--- ```lua
--- explain("compatible", {4, 8}, {{2, 3}, 8})
--- --> compatible: coordinates of A are coordinates of B, for A = (4,8), B = ((2,3),8)
--- -->   mode 1: 4 is no (2,3), whose product is 6
--- -->   mode 2: 8 stands for 8
--- --> R = false
--- explain("right_inverse", layout({4, 8}, {8, 1}))
--- --> right_inverse: A(R(i)) = i for A = (4,8):(8,1)
--- -->   1 is the stride of 8:1, whose steps are 4 apart in the index: 8:4
--- -->   8 is the stride of 4:8, whose steps are 1 apart in the index: 4:1
--- -->   32 is the stride of no mode: R ends
--- --> R = (8,4):(4,1)
--- ```
---@param operation string
---@param A moontile.Modes | moontile.Value | moontile.TiledCopy | moontile.TiledMMA
---@param B? moontile.Tiler
---@param C? any
---@param D? any
---@return string
function tile.explain(operation, A, B, C, D) end

--- A value as CuTe's C++, declared and asserted, as CuTe prints it, or as Python.
--- - "type": its type alone; "print": what CuTe prints; "dsl": CuTe's DSL; "pycute": layouts there
--- - parse reads all of these again
--- - the assertions are those of its size and of some of its values, of an MMA those of its tile
--- - "header": a file of its own; of a kernel its types, its layouts of shared memory, its copies
--- - what CUTLASS before 4.5.1 says otherwise is written both ways, by CUTLASS_VERSION
--- - an atom of your own, or what is tiled of one: the operation A_op with its traits before it
--- - error: strides that CuTe has not; an atom that its DSL has not; a tiled copy in pycute
--- ```lua
--- cute(layout{2, {3, 2}}, "type")  --> Layout<Shape<_2,Shape<_3,_2>>,Stride<_1,Stride<_2,_6>>>
--- cute(layout{2, 3}, "dsl")  --> cute.make_layout((2, 3), stride=(1, 2))
--- cute(copy_atom("UniversalCopy<uint128_t>", "f32"), "dsl")
--- --> cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Uint32, num_bits_per_copy=128)
--- cute(layout(4, 2), "cpp", "Row")
--- --> // 4:2
--- --> using Row = Layout<_4,_2>;
--- --> static_assert(size(Row{}) == 4);
--- --> static_assert(Row{}(0) == 0 && Row{}(1) == 2 && Row{}(2) == 4 && Row{}(3) == 6);
--- ```
---@param x any
---@param form? "cpp" | "header" | "type" | "print" | "dsl" | "pycute"
---@param name? string
---@return string
function tile.cute(x, form, name) end

--- How an operation comes to its result, step by step.
--- - tile.explain with the layout first
--- - error: another operation, with those that are explained
--- ```lua
--- layout "(2,(1,6)):(1,(6,2))":explain "coalesce"
--- --> coalesce: the shortest layout with the values of A = (2,(1,6)):(1,(6,2))
--- -->   s:d and t:e after it are one mode, s*t:d, if s*d = e; extents of 1 drop out
--- -->     2:1
--- -->     1:6 drops out
--- -->     6:2 goes on where the mode before it ends: now 12:1
--- --> R = 12:1
--- ```
---@param operation string
---@param B? moontile.Tiler
---@return string
function Layout:explain(operation, B) end
