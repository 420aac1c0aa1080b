// LibTorch's headers and calls that differ between versions, in one place. Sees LibTorch: for
// sources of core/runtime and partitioner/{graph,models,emit} and their tests only.
#pragma once

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/script.h>
#include <torch/version.h>

#include <optional>
#include <string>

namespace pareto::runtime {

/// Returns "1.13.1": bits are comparable within one version only.
inline std::string torch_version() { return TORCH_VERSION; }

/// c10::optional became std::optional in LibTorch 2.x.
template <typename Optional>
auto to_std(const Optional& value) {
  using T = std::decay_t<decltype(*value)>;
  return value ? std::optional<T>(*value) : std::nullopt;
}

/// Returns the first line of what LibTorch has to say that is not empty, without its backtrace.
inline std::string first_line(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  if (const auto* raised = dynamic_cast<const torch::jit::JITException*>(&error)) {
    text = to_std(raised->getOriginalMsg()).value_or(text);
  }
  // An error raised inside a graph begins with where, and ends with what: "RuntimeError: …".
  if (const auto at = text.rfind("RuntimeError: "); at != std::string::npos) text.erase(0, at + 14);
  // A parser's error begins with an empty line.
  text.erase(0, text.find_first_not_of(" \n"));
  return text.substr(0, text.find('\n'));
}

#if TORCH_VERSION_MAJOR >= 2
namespace warning_api = c10::WarningUtils;
#else
namespace warning_api = c10::Warning;
#endif

/// Drops LibTorch's warnings: passes repeat them for every node, and they speak to authors of
/// models.
class DropWarnings : public c10::WarningHandler {
 public:
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning&) override {}
#else
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
#endif
};

}  // namespace pareto::runtime
