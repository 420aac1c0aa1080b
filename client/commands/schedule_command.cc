#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/output_file.h"
#include "client/commands/show.h"
#include "client/flags/inputs.h"
#include "client/flags/json_flag.h"
#include "client/flags/model_flags.h"
#include "client/flags/number_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/schedule_flag.h"
#include "client/report/schedule/schedule_writer.h"
#include "core/base/cores.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/thread_pool.h"
#include "core/base/usage.h"
#include "core/plan/stage_settings.h"
#include "partitioner/model/emit/emit.h"
#include "partitioner/model/graph/call_graph.h"
#include "runtime/schedules/check_schedule.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/schedule.h"
#include "runtime/shard_runner.h"

namespace pareto::client::commands {
namespace {

using model::Model;

/// A picture that may be asked for.
struct Picture {
  const char* flag;
  const char* help;
  std::function<Expected<std::string>(const report::schedule::ScheduleReport&)> draw;
  std::string path{};
};

std::vector<Picture> all_pictures() {
  return {{"--html", "page to write the chart of a measured run to, with all units",
           report::schedule::schedule_page},
          {"--svg", "file to write that chart to, as a picture of its own",
           [](const report::schedule::ScheduleReport& report) -> Expected<std::string> {
             return report::schedule::schedule_svg(report);
           }},
          {"--dot", "file to write the operators to, each in its unit, for Graphviz",
           [](const report::schedule::ScheduleReport& report) -> Expected<std::string> {
             return report::schedule::schedule_dot(report);
           }},
          {"--trace", "file to write that run to, for ui.perfetto.dev and chrome://tracing",
           [](const report::schedule::ScheduleReport& report) -> Expected<std::string> {
             return report::schedule::schedule_chrome_trace(report);
           }}};
}

class ScheduleCommand final : public Command {
 public:
  std::string_view name() const override { return "schedule"; }
  std::string_view summary() const override {
    return "show how a schedule puts a model to work on the cores of this machine, and what it "
           "gains";
  }
  std::string_view examples() const override {
    return "  paretoctl schedule --model inceptionv3 --policy clusters --show\n"
           "  paretoctl schedule --model googlenet --policy auto --workers 2 --html "
           "googlenet.html\n"
           "  paretoctl schedule --model resnet50 --program mine.yaml --batch 8 --trace run.json\n"
           "  paretoctl schedule --model squeezenet1_0 --policy mixed --dot squeezenet.dot\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    add_schedule_to(app);
    add_engine(app, runner_.engine);
    {
      const Heading heading(app, "Computing");
      set_value(app.add_option("--precision", runner_.precision,
                               "number format of the computation: fp32, or bf16 if that is faster"),
                "NAME", {"fp32", "bf16"})
          ->capture_default_str();
    }
    add_results_to(app);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before the schedule was measured");
    PARETO_ASSIGN(runtime::RunnerOptions options, read_options(context));
    for (const Picture& picture : pictures_) {
      if (!picture.path.empty()) PARETO_TRY(check_writable(picture.flag, picture.path));
    }
    PARETO_ASSIGN(const auto named, parse_named_batches(batch_));
    PARETO_ASSIGN(const Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named));
    options.batch = batches.front();
    context.phase = Phase::kRunning;
    PARETO_ASSIGN(const report::schedule::ScheduleReport report, measure(model, options));
    context.out << (json_
                        ? report::schedule::write_schedule_json(report)
                        : report::schedule::write_schedule_table(report, style_of(context), show_));
    for (const Picture& picture : pictures_) {
      if (picture.path.empty()) continue;
      PARETO_ASSIGN(const std::string text, picture.draw(report));
      PARETO_TRY(
          with_context(write_file_atomically(picture.path, text), "writing {}", picture.flag));
      context.err << (picture.flag + 2) << ": " << picture.path << '\n';
    }
    return kExitDone;
  }

 private:
  void add_schedule_to(CLI::App& app) {
    const Heading heading(app, "Schedule");
    auto* policy =
        set_value(app.add_option("--policy", policy_,
                                 "schedule by its name: " + join(schedules::schedule_choices())),
                  "NAME", schedules::schedule_choices());
    policy->capture_default_str();
    set_value(app.add_option("--program", program_,
                             "file of a program of your own (.yaml, .json), in place of --policy"),
              "FILE")
        ->excludes(policy);
    set_value(app.add_option("--workers", workers_,
                             "threads that work at a time (default: as many as cores may be used)"),
              "N");
    set_value(app.add_option("--batch", batch_, "batch size (default: 1, or that of --input)"), "N")
        ->check(check_one_value);
    set_value(app.add_option("--repeats", repeats_, "number of runs that are measured"), "N")
        ->capture_default_str();
  }

  void add_results_to(CLI::App& app) {
    const Heading heading(app, "Results");
    app.add_flag("--show", show_,
                 "list all units, and all operators with the modules that they came from");
    for (Picture& picture : pictures_) {
      set_value(app.add_option(picture.flag, picture.path, picture.help), "FILE");
    }
    add_json(app, json_);
  }

  /// Reads all flags but those of the model. More workers than cores are allowed, and told of.
  Expected<runtime::RunnerOptions> read_options(const Context& context) {
    runtime::RunnerOptions options;
    std::size_t own_workers = 0;
    if (program_.empty()) {
      PARETO_TRY(with_context(schedules::check_schedule(policy_), "--policy {}", policy_));
      options.schedule = policy_;
    } else {
      PARETO_ASSIGN(options.schedule, read_program(program_, "--program"));
      PARETO_ASSIGN(const auto program, schedules::program_from_json(options.schedule));
      own_workers = program.workers.size();
    }
    const int cores = std::max(1, static_cast<int>(usable_cores().size()));
    runner_.threads = workers_.value_or(std::min(cores, ThreadPool::kMostParts));
    if (runner_.threads < 1 || runner_.threads > ThreadPool::kMostParts) {
      return fail(ErrorCode::kInvalidArgument, "--workers {}: 1 to {} are possible",
                  runner_.threads, ThreadPool::kMostParts);
    }
    const int most = std::max(runner_.threads, static_cast<int>(own_workers));
    if (most > cores) {
      context.err << fmt::format("{} share {}: they will wait for one another\n",
                                 counted(most, "worker"), counted(cores, "core"));
    }
    if (repeats_ < 1 || repeats_ > kMostRepeats) {
      return fail(ErrorCode::kInvalidArgument, "--repeats {}: 1 to {} are possible", repeats_,
                  kMostRepeats);
    }
    PARETO_ASSIGN(const plan::StageSettings settings, runner_.settings());
    options.engine = settings.engine;
    PARETO_ASSIGN(options.precision, runtime::parse_precision(settings.precision));
    options.threads = settings.threads;
    return options;
  }

  Expected<report::schedule::ScheduleReport> measure(const Model& model,
                                                     const runtime::RunnerOptions& options) const {
    constexpr std::uint64_t kSeed = 1;
    PARETO_ASSIGN(const plan::Shard shard,
                  model::emit_shard(model, 0, std::ssize(model.graph().operators)));
    const auto weights = [&](const Digest& digest) { return model.weight(digest); };
    auto loaded = runtime::ShardRunner::load(shard, weights, options);
    if (!program_.empty()) loaded = with_context(std::move(loaded), "--program {}", program_);
    PARETO_ASSIGN(const auto runner, std::move(loaded));
    PARETO_ASSIGN(std::vector<Value> inputs, model.example_inputs(options.batch, kSeed));
    report::schedule::ScheduleReport report;
    PARETO_ASSIGN(report.trace, runner->trace_schedule(std::move(inputs), repeats_));
    PARETO_TRY(check_rules(report.trace.graph, options));
    report.model = model.name();
    report.schedule = plan::schedule_title(runner->report().schedule);
    report.reason = runner->report().schedule_reason;
    report.engine = runner->report().engine;
    report.precision = runtime::to_string(runner->report().precision);
    report.threads = options.threads;
    report.batch = options.batch;
    report.calls = report::schedule::facts_of(model::call_graph(model.graph()));
    return report;
  }

  /// Checks that a program's rules find something. A stage may lack what they mark, a whole model
  /// should not.
  Expected<> check_rules(const schedules::WeightedGraph& graph,
                         const runtime::RunnerOptions& options) const {
    if (!plan::is_program(options.schedule)) return {};
    schedules::ScheduleRequest request;
    request.graph = graph;
    request.workers = static_cast<std::size_t>(options.threads);
    request.batch = options.batch;
    request.program = options.schedule;
    PARETO_TRY(with_context(schedules::make_program(request), "--program {}", program_));
    return {};
  }

  static constexpr int kMostRepeats = 10'000;

  ModelFlags model_;
  RunnerFlags runner_;
  std::string policy_{plan::kAutoSchedule};
  std::string program_;
  std::optional<int> workers_;
  std::string batch_;
  int repeats_ = 20;
  bool show_ = false;
  bool json_ = false;
  std::vector<Picture> pictures_ = all_pictures();
};

}  // namespace

std::unique_ptr<Command> make_schedule_command() { return std::make_unique<ScheduleCommand>(); }

}  // namespace pareto::client::commands
