// A sweep: every chosen plan × transport × batch, measured in randomly interleaved rounds.
//
//   SweepOptions --plan_sweep--> trials to run --run_sweep--> RunRecord, each trial stored as it ends
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/results/record.h"
#include "client/results/store.h"
#include "core/base/error.h"
#include "partitioner/graph/model.h"

namespace pareto::client {

struct SweepOptions {
  std::string splits = "modules";
  int stages = 2;
  std::vector<std::string> transports{"tcp", "grpc"};
  std::vector<std::int64_t> batches{1};
  int window = 0;      ///< for throughput; 0 = auto
  int requests = 12;   ///< measured a round and trial, for latency
  int rounds = 3;
  std::uint64_t seed = 1;
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 1;
  std::string condition = "none";
};

/// JSON and back: what a run keeps so that it can be resumed.
std::string to_json(const SweepOptions& options);
Expected<SweepOptions> sweep_options_from_json(const std::string& json);

/// The trials of a sweep before they are measured (`--dry-run`): plan, split, ids; one-device plans included.
Expected<std::vector<TrialRecord>> plan_sweep(const partitioner::Model& model, const Cluster& cluster,
                                              const SweepOptions& options);

struct SweepProgress {
  std::size_t done = 0;  ///< units of work (a round of a trial)
  std::size_t total = 0;
  std::string now;       ///< "round 2/3 after:features.7 tcp"
  std::size_t failed_trials = 0;
};

/// Measures `run.trials` that are not yet done (none of `done` may be), storing each as it ends. `stop` set (Ctrl-C) ends it after the
/// trial in hand; the run stays resumable. A failed trial is recorded and the sweep goes on; it ends early only where the
/// store fails or no device answers any more. Fills p_front, on_front and devices.
Expected<> run_sweep(const partitioner::Model& model, Cluster& cluster, const SweepOptions& options,
                     RunRecord& run, ResultStore& store, const std::atomic<bool>& stop,
                     const std::function<void(const SweepProgress&)>& on_progress);

}  // namespace pareto::client
