#include "coordinator/sweep/sweep.h"

#include <algorithm>
#include <map>
#include <memory>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/results/time_text.h"
#include "coordinator/sweep/accuracy_check.h"
#include "coordinator/sweep/sweep_runner.h"
#include "coordinator/sweep/training_meter.h"
#include "coordinator/train/training_factory.h"
#include "core/base/machine.h"

namespace pareto::sweep {
namespace {

/// Returns the threads of each request of the run on a device. If its plans differ in it, these are
/// the device's own.
int threads_on(const cluster::DeviceInfo& info, const SweepOptions& options) {
  const int asked = options.settings.threads;
  const bool alike = std::ranges::all_of(
      options.more_settings,
      [&](const plan::StageSettings& settings) { return settings.threads == asked; });
  return alike && asked > 0 ? asked : info.threads;
}

std::vector<results::DeviceRecord> devices_of(const cluster::Cluster& cluster,
                                              const SweepOptions& options) {
  std::vector<results::DeviceRecord> devices;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DeviceInfo& info = cluster.device(i).info();
    const cluster::DeviceConfig& config = cluster.device(i).config();
    devices.push_back({config.name, config.address, threads_on(info, options), info.cpu,
                       info.memory_bytes, info.torch_version, 0, info.device, info.cores});
  }
  return devices;
}

/// Settings that rounds of two parts of a run must have in common. The addresses of devices do not
/// matter.
std::string describe(const std::vector<results::DeviceRecord>& devices, std::size_t place) {
  if (place >= devices.size()) return "none";
  const results::DeviceRecord& device = devices[place];
  return fmt::format("{} (cpu {}, cores {}, runs on {}, threads {}, LibTorch {})", device.name,
                     device.cpu, device.cores, device.runs_on, device.threads,
                     device.torch_version);
}

Expected<> check_same_devices(const results::RunRecord& stored,
                              const std::vector<results::DeviceRecord>& now) {
  std::vector<results::DeviceRecord> known = stored.devices;
  for (std::size_t i = 0; i < std::min(known.size(), now.size()); ++i) {
    // Earlier versions did not store these; they are taken to have been as they are now.
    if (known[i].runs_on.empty()) known[i].runs_on = now[i].runs_on;
    if (known[i].cores == 0) known[i].cores = now[i].cores;
  }
  for (std::size_t i = 0; i < std::max(known.size(), now.size()); ++i) {
    const std::string before = describe(known, i);
    const std::string after = describe(now, i);
    if (before == after) continue;
    return fail(ErrorCode::kInvalidArgument,
                "run {} measured other devices: the {}. was {} and now is {}: name those that it "
                "began with (--devices, --testbed), or begin another run",
                stored.id, i + 1, before, after);
  }
  return {};
}

}  // namespace

Expected<results::RunRecord> make_run(const model::Model& model, const cluster::Cluster& cluster,
                                      const SweepOptions& options,
                                      const std::string& command_line) {
  results::RunRecord run;
  PARETO_ASSIGN(run.trials, plan_sweep(model, cluster, options));
  const auto now = std::chrono::system_clock::now();
  run.id = results::make_run_id(now);
  run.started = results::time_text(now);
  run.model = model.name();
  run.model_digest = model.digest().hex();
  run.model_weight_bytes = model::weight_bytes(model.graph());
  run.command_line = command_line;
  run.options_json = to_json(options);
  run.software_version = PARETO_VERSION;
  run.seed = options.seed;
  run.devices = devices_of(cluster, options);
  run.coordinator = describe_machine();
  return run;
}

Expected<> continue_run(const model::Model& model, const cluster::Cluster& cluster,
                        const SweepOptions& options, results::RunRecord& stored) {
  if (stored.model_digest != model.digest().hex()) {
    return fail(ErrorCode::kInvalidArgument,
                "run {} measured another model: its weights or graph differ", stored.id);
  }
  PARETO_TRY(check_same_devices(stored, devices_of(cluster, options)));
  PARETO_ASSIGN(std::vector<results::TrialRecord> trials, plan_sweep(model, cluster, options));
  std::map<std::string, results::TrialRecord*> known;
  for (results::TrialRecord& trial : stored.trials) {
    if (!trial.rounds.empty() || trial.prediction || trial.accuracy || trial.no_room)
      known[trial.id] = &trial;
  }
  for (results::TrialRecord& trial : trials) {
    if (const auto found = known.find(trial.id); found != known.end()) {
      trial = std::move(*found->second);
    }
  }
  stored.trials = std::move(trials);
  return {};
}

Expected<> run_sweep(const model::Model& model, cluster::Cluster& cluster,
                     const SweepOptions& options, results::RunRecord& run,
                     results::ResultStore& store, const std::atomic<bool>& stop,
                     const std::function<void(const SweepProgress&)>& on_progress,
                     const model::Model* loss) {
  cluster::ModelWorkload workload(model);
  const auto make = [](std::string_view name) { return transport::make_transport(name); };
  cluster::DeploymentOptions deploying;
  deploying.payload_checksum = !options.no_checksum;
  std::unique_ptr<AccuracyCheck> accuracy;
  if (!options.accuracy.data.empty()) {
    PARETO_ASSIGN(accuracy,
                  with_context(AccuracyCheck::open(model, options.accuracy), "--dataset"));
  }
  std::optional<TrainingMeter> training;
  if (loss != nullptr) {
    deploying.training = train::training_factory(model, *loss, measured_training(), {});
    training.emplace(model, workload, std::chrono::milliseconds(options.timeout_ms));
  }
  SweepRunner::Environment environment{workload,    cluster, store,     stop,
                                       on_progress, make,    deploying, {}};
  environment.training = training ? &*training : nullptr;
  environment.accuracy = accuracy.get();
  SweepRunner runner(std::move(environment), options, run);
  return runner.run();
}

}  // namespace pareto::sweep
