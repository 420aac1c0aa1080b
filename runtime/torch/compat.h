// LibTorch's headers and calls that differ between versions, in one place. Sees LibTorch: for
// sources of runtime and partitioner/model and their tests only.
#pragma once

#include <ATen/autocast_mode.h>
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

/// Lets operators of the calling thread compute in bf16 what may be, for as long as it exists.
class AutocastScope {
 public:
  AutocastScope(bool enabled, bool cuda) : cuda_(cuda), before_(is_enabled()) {
    if (enabled) set_dtype();
    set_enabled(enabled);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    set_enabled(before_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::DeviceType type() const { return cuda_ ? at::kCUDA : at::kCPU; }
  bool is_enabled() const { return at::autocast::is_autocast_enabled(type()); }
  void set_enabled(bool enabled) const { at::autocast::set_autocast_enabled(type(), enabled); }
  void set_dtype() const { at::autocast::set_autocast_dtype(type(), at::kBFloat16); }
#else
  bool is_enabled() const {
    return cuda_ ? at::autocast::is_enabled() : at::autocast::is_cpu_enabled();
  }
  void set_enabled(bool enabled) const {
    cuda_ ? at::autocast::set_enabled(enabled) : at::autocast::set_cpu_enabled(enabled);
  }
  void set_dtype() const {
    cuda_ ? at::autocast::set_autocast_gpu_dtype(at::kBFloat16)
          : at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  }
#endif
  const bool cuda_;
  const bool before_;
};

}  // namespace pareto::runtime
