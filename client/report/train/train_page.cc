#include "client/report/figure_page.h"
#include "client/report/train/train_curves.h"
#include "client/report/train/train_rows.h"
#include "client/report/train/train_writer.h"
#include "core/base/counted.h"

namespace pareto::report {
namespace {

std::vector<Headline> train_headlines(const TrainReport& report) {
  std::vector<Headline> headlines;
  const auto& epochs = report.progress.history.epochs;
  if (!epochs.empty()) {
    const train::EpochRecord& last = epochs.back();
    headlines.push_back({"loss", loss_figure(last.sums.mean_loss()),
                         fmt::format("mean of epoch {}", last.epoch + 1)});
    if (const std::string share = share_text(last.sums.accuracy()); !share.empty()) {
      headlines.push_back({"accuracy", share, "while training"});
    }
    if (last.validation) {
      headlines.push_back({"validation accuracy", share_text(last.validation->accuracy()),
                           fmt::format("{} of {}", last.validation->correct,
                                       counted(last.validation->samples, "sample"))});
    }
  }
  const train::StepSums all = all_steps(report);
  if (all.steps > 0) {
    headlines.push_back(
        {"samples a second", fmt::format("{:.4g}", all.samples_per_second()),
         fmt::format("{:.2f} ms a step", 1000 * all.seconds / static_cast<double>(all.steps))});
  }
  return headlines;
}

}  // namespace

Expected<std::string> train_page(const TrainReport& report) {
  FigurePage page{.title = train_title(report), .subtitle = train_end_text(report)};
  page.headlines = train_headlines(report);
  page.picture_title = "Loss and accuracy";
  page.picture_note =
      "Training loss is smoothed; the pale line is each step's. Point at a dot for its figure.";
  if (report.setup.validation && !has_validation_loss(report)) {
    page.picture_note += fmt::format(
        " The loss of the validation is another one, cross-entropy, not {}: it is in the table of "
        "epochs.",
        report.setup.loss);
  }
  page.picture = train_curves_svg(report);
  page.tables = {{"Time of a step, by stage", train_stages_table(report)},
                 {"Epochs", train_epochs_table(report)},
                 {"Settings", train_settings_table(report)}};
  return figure_page(page);
}

}  // namespace pareto::report
