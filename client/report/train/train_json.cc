#include <cmath>
#include <nlohmann/json.hpp>

#include "client/report/train/train_writer.h"
#include "coordinator/train/training_json.h"
#include "core/base/json_text.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

Json share_or_null(const std::optional<double>& share) { return share ? Json(*share) : Json(); }

Json stage_times_json(const std::vector<plan::StageStepTimes>& stages) {
  Json json = Json::array();
  for (const plan::StageStepTimes& stage : stages) {
    json.push_back({{"forward_ms", to_milliseconds(stage.forward)},
                    {"backward_ms", to_milliseconds(stage.backward)},
                    {"optimiser_ms", to_milliseconds(stage.optimiser)},
                    {"waiting_ms", to_milliseconds(stage.waiting)},
                    {"bytes_sent", stage.bytes_sent},
                    {"bytes_raw", stage.bytes_raw}});
  }
  return json;
}

std::string line_of(const Json& json) { return dump(json) + "\n"; }

const char* end_name(train::TrainingEnd end) {
  switch (end) {
    case train::TrainingEnd::kDone:
      return "done";
    case train::TrainingEnd::kStopped:
      return "stopped";
    case train::TrainingEnd::kNotFinite:
      break;
  }
  return "not_finite";
}

}  // namespace

std::string train_start_json(const TrainReport& report) {
  return line_of({{"event", "start"},
                  {"devices", report.devices},
                  {"step", report.progress.position.step},
                  {"setup", setup_json(report.setup)}});
}

std::string train_step_json(const train::StepReport& step) {
  const train::StepOutcome& outcome = step.outcome;
  Json json{{"event", "step"},
            {"epoch", step.epoch},
            {"step", step.step},
            {"step_in_epoch", step.step_in_epoch},
            {"steps_per_epoch", step.steps_per_epoch},
            {"loss", outcome.loss},
            {"samples", outcome.samples}};
  if (outcome.correct >= 0) json["correct"] = outcome.correct;
  json["learning_rate"] = step.learning_rate;
  if (outcome.gradient_norm >= 0) json["gradient_norm"] = outcome.gradient_norm;
  json["seconds"] = step.seconds;
  json["data_seconds"] = step.data_seconds;
  json["stages"] = stage_times_json(outcome.stages);
  return line_of(json);
}

std::string train_epoch_json(const train::EpochRecord& epoch) {
  Json json{{"event", "epoch"},
            {"epoch", epoch.epoch},
            {"step", epoch.step},
            {"learning_rate", epoch.learning_rate},
            {"loss", epoch.sums.mean_loss()},
            {"accuracy", share_or_null(epoch.sums.accuracy())},
            {"samples", epoch.sums.samples},
            {"samples_per_s", epoch.sums.samples_per_second()},
            {"seconds", epoch.sums.seconds},
            {"data_seconds", epoch.sums.data_seconds},
            {"stages", stage_times_json(epoch.sums.stages)}};
  if (epoch.validation) {
    json["validation"] = {{"samples", epoch.validation->samples},
                          {"correct", epoch.validation->correct},
                          {"accuracy", epoch.validation->accuracy()},
                          {"cross_entropy", epoch.validation->cross_entropy},
                          {"seconds", epoch.validation->seconds}};
  }
  return line_of(json);
}

std::string train_checkpoint_json(const std::string& path) {
  return line_of({{"event", "checkpoint"}, {"path", path}});
}

std::string train_end_json(const TrainReport& report) {
  Json json{{"event", "end"},
            {"end", end_name(report.end)},
            {"epoch", report.progress.position.epoch},
            {"step", report.progress.position.step}};
  if (!report.reason.empty()) json["reason"] = report.reason;
  if (!report.checkpoint.empty()) json["checkpoint"] = report.checkpoint;
  json["outputs"] = report.outputs;
  return line_of(json);
}

}  // namespace pareto::report
