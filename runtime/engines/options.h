// Options that choose a shard's engine, and the time that each engine took.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::runtime {

struct TrainingOptions;  // runtime/training/trainer.h

enum class Precision { kFloat32, kBFloat16 };

/// The largest error of an engine in bf16 if nobody names another: against plain fp32, relative to
/// the largest output.
inline constexpr double kDefaultMaxError = 0.05;
/// Returns "fp32", "bf16".
std::string_view to_string(Precision precision);
Expected<Precision> parse_precision(std::string_view name);

struct RunnerOptions {
  std::string engine = "auto";  ///< "auto" keeps the fastest; or a name from engine_names()
  /// The lowest precision that may be computed in. "auto" keeps bf16 only if it is faster than fp32
  /// and near enough to it.
  Precision precision = Precision::kFloat32;
  double max_error = kDefaultMaxError;  ///< largest allowed error of bf16; see kDefaultMaxError
  /// The reason why an earlier load of the shard came to this precision and not to the one asked
  /// for; copied into the report.
  std::string precision_reason{};
  int threads = 1;             ///< intra-op threads, 1 … 256; binds OpenBLAS too
  std::string device = "cpu";  ///< "cpu" or "cuda:N"
  std::int64_t batch = 1;      ///< the batch that engines are timed at; any other runs as well
  /// A name from schedules::schedule_names(), "auto", or a user's program as JSON text, whose first
  /// character is '{'.
  std::string schedule = "sequential";
  /// The reason why "auto" chose it in an earlier load of the shard; copied into the report.
  std::string schedule_reason{};
  /// Returns whether "auto" need not try an engine, given the time of the plain engine's first run.
  /// If this is empty, "auto" tries all. Called by load() only, on its thread.
  std::function<bool(const std::string& engine, Precision precision, Nanoseconds plain)>
      is_hopeless{};
  /// A flag that makes loops of the shard fail while it is true, in load(), run() and profile():
  /// one that never ends can be ended. Null: never.
  std::shared_ptr<const std::atomic<bool>> stop{};
  /// Bytes that one run may take of tensors, lists and texts; 0 means no limit. Loading may take
  /// its weights on top.
  std::uint64_t memory_bytes = 0;
  /// Training of the shard; engine, precision and schedule are of no use then. Null: it is not.
  std::shared_ptr<const TrainingOptions> training{};
};

/// Engines of this build, without "auto": "plain", "onednn", "channels_last", "prepacked". plain:
/// the graph as it came, equal bit for bit however it is cut. The others freeze, fold and fuse.
const std::vector<std::string>& engine_names();

struct EngineTiming {
  std::string engine;
  /// Fastest of a few runs on example inputs (processor time where it runs on one thread); 0 where
  /// it could not be built.
  Nanoseconds best{};
  std::string failure;  ///< why it could not be built or gave another result; empty if it works
  double relative_error = 0;                  ///< error of its outputs against plain's, same inputs
  Precision precision = Precision::kFloat32;  ///< precision that it computes in
};

}  // namespace pareto::runtime
