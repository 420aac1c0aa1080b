// Shards on a device that is slower than this machine, or always equally fast: what a real runner
// computes, later.
//
//   RunnerFactory ──imitate()──▶ RunnerFactory of ImitatedRunners
//   ImitatedRunner ──run──▶ the real runner, then a wait (slow_processor.h)
//                  ──profile──▶ the real runner's times, as they would be there (steady_pace.h)
//
// A device that imitates nothing never calls imitate(), and runs no code of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "daemon/imitation/slow_processor.h"
#include "daemon/imitation/steady_pace.h"
#include "runtime/runner_factory.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {

/// A device that is imitated: its processor and its pace, which all of its shards share.
///
/// Threads: any.
class ImitatedDevice {
 public:
  /// `speed` is as SlowProcessor's; with `paces` it is counted in times of the plain engine on a
  /// core of the machine where these were taken. Without `paces` a shard takes as long as this
  /// machine takes at that speed.
  explicit ImitatedDevice(double speed, std::shared_ptr<OperatorPaces> paces = nullptr)
      : processor_(speed), paces_(std::move(paces)) {}

  SlowProcessor& processor() { return processor_; }
  /// Returns how long a shard takes that `real` runs; none if this device is not steady, or the
  /// shard does not run on example inputs. A shard that was loaded before keeps what it had.
  /// Fails: as OperatorPaces::settle does.
  Expected<std::optional<SteadyPace>> pace_of(const plan::Shard& shard,
                                              const runtime::RunnerOptions& options,
                                              runtime::ShardRunner& real);
  /// Times the parts of a shard as ShardRunner::profile does, in times of this device. Fails: as
  /// ShardRunner::profile and OperatorPaces::settle do.
  Expected<runtime::ShardProfile> profile(runtime::ShardRunner& real,
                                          const std::vector<Value>& inputs, int repeats,
                                          const std::vector<std::int64_t>& cuts, int threads) const;

 private:
  SlowProcessor processor_;
  const std::shared_ptr<OperatorPaces> paces_;  ///< null: not steady
  std::mutex mutex_;
  std::map<std::string, SteadyPace> known_;  ///< under shard, device and batch
};

/// One shard of an imitated device.
///
/// Threads: as ShardRunner. A wait ends soon after RunnerOptions::stop becomes true, as a loop of
/// the shard does.
class ImitatedRunner final : public runtime::ShardRunner {
 public:
  /// Makes a runner that imitates the device. `real` has loaded `shard` with `options`. Fails: as
  /// ImitatedDevice::pace_of does.
  static Expected<std::unique_ptr<ShardRunner>> make(std::shared_ptr<ImitatedDevice> device,
                                                     std::unique_ptr<ShardRunner> real,
                                                     const plan::Shard& shard,
                                                     const runtime::RunnerOptions& options);

  /// Runs the shard, and waits until the imitated device would have ended. Fails: as the real
  /// runner does; kClosed (it was stopped while it waited).
  Expected<std::vector<Value>> run(std::vector<Value> inputs) override;
  /// Offers each output when the imitated device has made it. Fails: as run() does.
  Expected<std::vector<Value>> run_early(std::vector<Value> inputs,
                                         runtime::EarlyOutputs& early) override;
  /// Profiles the shard as the imitated device would run it. Fails: as ImitatedDevice::profile
  /// does.
  Expected<runtime::ShardProfile> profile(std::vector<Value> inputs, int repeats,
                                          const std::vector<std::int64_t>& cuts) override;
  /// Returns how long workers would have computed there: each waits as the whole run does.
  std::vector<Nanoseconds> worker_times() const override;
  /// Returns the real runner's report: engines are chosen by what they take here.
  const runtime::LoadReport& report() const override { return real_->report(); }
  runtime::Trainer* trainer() override { return trainer_.get(); }

 private:
  ImitatedRunner(std::shared_ptr<ImitatedDevice> device, std::unique_ptr<ShardRunner> real,
                 runtime::RunnerOptions options, std::optional<SteadyPace> pace);
  /// Begins work on inputs like these.
  SlowProcessor::Work begin(const std::vector<Value>& inputs);
  /// Does one run of the real runner, and counts its workers' times.
  template <typename Run>
  Expected<std::vector<Value>> finish(SlowProcessor::Work& work, Run run);

  const std::shared_ptr<ImitatedDevice> device_;
  const std::unique_ptr<ShardRunner> real_;
  const runtime::RunnerOptions options_;
  const std::optional<SteadyPace> pace_;
  const std::unique_ptr<runtime::Trainer> trainer_;  ///< null: it is not trained
  mutable std::mutex workers_mutex_;
  std::vector<Nanoseconds> workers_;
};

/// Returns a factory whose shards run as they would on `device`; `real` loads them.
runtime::RunnerFactory imitate(std::shared_ptr<ImitatedDevice> device, runtime::RunnerFactory real);

}  // namespace pareto::daemon
