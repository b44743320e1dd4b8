# kernels.cmake: the CUDA kernels, compiled to fatbins where there is nvcc, and embedded.
# SPDX-License-Identifier: MIT
#
# CMake's own CUDA language is not needed, nor a C++ compiler but for what nvcc wants.
# moontile_add_kernels(TARGET) adds src/cuda/image.S to a target: the fatbins, or else the
# lists of kernels, which no GPU runs. MOONTILE_NVCC is the nvcc that is used, or
# empty.

set(MOONTILE_SHIPPED_ARCHS 80 89 90 90a 100 120)        # the code of 80 runs on 86
set(MOONTILE_NVCC "")
set(MOONTILE_IMAGE_COPY ${PROJECT_SOURCE_DIR}/kernels/copy/copy.def)
set(MOONTILE_IMAGE_CAST ${PROJECT_SOURCE_DIR}/kernels/cast/cast.def)
set(MOONTILE_IMAGE_MMA ${PROJECT_SOURCE_DIR}/kernels/gemm/mma.def)
set(MOONTILE_IMAGE_PIPELINE ${PROJECT_SOURCE_DIR}/kernels/gemm/mma.def)
set(MOONTILE_IMAGE_AMPERE ${PROJECT_SOURCE_DIR}/kernels/gemm/ampere.def)
set(MOONTILE_IMAGE_HOPPER ${PROJECT_SOURCE_DIR}/kernels/gemm/hopper.def)
set(MOONTILE_IMAGE_PACK ${PROJECT_SOURCE_DIR}/kernels/gemm/pack.def)
set(MOONTILE_KERNEL_INCLUDES "")
foreach(dir include src .)
  list(APPEND MOONTILE_KERNEL_INCLUDES -I ${PROJECT_SOURCE_DIR}/${dir})
endforeach()

# Why there are no kernels: a line; an error if they were asked for.
function(moontile_no_kernels why)
  if(MOONTILE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MOONTILE_CUDA is ON, but: ${why}")
  endif()
  message(STATUS "kernels: not built, ${why}")
endfunction()

# Compiles an empty kernel, once for each nvcc: its host compiler may be missing or new.
function(moontile_try_nvcc nvcc works why)
  set(dir ${PROJECT_BINARY_DIR}/kernels)
  if(NOT MOONTILE_NVCC_TRIED STREQUAL nvcc)
    file(WRITE ${dir}/try.cu "extern \"C\" __global__ void empty () {}\n")
    execute_process(COMMAND ${nvcc} -fatbin -o ${dir}/try.fatbin ${dir}/try.cu
                    RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(failed)
      string(REGEX REPLACE "\n.*" "" text "${text}")
      set(${works} FALSE PARENT_SCOPE)
      set(${why} "${text}" PARENT_SCOPE)
      return()
    endif()
    set(MOONTILE_NVCC_TRIED ${nvcc} CACHE INTERNAL "An nvcc that compiles")
  endif()
  set(${works} TRUE PARENT_SCOPE)
endfunction()

function(moontile_find_nvcc)
  if(MOONTILE_CUDA STREQUAL "OFF")
    message(STATUS "kernels: not built, MOONTILE_CUDA is OFF")
    return()
  endif()
  find_program(MOONTILE_NVCC_PROGRAM nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
               PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "Compiler of the CUDA kernels")
  mark_as_advanced(MOONTILE_NVCC_PROGRAM)
  if(NOT MOONTILE_NVCC_PROGRAM)
    moontile_no_kernels("no nvcc")
    return()
  endif()
  execute_process(COMMAND ${MOONTILE_NVCC_PROGRAM} --version
                  OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" text "${text}")
  set(version ${CMAKE_MATCH_1})
  if(NOT version VERSION_GREATER_EQUAL 12.0)
    moontile_no_kernels("nvcc ${version} is older than 12.0: ${MOONTILE_NVCC_PROGRAM}")
    return()
  endif()
  moontile_try_nvcc(${MOONTILE_NVCC_PROGRAM} works why)
  if(NOT works)
    moontile_no_kernels("${MOONTILE_NVCC_PROGRAM} fails: ${why}")
    return()
  endif()
  set(MOONTILE_NVCC ${MOONTILE_NVCC_PROGRAM} PARENT_SCOPE)
  set(MOONTILE_NVCC_VERSION ${version} PARENT_SCOPE)
endfunction()

# Those of the list that nvcc knows.
function(moontile_known_archs archs)
  set(wanted ${MOONTILE_CUDA_ARCHS})
  if(NOT wanted)
    set(wanted ${MOONTILE_SHIPPED_ARCHS})
  endif()
  execute_process(COMMAND ${MOONTILE_NVCC} --list-gpu-arch OUTPUT_VARIABLE known)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(found "")
  foreach(arch IN LISTS wanted)
    string(REGEX REPLACE "[^0-9]" "" number ${arch})
    if(number IN_LIST known)
      list(APPEND found ${arch})
    endif()
  endforeach()
  list(SORT found COMPARE NATURAL)
  set(${archs} ${found} PARENT_SCOPE)
endfunction()

# Removes an architecture where the other one is there.
macro(moontile_without archs arch other)
  if(${other} IN_LIST ${archs})
    list(REMOVE_ITEM ${archs} ${arch})
  endif()
endmacro()

# kernels/NAME.cu: machine code for each architecture, two at a time, PTX for the lowest:
# what is newer than all of them. Compressed: kernels of products are much alike. From nvcc 13 on
# that is zstd, at its smallest: drivers unpack it as soon as what is only half as small; and ptxas
# has two threads, which write the same code: hopper.cu alone keeps one busy for minutes.
# Kernels have nothing of their own for what is newer than 90: its code is made of the PTX of 90,
# so that the first half of the compiler runs once for all of them.
# MOONTILE_CUDA_QUICK: the same kernels, not optimised.
function(moontile_compile_kernels out name archs)
  set(flags -Xfatbin -compress-all --threads 2)
  if(MOONTILE_NVCC_VERSION VERSION_GREATER_EQUAL 13.0)
    list(APPEND flags -Xptxas --split-compile=2)
    if(MOONTILE_CUDA_QUICK)
      list(APPEND flags --Ofast-compile=max --compress-mode=speed)
    else()
      list(APPEND flags --compress-mode=size)
    endif()
  endif()
  foreach(arch IN LISTS archs)
    set(ptx ${arch})
    if(arch MATCHES "^[0-9]+$" AND arch GREATER 90)
      set(ptx 90)
    endif()
    list(APPEND flags -gencode arch=compute_${ptx},code=sm_${arch})
  endforeach()
  list(GET archs 0 lowest)
  list(APPEND flags -gencode arch=compute_${lowest},code=compute_${lowest})
  set(depfile ${out}.d)
  add_custom_command(OUTPUT ${out}
    COMMAND ${MOONTILE_NVCC} -fatbin -O3 -std=c++17 ${flags}
            ${MOONTILE_KERNEL_INCLUDES} -MD -MF ${depfile} -o ${out} ${PROJECT_SOURCE_DIR}/kernels/${name}.cu
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${name}.cu DEPFILE ${depfile}
    COMMENT "Compiling the CUDA kernels: ${name}, ${archs}" VERBATIM)
endfunction()

function(moontile_add_kernels target)
  set(source ${PROJECT_SOURCE_DIR}/src/cuda/image.S)
  foreach(op HOPPER AMPERE COPY CAST MMA PIPELINE PACK)   # what takes longest starts first
    if(NOT MOONTILE_IMAGE_${op})
      continue()
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${MOONTILE_IMAGE_${op}})
    set_property(SOURCE ${source} APPEND PROPERTY
                 COMPILE_DEFINITIONS "MT_IMAGE_${op}=\"${MOONTILE_IMAGE_${op}}\"")
  endforeach()
  target_sources(${target} PRIVATE ${source})
endfunction()

# A file of spec/kernels, compiled for the host: the kernels as functions. Misaligned accesses
# trap. nvcc has a C++ compiler; the project needs no other.
function(moontile_emulate list name source)
  set(object ${PROJECT_BINARY_DIR}/kernels/${name}.o)
  set(source ${PROJECT_SOURCE_DIR}/spec/kernels/${source})
  set(level -O1)
  if("${ARGN}" MATCHES "-O[023]")
    set(level "")
  endif()
  add_custom_command(OUTPUT ${object}
    COMMAND ${MOONTILE_NVCC} -x c++ -std=c++17 -c ${level} ${ARGN} -U_FORTIFY_SOURCE
            -Xcompiler -fsanitize=alignment,-fsanitize-undefined-trap-on-error,-w,-fPIC
            ${MOONTILE_KERNEL_INCLUDES} -MD -MF ${object}.d -o ${object} ${source}
    DEPENDS ${source} DEPFILE ${object}.d
    COMMENT "Compiling the kernels for the host: ${name}" VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${list} ${${list}} ${object} PARENT_SCOPE)
endfunction()

# The kernels against the reference: spec/kernels.
function(moontile_emulated_kernels)
  set(spec ${PROJECT_SOURCE_DIR}/spec/kernels)
  set(objects "")
  # A namespace for each: functions of one name are not the same ones in another.
  moontile_emulate(objects emulate_near emulate.cpp -Dmt=mt_near -DEMULATE=emulate_near -DMT_CONVERSIONS)
  moontile_emulate(objects emulate_far emulate.cpp -Dmt=mt_far -DEMULATE=emulate_far -DMT_FAR=10)
  moontile_emulate(objects emulate_mma emulate_mma.cpp -Dmt=mt_mma)
  moontile_emulate(ampere emulate_ampere emulate_ampere.cpp -Dmt=mt_ampere)
  add_library(moontile_spec_blocks STATIC EXCLUDE_FROM_ALL ${spec}/ampere.c ${ampere})
  moontile_target(moontile_spec_blocks)
  target_include_directories(moontile_spec_blocks PUBLIC ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_spec_blocks PUBLIC moontile_static)
  add_executable(moontile_kernels_test ${spec}/main.c ${spec}/copy_case.c ${spec}/own.c ${spec}/products.c ${spec}/pipelines.c ${spec}/permute_unaligned.c
                 ${spec}/rows.c ${spec}/gather.c ${spec}/bits.c ${spec}/conversions.c ${objects})
  moontile_target(moontile_kernels_test)
  target_link_libraries(moontile_kernels_test PRIVATE moontile_spec_blocks)
  moontile_test(kernels.emulated COST 60 COMMAND moontile_kernels_test)
endfunction()

# The kernels that pack operands of products.
function(moontile_emulated_packs)
  set(spec ${PROJECT_SOURCE_DIR}/spec/kernels)
  set(packs "")
  moontile_emulate(packs emulate_pack emulate_pack.cpp)
  add_executable(moontile_pack_test ${spec}/pack.c ${packs})
  moontile_target(moontile_pack_test)
  target_include_directories(moontile_pack_test PRIVATE ${PROJECT_SOURCE_DIR}/spec ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_pack_test PRIVATE moontile_spec_common moontile_static)
  moontile_test(kernels.pack COMMAND moontile_pack_test)
endfunction()

# The mutants of a family: copies of its source with a mistake each, compiled for the host.
function(moontile_mutants list family)
  set(spec ${PROJECT_SOURCE_DIR}/spec/kernels)
  set(folder ${PROJECT_BINARY_DIR}/kernels/${family}_mutants)
  set(mutants ${spec}/${family}_mutants.cmake)
  file(GLOB sources ${PROJECT_SOURCE_DIR}/kernels/gemm/*.cuh ${PROJECT_SOURCE_DIR}/kernels/copy/*.cuh)
  add_custom_command(OUTPUT ${folder}/mutants.inc
    COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D LIST=${mutants} -D FOLDER=${folder}
            -P ${spec}/mutants.cmake
    DEPENDS ${spec}/mutants.cmake ${mutants} ${sources}
    COMMENT "Planting mutants in the kernels: ${family}" VERBATIM)
  moontile_emulate(${list} emulate_${family}_mutants emulate_${family}_mutants.cpp -I ${folder} ${ARGN})
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/kernels/emulate_${family}_mutants.o APPEND
                     DEPENDS ${folder}/mutants.inc)
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# Clusters of sm_90 on the host, and the products that they compute.
function(moontile_emulated_clusters)
  set(spec ${PROJECT_SOURCE_DIR}/spec/kernels)
  set(clusters "")
  foreach(name cluster copies warpgroup)
    moontile_emulate(clusters ${name} ${name}.cpp -O3)
  endforeach()
  moontile_emulate(clusters emulate_hopper emulate_hopper.cpp)
  moontile_emulate(clusters activation activation.cpp)
  set_source_files_properties(${spec}/hopper_case.c PROPERTIES COMPILE_OPTIONS -O3)   # its products
  add_library(moontile_spec_clusters STATIC EXCLUDE_FROM_ALL ${spec}/hopper_case.c ${spec}/hopper_draw.c
              ${clusters})
  moontile_target(moontile_spec_clusters)
  target_include_directories(moontile_spec_clusters PUBLIC ${PROJECT_SOURCE_DIR}/spec ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_spec_clusters PUBLIC moontile_spec_common moontile_static)
  add_executable(moontile_hopper_test ${spec}/hopper.c)
  moontile_target(moontile_hopper_test)
  target_link_libraries(moontile_hopper_test PRIVATE moontile_spec_clusters)
  moontile_test(kernels.hopper COMMAND moontile_hopper_test COST 60)
endfunction()

# Mistakes in kernels, which the emulation has to find.
function(moontile_emulated_mutants)
  set(spec ${PROJECT_SOURCE_DIR}/spec/kernels)
  foreach(family hopper ampere)
    set(planted "")
    moontile_mutants(planted ${family})
    add_executable(moontile_${family}_mutants_test ${spec}/${family}_mutants.c ${planted})
    moontile_target(moontile_${family}_mutants_test)
    moontile_test(kernels.${family}_mutants COMMAND moontile_${family}_mutants_test COST 50)
  endforeach()
  set(planted "")
  moontile_mutants(planted pipeline)
  add_executable(moontile_pipeline_mutants_test ${spec}/pipeline_mutants.c ${spec}/products.c
                 ${spec}/pipelines.c ${planted})
  moontile_target(moontile_pipeline_mutants_test)
  target_include_directories(moontile_pipeline_mutants_test PRIVATE ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_pipeline_mutants_test PRIVATE moontile_static)
  moontile_test(kernels.pipeline_mutants COST 5 COMMAND moontile_pipeline_mutants_test)
  set(planted "")
  # They run for seconds, and are compiled in half the time.
  moontile_mutants(planted copy -O0 -Xcompiler -fno-exceptions)
  add_executable(moontile_copy_mutants_test ${spec}/copy_mutants.c ${spec}/copy_case.c ${spec}/permute_unaligned.c
                 ${spec}/rows.c ${spec}/gather.c ${spec}/bits.c ${planted})
  moontile_target(moontile_copy_mutants_test)
  target_include_directories(moontile_copy_mutants_test PRIVATE ${MOONTILE_INCLUDES})
  target_link_libraries(moontile_copy_mutants_test PRIVATE moontile_static)
  moontile_test(kernels.copy_mutants COST 10 COMMAND moontile_copy_mutants_test)
  target_link_libraries(moontile_hopper_mutants_test PRIVATE moontile_spec_clusters)
  target_link_libraries(moontile_ampere_mutants_test PRIVATE moontile_spec_blocks moontile_spec_common)
endfunction()

moontile_find_nvcc()
if(MOONTILE_NVCC AND MOONTILE_TESTS)
  cmake_language(DEFER CALL moontile_emulated_kernels)
  cmake_language(DEFER CALL moontile_emulated_packs)
  cmake_language(DEFER CALL moontile_emulated_clusters)
  cmake_language(DEFER CALL moontile_emulated_mutants)
endif()
if(MOONTILE_NVCC)
  get_filename_component(dir ${MOONTILE_NVCC} REALPATH)
  get_filename_component(dir ${dir}/../../include ABSOLUTE)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/spec/cuda/prototypes.c PROPERTIES
                              COMPILE_OPTIONS "-isystem;${dir}")
  moontile_known_archs(archs)
  if(archs)
    list(JOIN archs " sm_" text)
    # Copies gain nothing from 90a, nor from 89 but an instruction for conversions to 8 bits, which
    # the code of 80 makes of others. Nothing gains from 86, and 90a has all of 90.
    set(mma_archs ${archs})
    moontile_without(archs 90a 90)
    moontile_without(archs 89 80)
    moontile_without(mma_archs 90 90a)
    moontile_without(mma_archs 86 80)
    set(MOONTILE_IMAGE_COPY ${PROJECT_BINARY_DIR}/kernels/copy.fatbin)
    set(MOONTILE_IMAGE_CAST "")            # the image of the copies has them
    set(MOONTILE_IMAGE_MMA ${PROJECT_BINARY_DIR}/kernels/mma.fatbin)
    moontile_compile_kernels(${MOONTILE_IMAGE_COPY} copy/copy "${archs}")
    moontile_compile_kernels(${MOONTILE_IMAGE_MMA} gemm/mma "${mma_archs}")
    set(MOONTILE_IMAGE_PIPELINE ${PROJECT_BINARY_DIR}/kernels/pipeline.fatbin)
    moontile_compile_kernels(${MOONTILE_IMAGE_PIPELINE} gemm/pipeline "${mma_archs}")
    # Those of sm_80 run on 86 and 89; what is newer than 90 takes the PTX.
    set(ampere_archs ${mma_archs})
    list(FILTER ampere_archs INCLUDE REGEX "^(80|90)")
    if(ampere_archs)
      set(MOONTILE_IMAGE_AMPERE ${PROJECT_BINARY_DIR}/kernels/ampere.fatbin)
      moontile_compile_kernels(${MOONTILE_IMAGE_AMPERE} gemm/ampere "${ampere_archs}")
    endif()
    if(90a IN_LIST mma_archs)
      set(MOONTILE_IMAGE_HOPPER ${PROJECT_BINARY_DIR}/kernels/hopper.fatbin)
      set(MOONTILE_IMAGE_PACK ${PROJECT_BINARY_DIR}/kernels/pack.fatbin)
      moontile_compile_kernels(${MOONTILE_IMAGE_HOPPER} gemm/hopper 90a)
      moontile_compile_kernels(${MOONTILE_IMAGE_PACK} gemm/pack 90a)
    endif()
    message(STATUS "kernels: nvcc ${MOONTILE_NVCC_VERSION}, for sm_${text}")
  else()
    moontile_no_kernels("${MOONTILE_NVCC} knows none of ${MOONTILE_CUDA_ARCHS}")
    set(MOONTILE_NVCC "")
  endif()
endif()
moontile_add_kernels(moontile_core)
