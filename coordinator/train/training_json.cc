#include "coordinator/train/training_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_integer.h"
#include "core/base/json_reason.h"
#include "core/base/json_text.h"

namespace pareto::train {
namespace {

using Json = nlohmann::ordered_json;

// Counts of foreign text: far above what a training has, and far below what overflows.
constexpr std::int64_t kMostCount = std::int64_t{1} << 53;
constexpr std::size_t kMostStages = 1024;
constexpr std::size_t kMostEpochRows = 1'000'000;

/// Throws nlohmann::json::type_error, like the library's own conversions.
std::int64_t count_at(const Json& json, const char* key, std::int64_t least = 0) {
  const auto count = json_integer<std::int64_t>(json.at(key), std::string("\"") + key + "\"");
  if (count < least || count > kMostCount) {
    throw nlohmann::json::type_error::create(302, fmt::format("\"{}\" is out of range", key),
                                             &json);
  }
  return count;
}

double number_at(const Json& json, const char* key) {
  const auto number = json.at(key).get<double>();
  if (!std::isfinite(number)) {
    throw nlohmann::json::type_error::create(302, fmt::format("\"{}\" is not finite", key), &json);
  }
  return number;
}

/// JSON has no NaN and no infinity: they are written as null.
double number_or_nan(const Json& json, const char* key) {
  return json.at(key).is_null() ? std::numeric_limits<double>::quiet_NaN() : number_at(json, key);
}

std::uint64_t seed_at(const Json& json, const char* key) {
  return json_integer<std::uint64_t>(json.at(key), std::string("\"") + key + "\"");
}

Digest digest_at(const Json& json, const char* key) {
  const auto digest = parse_digest(json.at(key).get<std::string>());
  if (!digest) {
    throw nlohmann::json::type_error::create(
        302, fmt::format("\"{}\": {}", key, digest.error().message), &json);
  }
  return *digest;
}

Json data_json(const DataTitle& data) {
  Json json{{"spec", data.spec}};
  if (!data.preprocessing.empty()) json["preprocessing"] = data.preprocessing;
  json["samples"] = data.samples;
  json["classes"] = data.classes;
  json["mark"] = data.mark.hex();
  return json;
}

DataTitle data_from(const Json& json) {
  return {.spec = json.at("spec").get<std::string>(),
          .preprocessing = json.value("preprocessing", ""),
          .samples = count_at(json, "samples", 1),
          .classes = count_at(json, "classes", 1),
          .mark = digest_at(json, "mark")};
}

Json rate_json(const LearningRate& rate) {
  return {{"base", rate.base},     {"schedule", rate.schedule}, {"epochs", rate.epochs},
          {"factor", rate.factor}, {"least", rate.least},       {"warm_up", rate.warm_up}};
}

LearningRate rate_from(const Json& json) {
  return {.base = number_at(json, "base"),
          .schedule = json.at("schedule").get<std::string>(),
          .epochs = count_at(json, "epochs", 1),
          .factor = number_at(json, "factor"),
          .least = number_at(json, "least"),
          .warm_up = count_at(json, "warm_up")};
}

Json files_json(const TrainingFiles& files) {
  return {{"checkpoint_every", files.checkpoint_every},
          {"keep", files.keep},
          {"outputs", files.outputs},
          {"csv", files.csv},
          {"report", files.report}};
}

TrainingFiles files_from(const Json& json) {
  return {.checkpoint_every = count_at(json, "checkpoint_every"),
          .keep = count_at(json, "keep", 1),
          .outputs = json.at("outputs").get<std::vector<std::string>>(),
          .csv = json.at("csv").get<std::string>(),
          .report = json.at("report").get<std::string>()};
}

Json sums_json(const StepSums& sums) {
  Json json{{"steps", sums.steps},     {"samples", sums.samples},
            {"loss_sum", sums.loss},   {"correct", sums.correct},
            {"seconds", sums.seconds}, {"data_seconds", sums.data_seconds},
            {"stages", Json::array()}};
  for (const plan::StageStepTimes& stage : sums.stages) {
    json["stages"].push_back({{"forward_ns", stage.forward.count()},
                              {"backward_ns", stage.backward.count()},
                              {"optimiser_ns", stage.optimiser.count()},
                              {"waiting_ns", stage.waiting.count()},
                              {"bytes_sent", stage.bytes_sent},
                              {"bytes_raw", stage.bytes_raw}});
  }
  return json;
}

StepSums sums_from(const Json& json) {
  StepSums sums{.steps = count_at(json, "steps"),
                .samples = count_at(json, "samples"),
                .loss = number_at(json, "loss_sum"),
                .correct = count_at(json, "correct", -1),
                .seconds = number_at(json, "seconds"),
                .data_seconds = number_at(json, "data_seconds"),
                .stages = {}};
  const Json& stages = json.at("stages");
  if (!stages.is_array() || stages.size() > kMostStages) {
    throw nlohmann::json::type_error::create(302, "\"stages\" is no list of stages", &json);
  }
  for (const Json& stage : stages) {
    sums.stages.push_back({.forward = Nanoseconds(count_at(stage, "forward_ns")),
                           .backward = Nanoseconds(count_at(stage, "backward_ns")),
                           .optimiser = Nanoseconds(count_at(stage, "optimiser_ns")),
                           .waiting = Nanoseconds(count_at(stage, "waiting_ns")),
                           .bytes_sent = static_cast<std::uint64_t>(count_at(stage, "bytes_sent")),
                           // Checkpoints of earlier versions have raw bytes only.
                           .bytes_raw = static_cast<std::uint64_t>(count_at(
                               stage, stage.contains("bytes_raw") ? "bytes_raw" : "bytes_sent"))});
  }
  return sums;
}

EpochRecord epoch_from(const Json& json) {
  EpochRecord epoch{.epoch = count_at(json, "epoch"),
                    .step = count_at(json, "step"),
                    .learning_rate = number_at(json, "learning_rate"),
                    .sums = sums_from(json.at("sums")),
                    .validation = std::nullopt};
  if (json.contains("validation")) {
    const Json& validation = json.at("validation");
    epoch.validation = Validation{.samples = count_at(validation, "samples", 1),
                                  .correct = count_at(validation, "correct"),
                                  .cross_entropy = number_or_nan(validation, "cross_entropy"),
                                  .seconds = number_at(validation, "seconds")};
  }
  return epoch;
}

LossCurve curve_from(const Json& json) {
  const Json& rows = json.at("points");
  if (!rows.is_array() || rows.size() > LossCurve::kMostPoints) {
    throw nlohmann::json::type_error::create(302, "\"points\" is no list of points", &json);
  }
  std::vector<LossCurve::Point> points;
  for (const Json& row : rows) {
    points.push_back({.step = count_at(row, "step"),
                      .steps = count_at(row, "steps", 1),
                      .loss_sum = number_at(row, "loss_sum")});
  }
  return {std::move(points), count_at(json, "stride", 1)};
}

TrainingSetup read_setup(const Json& json) {
  TrainingSetup setup;
  const auto source = plan::model_source_from_json(json.at("model_source").dump());
  if (!source) throw nlohmann::json::type_error::create(302, source.error().message, &json);
  setup.source = *source;
  setup.model = digest_at(json, "model");
  const auto plan = plan::plan_from_json(json.at("plan").dump());
  if (!plan) throw nlohmann::json::type_error::create(302, plan.error().message, &json);
  setup.plan = *plan;
  const auto settings = plan::training_from_json(json.at("settings").dump());
  if (!settings) throw nlohmann::json::type_error::create(302, settings.error().message, &json);
  setup.settings = *settings;
  setup.loss = json.at("loss").get<std::string>();
  if (json.contains("loss_file")) setup.loss_file = digest_at(json, "loss_file");
  setup.rate = rate_from(json.at("learning_rate"));
  setup.clip_norm = number_at(json, "clip_norm");
  const Json& batches = json.at("batches");
  setup.batches = {.batch = count_at(batches, "batch", 1),
                   .seed = seed_at(batches, "seed"),
                   .shuffle = batches.at("shuffle").get<bool>(),
                   .drop_smaller = batches.at("drop_smaller").get<bool>()};
  setup.micro_batches = count_at(json, "micro_batches", 1);
  setup.epochs = count_at(json, "epochs", 1);
  setup.data = data_from(json.at("data"));
  if (json.contains("validation")) setup.validation = data_from(json.at("validation"));
  // Checkpoints of earlier versions have none.
  if (json.contains("files")) setup.files = files_from(json.at("files"));
  return setup;
}

TrainingProgress read_progress(const Json& json) {
  TrainingProgress progress;
  const Json& position = json.at("position");
  progress.position = {.epoch = count_at(position, "epoch"),
                       .step_in_epoch = count_at(position, "step_in_epoch"),
                       .step = count_at(position, "step"),
                       .micro_batches = count_at(position, "micro_batches")};
  progress.history.losses = curve_from(json.at("losses"));
  const Json& epochs = json.at("epochs");
  if (!epochs.is_array() || epochs.size() > kMostEpochRows) {
    throw nlohmann::json::type_error::create(302, "\"epochs\" is no list of epochs", &json);
  }
  for (const Json& epoch : epochs) progress.history.epochs.push_back(epoch_from(epoch));
  progress.history.epoch_so_far = sums_from(json.at("epoch_so_far"));
  return progress;
}

}  // namespace

Json setup_json(const TrainingSetup& setup) {
  Json json{{"model", setup.model.hex()},
            {"model_source", Json::parse(plan::to_json(setup.source))},
            {"plan", Json::parse(plan::to_json(setup.plan))},
            {"settings", Json::parse(plan::training_json(setup.settings))},
            {"loss", setup.loss}};
  if (setup.loss_file) json["loss_file"] = setup.loss_file->hex();
  json["learning_rate"] = rate_json(setup.rate);
  json["clip_norm"] = setup.clip_norm;
  json["batches"] = {{"batch", setup.batches.batch},
                     {"seed", setup.batches.seed},
                     {"shuffle", setup.batches.shuffle},
                     {"drop_smaller", setup.batches.drop_smaller}};
  json["micro_batches"] = setup.micro_batches;
  json["epochs"] = setup.epochs;
  json["data"] = data_json(setup.data);
  if (setup.validation) json["validation"] = data_json(*setup.validation);
  json["files"] = files_json(setup.files);
  return json;
}

Expected<TrainingSetup> setup_from_json(const Json& json) {
  try {
    return read_setup(json);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

Json epoch_json(const EpochRecord& epoch) {
  Json json{{"epoch", epoch.epoch},
            {"step", epoch.step},
            {"learning_rate", epoch.learning_rate},
            {"sums", sums_json(epoch.sums)}};
  if (epoch.validation) {
    json["validation"] = {{"samples", epoch.validation->samples},
                          {"correct", epoch.validation->correct},
                          {"cross_entropy", epoch.validation->cross_entropy},
                          {"seconds", epoch.validation->seconds}};
  }
  return json;
}

Json progress_json(const TrainingProgress& progress) {
  const TrainingPosition& position = progress.position;
  Json points = Json::array();
  for (const LossCurve::Point& point : progress.history.losses.points()) {
    points.push_back({{"step", point.step}, {"steps", point.steps}, {"loss_sum", point.loss_sum}});
  }
  Json epochs = Json::array();
  for (const EpochRecord& epoch : progress.history.epochs) epochs.push_back(epoch_json(epoch));
  return {{"position",
           {{"epoch", position.epoch},
            {"step_in_epoch", position.step_in_epoch},
            {"step", position.step},
            {"micro_batches", position.micro_batches}}},
          {"losses", {{"stride", progress.history.losses.stride()}, {"points", std::move(points)}}},
          {"epochs", std::move(epochs)},
          {"epoch_so_far", sums_json(progress.history.epoch_so_far)}};
}

Expected<TrainingProgress> progress_from_json(const Json& json) {
  try {
    return read_progress(json);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}", json_reason(error));
  }
}

}  // namespace pareto::train
