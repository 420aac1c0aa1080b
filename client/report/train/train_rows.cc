#include "client/report/train/train_rows.h"

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

std::string step_ms_text(Nanoseconds all, std::int64_t steps) {
  return steps > 0 ? fmt::format("{:.2f}", to_milliseconds(all) / static_cast<double>(steps)) : "";
}

std::string rate_text(const train::LearningRate& rate) {
  std::string text = fmt::format("{}, {}", rate.base, schedule_text(rate));
  if (rate.warm_up > 0) text += fmt::format(", warm-up over {}", counted(rate.warm_up, "step"));
  return text;
}

std::string optimiser_title(const plan::Optimiser& optimiser) {
  std::string text = optimiser.name;
  if (optimiser.momentum != 0) {
    text +=
        fmt::format(", momentum {}{}", optimiser.momentum, optimiser.nesterov ? " (Nesterov)" : "");
  }
  if (optimiser.weight_decay != 0) text += fmt::format(", weight decay {}", optimiser.weight_decay);
  return text;
}

}  // namespace

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100 * *share) : "";
}

std::string loss_figure(double loss) {
  return std::isfinite(loss) ? fmt::format("{:.4f}", loss) : "no number";
}

std::string train_title(const TrainReport& report) {
  return fmt::format("{} on {}", report.setup.plan.model, report.setup.data.spec);
}

std::string train_end_text(const TrainReport& report) {
  std::string text = fmt::format("{} of {}, {}", report.progress.position.epoch,
                                 counted(report.setup.epochs, "epoch"),
                                 counted(report.progress.position.step, "step"));
  if (!report.reason.empty()) text += "; " + report.reason;
  return text;
}

train::StepSums all_steps(const TrainReport& report) {
  train::StepSums all;
  const auto add = [&](const train::StepSums& sums) {
    all.steps += sums.steps;
    all.samples += sums.samples;
    all.seconds += sums.seconds;
    all.data_seconds += sums.data_seconds;
    all.stages.resize(std::max(all.stages.size(), sums.stages.size()));
    for (std::size_t i = 0; i < sums.stages.size(); ++i) {
      all.stages[i].forward += sums.stages[i].forward;
      all.stages[i].backward += sums.stages[i].backward;
      all.stages[i].optimiser += sums.stages[i].optimiser;
      all.stages[i].waiting += sums.stages[i].waiting;
      all.stages[i].bytes_sent += sums.stages[i].bytes_sent;
      all.stages[i].bytes_raw += sums.stages[i].bytes_raw;
    }
  };
  for (const train::EpochRecord& epoch : report.progress.history.epochs) add(epoch.sums);
  add(report.progress.history.epoch_so_far);
  return all;
}

bool has_validation_loss(const TrainReport& report) {
  return report.setup.loss == train::kCrossEntropy;
}

CellTable train_epochs_table(const TrainReport& report) {
  CellTable table{
      .columns = {{"epoch", Align::kRight},
                  {"steps", Align::kRight},
                  {"learning rate", Align::kRight},
                  {"loss", Align::kRight},
                  {"accuracy", Align::kRight},
                  {has_validation_loss(report) ? "validation loss" : "validation cross-entropy",
                   Align::kRight},
                  {"validation accuracy", Align::kRight},
                  {"samples/s", Align::kRight},
                  {"s", Align::kRight}},
      .rows = {}};
  for (const train::EpochRecord& epoch : report.progress.history.epochs) {
    const bool has_validation = epoch.validation.has_value();
    table.rows.push_back(
        {.cells = {fmt::format("{}", epoch.epoch + 1), fmt::format("{}", epoch.step),
                   fmt::format("{:.3g}", epoch.learning_rate), loss_figure(epoch.sums.mean_loss()),
                   share_text(epoch.sums.accuracy()),
                   has_validation ? loss_figure(epoch.validation->cross_entropy) : "",
                   has_validation ? share_text(epoch.validation->accuracy()) : "",
                   fmt::format("{:.4g}", epoch.sums.samples_per_second()),
                   fmt::format("{:.1f}", epoch.sums.seconds)}});
  }
  return table;
}

CellTable train_stages_table(const TrainReport& report) {
  CellTable table{.columns = {{"device"},
                              {"operators"},
                              {"forward ms", Align::kRight},
                              {"backward ms", Align::kRight},
                              {"optimiser ms", Align::kRight},
                              {"waiting ms", Align::kRight},
                              {"sent", Align::kRight}},
                  .rows = {}};
  const train::StepSums all = all_steps(report);
  const auto& stages = report.setup.plan.stages;
  const bool differ = std::ranges::any_of(all.stages, [](const plan::StageStepTimes& stage) {
    return stage.bytes_raw != stage.bytes_sent;
  });
  if (differ) table.columns.push_back({"without codecs", Align::kRight});
  for (std::size_t i = 0; i < all.stages.size(); ++i) {
    const plan::StageStepTimes& times = all.stages[i];
    const auto steps = static_cast<std::uint64_t>(std::max<std::int64_t>(all.steps, 1));
    const auto step_bytes = [&](std::uint64_t bytes) {
      return bytes > 0 ? format_bytes(bytes / steps) : "";
    };
    table.rows.push_back(
        {.cells = {i < report.devices.size() ? report.devices[i] : fmt::format("stage {}", i),
                   i < stages.size() ? to_string(stages[i].ranges()) : "",
                   step_ms_text(times.forward, all.steps), step_ms_text(times.backward, all.steps),
                   step_ms_text(times.optimiser, all.steps), step_ms_text(times.waiting, all.steps),
                   step_bytes(times.bytes_sent)}});
    if (differ) table.rows.back().cells.push_back(step_bytes(times.bytes_raw));
  }
  return table;
}

CellTable train_settings_table(const TrainReport& report) {
  const train::TrainingSetup& setup = report.setup;
  CellTable table{.columns = {{"setting"}, {"value"}}, .rows = {}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({.cells = {name, value}});
  };
  add("split", join(setup.plan.splits, "+"));
  if (setup.plan.stages.size() > 1) {
    const std::string& gradients = setup.settings.gradient_codec;
    add("codecs", fmt::format("activations {}, gradients {}",
                              setup.plan.codecs.empty() ? "none" : join(setup.plan.codecs),
                              gradients.empty() ? "none" : gradients));
  }
  add("data", fmt::format("{}, {}", counted(setup.data.samples, "sample"),
                          counted(setup.data.classes, "class", "classes")));
  if (setup.validation) {
    add("validation", fmt::format("{}, {}", setup.validation->spec,
                                  counted(setup.validation->samples, "sample")));
  }
  add("batch", setup.micro_batches > 1
                   ? fmt::format("{} in {}, {}", setup.batches.batch,
                                 counted(setup.micro_batches, "micro-batch", "micro-batches"),
                                 setup.settings.order)
                   : fmt::format("{}", setup.batches.batch));
  add("loss", setup.loss);
  add("optimiser", optimiser_title(setup.settings.optimiser));
  add("learning rate", rate_text(setup.rate));
  if (setup.clip_norm > 0)
    add("gradients", fmt::format("clipped to a norm of {}", setup.clip_norm));
  add("frozen", join(setup.settings.frozen));
  add("precision", setup.settings.bf16 ? "bf16" : "fp32");
  add("seed", fmt::format("{}", setup.batches.seed));
  return table;
}

}  // namespace pareto::report
