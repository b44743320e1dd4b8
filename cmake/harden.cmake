# harden.cmake: what makes mistakes of memory harder to exploit, in our own targets.
# SPDX-License-Identifier: MIT
#
# MOONTILE_HARDENED lists what this compiler has: fortify, stack-protector, stack-clash, cf,
# relro, now, pie. Not with sanitizers, which look at the same things. A definition of
# _FORTIFY_SOURCE by the compiler, its flags or a parent stands.

set(MOONTILE_HARDENED "")
set(MOONTILE_HARDEN_LINK "")             # what is linked; not what others link with ours
if(NOT MOONTILE_HARDEN OR MOONTILE_SANITIZE OR MOONTILE_TSAN)
  return()
endif()
include(CheckCSourceCompiles)
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# Adds the flag `flag` of the compiler under the name `name`.
function(moontile_harden name flag)
  string(MAKE_C_IDENTIFIER MOONTILE_HAS_${name} variable)
  check_c_compiler_flag(${flag} ${variable})
  if(${variable})
    target_compile_options(moontile_flags INTERFACE $<$<COMPILE_LANGUAGE:C,ASM>:${flag}>)
    set(MOONTILE_HARDENED ${MOONTILE_HARDENED} ${name} PARENT_SCOPE)
  endif()
endfunction()

function(moontile_harden_link name)
  string(MAKE_C_IDENTIFIER MOONTILE_HAS_${name} variable)
  check_linker_flag(C LINKER:-z,${name} ${variable})
  if(${variable})
    set(MOONTILE_HARDEN_LINK ${MOONTILE_HARDEN_LINK} LINKER:-z,${name} PARENT_SCOPE)
    set(MOONTILE_HARDENED ${MOONTILE_HARDENED} ${name} PARENT_SCOPE)
  endif()
endfunction()

moontile_harden(stack-protector -fstack-protector-strong)
moontile_harden(stack-clash -fstack-clash-protection)
# Inner loops, which are called for each tile.
set(MOONTILE_UNGUARDED "")
foreach(name stack-protector stack-clash)
  if(name IN_LIST MOONTILE_HARDENED)
    string(REPLACE stack-clash stack-clash-protection flag -fno-${name})
    list(APPEND MOONTILE_UNGUARDED ${flag})
  endif()
endforeach()
moontile_harden(cf -fcf-protection)
moontile_harden_link(relro)
moontile_harden_link(now)

# What is optimised can be checked. Level 3 would compute sizes in inner loops.
set(CMAKE_REQUIRED_FLAGS -O2)
check_c_source_compiles("#ifdef _FORTIFY_SOURCE\n#error\n#endif\nint main (void) { return 0; }"
                        MOONTILE_NO_FORTIFY)
unset(CMAKE_REQUIRED_FLAGS)
get_directory_property(given COMPILE_DEFINITIONS)
get_directory_property(options COMPILE_OPTIONS)
if(MOONTILE_NO_FORTIFY AND NOT "${given} ${options}" MATCHES _FORTIFY_SOURCE)
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  target_compile_options(moontile_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:C>,${optimised}>:-D_FORTIFY_SOURCE=2>)
endif()
if(NOT MOONTILE_NO_FORTIFY OR CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  list(APPEND MOONTILE_HARDENED fortify)
endif()

check_pie_supported(LANGUAGES C)
if(CMAKE_C_LINK_PIE_SUPPORTED)
  list(APPEND MOONTILE_HARDENED pie)
endif()
