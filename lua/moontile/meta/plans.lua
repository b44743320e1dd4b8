---@meta moontile
-- Copies, products, contractions; plans, graphs, tuning.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Tensor
local Tensor = {}

---@class moontile.Device
local Device = {}

---A copy or a product that was proven legal and given a kernel.
---@class moontile.Plan
---@operator call(moontile.Stream): nil
local Plan = {}

---@class moontile.Graph
---@operator call(moontile.Stream): nil
local Graph = {}

-- ---------------------------------------------------------------- copies

--- Copies any layout to any layout, and to another type; by a tiled copy exactly so.
--- - dst(c) = src(c), converted to the nearest; the same bits on every device
--- - on a GPU it may still run when this returns; between the host and a GPU it is done
--- - copy{ src =, dst =, ... } names the arguments, and may have a predicate: see copy_if
--- - copy{ ..., rounding = "zero" }, or "down", "up", "nearest": where numbers go that dst has not
--- - error: two elements at one place of dst; overlap; accesses that are not aligned
--- ```lua
--- local src = tensor("f32", layout{2, 3}):fill{ 1, 2, 3, 4, 5, 6 }
--- local dst = tensor("i8", layout({2, 3}, "right"))
--- tile.copy(src, dst)
--- dst(1, 2)  --> 6
--- local x, half = tensor("f64", layout(2)):fill{ 0.1, 70000 }, tensor("f16", layout(2))
--- tile.copy{ src = x, dst = half, rounding = "zero" }
--- half(0), half(1)  --> 0.0999755859375	65504.0
--- ```
---@param tiled_copy? moontile.TiledCopy
---@param src moontile.Tensor
---@param dst moontile.Tensor
---@param stream? moontile.Stream
function tile.copy(tiled_copy, src, dst, stream) end

--- Copies those elements that a predicate lets pass; the others of dst keep their value.
--- - pred: a tensor, what is not 0 passes; or a function of the index, from 0 on
--- - the copy as a whole is proven as any copy; then elements move one by one, by the host
--- - copy{ [copy =,] src =, dst = [, pred =] [, stream =] } is copy, or copy_if
--- - error: types that differ; a predicate of another size; what copy refuses
--- ```lua
--- local src = tensor("f32", layout{2, 3}):fill{ 1, 2, 3, 4, 5, 6 }
--- local dst, coords = tensor("f32", layout{2, 3}), make_identity_layout{2, 3}
--- copy_if(function(i) return coords(i) < {2, 2} end, src, dst)
--- table.concat(dst:totable(), " ")  --> 1.0 2.0 3.0 4.0 0.0 0.0
--- tile.copy{ src = src, dst = dst, pred = tensor("u8", layout{2, 3}):fill{ 0, 0, 0, 0, 1, 0 } }
--- dst(0, 2)  --> 5.0
--- ```
---@param tiled_copy? moontile.TiledCopy
---@param pred moontile.Tensor | fun(index: integer): boolean
---@param src moontile.Tensor
---@param dst moontile.Tensor
function tile.copy_if(tiled_copy, pred, src, dst) end

--- A copy, or a described product, proven and prepared once: plan() runs it.
--- - plan([tiled_copy,] src, dst), plan(tiled_mma, A, B, C [, { alpha =, beta = }])
--- - plan{ [copy =,] src =, dst = [, rounding =] } names the arguments of a copy
--- - nil, message, code where the device has no memory left
--- - error: what is not legal, with a witness
--- ```lua
--- local src, dst = tensor("f32", layout{8, 8}), tensor("f32", layout({8, 8}, "right"))
--- local p = tile.plan(src, dst)
--- p()
--- #p:why() > 0  --> true
--- ```
---@param partition? moontile.TiledCopy | moontile.TiledMMA
---@param A moontile.Tensor
---@param B moontile.Tensor
---@param C? moontile.Tensor
---@param options? { alpha: number, beta: number }
---@return moontile.Plan
function tile.plan(partition, A, B, C, options) end

--- Runs a plan, on a stream or on its device's own; on a GPU it returns at once.
--- - allocates nothing
--- - error: a tensor of it was freed
--- ```lua
--- local x, y = tensor("i32", layout(3)):fill(7), tensor("i32", layout(3))
--- tile.plan(x, y)()
--- y(2)  --> 7
--- ```
---@param stream? moontile.Stream
function Plan:__call(stream) end

--- Gives back what a plan has.
--- - calling it is an error from then on; again is harmless
--- ```lua
--- tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3))):free()
--- ```
function Plan:free() end

--- The list of all kernels that could do it, with what each is predicted to cost.
--- - one is chosen; none of the others is predicted to be faster by a hundredth and 0.2 us
--- - of copies of 6 us and less, whose tiles are searched for a short time, by more than a third
--- ```lua
--- #tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3))):why() > 0  --> true
--- ```
---@return table
function Plan:why() end

--- The device that a plan runs on.
--- - of a copy between two devices the one that is not the host
--- - error: a plan or a tensor of it that was freed
--- ```lua
--- tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3))):device()  --> cpu
--- ```
---@return moontile.Device
function Plan:device() end

--- Another kernel of the list takes its place.
--- - prepared and proven anew; returns the plan
--- - of a product by a family of kernels: how many parts its K is in, instead of the vector
--- - error: a kernel that cannot do it; more device memory than is permitted
--- ```lua
--- local p = tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3)))
--- p:take(p:why()[1].kernel, p:why()[1].vector) == p  --> true
--- ```
---@param kernel string
---@param vector integer
---@return moontile.Plan
function Plan:take(kernel, vector) end

--- Microseconds of a launch, of n one behind the other.
--- - runs them, on the plan's own tensors
--- - error: a plan of a copy between host and device
--- ```lua
--- tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3))):measure(3) > 0  --> true
--- ```
---@param n? integer
---@return number
function Plan:measure(n) end

--- What the fastest kernel of such a copy, or product, is kept under.
--- - equal for equal layouts, types and alignments
--- ```lua
--- type(tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3))):key())  --> string
--- ```
---@return string
function Plan:key() end

--- Measures all kernels of a plan, which takes the fastest; later plans of its kind do so, too.
--- - file = appends the winner to a file; rounds = how often
--- - error: a plan of a copy between host and device; a product with beta, or one that has one way
--- ```lua
--- local p = tile.plan(tensor("i32", layout(3)), tensor("i32", layout(3)))
--- tune(p, { rounds = 1 }) == p  --> true
--- ```
---@param plan moontile.Plan
---@param options? { file: string, rounds: integer }
---@return moontile.Plan
---@return table
function tile.tune(plan, options) end

--- Remembers what a file of measured winners says: how many lines, how many were no use.
--- - later plans of such copies take them
--- - nil, message, code where it cannot be read
--- ```lua
--- tile.load_tuning "no such file"  --> nil	no such file: No such file or directory	EIO
--- ```
---@param path string
---@return integer
---@return integer
function tile.load_tuning(path) end

--- Forgets all that was measured.
--- - later plans take what is predicted to be the fastest
--- ```lua
--- tile.forget_tuning()
--- ```
function tile.forget_tuning() end

--- A plan as C: a source file and a header, for programs that have neither Lua nor the library.
--- - on a GPU: kernels, their parameters, functions that open, launch on a CUstream, close
--- - on the CPU: a copy without conversion as loops, name_run(src, dst)
--- - without a folder the texts of both, header first; with one the paths that were written
--- - name = what the C functions begin with; export({ name = plan, ... }, folder) for several
--- - nil, message, code where a file cannot be written
--- - error: a plan of more than launches; buffers that overlap in part; a plan that does nothing
--- ```lua
--- local p = tile.plan(tensor("i32", layout{2, 3}), tensor("i32", layout({2, 3}, "right")))
--- local header, source = tile.export(p, nil, { name = "turn" })
--- header:match "int turn_run.-;"  --> int turn_run (const void *src, void *dst);
--- ```
---@param plan moontile.Plan | table<string, moontile.Plan>
---@param folder? string
---@param options? { name: string }
---@return string[] | string
---@return string?
function tile.export(plan, folder, options) end

-- ---------------------------------------------------------------- graphs

--- Records what a function launches on a device; graph() replays it.
--- - on a GPU one CUDA graph, elsewhere plan by plan, with the same results
--- - error: inside, whatever would wait for the device or look at elements
--- ```lua
--- local x, y = tensor("i32", layout(3)):fill(7), tensor("i32", layout(3))
--- local g = device "cpu":graph(function() tile.copy(x, y) end)
--- g()
--- y(0), g:size()  --> 7	1
--- ```
---@param f function
---@return moontile.Graph
function Device:graph(f) end

--- Replays a graph, on a stream or on its device's own.
--- - what launching its plans in their order does
--- - error: a tensor of it was freed
--- ```lua
--- device "cpu":graph(function() end)()
--- ```
---@param stream? moontile.Stream
function Graph:__call(stream) end

--- How many launches.
--- - a launch of nothing is none
--- ```lua
--- device "cpu":graph(function() end):size()  --> 0
--- ```
---@return integer
function Graph:size() end

--- The device that a graph runs on.
--- - tile.device(name) is the same object
--- ```lua
--- device "cpu":graph(function() end):device()  --> cpu
--- ```
---@return moontile.Device
function Graph:device() end

--- Gives back what a graph has.
--- - calling it is an error from then on; again is harmless
--- ```lua
--- device "cpu":graph(function() end):free()
--- ```
function Graph:free() end

-- ---------------------------------------------------------------- products

--- C = alpha A B + beta C, for A (M,K), B (N,K), C (M,N), each with an optional last mode L.
--- - any layouts; gemm([tiled_mma,] A, B, C [, { alpha =, beta =, family =, precision = }])
--- - activation =, bias =, residual =: C = activation(alpha A B + beta C + bias) + residual
--- - activation: "relu", "gelu" (by erf), "gelu_tanh", "silu", "sigmoid" or "tanh"
--- - bias: a vector of N or of M, where these are one number { row = T } or { column = T }
--- - bias and residual are also tensors of the shape of C, of modes of its sizes or of size 1
--- - residual may be C itself; all are of f16, bf16, f32 or f64, as C then is
--- - family "hopper" or "ampere": of these kernels of a GPU, whatever the prediction says
--- - precision "tf32": f32 may be read as tf32, whose products are eight times as fast on a GPU
--- - precision "3xtf32": as three products of tf32, which have about the accuracy of f32
--- - gemm(kernel, A, B, C [, { seed = }]) executes a tile.kernel on the CPU, stage by stage
--- - on a GPU, [, { stream = }], it runs the precompiled kernel that is the same, or literally
--- - to both bias = and residual = are given, where the kernel's epilogue has them
--- - gemm(mma, [D,] A, B, C) of tables: fragments (V,M,K), (V,N,K), (V,M,N) of thread t at t + 1
--- - gemm(slice, [D,] A, B, C): those of one thread, of an atom of one thread; C += A B, on the CPU
--- - composed operands are copied by lists of offsets, by the host, and C back: the plan says so
--- - integers are exact, floats within mma_bound; what C cannot hold becomes the nearest
--- - error: sizes that differ; types that the atom has not
--- ```lua
--- local A, B = tensor("f32", layout{2, 3}):fill(2), tensor("f32", layout{4, 3}):fill(5)
--- local C = tensor("f32", layout{2, 4})
--- tile.gemm(A, B, C)
--- C
--- --> tensor f32 (2,4):(1,2) cpu
--- --> [[30. 30. 30. 30.]
--- -->  [30. 30. 30. 30.]]
--- ```
---@param tiled_mma? moontile.TiledMMA | moontile.ThrMMA | moontile.Kernel
---@param A moontile.Tensor | moontile.Tensor[]
---@param B moontile.Tensor | moontile.Tensor[]
---@param C moontile.Tensor | moontile.Tensor[]
---@param options? { alpha: number, beta: number, activation: string, bias: moontile.Tensor }
function tile.gemm(tiled_mma, A, B, C, options) end

--- A product, proven and prepared once: plan() runs it.
--- - plan_gemm([tiled_mma,] A, B, C [, { alpha =, beta =, family =, precision = }])
--- - activation =, bias =, residual = as those of gemm: the plan says its epilogue
--- - nil, message, code where the device has no memory left
--- - error: sizes that differ; types that the atom has not
--- ```lua
--- local A, C = tensor("f32", layout{2, 3}):fill(2), tensor("f32", layout{2, 2})
--- local p = plan_gemm(A, A, C, { beta = 1 })
--- p() p()
--- C(0, 0)  --> 24.0
--- ```
---@param tiled_mma? moontile.TiledMMA
---@param A moontile.Tensor
---@param B moontile.Tensor
---@param C moontile.Tensor
---@param options? { alpha: number, beta: number }
---@return moontile.Plan
function tile.plan_gemm(tiled_mma, A, B, C, options) end

--- Contractions in NumPy's notation; without C one is made, row-major, of the wider type.
--- - nothing is permuted in memory; options alpha, beta, dtype, mma, precision, stream
--- - activation =, bias =, residual =: as gemm has them, with the output's labels or { labels = T }
--- - composed tensors are copied by lists of offsets first, as gemm does
--- - bias = { n = T }: the same along all other labels; a vector is of the label of its size
--- - error: labels that do not fit
--- ```lua
--- local A = tensor("f32", layout{2, 3}):fill(2)
--- einsum("ij,kj->ik", A, A)
--- --> tensor f32 (2,2):(2,1) cpu
--- --> [[12. 12.]
--- -->  [12. 12.]]
--- einsum("ij->i", A)(0)  --> 6.0
--- ```
---@param expression string
---@param ... moontile.Tensor | table
---@return moontile.Tensor
function tile.einsum(expression, ...) end

--- The views of A, B, C that make a contraction a product: (M,K,L), (N,K,L), (M,N,L).
--- - layouts or tensors; the labels become modes
--- - error: labels that do not fit
--- ```lua
--- einsum_fold("ij,kj->ik", layout{2, 3}, layout{4, 3}, layout{2, 4})
--- --> (2,3,1):(1,2,0)	(4,3,1):(1,4,0)	(2,4,1):(1,2,0)
--- ```
---@param expression string
---@param A moontile.Layout | moontile.Tensor
---@param B moontile.Layout | moontile.Tensor
---@param C moontile.Layout | moontile.Tensor
---@return moontile.Layout
---@return moontile.Layout
---@return moontile.Layout
function tile.einsum_fold(expression, A, B, C) end

--- An image (N, ..., C) as the matrix of a convolution: ((N,(P,Q)),((R,S),C)), a view.
--- - strides are the image's, twice; padding of a tensor is not there yet
--- - error: a stencil that does not fit
--- ```lua
--- im2col(layout({1, 6, 6, 2}, "right"), 3)  --> ((1,(4,4)),((3,3),2)):((0,(12,2)),((12,2),1))	0
--- ```
---@param A moontile.Layout | moontile.Tensor
---@param stencil moontile.Tuple
---@param lower? moontile.Tuple
---@param upper? moontile.Tuple
---@param stride? moontile.Tuple
---@param dilation? moontile.Tuple
---@return moontile.Layout | moontile.Tensor
function tile.im2col(A, stencil, lower, upper, stride, dilation) end
Layout.im2col = tile.im2col
Tensor.im2col = tile.im2col
