// train: a model learns, whole in this process or in stages on devices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "client/commands/commands.h"
#include "client/commands/leave_soon.h"
#include "client/commands/show.h"
#include "client/commands/train_files.h"
#include "client/commands/train_plan.h"
#include "client/commands/train_progress.h"
#include "client/commands/validation.h"
#include "client/flags/train_flags.h"
#include "client/report/train/train_writer.h"
#include "coordinator/evaluation/answers.h"
#include "coordinator/train/batch_order.h"
#include "coordinator/train/checkpoint.h"
#include "coordinator/train/training_run.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "partitioner/model/emit/trained_model.h"
#include "partitioner/model/zoo/checkpoint.h"
#include "partitioner/model/zoo/losses.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::client::commands {
namespace {

namespace fs = std::filesystem;
using model::Model;

// All that may stand next to --resume: a checkpoint has the other flags.
constexpr auto kNextToResume = std::to_array<std::string_view>(
    {"--resume",           "--model",     "--split",   "--frontier",   "--plan",   "--data",
     "--validate",         "--devices",   "--testbed", "--in-process", "--epochs", "--checkpoint",
     "--checkpoint-every", "--keep",      "--output",  "--json",       "--csv",    "--report",
     "--no-checksum",      "--transport", "--timeout", "--help"});

class TrainCommand final : public Command {
 public:
  std::string_view name() const override { return "train"; }
  std::string_view summary() const override {
    return "train a model, whole or split over devices, to the same bits";
  }
  std::string_view examples() const override {
    return "  paretoctl train --model resnet18 --input-shape 3x32x32 --num-classes 10 --data "
           "cifar10:cifar --validate cifar10:cifar --epochs 10 --output resnet18.pth\n"
           "  paretoctl train --model resnet18 --weights resnet18.pth --split after:layer2 "
           "--devices "
           "inventory.yaml --data photos/train --batch 32 --micro-batches 4 --checkpoint run\n"
           "  paretoctl train --resume run --epochs 20\n"
           "  paretoctl train --model mine.pt --input-shape 3x64x64 --data npy:samples --loss "
           "loss.pt --optimiser adamw --rate-schedule cosine --warm-up 100 --report train.html\n";
  }

  void add_options(CLI::App& app) override {
    data_.add_to(app);
    plan_.add_to(app);
    learning_.add_to(app);
    files_.add_to(app);
    for (const CLI::Option* option : app.get_options()) {
      const std::string flag = option->get_name();
      if (std::ranges::count(kNextToResume, std::string_view(flag)) == 0) kept_.push_back(option);
    }
    epochs_ = app.get_option("--epochs");
  }

  Expected<int> run(Context& context) override {
    const std::atomic<bool>& stop = context.stop.watch();
    context.stop.leave_at_once("stopped before the first step");
    PARETO_TRY(files_.check());
    PARETO_ASSIGN(auto earlier, find_earlier(context));
    train::TrainingSetup setup;
    PARETO_TRY(read_flags(context, earlier ? &earlier->checkpoint : nullptr, setup));
    const auto micro_batches = train::micro_batch_sizes(setup.batches.batch, setup.micro_batches);
    PARETO_ASSIGN(const Model model, plan_.open_model(context, setup, micro_batches));
    PARETO_ASSIGN(const Model loss,
                  with_context(model::zoo::open_loss(setup.loss, model), "--loss"));
    PARETO_ASSIGN(const TrainData data, open_data(model, setup));
    setup.source = plan_.source();
    setup.model = model.digest();
    setup.plan = plan_.plan();
    setup.loss = absolute_loss(setup.loss);
    if (model::zoo::is_model_file(setup.loss)) setup.loss_file = loss.digest();
    if (earlier) PARETO_TRY(check_same(*earlier, setup));
    PARETO_TRY(validate_trained(context, model, loss, cuts_of(setup.plan), micro_batches));
    PARETO_ASSIGN(auto checkpoints, files_.open_checkpoints());
    static const std::vector<plan::StateTensor> kNone;
    PARETO_ASSIGN(const OpenTraining open,
                  plan_.open_pipeline(context, model, loss, setup,
                                      earlier ? earlier->checkpoint.state : kNone));
    if (earlier) tell_devices(context, earlier->checkpoint.setup.plan, setup.plan);
    return train(context, model, data, setup, std::move(earlier),
                 checkpoints ? &*checkpoints : nullptr, open, stop);
  }

 private:
  Expected<std::optional<train::FoundCheckpoint>> find_earlier(Context& context) const {
    if (files_.resume.empty()) return std::optional<train::FoundCheckpoint>();
    const auto given =
        std::ranges::find_if(kept_, [](const CLI::Option* option) { return option->count() > 0; });
    if (given != kept_.end()) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} does not go with --resume: a training goes on with the flags it began with",
                  (*given)->get_name());
    }
    PARETO_ASSIGN(auto found, with_context(train::newest_checkpoint(files_.resume), "--resume"));
    for (const std::string& sentence : found.damaged) {
      context.err << fmt::format("{}: an older one is taken\n", sentence) << std::flush;
    }
    context.err << fmt::format("going on from {}\n", found.path.string()) << std::flush;
    return std::optional(std::move(found));
  }

  /// Checks that a training that goes on ends no earlier than its checkpoint. `done`: its position.
  static Expected<> check_epochs(std::int64_t epochs, const train::TrainingPosition& done) {
    const std::int64_t begun = done.epoch + (done.step_in_epoch > 0 ? 1 : 0);
    if (epochs >= begun) return {};
    return fail(ErrorCode::kInvalidArgument,
                "--epochs {}: the checkpoint is {} {}: its weights cannot be those of fewer",
                epochs, done.step_in_epoch > 0 ? "in epoch" : "after epoch", begun);
  }

  /// `earlier`: the checkpoint that the training goes on from; null: it begins.
  Expected<> read_flags(Context& context, const train::Checkpoint* earlier,
                        train::TrainingSetup& setup) {
    PARETO_TRY(plan_.read(context, earlier != nullptr ? &earlier->setup : nullptr));
    if (earlier != nullptr) {
      setup = earlier->setup;
      if (epochs_->count() > 0) setup.epochs = learning_.epochs;
      PARETO_TRY(check_epochs(setup.epochs, earlier->progress.position));
      data_.complete(earlier->setup);
      PARETO_TRY(check_setup(setup));
      PARETO_TRY(take_files(context, earlier->setup.files));
    } else {
      PARETO_TRY(learning_.read(plan_.plan_of_file(), setup));
    }
    if (data_.data.empty()) {
      return fail(ErrorCode::kInvalidArgument, "--data is missing: name the samples to train on");
    }
    setup.files = files_.kept();
    return {};
  }

  Expected<> take_files(Context& context, const train::TrainingFiles& earlier) {
    const std::vector<std::string> taken = files_.complete(earlier);
    if (taken.empty()) return {};
    context.err << fmt::format("going on with {}, as before\n", join(taken, " ")) << std::flush;
    return files_.check();
  }

  /// Says which devices a training goes on with if it had others.
  static void tell_devices(Context& context, const plan::Plan& before, const plan::Plan& now) {
    const std::string others = devices_text(before);
    const std::string these = devices_text(now);
    if (these == others) return;
    context.err << fmt::format(
                       "going on with {} in place of {}: --devices or --testbed names others\n",
                       these, others)
                << std::flush;
  }

  static std::string absolute_loss(const std::string& loss) {
    return model::zoo::is_model_file(loss) ? absolute_path(loss) : loss;
  }

  Expected<TrainData> open_data(const Model& model, train::TrainingSetup& setup) const {
    const auto classifier = evaluation::classifier_of(model);
    if (!classifier && !data_.validate.empty()) {
      return with_context(Expected<TrainData>(tl::unexpected(classifier.error())), "--validate");
    }
    if (model.inputs().size() != 1 || model.inputs().front().dtype != DType::kFloat32) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: training feeds one input of float32, and it takes {}", model.name(),
                  to_text(model.inputs()));
    }
    return open_train_data(data_, model.inputs().front().per_sample,
                           classifier ? classifier->classes : 0, setup);
  }

  Expected<> check_same(const train::FoundCheckpoint& earlier,
                        const train::TrainingSetup& setup) const {
    const auto differences = train::differences(earlier.checkpoint.setup, setup);
    if (differences.empty()) return {};
    return fail(ErrorCode::kInvalidArgument,
                "--resume {}: it is of another training; leave out the flags that differ to go on "
                "with its own. {}",
                earlier.path.string(), join(differences, ". "));
  }

  Expected<int> train(Context& context, const Model& model, const TrainData& data,
                      const train::TrainingSetup& setup,
                      std::optional<train::FoundCheckpoint> earlier,
                      train::CheckpointFolder* checkpoints, const OpenTraining& open,
                      const std::atomic<bool>& stop) {
    train::TrainingPipeline& pipeline = *open.pipeline;
    report::TrainReport shown{.setup = setup, .progress = {}, .devices = pipeline.devices()};
    std::optional<fs::path> resumed;
    if (earlier) {
      shown.progress = std::move(earlier->checkpoint.progress);
      // Another folder gets a checkpoint of its own.
      if (files_.folder.empty()) resumed = earlier->path;
    }
    context.phase = Phase::kRunning;
    const char* const sentence =
        checkpoints == nullptr
            ? "stopping after the step in hand; again to leave now"
            : "stopping after the step in hand, with a checkpoint; again to leave now";
    TrainProgress progress(context, files_.json, setup.epochs);
    progress.begin(shown);
    const SteadyClock clock;
    const train::TrainingParts parts{.pipeline = pipeline,
                                     .data = *data.training,
                                     .validation = data.validation.get(),
                                     .checkpoints = checkpoints,
                                     .checkpoint_every = setup.files.checkpoint_every,
                                     .stop = stop,
                                     .observer = progress,
                                     .clock = clock};
    const auto run_on = [&] {
      const LeaveSoon leaving(context, sentence, kExitPartial,
                              [&] { return why_not_in_order(open, checkpoints); });
      return train::run_training(setup, parts, shown.progress, std::move(resumed));
    };
    auto outcome = run_on();
    progress.clear();
    PARETO_TRY(outcome);
    shown.progress = outcome->progress;
    shown.end = outcome->end;
    if (outcome->checkpoint) shown.checkpoint = outcome->checkpoint->string();
    shown.reason = reason_of(*outcome);
    if (outcome->end == train::TrainingEnd::kDone) {
      PARETO_TRY(write_outputs(model, *outcome));
      shown.outputs = files_.outputs;
    }
    return finish(context, shown);
  }

  /// Returns why the step in hand does not end: a device hangs.
  static std::optional<std::string> why_not_in_order(const OpenTraining& open,
                                                     const train::CheckpointFolder* checkpoints) {
    if (!open.cluster) return std::nullopt;
    std::optional<std::string> hung = hung_device(*open.cluster);
    if (hung && checkpoints != nullptr) {
      *hung += fmt::format("; --resume {} goes on from the last checkpoint",
                           checkpoints->path().string());
    }
    return hung;
  }

  static std::string reason_of(const train::TrainingOutcome& outcome) {
    switch (outcome.end) {
      case train::TrainingEnd::kDone:
        break;
      case train::TrainingEnd::kStopped:
        return outcome.checkpoint ? fmt::format("stopped: --resume {} goes on",
                                                outcome.checkpoint->parent_path().string())
                                  : "stopped: without --checkpoint nothing is kept";
      case train::TrainingEnd::kNotFinite: {
        std::string reason = outcome.reason;
        if (outcome.checkpoint) {
          reason += fmt::format("; the last good checkpoint is {}", outcome.checkpoint->string());
        }
        return reason;
      }
    }
    return "";
  }

  Expected<> write_outputs(const Model& model, const train::TrainingOutcome& outcome) const {
    if (files_.outputs.empty()) return {};
    PARETO_ASSIGN(
        const model::NamedTensors state,
        model::trained_state(model, outcome.state, outcome.progress.position.micro_batches));
    for (const std::string& output : files_.outputs) {
      PARETO_TRY(with_context(output.ends_with(".pt")
                                  ? model::write_torchscript(output, model, state)
                                  : model::zoo::write_checkpoint(output, state),
                              "--output"));
    }
    return {};
  }

  Expected<int> finish(Context& context, const report::TrainReport& shown) const {
    context.out << (files_.json ? report::train_end_json(shown)
                                : report::write_train_summary(shown, style_of(context)))
                << std::flush;
    if (!files_.csv.empty()) {
      PARETO_TRY(
          with_context(write_file_atomically(files_.csv, report::train_csv(shown)), "--csv"));
      context.err << "csv: " << files_.csv << '\n';
    }
    if (!files_.report.empty()) {
      PARETO_ASSIGN(const std::string page, report::train_page(shown));
      PARETO_TRY(with_context(write_file_atomically(files_.report, page), "--report"));
      context.err << "report: " << files_.report << '\n';
    }
    switch (shown.end) {
      case train::TrainingEnd::kDone:
        return kExitDone;
      case train::TrainingEnd::kStopped:
        return kExitPartial;
      case train::TrainingEnd::kNotFinite:
        break;
    }
    if (files_.json) context.err << shown.reason << '\n';
    return kExitFailed;
  }

  TrainDataFlags data_;
  TrainPlan plan_;
  LearningFlags learning_;
  TrainFileFlags files_;
  std::vector<const CLI::Option*> kept_;  ///< options that a checkpoint has from its beginning
  const CLI::Option* epochs_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace pareto::client::commands
