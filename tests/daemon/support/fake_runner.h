// Shards without LibTorch: they add a number to every float.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/shard.h"
#include "runtime/runner_factory.h"

namespace pareto::daemon::test {

/// The settings of the runners of one factory, and what they did. Threads: any; `on_run` is set
/// before they run.
struct FakeRuns {
  std::atomic<int> loads{0};
  std::atomic<int> runs{0};
  std::atomic<int> profiles{0};
  std::atomic<int> running{0};
  std::atomic<int> most_at_once{0};
  /// Called with the number of each run, from 0, while it runs: may wait, or fail it.
  std::function<Expected<>(int)> on_run = [](int) { return Expected<>(); };
  /// A callback. If set, a runner offers all its outputs but the last to EarlyOutputs, and calls
  /// this with the number of the run before it ends.
  std::function<void(int)> after_early;
  /// Asked for, load by load.
  std::vector<std::string> engines;
  std::vector<runtime::Precision> precisions;
  std::vector<std::string> schedules;
  bool skips_slow = false;  ///< true if the last load was told that engine "slow" is hopeless
  Nanoseconds operator_time{
      1};  ///< time of its one operator, for each time that it is asked to repeat it
  std::uint64_t packed_bytes = 0;    ///< bytes of each, shared with others
  std::vector<Nanoseconds> workers;  ///< time that each worker of a schedule computes, run by run
  /// Fails a load.
  std::function<Expected<>()> on_load = [] { return Expected<>(); };
  /// The same, of one that looks at the options.
  std::function<Expected<>(const runtime::RunnerOptions&)> on_load_with =
      [](const runtime::RunnerOptions&) { return Expected<>(); };
};

/// Stops the first of all runs in the middle, until it may go on. Outlives them.
class FirstRun {
 public:
  explicit FirstRun(FakeRuns& runs) {
    runs.on_run = [this](int run) {
      if (run == 0) {
        running_.set_value();
        go_on_.get_future().wait();
      }
      return Expected<>();
    };
  }
  void wait_until_it_runs() { running_.get_future().wait(); }
  void go_on() { go_on_.set_value(); }

 private:
  std::promise<void> running_;
  std::promise<void> go_on_;
};

/// Fetches every weight, as a real runner does; the sum added is the number of the shard's
/// operators.
runtime::RunnerFactory fake_runners(std::shared_ptr<FakeRuns> runs);

/// Makes a shard of operators [begin, end); it takes and gives `values` float32 tensors of shape
/// Bx4.
plan::Shard make_shard(std::int64_t begin = 0, std::int64_t end = 2,
                       std::vector<plan::WeightRef> weights = {}, std::size_t values = 1);

/// Returns a float32 tensor of shape 1x4, all of one value; and back.
Tensor filled(float value);
float first_float(const Value& value);

}  // namespace pareto::daemon::test
