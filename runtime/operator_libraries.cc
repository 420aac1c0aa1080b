#include "runtime/operator_libraries.h"

#include <dlfcn.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <exception>
#include <filesystem>
#include <set>

#include "runtime/archive/operator_review.h"

namespace pareto::runtime {
namespace {

std::set<std::string> registered_operators() {
  std::set<std::string> names;
  for (const auto& known : torch::jit::getAllOperators()) {
    names.insert(known->schema().name());
  }
  return names;
}

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
  if (files.empty()) return {};
  const std::set<std::string> before = registered_operators();
  for (const std::string& file : files) {
    PARETO_TRY(with_context(load(file), "library of operators"));
  }
  for (const std::string& name : registered_operators()) {
    if (!before.contains(name)) allow_operator(name);
  }
  return {};
}

}  // namespace pareto::runtime
