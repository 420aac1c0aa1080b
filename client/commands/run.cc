#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "client/commands/commands.h"
#include "client/commands/mode_flag.h"
#include "client/commands/one_plan.h"
#include "client/commands/output_file.h"
#include "client/commands/run_report.h"
#include "client/commands/validation.h"
#include "client/flags/json_flag.h"
#include "client/flags/sharing_flags.h"
#include "client/flags/time_flags.h"
#include "client/program.h"
#include "client/report/chrome_trace.h"
#include "coordinator/load/output_error.h"
#include "coordinator/sweep/run_once.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/tensor/npy.h"

namespace pareto::client::commands {
namespace {

using model::Model;

/// Flags that interpreting has no use for, because it has no devices, no links and no requests.
constexpr auto kNotInterpreted = std::to_array<std::string_view>(
    {"--devices",   "--testbed",  "--credentials", "--insecure",    "--wait",    "--max-error",
     "--transport", "--codec",    "--codec-error", "--micro-batch", "--window",  "--no-checksum",
     "--store",     "--requests", "--warm-up",     "--batch-range", "--timeout", "--weight",
     "--priority",  "--output",   "--save-plan",   "--trace"});

class RunCommand final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override { return "run one plan on one pipeline"; }
  std::string_view examples() const override {
    return "  paretoctl run --model mobilenetv2 --split after:features.7\n"
           "  paretoctl run --model resnet50 --split percent:40 --input photo.npy "
           "--output scores.npy\n"
           "  paretoctl run --model resnet50 --split after:layer1,after:layer3 --transport "
           "shm+tcp+grpc\n"
           "  paretoctl run --model inceptionv3 --split "
           "after:Mixed_5b.branch1x1+Mixed_5b.branch3x3dbl_3\n"
           "  paretoctl run --plan plan.json --devices inventory.yaml\n"
           "  paretoctl run --model resnet50 --split after:layer2 --requests 50 --trace run.json\n"
           "  paretoctl run --model net.pt --split after:layer2 --mode interpret\n";
  }
  void add_options(CLI::App& app) override {
    plan_.add_to(app);
    mode_.add_to(app);
    sharing_.add_to(app, /*deadlines=*/false);
    add_measuring_to(app);
    add_results_to(app);
    for (const std::string_view flag : kNotInterpreted) {
      not_interpreted_.push_back(app.get_option(std::string(flag)));
    }
  }

  Expected<int> run(Context& context) override {
    context.stop.watch();
    context.stop.leave_at_once("stopped before the run was done: no figures are kept of it");
    PARETO_TRY(read_flags());
    PARETO_TRY(check_files());
    PARETO_ASSIGN(const Model model, plan_.open_model(context));
    if (how_ == Mode::kInterpret) {
      context.phase = Phase::kRunning;
      PARETO_ASSIGN(const std::vector<model::Cut> cuts, plan_.cuts(model));
      return interpret_cuts(context, model, cuts, plan_.plan(), options_.seed, json_);
    }
    PARETO_TRY(check_output(model));
    PARETO_ASSIGN(const cluster::Cluster cluster, plan_.connect(context, model));
    const plan::Plan& plan = plan_.plan();
    if (!save_plan_.empty()) {
      const plan::PlanFile file{plan, plan_.model().source()};
      PARETO_TRY(write_file_atomically(save_plan_, to_json(file) + "\n"));
      context.err << "plan: " << save_plan_ << '\n' << std::flush;
    }
    PARETO_TRY(validate(context, model, cuts_of(plan), plan.message_batch(), batch_range_));
    if (plan_.trainable()) {
      PARETO_TRY(
          validate_training(context, model, cuts_of(plan), plan.message_batch(), batch_range_));
    }
    options_.trace = !trace_.empty();
    context.phase = Phase::kRunning;
    PARETO_ASSIGN(const sweep::RunOnceResult result,
                  sweep::run_once(model, cluster, plan, options_));
    context.out << (json_ ? run_json(mode_.text(), result) : run_text(mode_.text(), result));
    // After the figures: they are not lost with a file that cannot be written.
    PARETO_TRY(save_outputs(context, result));
    if (result.trace) {
      PARETO_TRY(write_file_atomically(trace_, report::chrome_trace(*result.trace)));
      if (!json_) {
        context.out << fmt::format("trace       {} ({}, window {})\n", trace_,
                                   counted(result.trace->load.samples.size(), "request"),
                                   result.trace->plan.window);
      }
    }
    // A model that draws random numbers has no outputs to compare with.
    if (result.figures.output_error)
      PARETO_TRY(load::check_outputs(result.expected, result.outputs));
    return kExitDone;
  }

 private:
  void add_measuring_to(CLI::App& app) {
    const Heading heading(app, "Measuring");
    set_value(app.add_option("--requests", options_.requests,
                             "number of requests that are measured for latency, and traced "
                             "(default: 12, or fewer if they are slow)"),
              "N");
    set_value(app.add_option("--warm-up", options_.warm_up,
                             "number of requests that are sent first and count nowhere (default: "
                             "as many as it takes until latencies are level)"),
              "N")
        ->check(CLI::Range(0, 1'000'000).description(""));
    set_value(app.add_option("--seed", options_.seed, "seed of the input, without --input"), "N")
        ->check(CLI::NonNegativeNumber.description(""))
        ->capture_default_str();
    add_batch_range(app, batch_range_text_);
    timeout_.add_to(app);
  }

  void add_results_to(CLI::App& app) {
    const Heading heading(app, "Results");
    set_value(app.add_option("--output", output_,
                             ".npy file to write the output to; several tensors are numbered: "
                             "scores.npy becomes scores.0.npy, scores.1.npy"),
              "FILE");
    set_value(app.add_option("--save-plan", save_plan_, "file to write the plan to"), "FILE");
    set_value(
        app.add_option("--trace", trace_,
                       "file to write where each request's time went, for ui.perfetto.dev and "
                       "chrome://tracing (--window 1: one request at a time)"),
        "FILE");
    add_json(app, json_);
  }

  /// Refuses flags of what interpreting does not have.
  Expected<> check_interpreted() const {
    const auto given = std::ranges::find_if(
        not_interpreted_, [](const CLI::Option* option) { return option->count() > 0; });
    if (given == not_interpreted_.end()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "{}: --mode {} compares values in this process, without devices and requests: "
                "leave one of the two out",
                (*given)->get_name(), mode_.text());
  }

  Expected<> read_flags() {
    PARETO_ASSIGN(how_, mode_.read(plan_.runner()));
    if (how_ == Mode::kInterpret) PARETO_TRY(check_interpreted());
    if (options_.requests && *options_.requests < 1) {
      return fail(ErrorCode::kInvalidArgument, "--requests {}: at least 1 is needed",
                  *options_.requests);
    }
    PARETO_TRY(plan_.read());
    if (how_ == Mode::kEager) PARETO_TRY(plan_.compute_as_said());
    options_.codec_error = plan_.pipeline().codec_error;
    options_.payload_checksum = !plan_.pipeline().no_checksum;
    PARETO_ASSIGN(batch_range_, parse_batch_range(batch_range_text_));
    PARETO_TRY(sharing_.check());
    options_.weight = sharing_.weight;
    options_.priority = sharing_.priority;
    PARETO_ASSIGN(options_.timeout, timeout_.read());
    return {};
  }

  /// Checks the files before the devices are asked for anything.
  Expected<> check_files() const {
    for (const auto& [flag, file] :
         {std::pair("--output", &output_), std::pair("--save-plan", &save_plan_),
          std::pair("--trace", &trace_)}) {
      if (!file->empty()) PARETO_TRY(check_writable(flag, *file));
    }
    return {};
  }

  Expected<> check_output(const Model& model) const {
    if (output_.empty()) return {};
    std::vector<TensorSpec> tensors;
    for (const std::int64_t output : model.graph().outputs) {
      const auto inside = tensors_of(model.graph().values[static_cast<std::size_t>(output)].spec);
      tensors.insert(tensors.end(), inside.begin(), inside.end());
    }
    if (tensors.empty()) {
      return fail(ErrorCode::kInvalidArgument, "--output {}: {} returns no tensor", output_,
                  model.name());
    }
    for (const TensorSpec& tensor : tensors) {
      PARETO_TRY(with_context(check_npy_type(tensor.dtype), "--output {}", output_));
    }
    return {};
  }

  Expected<> save_outputs(Context& context, const sweep::RunOnceResult& result) const {
    if (output_.empty()) return {};
    const auto tensors = tensors_of(result.outputs);
    const std::filesystem::path path(output_);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      std::filesystem::path file = path;
      if (tensors.size() > 1) {
        file.replace_filename(
            fmt::format("{}.{}{}", path.stem().string(), i, path.extension().string()));
      }
      PARETO_TRY(write_npy(file, *tensors[i]));
      if (!json_) context.out << fmt::format("written     {}\n", file.string());
    }
    return {};
  }

  std::vector<const CLI::Option*> not_interpreted_;
  OnePlan plan_;
  ModeFlag mode_;
  Mode how_ = Mode::kOptimised;
  SharingFlags sharing_;
  TimeoutFlag timeout_;
  sweep::RunOnceOptions options_;
  std::string batch_range_text_;
  std::optional<BatchRange> batch_range_;
  std::string output_;
  std::string save_plan_;
  std::string trace_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace pareto::client::commands
