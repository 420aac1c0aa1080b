# Compiler, linker, warnings, sanitizers.
find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header hides its includes from ccache unless it is told what may differ.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
find_program(MOLD mold)
# Debian's cross compilers find no linker but their own.
if(MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

# g++ looks for what it may free each time its heap has doubled, which takes a tenth of a build. If
# there is memory for all compilers that run at once, it frees nothing.
cmake_host_system_information(RESULT memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR compilers_mib "2500 * (${processors} + 2)")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory_mib GREATER compilers_mib)
  add_compile_options(--param=ggc-min-heapsize=4000000)
endif()

option(PARETO_WERROR "warnings are errors; OFF for compilers and libraries that nobody has tried" ON)
add_library(pareto_options INTERFACE)
target_compile_options(pareto_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor $<$<BOOL:${PARETO_WERROR}>:-Werror>
                       # g++ 12 warns of overlap inside std::string concatenation (GCC bug 105651).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  # Notes of g++ that calls changed in its version 10.1: all of us is built with a later one.
  target_compile_options(pareto_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi>)
endif()
target_include_directories(pareto_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(pareto_options INTERFACE PARETO_VERSION="${PROJECT_VERSION}" ASIO_STANDALONE)

# Clang's libFuzzer, for tests/fuzz: libraries count the branches taken.
option(PARETO_FUZZ "build the fuzzers (clang only)" OFF)
if(PARETO_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PARETO_FUZZ takes clang: configure with --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

set(PARETO_SANITIZE "" CACHE STRING "sanitizers, as in -fsanitize=")
if(PARETO_SANITIZE)
  add_compile_options(-fsanitize=${PARETO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -Og -g1)
  add_link_options(-fsanitize=${PARETO_SANITIZE})
  if(PARETO_SANITIZE MATCHES "undefined")
    # This check asks by a pipe whether memory may be read. A daemon that has no descriptor left is
    # then told that sound objects are none. LibTorch keeps some of the type information that it
    # needs to itself, too.
    add_compile_options(-fno-sanitize=vptr)
    # A quarter of a build is checks before each access. Null pointers and what lies outside of an
    # object are found by the sanitizer of addresses, too. What comes from peers and files unaligned
    # is found by the fuzzers, which have these checks.
    if(NOT PARETO_FUZZ)
      add_compile_options(-fno-sanitize=null,alignment,object-size)
    endif()
  endif()
  # g++ 12 sees an uninitialised value in std::variant and std::optional where sanitizers inline
  # differently.
  target_compile_options(pareto_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
