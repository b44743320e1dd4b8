---@meta moontile
-- Layouts: built, asked, printed.
-- SPDX-License-Identifier: MIT

---@class moontile
---@field _VERSION string
---@field _ moontile.Value  the wildcard: a whole mode
---@field X moontile.Value  the same, as CuTe's Step<_1,X,_1> has it
---@field LayoutLeft string  as "left": layout(shape, LayoutLeft)
---@field LayoutRight string  as "right": layout(shape, LayoutRight)
---@field GenColMajor string  as "left"
---@field GenRowMajor string  as "right"
local tile = {}

---An integer tuple: an integer, or a table of integer tuples.
---@alias moontile.Tuple integer | table
---A tuple in which `_` may stand.
---@alias moontile.Coordinate integer | table | moontile.Value
---By mode (a table) or as one function (a layout; n is n:1).
---@alias moontile.Tiler integer | table | moontile.Layout
---A layout or a tuple.
---@alias moontile.Modes moontile.Layout | moontile.Tuple

---A function from coordinates to offsets, shape:stride.
---@class moontile.Layout
---@field [integer] moontile.Layout  its modes, from 1 on
---@operator call(...): any
---@operator mul(moontile.Tiler): moontile.Layout
---@operator div(moontile.Tiler): moontile.Layout
---@operator len: integer
local Layout = {}

---A basis element, a swizzle, or the wildcard.
---@class moontile.Value
---@operator call(integer): integer
---@operator mul(moontile.Layout): moontile.Layout
local Value = {}

---@class moontile.Tensor
local Tensor = {}

--- A layout of a shape: with strides, compact ("left", "right"), or from its text.
--- - without strides the leftmost mode is fastest; "right": the rightmost
--- - layout(tostring(A)) == A
--- - error: strides that are not congruent with the shape; negative extents; more than 64 nodes
--- ```lua
--- layout({4, {2, 2}}, {2, {1, 8}})  --> (4,(2,2)):(2,(1,8))
--- layout{4, 8}, layout({4, 8}, "right")  --> (4,8):(1,4)	(4,8):(8,1)
--- layout "(4,8):(8,1)"  --> (4,8):(8,1)
--- layout(swizzle(2, 0, 3))  --> Sw<2,0,3> o 0 o 5:1
--- ```
---@param shape moontile.Tuple | string | moontile.Value
---@param stride? moontile.Tuple | "left" | "right"
---@return moontile.Layout
function tile.layout(shape, stride) end

--- The value that a text stands for: a layout, a tuple, a tiler, a swizzle, a basis element.
--- - parse(tostring(v)) == v
--- - CuTe's C++ is read too, and what CuTe prints, of tiled copies, tiled MMAs and atoms, too
--- - CuTe prints no name of an atom: the first that has the layouts, or the one that is given
--- - what no atom has is one of your own; atom: its types, { A = "f16", B = "f16", C = "f32" }
--- - integers behind the text stand for its `?`, from left to right
--- - error: text that is none, with the position
--- ```lua
--- parse "(4,(2,2)):(2,(1,8))"  --> (4,(2,2)):(2,(1,8))
--- parse "(4,(2,3))", parse "2@0+1@1"  --> (4,(2,3))	2@0+1@1
--- parse "Layout<Shape<_2,_4>,Stride<_1,_2>>", parse("(?,4):(1,?{div=4})", 8, 12)
--- --> (2,4):(1,2)	(8,4):(1,12)
--- parse("Copy_Atom<SM75_U32x4_LDSM_N,half_t>").layout_src  --> (32,8):(8,1)
--- local text = cute(make_tiled_mma "SM80_16x8x8_F32BF16BF16F32_TN", "print")
--- parse(text, "SM80_16x8x8_F32BF16BF16F32_TN"):tile_shape()  --> (16,8,8)
--- ```
---@param text string
---@param atom? string | table | integer
---@param ... integer
---@return any
function tile.parse(text, atom, ...) end

--- Layouts as the modes of one; or, as layout, a shape with strides or without.
--- - R(i, j, ...) = A(i) + B(j) + ...; of swizzled and composed modes by their values, up to 2^16
--- - error: modes of different kinds of strides
--- ```lua
--- make_layout(layout(4, 1), layout(3, 8))  --> (4,3):(1,8)
--- make_layout({2, 3}, {3, 1})  --> (2,3):(3,1)
--- ```
---@param ... moontile.Layout | moontile.Tuple
---@return moontile.Layout
function tile.make_layout(...) end

--- The layout of coordinates of a shape: value@mode.
--- - R(c) = c
--- - error: a shape that is none
--- ```lua
--- make_identity_layout{8, 6}  --> (8,6):(1@0,1@1)
--- make_identity_layout{8, 6}(3, 5)  --> (3,5)
--- ```
---@param shape moontile.Tuple
---@return moontile.Layout
function tile.make_identity_layout(shape) end
tile.make_identity_tensor = tile.make_identity_layout

--- The compact layout whose part with the smallest order number is fastest.
--- - a bijection onto 0 .. size-1; ties go from left to right
--- - error: an order that is not weakly congruent with the shape
--- ```lua
--- make_ordered_layout({4, 8, 2}, {2, 0, 1})  --> (4,8,2):(16,1,8)
--- ```
---@param shape moontile.Tuple | moontile.Layout
---@param order moontile.Tuple | "left" | "right"
---@return moontile.Layout
function tile.make_ordered_layout(shape, order) end

--- The compact layout of A's shape, in the order of A's strides.
--- - stride 0 stays 0; strides that are tied stay tied, and then R collides
--- - a bijection onto 0 .. n-1 of the modes that move, if no two are tied
--- - error: strides that are no integers
--- ```lua
--- make_layout_like(layout({4, 8}, {100, 1}))  --> (4,8):(8,1)
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function tile.make_layout_like(A) end
Layout.make_layout_like = tile.make_layout_like

--- Compact memory for the values of a partition: mode 1, the atom's values, first.
--- - equal extents; broadcasts (stride 0) of mode 1 stay broadcasts; no swizzle
--- - the other modes in the order of their strides
--- - error: strides that are no integers
--- ```lua
--- make_fragment_like(layout({{2, 2}, 4}, {{64, 1}, 512}))  --> ((2,2),(4)):((1,2),(4))
--- ```
---@param A moontile.Modes
---@return moontile.Layout
function tile.make_fragment_like(A) end
Layout.make_fragment_like = tile.make_fragment_like

--- A with another shape.
--- - R(i) = A(i) for 0 <= i < size(shape)
--- - error: no layout is that, as of composition
--- ```lua
--- layout({4, 8}, {8, 1}):with_shape(2, 16)  --> (2,(2,8)):(8,(16,1))
--- ```
---@param A moontile.Layout
---@param ... moontile.Tuple
---@return moontile.Layout
function tile.with_shape(A, ...) end
Layout.with_shape = tile.with_shape

-- ---------------------------------------------------------------- asked

--- How many modes.
--- - an integer has 1; rank(A, i, j) is of mode j of mode i
--- - error: a mode that is not there
--- ```lua
--- rank(layout{4, {2, 2}}), layout{4, {2, 2}}:rank(2), #layout{4, 8}  --> 2	2	2
--- ```
---@param A moontile.Modes
---@param ... integer  a mode, a mode of it, ...
---@return integer
function tile.rank(A, ...) end
Layout.rank = tile.rank
Tensor.rank = tile.rank

--- How deep modes are nested.
--- - an integer, or a mode without modes, has 0
--- - error: a mode that is not there
--- ```lua
--- depth(layout{4, {2, 2}}), layout{4, {2, 2}}:depth(1)  --> 2	0
--- ```
---@param A moontile.Modes
---@param ... integer
---@return integer
function tile.depth(A, ...) end
Layout.depth = tile.depth
Tensor.depth = tile.depth

--- How many coordinates: the product of the extents.
--- - size(A, i) is of mode i
--- - of a tiled MMA or a tiled copy: its threads
--- - error: a mode that is not there; more than 2^63
--- ```lua
--- layout{4, 8}:size(), layout{4, 8}:size(2), size{3, {2, 5}}  --> 32	8	30
--- ```
---@param A moontile.Modes | moontile.TiledMMA | moontile.TiledCopy
---@param ... integer
---@return integer
function tile.size(A, ...) end
Layout.size = tile.size
Tensor.size = tile.size

--- The extents, as a tuple.
--- - shape(A, i) is of mode i
--- - error: a mode that is not there
--- ```lua
--- layout({4, {2, 2}}, {2, {1, 8}}):shape(), layout{4, {2, 2}}:shape(2)  --> (4,(2,2))	(2,2)
--- ```
---@param A moontile.Modes
---@param ... integer
---@return moontile.Tuple
function tile.shape(A, ...) end
Layout.shape = tile.shape
Tensor.shape = tile.shape

--- The strides, as a tuple.
--- - congruent with the shape; stride(A, i) is of mode i
--- - error: a mode that is not there; a tuple, which has no strides
--- ```lua
--- layout({4, {2, 2}}, {2, {1, 8}}):stride(), layout{4, 8}:stride(2)  --> (2,(1,8))	4
--- ```
---@param A moontile.Layout
---@param ... integer
---@return moontile.Tuple
function tile.stride(A, ...) end
Layout.stride = tile.stride
Tensor.stride = tile.stride

--- How many offsets from the least to the largest, 0 among them; of a swizzled layout too.
--- - without negative strides the largest offset plus 1; of 4:-1 it is 4, as in CuTe
--- - error: strides that are no integers
--- ```lua
--- layout({4, 8}, {1, 10}):cosize(), layout(4, -1):cosize()  --> 74	4
--- ```
---@param A moontile.Layout
---@param ... integer
---@return integer
function tile.cosize(A, ...) end
Layout.cosize = tile.cosize
Tensor.cosize = tile.cosize

--- The least and the largest offset.
--- - memory for A has to have both; of an empty layout 0 and -1
--- - error: strides that are no integers
--- ```lua
--- layout({4, 8}, {-1, 10}):footprint()  --> -3	70
--- ```
---@param A moontile.Layout
---@param ... integer
---@return integer least
---@return integer largest
function tile.footprint(A, ...) end
Layout.footprint = tile.footprint
Tensor.footprint = tile.footprint

--- The cosize along each axis of a layout of coordinates.
--- - above all values, elementwise; of integer strides the cosize
--- - error: a mode that is not there
--- ```lua
--- make_identity_layout{8, 6}:coshape(), layout{4, 8}:coshape()  --> (8,6)	32
--- ```
---@param A moontile.Layout
---@param ... integer
---@return moontile.Tuple
function tile.coshape(A, ...) end
Layout.coshape = tile.coshape
Tensor.coshape = tile.coshape

--- The tree of the values of A, with zeros.
--- - congruent with coshape(A)
--- - error: no layout
--- ```lua
--- make_identity_layout{8, {2, 3}}:coprofile(), layout{4, 8}:coprofile()  --> (0,(0,0))	0
--- ```
---@param A moontile.Layout
---@return moontile.Tuple
function tile.coprofile(A) end
Layout.coprofile = tile.coprofile

--- max - min + 1 over the values.
--- - 0 of an empty layout
--- - error: strides that are no integers
--- ```lua
--- extent(layout({4, 8}, {-1, 10}))  --> 74
--- ```
---@param A moontile.Layout
---@return integer
function tile.extent(A) end
Layout.extent = tile.extent

--- The smallest value of a layout.
--- - A(i) >= A:min() for all i
--- - error: strides that are no integers
--- ```lua
--- layout({4, 8}, {-1, 10}):min()  --> -3
--- ```
---@return integer
function Layout:min() end

--- How many elements every run of values has at least: the widest access that is aligned.
--- - the values of A are whole runs kn .. kn+n-1; n is the largest such
--- - error: strides that are no integers
--- ```lua
--- layout({8, 4}, {1, 12}):max_alignment()  --> 4
--- ```
---@param A moontile.Layout
---@return integer
function tile.max_alignment(A) end
Layout.max_alignment = tile.max_alignment

--- How far A's elements lie side by side: the largest n with A(i) = A(0) + i for i < n.
--- - n <= size(A); is_contiguous says whether it is that
--- - error: strides that are coordinates
--- ```lua
--- contiguity(layout({4, 8}, {1, 5})), contiguity(layout{4, 8})  --> 4	32
--- ```
---@param A moontile.Layout
---@return integer
function tile.contiguity(A) end
Layout.contiguity = tile.contiguity

--- Whether all elements of A lie side by side, in their order.
--- - contiguity(A) = size(A); if not, also the first index i with A(i) ~= A(0) + i
--- - error: strides that are coordinates
--- ```lua
--- is_contiguous(layout({4, 8}, {1, 5}))  --> false	4
--- ```
---@param A moontile.Layout
---@return boolean
---@return integer? at
function tile.is_contiguous(A) end
Layout.is_contiguous = tile.is_contiguous

--- Whether no two elements of A have one offset.
--- - of a layout of coordinates, one coordinate
--- - if not, also two indices i < j with A(i) = A(j); aliases(A) says all elements that meet
--- - error: not decided, after a long search
--- ```lua
--- is_injective(layout({4, 8}, {1, 3}))  --> false	3	4
--- ```
---@param A moontile.Layout
---@return boolean
---@return integer? i
---@return integer? j
function tile.is_injective(A) end
Layout.is_injective = tile.is_injective

--- Whether A has every offset between its least and its largest.
--- - decided for any size; if not, also the first offset that is missing; gaps(A) says all of them
--- - of more than 2^20 swizzled, composed or F2 elements the offset may not be said
--- - error: strides that are coordinates
--- ```lua
--- is_surjective(layout({4, 8}, {1, 5}))  --> false	4
--- ```
---@param A moontile.Layout
---@return boolean
---@return integer? offset
function tile.is_surjective(A) end
Layout.is_surjective = tile.is_surjective

--- Whether A's n elements have n successive offsets, one each.
--- - injective and surjective
--- - if not, also an offset that is missing, or two indices i < j with A(i) = A(j)
--- - error: strides that are coordinates
--- ```lua
--- is_bijective(layout({4, 8}, {1, 5}))  --> false	4
--- is_bijective(layout({4, 8}, {1, 3}))  --> false	3	4
--- ```
---@param A moontile.Layout
---@return boolean
---@return integer? at
---@return integer? j
function tile.is_bijective(A) end
Layout.is_bijective = tile.is_bijective

--- Whether two layouts are one function; if not, also the first index where they differ.
--- - size(A) = size(B), and A(i) = B(i) for 0 <= i < size(A); shapes may differ
--- - no index where the sizes differ
--- - error: swizzled in two ways or over F2, and 2^20 values agree
--- ```lua
--- equivalent(layout{4, 8}, layout(32))  --> true
--- layout({4, 8}, "right"):equivalent(layout(32))  --> false	1
--- ```
---@param A moontile.Layout
---@param B moontile.Layout
---@return boolean
---@return integer? at
function tile.equivalent(A, B) end
Layout.equivalent = tile.equivalent

--- The offsets that a layout has, each once, in order.
--- - #image(A) = size(A) where A is injective; of F2 strides their values
--- - of a layout of coordinates these, as they come
--- - error: more than 2^22 values, or 2^18 coordinates
--- ```lua
--- table.concat(image(layout({3, 2}, {2, 3})), " ")  --> 0 2 3 4 5 7
--- ```
---@param A moontile.Layout
---@return integer[]
function tile.image(A) end
Layout.image = tile.image

--- The offsets that a layout leaves out between its least and its largest, as runs; how many.
--- - none where A is surjective
--- - error: as image
--- ```lua
--- local runs, n = gaps(layout({4, 2}, {1, 8}))
--- runs[1][1], runs[1][2], n  --> 4	7	4
--- ```
---@param A moontile.Layout
---@return integer[][] runs
---@return integer count
function tile.gaps(A) end
Layout.gaps = tile.gaps

--- The indices that share an offset: { { offset =, i, j, ... }, ... }.
--- - none where A is injective, of whatever size; of a layout of coordinates offset is one
--- - error: as image, with two that meet
--- ```lua
--- local shared = aliases(layout({4, 2}, {1, 2}))
--- #shared, shared[1].offset, shared[1][1], shared[1][2]  --> 2	2	2	4
--- ```
---@param A moontile.Layout
---@return table[]
function tile.aliases(A) end
Layout.aliases = tile.aliases

--- How often a permutation is applied until every index is back, and the lengths of its cycles.
--- - A(A(...A(i))) = i
--- - error: A is no permutation of 0 .. size(A) - 1, with an index
--- ```lua
--- local n, cycles = order(layout({4, 2}, {2, 1}))
--- n, table.concat(cycles, " ")  --> 3	1 1 3 3
--- ```
---@param A moontile.Layout
---@return integer order
---@return integer[] cycles
function tile.order(A) end
Layout.order = tile.order

--- The modes of a layout, flattened, in the order of their strides; a tuple's integers in order.
--- - the same offsets, in another order
--- - error: strides that are no integers
--- ```lua
--- sort(layout({4, 2, 3}, {6, 1, 2})), sort{3, {1, 2}}  --> (2,3,4):(1,2,6)	(1,2,3)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.sort(A) end
Layout.sort = tile.sort

--- The shape of the first n elements of a shape: what shape_div divides away.
--- - size(R) = n
--- - error: n cuts an extent that it does not divide; more elements than there are
--- ```lua
--- shape_mod({6, 2}, 3), shape_mod({3, 6, 2, 8}, 9)  --> (3,1)	(3,3,1,1)
--- ```
---@param shape moontile.Modes
---@param n integer
---@return moontile.Tuple
function tile.shape_mod(shape, n) end
Layout.shape_mod = tile.shape_mod

--- The layout as a grid of offsets, as CuTe's print_layout has it.
--- - rows are mode 1, columns mode 2; of other ranks a line for each coordinate
--- - error: more than 262144 values
--- ```lua
--- layout({2, 4}, {4, 1}):print_layout()
--- --> (2,4):(4,1)
--- -->       0   1   2   3 
--- -->     +---+---+---+---+
--- -->  0  | 0 | 1 | 2 | 3 |
--- -->     +---+---+---+---+
--- -->  1  | 4 | 5 | 6 | 7 |
--- -->     +---+---+---+---+
--- ```
---@param A moontile.Layout
---@return string
function tile.print_layout(A) end
Layout.print_layout = tile.print_layout
Tensor.print_layout = tile.print_layout
