# guests.cmake: C programs of our own tree that use the library, and those of somebody else.
# SPDX-License-Identifier: MIT

# ---- guests: C programs of our own tree, and of somebody else's

foreach(name host host_core)
  if(EXISTS ${PROJECT_SOURCE_DIR}/examples/${name}.c)
    add_executable(moontile_${name} ${PROJECT_SOURCE_DIR}/examples/${name}.c)
    moontile_target(moontile_${name})
    moontile_test(examples.${name} COMMAND moontile_${name})
  endif()
endforeach()
target_link_libraries(moontile_host PRIVATE moontile_lua moontile_liblua)
# With the fake driver, and where there is none.
add_executable(moontile_host_stream ${PROJECT_SOURCE_DIR}/examples/host_stream.c)
moontile_target(moontile_host_stream)
target_link_libraries(moontile_host_stream PRIVATE moontile_lua moontile_liblua)
moontile_test(examples.host_stream COMMAND moontile_host_stream ${FAKE_DIR}/libcuda.so.1)
set_tests_properties(${test_prefix}examples.host_stream PROPERTIES
  PASS_REGULAR_EXPRESSION "every element is in its place")
add_executable(moontile_host_kernel ${PROJECT_SOURCE_DIR}/examples/host_kernel.c)
moontile_target(moontile_host_kernel)
target_link_libraries(moontile_host_kernel PRIVATE moontile_lua moontile_liblua)
moontile_test(examples.host_kernel.none COMMAND moontile_host_kernel none /nowhere/libcuda.so.1)
moontile_test(examples.host_stream.none COMMAND moontile_host_stream /nowhere/libcuda.so.1)
add_executable(moontile_guarded ${PROJECT_SOURCE_DIR}/examples/guarded.c)
moontile_target(moontile_guarded)
target_link_libraries(moontile_guarded PRIVATE moontile_lua moontile_liblua Threads::Threads)
moontile_test(examples.guarded COMMAND moontile_guarded ${SPEC}/host/script.lua)
target_link_libraries(moontile_host_core PRIVATE moontile_static)

# Hosts of the interpreter with limits. A wrong script has an error for who wrote it.
foreach(name vm_min vm_limits vm_server)
  add_executable(moontile_${name} ${PROJECT_SOURCE_DIR}/examples/${name}.c)
  moontile_target(moontile_${name})
  target_link_libraries(moontile_${name} PRIVATE moontile_lua moontile_liblua Threads::Threads)
endforeach()
moontile_test(examples.vm_min COMMAND moontile_vm_min ${SPEC}/vm/right.lua 2)
moontile_test(examples.vm_min.wrong COMMAND moontile_vm_min ${SPEC}/vm/wrong.lua 2)
set_tests_properties(${test_prefix}examples.vm_min PROPERTIES
  PASS_REGULAR_EXPRESSION "asked for\t2.0\n58\n")
set_tests_properties(${test_prefix}examples.vm_min.wrong PROPERTIES PASS_REGULAR_EXPRESSION
  "wrong.lua:6: tile.layuot: no such function; did you mean layout\\?
  6 . return x . tile.layuot.4..1.
called from [^\n]*wrong.lua:10
  10 . return area.n.")
moontile_test(examples.vm_limits COMMAND moontile_vm_limits ${SCRATCH}/vm)
moontile_test(examples.vm_server COMMAND moontile_vm_server)
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND PROJECT_IS_TOP_LEVEL)
  enable_language(CXX)
  add_executable(moontile_vm_host ${PROJECT_SOURCE_DIR}/examples/vm_host.cpp)
  moontile_target(moontile_vm_host)
  target_compile_features(moontile_vm_host PRIVATE cxx_std_11)
  target_compile_options(moontile_vm_host PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(moontile_vm_host PRIVATE moontile_lua moontile_liblua)
  moontile_test(examples.vm_host COMMAND moontile_vm_host)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT MOONTILE_SANITIZE)
  find_program(MOONTILE_LUAROCKS luarocks)
  find_program(MOONTILE_DPKG dpkg)
  mark_as_advanced(MOONTILE_LUAROCKS MOONTILE_DPKG)
  set(ways find_package add_subdirectory fetch_content pkg_config one)
  if(MOONTILE_DPKG)
    list(APPEND ways deb)
  else()
    message(STATUS "moontile: no dpkg: the package for Debian is not tested")
  endif()
  if(MOONTILE_LUAROCKS AND LUA_PROGRAM)
    list(APPEND ways luarocks)
  else()
    message(STATUS "moontile: no luarocks, or no lua5.4: the rock is not tested")
  endif()
  execute_process(COMMAND ${PYTHON_PROGRAM} -c "import ensurepip, venv" RESULT_VARIABLE absent
                  OUTPUT_QUIET ERROR_QUIET)
  if(TARGET moontile_python AND PYTHON_PROGRAM AND NOT absent)
    list(APPEND ways wheel)
  else()
    message(STATUS "moontile: no Python with venv (Debian: python3-venv): the wheel is not tested")
  endif()
  foreach(way IN LISTS ways)
    set(thorough "")
    set(cost 10)
    if(way MATCHES "^(add_subdirectory|fetch_content|luarocks|wheel|one)$")     # they build all of it again
      set(thorough THOROUGH)
      set(cost 30)
    endif()
    moontile_test(install.${way} ${thorough} COST ${cost} COMMAND ${CMAKE_COMMAND}
      -DWAY=${way} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
      -DWORK=${SCRATCH}/install-${way} -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
      -DGENERATOR=${CMAKE_GENERATOR} -DCC=${CMAKE_C_COMPILER} -DINCDIR=${MOONTILE_LUA_INCLUDE_DIR}
      -DLUALIB=${MOONTILE_LUA_LIBRARY} -DCMOD=${MOONTILE_LUA_CMOD_DIR}
      -DLUAROCKS=${MOONTILE_LUAROCKS} -DPYTHON=${PYTHON_PROGRAM} -DPROGRAM=${PROGRAM}
      -DLUA_PROGRAM=${LUA_PROGRAM} -P ${SPEC}/install/run.cmake)
  endforeach()
  if(wheel IN_LIST ways)
    set_tests_properties(${test_prefix}install.wheel PROPERTIES SKIP_REGULAR_EXPRESSION "wheel: skipped")
  endif()
endif()
