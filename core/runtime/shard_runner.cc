#include "core/runtime/shard_runner.h"

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/text.h"
#include "core/runtime/engine.h"
#include "core/runtime/operator_profiler.h"
#include "core/runtime/shard_module.h"
#include "core/runtime/threads.h"
#include "core/runtime/torch_compat.h"
#include "core/runtime/torch_convert.h"

namespace pareto::runtime {
namespace {

using IValues = std::vector<c10::IValue>;
using SteadyTime = std::chrono::steady_clock;

constexpr int kTimedRuns = 3;
constexpr std::uint64_t kExampleSeed = 1;
// Folding and fusing reorder sums; a graph gone wrong is off by far more.
constexpr double kMaxErrorFloat32 = 1e-3;
constexpr double kMaxErrorBFloat16 = 5e-2;

/// For the time of one call into LibTorch.
class CallScope {
 public:
  explicit CallScope(int threads) : quiet_(&drop_) { set_thread_count(threads); }

 private:
  DropWarnings drop_;
  warning_api::WarningHandlerGuard quiet_;
  c10::InferenceMode inference_;
};

ErrorCode code_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ErrorCode::kExhausted;
  const std::string_view what = error.what();
  const bool memory = what.find("can't allocate memory") != std::string_view::npos ||
                      what.find("out of memory") != std::string_view::npos;
  return memory ? ErrorCode::kExhausted : ErrorCode::kInvalidArgument;
}

/// Runs `body`, which may throw what LibTorch throws.
template <typename Body>
auto guarded(std::string_view what, Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    return fail(code_of(error), "{}: {}", what, first_line(error));
  }
}

Expected<c10::Device> parse_device(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::kCPU);
  if (!name.starts_with("cuda")) {
    return fail(ErrorCode::kInvalidArgument, "unknown device \"{}\"; use cpu or cuda:N", name);
  }
  if (!at::hasCUDA()) {
    return fail(ErrorCode::kInvalidArgument,
                "device \"{}\": this LibTorch ({}) was built without CUDA", name, torch_version());
  }
  return guarded("device \"" + name + "\"",
                 [&]() -> Expected<c10::Device> { return c10::Device(name); });
}

class TorchShardRunner final : public ShardRunner {
 public:
  TorchShardRunner(Shard shard, LoadedModule loaded, RunnerOptions options)
      : shard_(std::move(shard)), loaded_(std::move(loaded)), options_(std::move(options)) {
    shard_.archive.clear();
    report_.weight_bytes = shard_.weight_bytes();
    const auto graph = loaded_.module.get_method("run").graph();
    const torch::jit::AliasDb aliases(graph);
    for (const auto* input : graph->inputs().slice(1)) {
      types_.push_back(input->type());
      writes_inputs_ = writes_inputs_ || aliases.hasWriters(input);
    }
  }

  Expected<> build() {
    const CallScope scope(options_.threads);
    if (options_.engine == "auto") return build_fastest();
    for (const EngineEntry& entry : builtin_engines()) {
      if (entry.name != options_.engine) continue;
      report_.engine = entry.name;
      return guarded("engine " + entry.name, [&]() -> Expected<> {
        engine_ = entry.build(loaded_);
        return {};
      });
    }
    return fail(ErrorCode::kInvalidArgument, "unknown engine \"{}\"{}; engines are auto, {}",
                options_.engine, did_you_mean(options_.engine, engine_names()),
                join(engine_names()));
  }

  Expected<std::vector<Value>> run(std::vector<Value> inputs) override {
    const CallScope scope(options_.threads);
    PARETO_ASSIGN(IValues arguments, to_arguments(inputs));
    return guarded("running the shard", [&]() -> Expected<std::vector<Value>> {
      const IValues outputs = engine_->run(std::move(arguments));
      std::vector<Value> values;
      values.reserve(outputs.size());
      for (const c10::IValue& output : outputs) {
        PARETO_ASSIGN(Value value, from_ivalue(output));
        values.push_back(std::move(value));
      }
      return values;
    });
  }

  Expected<std::vector<OperatorTime>> profile(std::vector<Value> inputs, int repeats) override {
    const CallScope scope(options_.threads);
    PARETO_ASSIGN(const IValues arguments, to_arguments(inputs));
    return guarded("profiling", [&]() -> Expected<std::vector<OperatorTime>> {
      return profile_operators(loaded_.module, shard_, arguments, std::max(repeats, 1));
    });
  }

  const LoadReport& report() const override { return report_; }

 private:
  Expected<IValues> to_arguments(const std::vector<Value>& inputs) const {
    if (inputs.size() != types_.size()) {
      return fail(ErrorCode::kInvalidArgument, "{} values given, the shard takes {}", inputs.size(),
                  types_.size());
    }
    IValues arguments;
    arguments.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto converted =
          guarded("input " + shard_.inputs[i].name, [&]() -> Expected<c10::IValue> {
            c10::IValue value = to_ivalue(inputs[i], types_[i]);
            if (!value.isTensor() || !value.toTensor().defined()) return value;
            at::Tensor tensor = value.toTensor().to(loaded_.device);
            // Bytes of a message are shared and immutable.
            return c10::IValue(writes_inputs_ ? tensor.clone() : tensor);
          });
      PARETO_TRY(converted);
      arguments.push_back(*converted);
    }
    return arguments;
  }

  Expected<IValues> example_arguments() const {
    std::vector<Value> values;
    for (const BoundaryValue& input : shard_.inputs) {
      PARETO_ASSIGN(Value value, make_example(input.spec, options_.batch, kExampleSeed));
      values.push_back(std::move(value));
    }
    return to_arguments(values);
  }

  /// A candidate of `auto`: built, its outputs compared, then timed.
  struct Candidate {
    std::unique_ptr<Engine> engine;
    EngineTiming timing;
  };

  Expected<std::vector<Value>> outputs_of(Engine& engine, EngineTiming& timing) const {
    PARETO_ASSIGN(IValues arguments, example_arguments());
    return guarded(timing.engine, [&]() -> Expected<std::vector<Value>> {
      const auto start = SteadyTime::now();
      const IValues outputs = engine.run(std::move(arguments));
      timing.best = SteadyTime::now() - start;
      std::vector<Value> values;
      for (const c10::IValue& output : outputs) {
        PARETO_ASSIGN(Value value, from_ivalue(output));
        values.push_back(std::move(value));
      }
      return values;
    });
  }

  Candidate try_engine(const EngineEntry& entry, const Value* reference) const {
    Candidate candidate;
    candidate.timing.engine = entry.name;
    const auto result = guarded(entry.name, [&]() -> Expected<std::vector<Value>> {
      candidate.engine = entry.build(loaded_);
      return outputs_of(*candidate.engine, candidate.timing);
    });
    if (!result) {
      candidate.timing.failure = result.error().message;
    } else if (reference != nullptr) {
      const double limit =
          loaded_.precision == Precision::kFloat32 ? kMaxErrorFloat32 : kMaxErrorBFloat16;
      candidate.timing.relative_error = relative_error(*reference, Tuple{*result});
      if (!(candidate.timing.relative_error <= limit)) {
        candidate.timing.failure = fmt::format("its outputs are off by {:.2g} of the largest value",
                                               candidate.timing.relative_error);
      }
    }
    if (!candidate.timing.failure.empty()) candidate.engine.reset();
    return candidate;
  }

  Expected<> build_fastest() {
    std::vector<Candidate> candidates;
    candidates.push_back(plain_candidate());
    if (!candidates[0].timing.failure.empty()) {
      return fail(ErrorCode::kInvalidArgument, "the shard does not run on its example inputs: {}",
                  candidates[0].timing.failure);
    }
    for (std::size_t i = 1; i < builtin_engines().size(); ++i) {
      candidates.push_back(try_engine(builtin_engines()[i], &reference_));
    }
    reference_ = Value();
    time_interleaved(candidates);
    keep_fastest(candidates);
    return {};
  }

  Candidate plain_candidate() {
    Candidate plain;
    plain.timing.engine = builtin_engines()[0].name;
    auto result = guarded("plain", [&]() -> Expected<std::vector<Value>> {
      plain.engine = builtin_engines()[0].build(loaded_);
      return outputs_of(*plain.engine, plain.timing);
    });
    if (result) {
      reference_ = Tuple{*std::move(result)};
    } else {
      plain.timing.failure = result.error().message;
    }
    return plain;
  }

  /// The first run of each was its warm-up. The plain engine's was its only one where others turn out far faster.
  void time_interleaved(std::vector<Candidate>& candidates) const {
    for (std::size_t i = 1; i < candidates.size(); ++i)
      candidates[i].timing.best = Nanoseconds::max();
    for (int round = 0; round < kTimedRuns; ++round) {
      for (std::size_t i = 1; i < candidates.size(); ++i) time_once(candidates[i]);
    }
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      if (!candidates[i].engine) candidates[i].timing.best = Nanoseconds{};
    }
    const bool close =
        std::none_of(candidates.begin() + 1, candidates.end(), [&](const Candidate& c) {
          return c.engine && 2 * c.timing.best < candidates[0].timing.best;
        });
    for (int round = 0; close && round < kTimedRuns; ++round) time_once(candidates[0]);
  }

  void time_once(Candidate& candidate) const {
    if (!candidate.engine) return;
    EngineTiming once = candidate.timing;
    if (outputs_of(*candidate.engine, once)) {
      candidate.timing.best = std::min(candidate.timing.best, once.best);
    }
  }

  void keep_fastest(std::vector<Candidate>& candidates) {
    Candidate* best = &candidates[0];
    for (Candidate& candidate : candidates) {
      if (candidate.engine && candidate.timing.best < best->timing.best) best = &candidate;
    }
    engine_ = std::move(best->engine);
    report_.engine = best->timing.engine;
    for (Candidate& candidate : candidates) report_.timings.push_back(std::move(candidate.timing));
  }

  Shard shard_;
  LoadedModule loaded_;
  const RunnerOptions options_;
  std::vector<c10::TypePtr> types_;
  bool writes_inputs_ = false;
  Value reference_;  ///< the plain engine's outputs, while engines are compared
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

Expected<std::unique_ptr<ShardRunner>> ShardRunner::load(const Shard& shard,
                                                         const WeightSource& weights,
                                                         const RunnerOptions& options) {
  if (options.threads < 1 || options.threads > 256 || options.batch < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "{} threads, batch {}: 1 to 256 threads, batch 1 or more", options.threads,
                options.batch);
  }
  // The profiling executor would record and re-optimise at the second run, with nothing to gain here.
  torch::jit::getProfilingMode() = false;
  PARETO_ASSIGN(const c10::Device device, parse_device(options.device));
  PARETO_ASSIGN(torch::jit::Module module, load_module(shard, weights, device));
  auto runner = std::make_unique<TorchShardRunner>(
      shard, LoadedModule{std::move(module), device, options.precision}, options);
  PARETO_TRY(runner->build());
  return runner;
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
