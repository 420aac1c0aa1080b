#include "core/base/blas_kernels.h"

#include <dlfcn.h>

#include <cstdlib>

namespace pareto {

const char* kernels_instead_of(std::string_view taken) {
  if (taken != "Prescott") return nullptr;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

bool choose_blas_kernels() {
  constexpr const char* kChoice = "OPENBLAS_CORETYPE";
  if (std::getenv(kChoice) != nullptr) return false;
  // Looked up at run time: programs may have another BLAS, or none.
  constexpr const char* kName = "openblas_get_corename";
  void* library = nullptr;
  void* name = ::dlsym(RTLD_DEFAULT, kName);
  if (name == nullptr) {
    library = ::dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    name = ::dlsym(library, kName);
  }
  const auto taken = reinterpret_cast<const char* (*)()>(name);
  const char* const better = taken == nullptr ? nullptr : kernels_instead_of(taken());
  if (library != nullptr) ::dlclose(library);
  return better != nullptr && ::setenv(kChoice, better, 0) == 0;
}

}  // namespace pareto
