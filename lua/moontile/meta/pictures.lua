---@meta moontile
-- Pictures: who has what, where it lies, what it costs; as text, SVG, a page, LaTeX.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---What can be said of a picture.
---@class moontile.Drawing
---@field by string  of a layout: "offset", "coordinate", "index", "bank"; of a tensor also "value"
---@field bits integer | string  of an element, or a dtype: for banks
---@field slice moontile.Tuple  of a layout: the coordinates that stay bright, as {2, _}
---@field tile integer[]  borders of tiles of {rows, columns}
---@field nested boolean  false: no borders by the hierarchy of a layout
---@field thread integer  of a partition: the thread that stays bright
---@field value integer  the value that stays bright
---@field part string  "A", "B", "C" of an MMA, "S", "D" of a copy: one alone
---@field banks integer | string | moontile.Layout  the access to shared memory, over time
---@field access string | table  of banks: the kind, as bank_conflicts takes it
---@field title string
---@field rows integer  at most so many
---@field columns integer
---@field width integer  of the text, 80
---@field colour boolean  the colours of a terminal, in the text

--- A picture as text: of a layout, a tensor, a swizzle, an atom or its name, a tiled copy or MMA, a
--- plan, a kernel, or { tv = layout, tiler = shape }.
--- - a layout by offset, by = "coordinate", "index" or "bank"; a swizzled one before and after
--- - a partition as who has what: T14 V1 in a cell is value 1 of thread 14
--- - banks = bits, of a layout (thread,value) -> element: who is served when, by which bank
--- - of a tiled copy banks = layout of shared memory, with part = "S" or "D"
--- - of a kernel its stages over time: which k-tile is on its way, which is multiplied
--- - thread, value, slice dim all others; tile draws borders; width is 80, colour false
--- - what is longer than can be read is cut, and says so
--- - error: a value that has no picture; an option that this kind of picture does not know
--- ```lua
--- draw(layout{{2, 2}, 4})
--- --> ((2,2),4):((1,2),4)
--- -->       0    1    2    3
--- -->    +----+----+----+----+
--- -->  0 |  0 |  4 |  8 | 12 |
--- -->    +----+----+----+----+
--- -->  1 |  1 |  5 |  9 | 13 |
--- -->    +====+====+====+====+
--- -->  2 |  2 |  6 | 10 | 14 |
--- -->    +----+----+----+----+
--- -->  3 |  3 |  7 | 11 | 15 |
--- -->    +----+----+----+----+
--- ```
---@param x moontile.Layout | moontile.Tensor | moontile.TiledCopy | moontile.TiledMMA | string
---@param options? moontile.Drawing
---@return string
function tile.draw(x, options) end

--- A picture as SVG, the text of a file.
--- - what draw takes; up to 128 rows and columns, or as many as rows and columns say
--- - needs nothing else: no font, no script; where browsers show it, cells tell what they are
--- - error: those of draw
--- ```lua
--- local picture = svg("SM80_16x8x16_F32F16F16F32_TN", { thread = 14 })
--- picture:match "<svg", #picture > 10000  --> <svg	true
--- ```
---@param x moontile.Layout | moontile.Tensor | moontile.TiledCopy | moontile.TiledMMA | string
---@param options? moontile.Drawing
---@return string
function tile.svg(x, options) end

--- A picture as a page, the text of one file that loads nothing.
--- - the pointer tells coordinate, offset, thread, value and bank; a click isolates a thread
--- - sliders step through threads and values; light and dark
--- - error: those of draw
--- ```lua
--- html(layout{4, 8}):match "<title>(.-)</title>"  --> (4,8):(1,4)
--- ```
---@param x moontile.Layout | moontile.Tensor | moontile.TiledCopy | moontile.TiledMMA | string
---@param options? moontile.Drawing
---@return string
function tile.html(x, options) end

--- A picture as LaTeX: a TikZ document that stands by itself.
--- - what draw takes
--- - error: those of draw
--- ```lua
--- latex(layout{4, 8}):match "\\documentclass{%a+}"  --> \documentclass{standalone}
--- ```
---@param x moontile.Layout | moontile.Tensor | moontile.TiledCopy | moontile.TiledMMA | string
---@param options? moontile.Drawing
---@return string
function tile.latex(x, options) end

--- The elements of a tensor as CuTe's print_tensor writes them.
--- - two modes as a matrix, a third and a fourth as matrices behind one another
--- - error: more than 2^16 elements
--- ```lua
--- print_tensor(tensor("i32", layout{2, 3}):fill{ 1, 2, 3, 4, 5, 6 })
--- --> tensor i32 (2,3):(1,2) cpu:
--- -->   1  3  5
--- -->   2  4  6
--- ```
---@param T moontile.Tensor
---@return string
function tile.print_tensor(T) end
