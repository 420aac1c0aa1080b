#include "client/experiment/sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>

#include "client/commands/commands.h"
#include "client/commands/flags.h"
#include "client/commands/kept_flags.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/commands/sweep_metrics.h"
#include "client/experiment/race_schedule.h"
#include "client/planning/trial_predictor.h"
#include "client/results/run_lock.h"
#include "core/base/text.h"
#include "core/metrics/metrics_server.h"

namespace pareto::client {
namespace {

// Started where no devices are named and the number of stages does not say how many.
constexpr int kLocalDevices = 2;
// A sweep of more is adaptive unless told otherwise.
constexpr std::size_t kManyTrials = 60;
// All that may stand beside --resume: a run has kept its other flags.
constexpr std::array<std::string_view, 8> kBesideResume{
    "--resume", "--store", "--devices", "--testbed", "--report", "--metrics", "--json", "--help"};

class SweepCommand final : public Command {
 public:
  std::string_view name() const override { return "sweep"; }
  std::string_view summary() const override {
    return "measure every chosen plan and show the Pareto front";
  }
  std::string_view examples() const override {
    return "  paretoctl sweep --model mobilenetv2\n"
           "  paretoctl sweep --model swin_t.pt --input-shape 3x224x224 --splits "
           "percent:25,percent:50\n"
           "  paretoctl sweep --model resnet50 --devices inventory.yaml --batch 1,8 --report "
           "front.html\n"
           "  paretoctl sweep --model resnet50 --devices inventory.yaml --stages auto\n"
           "  sudo paretoctl sweep --model mobilenetv2 --network none,configs/network/lte.yaml\n"
           "  paretoctl sweep --model resnet50 --devices inventory.yaml --network none,lte.yaml\n"
           "  sudo paretoctl sweep --model mobilenetv2 --testbed configs/testbed/two-pi4.yaml\n"
           "  paretoctl sweep --plans mine.json,theirs.json --devices inventory.yaml --rounds 10\n"
           "  paretoctl sweep --model resnet50 --exhaustive --metrics 0.0.0.0:7074\n"
           "  paretoctl sweep --resume last\n";
  }

  void add_options(CLI::App& app) override {
    model_.add_to(app, /*required=*/false);
    devices_.add_to(app);
    runner_.add_to(app);
    store_.add_to(app);
    auto* plans = app.add_option(
        "--plans", plans_,
        "plan files (as of run --save-plan), or folders of them, separated by commas: measured as "
        "they "
        "stand, in place of split points on devices; with --network under every condition");
    app.add_option("--splits", options_.splits,
                   "modules, all, auto, after:MODULE, percent:P, op:N; several separated by commas")
        ->capture_default_str();
    app.add_option(
           "--stages", stages_,
           "devices a plan spans; several separated by commas; 1: plans on one device alone, "
           "which every sweep measures; auto: every number from 2 to that of the devices")
        ->capture_default_str();
    pipeline_.add_to(app);
    timeout_.add_to(app);
    app.add_option("--batch", batches_, "batch sizes")->capture_default_str();
    app.add_option(
        "--network", networks_,
        "conditions of the network, as configs/network/lte.yaml; several separated by commas; "
        "none: as it is. Between daemons on this machine it is emulated, which needs root; with "
        "--devices they change their own (netem_interface, allow_netem) (default: none, or what "
        "the test bed has)");
    app.add_option("--requests", options_.requests, "measured a plan and round")
        ->capture_default_str();
    app.add_option("--rounds", options_.rounds, "in each of which every plan is measured once")
        ->capture_default_str();
    app.add_option("--seed", options_.seed, "of the order of plans and of the inputs")
        ->capture_default_str();
    // A plan file says all of these itself.
    for (const char* flag : {"--splits", "--stages", "--transport", "--codec", "--micro-batch",
                             "--window", "--batch", "--engine", "--precision", "--threads"}) {
      plans->excludes(app.get_option(flag));
    }
    auto* adaptive = app.add_flag(
        "--adaptive", adaptive_,
        "predict every plan, and measure those that may be on the front until each is decided or "
        "the budget is spent (default where there are more than 60 plans, or a --budget)");
    auto* exhaustive =
        app.add_flag("--exhaustive", exhaustive_, "measure every plan in every round")
            ->excludes(adaptive);
    auto* budget = app.add_option("--budget", budget_,
                                  "of measuring time of an adaptive sweep: 90s, 5m, 1h "
                                  "(default: 5m)")
                       ->excludes(exhaustive);
    plans->excludes(adaptive)->excludes(budget);
    app.add_flag("--dry-run", dry_run_, "list the trials and measure none");
    auto* going_on = app.add_option(
        "--resume", resume_,
        "RUN or last: go on where it stopped, with its own flags; beside it only where devices and "
        "results are may be said anew");
    app.add_option("--report", report_,
                   "FILE.html, or none (default: report-RUN.html beside the results)");
    app.add_option("--metrics", metrics_,
                   "HOST:PORT: answer GET /metrics for Prometheus there while it runs");
    app.add_flag("--json", json_, "one JSON document on stdout and nothing else there");
    for (CLI::Option* option : app.get_options()) {
      const std::string flag = option->get_name();
      if (std::ranges::count(kBesideResume, std::string_view(flag)) == 0) {
        going_on->excludes(option);
      }
    }
  }

  Expected<int> run(Context& context) override {
    stop_ = &context.stop.watch();
    if (!resume_.empty()) return resume(context);
    if (!plans_.empty()) {
      PARETO_ASSIGN(options_.plans, with_context(read_plan_files(split_list(plans_)), "--plans"));
      if (options_.plans.empty()) return fail(ErrorCode::kInvalidArgument, "--plans names none");
      if (model_.model.empty()) model_.model = options_.plans.front().plan.model;
    }
    if (model_.model.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "--model is missing (or --plans FILE, --resume RUN)");
    }
    PARETO_TRY(check());
    PARETO_ASSIGN(const partitioner::Model model, model_.open());
    std::vector<std::size_t> points;
    if (options_.plans.empty()) {
      PARETO_ASSIGN(points,
                    partitioner::select_split_points(model.split_points(), options_.splits));
    }
    if (!dry_run_) PARETO_TRY(serve_metrics(context));
    PARETO_ASSIGN(Cluster cluster, connect(context));
    if (options_.stages.empty()) options_.stages = every_number(cluster.size(), points.size());
    PARETO_ASSIGN(RunRecord run, make_run(model, cluster, options_, context.command_line));
    options_.adaptive = adaptive_ || budget_ ||
                        (!exhaustive_ && options_.plans.empty() && run.trials.size() > kManyTrials);
    PARETO_ASSIGN(std::string testbed, devices_.testbed_content());
    run.options_json =
        to_json(KeptFlags{options_, model_, devices_, conditions_, std::move(testbed)});
    if (dry_run_) {
      context.err << describe(run) << "\n";
      PARETO_TRY(print_run(context, run, json_ ? "json" : "table"));
      return kExitDone;
    }
    PARETO_ASSIGN(const auto store, store_.open(context));
    PARETO_ASSIGN(const RunLock lock, take(context, run.id));
    if (options_.adaptive) PARETO_TRY(predict(context, model, cluster, run, *store));
    PARETO_TRY(store->begin_run(run));
    if (options_.adaptive) PARETO_TRY(store->put_trials(run.id, run.trials));
    context.err << fmt::format("run {}: {}; results in {}\n", run.id, describe(run),
                               store_.file(context).string());
    return measure(context, model, cluster, run, *store);
  }

 private:
  Expected<> check() {
    const auto at_least_one = [](const char* flag, int number) -> Expected<> {
      if (number >= 1) return {};
      return fail(ErrorCode::kInvalidArgument, "{} {}: at least 1 is needed", flag, number);
    };
    PARETO_TRY(runner_.check());
    PARETO_ASSIGN(options_.transports, parse_transports(pipeline_.transport));
    PARETO_ASSIGN(options_.codecs, parse_codecs(pipeline_.codec));
    PARETO_TRY(check_codec_error(pipeline_.codec_error));
    options_.codec_error = pipeline_.codec_error;
    PARETO_ASSIGN(options_.batches, parse_batches(batches_));
    PARETO_ASSIGN(options_.micro_batches, parse_micro_batches(pipeline_.micro_batch));
    PARETO_ASSIGN(options_.window, parse_window(pipeline_.window));
    PARETO_TRY(at_least_one("--requests", options_.requests));
    PARETO_TRY(at_least_one("--rounds", options_.rounds));
    PARETO_ASSIGN(options_.stages, parse_stages(stages_));
    if (networks_.empty()) {
      networks_ = "none";
      if (!devices_.testbed.empty()) {
        PARETO_ASSIGN(const ChosenTestbed chosen, find_testbed(devices_.testbed));
        networks_ = chosen.network();
      }
    }
    PARETO_ASSIGN(conditions_, read_conditions(networks_));
    options_.conditions.clear();
    for (const std::string& file : split_list(networks_)) {
      options_.conditions.push_back(is_condition_file(file) ? absolute_path(file) : file);
    }
    if (budget_) {
      PARETO_ASSIGN(options_.budget_s, parse_budget(*budget_));
    }
    PARETO_TRY(read_timeout());
    options_.engine = runner_.engine;
    options_.precision = runner_.precision;
    options_.threads = runner_.threads;
    return {};
  }

  Expected<> read_timeout() {
    PARETO_ASSIGN(const auto timeout, timeout_.read());
    options_.timeout_ms = timeout.count();
    return {};
  }

  /// "908 plans, adaptive: 12 cannot be predicted and are measured, of the others what may be on the front, for 5 min at most".
  std::string describe(const RunRecord& run) const {
    if (!options_.adaptive) {
      return fmt::format("{} plans, {} rounds", run.trials.size(), options_.rounds);
    }
    const auto unknown = std::ranges::count_if(
        run.trials, [](const TrialRecord& trial) { return !is_predictable(trial); });
    return fmt::format(
        "{} plans, adaptive: {}{} are predicted and those measured that may be on the front, for "
        "{} at most (--exhaustive measures all)",
        run.trials.size(),
        unknown > 0 ? fmt::format("{} cannot be predicted and are measured, ", unknown) : "",
        std::ssize(run.trials) - unknown, time_words(options_.budget_s));
  }

  Expected<> predict(Context& context, const partitioner::Model& model, const Cluster& cluster,
                     RunRecord& run, ResultStore& store) {
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    return predict_trials(model, cluster, store, options_, run.trials, *stop_,
                          [&](const std::string& now, std::size_t done, std::size_t total) {
                            progress.show(done, total, now, now);
                          });
  }

  /// To be started where none are named.
  int local_devices() const {
    if (!options_.plans.empty()) {
      return std::max(kLocalDevices, static_cast<int>(devices_named(options_.plans)));
    }
    return options_.stages.empty() ? kLocalDevices : std::ranges::max(options_.stages);
  }

  /// Of stages that so many devices and split points allow, beyond one.
  static std::vector<int> every_number(std::size_t devices, std::size_t points) {
    std::vector<int> numbers;
    const std::size_t most = std::min(devices, points + 1);
    for (std::size_t number = 2; number <= most; ++number) {
      numbers.push_back(static_cast<int>(number));
    }
    return numbers.empty() ? std::vector<int>{1} : numbers;
  }

  /// The devices, and where a condition of the network is asked for, that between them. Before any thread is started.
  Expected<Cluster> connect(const Context& context) const {
    PARETO_ASSIGN(Cluster cluster, devices_.connect(context, local_devices(), conditions_));
    if (Network* const network = cluster.network()) {
      for (const std::string& file : options_.conditions) {
        PARETO_TRY(network->offers(condition_name(file)));
      }
      // What is sent before the first trial need not cross a slow network.
      PARETO_TRY(network->apply(network->resting_condition()));
    }
    return cluster;
  }

  /// Before the devices are connected: in the network of whoever asks, not in one that is emulated.
  Expected<> serve_metrics(Context& context) {
    if (metrics_.empty()) return {};
    PARETO_ASSIGN(metrics_server_, metrics::MetricsServer::start(
                                       metrics_, [this] { return progress_metrics_.collect(); }));
    context.err << fmt::format("metrics at http://{}/metrics\n", metrics_server_->address());
    return {};
  }

  Expected<int> resume(Context& context) {
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    PARETO_ASSIGN(RunRecord run, store->load_run(resume_));
    std::optional<RunLock> lock;
    if (run.finished.empty()) {
      PARETO_ASSIGN(lock, take(context, run.id));
      // Another process may have gone on with it until now.
      PARETO_ASSIGN(run, store->load_run(run.id));
    }
    if (!run.finished.empty()) {
      context.err << "run " << run.id << " is finished\n";
      return show(context, run);
    }
    PARETO_ASSIGN(const KeptFlags kept, kept_flags(run));
    options_ = kept.options;
    // It may be why trials failed.
    if (timeout_.timeout) PARETO_TRY(read_timeout());
    model_ = kept.model;
    // The same ones may be somewhere else by now.
    if (devices_.inventory.empty() && devices_.testbed.empty()) devices_ = kept.devices;
    conditions_ = kept.conditions;
    PARETO_ASSIGN(const std::string testbed, devices_.testbed_content());
    if (kept.testbed_content && *kept.testbed_content != testbed) {
      return fail(ErrorCode::kInvalidArgument,
                  "run {} was measured {}: it goes on where it began (--testbed, with its files as "
                  "they were), or begin another run",
                  run.id,
                  kept.testbed_content->empty() ? "without a test bed" : "on another test bed");
    }
    PARETO_ASSIGN(const partitioner::Model model, model_.open());
    PARETO_TRY(serve_metrics(context));
    PARETO_ASSIGN(Cluster cluster, connect(context));
    PARETO_TRY(continue_run(model, cluster, options_, run));
    const bool predicted = std::ranges::any_of(run.trials, [](const TrialRecord& trial) {
      return trial.prediction.has_value() || trial.no_room;
    });
    if (options_.adaptive && !predicted) PARETO_TRY(predict(context, model, cluster, run, *store));
    return measure(context, model, cluster, run, *store);
  }

  /// For as long as the run is measured here.
  Expected<RunLock> take(const Context& context, const std::string& run_id) const {
    PARETO_ASSIGN(auto lock, RunLock::try_take(store_.file(context), run_id));
    if (lock) return *std::move(lock);
    return fail(ErrorCode::kUnavailable,
                "run {} is being measured by another paretoctl: wait until it is done, or stop it "
                "there first (Ctrl-C)",
                run_id);
  }

  Expected<int> measure(Context& context, const partitioner::Model& model, Cluster& cluster,
                        RunRecord& run, ResultStore& store) {
    progress_metrics_.begin(run);
    {
      Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
      const auto show_progress = [&](const SweepProgress& state) {
        progress_metrics_.show(state);
        progress.show(state.done, state.total, state.phase.empty() ? state.now : state.phase,
                      state.now);
      };
      PARETO_TRY(
          with_context(run_sweep(model, cluster, options_, run, store, *stop_, show_progress),
                       "run {} ({} goes on)", run.id, resume_command(run)));
    }
    return show(context, run);
  }

  std::string resume_command(const RunRecord& run) const {
    return fmt::format("paretoctl sweep --resume {}{}", run.id, store_.hint());
  }

  Expected<int> show(Context& context, const RunRecord& run) {
    PARETO_TRY(print_run(context, run, json_ ? "json" : "table"));
    if (report_ != "none") {
      const auto beside = store_.file(context).parent_path() / ("report-" + run.id + ".html");
      PARETO_TRY(
          write_report(context, run, report_.empty() ? beside : std::filesystem::path(report_)));
    }
    const auto failed = std::ranges::find(run.trials, TrialStatus::kFailed, &TrialRecord::status);
    if (failed != run.trials.end()) {
      context.err << fmt::format(
          "{} of {} plans failed; the first: {}: {}\n",
          std::ranges::count(run.trials, TrialStatus::kFailed, &TrialRecord::status),
          run.trials.size(), failed->id, failed->failure);
    }
    if (run.finished.empty()) {
      context.err << fmt::format("run {} is not finished; go on with: {}\n", run.id,
                                 resume_command(run));
    }
    return run.finished.empty() || failed != run.trials.end() ? kExitPartial : kExitDone;
  }

  ModelFlags model_;
  DeviceFlags devices_;
  RunnerFlags runner_;
  PipelineFlags pipeline_{.transport = "tcp,grpc"};
  TimeoutFlag timeout_;
  StoreFlags store_;
  SweepOptions options_;
  std::vector<NamedCondition> conditions_;  ///< those of options_.conditions that are files
  std::string plans_;
  std::string stages_ = "2";
  std::string batches_ = "1";
  std::string networks_;
  std::string resume_;
  std::string report_;
  std::string metrics_;
  std::optional<std::string> budget_;
  bool adaptive_ = false;
  bool exhaustive_ = false;
  bool dry_run_ = false;
  bool json_ = false;
  const std::atomic<bool>* stop_ = nullptr;  ///< Ctrl-C was pressed
  const SteadyClock clock_;
  SweepMetrics progress_metrics_{clock_};
  std::unique_ptr<metrics::MetricsServer> metrics_server_;  // last: it reads the above
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace pareto::client
