---@meta moontile
-- The algebra: composition, complements, inverses, divides, products, tiles.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Tensor
local Tensor = {}

--- A o B, also A * B: the function A(B(i)) as a layout.
--- - R(i) = A(B(i)) for 0 <= i < size(B); B's shape is compatible with R's
--- - B may run past the end of A: its last mode has no bound; a table is a tiler, by mode
--- - where B goes below 0, A(-i) = -A(i), as in CuTe
--- - under a swizzle or over F2, where nothing simpler is that, R is composed: f o offset o A
--- - error: no layout is that; the text has a witness and a way out
--- ```lua
--- layout(20, 2) * layout({4, 5}, {1, 4})  --> (4,5):(2,8)
--- layout "(2,4):(-1,512)" * layout(4, -1)  --> (2,2):(1,-512)
--- layout({6, 2}, {8, 2}) * layout({4, 3}, {3, 1})  --> ((2,2),3):((24,2),8)
--- layout{8, 24}:composition{4, 8}  --> (4,8):(1,8)
--- swizzle(1, 0, 2) * layout "Sw<3,0,3> o 0 o (8,8):(8,1)"
--- --> Sw<1,0,2> o 0 o Sw<3,0,3> o 0 o (8,8):(8,1)
--- ```
---@param A moontile.Layout | moontile.Value
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.composition(A, tiler) end
Layout.composition = tile.composition
Tensor.composition = tile.composition

--- The offsets that A skips, up to a bound; and whether both together fill it.
--- - disjoint from A but for 0; ordered, strides positive
--- - if it fills, (A, R) has each offset of a range of at least `bound` once
--- - of a layout without elements: all below the bound, which does not fill
--- - of a swizzled A that of the layout under its swizzles, as in CuTe: both are meant under them
--- - error: two elements of A share an offset; modes of A interleave
--- ```lua
--- layout(4, 2):complement(24)  --> (2,3):(1,8)	true
--- complement(layout({4, 2}, {1, 6}), 24)  --> 2:12	false
--- ```
---@param A moontile.Layout
---@param bound? moontile.Tuple
---@return moontile.Layout
---@return boolean fills
function tile.complement(A, bound) end
Layout.complement = tile.complement

--- R with A(R(i)) = i, as far as A's values run on from 0.
--- - A(R(i)) = i for 0 <= i < size(R)
--- - of a swizzled or F2 layout: every bijection of 2^n values has its inverse, swizzled or over F2
--- - of other swizzled and composed layouts it is composed: what undoes each link, values compared
--- - error: no element is at 0, where R begins; what undoes the links does not undo all of them
--- ```lua
--- right_inverse(layout({4, 8}, {8, 1}))  --> (8,4):(4,1)
--- right_inverse(layout({4, 8}, {1, 5}))  --> 4:1
--- right_inverse(layout "Sw<3,4,3> o 0 o (8,64):(64,1)")  --> Sw<2,1,-6> o 0 o (64,8):(8,1)
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function tile.right_inverse(A) end
Layout.right_inverse = tile.right_inverse

--- L with L(A(i)) = i where A is injective.
--- - A(L(A(i))) = A(i) for all i; L gives the smallest such index
--- - error: A is not injective, with two indices; negative strides
--- ```lua
--- left_inverse(layout({4, 2}, {1, 8}))  --> (8,2):(1,4)
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function tile.left_inverse(A) end
Layout.left_inverse = tile.left_inverse

--- Where stride 0 makes A repeat.
--- - A(R(i)) = A(0); size(R) * size(filter(A)) = size(A)
--- - error: no layout
--- ```lua
--- nullspace(layout({4, 8, 2}, {1, 0, 4}))  --> 8:4
--- ```
---@param A moontile.Layout
---@return moontile.Layout
function tile.nullspace(A) end
Layout.nullspace = tile.nullspace

--- The run of offsets that A and B have in common.
--- - A(R(i)) = B(R(i)) = i for 0 <= i < size(R)
--- - error: A o right_inverse(B) is no layout
--- ```lua
--- max_common_layout(layout{4, 8}, layout({4, 8}, {1, 10}))  --> 4:1
--- ```
---@param A moontile.Layout
---@param B moontile.Layout
---@return moontile.Layout
function tile.max_common_layout(A, B) end
Layout.max_common_layout = tile.max_common_layout

--- How many elements a copy from A to B may move at a time.
--- - size(max_common_layout(A, B))
--- - error: A o right_inverse(B) is no layout
--- ```lua
--- max_common_vector(layout{4, 8}, layout({4, 8}, {1, 10}))  --> 4
--- ```
---@param A moontile.Layout
---@param B moontile.Layout
---@return integer
function tile.max_common_vector(A, B) end
Layout.max_common_vector = tile.max_common_vector

--- At most n indices of a shape, taken from its leading extents.
--- - ordered; size(R) divides n; its extent in each mode divides that mode
--- - error: n below 1
--- ```lua
--- domain_distribute({4, 6, 8}, 8)  --> 8:1
--- ```
---@param A moontile.Modes
---@param n integer
---@return moontile.Layout
function tile.domain_distribute(A, n) end
Layout.domain_distribute = tile.domain_distribute

-- ---------------------------------------------------------------- divides

--- A cut into tiles, also A / T: ((tile),(rest)) per mode.
--- - R = A o (T, complement(T, size(A))); every A(i) appears
--- - a layout as tiler is one function, a table is by mode, an integer n is n:1
--- - a tile of coordinates names modes: 4:1@0 cuts mode 0 by 4; the others are rests
--- - a tile may be swizzled, over F2 or composed, its values 0, 1, 2, .. in any order
--- - error: the tile does not divide A; two of its elements are one
--- ```lua
--- layout "(8,16):(16,1)" / layout "4:1@0"  --> (4,(2,16)):(16,(64,1))
--- layout(24, 2) / layout(4, 2)  --> (4,(2,3)):(4,(2,16))
--- layout{8, 24} / {4, 8}  --> ((4,2),(8,3)):((1,4),(8,64))
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.logical_divide(A, tiler) end
Layout.logical_divide = tile.logical_divide
Tensor.logical_divide = tile.logical_divide

--- A cut into tiles: ((tiles),(rests)).
--- - R(i, j) is element i of tile j
--- - error: the tile does not divide A
--- ```lua
--- layout{8, 24}:zipped_divide{4, 8}  --> ((4,8),(2,3)):((1,8),(4,64))
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.zipped_divide(A, tiler) end
Layout.zipped_divide = tile.zipped_divide
Tensor.zipped_divide = tile.zipped_divide

--- A cut into tiles: ((tiles), rest, rest, ...).
--- - zipped_divide with the modes of its second mode beside the first
--- - error: the tile does not divide A
--- ```lua
--- layout{8, 24}:tiled_divide{4, 8}  --> ((4,8),2,3):((1,8),4,64)
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.tiled_divide(A, tiler) end
Layout.tiled_divide = tile.tiled_divide
Tensor.tiled_divide = tile.tiled_divide

--- A cut into tiles: (tile, tile, ..., rest, rest, ...).
--- - zipped_divide with all modes side by side
--- - error: the tile does not divide A
--- ```lua
--- layout{8, 24}:flat_divide{4, 8}  --> (4,8,2,3):(1,8,4,64)
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.flat_divide(A, tiler) end
Layout.flat_divide = tile.flat_divide
Tensor.flat_divide = tile.flat_divide

--- Pairs wherever the tiler has a leaf, as divides leave them: all tiles, and all rests.
--- - (R[1], R[2]); modes that the tiler does not reach end R[2]
--- - error: no pair where the tiler has a leaf
--- ```lua
--- tile_unzip(layout{8, 24} / {4, 8}, {4, 8})  --> ((4,8),(2,3)):((1,8),(4,64))
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.tile_unzip(A, tiler) end
Layout.tile_unzip = tile.tile_unzip

--- A tiler as a layout of coordinates.
--- - composition(A, R) = composition(A, tiler), as one function
--- - error: `_` in the tiler
--- ```lua
--- tiler_to_layout{4, layout(2, 3)}  --> (4,2):(1@0,3@1)
--- ```
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.tiler_to_layout(tiler) end

-- ---------------------------------------------------------------- products

--- B copies of A: (A, copies).
--- - no two copies meet, if A is injective; an integer, or a shape as A, is its compact layout
--- - a swizzled, F2 or composed B permutes the copies; those of a swizzled A lie under its swizzle
--- - of a composed A whose links are layouts they are copies of its values
--- - error: strides that are no integers
--- ```lua
--- logical_product(layout(4), layout(3))  --> (4,3):(1,4)
--- logical_product(layout(4), layout "Sw<1,0,1> o 0 o 4:1")  --> Sw<1,2,1> o 0 o (4,4):(1,4)
--- logical_product({2, 3}, 4)  --> ((2,3),4):((1,2),6)
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.logical_product(A, tiler) end
Layout.logical_product = tile.logical_product

--- Copies of A, side by side in each mode: ((A1,B1),(A2,B2),...).
--- - A block is where it was; blocks are dealt out by B
--- - error: strides that are no integers
--- ```lua
--- blocked_product(layout{2, 5}, layout{3, 4})  --> ((2,3),(5,4)):((1,10),(2,30))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.blocked_product(A, tiler) end
Layout.blocked_product = tile.blocked_product

--- Copies of A, interleaved in each mode: ((B1,A1),(B2,A2),...).
--- - as blocked_product, each mode the other way round
--- - error: strides that are no integers
--- ```lua
--- raked_product(layout{2, 5}, layout{3, 4})  --> ((3,2),(4,5)):((10,1),(30,2))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.raked_product(A, tiler) end
Layout.raked_product = tile.raked_product

--- Copies of A in the form of zipped_divide: ((blocks),(grids)).
--- - no two copies meet, if A is injective
--- - error: strides that are no integers
--- ```lua
--- zipped_product(layout{2, 5}, {3, 4})  --> ((2,5),(3,(2,2))):((1,2),(2,(1,10)))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.zipped_product(A, tiler) end
Layout.zipped_product = tile.zipped_product

--- Copies of A in the form of tiled_divide: ((blocks), grid, grid, ...).
--- - no two copies meet, if A is injective
--- - error: strides that are no integers
--- ```lua
--- tiled_product(layout{2, 5}, {3, 4})  --> ((2,5),3,(2,2)):((1,2),2,(1,10))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.tiled_product(A, tiler) end
Layout.tiled_product = tile.tiled_product

--- Copies of A in the form of flat_divide: (block, block, ..., grid, grid, ...).
--- - no two copies meet, if A is injective
--- - error: strides that are no integers
--- ```lua
--- flat_product(layout{2, 5}, {3, 4})  --> (2,5,3,(2,2)):(1,2,2,(1,10))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param tiler moontile.Tiler
---@return moontile.Layout
function tile.flat_product(A, tiler) end
Layout.flat_product = tile.flat_product

--- The block A repeated until it has this shape.
--- - mode k of R is (A_k, grid) with the size of mode k of the shape; no two copies meet
--- - error: A has more modes; A does not divide the shape
--- ```lua
--- tile_to_shape(layout{2, 4}, {8, 8})  --> ((2,4),(4,2)):((1,8),(2,32))
--- smem_atom("GMMA::Layout_K_SW128_Atom", 16):tile_to_shape{64, 128}
--- --> Sw<3,3,3> o 0 o ((8,8),(64,2)):((64,512),(1,4096))
--- ```
---@param A moontile.Layout | moontile.Tuple | integer
---@param shape moontile.Tuple
---@param order? moontile.Tuple | "left" | "right"
---@return moontile.Layout
function tile.tile_to_shape(A, shape, order) end
Layout.tile_to_shape = tile.tile_to_shape

-- ---------------------------------------------------------------- tiles

--- The tile at a coordinate of the tiles; the modes where that has `_` follow it.
--- - zipped_divide(A, tiler) sliced at the coordinate in mode 2; of a tensor a view
--- - a projection drops the modes where it has `_` from tiler and coordinate
--- - error: a coordinate that is no tile
--- ```lua
--- local_tile(layout{8, 24}, {4, 8}, {1, 2})  --> (4,8):(1,8)	132
--- tensor("i32", layout{10, 7}):local_tile({4, 3}, {2, _}):layout()  --> (4,3,3):(1,10,30)
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@param coordinate moontile.Coordinate
---@param projection? table
---@return moontile.Layout
---@return integer offset
function tile.local_tile(A, tiler, coordinate, projection) end
Layout.local_tile = tile.local_tile
Tensor.local_tile = tile.local_tile

--- What a thread has when A is dealt out to tiles of the shape of a layout of threads.
--- - outer_partition at the place where `threads` is `index`; of a tensor a view
--- - error: no thread has the index
--- ```lua
--- local_partition(layout{8, 24}, layout({4, 8}, {8, 1}), 9)  --> (2,3):(4,64)	9
--- ```
---@param A moontile.Layout
---@param threads moontile.Layout
---@param index integer
---@param projection? table
---@return moontile.Layout
---@return integer offset
function tile.local_partition(A, threads, index, projection) end
Layout.local_partition = tile.local_partition
Tensor.local_partition = tile.local_partition

--- The tile at a coordinate of the tiles.
--- - zipped_divide(A, tiler) sliced at the coordinate in mode 2; of a tensor a view
--- - error: a coordinate that is no tile
--- ```lua
--- inner_partition(layout{8, 24}, {4, 8}, {1, 2})  --> (4,8):(1,8)	132
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@param coordinate moontile.Coordinate
---@return moontile.Layout
---@return integer offset
function tile.inner_partition(A, tiler, coordinate) end
Layout.inner_partition = tile.inner_partition
Tensor.inner_partition = tile.inner_partition

--- What lies at one place of every tile.
--- - zipped_divide(A, tiler) sliced at the coordinate in mode 1; of a tensor a view
--- - error: a coordinate outside of the tile
--- ```lua
--- outer_partition(layout{8, 24}, {4, 8}, {1, 2})  --> (2,3):(4,64)	17
--- ```
---@param A moontile.Layout
---@param tiler moontile.Tiler
---@param coordinate moontile.Coordinate
---@return moontile.Layout
---@return integer offset
function tile.outer_partition(A, tiler, coordinate) end
Layout.outer_partition = tile.outer_partition
Tensor.outer_partition = tile.outer_partition
