// tasks: many models at once on the workers of this machine, or of devices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/leave_soon.h"
#include "client/commands/output_file.h"
#include "client/commands/progress.h"
#include "client/commands/show.h"
#include "client/flags/json_flag.h"
#include "client/flags/task_flags.h"
#include "client/report/tasks/task_writer.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client::commands {
namespace {

constexpr const char* kTasksStoppedEarly = "stopped before the tasks were run";
constexpr const char* kTasksStopping =
    "stopping: what has begun is finished and shown; again to leave now";

/// Parses "0.1,0.5" or "10%,50%" as shares from 0 to 1.
Expected<std::vector<double>> parse_heavy_shares(const std::string& text) {
  std::vector<double> shares;
  for (const std::string& word : split_list(text)) {
    const bool percent = word.ends_with('%');
    const char* const end = word.data() + word.size() - (percent ? 1 : 0);
    double share = -1;
    const auto [at, status] = std::from_chars(word.data(), end, share);
    if (percent) share /= 100;
    if (status != std::errc() || at != end || !(share >= 0 && share <= 1)) {
      return fail(ErrorCode::kInvalidArgument,
                  "--shares {}: shares of heavy tasks are needed, from 0 to 1, as in 0.1,0.5",
                  word);
    }
    shares.push_back(share);
  }
  if (shares.empty()) return fail(ErrorCode::kInvalidArgument, "--shares names none");
  return shares;
}

class TasksCommand final : public Command {
 public:
  std::string_view name() const override { return "tasks"; }
  std::string_view summary() const override {
    return "run many models at once on shared workers, split or whole, and show what it gains";
  }
  std::string_view examples() const override {
    return "  paretoctl tasks run --tasks 10 --ratio 1:2 --workers 2\n"
           "  paretoctl tasks run --file configs/tasks/mix.yaml --baseline sequential --html "
           "tasks.html\n"
           "  paretoctl tasks run --file configs/tasks/deadlines.yaml --schedule deadline "
           "--trace tasks.json\n"
           "  paretoctl tasks run --heavy resnet50 --light mobilenetv2 --metric bytes/flops "
           "--stages 3\n"
           "  paretoctl tasks run --tasks 20 --devices pi:7070,server:7070\n"
           "  paretoctl tasks sweep --tasks 8 --html sweep.html --csv results\n";
  }

  void add_options(CLI::App& app) override {
    app.add_option("action", action_, "run tasks, or run several mixes of them (sweep)")
        ->required()
        ->check(CLI::IsMember({"run", "sweep"}));
    tasks_.add_to(app);
    {
      const Heading heading(app, "Tasks");
      auto* shares =
          set_value(app.add_option("--shares", shares_, "shares of heavy tasks, of sweep"), "LIST");
      shares->capture_default_str();
      only_sweep_ = shares;
      for (const char* flag : {"--ratio", "--file"}) only_run_.push_back(app.get_option(flag));
    }
    run_.add_to(app);
    const Heading heading(app, "Results");
    app.add_flag("--show", show_, "list every task, however many there are");
    add_json(app, json_);
    set_value(app.add_option("--csv", csv_,
                             "folder to write to: profile.csv, and runs.csv and tasks.csv, or "
                             "sweep.csv"),
              "DIR");
    set_value(
        app.add_option("--html", html_, "page to write, with who ran what when, or the curve"),
        "FILE");
    only_run_.push_back(set_value(app.add_option("--trace", trace_,
                                                 "file to write a run to, for ui.perfetto.dev and "
                                                 "chrome://tracing"),
                                  "FILE"));
  }

  Expected<int> run(Context& context) override {
    const std::atomic<bool>& stop = context.stop.watch();
    context.stop.leave_at_once(kTasksStoppedEarly);
    PARETO_TRY(check_action());
    for (const auto& [flag, path] : {std::pair{"--html", &html_}, std::pair{"--trace", &trace_}}) {
      if (!path->empty()) PARETO_TRY(check_writable(flag, *path));
    }
    if (!csv_.empty()) PARETO_TRY(check_folder());
    run_.devices.settle(context);
    PARETO_ASSIGN(const tasks::ContestOptions contest, run_.contest_options());
    PARETO_ASSIGN(tasks::BenchOptions options, run_.bench_options(context));
    if (run_.on_devices()) {
      constexpr int kNoneOfOurs = 0;
      PARETO_ASSIGN(cluster_, run_.devices.connect(context, kNoneOfOurs));
      options.devices = &*cluster_;
    }
    return action_ == "run" ? run_tasks(context, options, contest, stop)
                            : run_sweep(context, options, contest, stop);
  }

 private:
  /// Refuses flags that the action would forget.
  Expected<> check_action() const {
    if (action_ == "run") {
      if (only_sweep_->count() == 0) return {};
      return fail(ErrorCode::kInvalidArgument,
                  "--shares is of tasks sweep: a run has one mix, of --ratio");
    }
    for (const CLI::Option* const option : only_run_) {
      if (option->count() == 0) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "{} is of tasks run: a sweep makes its own mixes of --heavy and --light",
                  option->get_name());
    }
    return {};
  }

  Expected<std::unique_ptr<tasks::TaskBench>> open(Context& context, tasks::BenchOptions& options,
                                                   const std::vector<tasks::TaskModel>& models,
                                                   const std::atomic<bool>& stop) {
    PARETO_ASSIGN(auto opened, open_models(context, models));
    context.phase = Phase::kRunning;
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    std::size_t done = 0;
    options.progress = [&](const std::string& what) {
      progress.show(done++, models.size(), "loading models", what);
    };
    auto bench = tasks::TaskBench::open(std::move(opened), models, options, stop);
    progress.clear();
    return bench;
  }

  Expected<tasks::TaskReport> measure(Context& context, tasks::TaskBench& bench,
                                      const tasks::TaskSet& set,
                                      const tasks::ContestOptions& contest,
                                      const std::atomic<bool>& stop) const {
    Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
    const auto all = static_cast<std::size_t>(contest.rounds) + 1;
    bool rehearses = true;
    std::optional<LeaveSoon> leaving;
    const auto announce = [&] {
      if (!cluster_) return context.stop.announce(kTasksStopping);
      leaving.emplace(context, kTasksStopping, kExitPartial,
                      [this] { return hung_device(*cluster_); });
    };
    auto report =
        tasks::run_contest(bench, set, contest, stop, [&](int round, const std::string& what) {
          // After the rehearsal there is something to be shown.
          if (!std::exchange(rehearses, false) && !leaving) announce();
          progress.show(static_cast<std::size_t>(round) + 1, all,
                        round < 0 ? "warming up" : fmt::format("round {}/{}", round + 1, all - 1),
                        what);
        });
    progress.clear();
    return report;
  }

  Expected<int> run_tasks(Context& context, tasks::BenchOptions& options,
                          const tasks::ContestOptions& contest, const std::atomic<bool>& stop) {
    PARETO_ASSIGN(const tasks::TaskSet set, tasks_.read());
    PARETO_ASSIGN(const auto bench, open(context, options, set.models, stop));
    PARETO_ASSIGN(const tasks::TaskReport report, measure(context, *bench, set, contest, stop));
    context.out << (json_ ? report::write_task_json(report)
                          : report::write_task_table(report, style_of(context), show_));
    if (!csv_.empty()) PARETO_TRY(write_csv(context, report::task_csv_files(report)));
    if (!html_.empty()) {
      PARETO_ASSIGN(const std::string page, report::task_page(report));
      PARETO_TRY(write(context, "html", html_, page));
    }
    if (!trace_.empty()) {
      PARETO_TRY(write(context, "trace", trace_, report::task_chrome_trace(report)));
    }
    return exit_code(report);
  }

  Expected<int> run_sweep(Context& context, tasks::BenchOptions& options,
                          const tasks::ContestOptions& contest, const std::atomic<bool>& stop) {
    PARETO_ASSIGN(const std::vector<double> shares, parse_heavy_shares(shares_));
    PARETO_ASSIGN(tasks::MixOptions mix, tasks_.mix());
    // Both models are loaded, in one order, whether a mix has both of them or not.
    const std::vector<tasks::TaskModel> models{mix.heavy, mix.light};
    if (mix.heavy == mix.light) {
      return fail(ErrorCode::kInvalidArgument, "--heavy and --light are one model: {}",
                  mix.heavy.title());
    }
    PARETO_TRY(with_context(tasks::make_mix(mix), "--tasks"));
    PARETO_ASSIGN(const auto bench, open(context, options, models, stop));
    tasks::TaskSweep sweep;
    bool wrong = false;
    bool lost = false;
    for (const double share : shares) {
      if (stop) break;
      mix.heavy_share = share;
      PARETO_ASSIGN(const tasks::TaskSet set, tasks::make_mix(mix));
      auto report = measure(context, *bench, with_models(set, models), contest, stop);
      if (!report && stop) break;
      if (!report && !sweep.points.empty()) {
        // What was measured before is not lost with it.
        context.err << report.error().message << '\n';
        break;
      }
      PARETO_TRY(report);
      wrong = wrong || exit_code(*report) == kExitFailed;
      sweep.points.push_back({share, *std::move(report)});
      lost = !sweep.points.back().report.losses.empty();
      if (lost) break;
    }
    sweep.stopped = stop || sweep.points.size() < shares.size() || lost;
    context.out << (json_ ? report::write_task_sweep_json(sweep)
                          : report::write_task_sweep_table(sweep, style_of(context)));
    if (!csv_.empty()) PARETO_TRY(write_csv(context, report::task_sweep_csv_files(sweep)));
    if (!html_.empty()) {
      PARETO_ASSIGN(const std::string page, report::task_sweep_page(sweep));
      PARETO_TRY(write(context, "html", html_, page));
    }
    return wrong ? kExitFailed : sweep.stopped ? kExitPartial : kExitDone;
  }

  /// Returns the same tasks, with numbers into these models.
  static tasks::TaskSet with_models(tasks::TaskSet set,
                                    const std::vector<tasks::TaskModel>& models) {
    tasks::TaskSet all{.models = models, .tasks = set.tasks};
    for (tasks::Task& task : all.tasks) task.model = all.index_of(set.models[task.model]);
    return all;
  }

  /// Outputs that are wrong are a failure, whatever was gained.
  static int exit_code(const tasks::TaskReport& report) {
    const bool wrong = std::ranges::any_of(
        report.contestants, [](const tasks::Contestant& one) { return one.mismatches > 0; });
    if (wrong) return kExitFailed;
    return report.stopped || !report.losses.empty() ? kExitPartial : kExitDone;
  }

  Expected<> check_folder() const {
    std::error_code error;
    if (std::filesystem::is_directory(csv_, error)) {
      return check_writable("--csv", std::filesystem::path(csv_) / "runs.csv");
    }
    if (std::filesystem::exists(csv_, error)) {
      return fail(ErrorCode::kInvalidArgument, "--csv {}: it is there, and is no folder", csv_);
    }
    return check_writable("--csv", csv_);
  }

  static Expected<> write(Context& context, const char* what, const std::filesystem::path& path,
                          const std::string& text) {
    PARETO_TRY(with_context(write_file_atomically(path, text), "writing --{}", what));
    context.err << what << ": " << path.string() << '\n';
    return {};
  }

  Expected<> write_csv(Context& context, const std::map<std::string, std::string>& files) const {
    std::error_code error;
    std::filesystem::create_directories(csv_, error);
    if (error) return tl::unexpected(error_from_errno(error.value(), "--csv " + csv_));
    for (const auto& [file, text] : files) {
      PARETO_TRY(write(context, "csv", std::filesystem::path(csv_) / file, text));
    }
    return {};
  }

  std::string action_;
  std::optional<cluster::Cluster> cluster_;  ///< no value: the tasks run in this process
  TaskFlags tasks_;
  TaskRunFlags run_;
  std::string shares_ = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9";
  std::string csv_;
  std::string html_;
  std::string trace_;
  bool show_ = false;
  bool json_ = false;
  const CLI::Option* only_sweep_ = nullptr;
  std::vector<const CLI::Option*> only_run_;
};

}  // namespace

std::unique_ptr<Command> make_tasks_command() { return std::make_unique<TasksCommand>(); }

}  // namespace pareto::client::commands
