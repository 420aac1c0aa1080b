// Runs a shard on this device, as fast as the device can. The only part of a daemon that sees LibTorch, behind this header.
//
//   Shard (no weights) + WeightSource --load--> engines built, timed, the fastest kept --> run, run, run
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
#include "core/runtime/engines/options.h"
#include "core/runtime/kernels/packed_bytes.h"
#include "core/tensor/value.h"

namespace pareto::runtime {

/// Where weights come from: the daemon's tensor store, or the model itself in the coordinator.
/// Threads: any. Fails: kNotFound naming the digest.
using WeightSource = std::function<Expected<Tensor>(const Digest& digest)>;

struct LoadReport {
  std::string engine;                         ///< the one kept
  Precision precision = Precision::kFloat32;  ///< that it computes in
  std::string precision_reason{};             ///< why that is not the one asked for; empty: it is
  std::vector<EngineTiming> timings;          ///< of every engine tried
  std::uint64_t weight_bytes = 0;
  /// Of packed weights that it has in common with whatever other shards of this process have the same layers.
  std::uint64_t packed_bytes = 0;
};

/// What one operator of the plain graph costs.
struct OperatorTime {
  std::int64_t position = 0;  ///< in the whole model's order
  std::string kind;           ///< "aten::conv2d"
  std::string scope;
  /// Its kind with the types, shapes and numbers that it was given: equal ones are the same work, in one line. "aten::relu(Float[1, 32, 64, 64])"
  std::string what;
  Nanoseconds median{};
};

/// What lies between two neighbouring cuts costs: operators [begin, end) of the plain graph together.
struct SegmentTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Nanoseconds median{};
};

struct ShardProfile {
  std::vector<OperatorTime> operators;
  std::vector<SegmentTime> segments;
  /// By output, how many of the operators have to run until it is made; 0: it is an input that is handed on. Empty: not known.
  std::vector<std::size_t> operators_until_output{};
};

/// Takes outputs while the shard that makes them still runs, on the thread that runs it.
class EarlyOutputs {
 public:
  virtual ~EarlyOutputs() = default;
  /// Output `index` has been computed, others have not. Whether take() is to have it now.
  virtual bool wants(std::size_t index) = 0;
  virtual void take(std::size_t index, Value value) = 0;
};

/// One loaded shard.
///
/// Threads: run() from one thread at a time; LibTorch's thread count is thread-local and set on the thread that calls.
class ShardRunner {
 public:
  /// Builds and times engines on example inputs; returns warm. Fails: kCorrupt (archive, weights that do not fit),
  /// kNotFound (a weight), kInvalidArgument (unknown engine, cuda without CUDA), kExhausted (no memory).
  static Expected<std::unique_ptr<ShardRunner>> load(const plan::Shard& shard,
                                                     const WeightSource& weights,
                                                     const RunnerOptions& options);
  virtual ~ShardRunner() = default;

  /// inputs: in the order of shard.inputs; returns in the order of shard.outputs. Fails: kInvalidArgument (wrong number, type,
  /// dtype or shape that the graph refuses), kExhausted, kInternal (with LibTorch's first line).
  virtual Expected<std::vector<Value>> run(std::vector<Value> inputs) = 0;
  /// The same, but what `early` took is None in what it returns. A runner may have nothing early.
  virtual Expected<std::vector<Value>> run_early(std::vector<Value> inputs, EarlyOutputs& early) {
    static_cast<void>(early);
    return run(std::move(inputs));
  }
  /// Times every operator one by one in the plain engine, `repeats` times; 0: tells which there are, without times. `cuts`: positions
  /// inside the shard, ascending, that part it into segments; none: it is one. Fails: kInvalidArgument (cuts), and as run() does.
  virtual Expected<ShardProfile> profile(std::vector<Value> inputs, int repeats,
                                         const std::vector<std::int64_t>& cuts) = 0;
  virtual const LoadReport& report() const = 0;
};

/// Whether shards can run there. Fails: kInvalidArgument (neither cpu nor cuda:N, a LibTorch without CUDA, no such GPU).
Expected<> check_device(const std::string& name);

/// What this machine can run: LibTorch's version, bf16 instructions, CUDA devices.
struct RuntimeInfo {
  std::string torch_version;
  bool fast_bf16 = false;
  int cuda_devices = 0;
};
RuntimeInfo runtime_info();

}  // namespace pareto::runtime
