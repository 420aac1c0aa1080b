#include "core/runtime/shard_runner.h"

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/runtime/engines/engine_choice.h"
#include "core/runtime/segment_profiler.h"
#include "core/runtime/shard_module.h"
#include "core/runtime/torch/compat.h"
#include "core/runtime/torch/guarded.h"
#include "core/runtime/torch/interruption.h"
#include "core/runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

/// Thread count, warnings, inference mode and stop flag during one call into LibTorch.
class CallScope {
 public:
  CallScope(int threads, const std::atomic<bool>* stop) : quiet_(&drop_), stop_(stop) {
    set_thread_count(threads);
  }

 private:
  DropWarnings drop_;
  warning_api::WarningHandlerGuard quiet_;
  c10::InferenceMode inference_;
  const StopScope stop_;
};

Expected<c10::Device> parse_device(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::kCPU);
  if (!name.starts_with("cuda")) {
    return fail(ErrorCode::kInvalidArgument, "unknown device \"{}\"; use cpu or cuda:N", name);
  }
  if (!at::hasCUDA()) {
    return fail(ErrorCode::kInvalidArgument,
                "device \"{}\": this LibTorch ({}) was built without CUDA", name, torch_version());
  }
  return guarded("device \"" + name + "\"", [&]() -> Expected<c10::Device> {
    const c10::Device device(name);
    const int count = static_cast<int>(at::getNumGPUs());
    if (device.has_index() && device.index() >= count) {
      return fail(ErrorCode::kInvalidArgument, "device \"{}\": there are {} GPUs", name, count);
    }
    return device;
  });
}

/// Converts an engine's early results to values and passes them on.
struct EarlyValues final : EarlyResults {
  EarlyValues(const ShardBoundary& b, EarlyOutputs& e) : boundary(b), early(e) {}

  bool wants(std::size_t index) override { return early.wants(index); }
  void take(std::size_t index, const c10::IValue& result) override {
    auto value = boundary.to_value(index, result);
    if (value) return early.take(index, *std::move(value));
    error = std::move(value).error();
  }

  const ShardBoundary& boundary;
  EarlyOutputs& early;
  std::optional<Error> error;
};

class TorchShardRunner final : public ShardRunner {
 public:
  TorchShardRunner(plan::Shard shard, LoadedModule loaded, const RunnerOptions& options)
      : shard_(std::move(shard)),
        loaded_(std::move(loaded)),
        threads_(options.threads),
        stop_(options.stop),
        boundary_(loaded_.module, shard_, loaded_.device) {
    shard_.archive.clear();
    report_.weight_bytes = shard_.weight_bytes();
  }

  Expected<> choose(const RunnerOptions& options) {
    PARETO_ASSIGN(ChosenEngine chosen, choose_engine(options, loaded_, boundary_));
    engine_ = std::move(chosen.engine);
    report_.engine = std::move(chosen.name);
    report_.timings = std::move(chosen.timings);
    report_.precision = chosen.precision;
    report_.precision_reason = std::move(chosen.precision_reason);
    if (report_.precision_reason.empty()) report_.precision_reason = options.precision_reason;
    report_.packed_bytes = engine_->packed_bytes();
    return {};
  }

  Expected<std::vector<Value>> run(std::vector<Value> inputs) override {
    return run_engine(std::move(inputs), nullptr);
  }

  Expected<std::vector<Value>> run_early(std::vector<Value> inputs, EarlyOutputs& early) override {
    EarlyValues converted(boundary_, early);
    auto outputs = run_engine(std::move(inputs), &converted);
    if (outputs && converted.error) return tl::unexpected(*std::move(converted.error));
    return outputs;
  }

  Expected<ShardProfile> profile(std::vector<Value> inputs, int repeats,
                                 const std::vector<std::int64_t>& cuts) override {
    std::int64_t last = shard_.begin;
    for (const std::int64_t cut : cuts) {
      if (cut <= last || cut >= shard_.end) {
        return fail(ErrorCode::kInvalidArgument,
                    "a cut at {} of a shard [{}, {}): cuts ascend and lie inside it", cut,
                    shard_.begin, shard_.end);
      }
      last = cut;
    }
    const CallScope scope(threads_, stop_.get());
    PARETO_ASSIGN(const auto arguments, boundary_.to_arguments(inputs));
    return guarded("profiling", [&]() -> Expected<ShardProfile> {
      return profile_segments(loaded_.module, shard_, arguments, std::max(repeats, 0), cuts);
    });
  }

  const LoadReport& report() const override { return report_; }

 private:
  Expected<std::vector<Value>> run_engine(std::vector<Value> inputs, EarlyResults* early) {
    const CallScope scope(threads_, stop_.get());
    PARETO_ASSIGN(auto arguments, boundary_.to_arguments(inputs));
    return guarded("running the shard", [&]() -> Expected<std::vector<Value>> {
      return boundary_.to_values(engine_->run(std::move(arguments), early));
    });
  }

  plan::Shard shard_;
  LoadedModule loaded_;
  const int threads_;
  const std::shared_ptr<const std::atomic<bool>> stop_;
  const ShardBoundary boundary_;
  std::unique_ptr<Engine> engine_;
  LoadReport report_;
};

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::kFloat32 ? "fp32" : "bf16";
}

Expected<Precision> parse_precision(std::string_view name) {
  if (name == "fp32") return Precision::kFloat32;
  if (name == "bf16") return Precision::kBFloat16;
  return fail(ErrorCode::kInvalidArgument, "unknown precision \"{}\"; use fp32 or bf16", name);
}

Expected<std::unique_ptr<ShardRunner>> ShardRunner::load(const plan::Shard& shard,
                                                         const WeightSource& weights,
                                                         const RunnerOptions& options) {
  if (options.threads < 1 || options.threads > 256 || options.batch < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "{} threads, batch {}: 1 to 256 threads, batch 1 or more", options.threads,
                options.batch);
  }
  if (!(options.max_error > 0 && options.max_error <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "max_error {}: above 0 and at most 1 (100 %)",
                options.max_error);
  }
  // The profiling executor would record and re-optimise at the second run, and gains nothing here.
  torch::jit::getProfilingMode() = false;
  PARETO_ASSIGN(const c10::Device device, parse_device(options.device));
  const CallScope scope(options.threads, options.stop.get());
  PARETO_ASSIGN(torch::jit::Module module, load_module(shard, weights, device));
  return guarded("loading the shard", [&]() -> Expected<std::unique_ptr<ShardRunner>> {
    auto runner = std::make_unique<TorchShardRunner>(
        shard, LoadedModule{std::move(module), device, options.precision}, options);
    PARETO_TRY(runner->choose(options));
    return runner;
  });
}

Expected<> check_device(const std::string& name) {
  PARETO_TRY(parse_device(name));
  return {};
}

RuntimeInfo runtime_info() {
  RuntimeInfo info;
  info.torch_version = torch_version();
  info.cuda_devices = at::hasCUDA() ? static_cast<int>(at::getNumGPUs()) : 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  info.fast_bf16 = __builtin_cpu_supports("avx512bf16") != 0;
#endif
  return info;
}

}  // namespace pareto::runtime
