#include "coordinator/train/training_setup.h"

#include <cmath>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::train {
namespace {

constexpr std::int64_t kMostEpochs = 1'000'000;

/// Returns "layer2 (operators 0-41), 42-68": what each stage runs.
std::string stages_text(const plan::Plan& plan) {
  std::vector<std::string> stages;
  for (const plan::StagePlan& stage : plan.stages) stages.push_back(to_string(stage.ranges()));
  const std::string cuts = plan.splits.empty() ? "no split" : join(plan.splits, "+");
  return fmt::format("{} (operators {})", cuts, join(stages, " | "));
}

bool runs_alike(const plan::Plan& one, const plan::Plan& other) {
  if (one.stages.size() != other.stages.size()) return false;
  for (std::size_t i = 0; i < one.stages.size(); ++i) {
    if (one.stages[i].ranges() != other.stages[i].ranges()) return false;
  }
  return true;
}

std::string optimiser_text(const plan::Optimiser& optimiser) {
  std::string text = optimiser.name;
  if (optimiser.name == "sgd") {
    text +=
        fmt::format(", momentum {}{}", optimiser.momentum, optimiser.nesterov ? " (Nesterov)" : "");
  } else {
    text += fmt::format(", betas {} and {}, epsilon {}", optimiser.beta1, optimiser.beta2,
                        optimiser.epsilon);
  }
  return text + fmt::format(", weight decay {}", optimiser.weight_decay);
}

std::string data_text(const DataTitle& data) {
  return fmt::format("{} ({}, {}, the first and the last have SHA-256 {:.12})", data.spec,
                     counted(data.samples, "sample"), counted(data.classes, "class", "classes"),
                     data.mark.hex());
}

std::string loss_text(const TrainingSetup& setup) {
  if (!setup.loss_file) return setup.loss;
  return fmt::format("{} (SHA-256 {:.12})", setup.loss, setup.loss_file->hex());
}

std::string frozen_text(const std::vector<std::string>& frozen) {
  return frozen.empty() ? "nothing" : join(frozen);
}

class Differences {
 public:
  /// Notes a difference of texts.
  void compare(const char* what, const std::string& there, const std::string& here) {
    if (there != here) note(what, there, here);
  }
  template <typename Number>
  void compare_number(const char* what, Number there, Number here) {
    compare(what, fmt::format("{}", there), fmt::format("{}", here));
  }
  void note(const char* what, const std::string& there, const std::string& here) {
    sentences_.push_back(
        fmt::format("{}: the checkpoint has {}, this training has {}", what, there, here));
  }
  std::vector<std::string> take() && { return std::move(sentences_); }

 private:
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> differences(const TrainingSetup& checkpoint, const TrainingSetup& asked) {
  Differences found;
  if (checkpoint.model != asked.model) {
    found.note("another model",
               fmt::format("{} ({:.12})", checkpoint.plan.model, checkpoint.model.hex()),
               fmt::format("{} ({:.12})", asked.plan.model, asked.model.hex()));
  }
  if (!runs_alike(checkpoint.plan, asked.plan)) {
    found.note("another plan", stages_text(checkpoint.plan), stages_text(asked.plan));
  }
  found.compare("another codec", join(checkpoint.plan.codecs), join(asked.plan.codecs));
  found.compare("another codec of gradients", checkpoint.settings.gradient_codec,
                asked.settings.gradient_codec);
  found.compare_number("another number of threads", checkpoint.plan.settings.threads,
                       asked.plan.settings.threads);
  found.compare("another optimiser", optimiser_text(checkpoint.settings.optimiser),
                optimiser_text(asked.settings.optimiser));
  found.compare("another learning rate",
                fmt::format("{} {} warm-up {}", checkpoint.rate.base,
                            schedule_text(checkpoint.rate), checkpoint.rate.warm_up),
                fmt::format("{} {} warm-up {}", asked.rate.base, schedule_text(asked.rate),
                            asked.rate.warm_up));
  if (checkpoint.rate.schedule == kCosineRate) {
    // The curve ends with the training.
    found.compare_number("another end of the cosine, in epochs", checkpoint.epochs, asked.epochs);
  }
  const bool same_file =
      checkpoint.loss_file.has_value() && checkpoint.loss_file == asked.loss_file;
  if (!same_file) found.compare("another loss", loss_text(checkpoint), loss_text(asked));
  found.compare_number("another clip norm", checkpoint.clip_norm, asked.clip_norm);
  found.compare_number("another batch", checkpoint.batches.batch, asked.batches.batch);
  found.compare_number("another number of micro-batches", checkpoint.micro_batches,
                       asked.micro_batches);
  found.compare_number("another seed", checkpoint.batches.seed, asked.batches.seed);
  found.compare_number("shuffling", checkpoint.batches.shuffle, asked.batches.shuffle);
  found.compare_number("dropping smaller batches", checkpoint.batches.drop_smaller,
                       asked.batches.drop_smaller);
  found.compare("other frozen parts", frozen_text(checkpoint.settings.frozen),
                frozen_text(asked.settings.frozen));
  found.compare("another precision", checkpoint.settings.bf16 ? "bf16" : "fp32",
                asked.settings.bf16 ? "bf16" : "fp32");
  const bool same_data = checkpoint.data.samples == asked.data.samples &&
                         checkpoint.data.classes == asked.data.classes &&
                         checkpoint.data.mark == asked.data.mark;
  if (!same_data) found.note("other data", data_text(checkpoint.data), data_text(asked.data));
  return std::move(found).take();
}

Expected<> check_setup(const TrainingSetup& setup) {
  PARETO_TRY(check_rate(setup.rate));
  if (setup.epochs < 1 || setup.epochs > kMostEpochs) {
    return fail(ErrorCode::kInvalidArgument, "{} epochs: 1 to {} are possible", setup.epochs,
                kMostEpochs);
  }
  if (setup.batches.batch < 1 || setup.batches.batch > plan::kMaxBatch) {
    return fail(ErrorCode::kInvalidArgument, "a batch of {}: 1 to {} samples are possible",
                setup.batches.batch, plan::kMaxBatch);
  }
  if (setup.micro_batches < 1 || setup.micro_batches > setup.batches.batch) {
    return fail(ErrorCode::kInvalidArgument,
                "{} micro-batches of a batch of {}: 1 to {} are possible", setup.micro_batches,
                setup.batches.batch, setup.batches.batch);
  }
  if (!std::isfinite(setup.clip_norm) || setup.clip_norm < 0) {
    return fail(ErrorCode::kInvalidArgument,
                "a clip norm of {}: it should be above 0, or 0 to clip nothing", setup.clip_norm);
  }
  return {};
}

}  // namespace pareto::train
