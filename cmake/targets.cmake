option(PARETO_UNITY "compile a target's sources two dozen at a time, which takes a quarter of the time" ON)
# pareto_unite(core_wire): compiles its sources two dozen at a time. They are one text to the
# compiler, so helpers in their unnamed namespaces must not be called alike.
function(pareto_unite name)
  if(PARETO_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
    # g++ takes a source that another one includes for a header, in which a class should not have
    # members of its own unnamed namespace.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# pareto_optimise_less(client_lib): for what takes next to no time when it runs, because it waits,
# reads, writes, or calls what is hot. That saves up to half of its build.
function(pareto_optimise_less name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# pareto_library(core_wire PUBLIC core_tensor PRIVATE xxhash [TORCH] [COLD]): the target of one
# folder, all its *.cc but main.cc, and but those of folders in it that are targets of their own.
# COLD: it is optimised less.
# TORCH gives it LibTorch and the shared precompiled header; nothing else may include LibTorch.
function(pareto_library name)
  cmake_parse_arguments(ARG "TORCH;COLD" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  file(GLOB targets RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(target ${targets})
    get_filename_component(folder ${target} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE pareto_options ${ARG_PUBLIC})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC pareto_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  set(cold)
  if(ARG_COLD)
    set(cold COLD)
    pareto_optimise_less(${name})
  endif()
  pareto_unite(${name})
  if(ARG_TORCH)
    pareto_use_torch(${name} ${cold})
  elseif(ARG_COLD OR NOT CMAKE_BUILD_TYPE STREQUAL Release)
    pareto_use_standard(${name})
  endif()
endfunction()

# pareto_precompile(runtime pareto_torch_pch <torch/script.h> …): those headers are precompiled
# once, as PCH, for all that name it.
function(pareto_precompile name pch)
  if(NOT TARGET ${pch})
    file(WRITE ${CMAKE_BINARY_DIR}/${pch}.cc "// holds precompiled headers\n")
    add_library(${pch} OBJECT ${CMAKE_BINARY_DIR}/${pch}.cc)
    # Only what every user of it has as well: a definition that one of them lacks makes the header
    # invalid there.
    target_link_libraries(${pch} PRIVATE pareto_options fmt::fmt)
    target_precompile_headers(${pch} PRIVATE ${ARGN})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${pch})
endfunction()

# What most sources of ours without LibTorch include is precompiled too. Not at -O3: g++ 12 has more
# false warnings there if headers are.
function(pareto_use_standard name)
  target_link_libraries(${name} PRIVATE fmt::fmt)
  set(options -pthread)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    list(APPEND options -O1)
  endif()
  target_compile_options(${name} PRIVATE ${options})
  pareto_precompile(${name} pareto_standard_pch <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <filesystem>
                    <fmt/format.h> <functional> <map> <memory> <mutex> <nlohmann/json.hpp> <optional> <set> <span> <string> <thread>
                    <tl/expected.hpp> <vector>)
  target_compile_options(pareto_standard_pch PRIVATE ${options})
endfunction()

# LibTorch headers cost 10-16 s a file: every target that sees them reuses one precompiled header.
# COLD: optimised less, as in pareto_library. TEST: as in pareto_compile_as_test. Such targets share
# a header of their own, because the compiler takes only one that was made with the same options.
function(pareto_use_torch name)
  cmake_parse_arguments(ARG "COLD;TEST" "" "" ${ARGN})
  set(pch pareto_torch_pch)
  # Those that see protobuf have it anyway.
  set(options -pthread)
  if(ARG_TEST)
    set(pch pareto_torch_test_pch)
    set(options ${PARETO_TEST_OPTIONS})
  elseif(ARG_COLD AND CMAKE_BUILD_TYPE STREQUAL Release)
    set(pch pareto_torch_cold_pch)
    # At -O1 g++ 14 sees an uninitialised value in a header of LibTorch 2.
    list(APPEND options -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  target_link_libraries(${name} PRIVATE pareto_torch)
  target_compile_options(${name} PRIVATE ${options})
  pareto_precompile(${name} ${pch} <torch/script.h>)
  target_link_libraries(${pch} PRIVATE pareto_torch)
  target_compile_options(${pch} PRIVATE ${options})
endfunction()

# What tests themselves do takes no time: that they are built soon matters more. Those that see
# protobuf have -pthread anyway.
set(PARETO_TEST_OPTIONS -O0 -pthread)
if(PARETO_SANITIZE MATCHES undefined)
  # It is looked for in what they test.
  list(APPEND PARETO_TEST_OPTIONS -fno-sanitize=undefined)
endif()

# pareto_compile_as_test(e2e_test [TORCH]): not optimised, and with precompiled headers. It links
# GoogleTest.
function(pareto_compile_as_test name)
  if("TORCH" IN_LIST ARGN)
    pareto_use_torch(${name} TEST)
    return()
  endif()
  target_compile_options(${name} PRIVATE ${PARETO_TEST_OPTIONS})
  pareto_precompile(${name} pareto_test_pch <algorithm> <chrono> <filesystem> <fstream> <functional> <gmock/gmock.h> <gtest/gtest.h>
                    <map> <memory> <nlohmann/json.hpp> <optional> <set> <string> <thread> <vector>)
  target_link_libraries(pareto_test_pch PRIVATE GTest::gmock)
  target_compile_options(pareto_test_pch PRIVATE ${PARETO_TEST_OPTIONS})
endfunction()

set(PARETO_TEST_PATIENCE 1 CACHE STRING "how many times as long as usual tests wait for programs, and may take: for emulated ones")

# pareto_run_test(e2e_long_test e2e_test …) adds a test that runs cases of a program, with the
# arguments of pareto_test. Tests of one LOCK, by default the program, run one at a time. Those that
# take longest begin first. COMMAND: that file instead, and PROGRAMS the folder of what it tests, if
# it is another build's.
function(pareto_run_test name program)
  cmake_parse_arguments(ARG "" "TIMEOUT;SHARDS;FILTER;LOCK;COMMAND;PROGRAMS" "LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  math(EXPR timeout "${ARG_TIMEOUT} * ${PARETO_TEST_PATIENCE}")
  set(environment OPENBLAS_NUM_THREADS=1 GOMP_SPINCOUNT=3000 PARETO_TEST_PATIENCE=${PARETO_TEST_PATIENCE}
      TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
  if(ARG_FILTER)
    list(APPEND environment GTEST_FILTER=${ARG_FILTER})
  endif()
  if(ARG_PROGRAMS)
    list(APPEND environment PARETO_PROGRAMS=${ARG_PROGRAMS})
  endif()
  if(NOT ARG_COMMAND)
    set(ARG_COMMAND ${program})
  endif()
  set(shards 1)
  if(ARG_SHARDS)
    set(shards ${ARG_SHARDS})
  endif()
  math(EXPR last "${shards} - 1")
  if(NOT ARG_LOCK)
    set(ARG_LOCK ${program})
  endif()
  foreach(shard RANGE ${last})
    set(test ${name})
    if(ARG_SHARDS)
      set(test ${name}.${shard})
    endif()
    add_test(NAME ${test} COMMAND ${ARG_COMMAND} --gtest_output=xml:${CMAKE_BINARY_DIR}/results/${test}.xml)
    set_tests_properties(${test} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${timeout} RESOURCE_LOCK ${ARG_LOCK} COST ${timeout}
                         ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# pareto_test(core_wire_test core/wire LINK core_wire …): one test program for the *_test.cc of
# tests/<folder>.
# LABELS core|daemon|e2e…: `ctest -L` picks them. The sanitizer of addresses runs those with the
# label bytes, that of threads those with threads.
# SHARDS n: as n tests, name.0 …, one at a time: what is tried again, or times out (TIMEOUT seconds
# each), is a part of it.
# FILTER: only those of its cases, as --gtest_filter says it.
# LONG: those take long; `./dev test --all` runs them, as name.long.
function(pareto_test name folder)
  cmake_parse_arguments(ARG "TORCH" "TIMEOUT;SHARDS;FILTER;LONG" "LINK;LABELS" ${ARGN})
  if(ARG_FILTER AND ARG_LONG)
    message(FATAL_ERROR "${name}: FILTER or LONG, not both")
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cc)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE pareto_options ${ARG_LINK} fmt::fmt GTest::gmock test_main)
  target_compile_definitions(${name} PRIVATE PARETO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             PARETO_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  pareto_unite(${name})
  set(torch)
  if(ARG_TORCH)
    set(torch TORCH)
  endif()
  pareto_compile_as_test(${name} ${torch})
  # `./dev portability arm64` has a filter of its own.
  if(ARG_LONG AND NOT CMAKE_CROSSCOMPILING)
    set(ARG_FILTER -${ARG_LONG})
    pareto_run_test(${name}.long ${name} TIMEOUT 600 FILTER ${ARG_LONG} LABELS long)
  endif()
  pareto_run_test(${name} ${name} SHARDS "${ARG_SHARDS}" TIMEOUT "${ARG_TIMEOUT}" FILTER "${ARG_FILTER}" LABELS ${ARG_LABELS})
endfunction()
