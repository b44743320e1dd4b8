# tests.cmake: everything that ctest runs. A test's files appear here as soon as they exist.
# SPDX-License-Identifier: MIT
#
# In a sanitized build names begin with "asan." or "tsan.". MOONTILE_TIMES in the environment says how many
# times as many random cases are to run as usual. `./dev test` leaves out what has the label
# "thorough", unless it is told --all, or CI is set.

set(SPEC ${PROJECT_SOURCE_DIR}/spec)
set(FAKE_DIR ${PROJECT_BINARY_DIR}/fake)
set(SCRATCH ${PROJECT_BINARY_DIR}/scratch)
file(MAKE_DIRECTORY ${FAKE_DIR} ${SCRATCH})
set(TEST_ENV MOONTILE_TEST_LIBCUDA=${FAKE_DIR}/libcuda.so.1 LD_LIBRARY_PATH=${FAKE_DIR})
if(MOONTILE_SANITIZE)
  list(APPEND TEST_ENV ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
                       UBSAN_OPTIONS=print_stacktrace=1)
endif()

set(test_prefix "")
if(MOONTILE_SANITIZE)
  set(test_prefix asan.)
elseif(MOONTILE_TSAN)
  set(test_prefix tsan.)
endif()

# A test of the name, run in the source folder unless it says otherwise. COST is roughly the seconds
# that it takes: what takes longest starts first. THOROUGH: others prove nearly the same, sooner.
function(moontile_test name)
  cmake_parse_arguments(PARSE_ARGV 1 T "THOROUGH" "DIR;TIMEOUT;COST" "COMMAND;ENV")
  set(name ${test_prefix}${name})
  if(NOT T_DIR)
    set(T_DIR ${PROJECT_SOURCE_DIR})
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 900)
  endif()
  if(NOT T_COST)
    set(T_COST 1)
  endif()
  add_test(NAME ${name} COMMAND ${T_COMMAND} WORKING_DIRECTORY ${T_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} ENVIRONMENT "${TEST_ENV};${T_ENV}"
                       COST ${T_COST})
  if(T_THOROUGH)
    set_tests_properties(${name} PROPERTIES LABELS thorough)
  endif()
endfunction()

# What C tests share.
add_library(moontile_spec_common STATIC EXCLUDE_FROM_ALL ${SPEC}/common/cases.c)
moontile_target(moontile_spec_common)
target_include_directories(moontile_spec_common PUBLIC ${SPEC}/common ${MOONTILE_INCLUDES})
target_link_libraries(moontile_spec_common PUBLIC moontile_static)

# spec/DIR/*.c as the program NAME, linked with the core and whatever else is said.
function(moontile_spec_program name dir)
  file(GLOB sources CONFIGURE_DEPENDS ${SPEC}/${dir}/*.c)
  if(sources)
    add_executable(${name} ${sources})
    moontile_target(${name})
    target_link_libraries(${name} PRIVATE moontile_spec_common moontile_static ${ARGN})
    target_compile_definitions(${name} PRIVATE MOONTILE_SPEC_DIR="${SPEC}")
  endif()
endfunction()

# ---- the core, in C

# The tests of a room have its name. With the sanitizers some take far longer than the others.
set(COST_room_cuda 100)
set(COST_room_copy 80)
set(COST_room_cpu 50)
set(COST_room_algebra 40)
foreach(room core algebra types atom hardware copy gemm kernel cpu cuda)
  if(NOT COST_room_${room})
    set(COST_room_${room} 10)
  endif()
  moontile_spec_program(moontile_${room}_test ${room})
  moontile_test(${room} COMMAND moontile_${room}_test COST ${COST_room_${room}})
endforeach()

# The bench of the property test: prints its seed and its time.
if(TARGET moontile_algebra_test)
  add_custom_target(moontile_algebra_bench COMMAND moontile_algebra_test --cases 100000000 --jobs 0
                    USES_TERMINAL VERBATIM)
endif()

# moontile_fuzz_target(NAME LIBRARY...): spec/fuzz/NAME.c with libFuzzer, or without a fuzzer.
function(moontile_fuzz_target name)
  add_executable(moontile_fuzz_${name} ${SPEC}/fuzz/${name}.c)
  moontile_target(moontile_fuzz_${name})
  target_link_libraries(moontile_fuzz_${name} PRIVATE ${ARGN})
  if(MOONTILE_FUZZ)
    target_link_options(moontile_fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(moontile_fuzz_${name} PRIVATE ${SPEC}/fuzz/replay.c)
  endif()
endfunction()

# Over their corpus: with libFuzzer as it is, else with mutations of it.
set(REPLAY)
if(MOONTILE_FUZZ)
  set(REPLAY -runs=0)
endif()
foreach(name parse npy safetensors archive ops)
  moontile_fuzz_target(${name} moontile_static)
  target_include_directories(moontile_fuzz_${name} PRIVATE ${MOONTILE_INCLUDES})
  moontile_test(fuzz.${name} COST 5
                COMMAND moontile_fuzz_${name} ${REPLAY} ${SPEC}/fuzz/corpus/${name})
endforeach()

# ---- a driver without a GPU: libcuda.so.1 in its own folder

file(GLOB sources CONFIGURE_DEPENDS ${SPEC}/fake/*.c)
if(sources)
  add_library(moontile_fake SHARED ${sources})
  moontile_target(moontile_fake)
  target_include_directories(moontile_fake PRIVATE ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_fake PRIVATE moontile_static)
  set_target_properties(moontile_fake PROPERTIES OUTPUT_NAME cuda VERSION 1 SOVERSION 1
                        LIBRARY_OUTPUT_DIRECTORY ${FAKE_DIR})
endif()

# A planted access outside a buffer: refused (exit status 3), and where a test build does not
# look, found by the driver (4). The unchecked object takes the place of the library's.
if(TARGET moontile_fake AND EXISTS ${SPEC}/gpu/planted.c)
  add_executable(moontile_planted ${SPEC}/gpu/planted.c)
  add_executable(moontile_planted_unsafe ${SPEC}/gpu/planted.c ${SRC}/plan/plan.c)
  target_compile_definitions(moontile_planted_unsafe PRIVATE MT_UNSAFE_NO_CHECK)
  foreach(want IN ITEMS planted=3 planted_unsafe=4)
    string(REGEX REPLACE "=.*" "" name ${want})
    string(REGEX REPLACE ".*=" "" status ${want})
    moontile_target(moontile_${name})
    target_include_directories(moontile_${name} PRIVATE ${MOONTILE_INCLUDES})
    target_link_libraries(moontile_${name} PRIVATE moontile_static)
    moontile_test(${name} COMMAND sh -c "\"$0\" \"$1\" && exit 1; [ $? = ${status} ]"
                  $<TARGET_FILE:moontile_${name}> ${FAKE_DIR}/libcuda.so.1)
  endforeach()
endif()

if(NOT TARGET moontile_program)
  return()
endif()

# ---- specs in Lua: under lua5.4 with the module, and under our own program

find_program(LUA_PROGRAM NAMES lua5.4 lua54 lua-5.4)
find_program(BUSTED_SCRIPT NAMES busted)
mark_as_advanced(LUA_PROGRAM BUSTED_SCRIPT)
set(module_cfg "return { _all = { cpath = '${PROJECT_BINARY_DIR}/?.so' } }\n")
file(WRITE ${PROJECT_BINARY_DIR}/program.cfg "return {}\n")
file(WRITE ${PROJECT_BINARY_DIR}/module.cfg "${module_cfg}")
set(busted ${BUSTED_SCRIPT} --ignore-lua --output plainTerminal --config-file
           ${PROJECT_BINARY_DIR})
set(PROGRAM $<TARGET_FILE:moontile_program>)
file(GLOB specs CONFIGURE_DEPENDS ${SPEC}/*_spec.lua)

# Each file is a test of its own, spec.NAME; under the module spec.module.NAME, where random cases
# are fewer. Files that take long by themselves:
set(COST_combinations 40)
foreach(name ampere hopper picture atom)
  set(COST_${name} 20)
endforeach()
foreach(name copy tiled kernel_epilogue tune_product composed_tiles kernel_near tma)
  set(COST_${name} 10)
endforeach()
foreach(name by_mode einsum kernel own_atom pairs dump composed_products copy_casts copy_shuffles
        copy_axes gemm_neighbours)
  set(COST_${name} 5)
endforeach()
foreach(name memory transfer ends tune)
  set(COST_${name} 2)
endforeach()

# Under the module the same code runs: that it is there for another Lua, and what knows the program
# from the module, a few files show.
set(module_specs broken caller console doc error file layout lifetime meta print tensor stop)

if(specs AND BUSTED_SCRIPT)
  foreach(file IN LISTS specs)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "_spec$" "" name ${name})
    moontile_test(spec.${name} COMMAND ${PROGRAM} ${busted}/program.cfg ${file}
                  COST ${COST_${name}})
    if(LUA_PROGRAM AND NOT MOONTILE_SANITIZE)
      set(thorough THOROUGH)
      if(name IN_LIST module_specs)
        set(thorough "")
      endif()
      moontile_test(spec.module.${name} ${thorough} COMMAND ${LUA_PROGRAM} ${busted}/module.cfg ${file}
                    COST ${COST_${name}} ENV MOONTILE_TIMES=0.2)
    endif()
  endforeach()
elseif(specs)
  message(WARNING "moontile: no busted was found (Debian: lua-busted): specs are not tested")
endif()

# Random tiles that overhang, against counting by hand; MOONTILE_RAGGED says how many.
foreach(device cpu cpu:checked cuda)
  string(REPLACE "cpu:" "" name ${device})
  moontile_test(ragged.${name} COMMAND ${PROGRAM} ${SPEC}/ragged/main.lua ${device} TIMEOUT 1500)
endforeach()

# An allocator that fails from the n-th allocation on, for every n of a script that uses
# everything.
if(EXISTS ${SPEC}/alloc/sweep.c)
  moontile_spec_program(moontile_sweep alloc moontile_lua moontile_liblua)
  file(MAKE_DIRECTORY ${SCRATCH}/alloc)
  moontile_test(alloc COMMAND moontile_sweep ${SPEC}/alloc/script.lua ${SCRATCH}/alloc/file.npy
                ${FAKE_DIR}/libcuda.so.1 COST 100)
endif()

# A host that says what its scripts may do.
moontile_spec_program(moontile_host_test host moontile_lua moontile_liblua)
file(MAKE_DIRECTORY ${SCRATCH}/host)
moontile_test(host COST 5 COMMAND moontile_host_test ${SCRATCH}/host ${FAKE_DIR}/libcuda.so.1)

# The limited interpreter: what it takes and gives, and what tries to break out of it.
moontile_spec_program(moontile_vm_test vm moontile_lua moontile_liblua)
file(MAKE_DIRECTORY ${SCRATCH}/vm)
moontile_test(vm COST 15 COMMAND moontile_vm_test ${SCRATCH}/vm)

# Bytes as scripts, over a corpus.
moontile_fuzz_target(vm moontile_lua moontile_liblua)
moontile_test(fuzz.vm THOROUGH COST 40
              COMMAND moontile_fuzz_vm ${REPLAY} ${SPEC}/fuzz/corpus/vm)

# What does not wait for other devices of a GPU.
moontile_spec_program(moontile_waits_test waits moontile_lua moontile_liblua)
moontile_test(waits COST 10 COMMAND moontile_waits_test ${FAKE_DIR}/libcuda.so.1)

# Threads, each with a VM, on one device.
moontile_spec_program(moontile_threads_test threads moontile_lua moontile_liblua)
foreach(device cpu cuda)
  moontile_test(threads.${device} COST 3 COMMAND moontile_threads_test ${SPEC}/threads/work.lua
                ${device} 10000 1 2 8)
endforeach()
if(NOT MOONTILE_SANITIZE AND NOT MOONTILE_TSAN AND PROJECT_IS_TOP_LEVEL)      # it builds all again
  moontile_test(threads.tsan THOROUGH COST 100 TIMEOUT 1800 COMMAND ${CMAKE_COMMAND}
    -DSOURCE=${PROJECT_SOURCE_DIR} -DWORK=${SCRATCH}/tsan -DGENERATOR=${CMAKE_GENERATOR}
    -DCC=${CMAKE_C_COMPILER} -DLAUNCHER=${CMAKE_C_COMPILER_LAUNCHER} -P ${SPEC}/threads/tsan.cmake)
  set_tests_properties(threads.tsan PROPERTIES SKIP_REGULAR_EXPRESSION "tsan: skipped")
endif()
if(MOONTILE_TSAN)
  moontile_test(threads.planted ENV MOONTILE_PLANTED=1 COMMAND moontile_threads_test
                ${SPEC}/threads/work.lua cpu 10000 8)
  set_tests_properties(tsan.threads.planted PROPERTIES PASS_REGULAR_EXPRESSION "data race.*operate")
endif()

# The library and the module are loaded and unloaded a thousand times. What glibc keeps for each thread
# counts as used, and would look like growth.
if(NOT MOONTILE_SANITIZE AND NOT MOONTILE_TSAN)
  moontile_spec_program(moontile_loads_test loads moontile_liblua)
  set_target_properties(moontile_loads_test PROPERTIES ENABLE_EXPORTS ON)
  moontile_test(loads COST 5 COMMAND moontile_loads_test $<TARGET_FILE:moontile_shared>
                $<TARGET_FILE:moontile_module> 1000
                ENV GLIBC_TUNABLES=glibc.malloc.tcache_count=0)
endif()

# Objects that are freed in the middle of a call, wherever a script could.
file(MAKE_DIRECTORY ${SCRATCH}/live)
set(COST_live_cpu 90)
set(COST_live_checked 20)
set(COST_live_cuda 20)
foreach(device cpu checked cuda)
  moontile_test(live.${device} COST ${COST_live_${device}}
                COMMAND ${PROGRAM} ${SPEC}/live/sweep.lua ${SCRATCH}/live ${device} ${FAKE_DIR}/libcuda.so.1)
endforeach()
moontile_test(live.close COMMAND ${PROGRAM} ${SPEC}/live/close.lua ${SCRATCH}/live
              ${FAKE_DIR}/libcuda.so.1)
if(LUA_PROGRAM AND NOT MOONTILE_SANITIZE)         # where the module's code goes, too
  moontile_test(live.close.module ENV LUA_CPATH=${PROJECT_BINARY_DIR}/?.so
                COMMAND ${LUA_PROGRAM} ${SPEC}/live/close.lua ${SCRATCH}/live.module
                ${FAKE_DIR}/libcuda.so.1)
endif()
# The same where a call collects since it has no memory.
moontile_spec_program(moontile_refuse live moontile_lua moontile_liblua)
foreach(device cpu cuda)
  moontile_test(live.refused.${device} COST 15 COMMAND moontile_refuse ${SPEC}/live/sweep.lua
                ${SCRATCH}/live ${device} ${FAKE_DIR}/libcuda.so.1)
endforeach()

# Work that takes long, stopped in its middle.
moontile_spec_program(moontile_stop_test stop moontile_lua moontile_liblua)
moontile_test(stop COST 15 COMMAND moontile_stop_test ${SPEC}/stop/kinds.lua ${FAKE_DIR}/libcuda.so.1)

# The same work in a thread with a small stack, as optimised code has it; of examples below.
set(SMALL_STACK FALSE)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT MOONTILE_SANITIZE)
  set(SMALL_STACK TRUE)
  moontile_spec_program(moontile_stack stack moontile_lua moontile_liblua)
  moontile_test(stack COMMAND moontile_stack ${SPEC}/stack/deep.lua)
  foreach(device cpu cuda)
    moontile_test(stack.ragged.${device} COMMAND moontile_stack ${SPEC}/ragged/main.lua ${device} 500)
    foreach(seed 1795419174000 24000072000)      # they go deep
      moontile_test(stack.ragged.${device}.${seed} COMMAND moontile_stack ${SPEC}/ragged/main.lua
                    ${device} 500 ${seed})
    endforeach()
  endforeach()
endif()

# Beside NumPy, where that is installed.
find_program(PYTHON_PROGRAM NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PYTHON_PROGRAM NAMES python3)
mark_as_advanced(PYTHON_PROGRAM)
if(PYTHON_PROGRAM AND EXISTS ${SPEC}/numpy/transpose.py AND NOT MOONTILE_SANITIZE)
  moontile_test(numpy COMMAND ${PYTHON_PROGRAM} ${SPEC}/numpy/transpose.py ${PROGRAM} cpu cuda)
  set_tests_properties(${test_prefix}numpy PROPERTIES SKIP_RETURN_CODE 77)
endif()

# The package for Python, beside NumPy.
if(TARGET moontile_python AND PYTHON_PROGRAM AND NOT MOONTILE_SANITIZE)
  execute_process(COMMAND ${PYTHON_PROGRAM} -c "import numpy" RESULT_VARIABLE absent
                  OUTPUT_QUIET ERROR_QUIET)
  if(absent)
    message(STATUS "moontile: ${PYTHON_PROGRAM} has no NumPy (Debian: python3-numpy): "
                   "the Python package is not tested")
  else()
    moontile_test(python COMMAND ${PYTHON_PROGRAM} ${SPEC}/python/package.py
                  ${PROJECT_BINARY_DIR}/python ${FAKE_DIR}/libcuda.so.1)
    moontile_test(examples.arrays COMMAND ${PYTHON_PROGRAM} ${PROJECT_SOURCE_DIR}/examples/arrays.py
                  ENV PYTHONPATH=${PROJECT_BINARY_DIR}/python)
    # Beside torch, where that is installed; on a GPU, if torch has one.
    moontile_test(python.torch COMMAND ${PYTHON_PROGRAM} ${SPEC}/python/torch_arrays.py
                  ${PROJECT_BINARY_DIR}/python)
    set_tests_properties(${test_prefix}python.torch PROPERTIES SKIP_RETURN_CODE 77
                         ENVIRONMENT "")          # not the fake driver
  endif()
elseif(NOT MOONTILE_SANITIZE)
  message(STATUS "moontile: no Python, or no shared Lua: the Python package is not tested")
endif()

# ---- the program, the walls, the examples

# The console in a terminal. libedit2 has to be installed.
add_library(moontile_pty MODULE ${SPEC}/terminal/pty.c)
moontile_target(moontile_pty)
target_include_directories(moontile_pty SYSTEM PRIVATE ${MOONTILE_LUA_INCLUDE_DIR})
set_target_properties(moontile_pty PROPERTIES PREFIX "")
file(MAKE_DIRECTORY ${SCRATCH}/terminal)
if(BUSTED_SCRIPT)
  foreach(name terminal interrupt progress startup manual)
    moontile_test(spec.${name} COST 20
      COMMAND ${PROGRAM} ${busted}/module.cfg ${SPEC}/terminal/${name}_spec.lua
      ENV MOONTILE_PROGRAM=${PROGRAM} MOONTILE_SCRATCH=${SCRATCH}/terminal)
  endforeach()
endif()

# Pages of pictures in a browser, LaTeX in a TeX with TikZ: where they are installed.
find_program(CHROMIUM_PROGRAM NAMES chromium chromium-browser google-chrome)
find_program(NODE_PROGRAM NAMES node nodejs)
find_program(PDFLATEX_PROGRAM pdflatex)
find_program(KPSEWHICH_PROGRAM kpsewhich)
mark_as_advanced(CHROMIUM_PROGRAM NODE_PROGRAM PDFLATEX_PROGRAM KPSEWHICH_PROGRAM)
if(CHROMIUM_PROGRAM AND NODE_PROGRAM AND NOT MOONTILE_SANITIZE)
  file(MAKE_DIRECTORY ${SCRATCH}/browser)
  moontile_test(browser.pictures COST 10 COMMAND ${NODE_PROGRAM} ${SPEC}/browser/pictures.js
                ${CHROMIUM_PROGRAM} ${PROGRAM} ${SCRATCH}/browser)
endif()
if(PDFLATEX_PROGRAM AND KPSEWHICH_PROGRAM AND NOT MOONTILE_SANITIZE)
  execute_process(COMMAND ${KPSEWHICH_PROGRAM} tikz.sty OUTPUT_VARIABLE tikz ERROR_QUIET)
  if(tikz)
    moontile_test(latex COST 8 COMMAND sh ${SPEC}/browser/latex.sh ${PROGRAM} ${PDFLATEX_PROGRAM}
                  ${SCRATCH}/latex)
  endif()
endif()

moontile_test(program COMMAND sh ${SPEC}/program/run.sh ${PROGRAM} ${SCRATCH}/program)

if(NOT MOONTILE_SANITIZE)
  set(objects ${PROJECT_BINARY_DIR}/objects.txt)
  file(GENERATE OUTPUT ${objects} CONTENT "$<JOIN:$<TARGET_OBJECTS:moontile_core>,\n>
$<JOIN:$<TARGET_OBJECTS:moontile_binding>,\n>
$<JOIN:$<TARGET_OBJECTS:moontile_vm>,\n>
$<JOIN:$<TARGET_OBJECTS:moontile_program>,\n>
")
  # What the library exports is what spec/abi lists.
  moontile_test(abi COMMAND sh ${SPEC}/abi/check.sh $<TARGET_FILE:moontile_shared> ${CMAKE_NM})
  moontile_test(walls COMMAND ${PROGRAM} ${SPEC}/walls/walls.lua ${PROJECT_SOURCE_DIR}
                $<TARGET_FILE:moontile_static> $<TARGET_FILE:moontile_shared>
                $<TARGET_FILE:moontile_module> ${PROGRAM} ${CMAKE_NM} ${CMAKE_BUILD_TYPE}
                "${MOONTILE_HARDENED}" ${objects})
endif()
moontile_test(walls.rooms COMMAND ${PROGRAM} ${SPEC}/walls/rooms_planted.lua ${PROJECT_SOURCE_DIR})
# The golden tables.
file(GLOB tables CONFIGURE_DEPENDS ${SPEC}/golden/*.tsv)
file(GLOB pycute_tables CONFIGURE_DEPENDS ${SPEC}/golden/pycute/*.tsv)
moontile_test(golden COMMAND ${PROGRAM} ${SPEC}/golden/check.lua ${tables})
moontile_test(golden.pycute COMMAND ${PROGRAM} ${SPEC}/golden/check_pycute.lua
              ${pycute_tables})

moontile_test(kernels COMMAND ${PROGRAM} ${SPEC}/program/kernels.lua ${PROGRAM} "${MOONTILE_NVCC}")
# Plans as C, by the fake driver: exported, compiled without the library, run.
# Its program loads the driver, so it is built with the driver's sanitizers.
if(TARGET moontile_fake)
  set(export_cc ${CMAKE_C_COMPILER})
  if(MOONTILE_SANITIZE)
    set(export_cc "${CMAKE_C_COMPILER} -fsanitize=address,undefined -fno-sanitize-recover=all")
  elseif(MOONTILE_TSAN)
    set(export_cc "${CMAKE_C_COMPILER} -fsanitize=thread")
  endif()
  moontile_test(export COMMAND sh ${SPEC}/export/run.sh ${PROGRAM} "${export_cc}"
                ${SCRATCH}/export ${FAKE_DIR}/libcuda.so.1 33 COST 50)
endif()
# MOONTILE_CUTE: the folders of CuTe's headers and of CUDA's, if they are there.
if(MOONTILE_CUTE)
  moontile_test(cute.header COMMAND sh ${SPEC}/program/cute_header.sh ${PROGRAM} ${SCRATCH}/cute
                ${MOONTILE_CUTE})
endif()
moontile_test(fuzz.api COST 10 COMMAND ${PROGRAM} ${SPEC}/fuzz/api.lua 1 20000)
# Random scripts, for a quarter of a minute.
moontile_test(fuzz.surface COST 15 COMMAND sh ${SPEC}/fuzz/surface.sh ${PROGRAM} ${SCRATCH}/surface)
file(MAKE_DIRECTORY ${SCRATCH}/surface)
foreach(name held no_file host_table answers)
  moontile_test(fuzz.surface.${name} COMMAND ${PROGRAM} ${SPEC}/fuzz/surface.lua
                --scratch ${SCRATCH}/surface --replay ${SPEC}/fuzz/corpus/surface/${name}.log)
endforeach()
moontile_test(walls.live COMMAND ${PROGRAM} ${SPEC}/walls/live.lua ${PROJECT_SOURCE_DIR}
              ${MOONTILE_SOURCES_binding})
# The model of what copies cost, and what fits it, on what was measured: a round of a few constants.
if(TARGET moontile_bench)
  moontile_test(bench.fit COMMAND ${PROGRAM} bench/fit.lua rounds=1 parts=2 only=bits worst=1
                bench/views_h200_families.txt bench/choices_h200.txt)
  set_tests_properties(${test_prefix}bench.fit PROPERTIES PASS_REGULAR_EXPRESSION "fitted to all: within"
                       FAIL_REGULAR_EXPRESSION "stack traceback")
  moontile_test(bench.tiles COMMAND ${PROGRAM} bench/tiles.lua bench/tiles_h200_9101.txt)
  set_tests_properties(${test_prefix}bench.tiles PROPERTIES
                       PASS_REGULAR_EXPRESSION "tiles_h200_9101.txt .* of [1-9]"
                       FAIL_REGULAR_EXPRESSION "stack traceback")
endif()
moontile_test(quiet COMMAND ${PROGRAM} ${SPEC}/walls/quiet.lua)

file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.lua)
foreach(file IN LISTS examples)
  get_filename_component(name ${file} NAME_WE)
  file(MAKE_DIRECTORY ${SCRATCH}/examples/${name})
  moontile_test(examples.${name} COMMAND ${PROGRAM} ${file} DIR ${SCRATCH}/examples/${name})
  if(SMALL_STACK)
    moontile_test(stack.examples.${name} COMMAND moontile_stack ${file}
                  DIR ${SCRATCH}/examples/${name})
  endif()
endforeach()

# What CuTe's documentation, tutorials and users do, with the results that these state.
file(GLOB cute_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/cute/*.lua)
foreach(file IN LISTS cute_examples)
  get_filename_component(name ${file} NAME_WE)
  moontile_test(examples.cute.${name} COMMAND ${PROGRAM} ${file})
endforeach()

include(cmake/guests.cmake)
