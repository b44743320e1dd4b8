-- kernels.lua: what nvcc found at build time must show in the program.
-- usage: kernels.lua PROGRAM NVCC ; NVCC is empty if there was none
-- SPDX-License-Identifier: MIT

local program, nvcc = arg[1], arg[2] or ""
local pipe = assert(io.popen(("'%s' --info"):format(program)))
local info = pipe:read "a"
assert(pipe:close(), "--info failed")
local cuda = info:match "\nkernels:  cuda *([^\n]*)"
if nvcc == "" or nvcc:match "NOTFOUND$" then
  print "kernels: not built, no nvcc"
  assert(cuda == "none", cuda)
else
  assert(cuda:match "copy_described" and cuda:match "copy_strided", cuda)
  print("kernels: " .. cuda)
end
