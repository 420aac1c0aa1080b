#include "client/experiment/sweep.h"

#include <map>

#include "client/cluster/daemon_client.h"
#include "client/cluster/workload.h"
#include "client/experiment/sweep_runner.h"
#include "client/experiment/time_text.h"

namespace pareto::client {

Expected<RunRecord> make_run(const partitioner::Model& model, const Cluster& cluster,
                             const SweepOptions& options, const std::string& command_line) {
  RunRecord run;
  PARETO_ASSIGN(run.trials, plan_sweep(model, cluster, options));
  const auto now = std::chrono::system_clock::now();
  run.id = make_run_id(now);
  run.started = time_text(now);
  run.model = model.name();
  run.model_digest = model.digest().hex();
  for (const partitioner::GraphWeight& weight : model.graph().weights) {
    run.model_weight_bytes += weight.size_bytes;
  }
  run.command_line = command_line;
  run.options_json = to_json(options);
  run.software_version = PARETO_VERSION;
  run.seed = options.seed;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const DeviceInfo& info = cluster.device(i).info();
    const DeviceConfig& config = cluster.device(i).config();
    const int threads = options.threads > 0 ? options.threads : info.threads;
    run.devices.push_back(
        {config.name, config.address, threads, info.cpu, info.memory_bytes, info.torch_version, 0});
  }
  return run;
}

Expected<> continue_run(const partitioner::Model& model, const Cluster& cluster,
                        const SweepOptions& options, RunRecord& stored) {
  if (stored.model_digest != model.digest().hex()) {
    return fail(ErrorCode::kInvalidArgument,
                "run {} measured another model: its weights or graph differ", stored.id);
  }
  PARETO_ASSIGN(std::vector<TrialRecord> trials, plan_sweep(model, cluster, options));
  std::map<std::string, TrialRecord*> measured;
  for (TrialRecord& trial : stored.trials) {
    if (!trial.rounds.empty() || trial.prediction) measured[trial.id] = &trial;
  }
  for (TrialRecord& trial : trials) {
    if (const auto found = measured.find(trial.id); found != measured.end()) {
      trial = std::move(*found->second);
    }
  }
  stored.trials = std::move(trials);
  return {};
}

Expected<> run_sweep(const partitioner::Model& model, Cluster& cluster, const SweepOptions& options,
                     RunRecord& run, ResultStore& store, const std::atomic<bool>& stop,
                     const std::function<void(const SweepProgress&)>& on_progress) {
  ModelWorkload workload(model);
  const auto make = [](std::string_view name) { return transport::make_transport(name); };
  SweepRunner runner({workload, cluster, store, stop, on_progress, make, {}, {}}, options, run);
  return runner.run();
}

}  // namespace pareto::client
