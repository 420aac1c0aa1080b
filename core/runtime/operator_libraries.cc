#include "core/runtime/operator_libraries.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>

namespace pareto::runtime {
namespace {

Expected<> load(const std::string& file) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(file, status)) {
    return fail(ErrorCode::kNotFound, "{}: no such file", file);
  }
  // A path without a slash would be looked for elsewhere.
  const std::string path = std::filesystem::absolute(file).string();
  try {
    if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file, error.what());
  }
  const char* reason = ::dlerror();
  return fail(ErrorCode::kInvalidArgument,
              "{}: it cannot be loaded ({}); it must be built for this machine and LibTorch, and "
              "without Python",
              file, reason == nullptr ? "no reason is known" : reason);
}

}  // namespace

Expected<> load_operator_libraries(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    PARETO_TRY(with_context(load(file), "library of operators"));
  }
  return {};
}

}  // namespace pareto::runtime
