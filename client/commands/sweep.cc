#include "coordinator/sweep/sweep.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>

#include "client/commands/commands.h"
#include "client/commands/leave_soon.h"
#include "client/commands/output_file.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/commands/shown_run.h"
#include "client/commands/sweep_metrics.h"
#include "client/commands/sweep_prediction.h"
#include "client/flags/json_flag.h"
#include "client/flags/kept_flags.h"
#include "client/flags/metrics_flags.h"
#include "client/flags/store_flags.h"
#include "client/flags/sweep_flags.h"
#include "client/report/trial_list.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/replay/settle.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/run_lock.h"
#include "coordinator/statistics/objective_figures.h"
#include "coordinator/sweep/race_schedule.h"
#include "coordinator/sweep/trial_predictor.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/metrics/metrics_server.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client::commands {
namespace {

// All that may stand next to --resume: a run has kept its other flags.
constexpr auto kBesideResume = std::to_array<std::string_view>(
    {"--resume", "--store", "--devices", "--testbed", "--wait", "--share", "--timeout", "--budget",
     "--report", "--metrics", "--metrics-certificate", "--metrics-key", "--metrics-client-ca",
     "--json", "--help"});

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
           "  paretoctl sweep --model inceptionv3 --splits frontiers\n"
           "  paretoctl sweep --model inceptionv3 --threads 1,2 --schedule sequential,clusters\n"
           "  sudo paretoctl sweep --model mobilenetv2 --network none,lte,wifi\n"
           "  paretoctl sweep --model resnet50 --devices 10.0.0.1:7070,10.0.0.2:7070 --network "
           "none,lte.yaml\n"
           "  sudo paretoctl sweep --model mobilenetv2 --testbed configs/testbed/two-pi4.yaml\n"
           "  paretoctl sweep --plans mine.json,theirs.json --devices inventory.yaml --rounds 10\n"
           "  paretoctl sweep --model resnet50 --exhaustive --metrics 0.0.0.0:7074\n"
           "  paretoctl sweep --model resnet50 --exhaustive --predict\n"
           "  paretoctl sweep --train --predict --model mobilenetv2 --input-shape 3x64x64 --batch "
           "8 "
           "--micro-batch 2\n"
           "  paretoctl sweep --resume last\n";
  }

  void add_options(CLI::App& app) override {
    flags_.add_to(app);
    store_.add_to(app);
    add_results_to(app);
    metrics_.add_to(app);
    for (const CLI::Option* option : app.get_options()) {
      const std::string flag = option->get_name();
      if (std::ranges::count(kBesideResume, std::string_view(flag)) == 0) kept_.push_back(option);
    }
  }

  Expected<int> run(Context& context) override {
    stop_ = &context.stop.watch();
    context.stop.leave_at_once(kStoppedEarly);
    PARETO_TRY(check_report());
    if (!resume_.empty()) return resume(context);
    if (!dry_run_ && !store_.path.empty()) PARETO_TRY(check_writable("--store", store_.path));
    flags_.settle(context);
    PARETO_TRY(flags_.read());
    sweep::SweepOptions& options = flags_.options();
    PARETO_ASSIGN(const model::Model model, flags_.open_model(context));
    std::vector<model::Cut> cuts;
    if (options.plans.empty()) {
      PARETO_ASSIGN(cuts, flags_.select_cuts(context, model));
    }
    if (!dry_run_) PARETO_TRY(check_name(context));
    if (!dry_run_) PARETO_TRY(serve_metrics(context));
    PARETO_ASSIGN(cluster::Cluster cluster, flags_.connect(context));
    if (options.stages.empty())
      options.stages = every_number_of_stages(cluster.size(), cuts.size());
    PARETO_ASSIGN(results::RunRecord run,
                  sweep::make_run(model, cluster, options, context.command_line));
    for (const results::TrialRecord& trial : run.trials) {
      PARETO_TRY(with_context(cluster::check_data_addresses(trial.plan, cluster), "{}", trial.id));
    }
    options.adaptive = flags_.is_adaptive(run.trials.size());
    PARETO_TRY(flags_.keep_figures(cluster));
    run.options_json = to_json(flags_.what());
    run.tag = tag_;
    if (dry_run_) {
      context.err << describe(run) << "\n";
      if (!json_) {
        context.out << report::trial_list(run, style_of(context)) << std::flush;
        return kExitDone;
      }
      PARETO_TRY(print_run(context, run, "json"));
      return kExitDone;
    }
    PARETO_ASSIGN(const auto store, store_.open(context));
    PARETO_TRY(store->check_writable());
    PARETO_ASSIGN(const results::RunLock lock, take(context, run.id));
    if (is_predicted(options)) {
      PARETO_TRY(predict_run(context, model, cluster, options, run, *store, progress_metrics_));
    }
    PARETO_TRY(store->begin_run(run));
    if (is_predicted(options)) PARETO_TRY(store->put_trials(run.id, run.trials));
    context.err << fmt::format("run {}: {}; results in {}\n", run.id, describe(run),
                               store_.file(context).string());
    return measure(context, model, cluster, run, *store);
  }

 private:
  void add_results_to(CLI::App& app) {
    const Heading heading(app, "Results");
    set_value(app.add_option("--name", tag_, "name for the run, by which commands find it"),
              "NAME");
    set_value(app.add_option("--report", flags_.report(),
                             "HTML file to write the report to, or none (default: report-RUN.html "
                             "next to the results)"),
              "FILE", {"none"});
    add_json(app, json_);
    app.add_flag("--dry-run", dry_run_, "list the trials and measure none");
    set_value(
        app.add_option("--resume", resume_,
                       "continue a stopped run with the flags it began with. --devices, --testbed, "
                       "--wait, --share, --store, --report, --metrics*, --timeout and --budget may "
                       "be given again and "
                       "replace its own; a budget includes the time already spent"),
        "RUN", {"last", "@runs"});
  }

  /// Checks --name before minutes of measuring. Fails: kInvalidArgument (no name, or that of
  /// another run).
  Expected<> check_name(const Context& context) const {
    if (tag_.empty()) return {};
    PARETO_ASSIGN(const auto store, store_.open(context));
    return with_context(store->check_tag(tag_), "--name {}", tag_);
  }

  /// Checks the report's file before minutes of measuring.
  Expected<> check_report() {
    const std::string& report = flags_.report();
    return report.empty() || report == "none" ? Expected<>() : check_writable("--report", report);
  }

  /// Returns "908 plans, adaptive: measured are those that by predictions may be on the front, for
  /// 5 min at most".
  std::string describe(const results::RunRecord& run) const {
    const sweep::SweepOptions& options = flags_.what().options;
    if (!options.adaptive) {
      return counted(run.trials.size(), "plan") + ", " + counted(options.rounds, "round");
    }
    return fmt::format(
        "{}, adaptive: measured are those that by predictions may be on the front, for {} at "
        "most (--exhaustive measures all)",
        counted(run.trials.size(), "plan"), sweep::time_words(options.budget_s));
  }

  static bool is_predicted(const sweep::SweepOptions& options) {
    return options.adaptive || options.predict;
  }

  /// Starts the metrics server before the devices are connected: in the network of the caller, not
  /// in one that is emulated.
  Expected<> serve_metrics(Context& context) {
    PARETO_ASSIGN(metrics_server_,
                  metrics_.serve(context, [this] { return progress_metrics_.collect(); }));
    return {};
  }

  Expected<> check_beside_resume() const {
    const auto given =
        std::ranges::find_if(kept_, [](const auto* option) { return option->count() > 0; });
    if (given == kept_.end()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "{} does not go with --resume: a resumed run keeps the flags it began with; {} may "
                "be given again",
                (*given)->get_name(),
                fmt::join(kBesideResume.begin() + 1, kBesideResume.end() - 1, ", "));
  }

  Expected<int> resume(Context& context) {
    PARETO_TRY(check_beside_resume());
    PARETO_ASSIGN(const auto store, store_.open_existing(context));
    PARETO_ASSIGN(results::RunRecord run, replay::load_settled(*store, resume_));
    std::optional<results::RunLock> lock;
    if (run.finished.empty() || flags_.gives_budget()) {
      PARETO_ASSIGN(lock, take(context, run.id));
      // Another process may have gone on with it until now.
      PARETO_ASSIGN(run, store->load_run(run.id));
    }
    // An adaptive one that its budget ended goes on with another.
    if (!run.finished.empty() && !flags_.gives_budget()) {
      if (left_open(run).empty()) context.err << "run " << run.id << " is finished\n";
      // The measurements can be shown even if the flags cannot be read any more.
      if (const auto kept = kept_flags(run); kept && flags_.report().empty()) {
        flags_.report() = kept->report;
      }
      put_in_order(run);
      return show(context, run);
    }
    PARETO_ASSIGN(const KeptFlags kept, kept_flags(run));
    PARETO_TRY(flags_.take(kept));
    PARETO_TRY(check_report());
    if (kept.testbed_content && kept.testbed_content != flags_.what().testbed_content) {
      return fail(ErrorCode::kInvalidArgument,
                  "run {} was measured {}: it goes on where it began (--testbed, with its files as "
                  "they were), or begin another run",
                  run.id,
                  kept.testbed_content->empty() ? "without a test bed" : "on another test bed");
    }
    PARETO_ASSIGN(const model::Model model, flags_.open_model(context));
    PARETO_TRY(serve_metrics(context));
    PARETO_ASSIGN(cluster::Cluster cluster, flags_.connect(context));
    PARETO_TRY(sweep::continue_run(model, cluster, flags_.options(), run));
    // What was said again holds when the run is resumed again, too.
    run.options_json = to_json(flags_.what());
    run.finished.clear();
    PARETO_TRY(store->update_run(run));
    if (is_predicted(flags_.options()) &&
        std::ranges::any_of(run.trials, sweep::lacks_prediction)) {
      PARETO_TRY(
          predict_run(context, model, cluster, flags_.options(), run, *store, progress_metrics_));
    }
    return measure(context, model, cluster, run, *store);
  }

  /// Takes the lock of the run for as long as it is measured here.
  Expected<results::RunLock> take(const Context& context, const std::string& run_id) const {
    PARETO_ASSIGN(auto lock, results::RunLock::try_take(store_.file(context), run_id));
    if (lock) return *std::move(lock);
    return fail(ErrorCode::kUnavailable,
                "run {} is being measured by another process: wait until it is done, or stop it "
                "there first (Ctrl-C)",
                run_id);
  }

  Expected<int> measure(Context& context, const model::Model& model, cluster::Cluster& cluster,
                        results::RunRecord& run, results::ResultStore& store) {
    context.phase = Phase::kRunning;
    progress_metrics_.begin(run);
    {
      const LeaveSoon leaving(context, kStopping, kExitPartial,
                              [&] { return hung_device(cluster); });
      Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
      std::size_t said = 0;
      const auto show_progress = [&](const sweep::SweepProgress& state) {
        progress_metrics_.show(state);
        for (; said < state.skipped.size(); ++said) {
          progress.clear();
          context.err << state.skipped[said] << "\n" << std::flush;
        }
        progress.show(state.done, state.total, state.phase.empty() ? state.now : state.phase,
                      state.now, state.most_left_s);
      };
      std::optional<model::Model> loss;
      if (flags_.options().train) {
        PARETO_ASSIGN(loss, model::zoo::open_loss(flags_.options().loss, model));
      }
      PARETO_TRY(with_context(sweep::run_sweep(model, cluster, flags_.options(), run, store, *stop_,
                                               show_progress, loss ? &*loss : nullptr),
                              "run {} ({} goes on)", run.id, resume_command(run, store_.hint())));
    }
    return show(context, run);
  }

  static bool has_wrong_outputs(const results::TrialRecord& trial) {
    return trial.status == results::TrialStatus::kFailed && trial.output_error &&
           !std::isfinite(trial.output_error->max);
  }

  /// Says what an adaptive sweep left undecided when its budget was spent; "" if it did not.
  std::string left_open(const results::RunRecord& run) const {
    const std::size_t plans = results::undecided(run);
    const auto kept = kept_flags(run);
    if (plans == 0 || !kept || !kept->options.adaptive) return "";
    double spent_s = 0;
    for (const results::PassRecord& pass : run.passes) spent_s += pass.seconds;
    const double budget_s = kept->options.budget_s;
    if (spent_s < budget_s) return "";
    return fmt::format("the budget of {} is spent, {} undecided; go on with: {} --budget {:g}s",
                       sweep::time_words(budget_s), counted(plans, "plan"),
                       resume_command(run, store_.hint()), 2 * budget_s);
  }

  Expected<int> show(Context& context, const results::RunRecord& run) {
    results::RunRecord shown = run;
    statistics::fill_objectives(shown);
    PARETO_TRY(print_run(context, shown, json_ ? "json" : "table"));
    // Wrong outputs are the worst that can be said of a plan.
    auto failed = std::ranges::find_if(run.trials, has_wrong_outputs);
    if (failed == run.trials.end()) {
      failed = std::ranges::find(run.trials, results::TrialStatus::kFailed,
                                 &results::TrialRecord::status);
    }
    if (failed != run.trials.end()) {
      context.err << fmt::format("{} of {} failed; the first: {}: {}\n",
                                 std::ranges::count(run.trials, results::TrialStatus::kFailed,
                                                    &results::TrialRecord::status),
                                 counted(run.trials.size(), "plan"), failed->id, failed->failure);
    }
    if (run.finished.empty()) {
      context.err << unfinished_line(run, store_.hint());
    } else if (const std::string open = left_open(run); !open.empty()) {
      context.err << open << '\n';
    }
    // Last of all: people look for it there.
    if (const std::string& report = flags_.report(); report != "none") {
      const auto beside = default_report(store_.file(context), run.id);
      PARETO_TRY(
          write_report(context, shown, report.empty() ? beside : std::filesystem::path(report)));
    }
    if (std::ranges::any_of(run.trials, has_wrong_outputs)) return kExitFailed;
    return run.finished.empty() || failed != run.trials.end() ? kExitPartial : kExitDone;
  }

  SweepFlags flags_;
  StoreFlags store_;
  std::string resume_;
  std::vector<const CLI::Option*> kept_;  ///< options that a resumed run has from its beginning
  std::string tag_;
  MetricsFlags metrics_;
  bool dry_run_ = false;
  bool json_ = false;
  const std::atomic<bool>* stop_ = nullptr;  ///< Ctrl-C was pressed
  SweepMetrics progress_metrics_;
  std::unique_ptr<metrics::MetricsServer> metrics_server_;  // last: it reads the above
};

}  // namespace

std::unique_ptr<Command> make_sweep_command() { return std::make_unique<SweepCommand>(); }

}  // namespace pareto::client::commands
