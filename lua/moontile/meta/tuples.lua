---@meta moontile
-- Integer tuples: sums, divisions, orders, strides, coordinates.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Tensor
local Tensor = {}

--- The tuple of these, as CuTe writes it; a table does as well.
--- - make_shape(x, y, ...) is {x, y, ...}; make_stride, make_coord (with `_` in it) likewise
--- - error: something that is no integer and no tuple
--- ```lua
--- make_layout(make_shape(2, make_shape(3, 4)), make_stride(12, make_stride(4, 1)))
--- --> (2,(3,4)):(12,(4,1))
--- ```
---@param ... moontile.Tuple
---@return moontile.Tuple
function tile.make_shape(...) end
tile.make_stride = tile.make_shape
tile.make_coord = tile.make_shape

--- A tiler by mode.
--- - make_tile(x, y, ...) is {x, y, ...}: extents, layouts, `_`
--- - error: something that is no tiler
--- ```lua
--- layout{8, 24}:zipped_divide(make_tile(4, 8))  --> ((4,8),(2,3)):((1,8),(4,64))
--- ```
---@param ... moontile.Tiler
---@return any
function tile.make_tile(...) end

--- The sum of all integers.
--- - of a tuple without integers 0
--- - error: something that is no integer
--- ```lua
--- sum{1, {2, 3}}  --> 6
--- ```
---@param t moontile.Tuple
---@return integer
function tile.sum(t) end

--- The largest of all integers.
--- - max(t) >= every integer in t
--- - error: a tuple without integers
--- ```lua
--- max{1, {5, 3}}  --> 5
--- ```
---@param t moontile.Tuple
---@return integer
function tile.max(t) end

--- The smallest of all integers.
--- - min(t) <= every integer in t
--- - error: a tuple without integers
--- ```lua
--- min{4, {5, 3}}  --> 3
--- ```
---@param t moontile.Tuple
---@return integer
function tile.min(t) end

--- The greatest common divisor of all integers.
--- - never negative; of a tuple without integers 0
--- - error: something that is no integer
--- ```lua
--- gcd{12, {18, 30}}  --> 6
--- ```
---@param t moontile.Tuple
---@return integer
function tile.gcd(t) end

--- The sum of the products of partners.
--- - inner_product(c, stride) is the offset of c
--- - error: tuples that are not congruent
--- ```lua
--- inner_product({1, {2, 3}}, {10, {1, 4}})  --> 24
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return integer
function tile.inner_product(a, b) end

--- The product of each mode.
--- - R[i] = size(A[i]), of depth 1
--- - error: a value of another kind
--- ```lua
--- product_each{4, {2, 3}}, layout{4, {2, 3}}:product_each()  --> (4,6)	(4,6)
--- ```
---@param A moontile.Modes
---@return moontile.Tuple
function tile.product_each(A) end
Layout.product_each = tile.product_each

--- Products in the tree of a guide.
--- - congruent with the guide; each integer is the product of what A has there
--- - error: a guide of another tree
--- ```lua
--- product_like({{4, 2}, 3}, {0, 0})  --> (8,3)
--- ```
---@param A moontile.Modes
---@param guide moontile.Tuple
---@return moontile.Tuple
function tile.product_like(A, guide) end
Layout.product_like = tile.product_like

--- Each integer of a times the product of what b has there.
--- - congruent with a
--- - error: trees that part
--- ```lua
--- elem_scale({4, 8}, {2, {3, 5}})  --> (8,120)
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return moontile.Tuple
function tile.elem_scale(a, b) end

--- Whether two values have the same tree.
--- - congruent((4,8), (1,2)); not ((4,8), ((2,2),8))
--- - if not, also where they part
--- - error: a value that is neither layout nor tuple
--- ```lua
--- congruent({4, 8}, {1, 2})  --> true
--- select(2, congruent({4, 8}, {{2, 2}, 8}))
--- --> (4,8) is not congruent with ((2,2),8): 4 of the one is an integer where the other has (2,2)
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return boolean
---@return string? why
function tile.congruent(A, B) end
Layout.congruent = tile.congruent
Tensor.congruent = tile.congruent

--- Whether B is A with some integers replaced by tuples.
--- - a partial order: congruent(A, B) if both are below the other
--- - if not, also where they part
--- - error: a value that is neither layout nor tuple
--- ```lua
--- weakly_congruent(4, {4, 8}), (weakly_congruent({4, 8}, 4))  --> true	false
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return boolean
---@return string? why
function tile.weakly_congruent(A, B) end
Layout.weakly_congruent = tile.weakly_congruent

--- Whether every coordinate of A is one of B, for the same index.
--- - size(A) = size(B): each integer of A is the product of what replaces it
--- - if not, also where they part
--- - error: a value that is neither layout nor tuple
--- ```lua
--- compatible(24, {4, 6}), compatible({4, 6}, {{2, 2}, 6})  --> true	true
--- select(2, compatible({4, 6}, {4, 3, 2}))
--- --> (4,6) is not compatible with (4,3,2): (4,6) has 2 modes, (4,3,2) has 3
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return boolean
---@return string? why
function tile.compatible(A, B) end
Layout.compatible = tile.compatible

--- Whether each integer of A divides the product of what replaces it in B: tiles of A fill B.
--- - compatible(elem_scale(A, C), B) for some C that is congruent with A
--- - if not, also where they part
--- - error: a value that is neither layout nor tuple
--- ```lua
--- weakly_compatible({2, 3}, {{2, 2}, 6})  --> true
--- select(2, weakly_compatible({2, 4}, {{2, 2}, 6}))
--- --> (2,4) is not weakly compatible with ((2,2),6): 4 of the one does not divide 6 of the other
--- ```
---@param A moontile.Modes
---@param B moontile.Modes
---@return boolean
---@return string? why
function tile.weakly_compatible(A, B) end
Layout.weakly_compatible = tile.weakly_compatible

--- Whether no tile of the tiler hangs over the shape.
--- - size(A) = size(tiler) * size(ceil_div(A, tiler))
--- - error: a tiler that is none
--- ```lua
--- evenly_divides({8, 6}, {4, 3}), evenly_divides({8, 6}, {4, 4})  --> true	false
--- ```
---@param A moontile.Modes
---@param tiler moontile.Tiler
---@return boolean
function tile.evenly_divides(A, tiler) end
Layout.evenly_divides = tile.evenly_divides

--- How many tiles cover the shape, rounded up.
--- - of integers the least R with R * t >= a; of tuples by mode
--- - error: a divisor below 1
--- ```lua
--- ceil_div(10, 4), ceil_div({10, 7}, {4, 3}), ceil_div({4, 6}, 8)  --> 3	(3,3)	(1,3)
--- ```
---@param A moontile.Modes
---@param tiler moontile.Tiler
---@return moontile.Tuple
function tile.ceil_div(A, tiler) end
Layout.ceil_div = tile.ceil_div

--- Extents divided, exactly.
--- - each quotient is exact, or the divisor a multiple, which leaves 1
--- - error: a quotient that is not exact
--- ```lua
--- shape_div({8, 6}, {4, 3}), shape_div({4, 6}, 8)  --> (2,2)	(1,3)
--- ```
---@param A moontile.Modes
---@param b moontile.Tuple
---@return moontile.Tuple
function tile.shape_div(A, b) end
Layout.shape_div = tile.shape_div

--- Each integer rounded up to a multiple of its partner.
--- - R % b = 0, a <= R < a + b; what b does not reach stays
--- - error: b below 1
--- ```lua
--- round_up({10, 7}, {4, 3})  --> (12,9)
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return moontile.Tuple
function tile.round_up(a, b) end

-- ---------------------------------------------------------------- orders

--- Element by element: every integer of a below (not above, above, not below) its partner in b.
--- - elem_less and elem_gtr are converse; elem_less implies elem_leq
--- - error: something that is no integer
--- ```lua
--- elem_less({1, 2}, {4, 8}), elem_less({1, 9}, {4, 8}), elem_geq({4, 8}, {4, 2})
--- --> true	false	true
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return boolean
function tile.elem_less(a, b) end
tile.elem_leq = tile.elem_less
tile.elem_gtr = tile.elem_less
tile.elem_geq = tile.elem_less

--- By the first mode that differs.
--- - a total order; lex_leq = not lex_gtr; a beginning comes before what it begins
--- - error: trees that part
--- ```lua
--- lex_less({1, 9}, {2, 0}), lex_leq({2, 1}, {2, 1}), lex_gtr({3}, {2, 5})  --> true	true	true
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return boolean
function tile.lex_less(a, b) end
tile.lex_leq = tile.lex_less
tile.lex_gtr = tile.lex_less
tile.lex_geq = tile.lex_less

--- By the last mode that differs.
--- - for coordinates inside a shape the order of indices
--- - error: trees that part
--- ```lua
--- colex_less({9, 1}, {0, 2}), colex_geq({2, 1}, {2, 1})  --> true	true
--- ```
---@param a moontile.Tuple
---@param b moontile.Tuple
---@return boolean
function tile.colex_less(a, b) end
tile.colex_leq = tile.colex_less
tile.colex_gtr = tile.colex_less
tile.colex_geq = tile.colex_less

-- ---------------------------------------------------------------- strides

--- The strides of a compact layout, the leftmost extent fastest.
--- - congruent with the shape; an extent of 1 gets 0; from `stride` on, or 1
--- - error: a shape that is none; more than 64 bits
--- ```lua
--- compact_col_major{4, {2, 3}}, compact_col_major({4, 8}, 2)  --> (1,(4,8))	(2,8)
--- ```
---@param shape moontile.Tuple
---@param stride? moontile.Tuple
---@return moontile.Tuple
function tile.compact_col_major(shape, stride) end

--- The strides of a compact layout, the rightmost extent fastest.
--- - congruent with the shape; an extent of 1 gets 0; from `stride` on, or 1
--- - error: a shape that is none; more than 64 bits
--- ```lua
--- compact_row_major{4, {2, 3}}  --> (6,(3,1))
--- ```
---@param shape moontile.Tuple
---@param stride? moontile.Tuple
---@return moontile.Tuple
function tile.compact_row_major(shape, stride) end

--- Of each integer the product of those before it.
--- - congruent with the shape; times `start`, or what that has for each mode
--- - compact_col_major without its zeros for extents of 1
--- - error: a shape that is none; more than 64 bits
--- ```lua
--- prefix_product{5, 4, 3}, prefix_product({7, {16, 1, 3}}, 2)  --> (1,5,20)	(2,(14,224,224))
--- ```
---@param shape moontile.Tuple
---@param start? moontile.Tuple
---@return moontile.Tuple
function tile.prefix_product(shape, start) end

--- Of each integer the product of those behind it.
--- - congruent with the shape; times `start`, or what that has for each mode
--- - error: a shape that is none; more than 64 bits
--- ```lua
--- suffix_product{5, 4, 3}  --> (12,3,1)
--- ```
---@param shape moontile.Tuple
---@param start? moontile.Tuple
---@return moontile.Tuple
function tile.suffix_product(shape, start) end

--- The strides of a compact layout, the part with the smallest order number fastest.
--- - shape:R is a bijection onto 0 .. size-1
--- - error: an order that is not weakly congruent with the shape
--- ```lua
--- compact_order({4, 8, 2}, {2, 0, 1})  --> (16,1,8)
--- ```
---@param shape moontile.Tuple
---@param order moontile.Tuple
---@return moontile.Tuple
function tile.compact_order(shape, order) end

-- ---------------------------------------------------------------- coordinates

--- A coordinate of one shape as one of another.
--- - mode by mode where all are tuples; elsewhere the coordinate with the same index
--- - error: tuples of different ranks
--- ```lua
--- crd2crd(5, {4, 8}, {2, 16}), crd2crd({1, 1}, {4, 8}, {{2, 2}, 8})  --> (1,2)	((1,0),1)
--- ```
---@param coordinate moontile.Coordinate
---@param shape moontile.Tuple
---@param to moontile.Tuple
---@return moontile.Tuple
function tile.crd2crd(coordinate, shape, to) end

--- The coordinate after it, colexicographically.
--- - its index is one more; after the last the last integer is its extent
--- - error: a coordinate outside of the shape
--- ```lua
--- increment({3, 1}, {4, 8})  --> (0,2)
--- ```
---@param coordinate moontile.Tuple
---@param shape moontile.Tuple
---@return moontile.Tuple
function tile.increment(coordinate, shape) end
