#include "core/base/blas_kernels.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/support/environment.h"

namespace pareto {
namespace {

TEST(BlasKernels, OfProcessorsThatOpenBlasKnowsStay) {
  for (const char* const taken :
       {"SkylakeX", "Haswell", "Zen", "Cooperlake", "Nehalem", "", "armv8"}) {
    EXPECT_EQ(kernels_instead_of(taken), nullptr) << taken;
  }
}

TEST(BlasKernels, OfAnOldProcessorAreReplacedByThoseThatThisOneRuns) {
  const char* const better = kernels_instead_of("Prescott");
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    ASSERT_NE(better, nullptr);
    const bool wide = __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    EXPECT_EQ(better, std::string(wide ? "SkylakeX" : "Haswell"));
    return;
  }
#endif
  EXPECT_EQ(better, nullptr);
}

TEST(BlasKernels, WhatTheEnvironmentSaysStays) {
  const test::EnvironmentVariable said("OPENBLAS_CORETYPE", "Prescott");
  EXPECT_FALSE(choose_blas_kernels());
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Prescott");
}

TEST(BlasKernels, OpenBlasIsAskedByProgramsThatHaveNone) {
  const test::EnvironmentVariable unsaid("OPENBLAS_CORETYPE", nullptr);
  ASSERT_EQ(::dlsym(RTLD_DEFAULT, "openblas_get_corename"), nullptr);
  const std::unique_ptr<void, int (*)(void*)> library(
      ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL),
      [](void* one) { return ::dlclose(one); });
  const char* better = nullptr;
  if (library != nullptr) {
    const auto taken =
        reinterpret_cast<const char* (*)()>(::dlsym(library.get(), "openblas_get_corename"));
    ASSERT_NE(taken, nullptr);
    better = kernels_instead_of(taken());
  }
  EXPECT_EQ(choose_blas_kernels(), better != nullptr);
  EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), better);
}

}  // namespace
}  // namespace pareto
