// Runs a shard on this device, as fast as the device can. Of a daemon's parts, only what is behind
// this header sees LibTorch.
//
//   Shard (no weights) + WeightSource --load--> engines are built and timed, one is kept --> run …
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/shard.h"
#include "core/tensor/value.h"
#include "runtime/engines/options.h"
#include "runtime/kernels/packed_bytes.h"
#include "runtime/schedules/schedule_trace.h"

namespace pareto::runtime {

/// Source of weights: the daemon's tensor store, or the model itself in the coordinator.
///
/// Threads: any. Fails: kNotFound, with the digest.
using WeightSource = std::function<Expected<Tensor>(const Digest& digest)>;

struct LoadReport {
  std::string engine;                         ///< the engine that was kept
  Precision precision = Precision::kFloat32;  ///< precision that it computes in
  std::string precision_reason{};             ///< why it is not the requested one; else empty
  std::vector<EngineTiming> timings;          ///< timings of every engine tried
  std::string schedule = "sequential";  ///< the schedule that was kept, as RunnerOptions has it
  std::string schedule_reason{};        ///< why it is not the one asked for, or why "auto" chose it
  std::uint64_t weight_bytes = 0;
  /// Bytes of packed weights. Other shards of this process that have the same layers share them.
  std::uint64_t packed_bytes = 0;
};

/// Cost of one operator of the plain graph.
struct OperatorTime {
  std::int64_t position = 0;  ///< position in the whole model's order
  std::string kind;           ///< "aten::conv2d"
  std::string scope;
  /// The kind with the types, shapes and numbers it was given, in one line. Operators with equal
  /// texts do equal work. "aten::relu(Float[1, 32, 64, 64])"
  std::string what;
  Nanoseconds median{};
};

/// Cost of a segment: the operators [begin, end) of the plain graph, between two neighbouring cuts.
struct SegmentTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Nanoseconds median{};
};

struct ShardProfile {
  std::vector<OperatorTime> operators;
  std::vector<SegmentTime> segments;
  /// Number of operators that run until an output is computed, by output. 0 means an input that is
  /// handed on. The list is empty if this is not known.
  std::vector<std::size_t> operators_until_output{};
};

/// Takes outputs while the shard that makes them still runs, on the thread that runs it.
class EarlyOutputs {
 public:
  virtual ~EarlyOutputs() = default;
  /// Returns whether take() shall have output `index`, which is computed while others are not.
  virtual bool wants(std::size_t index) = 0;
  /// Receives output `index`.
  virtual void take(std::size_t index, Value value) = 0;
};

/// One loaded shard.
///
/// Threads: run() from one thread at a time. LibTorch's thread count belongs to a thread; each call
/// sets it on the thread that calls.
class Trainer;  // runtime/training/trainer.h

class ShardRunner {
 public:
  /// Builds and times engines on example inputs, and returns a runner that is warm.
  /// Fails: kCorrupt (archive, weights that do not fit), kNotFound (a weight), kInvalidArgument
  /// (unknown engine or schedule, cuda without CUDA), kExhausted (no memory).
  static Expected<std::unique_ptr<ShardRunner>> load(const plan::Shard& shard,
                                                     const WeightSource& weights,
                                                     const RunnerOptions& options);
  virtual ~ShardRunner() = default;

  /// Runs the shard. `inputs` are in the order of shard.inputs, the result in that of
  /// shard.outputs.
  /// Fails: kInvalidArgument (a number, type, dtype or shape that the graph refuses), kExhausted,
  /// kInternal (with LibTorch's first line).
  virtual Expected<std::vector<Value>> run(std::vector<Value> inputs) = 0;
  /// Like run(), but gives outputs to `early` as soon as they are computed. An output that `early`
  /// took is None in the result. A runner may give nothing early.
  virtual Expected<std::vector<Value>> run_early(std::vector<Value> inputs, EarlyOutputs& early) {
    static_cast<void>(early);
    return run(std::move(inputs));
  }
  /// Times every operator alone in the plain engine, `repeats` times. With 0 repeats it lists the
  /// operators without times. `cuts` are ascending positions inside the shard that divide it into
  /// segments; without cuts it is one segment.
  /// Fails: kInvalidArgument (cuts), and as run() does.
  virtual Expected<ShardProfile> profile(std::vector<Value> inputs, int repeats,
                                         const std::vector<std::int64_t>& cuts) = 0;
  /// Runs the shard `repeats` times by its schedule, and as "sequential" with one thread and with
  /// all, and returns who ran what when.
  /// Fails: kInvalidArgument (a runner without a schedule), and as run() does.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it move them.
  virtual Expected<schedules::ScheduleTrace> trace_schedule(std::vector<Value> inputs,
                                                            int repeats) {
    static_cast<void>(inputs);
    static_cast<void>(repeats);
    return fail(ErrorCode::kInvalidArgument, "this runner has no schedule");
  }
  /// Returns how long each worker of its schedule has computed in all; empty if it has none.
  /// Operators that share all threads count for each worker.
  /// Threads: any, while run() goes on too.
  virtual std::vector<Nanoseconds> worker_times() const { return {}; }
  /// Returns what trains the shard, with its parameters; null: it was not loaded to be trained.
  virtual Trainer* trainer() { return nullptr; }
  /// Returns what load() chose and measured.
  virtual const LoadReport& report() const = 0;
};

/// Checks numbers that every load needs. Fails: kInvalidArgument (threads, batch).
Expected<> check_run(const RunnerOptions& options);

/// Checks that shards can run on the device of that name.
/// Fails: kInvalidArgument (neither cpu nor cuda:N, a LibTorch without CUDA, no such GPU).
Expected<> check_device(const std::string& name);

/// Capabilities of LibTorch on this machine.
struct RuntimeInfo {
  std::string torch_version;  ///< LibTorch's version
  bool fast_bf16 = false;     ///< the processor has bf16 instructions
  int cuda_devices = 0;       ///< number of CUDA devices
};
/// Returns the capabilities on this machine.
RuntimeInfo runtime_info();

}  // namespace pareto::runtime
