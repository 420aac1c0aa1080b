// simulate: a fleet that is not there, or a stored run again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/output_file.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/flags/store_flags.h"
#include "client/report/simulation_writer.h"
#include "coordinator/replay/calibration.h"
#include "coordinator/replay/settle.h"
#include "coordinator/replay/simulated_record.h"
#include "coordinator/results/time_text.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/planning/simulation/scenario_file.h"

namespace pareto::client::commands {
namespace {

/// Trials of the store, which is opened with the first that a scenario asks for.
class StoredPipelines final : public simulation::MeasuredPipelines {
 public:
  StoredPipelines(const StoreFlags& store, const Context& context)
      : flags_(store), context_(context) {}

  Expected<simulation::PipelineClass> find(const std::string& run,
                                           const std::string& trial) override {
    if (store_ == nullptr) {
      PARETO_ASSIGN(store_, flags_.open_existing(context_));
    }
    PARETO_ASSIGN(const results::RunRecord record, replay::load_settled(*store_, run));
    std::vector<std::string> ids;
    for (const results::TrialRecord& one : record.trials) {
      if (one.id == trial) return replay::measured_pipeline(record, one);
      ids.push_back(one.id);
    }
    return fail(ErrorCode::kNotFound, "run {} has no such trial{}", record.id,
                did_you_mean(trial, ids));
  }

 private:
  const StoreFlags& flags_;
  const Context& context_;
  std::unique_ptr<results::ResultStore> store_;
};

class SimulateCommand final : public Command {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view summary() const override {
    return "simulate a fleet of pipelines, or a stored run";
  }
  std::string_view examples() const override {
    return "  paretoctl simulate configs/simulation/fleet.yaml           ten thousand devices\n"
           "  paretoctl simulate configs/simulation/handover.yaml --json\n"
           "  paretoctl simulate plan.yaml --report plan.html --csv plan.csv\n"
           "                                         what paretoctl plan --scenario plan.yaml "
           "wrote\n"
           "  paretoctl simulate --run last          how near the simulator comes to what was "
           "measured\n"
           "\n"
           "A scenario names devices, what they share, pipelines and when requests come. Its times "
           "are written\nby hand or by plan, or are those of a stored trial.\n"
           "\n"
           "With --run every trial is simulated from its own requests at window 1, and compared "
           "with its\nmeasured throughput.\n";
  }
  void add_options(CLI::App& app) override {
    store_.add_to(app);
    auto* scenario = set_value(
        app.add_option("scenario", scenario_,
                       "YAML file; partitioner/planning/simulation/FORMAT.md has all its keys"),
        "FILE");
    set_value(app.add_option("--run", run_,
                             "stored run to simulate instead: its name or id, the beginning of its "
                             "id, last, or last~1"),
              "RUN", {"last", "@runs"});
    set_value(app.add_option("--requests", requests_,
                             "largest number of requests that are simulated (default: the "
                             "scenario's, or 20000 for each trial of a run)"),
              "N");
    set_value(app.add_option("--cores", cores_,
                             "number of cores of each device, for the threads of a stage, with "
                             "--run"),
              "N")
        ->capture_default_str()
        ->excludes(scenario);
    set_value(app.add_option("--seed", seed_,
                             "seed of all that is drawn (default: the scenario's, or 1)"),
              "N")
        ->check(CLI::NonNegativeNumber.description(""));
    set_value(app.add_option("--report", report_,
                             "HTML file to write: classes of pipelines in place of plans, or with "
                             "--run the simulated figures as predictions"),
              "FILE");
    set_value(app.add_option("--csv", csv_, "CSV file to write, a line for each class or trial"),
              "FILE");
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    if (scenario_.empty() == run_.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "simulate takes a scenario's file, or --run: one of the two");
    }
    if (requests_ && *requests_ < 1) {
      return fail(ErrorCode::kInvalidArgument, "--requests {}: at least 1 is needed", *requests_);
    }
    if (!report_.empty()) PARETO_TRY(check_writable("--report", report_));
    if (!csv_.empty()) PARETO_TRY(check_writable("--csv", csv_));
    const std::atomic<bool>& stop = context.stop.watch();
    return run_.empty() ? simulate_scenario(context, stop) : simulate_stored(context, stop);
  }

 private:
  Expected<int> simulate_scenario(Context& context, const std::atomic<bool>& stop) const {
    StoredPipelines measured(store_, context);
    PARETO_ASSIGN(simulation::Scenario scenario, simulation::read_scenario(scenario_, measured));
    if (seed_) scenario.seed = *seed_;
    if (requests_) scenario.requests = *requests_;
    const std::string started = results::time_text(std::chrono::system_clock::now());
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    auto simulated = simulation::simulate(scenario, [&](double share) {
      constexpr double kParts = 100;
      progress.show(static_cast<std::size_t>(share * kParts), static_cast<std::size_t>(kParts),
                    "simulating", "percent");
      return !stop;
    });
    progress.clear();
    PARETO_ASSIGN(const simulation::Outcome outcome,
                  with_context(std::move(simulated), "{}", scenario_));
    context.out << (json_ ? report::write_simulation_json(scenario_, scenario, outcome)
                          : write_simulation_table(scenario_, outcome, style_of(context)));
    if (writes_files()) {
      results::RunRecord record = replay::simulated_record(scenario_, scenario, outcome);
      record.command_line = context.command_line;
      record.started = started;
      record.finished = results::end_time_text(started);
      PARETO_TRY(write_files(context, record));
    }
    return outcome.stopped ? kExitPartial : kExitDone;
  }

  Expected<int> simulate_stored(Context& context, const std::atomic<bool>& stop) const {
    replay::RunSimulationOptions options;
    if (seed_) options.seed = *seed_;
    if (requests_) options.requests = *requests_;
    options.cores = cores_;
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    PARETO_ASSIGN(const results::RunRecord record, replay::load_settled(*store, run_));
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    PARETO_ASSIGN(const auto trials, replay::simulate_run(record, options, [&](std::size_t done) {
                    progress.show(done, record.trials.size(), "simulating trials",
                                  record.trials[done].id);
                    return !stop;
                  }));
    progress.clear();
    context.out << (json_ ? report::write_simulated_run_json(record, options, trials)
                          : write_simulated_run_table(record, trials, style_of(context)));
    if (writes_files()) {
      PARETO_TRY(write_files(context, replay::with_simulated_predictions(record, trials)));
    }
    return trials.size() < record.trials.size() ? kExitPartial : kExitDone;
  }

  bool writes_files() const { return !report_.empty() || !csv_.empty(); }

  Expected<> write_files(Context& context, const results::RunRecord& record) const {
    if (!report_.empty()) PARETO_TRY(write_report(context, record, report_));
    if (csv_.empty()) return {};
    PARETO_ASSIGN(const auto writer, report::make_writer("csv"));
    PARETO_ASSIGN(const std::string text, writer->write(record, {}));
    return write_file_atomically(csv_, text);
  }

  StoreFlags store_;
  std::string scenario_;
  std::string run_;
  std::optional<std::int64_t> requests_;
  int cores_ = 1;
  std::optional<std::uint64_t> seed_;
  std::string report_;
  std::string csv_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() { return std::make_unique<SimulateCommand>(); }

}  // namespace pareto::client::commands
