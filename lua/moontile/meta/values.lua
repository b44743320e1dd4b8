---@meta moontile
-- Layouts evaluated: offsets, coordinates, slices.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Tensor
local Tensor = {}

--- The offset of a coordinate, A(i), A(i, j), A{i, j}; with `_` a slice.
--- - the last mode has no bound; others wrap as indices do
--- - coordinates add and subtract; c < d and c <= d hold if they do of each integer (elem_less)
--- - error: a coordinate of another rank
--- ```lua
--- local A = layout({4, {2, 2}}, {2, {1, 8}})
--- A(5), A(1, 1), A(1, {1, 0})  --> 3	3	3
--- A(1, _)  --> ((2,2)):((1,8))
--- local c = make_identity_layout{4, 8}(2, 5)
--- c + {1, 1}, c - {2, 0}, c < {4, 6}  --> (3,6)	(0,5)	true
--- ```
---@param ... moontile.Coordinate
---@return integer | moontile.Tuple | moontile.Layout
function Layout:__call(...) end

--- The offset of a coordinate inside the domain.
--- - A:at(c) = A(c)
--- - error: a coordinate outside of A
--- ```lua
--- layout{4, 8}:at(3, 7)  --> 31
--- ```
---@param A moontile.Layout
---@param ... moontile.Coordinate
---@return integer | moontile.Tuple
function tile.at(A, ...) end
Layout.at = tile.at

--- The offset of a coordinate in a layout, or in a shape with strides.
--- - without strides the index: crd2idx(idx2crd(i, s), s) = i
--- - error: a coordinate of another rank, or a negative one
--- ```lua
--- crd2idx({1, 2}, {4, 8}), crd2idx({1, 2}, {4, 8}, {8, 1})  --> 9	10
--- layout{4, 8}:crd2idx{1, 2}  --> 9
--- ```
---@param coordinate moontile.Coordinate
---@param shape moontile.Modes
---@param stride? moontile.Tuple
---@return integer
function tile.crd2idx(coordinate, shape, stride) end

--- The offset of a coordinate.
--- - A:crd2idx(c) = A(c)
--- - error: a coordinate of another rank, or a negative one
--- ```lua
--- layout({4, 8}, {8, 1}):crd2idx{1, 2}  --> 10
--- ```
---@param coordinate moontile.Coordinate
---@return integer
function Layout:crd2idx(coordinate) end

--- The coordinate of an index in a shape; with strides, of an offset.
--- - inside the shape crd2idx gives the index back; without strides the last mode does not wrap
--- - error: with strides, an offset that no coordinate has
--- ```lua
--- idx2crd(9, {4, 8}), idx2crd(9, {4, {2, 4}}), idx2crd(9, {4, 8}, {8, 1})
--- --> (1,2)	(1,(0,1))	(1,1)
--- ```
---@param index integer | moontile.Coordinate
---@param shape moontile.Modes
---@param stride? moontile.Tuple
---@return moontile.Tuple
function tile.idx2crd(index, shape, stride) end

--- The coordinate of an index in the shape of A.
--- - A(A:idx2crd(i)) = A(i)
--- - error: an index below 0
--- ```lua
--- layout({4, {2, 4}}):idx2crd(9)  --> (1,(0,1))
--- ```
---@param index integer
---@return moontile.Tuple
function Layout:idx2crd(index) end

--- Where A has an offset: a coordinate with A's tree; flat, by mode; one number.
--- - A(R) = index; if A has it more than once, one of the places
--- - error: an offset that A does not have
--- ```lua
--- local A = layout({4, {2, 2}}, {2, {1, 8}})
--- A:get_hier_coord(11), A:get_flat_coord(11), A:get_1d_coord(11)  --> (1,(1,1))	(1,3)	13
--- ```
---@param A moontile.Layout
---@param index integer
---@return moontile.Tuple
function tile.get_hier_coord(A, index) end
Layout.get_hier_coord = tile.get_hier_coord
tile.get_flat_coord = tile.get_hier_coord
Layout.get_flat_coord = tile.get_hier_coord
tile.get_1d_coord = tile.get_hier_coord
Layout.get_1d_coord = tile.get_hier_coord

--- The modes where the coordinate has `_`.
--- - slice_and_offset says where it begins; of a tuple the parts that have `_`
--- - error: a coordinate of another rank
--- ```lua
--- slice({1, _}, layout{4, 8}), slice({1, _}, {4, 8})  --> (8):(4)	(8)
--- ```
---@param coordinate moontile.Coordinate
---@param A moontile.Modes
---@return moontile.Modes
function tile.slice(coordinate, A) end

--- The modes where the coordinate has `_`; of a tensor a view.
--- - offset + R(j) = A(c with j in the place of `_`)
--- - error: a coordinate of another rank
--- ```lua
--- layout{4, 8}:slice{1, _}  --> (8):(4)
--- tensor("i32", layout{4, 8}):slice{_, 2}:layout()  --> (4):(1)
--- ```
---@param coordinate moontile.Coordinate
---@return moontile.Layout
function Layout:slice(coordinate) end
Tensor.slice = Layout.slice

--- The modes where the coordinate has `_`, and the offset where they begin.
--- - offset + R(j) = A(c with j in the place of `_`)
--- - error: a coordinate of another rank
--- ```lua
--- slice_and_offset({1, _}, layout{4, 8})  --> (8):(4)	1
--- ```
---@param coordinate moontile.Coordinate
---@param A moontile.Layout
---@return moontile.Layout
---@return integer
function tile.slice_and_offset(coordinate, A) end

--- The modes where the coordinate has `_`, and the offset where they begin.
--- - tile.slice_and_offset with the layout first
--- - error: a coordinate of another rank
--- ```lua
--- layout{4, 8}:slice_and_offset{_, 2}  --> (4):(1)	8
--- ```
---@param coordinate moontile.Coordinate
---@return moontile.Layout
---@return integer
function Layout:slice_and_offset(coordinate) end

--- The modes where the coordinate has no `_`.
--- - what slice leaves; of a tuple its parts
--- - error: a coordinate of another rank
--- ```lua
--- dice({1, _}, layout{4, 8}), dice({1, _}, {4, 8})  --> (4):(1)	(4)
--- ```
---@param coordinate moontile.Coordinate
---@param t moontile.Modes
---@return moontile.Modes
function tile.dice(coordinate, t) end

--- The modes where the coordinate has no `_`.
--- - what A:slice(c) leaves
--- - error: a coordinate of another rank
--- ```lua
--- layout{4, 8}:dice{1, _}  --> (4):(1)
--- ```
---@param coordinate moontile.Coordinate
---@return moontile.Layout
function Layout:dice(coordinate) end

--- A layout and where it begins as one value: offset + A(i).
--- - Sw<0,0,0> o offset o A; an offset that a swizzle lets pass goes under it, else it is composed
--- - what local_tile and slices give of a layout, its part and an offset, is one layout so
--- - of coordinates too: with_offset(make_identity_layout{8, 8}, {2, 4})
--- - error: an integer beside coordinates; coordinates below 0
--- ```lua
--- with_offset(layout({8, 8}, {1, 16}), 136)  --> Sw<0,0,0> o 136 o (8,8):(1,16)
--- with_offset(layout{16, 16}:local_tile({8, 8}, {1, 1}))(1, 1)  --> 153
--- ```
---@param A moontile.Layout
---@param offset integer | moontile.Tuple
---@return moontile.Layout
function tile.with_offset(A, offset) end
Layout.with_offset = tile.with_offset

--- CuTe's make_composed_layout: f(offset + A(i)), f a swizzle or a layout.
--- - a simpler layout where one has these values, else f o offset o A, whose modes are those of A
--- - slices, divides and partitions of that work on A; it has no strides, and copies go by a list
--- - error: offset + A goes below 0; A has no integers; over F2, an extent of f is no power of two
--- ```lua
--- make_composed_layout(swizzle(3, 4, 3), 8, layout({8, 64}, {64, 1}))
--- --> Sw<3,4,3> o 8 o (8,64):(64,1)
--- make_composed_layout(layout({4, 8}, {8, 1}), 3, layout({2, 2}, {4, 8}))
--- --> Sw<0,0,0> o 24 o (2,2):(1,2)
--- make_composed_layout(layout({4, 6}, {2, 3}), 0, layout(6, 3))  --> (4,6):(2,3) o 0 o 6:3
--- ```
---@param f moontile.Layout | moontile.Value
---@param offset integer
---@param A moontile.Layout
---@return moontile.Layout
function tile.make_composed_layout(f, offset, A) end

--- The layout that a function of coordinates is.
--- - R(c) = f(c...), f is asked once for each coordinate, an argument a mode
--- - steps of one size, xor of bits, (i + j) % n: plain, swizzled or composed, of this shape
--- - any other: a list of its values, composed with its coordinates: a layout wherever those are
--- - error: f raises, or gives no integer; over 2^16 elements; a list asked past its coordinates
--- ```lua
--- function_layout({8, 8}, function(i, j) return 8 * i + (i ~ j) end)
--- --> Sw<3,0,3> o 0 o (8,8):(8,1)
--- function_layout({32, 8}, function(i, j) return i + i // 8 + 36 * j end)
--- --> ((8,4),8):((1,9),36)
--- function_layout({4, 4}, function(i, j) return 4 * i + (i + j) % 4 end)
--- --> (4,2,4):(1,0,4) o 0 o (4,4):(9,1)
--- function_layout({3, 3}, function(i, j) return i * i + 4 * j * j end)
--- --> {0,1,4,4,5,8,16,17,20} o 0 o (3,3):(1,3)
--- ```
---@param shape moontile.Tuple
---@param f fun(...: integer): integer
---@return moontile.Layout
function tile.function_layout(shape, f) end

--- A seen from a coordinate on: A itself, and the offset of the coordinate; of a tensor a view.
--- - R = A, offset = A(c); extents are cut where the offset would leave 64 bits
--- - error: a coordinate of another rank
--- ```lua
--- domain_offset(layout{4, 8}, {1, 2})  --> (4,8):(1,4)	9
--- ```
---@param A moontile.Layout
---@param coordinate moontile.Coordinate
---@return moontile.Layout
---@return integer
function tile.domain_offset(A, coordinate) end
Layout.domain_offset = tile.domain_offset
Tensor.domain_offset = tile.domain_offset
