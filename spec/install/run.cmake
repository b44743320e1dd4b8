# run.cmake: a folder outside the project uses moontile in the way WAY, and its programs run.
# SPDX-License-Identifier: MIT
# find_package, pkg_config: from an installation that was moved after it was made;
# add_subdirectory, fetch_content: from the sources in SOURCE.

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out
                  WORKING_DIRECTORY ${WORK})
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
  set(OUTPUT "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(COPY ${SOURCE}/spec/install/consumer/CMakeLists.txt ${SOURCE}/examples/host.c
     ${SOURCE}/examples/host_core.c DESTINATION ${WORK}/consumer)
set(prefix ${WORK}/moved)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBDIR})

if(WAY MATCHES "find_package|pkg_config")
  must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/made)
  file(RENAME ${WORK}/made ${prefix})
endif()

if(WAY STREQUAL pkg_config)
  find_program(PKG_CONFIG pkg-config REQUIRED)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  must(${PKG_CONFIG} --modversion moontile)
  must(${PKG_CONFIG} --cflags --libs moontile)
  separate_arguments(flags UNIX_COMMAND "${OUTPUT}")
  must(${CC} -std=c11 consumer/host_core.c ${flags} -o shared)
  must(./shared)
  must(${PKG_CONFIG} --static --cflags --libs moontile)
  separate_arguments(flags UNIX_COMMAND "${OUTPUT}")
  list(TRANSFORM flags REPLACE "^-lmoontile$" ${prefix}/${LIBDIR}/libmoontile.a)
  must(${CC} -std=c11 consumer/host_core.c ${flags} -o static)
  must(${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ./static)
else()
  must(${CMAKE_COMMAND} -S consumer -B build -G ${GENERATOR} -DCMAKE_C_COMPILER=${CC} -DWAY=${WAY}
       -DSOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${prefix} -DINCDIR=${INCDIR} -DLUALIB=${LUALIB}
       -DLUA_INCDIR=${INCDIR} -DMOONTILE_CUDA=OFF)
  must(${CMAKE_COMMAND} --build build)
  must(${CMAKE_CTEST_COMMAND} --test-dir build --output-on-failure)
  if(NOT OUTPUT MATCHES "0 tests failed out of 3")
    message(FATAL_ERROR "${OUTPUT}")
  endif()
endif()

if(WAY STREQUAL find_package)
  must(${prefix}/bin/moontile -e "print(require 'moontile'.layout(4))")
  if(NOT OUTPUT MATCHES "4:1")
    message(FATAL_ERROR "the installed program: ${OUTPUT}")
  endif()
  if(LUA_PROGRAM)
    set(ENV{LUA_CPATH_5_4} "${prefix}/${CMOD}/?.so")
    must(${LUA_PROGRAM} -e "print(require 'moontile'.layout(4))")
    if(NOT OUTPUT MATCHES "4:1")
      message(FATAL_ERROR "the installed module: ${OUTPUT}")
    endif()
  endif()
endif()
message("${WAY}: works from outside")
