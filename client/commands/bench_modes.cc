#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <ostream>

#include "client/commands/commands.h"
#include "client/commands/progress.h"
#include "client/commands/run_cuts.h"
#include "client/commands/show.h"
#include "client/flags/inputs.h"
#include "client/flags/json_flag.h"
#include "client/flags/model_flags.h"
#include "client/flags/number_flags.h"
#include "client/flags/runner_flags.h"
#include "client/flags/time_flags.h"
#include "client/report/modes/mode_writer.h"
#include "coordinator/modes/mode_bench.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client::commands {
namespace {

constexpr const char* kLongestBench = "10m";

class BenchModesCommand final : public Command {
 public:
  std::string_view name() const override { return "bench-modes"; }
  std::string_view summary() const override {
    return "measure what a model takes plain and optimised, whole and cut, in this process";
  }
  std::string_view examples() const override {
    return "  paretoctl bench-modes --model resnet18\n"
           "  paretoctl bench-modes --model mobilenetv2 --split after:features.7 --batch 8\n"
           "  paretoctl bench-modes --model net.pt --input-shape 3x224x224 --threads 2 --json\n";
  }
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    cuts_.add_to(app);
    runner_.add_to(app);
    const Heading heading(app, "Measuring");
    set_value(
        app.add_option("--batch", batch_, "samples of a request (default: 1, or that of --input)"),
        "N")
        ->check(check_one_value);
    set_value(app.add_option("--loss", loss_,
                             "loss to train with: " + join(model::zoo::loss_names()) +
                                 "; or a TorchScript file that takes outputs and labels"),
              "NAME|FILE", model::zoo::loss_names())
        ->capture_default_str();
    app.add_flag("--no-training", without_training_, "measure inference only")
        ->excludes(app.get_option("--loss"));
    set_value(app.add_option("--duration", duration_,
                             "time that the turns go on for; there are eight of each at least"),
              "DURATION")
        ->capture_default_str();
    add_json(app, json_);
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before all modes were measured");
    modes::ModeBenchOptions options;
    PARETO_ASSIGN(const plan::StageSettings settings, runner_.settings());
    options.engine = settings.engine;
    PARETO_ASSIGN(options.precision, runtime::parse_precision(settings.precision));
    options.threads = std::max(1, settings.threads);
    options.schedule = settings.schedule;
    if (settings.max_error > 0) options.max_error = settings.max_error;
    PARETO_ASSIGN(options.duration, parse_long_time(duration_, "--duration"));
    PARETO_ASSIGN(const Nanoseconds longest, parse_long_time(kLongestBench, "--duration"));
    if (options.duration > longest) {
      return fail(ErrorCode::kInvalidArgument, "--duration {}: at most {}", duration_,
                  kLongestBench);
    }
    PARETO_ASSIGN(const auto named, parse_named_batches(batch_));
    PARETO_ASSIGN(const model::Model model, model_.open(context, named));
    PARETO_ASSIGN(const auto batches, batches_for(context, model, named));
    options.batch = batches.front();
    PARETO_ASSIGN(const std::vector<model::Cut> cuts, cuts_.find(model, options.batch));
    if (cuts.size() != 1) {
      return fail(ErrorCode::kInvalidArgument, "--split {}: one cut is needed, not {}",
                  cuts_.text(), cuts.size());
    }
    options.cut = cuts.front();
    std::optional<model::Model> loss;
    if (!without_training_) {
      PARETO_ASSIGN(loss, with_context(model::zoo::open_loss(loss_, model),
                                       "--loss {} (--no-training "
                                       "leaves training out)",
                                       loss_));
      options.loss = &*loss;
    }
    context.phase = Phase::kRunning;
    report::ModeReport report{model.name(), options.cut.name, options.batch, options.threads, {}};
    {
      Progress progress(context.err, context.err_is_terminal ? context.columns : 0);
      PARETO_ASSIGN(report.result, modes::bench_modes(model, options,
                                                      [&](const std::string& now, std::size_t done,
                                                          std::size_t total) {
                                                        progress.show(done, total, now, now);
                                                      }));
    }
    context.out << (json_ ? report::write_mode_json(report)
                          : report::write_mode_table(report, style_of(context)));
    return kExitDone;
  }

 private:
  ModelFlags model_;
  RunCuts cuts_{"percent:50"};
  RunnerFlags runner_;
  std::string batch_;
  std::string loss_ = "cross-entropy";
  bool without_training_ = false;
  std::string duration_ = "5s";
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_modes_command() {
  return std::make_unique<BenchModesCommand>();
}

}  // namespace pareto::client::commands
