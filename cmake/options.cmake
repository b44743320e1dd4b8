# options.cmake: what can be chosen, and the flags of our own targets.
# SPDX-License-Identifier: MIT

set(MOONTILE_CUDA AUTO CACHE STRING "CUDA kernels: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE MOONTILE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(MOONTILE_CUDA_ARCHS "" CACHE STRING
    "GPU architectures to compile for, as 80;90a; empty: all that are shipped and nvcc knows")
option(MOONTILE_CUDA_QUICK "Kernels in a sixth of the time, not optimised: to see that they compile" OFF)
option(MOONTILE_LUA "The binding, the Lua module and the program" ON)
option(MOONTILE_MODULE_ONLY "Install the Lua module alone, as LuaRocks does" OFF)
set(MOONTILE_PYTHON AUTO CACHE STRING
    "The library of the Python package: AUTO (where there is a shared Lua), ON, OFF")
set_property(CACHE MOONTILE_PYTHON PROPERTY STRINGS AUTO ON OFF)
option(MOONTILE_TESTS "Tests and examples" ${PROJECT_IS_TOP_LEVEL})
set(MOONTILE_CUTE "" CACHE STRING "Folders of CuTe's and CUDA's headers, for a test of tile.cute")
option(MOONTILE_WERROR "Warnings are errors" OFF)
option(MOONTILE_HARDEN "Flags that make mistakes of memory harder to exploit" ON)
option(MOONTILE_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer in all our targets" OFF)
option(MOONTILE_TSAN "ThreadSanitizer in all our targets" OFF)
option(MOONTILE_FUZZ "libFuzzer in the fuzz targets: with clang" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

include(GNUInstallDirs)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# What every target of ours is compiled with; not exported.
add_library(moontile_flags INTERFACE)
target_compile_features(moontile_flags INTERFACE c_std_11)
target_compile_definitions(moontile_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(moontile_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wundef -Wvla -Wpointer-arith -Wwrite-strings
  -Wstrict-prototypes -Wmissing-prototypes>)
# No one replaces a function of ours inside its own library: it may be inlined there.
target_compile_options(moontile_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-fno-semantic-interposition>)
if(MOONTILE_WERROR)
  target_compile_options(moontile_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(MOONTILE_SANITIZE)
  set(MOONTILE_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
  target_compile_options(moontile_flags INTERFACE ${MOONTILE_SANITIZERS})
  target_link_options(moontile_flags INTERFACE -fsanitize=address,undefined)
elseif(MOONTILE_TSAN)
  target_compile_options(moontile_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(moontile_flags INTERFACE -fsanitize=thread)
endif()

if(MOONTILE_FUZZ)
  target_compile_options(moontile_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

include(cmake/harden.cmake)

# The standard settings of a target of ours.
function(moontile_target name)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:moontile_flags>)
  get_target_property(type ${name} TYPE)
  if(NOT type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
    target_link_options(${name} PRIVATE ${MOONTILE_HARDEN_LINK})
  endif()
  set_target_properties(${name} PROPERTIES
    C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
endfunction()
