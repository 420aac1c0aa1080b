#include "client/commands/sweep_prediction.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "client/commands/leave_soon.h"
#include "client/commands/progress.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/sweep/race_schedule.h"
#include "coordinator/sweep/training_predictor.h"
#include "coordinator/sweep/trial_predictor.h"
#include "core/base/clock.h"
#include "core/base/usage.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client::commands {
namespace {

/// Returns what each device was sent so far, in the cluster's order.
std::vector<std::uint64_t> weights_sent(const cluster::Cluster& cluster) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    bytes.push_back(cluster.device(i).weights_sent_bytes());
  }
  return bytes;
}

Expected<std::vector<std::string>> predict_by_kind(
    const model::Model& model, const cluster::Cluster& cluster, const sweep::SweepOptions& options,
    results::RunRecord& run, results::ResultStore& store, const std::atomic<bool>& stop,
    const profile::Profiler::Progress& shown) {
  if (!options.train) {
    return sweep::predict_trials(model, cluster, store, options, run.trials, stop, shown);
  }
  PARETO_ASSIGN(const model::Model loss,
                with_context(model::zoo::open_loss(options.loss, model), "--loss"));
  PARETO_TRY(sweep::predict_training(model, loss, cluster, options, run.trials, stop, shown));
  return std::vector<std::string>();
}

}  // namespace

Expected<> predict_run(Context& context, const model::Model& model, const cluster::Cluster& cluster,
                       const sweep::SweepOptions& options, results::RunRecord& run,
                       results::ResultStore& store, SweepMetrics& metrics) {
  metrics.begin(run);
  ProbeInHand probe;
  const LeaveSoon leaving(context, kStopping, kExitPartial, [&] { return probe.or_hung(cluster); });
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  const SteadyClock clock;
  const TimePoint began = clock.now();
  const std::vector<std::uint64_t> before = weights_sent(cluster);
  const auto shown = [&](const std::string& now, std::size_t done, std::size_t total) {
    metrics.predict(done, total);
    probe.show(now, done < total);
    progress.show(done, total, now, now);
  };
  PARETO_ASSIGN(const std::vector<std::string> doubts,
                as_stopped(context, predict_by_kind(model, cluster, options, run, store,
                                                    context.stop.watch(), shown)));
  // Profiles need the weights first: what they sent is the run's.
  const std::vector<std::uint64_t> after = weights_sent(cluster);
  for (std::size_t i = 0; i < std::min(run.devices.size(), after.size()); ++i) {
    run.devices[i].weights_sent_bytes += after[i] - before[i];
  }
  progress.clear();
  for (const std::string& doubt : doubts) context.err << doubt << '\n';
  context.err << fmt::format("predicted in {}, in addition to the time for measuring{}\n",
                             sweep::time_words(to_seconds(clock.now() - began)),
                             options.adaptive ? " (--budget)" : "");
  return {};
}

}  // namespace pareto::client::commands
