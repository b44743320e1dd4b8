---@meta moontile
-- Modes: taken, put, regrouped; layouts and tuples alike.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Tensor
local Tensor = {}

--- A mode, or a mode of a mode.
--- - get(A, 2, 1) = A[2][1]; of a tensor a view
--- - error: a mode that is not there
--- ```lua
--- layout{4, {2, 3}}:get(2), layout{4, {2, 3}}:get(2, 1), get({4, {2, 3}}, 2)
--- --> (2,3):(4,8)	2:4	(2,3)
--- ```
---@param A moontile.Modes
---@param ... integer
---@return moontile.Modes
function tile.get(A, ...) end
Layout.get = tile.get
Tensor.get = tile.get

--- These modes, in this order.
--- - A:select(2, 1) is the transpose; of a tensor a view
--- - error: a mode that is not there
--- ```lua
--- layout{4, 8}:select(2, 1)  --> (8,4):(4,1)
--- ```
---@param A moontile.Modes
---@param ... integer
---@return moontile.Modes
function tile.select(A, ...) end
Layout.select = tile.select
Tensor.select = tile.select

--- The modes from first to last.
--- - take(A, 1, rank(A)) is A; of a tensor a view
--- - error: modes that are not there
--- ```lua
--- layout{4, 8, 3}:take(2, 3)  --> (8,3):(4,32)
--- ```
---@param A moontile.Modes
---@param first integer
---@param last integer
---@return moontile.Modes
function tile.take(A, first, last) end
Layout.take = tile.take
Tensor.take = tile.take

--- The modes from first to last become one.
--- - R(i) = A(i) for all i
--- - error: modes that are not there
--- ```lua
--- layout{4, 8, 3}:group(1, 2)  --> ((4,8),3):((1,4),32)
--- ```
---@param A moontile.Modes
---@param first integer
---@param last integer
---@return moontile.Modes
function tile.group(A, first, last) end
Layout.group = tile.group
Tensor.group = tile.group
tile.group_modes = tile.group
Layout.group_modes = tile.group
Tensor.group_modes = tile.group

--- Another mode behind the last; until there are n.
--- - of a layout x may be absent: 1:0
--- - error: more than n modes; x of another kind
--- ```lua
--- layout{4, 8}:append(layout(3, 32)), layout{4, 8}:append(4), append({4, 8}, 5)
--- --> (4,8,3):(1,4,32)	(4,8,1,1):(1,4,0,0)	(4,8,5)
--- ```
---@param A moontile.Modes
---@param n? integer
---@param x? moontile.Modes
---@return moontile.Modes
function tile.append(A, n, x) end
Layout.append = tile.append

--- Another mode before the first; until there are n.
--- - of a layout x may be absent: 1:0
--- - error: more than n modes; x of another kind
--- ```lua
--- layout{4, 8}:prepend(layout(3, 32)), prepend({4, 8}, 4, 1)  --> (3,4,8):(32,1,4)	(1,1,4,8)
--- ```
---@param A moontile.Modes
---@param n? integer
---@param x? moontile.Modes
---@return moontile.Modes
function tile.prepend(A, n, x) end
Layout.prepend = tile.prepend

--- x becomes mode number `mode`; those behind it move on.
--- - remove(insert(A, i, x), i) = A
--- - error: a mode that is not there
--- ```lua
--- layout{4, 8}:insert(2, layout(3, 32)), insert({4, 8}, 1, 5)  --> (4,3,8):(1,32,4)	(5,4,8)
--- ```
---@param A moontile.Modes
---@param mode integer
---@param x moontile.Modes
---@return moontile.Modes
function tile.insert(A, mode, x) end
Layout.insert = tile.insert

--- x takes the place of a mode.
--- - R[mode] = x
--- - error: a mode that is not there
--- ```lua
--- layout{4, 8}:replace(2, layout(3, 4)), replace({4, 8}, 1, {2, 2})  --> (4,3):(1,4)	((2,2),8)
--- ```
---@param A moontile.Modes
---@param mode integer
---@param x moontile.Modes
---@return moontile.Modes
function tile.replace(A, mode, x) end
Layout.replace = tile.replace

--- Without a mode.
--- - remove(insert(A, i, x), i) = A
--- - error: a mode that is not there
--- ```lua
--- layout{4, 8, 3}:remove(2), remove({4, 8, 3}, 1)  --> (4,3):(1,32)	(8,3)
--- ```
---@param A moontile.Modes
---@param mode integer
---@return moontile.Modes
function tile.remove(A, mode) end
Layout.remove = tile.remove

--- The modes from the last to the first.
--- - reverse(reverse(A)) = A
--- - error: a value without modes
--- ```lua
--- layout{4, {2, 3}}:reverse(), tile.reverse{1, 2, 3}  --> ((2,3),4):((4,8),1)	(3,2,1)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.reverse(A) end
Layout.reverse = tile.reverse

--- A tuple of it, unless it is one.
--- - unwrap(wrap(4)) = 4
--- - error: a value of another kind
--- ```lua
--- wrap(4), wrap{4, 8}, layout(4):wrap()  --> (4)	(4,8)	(4):(1)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.wrap(A) end
Layout.wrap = tile.wrap

--- What is in tuples of one.
--- - unwrap(wrap(4)) = 4
--- - error: a value of another kind
--- ```lua
--- unwrap{{4}}, unwrap{4, 8}, layout{{4, 8}}:unwrap()  --> 4	(4,8)	(4,8):(1,4)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.unwrap(A) end
Layout.unwrap = tile.unwrap

--- The first integer of a tuple, the first leaf of a layout.
--- - front(A) = flatten(A)[1]
--- - error: nothing is in it
--- ```lua
--- front{{3, 4}, 5}, layout{{3, 4}, 5}:front()  --> 3	3:1
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.front(A) end
Layout.front = tile.front

--- The last integer of a tuple, the last leaf of a layout.
--- - back(A) is the last of flatten(A)
--- - error: nothing is in it
--- ```lua
--- back{5, {3, 4}}, layout{5, {3, 4}}:back()  --> 4	4:15
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.back(A) end
Layout.back = tile.back

--- All leaves as modes.
--- - R(i) = A(i); of a single one it is that
--- - error: a value of another kind
--- ```lua
--- layout{4, {2, {3, 5}}}:flatten(), flatten{4, {2, 3}}  --> (4,2,3,5):(1,4,8,24)	(4,2,3)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.flatten(A) end
Layout.flatten = tile.flatten
Tensor.flatten = tile.flatten

--- All leaves as modes, always of a tuple.
--- - as flatten, but of a single one (x)
--- - error: a value of another kind
--- ```lua
--- flatten_to_tuple(4), flatten_to_tuple{4, {2, 3}}  --> (4)	(4,2,3)
--- ```
---@param A moontile.Modes
---@return moontile.Modes
function tile.flatten_to_tuple(A) end
Layout.flatten_to_tuple = tile.flatten_to_tuple

--- Flat modes in the tree of a profile.
--- - flatten(R) = A, R is congruent with the profile
--- - error: as many leaves as the profile does not have
--- ```lua
--- unflatten({4, 2, 3}, {0, {0, 0}}), layout{4, 2, 3}:unflatten{0, {0, 0}}
--- --> (4,(2,3))	(4,(2,3)):(1,(4,8))
--- ```
---@param A moontile.Modes
---@param profile moontile.Tuple
---@return moontile.Modes
function tile.unflatten(A, profile) end
Layout.unflatten = tile.unflatten

--- Fewer modes, the same function.
--- - R(i) = A(i) for 0 <= i < size(A); depth(R) <= 1; no two neighbours could be one
--- - with a profile by mode, where that has a tuple; of a tensor a view
--- - error: a profile of another tree
--- ```lua
--- layout "(2,(1,6)):(1,(6,2))":coalesce()  --> 12:1
--- layout{4, {2, 3}}:coalesce{1, 1}  --> (4,6):(1,4)
--- ```
---@param A moontile.Layout
---@param profile? moontile.Tuple
---@return moontile.Layout
function tile.coalesce(A, profile) end
Layout.coalesce = tile.coalesce
Tensor.coalesce = tile.coalesce

--- Coalesced, and right past the end too; a last mode of extent 1 gets extent 2.
--- - R(i) = A(i) for all i >= 0
--- - error: a profile of another tree
--- ```lua
--- coalesce_x(layout({4, 2, 1}, {1, 4, 20})), coalesce(layout({4, 2, 1}, {1, 4, 20}))
--- --> (8,2):(1,20)	8:1
--- ```
---@param A moontile.Layout
---@param profile? moontile.Tuple
---@return moontile.Layout
function tile.coalesce_x(A, profile) end
Layout.coalesce_x = tile.coalesce_x

--- Coalesced, and right past the end too; a last mode of extent 1 stays.
--- - R(i) = A(i) for all i >= 0, size(R) = size(A)
--- - error: a profile of another tree
--- ```lua
--- coalesce_z(layout({4, 2, 1}, {1, 4, 20}))  --> (8,1):(1,20)
--- ```
---@param A moontile.Layout
---@param profile? moontile.Tuple
---@return moontile.Layout
function tile.coalesce_z(A, profile) end
Layout.coalesce_z = tile.coalesce_z

--- Without broadcasts (stride 0), coalesced.
--- - the same values; no stride is 0, unless it is 1:0
--- - error: a profile of another tree
--- ```lua
--- filter(layout({4, 8, 2}, {0, 1, 8}))  --> 16:1
--- ```
---@param A moontile.Layout
---@param profile? moontile.Tuple
---@return moontile.Layout
function tile.filter(A, profile) end
Layout.filter = tile.filter

--- Extent 1 for each mode of stride 0.
--- - strides stay; with a profile: for what a 0 of it stands for
--- - error: a profile of other ranks
--- ```lua
--- filter_zeros(layout({4, 8}, {0, 1})), filter_zeros({0, 1}, {4, 8})  --> (1,8):(0,1)	(1,8)
--- ```
---@param A moontile.Modes
---@param profile? moontile.Tuple
---@return moontile.Modes
function tile.filter_zeros(A, profile) end
Layout.filter_zeros = tile.filter_zeros

--- The transpose of a tuple of tuples, or of several.
--- - R[j][i] = A[i][j]
--- - error: modes of different ranks
--- ```lua
--- zip({1, 2}, {3, 4}), layout{{1, 2}, {3, 4}}:zip()
--- --> ((1,3),(2,4))	((1,3),(2,4)):((0,2),(1,6))
--- ```
---@param ... moontile.Modes
---@return moontile.Modes
function tile.zip(...) end
Layout.zip = tile.zip

--- Pairs wherever the guide has a leaf: all firsts, and all seconds.
--- - each in the tree of the guide; modes that it does not reach end the second
--- - error: no pair where the guide has a leaf
--- ```lua
--- zip2_by({{1, 2}, {3, 4}, 5}, {0, 0})  --> ((1,3),(2,4,5))
--- ```
---@param A moontile.Modes
---@param guide moontile.Tuple
---@return moontile.Modes
function tile.zip2_by(A, guide) end
Layout.zip2_by = tile.zip2_by

--- x, n times.
--- - of n = 1: x
--- - error: n below 0
--- ```lua
--- tile["repeat"](3, 7)  --> (7,7,7)
--- ```
---@param n integer
---@param x moontile.Modes
---@return moontile.Modes
tile["repeat"] = function(n, x) end

--- The tree of A with x at every leaf.
--- - congruent with A
--- - error: x of another kind
--- ```lua
--- repeat_like({4, {2, 3}}, 1)  --> (1,(1,1))
--- ```
---@param A moontile.Modes
---@param x moontile.Modes
---@return moontile.Modes
function tile.repeat_like(A, x) end
Layout.repeat_like = tile.repeat_like
