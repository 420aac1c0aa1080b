#include "client/commands/plan_training.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

#include "client/commands/leave_soon.h"
#include "client/commands/output_file.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/flags/inputs.h"
#include "client/flags/network_flag.h"
#include "client/flags/pipeline_flags.h"
#include "client/flags/splits_flag.h"
#include "client/flags/sweep_flags.h"
#include "client/report/plan_text.h"
#include "client/report/trial_list.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/sweep/training_predictor.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client::commands {
namespace {

double step_ms(const results::TrialRecord& trial) {
  return trial.prediction ? trial.prediction->latency_ms : std::numeric_limits<double>::infinity();
}

Expected<sweep::SweepOptions> options_of(PlanningFlags& flags, const PlanValues& values,
                                         const std::string& loss, const std::string& micro_batch) {
  sweep::SweepOptions options;
  options.train = true;
  options.loss = loss;
  options.splits = flags.options.splits;
  options.seed = flags.options.seed;
  options.conditions = split_list(values.networks);
  PARETO_ASSIGN(const auto settings, flags.runner.settings());
  options.settings = settings.front();
  options.more_settings.assign(settings.begin() + 1, settings.end());
  PARETO_ASSIGN(options.transports, parse_transports(flags.transport));
  PARETO_ASSIGN(options.micro_batches, parse_micro_batches(micro_batch));
  PARETO_ASSIGN(const std::chrono::milliseconds timeout, flags.timeout.read());
  options.timeout_ms = timeout.count();
  return options;
}

Expected<> predict(Context& context, const model::Model& model, const model::Model& loss,
                   const cluster::Cluster& cluster, const sweep::SweepOptions& options,
                   results::RunRecord& run) {
  ProbeInHand probe;
  const LeaveSoon leaving(context, kStopping, kExitFailed, [&] { return probe.or_hung(cluster); });
  Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
  PARETO_TRY(sweep::predict_training(model, loss, cluster, options, run.trials,
                                     context.stop.watch(), shown_on(progress, probe)));
  std::ranges::stable_sort(run.trials, {}, step_ms);
  return {};
}

}  // namespace

void PlanTraining::add_to(CLI::App& app) {
  const Heading heading(app, "Training");
  auto* train = app.add_flag(
      "--train", train_,
      "predict steps of training in place of requests: each piece of the model is trained on each "
      "device for a few steps, and links are probed. All plans that sweep --train would measure "
      "are listed, the fastest first");
  set_value(app.add_option("--loss", loss_,
                           "loss that --train trains by: " + join(model::zoo::loss_names()) +
                               ", or a TorchScript file"),
            "NAME|FILE.pt")
      ->capture_default_str()
      ->needs(train);
  set_value(
      app.add_option("--micro-batch", micro_batch_,
                     "samples of a micro-batch of --train; none trains on the whole batch at once"),
      "LIST", {"none"})
      ->capture_default_str()
      ->needs(train);
  for (const char* flag : {"--codec",      "--codec-error",   "--by-definition", "--cuts",
                           "--search",     "--also",          "--max-latency",   "--min-throughput",
                           "--max-memory", "--first",         "--last",          "--prefer",
                           "--all",        "--no-replicas",   "--save-front",    "--scenario",
                           "--dataset",    "--measured-cuts", "--fresh",         "--store",
                           "--engine",     "--precision",     "--max-error",     "--schedule"}) {
    train->excludes(app.get_option(flag));
  }
}

Expected<int> PlanTraining::run(Context& context, PlanningFlags& flags,
                                const PlanValues& values) const {
  PARETO_TRY(flags.read());
  if (!values.save.empty()) PARETO_TRY(check_writable("--save", values.save));
  PARETO_ASSIGN(const auto conditions, read_conditions(values.networks));
  PARETO_ASSIGN(sweep::SweepOptions options, options_of(flags, values, loss_, micro_batch_));
  PARETO_ASSIGN(const model::Model model, flags.model.open(context, flags.named_batches));
  PARETO_ASSIGN(options.batches, batches_for(context, model, flags.named_batches));
  options.batches.resize(1);
  PARETO_ASSIGN(const model::Model loss,
                with_context(model::zoo::open_loss(loss_, model), "--loss"));
  PARETO_ASSIGN(const auto cuts, select_splits(context, model, options.splits));
  DeviceFlags devices = flags.devices;
  if (!flags.local_devices) devices.settle(context);
  PARETO_ASSIGN(const cluster::Cluster cluster,
                devices.connect(context, flags.local_devices.value_or(kLocalDevices), conditions));
  options.stages = every_number_of_stages(cluster.size(), cuts.size());
  PARETO_ASSIGN(results::RunRecord run,
                sweep::make_run(model, cluster, options, context.command_line));
  PARETO_TRY(as_stopped(context, predict(context, model, loss, cluster, options, run)));
  if (run.trials.empty() || !run.trials.front().prediction) {
    return fail(ErrorCode::kExhausted, "no plan could be predicted: its networks cannot be had");
  }
  const results::TrialRecord& fastest = run.trials.front();
  if (!values.save.empty()) {
    const plan::PlanFile file{fastest.plan, flags.model.source()};
    PARETO_TRY(write_file_atomically(values.save, plan::to_json(file) + "\n"));
  }
  if (values.json) {
    PARETO_TRY(print_run(context, run, "json"));
  } else {
    context.out << report::trial_list(run, style_of(context))
                << fmt::format("\nfastest: {} on {}: {} ms a step of {}, {} samples/s\n",
                               report::plan_name(fastest), join(fastest.plan.device_names(), " > "),
                               report::format_figure(fastest.prediction->latency_ms), fastest.batch,
                               report::format_figure(fastest.prediction->samples_per_s))
                << std::flush;
  }
  if (!values.save.empty()) context.err << "plan: " << values.save << std::endl;
  return kExitDone;
}

}  // namespace pareto::client::commands
