# pareto_library(core_wire PUBLIC core_tensor PRIVATE xxhash [TORCH]): the target of one folder, all its *.cc but main.cc.
# TORCH gives it LibTorch and the shared precompiled header; nothing else may include LibTorch.
function(pareto_library name)
  cmake_parse_arguments(ARG "TORCH" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE pareto_options ${ARG_PUBLIC})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC pareto_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_TORCH)
    pareto_use_torch(${name})
  endif()
endfunction()

# LibTorch headers cost 10-16 s a file: every target that sees them reuses one precompiled header.
function(pareto_use_torch name)
  target_link_libraries(${name} PRIVATE pareto_torch)
  if(NOT TARGET pareto_torch_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cc "// holds the precompiled LibTorch header\n")
    add_library(pareto_torch_pch OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cc)
    # Only what every user of it has as well: a definition that one of them lacks makes the header invalid there.
    target_link_libraries(pareto_torch_pch PRIVATE pareto_options pareto_torch fmt::fmt)
    target_precompile_headers(pareto_torch_pch PRIVATE <torch/script.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM pareto_torch_pch)
endfunction()

set(PARETO_TEST_PATIENCE 1 CACHE STRING "how many times as long as usual tests wait for programs, and may take: for emulated ones")

# pareto_test(core_wire_test core/wire LINK core_wire …): one test program for the *_test.cc of tests/<folder>.
# LABELS core|daemon|e2e…: `ctest -L` picks them; sanitizer runs use core, daemon and e2e.
function(pareto_test name folder)
  cmake_parse_arguments(ARG "TORCH" "TIMEOUT" "LINK;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cc)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE pareto_options ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PARETO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                             PARETO_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  if(ARG_TORCH)
    pareto_use_torch(${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  math(EXPR timeout "${ARG_TIMEOUT} * ${PARETO_TEST_PATIENCE}")
  add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${CMAKE_BINARY_DIR}/results/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${timeout}
                       ENVIRONMENT
                       "OPENBLAS_NUM_THREADS=1;PARETO_TEST_PATIENCE=${PARETO_TEST_PATIENCE};TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp")
endfunction()
