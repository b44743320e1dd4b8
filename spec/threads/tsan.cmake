# tsan.cmake: the tests of threads, built with ThreadSanitizer in a folder of their own.
# SPDX-License-Identifier: MIT

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${out}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/try.c "int main (void) { return 0; }\n")
execute_process(COMMAND ${CC} -fsanitize=thread ${WORK}/try.c -o ${WORK}/try RESULT_VARIABLE cannot
                OUTPUT_QUIET ERROR_QUIET)
if(NOT cannot)
  execute_process(COMMAND ${WORK}/try RESULT_VARIABLE cannot OUTPUT_QUIET ERROR_QUIET)
endif()
if(cannot)
  message("tsan: skipped, ${CC} has no ThreadSanitizer that runs here")
  return()
endif()
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_C_COMPILER=${CC}
     -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-g -O1"
     -DMOONTILE_CUDA=OFF -DMOONTILE_TSAN=ON)
must(${CMAKE_COMMAND} --build ${WORK}/build -j 2 --target moontile_threads_test moontile_fake)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure --no-tests=error
     -R tsan.threads)
