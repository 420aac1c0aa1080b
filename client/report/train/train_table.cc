#include <cmath>

#include "client/report/text_table.h"
#include "client/report/train/train_rows.h"
#include "client/report/train/train_writer.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

constexpr const char* kLine = "{:>9}  {:>8}  {:>9}  {:>10}  {:>9}  {:>10}  {:>9}\n";

}  // namespace

std::string train_line_titles() {
  return fmt::format(fmt::runtime(kLine), "epoch", "loss", "accuracy", "validation", "accuracy",
                     "samples/s", "s");
}

std::string train_epoch_line(const train::EpochRecord& epoch, std::int64_t epochs) {
  const bool has_validation = epoch.validation.has_value();
  const auto or_dash = [](const std::string& text) { return text.empty() ? "–" : text; };
  return fmt::format(fmt::runtime(kLine), fmt::format("{}/{}", epoch.epoch + 1, epochs),
                     loss_figure(epoch.sums.mean_loss()),
                     or_dash(share_text(epoch.sums.accuracy())),
                     has_validation ? loss_figure(epoch.validation->cross_entropy) : "–",
                     has_validation ? share_text(epoch.validation->accuracy()) : "–",
                     fmt::format("{:.4g}", epoch.sums.samples_per_second()),
                     fmt::format("{:.1f}", epoch.sums.seconds));
}

std::string write_train_summary(const TrainReport& report, const ReportStyle& style) {
  const train::StepSums all = all_steps(report);
  std::string text = "\n" + heading(train_title(report), style);
  text += paragraph(
      train_end_text(report),
      report.end == train::TrainingEnd::kNotFinite ? RowStyle::kBad : RowStyle::kPlain, style);
  if (all.steps > 0) {
    const auto steps = static_cast<double>(all.steps);
    text += fmt::format("step        {:.2f} ms in the mean, {:.4g} samples/s{}\n",
                        1000 * all.seconds / steps, all.samples_per_second(),
                        all.data_seconds > 0.01 * all.seconds
                            ? fmt::format("; {:.2f} ms of it without data to train on",
                                          1000 * all.data_seconds / steps)
                            : "");
    text += "\n" + cells_text(train_stages_table(report), style);
  }
  if (!report.checkpoint.empty()) text += "checkpoint  " + report.checkpoint + "\n";
  for (const std::string& file : report.outputs) text += "written     " + file + "\n";
  return text;
}

}  // namespace pareto::report
