// Measures the modes of a model that is cut once, in this process: plain and optimised, whole and
// in two parts. All take turns, so that whatever else the machine does meets all of them alike.
//
//   Model + Cut ──load, timed──▶ contestants ──turns──▶ ModeFigures
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/stage_settings.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/model/graph/named_cuts.h"
#include "runtime/engines/options.h"

namespace pareto::modes {

struct ModeBenchOptions {
  model::Cut cut;
  std::int64_t batch = 1;
  int threads = 1;
  std::uint64_t seed = 1;       ///< seed of made-up inputs
  std::string engine = "auto";  ///< the optimised mode's; the other one's is "plain"
  runtime::Precision precision = runtime::Precision::kFloat32;
  double max_error = runtime::kDefaultMaxError;
  std::string schedule{plan::kSequential};  ///< see RunnerOptions; of both modes
  /// Turns go on for this time …
  Nanoseconds duration = std::chrono::seconds(5);
  int rounds = 8;  ///< … and each contestant has this many at least
  /// Loss of the model's outputs and labels, to measure training with; it outlives the call. Null:
  /// training is not measured.
  const model::Model* loss = nullptr;
};

/// Times and memory of one contestant.
struct ModeFigures {
  std::string work;      ///< "direct", "prefix + suffix", "suffix", "prefix backward, values kept"
  std::string mode;      ///< "eager", "optimised"
  std::string engine;    ///< engines of its parts: "prepacked", "onednn -> prepacked"
  std::string reason{};  ///< why a part falls back to something slower than was asked for; or ""
  Nanoseconds
      prepare{};       ///< time from the open model to a part that is ready, its warm-up included
  Nanoseconds best{};  ///< its fastest turn
  Nanoseconds median{};
  double over_direct = 0;  ///< `best` over that of the whole model in the same mode
  /// Requests after which the time that optimising takes has been saved. No value: it saves none.
  std::optional<double> paid_after{};
  /// Weights, copies of them that the engine packed, and what is kept for the way back.
  std::uint64_t held_bytes = 0;
  std::uint64_t peak_bytes = 0;  ///< the most that one turn adds to what is resident
};

struct ModeBenchResult {
  std::vector<ModeFigures> rows;
  int rounds = 0;             ///< turns that each had
  bool by_processor = false;  ///< times are processor time of one thread, not a clock's
  bool is_peak_known = true;  ///< false: Linux does not count it here
};

/// Loads each part in each mode, lets all take turns, and runs each once more to see its memory.
/// `progress`: what is done now, turns that are done, and how many are expected; 0 before that is
/// known. Fails: as emit_shard() and ShardRunner do.
Expected<ModeBenchResult> bench_modes(
    const model::Model& model, const ModeBenchOptions& options,
    const std::function<void(const std::string& now, std::size_t done, std::size_t total)>&
        progress);

}  // namespace pareto::modes
