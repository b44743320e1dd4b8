---@meta moontile
-- Tensors, devices, files, views.
-- SPDX-License-Identifier: MIT

---@class moontile
local tile = {}

---A data type, a layout and a window on memory.
---@class moontile.Tensor
---@operator call(...): any
---@operator div(moontile.Tiler): moontile.Tensor
local Tensor = {}

---@class moontile.Layout
local Layout = {}

---@class moontile.Device
local Device = {}

---@class moontile.Stream
local Stream = {}

--- A tensor of zeros.
--- - memory for the offsets of the layout, on a device ("cpu" if it is absent)
--- - { "cuda", locked = true }: memory of the host, on "cpu", whose pages that GPU's driver locks
--- - between such memory and that GPU what lies together passes through no other memory of the host
--- - nil, message, code where the device has no memory left
--- - error: no such dtype; locked by what is no GPU
--- ```lua
--- tensor("f32", layout({2, 3}, "right"))
--- --> tensor f32 (2,3):(3,1) cpu
--- --> [[0. 0. 0.]
--- -->  [0. 0. 0.]]
--- ```
---@param dtype string
---@param layout moontile.Layout
---@param device? string | moontile.Device | table
---@return moontile.Tensor
function tile.tensor(dtype, layout, device) end

--- The names of the data types.
--- - tensor takes each
--- ```lua
--- #dtypes(), dtypes()[1]  --> 15	bool
--- ```
---@return string[]
function tile.dtypes() end

--- A .npy file as a tensor, C and Fortran order as strides. A .safetensors or .npz file as a table.
--- - bit by bit; `dtype` says what bytes of a .npy file without 8-bit floats are
--- - which it is, its first bytes say; of the other two the tensors by their names
--- - nil, message, code where the file cannot be read or is none
--- ```lua
--- local path = os.tmpname()
--- tensor("f32", layout({2, 3}, "right")):fill(1):save(path)  --> true
--- tile.load(path)
--- --> tensor f32 (2,3):(3,1) cpu
--- --> [[1. 1. 1.]
--- -->  [1. 1. 1.]]
--- os.remove(path);
--- ```
---@param path string
---@param device? string | moontile.Device
---@param dtype? string
---@return moontile.Tensor | table<string, moontile.Tensor>
function tile.load(path, device, dtype) end

--- Writes a .npy file, in the place of an old one.
--- - tile.load(path) has the same bits; a file that fails leaves the old one
--- - nil, message, code where it cannot be written; error: a ragged tensor
--- ```lua
--- local path = os.tmpname()
--- tensor("i8", layout(3)):save(path) == true  --> true
--- os.remove(path);
--- ```
---@param path string
---@return boolean
function Tensor:save(path) end

--- Writes tensors with names to a .safetensors file, or to a .npz file, in the place of an old one.
--- - a path that ends with .npz: what numpy.load reads; { compress = true } deflates, by libz.so.1
--- - tile.load(path) has the same bits; a file that fails leaves the old one
--- - nil, message, code where it cannot be written; error: a ragged tensor, a name not in UTF-8
--- ```lua
--- local path = os.tmpname()
--- tile.save(path, { weight = tensor("bf16", layout{2, 3}), bias = tensor("f32", layout(3)) })
--- --> true
--- tile.load(path).bias
--- --> tensor f32 3:1 cpu
--- --> [0. 0. 0.]
--- os.remove(path);
--- ```
---@param path string
---@param tensors table<string, moontile.Tensor>
---@param options? table
---@return boolean
function tile.save(path, tensors, options) end

--- A file as memory: tensors over it, which read what they touch.
--- - map(path, dtype, layout [, { offset = bytes }]): a raw file
--- - map(path): a .npy file, or the table of a .safetensors file
--- - what is written stays in memory; { write = true } lets it reach the file
--- - a layout that leaves the file is an error; whoever cuts a mapped file off ends the process
--- - nil, message, code where it cannot be mapped: big-endian, not aligned, a .npz
--- ```lua
--- local path = os.tmpname()
--- tensor("i32", layout({2, 3}, "right")):fill{ 1, 2, 3, 4, 5, 6 }:save(path);
--- tile.map(path)(1, 2)  --> 6
--- tile.map(path, "u8", layout(6))(1)  --> 78
--- os.remove(path);
--- ```
---@param path string
---@param dtype? string
---@param layout? moontile.Layout
---@param options? table
---@return moontile.Tensor | table<string, moontile.Tensor>
function tile.map(path, dtype, layout, options) end

-- ---------------------------------------------------------------- elements

--- The element at a coordinate; with `_` a view.
--- - T[{i, j}] and T{i, j} are T(i, j); T[{i, j}] = v sets it
--- - error: a coordinate outside; an element of a ragged tensor that is not its own
--- ```lua
--- local T = tensor("i32", layout({2, 3}, "right")):fill{ 1, 2, 3, 4, 5, 6 }
--- T(1, 2), T(_, 1)
--- --> 6
--- --> tensor i32 (2):(3) cpu
--- --> [3 4]
--- ```
---@param ... moontile.Coordinate
---@return any
function Tensor:__call(...) end

--- Sets the element at a coordinate.
--- - T[{i, j}] = v does the same
--- - error: a coordinate outside
--- ```lua
--- local T = tensor("i32", layout(3))
--- T:set(7, 1)
--- T(1)  --> 7
--- ```
---@param value number | boolean
---@param ... moontile.Coordinate
function Tensor:set(value, ...) end

--- Every element becomes a value; or those of a table, in the order of the coordinates.
--- - order "right": the last coordinate runs fastest, as in rows; else the first, "left"
--- - returns the tensor; touches what is real of a ragged one, and nothing else
--- - error: a table of another length
--- ```lua
--- tensor("f32", layout(3)):fill(2), tensor("i8", layout(3)):fill{ 1, 2, 3 }
--- --> tensor f32 3:1 cpu
--- --> [2. 2. 2.]
--- --> tensor i8 3:1 cpu
--- --> [1 2 3]
--- tensor("i8", layout{2, 3}):fill({ 1, 2, 3, 4, 5, 6 }, "right")
--- --> tensor i8 (2,3):(1,2) cpu
--- --> [[1 2 3]
--- -->  [4 5 6]]
--- ```
---@param value number | boolean | table
---@param order? "left" | "right"
---@return moontile.Tensor
function Tensor:fill(value, order) end

--- The elements as a table, in the order of the coordinates.
--- - T:fill(T:totable()) changes nothing; nil where a ragged tensor has none of its own
--- - error: a tensor that was freed
--- ```lua
--- tensor("i32", layout(3)):fill(7):totable()  --> {7, 7, 7}
--- ```
---@return table
function Tensor:totable() end

--- A copy on a device, of the same layout.
--- - on its own device too
--- - nil, message, code where the device has no memory left
--- ```lua
--- tensor("i32", layout(3)):fill(7):to "cpu:checked"
--- --> tensor i32 3:1 cpu:checked
--- --> [7 7 7]
--- ```
---@param device? string | moontile.Device
---@return moontile.Tensor
function Tensor:to(device) end

--- Gives the memory back at once; of a view, ends the view.
--- - views of it, and plans on it, raise an error from then on; again is harmless
--- ```lua
--- local T = tensor("i8", layout(3))
--- T:free()
--- T  --> tensor i8 3:1 cpu (freed)
--- ```
function Tensor:free() end

--- The layout of a tensor.
--- - T(c) lies at T:offset() + T:layout()(c)
--- ```lua
--- tensor("i8", layout{2, 3}):layout()  --> (2,3):(1,2)
--- ```
---@return moontile.Layout
function Tensor:layout() end

--- The data type of a tensor.
--- - one of tile.dtypes()
--- ```lua
--- tensor("bf16", layout(3)):dtype(), tensor("bf16", layout(3)):itemsize()  --> bf16	2
--- ```
---@return string
function Tensor:dtype() end

--- Bytes of an element.
--- - 1, 2, 4 or 8
--- ```lua
--- tensor("f64", layout(3)):itemsize()  --> 8
--- ```
---@return integer
function Tensor:itemsize() end

--- Where a view begins in its memory, in elements.
--- - 0 of a tensor that is no view and has no negative strides
--- ```lua
--- tensor("i8", layout{4, 8})(_, 2):offset()  --> 8
--- ```
---@return integer
function Tensor:offset() end

--- The device that a tensor lies on.
--- - tile.device(name) is the same object
--- ```lua
--- tensor("i8", layout(3)):device()  --> cpu
--- ```
---@return moontile.Device
function Tensor:device() end

--- Another layout over the same memory.
--- - `offset` counts from the tensor's own; the last three say what is real, as T:bounds() does
--- - error: a layout that leaves the memory
--- ```lua
--- tensor("i8", layout(12)):view(layout({3, 4}, "right"))
--- --> tensor i8 (3,4):(4,1) cpu
--- --> [[0 0 0 0]
--- -->  [0 0 0 0]
--- -->  [0 0 0 0]]
--- tensor("i8", layout(12)):view(layout(2, 3), 4)
--- --> tensor i8 2:3 cpu
--- --> [0 0]
--- ```
---@param layout moontile.Layout
---@param offset? integer
---@param coordinates? moontile.Layout
---@param base? moontile.Tuple
---@param extents? moontile.Tuple
---@return moontile.Tensor
function Tensor:view(layout, offset, coordinates, base, extents) end

--- Which elements of a ragged tensor are real: their coordinates, the first one, the extents.
--- - an element is real if its coordinate + base is below the extents; nil: all are
--- ```lua
--- tensor("i8", layout{10, 7}):local_tile({4, 3}, {2, 2}):bounds()
--- --> (4,3):(1@0,1@1)	(8,6)	(10,7)
--- tensor("i8", layout{8, 6}):local_tile({4, 3}, {1, 1}):bounds()  --> nil
--- ```
---@return moontile.Layout | nil coordinates
---@return moontile.Tuple base
---@return moontile.Tuple extents
function Tensor:bounds() end

--- Which elements are real, as a tensor: 1 where one is, else 0, in the shape of T, type u8.
--- - of a tensor that is not ragged all are
--- ```lua
--- local p = tensor("f32", layout{10, 7}):local_tile({4, 3}, {2, 2}):predicate()
--- p:dtype(), p:layout()  --> u8	(4,3):(1,4)
--- table.concat(p:totable(), " ")  --> 1 1 0 0 0 0 0 0 0 0 0 0
--- ```
---@return moontile.Tensor
function Tensor:predicate() end

-- ---------------------------------------------------------------- devices

--- A device by name: "cpu", "cpu:checked" (verifies every access), "cuda", "cuda:1".
--- - without a name the first GPU, or the CPU; opened once
--- - device{ name, threads =, libcuda =, libblas =, piece = }
--- - nil, message, code where there is none
--- ```lua
--- device "cpu", device{ "cpu", threads = 1 }:name()  --> cpu	cpu
--- ```
---@param name? string | table
---@return moontile.Device
function tile.device(name) end

--- The names that tile.device takes, and why there is no GPU among them.
--- - looks for a driver
--- ```lua
--- devices()[1]  --> cpu
--- ```
---@param libcuda? string
---@return string[]
---@return string | nil
function tile.devices(libcuda) end

--- The names of the kernels for a device; products by tensor cores as values.
--- - without nvcc at build time there are none for "cuda"
--- - kernels{ arch = 90 or 80 [, A = dtype] } gives each as a tile.kernel, and their names
--- - kernels{ arch =, epilogue = { bias = "row", ... } } gives those that end so, in any such way
--- ```lua
--- #kernels "cpu" > 0  --> true
--- local rows, names = kernels{ arch = 90, A = "bf16" }
--- names[1], verify(rows[1]).ok  --> hopper_bf16_tn_16	true
--- ```
---@param device string | table
---@return string[] | moontile.Kernel[]
---@return string[]?
function tile.kernels(device) end

--- What this build carries and what it found: version, kernels, devices.
--- - opens all devices; cuda says why there is no GPU
--- ```lua
--- info().version == tile._VERSION  --> true
--- ```
---@param libcuda? string
---@return table
function tile.info(libcuda) end

--- Bytes of all tensors that live.
--- - what T:free() gives back is not among them
--- ```lua
--- local before = tile.held()
--- local T = tensor("f32", layout(256))
--- tile.held() - before  --> 1024
--- ```
---@return integer
function tile.held() end

--- The name of a device.
--- - tile.device(name) is that device
--- ```lua
--- device "cpu":name()  --> cpu
--- ```
---@return string
function Device:name() end

--- What a device is, in words.
--- - threads of a processor; name, memory, driver of a GPU
--- ```lua
--- type(device "cpu":about())  --> string
--- ```
---@return string
function Device:about() end

--- Waits for everything on a device.
--- - also on its streams, not for other devices of the same GPU; raises what a kernel met
--- - error: while the device records
--- ```lua
--- device "cpu":synchronize()
--- ```
function Device:synchronize() end

--- What is launched on a device's own stream from now on begins when what a stream has is done.
--- - the script goes on at once; error: while the device records
--- ```lua
--- local cpu = device "cpu"
--- cpu:wait(cpu:stream())
--- ```
---@param stream moontile.Stream
function Device:wait(stream) end

--- A stream: launches on it wait for nothing that is on others.
--- - nil, message, code where the driver has none
--- ```lua
--- device "cpu":stream()  --> stream of cpu
--- ```
---@return moontile.Stream
function Device:stream() end

--- Waits for everything on a stream.
--- - raises what a kernel met
--- - error: a stream that was closed
--- ```lua
--- device "cpu":stream():synchronize()
--- ```
function Stream:synchronize() end

--- What is launched on a stream from now on begins when what another one has is done.
--- - other: a stream, or a device: its own one; the script goes on at once
--- - error: while the device records
--- ```lua
--- local cpu = device "cpu"
--- cpu:stream():wait(cpu)
--- ```
---@param other? moontile.Stream|moontile.Device
function Stream:wait(other) end

--- Ends a stream.
--- - what it runs goes on; again is harmless
--- ```lua
--- device "cpu":stream():close()
--- ```
function Stream:close() end

--- How often the device found a plan, how often not, how many it has.
--- - tile.copy, and tile.gemm on a GPU, remember their last 16 plans
--- ```lua
--- type(device "cpu":plans())  --> number
--- ```
---@return integer found
---@return integer made
---@return integer kept
function Device:plans() end
