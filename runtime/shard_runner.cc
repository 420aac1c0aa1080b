#include "runtime/shard_runner.h"

#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/thread_pool.h"
#include "core/plan/stage_settings.h"
#include "runtime/engines/engine_choice.h"
#include "runtime/execution/schedule_choice.h"
#include "runtime/schedules/check_schedule.h"
#include "runtime/segment_profiler.h"
#include "runtime/shard_module.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/device_name.h"
#include "runtime/torch/guarded.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/memory_limit.h"
#include "runtime/torch/threads.h"

namespace pareto::runtime {
namespace {

/// Threads, warnings, inference mode, stop flag and memory limit during one call into LibTorch.
class CallScope {
 public:
  CallScope(const RunnerOptions& options, ThreadPool* pool, std::uint64_t memory_bytes)
      : quiet_(&drop_), pool_(pool), stop_(options.stop.get()), memory_(memory_bytes) {
    set_thread_count(options.threads);
  }

 private:
  DropWarnings drop_;
  warning_api::WarningHandlerGuard quiet_;
  c10::InferenceMode inference_;
  const PoolScope pool_;
  const StopScope stop_;
  const MemoryScope memory_;
};

/// Returns the memory that loading a shard may take; 0 means no limit.
std::uint64_t loading_limit(const plan::Shard& shard, const RunnerOptions& options) {
  if (options.memory_bytes == 0) return 0;
  return options.memory_bytes + plan::loading_bytes(shard, options.batch);
}

using Pool = std::shared_ptr<ThreadPool>;

/// Returns threads that work is shared with, of which the caller is one.
Expected<Pool> make_pool(int threads) {
  return guarded("starting threads", [&]() -> Expected<Pool> {
    return std::make_shared<ThreadPool>(threads, let_work_alone);
  });
}

/// Returns the calling thread's own pool; null: it needs none. The threads belong to the stage or
/// the loading, so that shards that are loaded and do not run have none.
Expected<Pool> pool_of_this_thread(int threads) {
  threads = std::min(threads, ThreadPool::kMostParts);
  if (threads == 1) return nullptr;
  thread_local Pool pool;
  if (!pool || pool->threads() != threads) {
    pool.reset();
    PARETO_ASSIGN(pool, make_pool(threads));
  }
  return pool;
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
        options_(options),
        boundary_(loaded_.module, shard_, loaded_.device) {
    shard_.archive.clear();
    report_.weight_bytes = shard_.weight_bytes();
  }

  Expected<> choose() {
    PARETO_ASSIGN(ChosenEngine chosen, choose_engine(options_, loaded_, boundary_));
    options_.is_hopeless = {};  // may refer to what the caller had
    report_.engine = chosen.name;
    report_.timings = chosen.timings;
    report_.precision = chosen.precision;
    report_.precision_reason = chosen.precision_reason;
    if (report_.precision_reason.empty()) report_.precision_reason = options_.precision_reason;
    engine_ = chosen.engine;
    if (options_.schedule != plan::kSequential) PARETO_TRY(put_to_work(chosen));
    if (report_.schedule_reason.empty()) report_.schedule_reason = options_.schedule_reason;
    report_.packed_bytes = engine().packed_bytes();
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
    PARETO_ASSIGN(const Pool pool, pool_to_run_on());
    const CallScope scope(options_, pool.get(), options_.memory_bytes);
    PARETO_ASSIGN(const auto arguments, boundary_.to_arguments(inputs));
    return guarded("profiling", [&]() -> Expected<ShardProfile> {
      return profile_segments(loaded_.module, shard_, arguments, std::max(repeats, 0), cuts);
    });
  }

  Expected<schedules::ScheduleTrace> trace_schedule(std::vector<Value> inputs,
                                                    int repeats) override {
    PARETO_ASSIGN(const Pool pool, pool_to_run_on());
    const CallScope scope(options_, pool.get(), options_.memory_bytes);
    if (!scheduled_) {
      PARETO_TRY(put_to_work({engine_, {}, report_.engine, report_.precision}));
    }
    PARETO_ASSIGN(const auto arguments, boundary_.to_arguments(inputs));
    return scheduled_->trace(arguments, repeats);
  }

  std::vector<Nanoseconds> worker_times() const override {
    return scheduled_ ? scheduled_->engine().worker_times() : std::vector<Nanoseconds>{};
  }

  const LoadReport& report() const override { return report_; }

 private:
  Expected<Pool> pool_to_run_on() const {
    if (pool_) return pool_;
    return pool_of_this_thread(options_.threads);
  }

  /// Measures the engine's graph and runs it by the schedule from now on.
  Expected<> put_to_work(const ChosenEngine& chosen) {
    PARETO_ASSIGN(pool_, make_pool(std::min(options_.threads, ThreadPool::kMostParts)));
    PARETO_ASSIGN(scheduled_, choose_schedule(options_, loaded_, boundary_, chosen, pool_));
    report_.schedule = scheduled_->name();
    report_.schedule_reason = scheduled_->reason();
    return {};
  }

  Engine& engine() { return scheduled_ ? scheduled_->engine() : *engine_; }

  Expected<std::vector<Value>> run_engine(std::vector<Value> inputs, EarlyResults* early) {
    PARETO_ASSIGN(const Pool pool, pool_to_run_on());
    const CallScope scope(options_, pool.get(), options_.memory_bytes);
    PARETO_ASSIGN(auto arguments, boundary_.to_arguments(inputs));
    return guarded("running the shard", [&]() -> Expected<std::vector<Value>> {
      return boundary_.to_values(engine().run(std::move(arguments), early));
    });
  }

  plan::Shard shard_;
  LoadedModule loaded_;
  RunnerOptions options_;
  Pool pool_;  ///< threads of its schedule's workers; null if it has none
  const ShardBoundary boundary_;
  std::shared_ptr<Engine> engine_;
  std::unique_ptr<ScheduledShard> scheduled_;
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
  PARETO_TRY(check_run(options));
  if (!(options.max_error > 0 && options.max_error <= 1)) {
    return fail(ErrorCode::kInvalidArgument, "max_error {}: above 0 and at most 1 (100 %)",
                options.max_error);
  }
  PARETO_TRY(schedules::check_schedule(options.schedule));
  // The profiling executor would record and re-optimise at the second run, and gains nothing here.
  torch::jit::getProfilingMode() = false;
  PARETO_ASSIGN(const c10::Device device, parse_device(options.device));
  PARETO_ASSIGN(const Pool pool, pool_of_this_thread(options.threads));
  const CallScope scope(options, pool.get(), loading_limit(shard, options));
  PARETO_ASSIGN(torch::jit::Module module,
                load_module(shard, weights, device, WrittenWeights::kCopied));
  return guarded("loading the shard", [&]() -> Expected<std::unique_ptr<ShardRunner>> {
    auto runner = std::make_unique<TorchShardRunner>(
        shard, LoadedModule{std::move(module), device, options.precision}, options);
    PARETO_TRY(runner->choose());
    return runner;
  });
}

Expected<> check_run(const RunnerOptions& options) {
  if (options.threads < 1 || options.threads > 256 || options.batch < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "{} threads, batch {}: 1 to 256 threads, batch 1 or more", options.threads,
                options.batch);
  }
  return {};
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
