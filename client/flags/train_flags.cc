#include "client/flags/train_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/flags/data_flags.h"
#include "client/flags/model_flags.h"
#include "coordinator/data/open_data_set.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/plan/training_order.h"
#include "partitioner/model/zoo/losses.h"

namespace pareto::client {
namespace {

constexpr std::int64_t kUsualBatch = 32;
constexpr double kUsualRate = 0.01;
constexpr double kUsualAdamRate = 0.001;
constexpr double kUsualAdamWDecay = 0.01;

/// Returns a spec whose folder has an absolute path, so that it is found from elsewhere.
std::string absolute_spec(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string name = colon == std::string::npos ? std::string() : spec.substr(0, colon);
  const auto kinds = data::builtin_data_sets();
  const bool is_kind =
      !name.empty() && std::ranges::find(kinds, name, &data::DataSetKind::name) != kinds.end();
  if (spec.starts_with("synthetic")) return spec;
  return is_kind ? name + ":" + absolute_path(spec.substr(colon + 1)) : absolute_path(spec);
}

/// Returns a digest by which another data set is noticed: of the first sample and the last one.
Expected<Digest> mark_of(const data::DataSet& data) {
  Hasher hasher;
  for (const std::int64_t index : {std::int64_t{0}, data.size() - 1}) {
    PARETO_ASSIGN(const data::Sample sample, data.sample(index));
    PARETO_ASSIGN(const Tensor dense, row_major(sample.input));
    hasher.update(dense.bytes());
    hasher.update(fmt::format("{}", sample.label));
  }
  return hasher.finish();
}

}  // namespace

void LearningFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Learning");
  set_value(app.add_option("--epochs", epochs, "times that all samples are trained on"), "N")
      ->capture_default_str();
  set_value(
      app.add_option(
          "--batch", batch,
          "number of samples of a step (default: that of --plan if it is more than 1, or else 32)"),
      "N");
  set_value(app.add_option("--micro-batches", micro_batches,
                           "number of parts of a batch, which stages work on at the same time; "
                           "their gradients are summed (default: as the micro-batch of --plan has "
                           "it, or 1)"),
            "N");
  order = plan::kOneForwardOneBackward;
  set_value(app.add_option("--order", order,
                           "order of a stage's passes: 1f1b goes backward as soon as it can and "
                           "keeps fewer activations, fill-drain goes forward with all first; the "
                           "gradients are the same"),
            "NAME", plan::training_orders())
      ->capture_default_str();
  set_value(app.add_option("--loss", loss,
                           "loss: " + join(model::zoo::loss_names()) +
                               ", or a TorchScript file that takes the outputs and the labels and "
                               "returns one number"),
            "NAME|FILE", model::zoo::loss_names())
      ->capture_default_str();
  set_value(app.add_option("--optimiser", optimiser, "optimiser: sgd, adam or adamw"), "NAME",
            {"sgd", "adam", "adamw"})
      ->capture_default_str();
  set_value(app.add_option("--learning-rate", learning_rate,
                           "learning rate (default: 0.01, of adam and adamw 0.001)"),
            "X");
  set_value(app.add_option("--rate-schedule", schedule,
                           "course of the learning rate: constant; step:EPOCHS[:FACTOR] "
                           "multiplies it by FACTOR (0.1) after every EPOCHS; cosine[:LEAST] lets "
                           "it fall to LEAST (0) at the end"),
            "NAME", {"constant", "step:30", "cosine"})
      ->capture_default_str();
  set_value(app.add_option("--warm-up", warm_up,
                           "number of steps in which the learning rate grows to its value"),
            "STEPS")
      ->capture_default_str();
  set_value(app.add_option("--momentum", momentum, "momentum of sgd"), "X")->capture_default_str();
  app.add_flag("--nesterov", nesterov, "take Nesterov's momentum");
  set_value(
      app.add_option("--weight-decay", weight_decay, "weight decay (default: 0, of adamw 0.01)"),
      "X");
  set_value(app.add_option("--clip-norm", clip_norm,
                           "largest norm of all gradients together; larger ones are scaled down "
                           "(default: any)"),
            "X");
  set_value(app.add_option("--freeze", freeze,
                           "modules whose parameters stay as they are, and that run as in "
                           "evaluation"),
            "LIST")
      ->delimiter(',');
  set_value(app.add_option("--precision", precision,
                           "number format of forward passes: fp32, or bf16 where operators may "
                           "(autocast)"),
            "NAME", {"fp32", "bf16"})
      ->capture_default_str();
  set_value(app.add_option("--seed", seed, "seed of the samples' order and of dropout"), "N")
      ->capture_default_str();
  app.add_flag("--no-shuffle", no_shuffle, "take the samples in their own order in each epoch");
  app.add_flag("--drop-last", drop_smaller,
               "leave out the last batch of an epoch if it is smaller than the others");
}

void LearningFlags::read_batch(const plan::Plan* plan, train::TrainingSetup& setup) const {
  // A plan of single requests says nothing of training.
  const bool has_batch = plan != nullptr && plan->batch > 1;
  const std::int64_t samples = batch.value_or(has_batch ? plan->batch : kUsualBatch);
  std::int64_t parts = 1;
  if (plan != nullptr && plan->micro_batch > 0) {
    parts = samples / plan->micro_batch + (samples % plan->micro_batch != 0 ? 1 : 0);
  }
  setup.batches.batch = samples;
  setup.micro_batches = micro_batches.value_or(parts);
}

Expected<> LearningFlags::read(const plan::Plan* plan, train::TrainingSetup& setup) const {
  setup.epochs = epochs;
  setup.batches = {.seed = seed, .shuffle = !no_shuffle, .drop_smaller = drop_smaller};
  read_batch(plan, setup);
  PARETO_TRY(with_context(plan::check_training_order(order), "--order"));
  setup.settings.order = order;
  setup.loss = loss;
  plan::Optimiser chosen{.name = optimiser, .momentum = momentum, .nesterov = nesterov};
  chosen.weight_decay = weight_decay.value_or(optimiser == "adamw" ? kUsualAdamWDecay : 0);
  if (optimiser != "sgd" && (momentum != 0 || nesterov)) {
    return fail(ErrorCode::kInvalidArgument,
                "--momentum and --nesterov are of sgd; {} has moments of its own", optimiser);
  }
  PARETO_TRY(with_context(check(chosen), "--optimiser"));
  setup.settings.optimiser = chosen;
  setup.rate.base = learning_rate.value_or(optimiser == "sgd" ? kUsualRate : kUsualAdamRate);
  PARETO_TRY(with_context(train::read_schedule(schedule, setup.rate), "--rate-schedule"));
  setup.rate.warm_up = warm_up;
  setup.clip_norm = clip_norm;
  setup.settings.frozen = freeze;
  if (precision != "fp32" && precision != "bf16") {
    return fail(ErrorCode::kInvalidArgument, "--precision {}: fp32 or bf16", precision);
  }
  setup.settings.bf16 = precision == "bf16";
  return check_setup(setup);
}

void TrainDataFlags::add_to(CLI::App& app) {
  const Heading heading(app, "Data");
  set_value(app.add_option("--data", data, "samples to train on: " + data_set_forms()), "SPEC");
  set_value(app.add_option("--validate", validate,
                           "samples that the model is tried on after each epoch; of cifar10 and "
                           "synthetic they are the test part"),
            "SPEC");
  set_value(app.add_option("--preprocess", preprocessing,
                           "file that says how pictures become inputs (configs/preprocessing; "
                           "default: as torchvision's models of that input are evaluated)"),
            "FILE");
}

void TrainDataFlags::complete(const train::TrainingSetup& earlier) {
  if (data.empty()) data = earlier.data.spec;
  if (validate.empty() && earlier.validation) validate = earlier.validation->spec;
  if (preprocessing.empty()) preprocessing = earlier.data.preprocessing;
}

Expected<TrainData> open_train_data(const TrainDataFlags& flags, const Shape& input_shape,
                                    std::int64_t classes, train::TrainingSetup& setup) {
  data::DataSetOptions options;
  if (!flags.preprocessing.empty()) {
    PARETO_ASSIGN(options.preprocessing,
                  with_context(data::read_preprocessing(flags.preprocessing), "--preprocess"));
  }
  options.input_shape = input_shape;
  options.classes = classes;
  const auto open = [&](const std::string& spec, data::Part part, const char* flag,
                        train::DataTitle& title) -> Expected<std::unique_ptr<data::DataSet>> {
    options.part = part;
    PARETO_ASSIGN(auto set, with_context(data::open_data_set(spec, options), "{}", flag));
    PARETO_ASSIGN(const Digest mark, with_context(mark_of(*set), "{}", flag));
    title = {.spec = absolute_spec(spec),
             .preprocessing = absolute_path(flags.preprocessing),
             .samples = set->size(),
             .classes = set->classes(),
             .mark = mark};
    return set;
  };
  TrainData sets;
  PARETO_ASSIGN(sets.training, open(flags.data, data::Part::kTrain, "--data", setup.data));
  if (flags.validate.empty()) return sets;
  train::DataTitle title;
  PARETO_ASSIGN(sets.validation, open(flags.validate, data::Part::kTest, "--validate", title));
  PARETO_TRY(
      with_context(data::check_same_classes(*sets.training, *sets.validation), "--validate"));
  setup.validation = title;
  return sets;
}

}  // namespace pareto::client
