# targets.cmake: the libraries, the Lua module, the program.
# SPDX-License-Identifier: MIT

# The core, compiled once, for both libraries and for the module: a list of files for each room
# of src/rooms.txt, but for those of Lua: the binding, the interpreter, what the program has.
set(SRC ${PROJECT_SOURCE_DIR}/src)
set(MOONTILE_INCLUDES ${PROJECT_SOURCE_DIR}/include ${SRC} ${PROJECT_SOURCE_DIR})
file(STRINGS ${SRC}/rooms.txt rooms REGEX "^[a-z]+ ")
list(TRANSFORM rooms REPLACE " .*" "")
set(MOONTILE_CORE_SOURCES ${SRC}/backends.c)
foreach(room IN LISTS rooms)
  file(GLOB MOONTILE_SOURCES_${room} CONFIGURE_DEPENDS ${SRC}/${room}/*.c)
  if(NOT room MATCHES "^(binding|vm|console)$")
    list(APPEND MOONTILE_CORE_SOURCES ${MOONTILE_SOURCES_${room}})
  endif()
endforeach()
add_library(moontile_core OBJECT ${MOONTILE_CORE_SOURCES})
target_include_directories(moontile_core PRIVATE ${MOONTILE_INCLUDES})
moontile_target(moontile_core)
# The inner loops of a product: a * b + c is one operation where the processor has it.
set_source_files_properties(${SRC}/cpu/gemm_micro.c PROPERTIES
                            COMPILE_OPTIONS -ffp-contract=fast)

# The loops of a conversion: both ways of a choice are computed, as vectors do it.
set_source_files_properties(${SRC}/cpu/copy_convert.c ${SRC}/cpu/copy_direct.c PROPERTIES
  COMPILE_OPTIONS "-fno-trapping-math;$<$<CONFIG:RelWithDebInfo>:-O3>")

foreach(name gemm_micro copy_convert copy_direct copy_tile copy_gather copy_gather_move
        copy_turn)
  set_property(SOURCE ${SRC}/cpu/${name}.c APPEND PROPERTY
               COMPILE_OPTIONS ${MOONTILE_UNGUARDED})
endforeach()

# gcc 12 does not always align vectors of 64 bytes on the stack that AddressSanitizer keeps for
# what has returned: here they lie on the usual one.
if(MOONTILE_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set_property(SOURCE ${SRC}/cpu/gemm_micro.c APPEND PROPERTY
               COMPILE_OPTIONS --param=asan-use-after-return=0)
endif()

# The algebra, and the searches that plan a copy, are small functions that call each other: they
# are worth inlining.
foreach(name core/build core/coalesce algebra/complement algebra/compose algebra/divide
        desc/axes copy/banks copy/cost copy/gather_moves copy/gather_search copy/gather_tiles
        copy/permute_smem copy/permute_unaligned copy/permute_unaligned_smem copy/run
        copy/staged copy/staged_cost)
  set_source_files_properties(${SRC}/${name}.c PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O3>)
endforeach()

function(moontile_core_library name kind export)
  add_library(${name} ${kind} $<TARGET_OBJECTS:moontile_core>)
  add_library(moontile::${export} ALIAS ${name})
  moontile_target(${name})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME moontile EXPORT_NAME ${export})
endfunction()

# While the major version is 0 each minor version may break the binary interface.
moontile_core_library(moontile_shared SHARED moontile)
set_target_properties(moontile_shared PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(moontile_shared PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
set(MOONTILE_MAP ${PROJECT_BINARY_DIR}/library.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/library.map.in ${MOONTILE_MAP} @ONLY)
target_link_options(moontile_shared PRIVATE "LINKER:--version-script=${MOONTILE_MAP}")
set_target_properties(moontile_shared PROPERTIES LINK_DEPENDS ${MOONTILE_MAP})

moontile_core_library(moontile_static STATIC moontile_static)
target_link_libraries(moontile_static PUBLIC Threads::Threads m ${CMAKE_DL_LIBS})

if(NOT MOONTILE_LUA)
  return()
endif()

# The Lua files travel inside the binding: nothing has to be found at run time.
file(GLOB_RECURSE MOONTILE_LUA_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lua/moontile/*.lua)
set(MOONTILE_EMBED ${PROJECT_BINARY_DIR}/moontile_embed.c)
add_custom_command(OUTPUT ${MOONTILE_EMBED}
  COMMAND ${CMAKE_COMMAND} -DOUT=${MOONTILE_EMBED} -DDIR=${PROJECT_SOURCE_DIR}/lua/moontile
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${MOONTILE_LUA_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Embedding lua/moontile" VERBATIM)

add_library(moontile_binding OBJECT ${MOONTILE_SOURCES_binding} ${MOONTILE_EMBED})
target_include_directories(moontile_binding PRIVATE ${MOONTILE_INCLUDES})
target_include_directories(moontile_binding SYSTEM PUBLIC ${MOONTILE_LUA_INCLUDE_DIR})
moontile_target(moontile_binding)

# The limited interpreter, which brings Lua's libraries.
add_library(moontile_vm OBJECT ${MOONTILE_SOURCES_vm})
target_include_directories(moontile_vm PRIVATE ${MOONTILE_INCLUDES})
target_include_directories(moontile_vm SYSTEM PUBLIC ${MOONTILE_LUA_INCLUDE_DIR})
moontile_target(moontile_vm)

add_library(moontile_lua STATIC $<TARGET_OBJECTS:moontile_binding> $<TARGET_OBJECTS:moontile_vm>)
add_library(moontile::lua ALIAS moontile_lua)
moontile_target(moontile_lua)
target_link_libraries(moontile_lua PUBLIC moontile_static)
set_target_properties(moontile_lua PROPERTIES EXPORT_NAME lua)
# The Lua that was found, for who links it, unless a host has its own (moontileConfig.cmake.in does
# the same for what is installed).
if(NOT MOONTILE_HOST_LUA)
  target_include_directories(moontile_lua SYSTEM INTERFACE
    $<BUILD_INTERFACE:${MOONTILE_LUA_INCLUDE_DIR}>)
  if(MOONTILE_LUA_LIBRARY)
    target_link_libraries(moontile_lua INTERFACE
      $<BUILD_INTERFACE:${MOONTILE_LUA_LIBRARY}> $<BUILD_INTERFACE:m> $<BUILD_INTERFACE:${CMAKE_DL_LIBS}>)
  endif()
endif()

# A Lua module takes its Lua from the interpreter: it must not be linked with one.
add_library(moontile_module MODULE $<TARGET_OBJECTS:moontile_core> $<TARGET_OBJECTS:moontile_binding>)
moontile_target(moontile_module)
target_link_libraries(moontile_module PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
set_target_properties(moontile_module PROPERTIES PREFIX "" OUTPUT_NAME moontile
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/module.map)
target_link_options(moontile_module PRIVATE
  "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/module.map")

if(MOONTILE_LUA_LIBRARY AND EXISTS ${SRC}/main.c)
  add_executable(moontile_program ${SRC}/main.c ${MOONTILE_SOURCES_console})
  moontile_target(moontile_program)
  target_include_directories(moontile_program PRIVATE ${SRC})
  target_link_libraries(moontile_program PRIVATE moontile_lua moontile_liblua)
  set_target_properties(moontile_program PROPERTIES OUTPUT_NAME moontile ENABLE_EXPORTS ON)
elseif(NOT MOONTILE_LUA_LIBRARY)
  message(STATUS "moontile: no Lua library was found; the program is not built")
endif()
